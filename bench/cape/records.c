/* CAPE's Table 3.4: the size of the records for a changed page of 4096 bytes, by which of its 4-byte words have changed.
 *
 *     records         prints a line for each: name, changed units, bytes */
#include "delta/delta.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 1024 };

/* Changes the first `run` words of every `step` words, `runs` times, and prints the size of the records. */
static void tell(const char *name, int step, int run, int runs)
{
    static uint32_t then[WORDS], now[WORDS];
    dome_delta *delta = dome__delta_new(sizeof *now);
    size_t bytes;
    memset(then, 0, sizeof then);
    memset(now, 0, sizeof now);
    for (int k = 0; k < runs; k++)
        for (int j = 0; j < run; j++)
            now[k * step + j] = 1;
    dome__delta_find(delta, 0, now, then, sizeof now, 0);
    dome__delta_records(delta, &bytes);
    printf("%s %d %zu\n", name, run * runs, bytes);
    dome__delta_free(delta);
}

int main(void)
{
    tell("one-word", 1, 1, 1);
    tell("one-chunk-of-16", 16, 16, 1);
    tell("one-chunk-of-512", 512, 512, 1);
    tell("16-words-apart", 64, 1, 16);
    tell("128-words-apart", 8, 1, 128);
    tell("every-other-word", 2, 1, 512);
    tell("the-whole-page", WORDS, WORDS, 1);
    return 0;
}
