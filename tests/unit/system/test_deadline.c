/* Deadlines: in the past, near, never; waits that signals interrupt, and senders that do not end. */
#include "system/deadline.h"

#include "system/time.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void test_past(void)
{
    static const double none[] = {0, -1, -1e300, -INFINITY, NAN};
    for (size_t k = 0; k < G_N_ELEMENTS(none); k++) {
        const dome_deadline d = dome__deadline_in(none[k]);
        g_assert_true(dome__deadline_passed(d));
        g_assert_cmpfloat(dome__deadline_seconds(d), ==, 0);
        g_assert_cmpint(dome__deadline_ms(d), ==, 0);
    }
}

static void test_far(void)
{
    static const double far[] = {1e9, 1e11, 1e300, INFINITY};
    for (size_t k = 0; k < G_N_ELEMENTS(far); k++) {
        const dome_deadline d = dome__deadline_in(far[k]);
        g_assert_false(dome__deadline_passed(d));
        g_assert_cmpfloat(dome__deadline_seconds(d), >, 9e8);
        g_assert_cmpint(dome__deadline_ms(d), ==, INT_MAX);
    }
}

static void test_near(void)
{
    const dome_deadline d = dome__deadline_in(0.05);
    g_assert_cmpint(dome__deadline_ms(d), <=, 50);
    const uint64_t began = dome__now_ns();
    while (!dome__deadline_passed(d)) {
        g_assert_cmpint(dome__deadline_ms(d), >=, 0);
        g_usleep(1000);
    }
    g_assert_cmpuint(dome__since_ns(began), >=, 45000000);
    g_assert_cmpint(dome__deadline_ms(d), ==, 0);
}

static void ignore(int number)
{
    (void)number;
}

/* A signal after each so many; 0: none. */
static void begin_signals(long microseconds)
{
    struct sigaction action = {.sa_handler = ignore};
    struct itimerval each = {.it_interval.tv_usec = microseconds, .it_value.tv_usec = microseconds};
    sigaction(SIGALRM, &action, NULL);
    g_assert_cmpint(setitimer(ITIMER_REAL, &each, NULL), ==, 0);
}

/* Signals neither end the wait nor prolong it. */
static void test_interrupted(void)
{
    int ends[2];
    char byte;
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    begin_signals(2000);
    const uint64_t began = dome__now_ns();
    g_assert_cmpint(dome__deadline_poll(&p, 1, dome__deadline_in(0.1)), ==, 0);
    g_assert_cmpint(p.revents, ==, 0);
    g_assert_cmpuint(dome__since_ns(began), >=, 100000000);
    g_assert_cmpint(dome__deadline_read(ends[0], &byte, 1, dome__deadline_in(0.1)), ==, -1);
    g_assert_cmpint(errno, ==, ETIMEDOUT);
    g_assert_cmpuint(dome__since_ns(began), >=, 200000000);
    begin_signals(0);
    close(ends[0]);
    close(ends[1]);
}

/* A poll looks once although its deadline has passed; a read does not. */
static void test_ready(void)
{
    int ends[2];
    char text[8] = "";
    const dome_deadline past = dome__deadline_in(-1), soon = dome__deadline_in(60);
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    g_assert_cmpint(dome__deadline_poll(&p, 1, past), ==, 0);
    g_assert_cmpint(write(ends[1], "word", 4), ==, 4);
    g_assert_cmpint(dome__deadline_poll(&p, 1, past), ==, 1);
    g_assert_cmpint(p.revents, ==, POLLIN);
    g_assert_cmpint(dome__deadline_poll(&p, 1, soon), ==, 1);
    g_assert_cmpint(dome__deadline_read(ends[0], text, sizeof text, past), ==, -1);
    g_assert_cmpint(errno, ==, ETIMEDOUT);
    g_assert_cmpint(dome__deadline_read(ends[0], text, sizeof text, soon), ==, 4);
    g_assert_cmpstr(text, ==, "word");
    close(ends[1]);
    g_assert_cmpint(dome__deadline_read(ends[0], text, sizeof text, soon), ==, 0); /* its end */
    close(ends[0]);
    g_assert_cmpint(dome__deadline_read(ends[0], text, sizeof text, soon), ==, -1);
    g_assert_cmpint(errno, ==, EBADF);
}

static void *send_without_end(void *argument)
{
    const int fd = *(int *)argument;
    char text[512] = "";
    while (write(fd, text, sizeof text) > 0)
        continue;
    return NULL;
}

/* A sender that does not end does not prolong the wait. */
static void test_endless(void)
{
    int ends[2];
    char text[4096];
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    g_assert_cmpint(pthread_create(&thread, NULL, send_without_end, &ends[1]), ==, 0);
    const dome_deadline until = dome__deadline_in(0.1);
    ssize_t n;
    while ((n = dome__deadline_read(ends[0], text, sizeof text, until)) > 0)
        continue;
    g_assert_cmpint(n, ==, -1);
    g_assert_cmpint(errno, ==, ETIMEDOUT);
    close(ends[0]);
    pthread_join(thread, NULL);
    close(ends[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deadline/past", test_past);
    g_test_add_func("/deadline/far", test_far);
    g_test_add_func("/deadline/near", test_near);
    g_test_add_func("/deadline/interrupted", test_interrupted);
    g_test_add_func("/deadline/ready", test_ready);
    g_test_add_func("/deadline/endless", test_endless);
    return g_test_run();
}
