/* Long pieces of a vector are read out of their owner's memory into their place, also where a task wants several of one other
 * task, and that one of it: with two tasks; with others the values alone are looked at. Exchanges by index that repeat the one
 * before take fewer messages, and notice where a single task asks for others. */
#include "checked.h"
#include "core/environment.h"
#include "local/local_private.h"
#include "sparse/dsparse_transposed_product.h"
#include "transport/transport.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char *places[64]; /* where data was read to */
static int reads;

/* In the place of the C library's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                         unsigned long nthere, unsigned long flags)
{
    if (reads < 64)
        places[reads++] = here->iov_base;
    return syscall(SYS_process_vm_readv, pid, here, nhere, there, nthere, flags);
}

static bool was_read_to(const void *place)
{
    for (int k = 0; k < reads; k++)
        if (places[k] == (const char *)place)
            return true;
    return false;
}

/* A halo on both sides: between two tasks, two long pieces each way. */
static void test_halo(dvec *x, uint64_t width)
{
    dvec_halo_span spans[2];
    const uint64_t n = dvec_length(x);
    reads = 0;
    CHECK(dvec_halo_elements(x, width, width, true, spans) == DOME_OK);
    for (int s = 0; s < 2; s++) {
        if (!spans[s].local.count)
            continue;
        const double *below = spans[s].below, *above = spans[s].above;
        const uint64_t first = spans[s].local.first, end = first + spans[s].local.count;
        for (uint64_t k = 0; k < width; k++) {
            CHECK(below[k] == (double)((first + n - width + k) % n));
            CHECK(above[k] == (double)((end + k) % n));
        }
        if (dome_size(env) == 2 && reads > 0)
            CHECK(was_read_to(below) && was_read_to(above));
    }
}

/* z = x[index], and how many messages that took. The index of element i is i + step, around; the last element's is `last`. */
static uint64_t gather(dvec *z, const dvec *x, dvec *index, uint64_t step, uint64_t last)
{
    const uint64_t n = dvec_length(x);
    dvec_span spans[2];
    CHECK(dvec_local_spans(index, spans) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (uint64_t k = 0; k < spans[s].count; k++) {
            const uint64_t i = spans[s].first + k;
            ((int64_t *)spans[s].data)[k] = (int64_t)(i == n - 1 ? last : (i + step) % n);
        }
    const uint64_t before = env->transport->account.messages;
    CHECK(dvec_gather(z, x, index) == DOME_OK);
    const uint64_t messages = env->transport->account.messages - before;
    CHECK(dvec_local_spans_const(z, spans) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (uint64_t k = 0; k < spans[s].count; k++) {
            const uint64_t i = spans[s].first + k;
            CHECK(((const double *)spans[s].data)[k] == (double)(i == n - 1 ? last : (i + step) % n));
        }
    return messages;
}

static void test_repeated(void)
{
    const uint64_t n = 7000, block = dome_block_size(n);
    dvec *x = dvec_new(env, NULL, DOME_F64, n), *z = dvec_new_like(x, NULL), *index = dvec_new(env, NULL, DOME_I64, n);
    CHECK(dvec_iota(x) == DOME_OK);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        relayout(n, block, layout);
        gather(z, x, index, 3000, 5);
        const uint64_t second = gather(z, x, index, 3000, 5), third = gather(z, x, index, 3000, 5);
        if (dome_size(env) > 2 && layout != 2)
            CHECK(third < second);
        CHECK(gather(z, x, index, 3000, 5) == third);
        gather(z, x, index, 3000, 4000); /* asked for by one task, of another one than before */
        gather(z, x, index, 3000, 5);
        gather(z, x, index, 100, 6999);
        gather(z, x, index, 100, 0);
        gather(z, x, index, 100, 0);
        gather(z, x, index, 100, 3500);
    }
    dvec_free(index);
    dvec_free(z);
    dvec_free(x);
}

static const dome_transport_ops *working;

static int receive_nothing(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    (void)source, (void)channel, (void)head, (void)head_bytes, (void)bytes;
    return dome__transport_error(self->transport, DOME_ERR_COMM, "made up");
}

/* Products by a matrix of which each task needs all elements of the other one. */
static dsparse *halves;

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    const uint64_t n = *(const uint64_t *)ctx;
    dsparse_row_add(row, (index + n / 2) % n, 1);
}

static dome_status product(dvec *z, dvec *x)
{
    return dsparse_multiply(z, halves, x);
}

static dome_status transposed(dvec *z, dvec *x)
{
    return dsparse_multiply_transposed(z, halves, x);
}

static dome_status half_way(dvec *z, dvec *x)
{
    return dvec_roll(z, x, (int64_t)(dvec_length(x) / 2));
}

/* A task that fails while another one reads its elements out of its memory returns when they have been read: the program may
 * change them then. */
static void test_failed(dome_status (*call)(dvec *z, dvec *x), dvec *z, dvec *x)
{
    enum { HEAD = 60 };
    dome_transport *t = env->transport;
    dome_transport_ops broken = *t->provider.ops;
    if (t->group.size != 2 || dome__local_road(t) == DOME_ROAD_PROVIDER)
        return;
    const peer *other = &((const dome_local *)t->provider.state)->peers[1 - t->group.rank];
    CHECK(call(z, x) == DOME_OK);
    working = t->provider.ops;
    broken.recv_head = receive_nothing;
    if (t->group.rank == 0)
        t->provider.ops = &broken;
    const dome_status status = call(z, x);
    t->provider.ops = working;
    CHECK(!other->offer.data);
    if (t->group.rank == 0) {
        uint8_t head[HEAD];
        uint64_t bytes = 0;
        CHECK(status == DOME_ERR_COMM);
        dome_error_clear(env);
        CHECK(t->provider.ops->recv_head(&t->provider, 1, DOME_CHANNEL_DATA, head, sizeof head, &bytes) == DOME_OK);
        void *data = malloc((size_t)bytes);
        CHECK(t->provider.ops->recv_data(&t->provider, 1, DOME_CHANNEL_DATA, data, bytes) == DOME_OK);
        free(data);
    } else {
        CHECK(status == DOME_OK);
    }
    CHECK(call(z, x) == DOME_OK);
}

int main(int argc, char **argv)
{
    const uint64_t n = 1 << 16;
    init_unbalanced(argc, argv); /* messages are counted */
    dome_set_errors_return(env);
    dvec *x = dvec_new(env, "x", DOME_F64, n);
    CHECK(dvec_iota(x) == DOME_OK);
    for (int round = 0; round < 20; round++)
        test_halo(x, 4096 + (uint64_t)round);
    test_repeated();
    halves = dsparse_new(env, NULL, n, n);
    CHECK(dsparse_fill_rows(halves, fill_row, &(uint64_t){n}) == DOME_OK);
    dvec *z = dvec_new_like(x, NULL);
    test_failed(half_way, z, x);
    test_failed(product, z, x);
    for (halves->wanted = DSPARSE_BY_ENTRIES; halves->wanted < DSPARSE_WAYS; halves->wanted++) {
        dsparse__forget(halves);
        test_failed(transposed, z, x);
    }
    dome_print(env, "exchanges: %u checks\n", checks);
    int status = dome_finalize(env);
    return status;
}
