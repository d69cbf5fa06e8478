#define _GNU_SOURCE
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { LARGE_PAGE = 1 << 21 };

double case_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double case_user(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

double *case_array(size_t n)
{
    size_t bytes = (n * sizeof(double) / LARGE_PAGE + 1) * LARGE_PAGE;
    double *x = aligned_alloc(LARGE_PAGE, bytes);
    if (!x) {
        fprintf(stderr, "no memory for %zu doubles\n", n);
        exit(1);
    }
    madvise(x, bytes, MADV_HUGEPAGE);
    memset(x, 0, bytes);
    return x;
}

void case_note(case_times *times, const char *name, int turn, double seconds)
{
    int k = 0;
    while (k < times->rivals && strcmp(times->name[k], name) != 0)
        k++;
    if (k == CASE_RIVALS || turn >= CASE_TURNS)
        return;
    if (k == times->rivals)
        times->name[times->rivals++] = name;
    times->seconds[k][turn] = seconds;
    if (times->turns <= turn)
        times->turns = turn + 1;
}

int case_repeats(size_t n)
{
    const size_t values = 4000000;
    return n >= values ? 1 : n == 0 ? 1 : (int)(values / n);
}

int case_turns(double seconds_of_a_turn, double budget)
{
    int turns = (int)(budget / seconds_of_a_turn);
    return turns < 3 ? 3 : turns > CASE_TURNS ? CASE_TURNS : turns;
}

void case_print(const case_times *times)
{
    for (int k = 0; k < times->rivals; k++) {
        printf("%s", times->name[k]);
        for (int turn = 0; turn < times->turns; turn++)
            printf(" %.9g", times->seconds[k][turn]);
        printf("\n");
    }
    fflush(stdout);
}
