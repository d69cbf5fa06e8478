/* A Dome program that shows its progress.
 *
 *     progress FIRST STEPS [talk|fail|stop]      does the steps from FIRST to STEPS, and says or does something half way */
#include <dome/dome.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    int first = argc > 1 ? atoi(argv[1]) : 0, steps = argc > 2 ? atoi(argv[2]) : 10;
    const char *what = argc > 3 ? argv[3] : "";
    struct timespec rest = {.tv_nsec = 20000000};
    dome_print(env, "%d tasks\n", dome_size(env));
    for (int step = first; step <= steps; step++) {
        dome_progress(env, (uint64_t)step, (uint64_t)steps, "steps");
        if (step == first + (steps - first) / 2) {
            dome_barrier(env);
            if (strcmp(what, "talk") == 0) {
                dome_print(env, "half\n");
                if (dome_rank(env) == 1)
                    fprintf(stderr, "half of task 1\n");
            } else if (strcmp(what, "fail") == 0 && dome_rank(env) == dome_size(env) - 1) {
                dome_abort(env, "no more");
            } else if (strcmp(what, "stop") == 0) {
                break;
            }
        }
        dome_barrier(env);
        nanosleep(&rest, NULL);
    }
    dome_barrier(env);
    dome_print(env, "end\n");
    return dome_finalize(env);
}
