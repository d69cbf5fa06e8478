/* Random numbers for tests: the same on all tasks, if all have set the same state and draw alike (splitmix64). */
#ifndef DOME_TESTS_DRAW_H
#define DOME_TESTS_DRAW_H

#include <stdint.h>

static uint64_t draw_state;

/* A word that looks random, made of z alone. */
static inline uint64_t draw_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t draw_word(void)
{
    return draw_mix(draw_state += 0x9e3779b97f4a7c15u);
}

/* A number from 0 to below - 1. */
static inline uint64_t draw(uint64_t below)
{
    return draw_word() % below;
}

#endif
