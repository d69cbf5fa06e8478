/* Prints whole lines and parts of lines, by several functions, in each step of a loop.
 *
 *     prints MARKS STEPS MICROSECONDS [VARIANT]
 *
 * child: a child process prints, too. differs: a line of each process is another one. all: every task prints. late: task 0 prints
 * behind dome_finalize, and waits there the first time. Writes rank.R, and with late the file late, into the directory MARKS. */
#include <dome/dome.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void note_rank(const char *marks, int rank)
{
    char path[4096], then[4096];
    snprintf(path, sizeof path, "%s/rank.%d", marks, rank);
    snprintf(then, sizeof then, "%s/new.%d", marks, rank);
    FILE *file = fopen(then, "w");
    if (!file || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file) != 0 || rename(then, path) != 0)
        exit(3);
}

/* By a child, which writes past this process's stdio. */
static void print_by_child(int64_t k)
{
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        char line[64];
        const int n = snprintf(line, sizeof line, "child of step %" PRId64 "\n", k);
        _exit(write(STDOUT_FILENO, line, (size_t)n) == n ? 0 : 1);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        exit(3);
}

static void print(dome_env *env, int64_t k, double sum, const char *variant)
{
    if (k % 7 == 0)
        printf("-----\n");
    if (strcmp(variant, "all") == 0) { /* other tasks' lines would come between the parts */
        printf("step %" PRId64 " of task %d: %a\n", k, dome_rank(env), sum);
        return;
    }
    printf("step %" PRId64 ": ", k);
    if (k % 3 == 0)
        fflush(stdout);
    printf("%a%s", sum, k % 5 == 0 ? " and " : "\n");
    if (k % 10 == 1)
        dome_print(env, "\n%s%" PRId64 " steps\n", k % 20 == 1 ? "" : "now ", k);
    if (strcmp(variant, "child") == 0 && k % 10 == 2)
        print_by_child(k);
    if (strcmp(variant, "differs") == 0 && k % 50 == 12)
        printf("process %d\n", (int)getpid());
}

/* What waits in stdio's buffer is lost if the process is killed. */
static int print_late(const char *marks)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/late", marks);
    printf("late\n");
    if (access(path, F_OK) == 0)
        return 0;
    FILE *file = fopen(path, "w");
    if (!file || fclose(file) != 0)
        return 3;
    sleep(600);
    return 4;
}

int main(int argc, char **argv)
{
    printf("before\n");
    fflush(stdout);
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 4)
        return 2;
    const int64_t steps = atoi(argv[2]);
    const char *variant = argc > 4 ? argv[4] : "";
    note_rank(argv[1], dome_rank(env));
    dome_print(env, "first\n");
    dvec *x = dvec_new(env, "x", DOME_F64, 1000);
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    printf("%" PRId64 " steps\n", steps);
    if (!dome_is_restarting(env)) {
        dome_print(env, "begins\n");
        dvec_fill(x, 1);
    }
    for (int64_t k = dscalar_get_i64(step); k < steps; k++) {
        dvec_muls(x, x, 1.001);
        print(env, k, dvec_sum(x), variant);
        usleep((useconds_t)atoi(argv[3]));
        dscalar_set_i64(step, k + 1);
        dome_checkpoint(env);
    }
    dome_print(env, "end\n");
    const bool late = strcmp(variant, "late") == 0 && dome_rank(env) == 0;
    const int status = dome_finalize(env);
    return status == 0 && late ? print_late(argv[1]) : status;
}
