/* What the programs of bench/shares share: options, the clock of the loop, and the line with its result.
 *
 * A program prints "begin" when its loop begins, and at the end one line:
 *
 *     result BITS seconds S processor P         P: seconds of all tasks together */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <dome/dome.h>
#include <stdint.h>

typedef struct program_option {
    const char *name; /* "--steps" */
    long *value;      /* its default, replaced by a number of 1 or more from the command line */
} program_option;

/* Takes the options; ends the program with status 2 if there are others. */
void program_options(dome_env *env, int argc, char **argv, int count, const program_option options[]);

typedef struct program_clock {
    double begin, processor;
} program_clock;

/* The tasks begin their loops together. */
void program_begin(dome_env *env, program_clock *clock);

/* Collective. bits: a number that changes with any bit of the result. */
void program_end(dome_env *env, const program_clock *clock, double bits);

/* Number `index` of a stream of random numbers in [0, 1). */
static inline double program_random(uint64_t stream, uint64_t index)
{
    uint64_t z = (stream << 48) + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#endif
