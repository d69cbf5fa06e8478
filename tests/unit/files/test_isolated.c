#include "files/isolated.h"

#include "files/hdf5.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the function changes, its own process alone sees. */
static void *answer(void *ctx, size_t *bytes)
{
    size_t *length = ctx;
    char *text = g_malloc0(*length + 1);
    memset(text, 'x', *length);
    *bytes = *length;
    *length = 0;
    return text;
}

static void *crash(void *ctx, size_t *bytes)
{
    (void)ctx, (void)bytes;
    raise(SIGSEGV);
    return NULL;
}

static void *leave(void *ctx, size_t *bytes)
{
    (void)ctx, (void)bytes;
    _exit(0);
}

static void test_answers(void)
{
    static const size_t lengths[] = {0, 1, 4096, 1000000};
    for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
        size_t length = lengths[i], bytes = 1;
        const char *reason;
        char *found = dome__isolated_call(answer, &length, &bytes, &reason);
        g_assert_nonnull(found);
        g_assert_cmpuint(bytes, ==, lengths[i]);
        g_assert_cmpuint(length, ==, lengths[i]);
        for (size_t k = 0; k < bytes; k++)
            g_assert_cmpint(found[k], ==, 'x');
        g_free(found);
    }
}

/* Leaves a process that keeps the pipe open for longer than dome__isolated_call waits. */
static void *leave_another(void *ctx, size_t *bytes)
{
    pid_t *pid = g_new(pid_t, 1);
    (void)ctx;
    *pid = fork();
    if (*pid == 0) {
        pause();
        _exit(0);
    }
    *bytes = sizeof *pid;
    return pid;
}

static void test_another(void)
{
    size_t bytes;
    const char *reason;
    gint64 begin = g_get_monotonic_time();
    pid_t *pid = dome__isolated_call(leave_another, NULL, &bytes, &reason);
    g_assert_nonnull(pid);
    g_assert_cmpint(*pid, >, 0);
    g_assert_cmpint(kill(*pid, SIGKILL), ==, 0);
    g_assert_cmpint(g_get_monotonic_time() - begin, <, 50 * G_USEC_PER_SEC);
    g_free(pid);
}

/* Without a descriptor for its pipe no process is started; nothing is said of what the function would have looked at. */
static void test_no_process(void)
{
    struct rlimit before, few;
    size_t length = 1, bytes;
    const char *reason = "";
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    few = before;
    few.rlim_cur = 0;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
    void *found = dome__isolated_call(answer, &length, &bytes, &reason);
    int error = errno;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    const char *preloaded = g_getenv("LD_PRELOAD");
    if (preloaded && strstr(preloaded, "vgpreload")) { /* it has descriptors of its own, for which the limit is */
        g_free(found);
        g_test_skip("under valgrind the limit of descriptors does not hold");
        return;
    }
    g_assert_null(found);
    g_assert_null(reason);
    g_assert_cmpint(error, ==, EMFILE);
#ifdef DOME_WITH_HDF5
    char *message = NULL;
    dome_hdf5_set found_set;
    g_assert_false(dome__hdf5_describe("nothing.h5", 1, "/x", &found_set, &message)); /* loads the library */
    bool installed = !strstr(message, "is not installed here");
    g_free(message);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
    g_assert_false(dome__hdf5_describe("nothing.h5", 1, "/x", &found_set, &message));
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    g_assert_true(!installed || strstr(message, "needs a process of its own"));
    g_free(message);
#endif
}

static void test_ends(void)
{
    const char *reason = NULL;
    size_t bytes;
    g_assert_null(dome__isolated_call(crash, NULL, &bytes, &reason));
    g_assert_cmpstr(reason, ==, "crashes");
    g_assert_null(dome__isolated_call(leave, NULL, &bytes, &reason));
    g_assert_cmpstr(reason, ==, "crashes");
}

/* Adds up what it is asked; leaves at 0. */
static void *add_up(void *ctx, const void *question, size_t question_bytes, size_t *bytes)
{
    int *sum = ctx, *answer = g_new(int, 1), asked = 0;
    g_assert_cmpuint(question_bytes, ==, sizeof asked);
    memcpy(&asked, question, sizeof asked);
    if (asked == 0)
        _exit(0);
    *answer = *sum += asked;
    *bytes = sizeof *answer;
    return answer;
}

