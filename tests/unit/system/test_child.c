/* Processes that are forked: their lines, signals and descriptors, their ends, and forks that are refused. */
#include "system/child.h"

#include "system/deadline.h"
#include "system/io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Refused where the test wants it: root has no limit of processes. */
static bool refused;

pid_t fork(void)
{
    pid_t (*real)(void);
    void *found = dlsym(RTLD_NEXT, "fork");
    memcpy(&real, &found, sizeof real);
    errno = EAGAIN;
    return refused ? -1 : real();
}

/* Seconds, far above what anything here takes. */
static const double LONG = 60;

/* Reads to the end of a line, which must come. */
static char *all_of(int fd)
{
    GString *text = g_string_new(NULL);
    const dome_deadline until = dome__deadline_in(LONG);
    char buffer[256];
    ssize_t n;
    while ((n = dome__deadline_read(fd, buffer, sizeof buffer, until)) > 0)
        g_string_append_len(text, buffer, n);
    g_assert_cmpint(n, ==, 0);
    close(fd);
    return g_string_free(text, FALSE);
}

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void check_exit(pid_t child, int code)
{
    const int status = dome__child_reap(child);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, code);
    g_assert_cmpint(dome__child_reap(child), ==, -1); /* no more */
}

static void test_tells(void)
{
    int line;
    const int before = descriptors();
    const pid_t child = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS}, &line);
    if (child == 0)
        _exit(!dome__io_write(line, "hello", 5) || descriptors() != before + 1);
    char *text = all_of(line);
    g_assert_cmpstr(text, ==, "hello");
    g_free(text);
    check_exit(child, 0);
    g_assert_cmpint(descriptors(), ==, before);
}

static void test_hears(void)
{
    int line;
    char text[8] = "";
    const pid_t child = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_HEARS}, &line);
    if (child == 0) /* it sees the end: it does not hold the other end itself */
        _exit(dome__io_read(line, text, sizeof text) != 5 || errno || strcmp(text, "hello") != 0);
    g_assert_true(dome__io_write(line, "hello", 5));
    close(line);
    check_exit(child, 0);
}

static void test_talks(void)
{
    int line;
    char text[8] = "";
    const pid_t child = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TALKS}, &line);
    if (child == 0)
        _exit(dome__io_read(line, text, 2) != 2 || !dome__io_write(line, text, 2));
    g_assert_true(dome__io_write(line, "ok", 2));
    char *answer = all_of(line);
    g_assert_cmpstr(answer, ==, "ok");
    g_free(answer);
    check_exit(child, 0);
}

static void test_alone(void)
{
    int line = 7;
    pid_t child = dome__child_fork(&(dome_child_setup){0}, &line);
    if (child == 0)
        _exit(line != -1);
    g_assert_cmpint(line, ==, -1);
    check_exit(child, 0);
    child = dome__child_fork(&(dome_child_setup){0}, NULL);
    if (child == 0)
        _exit(5);
    check_exit(child, 5);
}

static bool is_null(int fd)
{
    char name[64] = "", *path = g_strdup_printf("/proc/self/fd/%d", fd);
    const bool null = readlink(path, name, sizeof name - 1) > 0 && strcmp(name, "/dev/null") == 0;
    g_free(path);
    return null;
}

static void test_descriptors(void)
{
    int line;
    const int other = open("/dev/zero", O_RDWR), high = fcntl(other, F_DUPFD, 100);
    const int in = fcntl(STDIN_FILENO, F_DUPFD, 10), out = fcntl(STDOUT_FILENO, F_DUPFD, 10);
    const dome_child_setup setup = {
        .line = DOME_CHILD_TELLS, .line_as = 3, .close_from = 4, .null = DOME_CHILD_IN | DOME_CHILD_OUT};
    dup2(other, STDIN_FILENO);
    dup2(other, STDOUT_FILENO);
    const pid_t child = dome__child_fork(&setup, &line);
    if (child == 0) {
        const bool closed = fcntl(high, F_GETFD) < 0, kept = fcntl(3, F_GETFD) == 0, error = fcntl(2, F_GETFD) >= 0;
        const bool null = is_null(STDIN_FILENO) && is_null(STDOUT_FILENO);
        const bool said = line == 3 && dome__io_write(line, "found", 5);
        _exit(!closed || !kept || !error || !null || !said || descriptors() != 4);
    }
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    char *text = all_of(line);
    g_assert_cmpstr(text, ==, "found");
    g_free(text);
    check_exit(child, 0);
    const int own[] = {other, high, in, out};
    for (size_t k = 0; k < G_N_ELEMENTS(own); k++)
        close(own[k]);
}

