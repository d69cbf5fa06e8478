/* Each task prints its processors: "RANK PROCESSOR..." */
#define _GNU_SOURCE
#include <dome/dome.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    cpu_set_t set;
    char line[8192];
    int at = snprintf(line, sizeof line, "%d", dome_rank(env));
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        dome_abort(env, "no processors");
    for (int cpu = 0; cpu < CPU_SETSIZE && at < (int)sizeof line - 16; cpu++)
        if (CPU_ISSET(cpu, &set))
            at += snprintf(line + at, sizeof line - (size_t)at, " %d", cpu);
    printf("%s\n", line);
    fflush(stdout);
    return dome_finalize(env);
}
