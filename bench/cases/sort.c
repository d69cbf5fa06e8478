/* Sorting of N random doubles:
 *
 *     sort N [SECONDS] [--dome-tasks 2]
 *
 * dome: dvec_sort, by all tasks; argsort: dvec_argsort; with one task also qsort: the C library's, of the same values. */
#include "case_dome.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double timed_sort(dvec *z, const dvec *x)
{
    dome_barrier(dvec_env(x));
    double begin = case_now();
    if (dvec_type(z) == DOME_F64)
        dvec_sort(z, x);
    else
        dvec_argsort(z, x);
    dome_barrier(dvec_env(x));
    return case_now() - begin;
}

static double timed_qsort(double *to, const double *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
    double begin = case_now();
    qsort(to, n, sizeof *to, ascending);
    return case_now() - begin;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 20000000;
    double budget = argc > 2 ? strtod(argv[2], NULL) : 3, *copy = dome_size(env) == 1 ? case_array(n) : NULL;
    dvec *x = case_random(env, "x", n, 1), *z = dvec_new(env, "z", DOME_F64, n), *index = dvec_new(env, "index", DOME_I64, n);
    static case_times times;
    timed_sort(z, x);
    int turns = case_turns(timed_sort(z, x) * (copy ? 8 : 3), budget);
    dome_bcast(env, 0, DOME_I32, &turns, 1); /* the tasks' clocks differ */
    for (int turn = 0; turn < turns; turn++) {
        case_note(&times, "dome", turn, timed_sort(z, x));
        case_note(&times, "argsort", turn, timed_sort(index, x));
        if (copy)
            case_note(&times, "qsort", turn, timed_qsort(copy, dvec_allgather(x), n));
    }
    if (copy && memcmp(copy, dvec_allgather(z), n * sizeof *copy) != 0)
        dome_abort(env, "sort: dvec_sort and qsort differ");
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
