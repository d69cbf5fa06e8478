#include "daemon_client.h"

#include "commands.h"
#include "daemon/server.h"
#include "submitted.h"
#include "system/deadline.h"
#include "system/environment_variables.h"
#include "system/sockets.h"
#include "transport/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Seconds for an answer; for a daemon that has ended to come back, or to take orders again, and between two looks for it. */
static const double PATIENCE = 30, COMES_BACK = 10, LOOK = 0.1;

static char *elsewhere;

char **dome__daemon_on(void)
{
    return &elsewhere;
}

dome_record dome__daemon_request(const char *verb)
{
    dome_record request = dome__record_new(verb);
    dome__record_add_number(&request, "version", DOME_DAEMON_VERSION);
    dome__record_add(&request, "on", elsewhere);
    return request;
}

/* Root's or this user's: another one's could pretend to be a daemon. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
        return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == 0 || peer.uid == geteuid()))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int dome__daemon_connect(void)
{
    const char *path = g_getenv(DOME_VARIABLE_DAEMON);
    if (path && *path)
        return connect_to(path);
    const int own = dome__control_socket_connect(DOME_CONTROL_DAEMON, 0);
    if (own < 0)
        return connect_to(DOME_DAEMON_SOCKET);
    fcntl(own, F_SETFL, fcntl(own, F_GETFL) & ~O_NONBLOCK);
    return own;
}

bool dome__daemon_send(int fd, const dome_record *request)
{
    char *line = dome__record_line(request), *text = g_strconcat(line, "\n", NULL);
    const bool sent = strlen(line) <= DOME_RECORD_MOST && dome__socket_send(fd, text, strlen(text));
    g_free(line);
    g_free(text);
    return sent;
}

int dome__daemon_line(int fd, GString *in, double seconds, dome_record *line)
{
    const dome_deadline until = dome__deadline_in(seconds);
    for (;;) {
        const char *end = memchr(in->str, '\n', in->len);
        if (end) {
            const size_t length = (size_t)(end - in->str);
            const bool good = dome__record_parse(in->str, length, line);
            g_string_erase(in, 0, (gssize)length + 1);
            return good ? 1 : -1;
        }
        char buffer[8192];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (dome__deadline_poll(&p, 1, until) == 0)
            return 0;
        const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0 || in->len > 2 * DOME_RECORD_MOST)
            return -1;
        g_string_append_len(in, buffer, n);
    }
}

/* One attempt: 1: *line is the answer's last one; 0: there is none in time; -1: the daemon has ended. */
static int ask(int fd, const dome_record *request, GArray *lines, dome_record *line)
{
    GString *in = g_string_new(NULL);
    int have = dome__daemon_send(fd, request) ? 1 : -1;
    while (have > 0 && (have = dome__daemon_line(fd, in, PATIENCE, line)) > 0) {
        if (strcmp(line->verb, "done") == 0 || strcmp(line->verb, "no") == 0)
            break;
        if (lines)
            g_array_append_val(lines, *line);
        else
            dome__record_clear(line);
    }
    close(fd);
    g_string_free(in, TRUE);
    return have;
}

/* Whether the daemon has ended, or takes no order now, but will soon. */
static bool is_to_ask_again(int have, const dome_record *line)
{
    return have < 0 || (have > 0 && dome__record_get(line, "soon"));
}

/* Every request may be made twice: the table knows a program that was submitted before by its nonce. */
static dome_record ask_on(int fd, const char *command, const dome_record *request, GArray *lines)
{
    dome_record line = {0};
    char *text = dome__record_line(request);
    if (strlen(text) > DOME_RECORD_MOST)
        dome__command_fail(1, "%s: the words and the environment are longer than %d bytes", command, DOME_RECORD_MOST);
    g_free(text);
    int have = ask(fd, request, lines, &line);
    for (double away = 0; is_to_ask_again(have, &line) && away < COMES_BACK; away += LOOK) {
        g_usleep((gulong)(LOOK * G_USEC_PER_SEC));
        if (lines)
            g_array_set_size(lines, 0);
        dome__record_clear(&line);
        have = (fd = dome__daemon_connect()) >= 0 ? ask(fd, request, lines, &line) : -1;
    }
    if (have == 0)
        dome__command_fail(1, "%s: domed does not answer within %g s", command, PATIENCE);
    if (have < 0)
        dome__command_fail(1, "%s: domed has closed the connection", command);
    return line;
}

