/* Writing a vector of N doubles to a file of the current directory:
 *
 *     write N [SECONDS [PATH]] [--dome-tasks 2]
 *
 * dome: dvec_write to PATH, x.h5:/x unless told; dd: dd of as many bytes, by rank 0 alone, with an fsync at its end, as
 * dvec_write has. Both make new files, which are deleted after each turn. */
#include "case_dome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a command on rank 0, on an idle machine. */
static void command(dome_env *env, char *const words[])
{
    dome_barrier(env);
    if (dome_rank(env) == 0) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
            execvp(words[0], words);
            _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            dome_abort(env, "write: %s fails", words[0]);
    }
    dome_barrier(env);
}

static double timed_write(const dvec *x, const char *path)
{
    dome_barrier(dvec_env(x));
    double begin = case_now();
    dvec_write(x, path);
    return case_now() - begin;
}

static double timed_dd(dome_env *env, size_t bytes)
{
    char count[60];
    snprintf(count, sizeof count, "count=%zuB", bytes);
    double begin = case_now();
    command(env, (char *[]){"dd", "if=/dev/zero", "of=dd.out", "bs=8M", count, "conv=fsync", "status=none", NULL});
    return case_now() - begin;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)strtod(argv[1], NULL) : 200000000;
    double budget = argc > 2 ? strtod(argv[2], NULL) : 3;
    const char *path = argc > 3 ? argv[3] : "x.h5:/x";
    char file[200];
    snprintf(file, sizeof file, "%.*s", (int)strcspn(path, ":"), path);
    dvec *x = case_random(env, "x", n, 1);
    dvec_sum(x); /* it is computed now */
    static case_times times;
    double first = timed_write(x, path);
    command(env, (char *[]){"rm", "-rf", file, NULL});
    int turns = case_turns(2 * first, budget);
    dome_bcast(env, 0, DOME_I32, &turns, 1); /* the tasks' clocks differ */
    for (int turn = 0; turn < turns; turn++) {
        case_note(&times, "dome", turn, timed_write(x, path));
        command(env, (char *[]){"rm", "-rf", file, NULL});
        case_note(&times, "dd", turn, timed_dd(env, n * sizeof(double)));
        command(env, (char *[]){"rm", "-f", "dd.out", NULL});
    }
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
