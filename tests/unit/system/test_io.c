/* Reading and writing whole: pieces, signals that interrupt, ends of files, errors. */
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20 }; /* many times what a pipe holds */

static uint8_t *sample(void)
{
    uint8_t *data = g_malloc(BYTES);
    for (int k = 0; k < BYTES; k++)
        data[k] = (uint8_t)(k * 31 + k / 251);
    return data;
}

static void ignore(int number)
{
    (void)number;
}

/* The other end of a pipe, in a thread that interrupts the main thread before each of its calls. */
typedef struct other_end {
    pthread_t thread, main;
    int fd;
    uint8_t *data; /* to write; NULL: reads */
    uint8_t *got;
} other_end;

static void *run_other_end(void *argument)
{
    other_end *o = argument;
    enum { PIECE = 5000 };
    ssize_t n = 1;
    for (size_t done = 0; n > 0 && done < BYTES; done += (size_t)MAX(n, 0)) {
        g_usleep(200); /* the main thread waits in its call */
        pthread_kill(o->main, SIGUSR1);
        const size_t piece = MIN(PIECE, BYTES - done);
        n = o->data ? write(o->fd, o->data + done, piece) : read(o->fd, o->got + done, piece);
    }
    if (o->data)
        close(o->fd);
    return NULL;
}

static void begin_other_end(other_end *o)
{
    struct sigaction action = {.sa_handler = ignore}; /* without SA_RESTART: calls fail with EINTR */
    sigaction(SIGUSR1, &action, NULL);
    o->main = pthread_self();
    g_assert_cmpint(pthread_create(&o->thread, NULL, run_other_end, o), ==, 0);
}

static void test_read_in_pieces(void)
{
    int ends[2];
    uint8_t *data = sample(), *got = g_malloc0(BYTES + 1);
    g_assert_cmpint(pipe(ends), ==, 0);
    other_end other = {.fd = ends[1], .data = data};
    begin_other_end(&other);
    g_assert_cmpuint(dome__io_read(ends[0], got, BYTES), ==, BYTES);
    g_assert_cmpint(memcmp(got, data, BYTES), ==, 0);
    pthread_join(other.thread, NULL);
    errno = EINTR;
    g_assert_cmpuint(dome__io_read(ends[0], got, 1), ==, 0); /* the end is no error */
    g_assert_cmpint(errno, ==, 0);
    g_assert_cmpint(dome__io_read_some(ends[0], got, 1), ==, 0);
    close(ends[0]);
    g_free(got);
    g_free(data);
}

static void test_write_in_pieces(void)
{
    int ends[2];
    uint8_t *data = sample(), *got = g_malloc0(BYTES);
    g_assert_cmpint(pipe(ends), ==, 0);
    other_end other = {.fd = ends[0], .got = got};
    begin_other_end(&other);
    g_assert_true(dome__io_write(ends[1], data, BYTES));
    pthread_join(other.thread, NULL);
    g_assert_cmpint(memcmp(got, data, BYTES), ==, 0);
    close(ends[0]);
    close(ends[1]);
    g_free(got);
    g_free(data);
}

static void *write_late(void *argument)
{
    other_end *o = argument;
    for (int k = 0; k < 20; k++) {
        g_usleep(1000);
        pthread_kill(o->main, SIGUSR1);
    }
    g_assert_cmpint(write(o->fd, "word", 4), ==, 4);
    return NULL;
}

/* What is there is returned at once, after signals. */
static void test_read_some(void)
{
    int ends[2];
    char got[64] = "";
    g_assert_cmpint(pipe(ends), ==, 0);
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGUSR1, &action, NULL);
    other_end other = {.fd = ends[1], .main = pthread_self()};
    g_assert_cmpint(pthread_create(&other.thread, NULL, write_late, &other), ==, 0);
    g_assert_cmpint(dome__io_read_some(ends[0], got, sizeof got), ==, 4);
    g_assert_cmpstr(got, ==, "word");
    pthread_join(other.thread, NULL);
    close(ends[0]);
    close(ends[1]);
}

static void test_at_places(void)
{
    char got[16] = "";
    int fd = memfd_create("test-io", MFD_CLOEXEC);
    g_assert_true(dome__io_write_at(fd, "world", 5, 6));
    g_assert_true(dome__io_write_at(fd, "hello ", 6, 0));
    g_assert_cmpuint(dome__io_read_at(fd, got, 5, 6), ==, 5);
    g_assert_cmpstr(got, ==, "world");
    errno = EIO;
    g_assert_cmpuint(dome__io_read_at(fd, got, sizeof got, 9), ==, 2); /* the file ends */
    g_assert_cmpint(errno, ==, 0);
    g_assert_cmpint(lseek(fd, 0, SEEK_CUR), ==, 0);
    g_assert_true(dome__io_write(fd, "", 0));
    g_assert_cmpuint(dome__io_read(fd, got, 0), ==, 0);
    close(fd);
}

static void test_errors(void)
{
    char got[4];
    int full = open("/dev/full", O_RDWR | O_CLOEXEC), ends[2];
    g_assert_false(dome__io_write(full, "text", 4));
    g_assert_cmpint(errno, ==, ENOSPC);
    close(full);
    g_assert_cmpuint(dome__io_read(full, got, 4), ==, 0);
    g_assert_cmpint(errno, ==, EBADF);
    g_assert_false(dome__io_write_at(full, "text", 4, 0));
    g_assert_cmpint(errno, ==, EBADF);
    g_assert_cmpint(dome__io_read_some(full, got, 4), ==, -1);
    g_assert_cmpint(errno, ==, EBADF);
    signal(SIGPIPE, SIG_IGN);
    g_assert_cmpint(pipe(ends), ==, 0);
    close(ends[0]);
    g_assert_false(dome__io_write(ends[1], "text", 4));
    g_assert_cmpint(errno, ==, EPIPE);
    close(ends[1]);
}

/* What was read before the error counts. */
static void test_partly(void)
{
    char got[8];
    int ends[2];
    g_assert_cmpint(pipe2(ends, O_NONBLOCK), ==, 0);
    g_assert_cmpint(write(ends[1], "abc", 3), ==, 3);
    g_assert_cmpuint(dome__io_read(ends[0], got, sizeof got), ==, 3);
    g_assert_cmpint(errno, ==, EAGAIN);
    close(ends[0]);
    close(ends[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/io/read-in-pieces", test_read_in_pieces);
    g_test_add_func("/io/write-in-pieces", test_write_in_pieces);
    g_test_add_func("/io/read-some", test_read_some);
    g_test_add_func("/io/at-places", test_at_places);
    g_test_add_func("/io/errors", test_errors);
    g_test_add_func("/io/partly", test_partly);
    return g_test_run();
}
