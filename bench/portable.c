/* portable: how fast elements become bytes of a checkpoint, beside memcpy on the same memory: conversion, back, checksum. One
 * core, block by block of 8192 bytes; from memory that does not fit the cache, and from memory that does.
 *
 *   build/bench/portable [MEGABYTES] */
#include <dome/dome.h>

#ifdef DOME_WITH_CHECKPOINT
#include "system/checksum.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 8192, ROUNDS = 7 };

static char *from, *to;
static volatile unsigned char sink;

typedef void (*work)(dome_type type, size_t at);

static void copy(dome_type type, size_t at)
{
    (void)type;
    memcpy(to + at, from + at, BLOCK);
}

static void pack(dome_type type, size_t at)
{
    dome_type_pack(type, DOME_PORTABLE, to + at, from + at, BLOCK / dome_type_size(type));
}

static void unpack(dome_type type, size_t at)
{
    dome_type_unpack(type, DOME_PORTABLE, to + at, from + at, BLOCK / dome_type_size(type));
}

#ifdef DOME_WITH_CHECKPOINT
static void checksum(dome_type type, size_t at)
{
    (void)type;
    sink ^= dome__checksum(from + at, BLOCK).bytes[0];
}
#endif

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* GB/s, the best of several rounds: others may be at work on the machine. */
static double speed(work f, dome_type type, size_t bytes, int repeat)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (int i = 0; i < repeat; i++)
            for (size_t at = 0; at < bytes; at += BLOCK)
                f(type, at);
        double rate = (double)bytes * repeat / (seconds() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    return best;
}

static void table(const char *title, size_t bytes, int repeat)
{
    const dome_type types[] = {DOME_I16, DOME_F32, DOME_F64, DOME_C128};
    double memory = speed(copy, DOME_F64, bytes, repeat);
    printf("%s\n  memcpy      %6.2f GB/s\n", title, memory);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        double out = speed(pack, types[i], bytes, repeat), in = speed(unpack, types[i], bytes, repeat);
        printf("  %-4s pack   %6.2f GB/s  %4.2f of memcpy    unpack %6.2f GB/s  %4.2f\n", dome_type_name(types[i]), out,
               out / memory, in, in / memory);
    }
#ifdef DOME_WITH_CHECKPOINT
    double sum = speed(checksum, DOME_F64, bytes, repeat);
    printf("  checksum    %6.2f GB/s  %4.2f of memcpy\n", sum, sum / memory);
#endif
}

int main(int argc, char **argv)
{
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 256, bytes = megabytes << 20;
    from = megabytes ? malloc(bytes) : NULL;
    to = megabytes ? malloc(bytes) : NULL;
    if (!from || !to) {
        fprintf(stderr, "usage: portable [MEGABYTES]\n");
        return 2;
    }
    for (size_t i = 0; i < bytes; i++)
        from[i] = (char)(i * 2654435761u >> 13);
    memset(to, 1, bytes);
    table("out of memory", bytes, 1);
    table("out of the cache (16 KiB)", 2 * BLOCK, 4000);
    free(from);
    free(to);
    return 0;
}
