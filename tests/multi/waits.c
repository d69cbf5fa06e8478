/* Whom a task has waited for: these times add up to what its operations have waited, to the nanosecond. */
#include "core/clock.h"
#include "core/environment.h"
#include "core/operation.h"
#include "rounds.h"
#include "transport/transport.h"

enum { N = 4096 };

static void check(const char *after)
{
    const dome_transport *t = env->transport;
    uint64_t inside = 0, whom = 0;
    for (uint32_t k = 1; k < dome__operation_count(); k++)
        inside += dome__clock_entry_of(env, dome__operation_at(k))->wait_ns;
    for (int r = 0; t->account.waited_for && r < t->group.size; r++)
        whom += t->account.waited_for[r];
    EXPECT(!t->account.waited_for || inside == whom,
           "after %s operations have waited %" G_GUINT64_FORMAT " ns, and for tasks %" G_GUINT64_FORMAT, after, inside, whom);
}

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0];
    double *y = out;
    (void)ctx, (void)first;
    for (double until = dome_wtime() + 2e-6 * (1 + 3 * (dome_rank(env) == 1)); dome_wtime() < until;)
        continue;
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] + 1;
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    check("dome_init");
    dvec *x = dvec_new(env, "x", DOME_F64, N), *y = dvec_new(env, "y", DOME_F64, N);
    dvec_fill(x, 1);
    for (round_number = 0; round_number < 100; round_number++) {
        dvec_adds(x, x, 1);
        EXPECT(dvec_sum(x) == N * (round_number + 2.0), "sum");
        dome_barrier(env);
        check("a barrier");
    }
    for (round_number = 0; round_number < 300; round_number++) { /* the numbers of phases travel ahead */
        dvec_halo_span halo[2];
        dvec_halo_elements(x, 1, 1, true, halo);
        dvec_map(y, kernel, NULL, 1, &x);
        check("a halo and a map");
    }
    dome_print(env, "ok waits on %d tasks\n", dome_size(env));
    return dome_finalize(env) ? 1 : 0;
}
