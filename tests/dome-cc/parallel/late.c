/* late wait|wish STEPS: for STEPS operations values differ between tasks. wait: each takes 10 ms, so that an order to grow waits
 * for long. wish: the program itself wants a task more there, and gets it where values are equal again. */
#define _DEFAULT_SOURCE
#include <dome/dome.h>
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

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const bool waits = argc > 1 && strcmp(argv[1], "wait") == 0;
    const int steps = argc > 2 ? atoi(argv[2]) : 10;
    dvec *x = dvec_new(env, NULL, DOME_F64, 1000);
    dvec_fill(x, 0);
    const int all = apart(env, x, waits, steps);
    const int before = dome_size(env);
    for (int step = 0; step < 2000; step++)
        dvec_adds(x, x, 1);
    dome_print(env, "%d: from %d to %d tasks, %.17g\n", all, before, dome_size(env), dvec_sum(x));
    return dome_finalize(env);
}
