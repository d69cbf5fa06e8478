/* A program that takes the ends of its children as it likes, while the library has a compiler at work: "ignore" leaves them to
 * the system, "wait" waits for any child in a thread. Prints how many it was given; it has none. */
#include <dome/dome.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int reaped, done;

static void *reap(void *argument)
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        int status;
        if (waitpid(-1, &status, 0) > 0)
            __atomic_add_fetch(&reaped, 1, __ATOMIC_RELAXED);
        else
            usleep(100);
    }
    return argument;
}

static void count(int number)
{
    (void)number;
    __atomic_add_fetch(&reaped, 1, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool ignore = argc > 1 && strcmp(argv[1], "ignore") == 0;
    signal(SIGCHLD, ignore ? SIG_IGN : count);
    pthread_t thread;
    if (!ignore && pthread_create(&thread, NULL, reap, NULL) != 0)
        return 1;
    dvec *a = dvec_new(env, "a", DOME_F64, 5000), *b = dvec_new(env, "b", DOME_F64, 5000);
    dvec_random(a, 1);
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        dvec_mul(b, a, a);
        for (int j = 0; j < k % 4; j++) /* four chains */
            dvec_adds(b, b, j);
        sum += dvec_sum(b);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    if (!ignore)
        pthread_join(thread, NULL);
    printf("reaped %d, sum %g\n", reaped, sum);
    return dome_finalize(env);
}