dome_record dome__daemon_ask(const char *command, const dome_record *request, GArray *lines)
{
    const int fd = dome__daemon_connect();
    if (fd < 0)
        dome__command_fail(1, "%s: no domed runs on this host, root's or your own; domed & starts yours", command);
    return ask_on(fd, command, request, lines);
}

char *dome__daemon_order(const char *command, const dome_record *request)
{
    dome_record line = dome__daemon_ask(command, request, NULL);
    const char *text = dome__record_get(&line, "text");
    if (strcmp(line.verb, "done") != 0)
        dome__command_fail(1, "%s: %s", command, text ? text : "domed refuses it");
    char *copy = g_strdup(text ? text : "");
    dome__record_clear(&line);
    return copy;
}

static void clear_line(void *line)
{
    dome__record_clear(line);
}

/* The lines are those of a table's text, but for the first and the last. */
static dome_table *table_of(const GArray *lines)
{
    char *message = NULL;
    int64_t next = 1, id;
    GString *text = g_string_new(NULL), *head = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) {
        const dome_record *r = &g_array_index(lines, dome_record, i);
        char *line = dome__record_line(r);
        g_string_append_printf(text, "%s\n", line);
        if (dome__record_number(r, "id", 1, G_MAXINT64 - 2, 0, &id))
            next = MAX(next, id + 1);
        g_free(line);
    }
    g_string_printf(head, "table version=%d serial=0 clock=0 next=%" G_GINT64_FORMAT "\n", DOME_DAEMON_VERSION, next);
    g_string_append_printf(text, "end lines=%u\n", lines->len);
    g_string_append(head, text->str);
    dome_table *table = dome__table_read(head->str, &message);
    g_free(message);
    g_string_free(head, TRUE);
    g_string_free(text, TRUE);
    return table;
}

dome_table *dome__daemon_table(const char *command)
{
    const int fd = dome__daemon_connect();
    if (fd < 0)
        return NULL;
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(dome_record));
    g_array_set_clear_func(lines, clear_line);
    dome_record request = dome__daemon_request("list"), last = ask_on(fd, command, &request, lines);
    dome_table *table = strcmp(last.verb, "done") == 0 ? table_of(lines) : NULL;
    if (!table)
        dome__command_fail(1, "%s: %s", command,
                           dome__record_get(&last, "text") ? dome__record_get(&last, "text") : "domed's table is damaged");
    dome__record_clear(&request);
    dome__record_clear(&last);
    g_array_unref(lines);
    return table;
}

dome_table *dome__daemon_look(void)
{
    dome_record request = dome__daemon_request("list"), last = {0};
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(dome_record));
    g_array_set_clear_func(lines, clear_line);
    const int fd = dome__daemon_connect();
    const bool good = fd >= 0 && ask(fd, &request, lines, &last) > 0 && strcmp(last.verb, "done") == 0;
    dome_table *table = good ? table_of(lines) : NULL;
    dome__record_clear(&request);
    dome__record_clear(&last);
    g_array_unref(lines);
    return table;
}

char *dome__daemon_try(const dome_record *request, bool *done)
{
    dome_record last = {0};
    const int fd = dome__daemon_connect();
    const bool good = fd >= 0 && ask(fd, request, NULL, &last) > 0;
    const char *text = good ? dome__record_get(&last, "text") : "domed does not answer";
    *done = good && strcmp(last.verb, "done") == 0;
    char *copy = g_strdup(text ? text : *done ? "done" : "domed refuses it");
    dome__record_clear(&last);
    return copy;
}
