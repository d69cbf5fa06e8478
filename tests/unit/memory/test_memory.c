/* Memory that tasks of a host share: its two mappings, other processes that attach, and what refuses it. */
#include "memory/memory.h"

#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static dome_memory *new_memory(uint64_t bytes)
{
    const char *why = NULL;
    dome_memory *memory = dome__memory_new("test", bytes, &why);
    g_assert_cmpstr(why, ==, NULL);
    g_assert_nonnull(memory);
    return memory;
}

static void test_two_mappings(void)
{
    dome_memory *memory = new_memory(100000);
    const size_t page = dome__memory_page(memory), bytes = dome__memory_bytes(memory);
    char *data = dome__memory_data(memory), *alias = dome__memory_alias(memory);
    g_assert_true(data != alias && bytes >= 100000 && bytes % page == 0 && bytes < 100000 + page);
    g_assert_true((uintptr_t)data % page == 0);
    for (size_t k = 0; k < bytes; k++)
        g_assert_true(data[k] == 0);
    memset(data, 1, bytes);
    alias[bytes - 1] = 2;
    g_assert_true(alias[0] == 1 && data[bytes - 1] == 2);
    dome__memory_free(memory);
}

/* At an address of the caller's choice, where nothing is; refused anywhere else, and the memory stays. */
static void test_place(void)
{
    dome_memory *memory = new_memory(100000);
    const size_t page = dome__memory_page(memory), bytes = dome__memory_bytes(memory);
    char *before = dome__memory_data(memory), *alias = dome__memory_alias(memory);
    before[0] = 1;
    char *free_place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(free_place != MAP_FAILED);
    g_assert_cmpstr(dome__memory_place(memory, free_place), ==, "something else is at that address");
    g_assert_cmpstr(dome__memory_place(memory, free_place + 1), ==, "the address is no multiple of the page");
    g_assert_true(dome__memory_data(memory) == before && before[0] == 1);
    g_assert_cmpint(munmap(free_place, bytes), ==, 0);
    g_assert_cmpstr(dome__memory_place(memory, free_place), ==, NULL);
    g_assert_true(dome__memory_data(memory) == free_place && free_place[0] == 1);
    free_place[page] = 2;
    g_assert_true(alias[page] == 2);
    dome__memory_free(memory);
}

static void test_smallest(void)
{
    dome_memory *none = new_memory(0), *one = new_memory(1), *page = new_memory(dome__memory_page(one));
    g_assert_cmpuint(dome__memory_bytes(none), ==, dome__memory_page(one));
    g_assert_cmpuint(dome__memory_bytes(one), ==, dome__memory_page(one));
    g_assert_cmpuint(dome__memory_bytes(page), ==, dome__memory_page(one));
    dome__memory_free(none);
    dome__memory_free(one);
    dome__memory_free(page);
    dome__memory_free(NULL);
}

/* Runs f in a process of its own; returns how that ended. */
static int in_child(void (*f)(void *), void *argument)
{
    int status;
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        f(argument);
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    return status;
}

static void attach_and_write(void *argument)
{
    const char *why;
    const dome_memory_offer *offer = argument;
    dome_memory *memory = dome__memory_attach(offer, &why);
    if (!memory || dome__memory_bytes(memory) != (size_t)offer->bytes)
        _exit(1);
    char *data = dome__memory_data(memory);
    dome__memory_taken(memory);
    data[5000] = (char)(data[4999] + 1);
    dome__memory_free(memory);
}

static void test_attach(void)
{
    dome_memory *memory = new_memory(10000);
    dome_memory_offer offer = dome__memory_offer(memory);
    char *data = dome__memory_data(memory);
    data[4999] = 41;
    g_assert_cmpint(in_child(attach_and_write, &offer), ==, 0);
    g_assert_cmpint(data[5000], ==, 42);
    dome__memory_free(memory);
}

static void expect_no_memory(const dome_memory_offer *offer, const char *text)
{
    const char *why = NULL;
    g_assert_null(dome__memory_attach(offer, &why));
    g_assert_cmpstr(why, ==, text);
}

static void test_refused_offers(void)
{
    dome_memory *memory = new_memory(10000), *other = new_memory(10000);
    const dome_memory_offer offer = dome__memory_offer(memory), second = dome__memory_offer(other);
    dome_memory_offer wrong = offer;
    wrong.descriptor = second.descriptor; /* as if another process had the number now */
    expect_no_memory(&wrong, g_strerror(ENOENT));
    wrong = offer;
    wrong.bytes += (int64_t)dome__memory_page(memory);
    expect_no_memory(&wrong, g_strerror(ENOENT));
    wrong.bytes = 0;
    expect_no_memory(&wrong, "it is too large for addresses of this machine");
    dome__memory_taken(memory);
    dome__memory_taken(memory);
    expect_no_memory(&offer, g_strerror(ENOENT));
    dome__memory_free(memory);
    dome__memory_free(other);
}

