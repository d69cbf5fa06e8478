/* A Dome program for the tests of starting: does one thing and ends.
 *
 *     starter WHAT [ARGUMENT...] */
#include <dome/dome.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double sum(dome_env *env)
{
    dvec *x = dvec_new(env, NULL, DOME_F64, 1000);
    dvec_fill(x, 0.5);
    double result = dvec_sum(x);
    dvec_free(x);
    return result;
}

static void *sum_of_other(void *env)
{
    sum(env);
    return NULL;
}

/* A child process of task 0 looks at values, then calls what it may not. kind 0: an operation; 1: dome_finalize. The task goes
 * on. */
static void child_calls(dome_env *env, int kind)
{
    dvec *x = dvec_new(env, "x", DOME_F64, 1000);
    dvec_span spans[2];
    int status = 0;
    dvec_fill(x, 0.5);
    sum(env);
    const pid_t child = dome_rank(env) == 0 ? fork() : -1;
    if (child == 0) {
        if (dvec_local_spans_const(x, spans) != DOME_OK || *(const double *)spans[0].data != 0.5)
            _exit(9);
        if (kind == 1)
            exit(dome_finalize(env));
        dvec_sum(x);
        _exit(8);
    }
    if (child > 0 && waitpid(child, &status, 0) == child)
        dome_print(env, "the child: %d\n", WEXITSTATUS(status));
    dome_print(env, "%d tasks, sum %g\n", dome_size(env), dvec_sum(x));
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "sum";
    int number = argc > 2 ? atoi(argv[2]) : 0, rank = dome_rank(env);
    if (strcmp(what, "sum") == 0) {
        dome_print(env, "%d tasks, sum %g\n", dome_size(env), sum(env));
    } else if (strcmp(what, "status") == 0) {
        dome_barrier(env);
        dome_finalize(env);
        return rank == 0 ? number : 0;
    } else if (strcmp(what, "raise") == 0) {
        dome_barrier(env);
        if (rank == 0)
            raise(number);
        dome_barrier(env);
    } else if (strcmp(what, "lines") == 0) { /* much output, by all the ways a program has, and operations in between */
        for (int i = 0; i < number; i++) {
            if (i % 1000 == 0)
                sum(env);
            if (i % 3 == 0)
                printf("line %d\n", i);
            else
                dome_print(env, "line %d\n", i);
        }
    } else if (strcmp(what, "unbuffered") == 0) { /* order between streams that go to one place */
        for (int i = 0; i < number; i++)
            if (rank == 0) {
                fprintf(stdout, "out %d\n", i);
                fflush(stdout);
                fprintf(stderr, "err %d\n", i);
            }
    } else if (strcmp(what, "copy") == 0) { /* standard input to standard output */
        char buffer[4096];
        size_t n;
        sum(env);
        while (rank == 0 && (n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
            fwrite(buffer, 1, n, stdout);
        dome_barrier(env);
    } else if (strcmp(what, "main ends") == 0) { /* by itself, in the last task; its watcher goes on */
        sum(env);
        if (rank == dome_size(env) - 1)
            pthread_exit(NULL);
        dome_print(env, "%g\n", sum(env));
    } else if (strcmp(what, "other thread") == 0) {
        pthread_t other;
        if (pthread_create(&other, NULL, sum_of_other, env) == 0)
            pthread_join(other, NULL);
    } else if (strcmp(what, "child") == 0) {
        child_calls(env, number);
    } else if (strcmp(what, "each") == 0) {
        printf("task %d says\nsomething\n", rank);
        fprintf(stderr, "task %d complains\n", rank);
    } else if (strcmp(what, "last") == 0) {
        if (rank == dome_size(env) - 1)
            puts("the last task says something");
    } else if (strcmp(what, "arguments") == 0) {
        for (int i = 2; i < argc; i++)
            dome_print(env, "%d: %s\n", i - 1, argv[i]);
        char agree[256] = "";
        for (int i = 2; i < argc; i++)
            snprintf(agree + strlen(agree), sizeof agree - strlen(agree), "%s;", argv[i]);
        char of_first[256];
        memcpy(of_first, agree, sizeof agree);
        dome_bcast(env, 0, DOME_U8, of_first, sizeof of_first);
        if (memcmp(of_first, agree, sizeof agree))
            dome_abort(env, "arguments differ: %s and %s", of_first, agree);
    } else if (strcmp(what, "directory") == 0) { /* and environment: those of the first task, for all */
        char here[4096] = "", of_first[4096];
        const char *value = getenv("STARTER_VALUE");
        if (!getcwd(here, sizeof here / 2))
            dome_abort(env, "no working directory");
        snprintf(here + strlen(here), sizeof here - strlen(here), " %s", value ? value : "(unset)");
        memcpy(of_first, here, sizeof here);
        dome_bcast(env, 0, DOME_U8, of_first, sizeof of_first);
        if (strcmp(of_first, here))
            dome_abort(env, "directory or environment differ: %s and %s", of_first, here);
        dome_print(env, "%s\n", here);
    } else {
        fprintf(stderr, "starter: there is nothing called %s\n", what);
        return 9;
    }
    return dome_finalize(env);
}
