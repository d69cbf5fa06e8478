/* A Dome program that enters views in place, for tests/start/in_place.py.
 *
 *     in_place STEPS SLEEP-MS SIZES [MARKS] [VARIANT]
 *
 * SIZES: numbers of tasks, separated by commas: with each fourth step dome_resize asks for the next one, around the end; "-":
 * none. MARKS: as in elastic.c; at the end each task writes how many steps its process has made into MARKS/made.N. VARIANT
 * "more": makes an object in the loop, so that no view can be entered in place; "other": newcomers make another object than the
 * first tasks do; "never": newcomers do not call dome_on_view_in_place. Prints a number in which all state is, and on standard
 * error a line for each call of its function. */
#include "../support/mark.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 20000, ROWS = 3000 };

typedef struct process {
    dvec *scratch; /* without a name */
    int64_t made;  /* steps of this process */
    int began;     /* how often main has begun in it */
} process;

static int wanted(const char *sizes, int64_t turn)
{
    int numbers[64], count = 0;
    for (const char *at = sizes; *at && count < 64; at += strcspn(at, ",") + (at[strcspn(at, ",")] != 0))
        numbers[count++] = atoi(at);
    return numbers[turn % count];
}

static void told(dome_env *env, const dome_view_news *news, void *data)
{
    const process *p = data;
    dvec_fill(p->scratch, 1);
    const double sum = dvec_sum(p->scratch);
    if (dome_rank(env) == 0)
        fprintf(stderr, "view %" PRIu64 ": %d to %d, sum %g, made %" PRId64 ", restarting %d\n", news->epoch, news->before,
                news->tasks, sum, p->made, dome_is_restarting(env));
}

static void row_of(void *ctx, uint64_t i, dsparse_row *row)
{
    (void)ctx;
    dsparse_row_add(row, i, 0.5);
    dsparse_row_add(row, (i * 7 + 3) % ROWS, 0.25);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int64_t steps = argc > 1 ? atoll(argv[1]) : 20;
    const long pause = argc > 2 ? atol(argv[2]) : 0;
    const char *sizes = argc > 3 ? argv[3] : "-", *marks = argc > 4 ? argv[4] : "", *variant = argc > 5 ? argv[5] : "";
    static process own;
    const bool anew = dome_is_restarting(env);
    own.began++;
    dvec *x = dvec_new(env, "x", DOME_F64, N),
         *fixed = dvec_new_with(env, "fixed", DOME_F64, N, DVEC_OPTIONS(.distribution = DOME_BLOCK)),
         *whole = dvec_new_with(env, "whole", DOME_F64, 100, DVEC_OPTIONS(.distribution = DOME_WHOLE)),
         *y = dvec_new(env, "y", DOME_F64, ROWS), *z = dvec_new(env, "z", DOME_F64, ROWS);
    own.scratch = dvec_new(env, NULL, DOME_F64, N);
    dsparse *a = dsparse_new(env, "a", ROWS, ROWS);
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    if (anew && strcmp(variant, "other") == 0)
        dvec_new(env, NULL, DOME_F64, 5);
    if (!anew) {
        dvec_iota(x);
        dvec_iota(fixed);
        dvec_iota(whole);
        dvec_fill(y, 1);
        dsparse_fill_rows(a, row_of, NULL);
    }
    if (!anew || strcmp(variant, "never") != 0)
        dome_on_view_in_place(env, told, &own);
    if (dome_epoch(env) == 0)
        dvec_fill(own.scratch, 1);
    if (*marks)
        mark(marks, "rank", dome_rank(env), (long)getpid());
    for (int64_t k = dscalar_get_i64(step); k < steps; k++) {
        dvec_muls(x, x, 1.0001);
        dvec_add(x, x, own.scratch);
        dvec_adds(fixed, fixed, 1);
        dvec_adds(whole, whole, 1);
        dsparse_multiply(z, a, y);
        dvec_copy(y, z);
        if (dvec_sum(fixed) < 0)
            return 3;
        if (strcmp(variant, "more") == 0 && k == 0)
            dvec_new(env, NULL, DOME_F64, 3);
        own.made++;
        dscalar_set_i64(step, k + 1);
        if (*marks && dome_rank(env) == 0)
            mark(marks, "step", 0, (long)k + 1);
        if (*sizes != '-' && k % 4 == 1)
            dome_resize(env, wanted(sizes, k / 4));
        if (pause)
            nanosleep(&(struct timespec){.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000}, NULL);
        dome_checkpoint(env);
    }
    if (*marks)
        mark(marks, "made", dome_rank(env), (long)own.made);
    dome_print(env, "%.17g %.17g %.17g %.17g\n", dvec_sum(x), dvec_sum(fixed), dvec_sum(whole), dvec_sum(y));
    return dome_finalize(env);
}
