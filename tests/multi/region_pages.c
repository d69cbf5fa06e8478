/* Regions of members with pages of 4 and of 64 KiB. With --dome-road pvm each task is a member, and odd ranks believe that their
 * pages have 64 KiB: this program's sysconf says so. */
#include "checked.h"

#include "core/environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

typedef struct odd {
    double a[3];
} odd;

enum { N = 40000, ROUNDS = 6, LARGE = 1 << 16 };

static bool large;
static int rank, size;

long sysconf(int name)
{
    static long (*next)(int);
    if (!next)
        next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return large && name == _SC_PAGESIZE ? LARGE : next(name);
}

static double value(int round, uint64_t i, int k)
{
    return round * 1e6 + (double)i + k / 4.0;
}

/* Neighbours are written by tasks with other pages. */
static void write_all(odd *o, unsigned char *bytes, int round)
{
    for (uint64_t i = (uint64_t)((rank + round) % size); i < N; i += (uint64_t)size) {
        o[i] = (odd){{value(round, i, 0), value(round, i, 1), value(round, i, 2)}};
        bytes[i] = (unsigned char)(i + (uint64_t)round);
    }
}

static void check_all(const odd *o, const unsigned char *bytes, int round)
{
    for (uint64_t i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++)
            CHECK(o[i].a[k] == value(round, i, k));
        CHECK(bytes[i] == (unsigned char)(i + (uint64_t)round));
    }
}

int main(int argc, char **argv)
{
    const dome_field field = {"a", DOME_F64, 0, 3};
    init_unbalanced(argc, argv);
    rank = dome_rank(env);
    size = dome_size(env);
    const long small = sysconf(_SC_PAGESIZE);
    large = rank % 2 && env->options.start.road == DOME_ROAD_PROVIDER;
    dome_type type = dome_type_struct(env, "odd", sizeof(odd), &field, 1, sizeof field);
    dome_region *odds = dome_region_new(env, "odds", type, N, DOME_REGION_OPTIONS(.block = 1024));
    dome_region *bytes = dome_region_new(env, "bytes", DOME_U8, N, DOME_REGION_OPTIONS(.block = 4096));
    CHECK(dome_region_unit(bytes) >= (uint64_t)(large ? LARGE : small));
    for (int round = 1; round <= ROUNDS; round++) {
        write_all(dome_region_data(odds), dome_region_data(bytes), round);
        dome_barrier(env);
        check_all(dome_region_data(odds), dome_region_data(bytes), round);
        dome_barrier(env);
        relayout(N, 1024, round % LAYOUTS);
        relayout(N, 4096, round % LAYOUTS);
    }
    dome_print(env, "ok region_pages on %d tasks: %u checks\n", size, checks);
    return dome_finalize(env) ? 1 : 0;
}