/* One process answers several questions, and none after it has failed. */
static void test_questions(void)
{
    int sum = 100;
    size_t bytes;
    const char *reason = NULL;
    dome_isolated_process *p = dome__isolated_begin(add_up, &sum);
    g_assert_nonnull(p);
    for (int asked = 1; asked <= 4; asked++) {
        int *answer = dome__isolated_ask(p, &asked, sizeof asked, &bytes, &reason);
        g_assert_nonnull(answer);
        g_assert_cmpuint(bytes, ==, sizeof *answer);
        g_assert_cmpint(*answer, ==, 100 + asked * (asked + 1) / 2);
        g_free(answer);
    }
    g_assert_cmpint(sum, ==, 100);
    for (int k = 0; k < 2; k++) {
        reason = NULL;
        g_assert_null(dome__isolated_ask(p, &(int){0}, sizeof(int), &bytes, &reason));
        g_assert_cmpstr(reason, ==, "crashes");
    }
    dome__isolated_end(p);
    dome__isolated_end(NULL);
}

/* Whether this process has a file open. */
static bool has_open(const char *file)
{
    bool found = false;
    GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename("/proc/self/fd", name, NULL), *target = g_file_read_link(path, NULL);
        found = found || g_strcmp0(target, file) == 0;
        g_free(target);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    return found;
}

/* Ends the processes that this one has started. */
static void kill_children(void)
{
    char *text = NULL, *name = g_strdup_printf("/proc/self/task/%d/children", (int)getpid());
    g_assert_true(g_file_get_contents(name, &text, NULL, NULL));
    for (char *at = text; strtol(at, NULL, 10) > 0; at = strchr(at, ' ') + 1)
        g_assert_cmpint(kill((pid_t)strtol(at, NULL, 10), SIGKILL), ==, 0);
    g_free(text);
    g_free(name);
}

/* A file to which a data set is added, and which may be damaged, is open in another process alone. */
static void test_adding(void)
{
    char *folder = g_dir_make_tmp("dome-isolated.XXXXXX", NULL), *file = g_build_filename(folder, "x.h5", NULL), *message = NULL;
    const uint64_t shape[] = {3};
    uint64_t offset = 0, needed = 1;
    bool alone = true;
    dome_file_array array;
    dome__file_array_describe(&array, DOME_F64, 1, shape, 1);
    g_assert_true(g_file_set_contents(file, "", 0, NULL));
    if (!dome__hdf5_make(file, "/x", &array, &offset, &message)) {
        g_test_skip(message);
        g_free(message);
    } else {
        dome_hdf5_isolated *h = dome__hdf5_add(file, "/y", &array, &offset, &message);
        g_assert_cmpstr(message, ==, NULL);
        g_assert_nonnull(h);
        g_assert_cmpuint(offset, >, 0);
        g_assert_false(has_open(file));
        g_assert_true(dome__hdf5_name(h, &needed, &message));
        g_assert_true(dome__hdf5_is_alone(file, "/x", &alone, &message));
        g_assert_false(alone);
        h = dome__hdf5_add(file, "/z", &array, &offset, &message);
        g_assert_nonnull(h);
        g_assert_cmpuint(dome__hdf5_take_back(h), >, 0);
        g_assert_null(dome__hdf5_add(file, "/y/w", &array, &offset, &message));
        g_assert_nonnull(strstr(message, "has no group at '/y'"));
        g_clear_pointer(&message, g_free);

        /* A process that ends before it has taken back what it has added may have told the file of a longer one. */
        h = dome__hdf5_add(file, "/z", &array, &offset, &message);
        g_assert_nonnull(h);
        kill_children();
        g_assert_cmpuint(dome__hdf5_take_back(h), ==, DOME_HDF5_UNKNOWN);
        g_assert_true(dome__hdf5_is_alone(file, "/x", &alone, &message));
    }
    dome__file_array_clear(&array);
    g_assert_cmpint(unlink(file), ==, 0);
    g_assert_cmpint(rmdir(folder), ==, 0);
    g_free(file);
    g_free(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/isolated/answers", test_answers);
    g_test_add_func("/isolated/ends", test_ends);
    g_test_add_func("/isolated/another", test_another);
    g_test_add_func("/isolated/no-process", test_no_process);
    g_test_add_func("/isolated/questions", test_questions);
    g_test_add_func("/isolated/adding", test_adding);
    return g_test_run();
}
