/* For test programs whose checks end the program: checks that count themselves, and layouts to try. */
#ifndef DOME_TESTS_CHECKED_H
#define DOME_TESTS_CHECKED_H

#include <dome/dome.h>
#include <dome/structure.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;
static unsigned checks;

#define CHECK(condition)                                                                                                         \
    do {                                                                                                                         \
        checks++;                                                                                                                \
        if (!(condition))                                                                                                        \
            dome_abort(env, "line %d: %s does not hold (%s)", __LINE__, #condition, dome_error_message(env));                    \
    } while (0)

/* Checks that the last call has failed in this way. */
#define FAILED(status, word)                                                                                                     \
    do {                                                                                                                         \
        CHECK(dome_error_status(env) == (status));                                                                               \
        CHECK(strstr(dome_error_message(env), (word)));                                                                          \
        dome_error_clear(env);                                                                                                   \
    } while (0)

/* dome_init for a program in which data move by its own orders alone. */
static inline void init_unbalanced(int argc, char **argv)
{
    static char **words;
    words = calloc((size_t)argc + 3, sizeof *words);
    memcpy(words, argv, (size_t)argc * sizeof *words);
    words[argc++] = "--dome-balance";
    words[argc++] = "none";
    env = dome_init(&argc, &words);
}

/* Layouts to try: even, turned around the ring, all on one task, every other task empty. */
enum { LAYOUTS = 4 };

static inline void relayout(uint64_t n, uint64_t block, int which)
{
    int size = dome_size(env);
    uint64_t blocks = (n + block - 1) / block;
    uint64_t *counts = calloc((size_t)size, sizeof *counts), left = blocks;
    for (int r = 0; r < size; r++) {
        uint64_t share = which == 2 ? 0 : which == 3 ? (r % 2 ? 0 : 2 * blocks / (uint64_t)size) : blocks / (uint64_t)size;
        counts[r] = share < left ? share : left;
        left -= counts[r];
    }
    counts[size - 1] += left;
    dome_layout *layout = dome_layout_new(n, block, size, which == 0 || !blocks ? 0 : blocks / 3, counts);
    CHECK(layout);
    CHECK(dome_env_relayout(env, layout) == DOME_OK);
    dome_layout_unref(layout);
    free(counts);
}

#endif
