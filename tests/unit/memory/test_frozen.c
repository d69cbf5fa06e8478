#include "memory/frozen.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 1 << 17 };

static dome_frozen begin(void)
{
    dome_frozen frozen;
    const char *why = NULL;
    const bool good = dome__frozen_begin(&frozen, &why);
    if (!good)
        g_printerr("%s\n", why);
    g_assert_true(good);
    return frozen;
}

static void fill(uint64_t *words, uint64_t value)
{
    for (uint64_t k = 0; k < WORDS; k++)
        words[k] = value + k;
}

static void check(const dome_frozen *frozen, const uint64_t *words, uint64_t value)
{
    uint64_t *there = g_new0(uint64_t, WORDS);
    const char *why;
    g_assert_true(dome__frozen_read(frozen, there, words, WORDS * sizeof *words, &why));
    for (uint64_t k = 0; k < WORDS; k++)
        g_assert_cmpuint(there[k], ==, value + k);
    g_free(there);
}

static void test_keeps_what_is_overwritten(void)
{
    uint64_t *words = g_new(uint64_t, WORDS);
    fill(words, 5);
    dome_frozen first = begin();
    fill(words, 7);
    dome_frozen second = begin();
    fill(words, 9);
    check(&first, words, 5);
    check(&second, words, 7);
    dome__frozen_end(&first);
    check(&second, words, 7);
    dome__frozen_end(&second);
    g_assert_cmpint(second.process, ==, 0);
    dome__frozen_end(&second);
    g_free(words);
}

/* As storage that is freed meanwhile. */
static void test_keeps_what_is_unmapped(void)
{
    const size_t bytes = WORDS * sizeof(uint64_t);
    uint64_t *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(words != MAP_FAILED);
    fill(words, 5);
    dome_frozen frozen = begin();
    g_assert_cmpint(munmap(words, bytes), ==, 0);
    check(&frozen, words, 5);
    dome__frozen_end(&frozen);
}

static void *read_there(void *argument)
{
    uint64_t *const *both = argument;
    check((const dome_frozen *)(const void *)both[0], both[1], 5);
    return NULL;
}

static void test_is_read_while_others_write(void)
{
    uint64_t *words = g_new(uint64_t, WORDS);
    fill(words, 5);
    dome_frozen frozen = begin();
    uint64_t *both[] = {(uint64_t *)(void *)&frozen, words};
    pthread_t thread;
    g_assert_cmpint(pthread_create(&thread, NULL, read_there, both), ==, 0);
    for (uint64_t k = 0; k < 20; k++)
        fill(words, 100 + k);
    g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
    dome__frozen_end(&frozen);
    g_free(words);
}

static void test_memory_that_children_do_not_get(void)
{
    const size_t bytes = WORDS * sizeof(uint64_t);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(memory != MAP_FAILED);
    memory[0] = 1;
    g_assert_cmpint(madvise(memory, bytes, MADV_DONTFORK), ==, 0);
    dome_frozen frozen = begin();
    const char *why = NULL;
    char there;
    g_assert_false(dome__frozen_read(&frozen, &there, memory, 1, &why));
    g_assert_nonnull(why);
    dome__frozen_end(&frozen);
    munmap(memory, bytes);
}

static int signalled;

static void note_child(int number)
{
    signalled = number;
}

/* The program waits for its own children only, and gets no signal of this one. */
static void test_is_not_seen_by_the_program(void)
{
    void (*before)(int) = signal(SIGCHLD, note_child);
    dome_frozen frozen = begin();
    g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
    g_assert_cmpint(errno, ==, ECHILD);
    dome__frozen_end(&frozen);
    g_assert_cmpint(signalled, ==, 0);
    signal(SIGCHLD, before);
}

/* A read then fails, and ends nothing. */
static void test_a_child_that_is_killed(void)
{
    dome_frozen frozen = begin();
    static const char text[] = "text";
    char there[sizeof text];
    const char *why = NULL;
    g_assert_cmpint(kill(frozen.process, SIGKILL), ==, 0);
    while (dome__frozen_read(&frozen, there, text, sizeof text, &why)) /* until the kernel has ended it */
        usleep(1000);
    g_assert_nonnull(why);
    dome__frozen_end(&frozen);
}

/* Whoever ends this process ends the child, too: it has a line to nobody else. */
static void test_ends_with_the_process(void)
{
    int line[2];
    g_assert_cmpint(pipe(line), ==, 0);
    const pid_t process = fork();
    if (process == 0) {
        const dome_frozen frozen = begin();
        const pid_t child = frozen.process;
        _exit(write(line[1], &child, sizeof child) == sizeof child ? 0 : 1);
    }
    pid_t child;
    g_assert_cmpint(read(line[0], &child, sizeof child), ==, sizeof child);
    g_assert_cmpint(waitpid(process, NULL, 0), ==, process);
    while (kill(child, 0) == 0)
        usleep(1000);
    g_assert_cmpint(errno, ==, ESRCH);
    close(line[0]);
    close(line[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/frozen/overwritten", test_keeps_what_is_overwritten);
    g_test_add_func("/frozen/unmapped", test_keeps_what_is_unmapped);
    g_test_add_func("/frozen/threads", test_is_read_while_others_write);
    g_test_add_func("/frozen/not-inherited", test_memory_that_children_do_not_get);
    g_test_add_func("/frozen/not-seen", test_is_not_seen_by_the_program);
    g_test_add_func("/frozen/killed", test_a_child_that_is_killed);
    g_test_add_func("/frozen/ends", test_ends_with_the_process);
    return g_test_run();
}
