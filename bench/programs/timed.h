/* Included before a program that has no clock of its own (cc -include): it then prints the lines of program.h, from its first
 * vector or region to its end. With TIMED_BATCHES it also prints "at N" where it reports its progress, so that a script can
 * wait for a boundary. */
#ifndef PROGRAM_TIMED_H
#define PROGRAM_TIMED_H

#include "program.h"

#include <inttypes.h>
#include <stdio.h>

static program_clock timed_clock;
static bool timed;

static inline void timed_begin(dome_env *env)
{
    if (!timed)
        program_begin(env, &timed_clock);
    timed = true;
}

static inline void timed_end(dome_env *env)
{
    if (timed)
        program_end(env, &timed_clock, 0);
}

static inline void timed_at(dome_env *env, uint64_t done)
{
    if (dome_rank(env) == 0) {
        printf("at %" PRIu64 "\n", done);
        fflush(stdout);
    }
}

#ifdef TIMED_BATCHES
#define dome_progress(env, done, ...) (timed_at(env, done), dome_progress(env, done, __VA_ARGS__))
#endif
#define dome_region_new(env, ...) (timed_begin(env), dome_region_new(env, __VA_ARGS__))
#define dvec_new_with(env, ...)   (timed_begin(env), dvec_new_with(env, __VA_ARGS__))
#define dome_finalize(env)        (timed_end(env), dome_finalize(env))

#endif
