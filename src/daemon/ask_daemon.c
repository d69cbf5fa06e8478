#include "daemon/ask_daemon.h"

#include "daemon/remote_line.h"
#include "system/child.h"
#include "system/deadline.h"
#include "system/io.h"
#include "system/sockets.h"
#include "transport/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Seconds: to connect; for an answer to a request that is no waiting. */
static const double CONNECT = 5, ANSWER = 20;

static void say(int client, const char *verb, const char *text)
{
    dome_record line = dome__record_new(verb);
    dome__record_add(&line, "text", text);
    char *bare = dome__record_line(&line), *whole = g_strconcat(bare, "\n", NULL);
    dome__socket_send(client, whole, strlen(whole));
    g_free(whole);
    g_free(bare);
    dome__record_clear(&line);
}

static bool connect_in_time(int fd, const struct addrinfo *to)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
        return true;
    if (errno != EINPROGRESS)
        return false;
    if (dome__deadline_poll(&p, 1, dome__deadline_in(CONNECT)) <= 0) {
        errno = ETIMEDOUT;
        return false;
    }
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    errno = error;
    return error == 0;
}

/* -1 with *message. */
static int reach(const char *host, int port, char **message)
{
    struct addrinfo *found = NULL;
    char number[16];
    int fd = -1;
    g_snprintf(number, sizeof number, "%d", port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const int error = getaddrinfo(host, number, &hints, &found);
    if (error)
        *message = g_strdup(gai_strerror(error));
    for (const struct addrinfo *to = found; to && fd < 0; to = to->ai_next) {
        fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect_in_time(fd, to))
            break;
        g_free(*message);
        *message = g_strdup(g_strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    if (found)
        freeaddrinfo(found);
    if (fd >= 0) {
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        dome__socket_be_quick(fd);
    }
    return fd;
}

/* Passes one line of the answer on. Returns whether more come; *good: the line was the daemon's. */
static bool pass_on(GString *in, dome_macs *macs, int client, bool *good)
{
    const char *end = strchr(in->str, '\n');
    dome_record line;
    if (!end)
        return true;
    const size_t length = (size_t)(end - in->str);
    *good = dome__remote_open(&macs->in, in->str, length, &line);
    if (!*good)
        return false;
    const bool last = strcmp(line.verb, "done") == 0 || strcmp(line.verb, "no") == 0;
    if (!dome__socket_send(client, in->str + DOME_REMOTE_HEAD, length + 1 - DOME_REMOTE_HEAD))
        *good = false; /* the user has gone */
    dome__record_clear(&line);
    g_string_erase(in, 0, (gssize)length + 1);
    return *good && !last;
}

/* Waits for the answer, or until the user has gone. */
static const char *hear(int fd, dome_macs *macs, int client, bool waits)
{
    GString *in = g_string_new(NULL);
    const dome_deadline until = dome__deadline_in(waits ? 1e9 : ANSWER);
    bool more = true, good = true;
    const char *why = NULL;
    while (more && !why) {
        struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = client, .events = POLLRDHUP}};
        char buffer[16384];
        if (dome__deadline_poll(p, 2, until) == 0)
            why = "it does not answer";
        if (p[1].revents)
            break;
        const ssize_t n = why ? 0 : recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0 || in->len > 2 * DOME_RECORD_MOST) {
            why = why ? why : "it has closed the connection";
            break;
        }
        g_string_append_len(in, buffer, n);
        while (more && strchr(in->str, '\n'))
            more = pass_on(in, macs, client, &good);
        if (!good)
            why = "what it says is not its own";
    }
    g_string_free(in, TRUE);
    return why;
}

static char *ask(const dome_ask_daemon *a, const dome_record *request, int client)
{
    char *message = NULL, *host = NULL;
    const char *why = NULL;
    size_t length = 0;
    int port = 0;
    dome_handshake shake;
    dome_macs macs;
    char *key = dome__remote_key(a->key_file, &length, &message);
    if (!key)
        return message;
    if (!dome__remote_address(a->host, &host, &port))
        return g_strdup_printf("'%s' is no host, nor HOST:PORT", a->host);
    const int fd = reach(host, port, &message);
    if (fd < 0)
        return message;
    dome__handshake_begin(&shake, true, DOME_REMOTE_PURPOSE, key, length, 0);
    if (!dome__handshake_complete(&shake, fd, DOME_HANDSHAKE_PATIENCE) || !dome__handshake_macs(&shake, fd, &macs))
        return g_strdup("its daemon has another key, or it is none");
    char *line = dome__remote_seal(&macs.out, request);
    if (!dome__socket_send(fd, line, strlen(line)))
        return g_strdup("it has closed the connection");
    why = hear(fd, &macs, client, strcmp(request->verb, "wait") == 0);
    return g_strdup(why);
}

/* The user's request as that of this daemon. */
static dome_record request_of(const dome_ask_daemon *a, const dome_record *request)
{
    dome_record r = dome__record_new(request->verb);
    dome__record_add(&r, "as", a->user);
    for (guint i = 0; i < request->pairs->len; i++) {
        const dome_pair *pair = &g_array_index(request->pairs, dome_pair, i);
        if (strcmp(pair->name, "on") != 0 && strcmp(pair->name, "as") != 0)
            dome__record_add(&r, pair->name, pair->value);
    }
    return r;
}

pid_t dome__ask_daemon(const dome_ask_daemon *a, const dome_record *request, int client)
{
    const dome_child_setup setup = {.with_parent = true, .unblocked = true, .handles_none = true};
    const pid_t child = dome__child_fork(&setup, NULL);
    if (child != 0)
        return child;
    /* It keeps nothing of the daemon's open but the user's connection. */
    const int own = dup2(client, STDERR_FILENO + 1);
    close_range(STDERR_FILENO + 2, ~0U, 0);
    if (own < 0)
        _exit(1);
    signal(SIGPIPE, SIG_IGN);
    fcntl(own, F_SETFL, fcntl(own, F_GETFL) & ~O_NONBLOCK);
    dome_record r = request_of(a, request);
    char *why = ask(a, &r, own);
    if (why) {
        char *text = g_strdup_printf("%s: %s", a->host, why);
        say(own, "no", text);
    }
    _exit(0);
}
