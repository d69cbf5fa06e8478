/* Each task adds 1 to an element of a region again and again: units neighbours|same|apart [--release] [--turns N]. Neighbours:
 * task k has element k, all of one unit; same: all have element 0, with a lock; apart: task k has the first element of unit k. */
#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "";
    long turns = 200;
    bool release = false;
    for (int k = 2; k < argc; k++) {
        release |= strcmp(argv[k], "--release") == 0;
        if (strcmp(argv[k], "--turns") == 0 && k + 1 < argc)
            turns = strtol(argv[++k], NULL, 10);
    }
    const uint64_t n = 512 * (uint64_t)dome_size(env), rank = (uint64_t)dome_rank(env);
    dome_region *r =
        dome_region_new(env, "counts", DOME_I64, n, DOME_REGION_OPTIONS(.consistency = release ? DOME_RELEASE : DOME_SEQUENTIAL));
    dome_lock *lock = dome_lock_new(env, "counts");
    volatile int64_t *counts = dome_region_data(r);
    const bool same = strcmp(how, "same") == 0;
    const uint64_t own = same ? 0 : strcmp(how, "apart") == 0 ? dome_region_unit(r) * rank : rank;
    for (long k = 0; k < turns; k++) {
        if (same)
            dome_lock_acquire(lock);
        counts[own]++;
        if (same)
            dome_lock_release(lock);
        dome_barrier(env); /* else one task may have done all before another has a processor */
    }
    dome_barrier(env);
    const long long sum = (long long)counts[own];
    dome_print(env, "%lld\n", sum);
    return dome_finalize(env);
}
