/* Lines for people: plain, whole, and written at once. */
#include "system/say.h"

#include "system/child.h"
#include "system/deadline.h"

#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void say(void)
{
    dome__say("%d of '%s'", 3, "x\033]0;title\007\ny");
    dome__say_at_once("%d of '%s'", 4, "x\033]0;title\007\ny");
}

/* A line stays one line, however it was made. */
static void test_plain(void)
{
    if (g_test_subprocess()) {
        say();
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("dome: 3 of 'x?]0;title? y'\ndome: 4 of 'x?]0;title? y'\n");
    g_test_trap_assert_stderr_unmatched("*\033*");
}

/* With a socket that keeps the bounds of messages as standard error. */
static void say_long(void)
{
    char *text = g_strnfill(5000, 'x');
    dome__say("%s", text);
    dome__say_at_once("%s", text);
    g_free(text);
}

static void test_one_write(void)
{
    int ends[2];
    char *line = g_malloc0(1 << 16);
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), ==, 0);
    const pid_t child = dome__child_fork(&(dome_child_setup){0}, NULL);
    if (child == 0) {
        g_free(line); /* valgrind judges the child, too */
        dup2(ends[1], STDERR_FILENO);
        say_long();
        _exit(0);
    }
    const dome_deadline until = dome__deadline_in(60);
    for (int k = 0; k < 2; k++) {
        memset(line, 0, 1 << 16);
        g_assert_cmpint(dome__deadline_read(ends[0], line, 1 << 16, until), ==, 6 + 5000 + 1);
        g_assert_true(g_str_has_prefix(line, "dome: xxx") && g_str_has_suffix(line, "xxx\n"));
    }
    g_assert_cmpint(dome__child_reap(child), ==, 0);
    close(ends[0]);
    close(ends[1]);
    g_free(line);
}

/* Where another thread holds stderr. */
static void *hold(void *argument)
{
    flockfile(stderr);
    pthread_barrier_wait(argument);
    pause();
    return NULL;
}

static void test_at_once(void)
{
    int line;
    char text[64] = "";
    const pid_t child = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS, .line_as = STDERR_FILENO}, &line);
    if (child == 0) {
        pthread_t thread;
        pthread_barrier_t held;
        pthread_barrier_init(&held, NULL, 2);
        pthread_create(&thread, NULL, hold, &held);
        pthread_barrier_wait(&held);
        dome__say_at_once("it is said");
        _exit(0);
    }
    g_assert_cmpint(dome__deadline_read(line, text, sizeof text - 1, dome__deadline_in(60)), >, 0);
    g_assert_cmpstr(text, ==, "dome: it is said\n");
    close(line);
    g_assert_cmpint(dome__child_reap(child), ==, 0);
}

static void check_text(const char *line, const char *expected)
{
    char *text = dome__say_text(line);
    g_assert_cmpstr(text, ==, expected);
    g_free(text);
}

static void test_text(void)
{
    check_text("dome: a task is lost\n", "a task is lost");
    check_text("a task is lost\n", "a task is lost");
    check_text("dome", "dome");
    check_text("", "");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/say/plain", test_plain);
    g_test_add_func("/say/one-write", test_one_write);
    g_test_add_func("/say/at-once", test_at_once);
    g_test_add_func("/say/text", test_text);
    return g_test_run();
}
