/* late wait|resize|resizes|loss|stays STEPS: for STEPS operations values differ between tasks. wait: each takes 10 ms, so that an
 * order to grow waits for long. resize: the program itself wants a task more there, and gets it where values are equal again.
 * resizes: it waits for a file "go", and then it wants that so often that an order would have no tries left. loss: it writes a
 * checkpoint there, gets a task more where values are equal, and loses one as soon as that is there. stays: it gets a task more,
 * writes checkpoints where values differ, and loses one. */
#define _DEFAULT_SOURCE
#include <dome/capture.h>
#include <dome/dome.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int apart(dome_env *env, dvec *x, bool waits, int steps)
{
    const int rank = dome_rank(env);
    dome_print(env, "begins\n");
    fflush(stdout);
    if (!waits)
        dome_resize(env, dome_size(env) + 1);
    for (int step = 0; step < steps; step++) {
        dvec_adds(x, x, 1);
        if (waits)
            usleep(10000);
    }
    return rank < dome_size(env);
}

/* Values differ here, too; by then an order waits for equal ones. */
static int insists(dome_env *env, dvec *x, int steps)
{
    const int rank = dome_rank(env);
    int goes = 0;
    dome_print(env, "begins\n");
    fflush(stdout);
    while (!goes) {
        usleep(100000);
        goes = access("go", F_OK) == 0;
        dome_bcast(env, 0, DOME_I32, &goes, 1);
    }
    for (int step = 0; step < 30; step++)
        dome_resize(env, dome_size(env) + 2);
    dome_resize(env, dome_size(env)); /* it does not want that any more */
    for (int step = 0; step < steps; step++)
        dvec_adds(x, x, 1);
    return rank < dome_size(env);
}

static int saved(dome_env *env, dvec *x)
{
    const int rank = dome_rank(env);
    dome_capture_request();
    while (dome_capture_captures() == 0)
        dvec_adds(x, x, 1);
    return rank < dome_size(env);
}

/* Nothing has been saved in this view when a task is lost, once. */
static void lose(dome_env *env)
{
    FILE *file;
    if (dome_rank(env) != 1 || access("lost", F_OK) == 0)
        return;
    if ((file = fopen("lost", "w")))
        fclose(file);
    raise(SIGKILL);
}

/* All checkpoints that are written here, of which several are complete, need the new number of tasks. */
static int stays(dome_env *env, dvec *x, int steps)
{
    const int rank = dome_rank(env);
    for (int step = 0; step < steps; step++)
        dvec_adds(x, x, 1);
    lose(env);
    return rank < dome_size(env);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    const int steps = argc > 2 ? atoi(argv[2]) : 10;
    dvec *x = dvec_new(env, NULL, DOME_F64, 1000);
    dvec_fill(x, 0);
    int all = 1;
    if (strcmp(what, "loss") == 0)
        all = saved(env, x);
    else if (strcmp(what, "resizes") == 0)
        all = insists(env, x, steps);
    else if (strcmp(what, "stays") != 0)
        all = apart(env, x, strcmp(what, "wait") == 0, steps);
    const int before = dome_size(env);
    if (strcmp(what, "loss") == 0 || strcmp(what, "stays") == 0) {
        dvec_fill(x, steps);
        dome_resize(env, before + 1);
        if (strcmp(what, "stays") == 0)
            all = stays(env, x, steps);
        lose(env);
    }
    for (int step = 0; step < 2000; step++)
        dvec_adds(x, x, 1);
    dome_print(env, "%d: from %d to %d tasks, %.17g\n", all, before, dome_size(env), dvec_sum(x));
    return dome_finalize(env);
}
