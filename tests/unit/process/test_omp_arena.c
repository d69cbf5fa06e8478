/* The allocator of the program's memory: random histories, whose blocks keep what was written, do not overlap, and come back. */
#include "process/omp_arena.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

enum { BLOCKS = 500, STEPS = 60000 };

typedef struct held {
    uint8_t *block;
    size_t bytes;
    uint8_t value;
} held;

/* Only the ends are looked at in large ones. */
static void fill(const held *h)
{
    if (h->bytes < 512) {
        memset(h->block, h->value, h->bytes);
    } else {
        memset(h->block, h->value, 256);
        memset(h->block + h->bytes - 256, h->value, 256);
    }
}

static void check(const held *h, size_t bytes)
{
    const size_t n = MIN(bytes, 256);
    for (size_t k = 0; k < n; k++)
        g_assert_cmpint(h->block[k], ==, h->value);
    for (size_t k = bytes < 512 ? 0 : bytes - 256; k < bytes && bytes == h->bytes; k++)
        g_assert_cmpint(h->block[k], ==, h->value);
}

static size_t random_size(GRand *random)
{
    const int most = g_rand_int_range(random, 1, 22);
    return (size_t)g_rand_int_range(random, 1, 1 << most);
}

static void get(held *h, GRand *random, unsigned thread)
{
    bool zero;
    h->bytes = random_size(random);
    h->value = (uint8_t)g_rand_int_range(random, 1, 256);
    if (g_rand_int_range(random, 0, 8) == 0) {
        const size_t alignment = (size_t)1 << g_rand_int_range(random, 0, 18);
        h->block = dome__omp_arena_get_aligned(thread, alignment, h->bytes);
        g_assert_cmpint((uintptr_t)h->block & (alignment - 1), ==, 0);
    } else {
        h->block = dome__omp_arena_get(thread, h->bytes, &zero);
        for (size_t k = 0; zero && k < h->bytes; k++)
            g_assert_cmpint(h->block[k], ==, 0);
    }
    g_assert_nonnull(h->block);
    g_assert_cmpint((uintptr_t)h->block & 15, ==, 0);
    g_assert_true(dome__omp_arena_has(h->block));
    g_assert_cmpuint(dome__omp_arena_usable(h->block), >=, h->bytes);
    fill(h);
}

static void resize(held *h, GRand *random, unsigned thread)
{
    const size_t bytes = random_size(random), kept = MIN(bytes, h->bytes);
    h->block = dome__omp_arena_resize(thread, h->block, bytes);
    g_assert_nonnull(h->block);
    check(h, kept < h->bytes ? MIN(kept, 256) : h->bytes);
    h->bytes = bytes;
    fill(h);
}

/* Each of some threads gets, resizes and frees any block. own: a block is freed by the thread in whose arena it is. */
static void play(int threads, bool own, guint32 seed)
{
    GRand *random = g_rand_new_with_seed(seed);
    held *all = g_new0(held, BLOCKS);
    for (int step = 0; step < STEPS + BLOCKS; step++) {
        held *h = &all[step < STEPS ? g_rand_int_range(random, 0, BLOCKS) : step - STEPS];
        unsigned thread = (unsigned)g_rand_int_range(random, 0, threads);
        if (h->block && own)
            thread = dome__omp_arena_of(h->block);
        if (!h->block && step < STEPS) {
            get(h, random, thread);
            g_assert_true(!own || dome__omp_arena_of(h->block) == thread);
        } else if (h->block && step < STEPS && g_rand_int_range(random, 0, 3) == 0) {
            check(h, h->bytes);
            resize(h, random, thread);
        } else if (h->block) {
            check(h, h->bytes);
            dome__omp_arena_free(thread, h->block);
            h->block = NULL;
        }
    }
    g_free(all);
    g_rand_free(random);
}

static void one_thread(void)
{
    play(1, true, 1);
    play(1, true, 2);
}

static void own_blocks(void)
{
    play(5, true, 3);
}

static void blocks_of_others(void)
{
    play(5, false, 4);
}

/* What is freed is used again: the same history again and again needs no more memory than the second time. */
static void used_again(void)
{
    uint64_t length = 0;
    for (int k = 0; k < 6; k++) {
        play(1, true, 5);
        if (k == 1)
            length = dome__omp_arena_length(0);
        else if (k > 1)
            g_assert_cmpuint(dome__omp_arena_length(0), ==, length);
    }
}

static void large_grows_in_place(void)
{
    char *block = dome__omp_arena_get(7, 1 << 20, NULL), *begin = block;
    block[1000] = 1;
    for (size_t bytes = 2 << 20; bytes <= 64 << 20; bytes += 1 << 20)
        block = dome__omp_arena_resize(7, block, bytes);
    g_assert_true(block == begin && block[1000] == 1);
    const uint64_t length = dome__omp_arena_length(7);
    dome__omp_arena_free(7, block);
    char *again = dome__omp_arena_get(7, 64 << 20, NULL);
    g_assert_true(again == begin && again[1000] == 0); /* given back to the system meanwhile */
    g_assert_cmpuint(dome__omp_arena_length(7), ==, length);
    dome__omp_arena_free(7, again);
}

static void too_much(void)
{
    g_assert_null(dome__omp_arena_get(3, SIZE_MAX - 100, NULL));
    g_assert_null(dome__omp_arena_get(3, DOME_OMP_ARENA_OTHER, NULL));
    g_assert_null(dome__omp_arena_get_aligned(3, 4096, SIZE_MAX - 100));
    char *block = dome__omp_arena_get(3, 100000, NULL);
    block[99999] = 3;
    g_assert_null(dome__omp_arena_resize(3, block, SIZE_MAX - 100));
    g_assert_cmpint(block[99999], ==, 3);
    dome__omp_arena_free(3, block);
}

static void freed_twice(void)
{
    if (g_test_subprocess()) {
        char *block = dome__omp_arena_get(2, 40, NULL);
        dome__omp_arena_free(2, block);
        dome__omp_arena_free(2, block);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("dome: *already freed*");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/arena/one-thread", one_thread);
    g_test_add_func("/arena/own-blocks", own_blocks);
    g_test_add_func("/arena/used-again", used_again);
    g_test_add_func("/arena/large-grows-in-place", large_grows_in_place);
    g_test_add_func("/arena/too-much", too_much);
    g_test_add_func("/arena/blocks-of-others", blocks_of_others); /* from here on lists have blocks of other arenas */
    g_test_add_func("/arena/freed-twice", freed_twice);
    return g_test_run();
}
