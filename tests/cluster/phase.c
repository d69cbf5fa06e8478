/* A program for faults of hosts: phase PLACE. It says "there" when all tasks have joined and stays in PLACE. */
#include <dome/dome.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double LONG = 1000; /* seconds; what the test does to a host comes before */

/* As if it computed, without taking the processor from others. */
static void compute(double seconds)
{
    const struct timespec slice = {.tv_nsec = 10000000};
    for (double until = dome_wtime() + seconds; dome_wtime() < until;)
        nanosleep(&slice, NULL);
}

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx;
    (void)first;
    (void)in;
    memset(out, 0, count * sizeof(double));
    compute(LONG);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *place = argc > 1 ? argv[1] : "";
    dvec *x = dvec_new(env, "x", DOME_F64, 100000);
    dvec_sum(x);
    dome_barrier(env);
    dome_print(env, "there\n");
    fflush(stdout);
    if (strcmp(place, "own") == 0) {
        compute(LONG);
    } else if (strcmp(place, "map") == 0) {
        dvec_map(x, kernel, NULL, 0, NULL);
        dvec_sum(x);
    } else if (strcmp(place, "sum") == 0) {
        for (;;) { /* the others wait in it for rank 0 most of the time: all of them would take the processors from the test */
            if (dome_rank(env) == 0)
                compute(0.01);
            dvec_sum(x);
        }
    } else if (strcmp(place, "short") == 0) { /* comes to its end */
        for (int i = 0; i < 30; i++) {
            compute(0.1);
            dvec_sum(x);
        }
    } else if (strcmp(place, "exchange") == 0) {
        dvec *y = dvec_new(env, "y", DOME_F64, 100000);
        for (;;) {
            if (dome_rank(env) == 0)
                compute(0.01);
            dvec_roll(y, x, 50000);
        }
    } else if (strcmp(place, "wait") == 0) { /* for rank 0 */
        if (dome_rank(env) == 0)
            compute(LONG);
        dvec_sum(x);
    } else {
        fprintf(stderr, "phase: there is no place called '%s'\n", place);
        return 9;
    }
    return dome_finalize(env);
}
