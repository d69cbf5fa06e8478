/* Steps of equal work, a barrier after each: what turns of the processor cost on hosts of a lab. */
#include "program.h"

#include <time.h>

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long microseconds = 1000, steps = 1000;
    program_options(env, argc, argv, 2, (program_option[]){{"--microseconds", &microseconds}, {"--steps", &steps}});
    program_clock clock;
    program_begin(env, &clock);
    for (long s = 0; s < steps; s++) {
        for (double end = processor() + (double)microseconds; processor() < end;)
            continue;
        dome_barrier(env);
    }
    program_end(env, &clock, 0);
    return dome_finalize(env);
}