static void test_too_large(void)
{
    const char *why = NULL;
    g_assert_null(dome__memory_new("test", UINT64_MAX, &why));
    g_assert_cmpstr(why, ==, "it is too large for addresses of this machine");
}

static void limit_files(void *unused)
{
    (void)unused;
    const char *why = NULL;
    struct rlimit small = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &small) < 0)
        _exit(2);
    if (dome__memory_new("test", 1 << 20, &why) || !why || strcmp(why, g_strerror(EFBIG)) != 0)
        _exit(1);
}

static void test_file_limit(void)
{
    g_assert_cmpint(in_child(limit_files, NULL), ==, 0);
}

/* In a mount namespace in which the system seems to promise no more memory than it has: all pages get memory at once. */
static void limit_promises(void *unused)
{
    (void)unused;
    char *path = NULL;
    struct stat st;
    const char *why = NULL;
    int fd = unshare(CLONE_NEWNS) == 0 ? g_file_open_tmp(NULL, &path, NULL) : -1;
    if (fd < 0)
        _exit(77);
    const bool seems = write(fd, "2\n", 2) == 2 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                       mount(path, "/proc/sys/vm/overcommit_memory", NULL, MS_BIND, NULL) == 0;
    unlink(path);
    if (!seems)
        _exit(77);
    dome_memory *memory = dome__memory_new("test", 1 << 20, &why);
    if (!memory || fstat((int)dome__memory_offer(memory).descriptor, &st) < 0 || st.st_blocks * 512 < 1 << 20)
        _exit(1);
}

static void test_promises(void)
{
    int status = in_child(limit_promises, NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        g_test_skip("mount namespaces are not permitted");
    else
        g_assert_cmpint(status, ==, 0);
}

static void test_promises_not_limited(void)
{
    struct stat st;
    dome_memory *memory = new_memory(1 << 20);
    char *rule = NULL;
    g_assert_cmpint(fstat((int)dome__memory_offer(memory).descriptor, &st), ==, 0);
    if (g_file_get_contents("/proc/sys/vm/overcommit_memory", &rule, NULL, NULL) && atoi(rule) != 2)
        g_assert_cmpint(st.st_blocks, ==, 0); /* only what is touched */
    g_free(rule);
    dome__memory_free(memory);
}

static void touch(void *argument)
{
    *(volatile char *)argument = 1;
}

static void test_fork(void)
{
    dome_memory *memory = new_memory(10000);
    g_test_message("a child has no data, and the alias");
    int status = in_child(touch, dome__memory_data(memory));
    g_assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0); /* the sanitizers exit */
    g_assert_cmpint(in_child(touch, dome__memory_alias(memory)), ==, 0);
    g_assert_cmpint(*(char *)dome__memory_data(memory), ==, 1);
    dome__memory_free(memory);
}

static void test_untouched(void)
{
    dome_memory *memory = new_memory((uint64_t)sysconf(_SC_PAGESIZE) * 10);
    const size_t page = dome__memory_page(memory);
    g_assert_cmpuint(dome__memory_untouched(memory, 0, 10), ==, 10);
    *((char *)dome__memory_alias(memory) + 4 * page) = 1;
    *((char *)dome__memory_data(memory) + 7 * page) = 0; /* zeros, but touched */
    g_assert_cmpuint(dome__memory_untouched(memory, 0, 10), ==, 4);
    g_assert_cmpuint(dome__memory_untouched(memory, 1, 2), ==, 2);
    g_assert_cmpuint(dome__memory_untouched(memory, 4, 6), ==, 0);
    g_assert_cmpuint(dome__memory_untouched(memory, 5, 5), ==, 2);
    g_assert_cmpuint(dome__memory_untouched(memory, 8, 2), ==, 2);
    dome__memory_taken(memory); /* nobody knows any more */
    g_assert_cmpuint(dome__memory_untouched(memory, 8, 2), ==, 0);
    dome__memory_free(memory);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/memory/two-mappings", test_two_mappings);
    g_test_add_func("/memory/place", test_place);
    g_test_add_func("/memory/smallest", test_smallest);
    g_test_add_func("/memory/attach", test_attach);
    g_test_add_func("/memory/refused-offers", test_refused_offers);
    g_test_add_func("/memory/too-large", test_too_large);
    g_test_add_func("/memory/file-limit", test_file_limit);
    g_test_add_func("/memory/promises", test_promises);
    g_test_add_func("/memory/promises-not-limited", test_promises_not_limited);
    g_test_add_func("/memory/fork", test_fork);
    g_test_add_func("/memory/untouched", test_untouched);
    return g_test_run();
}
