/* The process that starts newcomers: what task 0 gives it arrives there, and what it says arrives here. */
#include "machine/standby.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool start_standby(const dome_spawn *program, int *ids, double timeout, double patience, char **message)
{
    char **arguments = program->arguments;
    const char *const *names = program->names;
    bool as_given = strcmp(program->path, "/a place/prog\n") == 0 && g_strv_length(arguments) == 3 &&
                    strcmp(arguments[0], "") == 0 && strcmp(arguments[1], "x=y z") == 0 && strcmp(arguments[2], "") == 0 &&
                    timeout == 7 && patience == 8;
    as_given =
        as_given && program->size == 4 && !names[0] && strcmp(names[1], "h2") == 0 && !names[2] && strcmp(names[3], "h3") == 0;
    as_given = as_given && g_strcmp0(getenv("ONE"), "1 = one") == 0 && g_strcmp0(getenv("EMPTY"), "") == 0 && !getenv("HOME");
    if (!as_given || getenv("FAILS")) {
        *message = g_strdup(as_given ? "no\nroom" : "other things arrive than were given");
        return false;
    }
    while (getenv("HANGS"))
        pause();
    ids[1] = 17;
    ids[3] = -4;
    return true;
}

static const dome_launcher launcher = {.size = sizeof launcher, .standby = start_standby};

static pid_t start(const char *one_more, int *fd)
{
    char one[] = "ONE=1 = one", empty[] = "EMPTY=", words[3][8] = {"", "x=y z", ""}, *more = g_strdup(one_more);
    char *arguments[] = {words[0], words[1], words[2], NULL}, *environment[] = {one, empty, more, NULL};
    const int file = dome__standby_order("/a place/prog\n", arguments, environment);
    g_assert_cmpint(file, >=, 0);
    const dome_standby_request request = {&launcher, (int)getpid(), file, "- h2 - h3", 7, 8};
    const pid_t pid = dome__standby_start(&request, fd);
    g_assert_cmpint(pid, >, 0);
    g_free(more);
    return pid;
}

static char *read_line(int fd)
{
    GString *line = g_string_new(NULL);
    char byte;
    while (read(fd, &byte, 1) == 1 && byte != '\n')
        g_string_append_c(line, byte);
    return g_string_free(line, FALSE);
}

static void ends_well(pid_t pid, int fd)
{
    int status;
    close(fd);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_started(void)
{
    int fd, ids[4] = {9, 9, 9, 9};
    const pid_t pid = start("MORE=", &fd);
    char *line = read_line(fd);
    g_assert_null(dome__standby_read(line, ids, 4));
    g_assert_cmpint(ids[0], ==, 0);
    g_assert_cmpint(ids[1], ==, 17);
    g_assert_cmpint(ids[3], ==, -4);
    g_assert_cmpint(waitpid(pid, NULL, WNOHANG), ==, 0); /* it stays: newcomers end with it */
    ends_well(pid, fd);
    g_free(line);
}

static void test_refused(void)
{
    int fd, ids[4];
    const pid_t pid = start("FAILS=1", &fd);
    char *line = read_line(fd), *why = dome__standby_read(line, ids, 4);
    g_assert_cmpstr(why, ==, "no room");
    ends_well(pid, fd);
    g_free(why);
    g_free(line);
}

/* It can be ended when it takes too long. */
static void test_hangs(void)
{
    int fd, status;
    const pid_t pid = start("HANGS=1", &fd);
    kill(pid, SIGKILL);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    char *line = read_line(fd), *why = dome__standby_read(line, (int[4]){0}, 4);
    g_assert_cmpstr(why, ==, "the process that starts new tasks has ended");
    close(fd);
    g_free(why);
    g_free(line);
}

static void test_nonsense(void)
{
    static const char *const lines[] = {"", "=", "=1 2", "!", "x", "=1 2 3 4 5"};
    for (size_t k = 0; k < G_N_ELEMENTS(lines); k++) {
        int ids[4];
        char *why = dome__standby_read(lines[k], ids, 4);
        g_assert_nonnull(why);
        g_free(why);
    }
    int fd;
    const dome_standby_request request = {&launcher, (int)getpid(), 9999, "-", 1, 1};
    const pid_t pid = dome__standby_start(&request, &fd);
    char *line = read_line(fd);
    g_assert_cmpstr(line, ==, "!task 0 has not said how newcomers are started");
    ends_well(pid, fd);
    g_free(line);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/standby/started", test_started);
    g_test_add_func("/standby/refused", test_refused);
    g_test_add_func("/standby/hangs", test_hangs);
    g_test_add_func("/standby/nonsense", test_nonsense);
    return g_test_run();
}
