/* checkpoint_state: a Dome program with a state of a given size, for bench/checkpoint. Every loop changes all of it, or a part;
 * rank 0 prints what it sees, a line each:
 *
 *   reading SECONDS            after a restart: making the vectors, with the values of the checkpoint
 *   loop NUMBER AT             a loop begins, at this second of the monotonic clock
 *   pause SECONDS              dome_checkpoint took so long, in the slowest task
 *   copy SECONDS               a copy of the same state, all tasks at the same time, into memory that was touched before
 *   sum BITS                   of the state at the end
 *   all SECONDS                since the first dome_checkpoint was called; all has been written
 *   end SECONDS                since the last one was
 *
 *   build/bench/checkpoint_state MEGABYTES LOOPS [LOOPS-BETWEEN [CHANGED-PERCENT]]
 *
 * dome_checkpoint is called in every loop; pause and copy are told of each LOOPS-BETWEEN-th (give it as --dome-checkpoint-every).
 * The state is ten vectors, of which so many percent are changed. */
#include <dome/dome.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 10 };

/* Copies this task's part of the vectors. */
static void copy(dvec *const vectors[], int count, char *to)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        dvec_span spans[2];
        dvec_local_spans_const(vectors[i], spans);
        for (int k = 0; k < 2; k++) {
            memcpy(to + at, spans[k].data, spans[k].count * sizeof(double));
            at += spans[k].count * sizeof(double);
        }
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 3 || atof(argv[1]) <= 0 || atol(argv[2]) <= 0)
        dome_abort(env, "checkpoint_state: give MEGABYTES LOOPS [LOOPS-BETWEEN [CHANGED-PERCENT]]");
    size_t length = (size_t)(atof(argv[1]) * 1e6 / sizeof(double) / VECTORS);
    long loops = atol(argv[2]), between = argc > 3 ? atol(argv[3]) : 1, percent = argc > 4 ? atol(argv[4]) : 100;
    int changed = (int)(VECTORS * percent / 100);
    bool first = dome_rank(env) == 0;

    double begin = dome_wtime();
    bool restarting = dome_is_restarting(env);
    dvec *v[VECTORS];
    const dvec_options fixed = {.size = sizeof fixed, .distribution = DOME_BLOCK};
    for (int i = 0; i < VECTORS; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        v[i] = dvec_new_with(env, name, DOME_F64, length, &fixed);
    }
    dscalar *at = dscalar_new(env, "loop", DOME_I64);
    if (restarting && first)
        printf("reading %.6f\n", dome_wtime() - begin);
    for (int i = 0; i < VECTORS && !restarting; i++) {
        dvec_random(v[i], (uint64_t)i);
        dvec_adds(v[i], v[i], i);
    }
    dvec_span spans[2];
    size_t own = 0;
    dvec_local_spans_const(v[0], spans);
    for (int k = 0; k < 2; k++)
        own += spans[k].count;
    size_t bytes = (size_t)changed * own * sizeof(double) + 1;
    char *buffer = malloc(bytes);
    if (!buffer)
        dome_abort(env, "checkpoint_state: no memory");
    memset(buffer, 1, bytes);

    double last = dome_wtime(), first_call = 0;
    for (long loop = dscalar_get_i64(at); loop < loops; loop++) {
        if (first) {
            printf("loop %ld %.6f\n", loop, dome_wtime());
            fflush(stdout);
        }
        for (int i = 0; i < changed; i++)
            dvec_adds(v[i], v[i], 1);
        for (int i = 0; i < changed; i++)
            dvec_local_spans_const(v[i], spans); /* completes what was deferred */
        dscalar_set_i64(at, loop + 1);
        bool told = (loop + 1) % between == 0;
        double once = 0;
        if (told) {
            dome_barrier(env);
            once = dome_wtime();
            copy(v, changed, buffer);
            dome_barrier(env);
            once = dome_wtime() - once;
        }
        last = dome_wtime();
        first_call = first_call > 0 ? first_call : last;
        dome_checkpoint(env);
        if (!told)
            continue;
        dome_barrier(env);
        if (first)
            printf("pause %.6f\ncopy %.6f\n", dome_wtime() - last, once);
    }
    uint64_t bits = 0;
    for (int i = 0; i < VECTORS; i++) {
        double sum = dvec_sum(v[i]);
        uint64_t word;
        memcpy(&word, &sum, sizeof word);
        bits = bits * 31 + word;
    }
    free(buffer);
    int status = dome_finalize(env);
    if (first)
        printf("sum %016llx\nall %.6f\nend %.6f\n", (unsigned long long)bits, dome_wtime() - first_call, dome_wtime() - last);
    return status;
}