/* Of a parent without standard descriptors: the line must not get lost among them. */
static void test_closed_standard(void)
{
    int line, outer;
    const pid_t parent = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS}, &outer);
    if (parent == 0) {
        const int kept = fcntl(outer, F_DUPFD, 10);
        close_range(0, 9, 0);
        const dome_child_setup setup = {.line = DOME_CHILD_TELLS, .line_as = 2, .null = DOME_CHILD_IN | DOME_CHILD_OUT};
        const pid_t child = dome__child_fork(&setup, &line);
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "echo said >&2", (char *)NULL);
            _exit(127);
        }
        char text[8] = "";
        const bool good = dome__io_read(line, text, sizeof text) == 5 && dome__io_write(kept, text, 5);
        _exit(dome__child_reap(child) != 0 || !good);
    }
    char *text = all_of(outer);
    g_assert_cmpstr(text, ==, "said\n");
    g_free(text);
    check_exit(parent, 0);
}

static void handle(int number)
{
    (void)number;
    _exit(9);
}

/* Signals that the parent blocks, handles or ignores. */
static void test_signals(void)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    signal(SIGUSR1, handle);
    pid_t child = dome__child_fork(&(dome_child_setup){0}, NULL);
    if (child == 0) {
        raise(SIGUSR1); /* blocked, as in the parent */
        _exit(1);
    }
    check_exit(child, 1);
    child = dome__child_fork(&(dome_child_setup){.unblocked = true}, NULL);
    if (child == 0) {
        raise(SIGUSR1);
        _exit(1);
    }
    check_exit(child, 9);
    child = dome__child_fork(&(dome_child_setup){.unblocked = true, .handles_none = true}, NULL);
    if (child == 0) {
        raise(SIGUSR1);
        _exit(1);
    }
    const int status = dome__child_reap(child);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static pid_t start_stubborn(const dome_child_setup *setup)
{
    int line;
    char byte;
    const pid_t child = dome__child_fork(setup, &line);
    if (child == 0) {
        for (int number = 1; number < NSIG; number++)
            if (number != SIGALRM)
                signal(number, SIG_IGN);
        dome__io_write(line, "", 1);
        for (int k = 0; k < LONG; k++)
            sleep(1);
        _exit(0);
    }
    g_assert_cmpuint(dome__io_read(line, &byte, 1), ==, 1);
    close(line);
    return child;
}

static void test_stubborn(void)
{
    const pid_t child = start_stubborn(&(dome_child_setup){.line = DOME_CHILD_TELLS});
    g_assert_cmpint(kill(child, SIGTERM), ==, 0);
    g_usleep(50000);
    g_assert_cmpint(waitpid(child, NULL, WNOHANG), ==, 0); /* it goes on */
    dome__child_kill(child);
    g_assert_cmpint(kill(child, 0), ==, -1);
    g_assert_cmpint(errno, ==, ESRCH);
    dome__child_kill(child);
    dome__child_kill(0); /* neither this process nor its group */
    dome__child_kill(-1);
}

/* The parent ignores and blocks SIGALRM. */
static void test_seconds(void)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, &before);
    signal(SIGALRM, SIG_IGN);
    const pid_t child = start_stubborn(&(dome_child_setup){.line = DOME_CHILD_TELLS, .seconds = 1, .unblocked = true});
    const int status = dome__child_reap(child);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void test_group(void)
{
    int line;
    const pid_t child = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_HEARS, .group = true}, &line);
    char byte;
    if (child == 0)
        _exit(getpgrp() != getpid() || dome__io_read(line, &byte, 1) != 0);
    g_assert_cmpint(getpgid(child), ==, child);
    close(line);
    check_exit(child, 0);
}

static void test_with_parent(void)
{
    int line;
    const pid_t parent = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS}, &line);
    if (parent == 0) {
        start_stubborn(&(dome_child_setup){.line = DOME_CHILD_TELLS, .with_parent = true}); /* it holds our line, too */
        kill(getpid(), SIGKILL);
    }
    g_free(all_of(line)); /* ends when both have ended */
    dome__child_reap(parent);
}

static void test_refused(void)
{
    int line = 7;
    const int before = descriptors();
    refused = true;
    g_assert_cmpint(dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TALKS}, &line), ==, -1);
    g_assert_cmpint(errno, ==, EAGAIN);
    refused = false;
    g_assert_cmpint(line, ==, -1);
    g_assert_cmpint(descriptors(), ==, before);
    struct rlimit usual, none;
    getrlimit(RLIMIT_NOFILE, &usual);
    none = (struct rlimit){3, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    g_assert_cmpint(dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS}, &line), ==, -1);
    g_assert_cmpint(errno, ==, EMFILE);
    setrlimit(RLIMIT_NOFILE, &usual);
    g_assert_cmpint(line, ==, -1);
    g_assert_cmpint(dome__child_reap(-1), ==, -1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/child/tells", test_tells);
    g_test_add_func("/child/hears", test_hears);
    g_test_add_func("/child/talks", test_talks);
    g_test_add_func("/child/alone", test_alone);
    g_test_add_func("/child/descriptors", test_descriptors);
    g_test_add_func("/child/closed-standard", test_closed_standard);
    g_test_add_func("/child/signals", test_signals);
    g_test_add_func("/child/stubborn", test_stubborn);
    g_test_add_func("/child/seconds", test_seconds);
    g_test_add_func("/child/group", test_group);
    g_test_add_func("/child/with-parent", test_with_parent);
    g_test_add_func("/child/refused", test_refused);
    return g_test_run();
}
