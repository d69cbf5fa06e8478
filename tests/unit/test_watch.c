/* A task's side of the connection to the hub, with a hub that does not read. */
#include "supervision/watch.h"

#include "supervision/wire.h"
#include "transport/handshake.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char COOKIE[] = "0123456789abcdef0123456789abcdef";

enum { MESSAGES = 2000 }; /* more than the system sends at once */

/* Writes many short messages when the hub has written one that is never read, and ends. */
static void be_task(int port, int go) __attribute__((noreturn));

static void be_task(int port, int go)
{
    char *text = g_strdup_printf("%s;127.0.0.1:%d;", COOKIE, port), *message = NULL, byte;
    dome_hub_address address;
    g_assert_true(dome__hub_address_parse(&address, text));
    dome_watch *watch = dome__watch_open(&address, 1, 0, "here", 7, true, 10, DOME_OUTPUT_ALL, &message);
    g_assert_nonnull(watch);
    dome__watch_meet(watch);
    g_assert_cmpint(read(go, &byte, 1), ==, 1);
    for (int k = 1; k < MESSAGES; k++)
        dome__watch_meet(watch);
    dome__watch_close(watch);
    dome__hub_address_clear(&address);
    g_free(text);
    _exit(0);
}

/* The next message's kind; 0: there is none any more. */
static int next(int fd, GByteArray *in)
{
    dome_wire_message message;
    int have;
    while ((have = dome__wire_next(in, &message)) == 0) {
        guint8 buffer[4096];
        const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0)
            return 0;
        g_byte_array_append(in, buffer, (guint)n);
    }
    g_assert_cmpint(have, >, 0);
    const int kind = message.kind;
    dome__wire_clear(&message);
    return kind;
}

/* All that the task has written arrives, though it has not read everything, which resets the connection. */
static void test_all_arrives(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), go[2], status;
    g_assert_true(bind(listening, (struct sockaddr *)&here, sizeof here) == 0 && listen(listening, 1) == 0 && pipe(go) == 0);
    g_assert_cmpint(getsockname(listening, (struct sockaddr *)&here, &length), ==, 0);
    const pid_t task = fork();
    if (task == 0)
        be_task(ntohs(here.sin_port), go[0]);
    const int fd = accept(listening, NULL, NULL);
    dome_handshake handshake;
    dome__handshake_begin(&handshake, false, DOME_WIRE_PURPOSE, COOKIE, strlen(COOKIE), 0);
    g_assert_true(dome__handshake_complete(&handshake, fd, DOME_HANDSHAKE_PATIENCE));
    GByteArray *in = g_byte_array_new();
    g_assert_cmpint(next(fd, in), ==, DOME_WIRE_HELLO);
    g_assert_true(dome__wire_send(fd, &(dome_wire_message){.kind = DOME_WIRE_WELCOME}));
    g_assert_cmpint(next(fd, in), ==, DOME_WIRE_MEET);
    g_assert_true(dome__wire_send(fd, &(dome_wire_message){.kind = DOME_WIRE_ALIVE}));
    g_assert_cmpint(write(go[1], "", 1), ==, 1);
    g_assert_cmpint(waitpid(task, &status, 0), ==, task);
    g_assert_cmpint(status, ==, 0);
    for (int k = 1; k < MESSAGES; k++)
        g_assert_cmpint(next(fd, in), ==, DOME_WIRE_MEET);
    g_assert_cmpint(next(fd, in), ==, DOME_WIRE_BYE);
    g_assert_cmpint(next(fd, in), ==, 0);
    g_byte_array_unref(in);
    close(fd);
    close(listening);
    close(go[0]);
    close(go[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/watch/all that a task has written arrives", test_all_arrives);
    return g_test_run();
}
