/* What an incremental checkpoint writes. A region of doubles is filled and saved; then, before each further checkpoint, some of
 * it is written: single elements at random places, or runs of them.
 *
 *     deltas scatter|runs|one|all ELEMENTS CHECKPOINTS [EVERY] --dome-checkpoint-dir DIR --dome-checkpoint-every 1 ...
 *
 * One element in EVERY (1000) is written, in runs of 1000 elements if these are asked for. The program prints, for each
 * checkpoint after the first, how many bytes have changed; bench/deltas.py compares them with the files. */
#include <dome/dome.h>
#include <dome/region.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 1000 };

static uint64_t state;

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * UINT64_C(0x2545F4914F6CDD1D)) % below;
}

/* Writes this task's elements of a run. */
static void write_run(double *x, const dome_span spans[2], int nspans, dome_span run, double value)
{
    for (int s = 0; s < nspans; s++)
        for (uint64_t i = run.first; i < run.first + run.count; i++)
            if (i >= spans[s].first && i - spans[s].first < spans[s].count)
                x[i] = value + (double)i;
}

/* Notes the elements of a run; returns how many of them had not been noted. */
static uint64_t note(unsigned char *noted, dome_span run)
{
    uint64_t fresh = 0;
    for (uint64_t i = run.first; i < run.first + run.count; i++) {
        fresh += !noted[i];
        noted[i] = 1;
    }
    return fresh;
}

/* All tasks draw the same places, anywhere. Returns the number of elements that change. */
static uint64_t change(double *x, uint64_t n, const dome_span spans[2], int nspans, const char *how, uint64_t every, double value)
{
    const uint64_t run = strcmp(how, "runs") == 0 ? RUN : strcmp(how, "all") == 0 ? n : 1;
    const uint64_t count = run == n || strcmp(how, "one") == 0 ? 1 : n / every / run;
    unsigned char *noted = calloc(n, 1);
    uint64_t changed = 0;
    for (uint64_t k = 0; k < count && noted; k++) {
        const dome_span place = {draw(n - run + 1), run};
        write_run(x, spans, nspans, place, value);
        changed += note(noted, place);
    }
    free(noted);
    return changed;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 4)
        return fprintf(stderr, "usage: deltas scatter|runs|one|all ELEMENTS CHECKPOINTS [EVERY]\n"), 2;
    const uint64_t n = strtoull(argv[2], NULL, 10), every = argc > 4 ? strtoull(argv[4], NULL, 10) : 1000;
    const int64_t checkpoints = strtoll(argv[3], NULL, 10);
    dome_region *r = dome_region_new(env, "x", DOME_F64, n, NULL);
    dscalar *steps = dscalar_new(env, "steps", DOME_I64);
    double *x = dome_region_data(r);
    dome_span spans[2];
    const int nspans = dome_region_spans(r, spans);
    if (!dome_is_restarting(env))
        write_run(x, spans, nspans, (dome_span){0, n}, 0.5);
    for (int64_t k = dscalar_get_i64(steps); k < checkpoints; k++) {
        state = 88172645463325252u + (uint64_t)k;
        const uint64_t changed = k == 0 ? n : change(x, n, spans, nspans, argv[1], every, (double)k + 0.25);
        dscalar_set_i64(steps, k + 1);
        const double begin = dome_wtime();
        dome_checkpoint(env);
        if (dome_rank(env) == 0)
            printf("changed %" PRIu64 " pause %.4f\n", changed * sizeof(double), dome_wtime() - begin);
    }
    dome_barrier(env);
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += x[i] * (double)(i % 1009 + 1);
    if (dome_rank(env) == 0)
        printf("sum %.17g\n", sum);
    return dome_finalize(env);
}
