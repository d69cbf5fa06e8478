/* Included before a program that has no clock of its own (cc -include): it then prints the lines of program.h, from its first
 * vector or region to its end. */
#ifndef PROGRAM_TIMED_H
#define PROGRAM_TIMED_H

#include "program.h"

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

#define dome_region_new(env, ...) (timed_begin(env), dome_region_new(env, __VA_ARGS__))
#define dvec_new_with(env, ...)   (timed_begin(env), dvec_new_with(env, __VA_ARGS__))
#define dome_finalize(env)        (timed_end(env), dome_finalize(env))

#endif
