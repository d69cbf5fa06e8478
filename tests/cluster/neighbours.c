/* Tasks that depend on their neighbours: neighbours HOW FILE. It goes on as long as FILE is there, and says "there" in step 20.
 * HOW: "collectives": data goes around the tasks, in one direction; "messages": the program's own do; "circle", "barrier": in
 * step 20 they wait for each other, or one for a message and the others for it, for ever. */
#include <dome/dome.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ELEMENTS = 3000, THERE = 20 };

static void messages(dome_env *env, int32_t step)
{
    const int rank = dome_rank(env), size = dome_size(env);
    int32_t got = -1;
    dome_send(env, (rank + 1) % size, 1, DOME_I32, &step, 1);
    dome_recv(env, (rank + size - 1) % size, 1, DOME_I32, &got, 1, NULL);
    if (got != step)
        dome_abort(env, "a wrong message");
}

static void wait_for_ever(dome_env *env, const char *how)
{
    const int rank = dome_rank(env), size = dome_size(env);
    int32_t none;
    if (strcmp(how, "circle") == 0 || rank == size - 1)
        dome_recv(env, (rank + 1) % size, 2, DOME_I32, &none, 1, NULL);
    dome_barrier(env);
}

/* As rank 0 sees it. */
static bool goes_on(dome_env *env, const char *file)
{
    int32_t there = dome_rank(env) == 0 && access(file, F_OK) == 0;
    dome_bcast(env, 0, DOME_I32, &there, 1);
    return there != 0;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
    dvec *x = dvec_new(env, "x", DOME_F64, ELEMENTS), *y = dvec_new(env, "y", DOME_F64, ELEMENTS);
    dvec_iota(x);
    for (int32_t step = 0; goes_on(env, file); step++) {
        if (step == THERE) {
            dome_print(env, "there\n");
            fflush(stdout);
        }
        if (strcmp(how, "messages") == 0)
            messages(env, step);
        else if (step == THERE && strcmp(how, "collectives") != 0)
            wait_for_ever(env, how);
        for (int k = 0; k < 3; k++) {
            dvec_roll(y, x, ELEMENTS / 3);
            dvec_copy(x, y);
        }
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    }
    dome_print(env, "the sum is %.0f\n", dvec_sum(x));
    return dome_finalize(env);
}
