/* A task's side of the connection to the hub: with a hub that does not read, and with a stranger in between. */
#include "watch/watch.h"

#include "transport/handshake.h"
#include "wire/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char COOKIE[] = "0123456789abcdef0123456789abcdef";

static const guint8 KEYLESS[DOME_MAC_BYTES] = "no code of mine";

enum { MESSAGES = 2000 }; /* more than the system sends at once */

/* The test's end of the connection of one task. */
typedef struct hub {
    int listening, fd;
    pid_t task;
    dome_macs macs;
    GByteArray *in;
} hub;

/* Writes many short messages when the hub has written one that is never read, and ends. */
static void write_many(dome_watch *watch, int go)
{
    char byte;
    dome__watch_meet(watch);
    g_assert_cmpint(read(go, &byte, 1), ==, 1);
    for (int k = 1; k < MESSAGES; k++)
        dome__watch_meet(watch);
    dome__watch_close(watch);
    _exit(0);
}

/* Runs its thread until that ends the process. */
static void run_on(dome_watch *watch, int go)
{
    char byte;
    g_assert_true(dome__watch_start(watch));
    _exit(read(go, &byte, 1) == 1 ? 3 : 4);
}

static void be_task(int port, int go, void (*task)(dome_watch *watch, int go))
{
    char *text = g_strdup_printf("%s;127.0.0.1:%d;", COOKIE, port), *message = NULL;
    dome_hub_address address;
    g_assert_true(dome__hub_address_parse(&address, text));
    g_free(text);
    const dome_watch_request request = {
        .address = &address, .task = {1, 0, 7, "here", "PVM"}, .timeout = 10, .own_output = true, .output = DOME_OUTPUT_ALL};
    dome_watch *watch = dome__watch_open(&request, &message);
    g_assert_nonnull(watch);
    task(watch, go);
}

/* The next message, to be cleared; false: there is none any more. */
static bool next(hub *h, dome_wire_message *message)
{
    int have;
    while ((have = dome__wire_next(h->in, &h->macs.in, message)) == 0) {
        guint8 buffer[4096];
        const ssize_t n = recv(h->fd, buffer, sizeof buffer, 0);
        if (n <= 0)
            return false;
        g_byte_array_append(h->in, buffer, (guint)n);
    }
    g_assert_cmpint(have, >, 0);
    return true;
}

static int next_kind(hub *h)
{
    dome_wire_message message;
    if (!next(h, &message))
        return 0;
    dome__wire_clear(&message);
    return (int)message.kind;
}

static void say(hub *h, dome_wire_kind kind)
{
    g_assert_true(dome__wire_send(h->fd, &h->macs.out, &(dome_wire_message){.kind = kind}));
}

static hub start(void (*task)(dome_watch *watch, int go), int go)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    hub h = {.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .in = g_byte_array_new()};
    g_assert_true(bind(h.listening, (struct sockaddr *)&here, sizeof here) == 0 && listen(h.listening, 1) == 0);
    g_assert_cmpint(getsockname(h.listening, (struct sockaddr *)&here, &length), ==, 0);
    h.task = fork();
    if (h.task == 0)
        be_task(ntohs(here.sin_port), go, task);
    h.fd = accept(h.listening, NULL, NULL);
    dome_handshake handshake;
    dome__handshake_begin(&handshake, false, DOME_WIRE_PURPOSE, COOKIE, strlen(COOKIE), 0);
    g_assert_true(dome__handshake_complete(&handshake, h.fd, DOME_HANDSHAKE_PATIENCE));
    g_assert_true(dome__handshake_macs(&handshake, h.fd, &h.macs));
    g_assert_cmpint(next_kind(&h), ==, DOME_WIRE_HELLO);
    say(&h, DOME_WIRE_WELCOME);
    return h;
}

static int status_of(const hub *h)
{
    int status;
    g_assert_cmpint(waitpid(h->task, &status, 0), ==, h->task);
    return status;
}

static void end(hub *h)
{
    g_byte_array_unref(h->in);
    close(h->fd);
    close(h->listening);
}

/* All that the task has written arrives, though it has not read everything, which resets the connection. */
static void test_all_arrives(void)
{
    int go[2];
    g_assert_cmpint(pipe(go), ==, 0);
    hub h = start(write_many, go[0]);
    g_assert_cmpint(next_kind(&h), ==, DOME_WIRE_MEET);
    say(&h, DOME_WIRE_ALIVE);
    g_assert_cmpint(write(go[1], "", 1), ==, 1);
    g_assert_cmpint(status_of(&h), ==, 0);
    for (int k = 1; k < MESSAGES; k++)
        g_assert_cmpint(next_kind(&h), ==, DOME_WIRE_MEET);
    g_assert_cmpint(next_kind(&h), ==, DOME_WIRE_BYE);
    g_assert_cmpint(next_kind(&h), ==, 0);
    end(&h);
    close(go[0]);
    close(go[1]);
}

/* What a stranger has put into the connection: the task does not obey, says so to the hub, and ends. */
static void test_altered(void)
{
    static const guint8 order[] = {0, 0, 0, 12, 0, 0, 0, DOME_WIRE_END, 0, 0, 0, 0, 0, 0, 0, 0};
    int go[2];
    g_assert_cmpint(pipe(go), ==, 0);
    for (int repeated = 0; repeated < 2; repeated++) {
        hub h = start(run_on, go[0]);
        dome_mac before = h.macs.out;
        say(&h, DOME_WIRE_ALIVE);
        h.macs.out = before;
        if (repeated)
            say(&h, DOME_WIRE_ALIVE);
        else
            g_assert_cmpint(send(h.fd, order, sizeof order, 0) + send(h.fd, KEYLESS, sizeof KEYLESS, 0), ==, 32);
        dome_wire_message message;
        while (next(&h, &message) && message.kind == DOME_WIRE_BEAT)
            dome__wire_clear(&message);
        g_assert_cmpint(message.kind, ==, DOME_WIRE_FAIL);
        g_assert_cmpstr(
            message.fail.line, ==,
            "task 1 on host here is lost: a message of the process that watches over the program was altered on the way");
        g_assert_cmpuint(message.fail.end, ==, DOME_END_LOSS);
        dome__wire_clear(&message);
        const int status = status_of(&h);
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        end(&h);
    }
    close(go[0]);
    close(go[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/watch/all that a task has written arrives", test_all_arrives);
    g_test_add_func("/watch/altered messages end a task", test_altered);
    return g_test_run();
}
