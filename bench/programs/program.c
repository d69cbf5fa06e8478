#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void refuse(dome_env *env, const char *program, int count, const program_option options[])
{
    if (dome_rank(env) == 0) {
        fprintf(stderr, "usage: %s", program);
        for (int k = 0; k < count; k++)
            fprintf(stderr, " [%s N]", options[k].name);
        fputc('\n', stderr);
    }
    dome_finalize(env);
    exit(2);
}

void program_options(dome_env *env, int argc, char **argv, int count, const program_option options[])
{
    for (int i = 1; i < argc; i += 2) {
        int k = 0;
        char *end = "";
        while (k < count && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k < count && i + 1 < argc)
            *options[k].value = strtol(argv[i + 1], &end, 10);
        if (k == count || i + 1 == argc || *end || *options[k].value < 1)
            refuse(env, argv[0], count, options);
    }
}

static double seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void program_begin(dome_env *env, program_clock *clock)
{
    dome_barrier(env);
    *clock = (program_clock){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
    if (dome_rank(env) == 0) {
        puts("begin");
        fflush(stdout);
    }
}

void program_end(dome_env *env, const program_clock *clock, double bits)
{
    dome_barrier(env);
    double took = seconds(CLOCK_MONOTONIC) - clock->begin, mine = seconds(CLOCK_PROCESS_CPUTIME_ID) - clock->processor, all = 0;
    for (int r = 0; r < dome_size(env); r++) {
        double part = mine;
        dome_bcast(env, r, DOME_F64, &part, 1);
        all += part;
    }
    if (dome_rank(env) == 0)
        printf("result %a seconds %.6f processor %.6f\n", bits, took, all);
}
