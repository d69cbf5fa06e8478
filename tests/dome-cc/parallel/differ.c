/* differ STEPS WHAT: values of WHAT are others on each task. */
#include <dome/dome.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    int first;
    double weight[3];
};

static int table[4];

static long work(dome_env *env, const struct part *p, int n)
{
    long sum = 0;
    for (int k = 0; k < n; k++) {
        dome_checkpoint(env);
        sum += k + table[2] * 0;
    }
    return sum + (p->first > 100);
}

/* A file of one task alone. */
static void note(FILE *log, int n)
{
    if (log)
        fprintf(log, "%d\n", n);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *what = argc > 2 ? argv[2] : "same";
    int n = argc > 1 ? atoi(argv[1]) : 10, rank = strcmp(what, "variable") == 0 ? dome_rank(env) : 0;
    FILE *log = NULL;
    char *more = NULL;
    if (strcmp(what, "blocks") == 0 && dome_rank(env) == 1)
        more = malloc(10);
    struct part *p = calloc(1, sizeof *p);
    p->weight[1] = 0.5 + (strcmp(what, "heap") == 0 ? dome_rank(env) : 0);
    if (strcmp(what, "global") == 0)
        table[2] = 7 * dome_rank(env);
    if (strcmp(what, "file") == 0 && dome_rank(env) == 1)
        log = fopen("differ.log", "w");
    note(log, 1);
    errno = strcmp(what, "errno") == 0 ? 10 + dome_rank(env) : 0;
    int64_t sum = work(env, p, n), own = sum + (int64_t)(1000 * p->weight[1]) + table[2] + rank + (more != NULL) * 3;
    note(log, 2);
    if (log)
        fclose(log);
    dome_allreduce(env, DOME_I64, &own, 1, DOME_SUM);
    dome_print(env, "%ld %ld\n", (long)sum, (long)own);
    free(more);
    free(p);
    return dome_finalize(env);
}
