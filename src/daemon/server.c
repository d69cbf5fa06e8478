#include "daemon/server.h"

#include "transport/control_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections in all, and of a user who is not root; bytes that wait for a reader; seconds for a line to come. */
enum { CLIENTS_MOST = 256, CLIENTS_OF_USER = 32, OUT_MOST = 8 << 20 };
static const double PATIENCE = 10;

typedef struct client {
    dome_server_user user;
    int fd;
    bool held, gone;
    double since; /* its last line */
    GString *in, *out;
} client;

struct dome_server {
    dome_server_request *request;
    void *ctx;
    char *path;
    int own, all; /* listen; all -1: none */
    uint64_t next;
    GPtrArray *clients;
};

static void free_client(void *item)
{
    client *c = item;
    close(c->fd);
    g_string_free(c->in, TRUE);
    g_string_free(c->out, TRUE);
    g_free(c);
}

/* ---- listening ---- */

/* Whether a daemon answers there. */
static bool is_alive(const struct sockaddr_un *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool alive = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0)
        close(fd);
    return alive;
}

static int listen_at(const char *path, char **message)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path) {
        *message = g_strdup_printf("%s: the path is too long for a socket", path);
        return -1;
    }
    if (is_alive(&address)) {
        *message = g_strdup_printf("%s: another domed answers there", path);
        return -1;
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (unlink(path) < 0 && errno != ENOENT)
        *message = g_strdup_printf("%s: %s", path, g_strerror(errno));
    else if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || chmod(path, 0666) < 0 ||
             listen(fd, SOMAXCONN) < 0)
        *message = g_strdup_printf("%s: %s", path, g_strerror(errno));
    if (!*message)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

dome_server *dome__server_open(const char *path, dome_server_request *request, void *ctx, char **message)
{
    *message = NULL;
    const int all = path ? listen_at(path, message) : -1;
    if (*message)
        return NULL;
    dome_server *s = g_new0(dome_server, 1);
    s->request = request;
    s->ctx = ctx;
    s->path = g_strdup(path);
    s->all = all;
    s->own = dome__control_socket_listen(DOME_CONTROL_DAEMON);
    s->next = 1;
    s->clients = g_ptr_array_new_with_free_func(free_client);
    return s;
}

void dome__server_close(dome_server *s)
{
    if (!s)
        return;
    g_ptr_array_unref(s->clients);
    if (s->own >= 0)
        close(s->own);
    if (s->all >= 0) {
        close(s->all);
        unlink(s->path);
    }
    g_free(s->path);
    g_free(s);
}

static guint count_of(const dome_server *s, uid_t uid)
{
    guint n = 0;
    for (guint i = 0; i < s->clients->len; i++)
        n += ((const client *)s->clients->pdata[i])->user.uid == uid;
    return n;
}

static void refuse(int fd)
{
    static const char line[] = "no text=too%20many%20connections\n";
    const ssize_t ignored = send(fd, line, sizeof line - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored;
    close(fd);
}

/* A few in a turn, so that those that are there have theirs. */
static void accept_some(dome_server *s, int listener, double now)
{
    enum { AT_ONCE = 16 };
    for (int k = 0; k < AT_ONCE; k++) {
        struct ucred peer;
        socklen_t length = sizeof peer;
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || (listener == s->own && peer.uid != geteuid())) {
            close(fd);
        } else if (s->clients->len >= CLIENTS_MOST || (peer.uid != 0 && count_of(s, peer.uid) >= CLIENTS_OF_USER)) {
            refuse(fd);
        } else {
            client *c = g_new0(client, 1);
            *c = (client){
                {s->next++, peer.uid, peer.gid, peer.pid}, fd, false, false, now, g_string_new(NULL), g_string_new(NULL)};
            g_ptr_array_add(s->clients, c);
        }
    }
}

/* ---- talking ---- */

static client *find(const dome_server *s, uint64_t number)
{
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        if (c->user.client == number && !c->gone)
            return c;
    }
    return NULL;
}

static void push(client *c)
{
    while (c->out->len > 0) {
        const ssize_t n = send(c->fd, c->out->str, c->out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0) {
            c->gone |= n < 0 && errno != EAGAIN && errno != EINTR;
            return;
        }
        g_string_erase(c->out, 0, n);
    }
}

void dome__server_say(dome_server *s, uint64_t number, const dome_record *record)
{
    client *c = find(s, number);
    if (!c)
        return;
    char *line = dome__record_line(record);
    g_string_append_printf(c->out, "%s\n", line);
    g_free(line);
    c->held = false;
    c->gone |= c->out->len > OUT_MOST;
    push(c);
}

void dome__server_hold(dome_server *s, uint64_t number)
{
    client *c = find(s, number);
    if (c)
        c->held = true;
}

static void take_line(dome_server *s, client *c, double now)
{
    const char *end = memchr(c->in->str, '\n', c->in->len);
    dome_record request;
    if (!end) {
        c->gone |= c->in->len > DOME_RECORD_MOST;
        return;
    }
    const size_t length = (size_t)(end - c->in->str);
    c->since = now;
    if (dome__record_parse(c->in->str, length, &request)) {
        s->request(s->ctx, &c->user, &request);
        dome__record_clear(&request);
    } else {
        c->gone = true;
    }
    g_string_erase(c->in, 0, (gssize)length + 1);
}

static void hear(client *c)
{
    char buffer[16384];
    const ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0)
        g_string_append_len(c->in, buffer, n);
    else
        c->gone |= n == 0 || (errno != EAGAIN && errno != EINTR);
}

void dome__server_poll(dome_server *s, GArray *polls)
{
    const struct pollfd own = {.fd = s->own, .events = POLLIN}, all = {.fd = s->all, .events = POLLIN};
    g_array_append_val(polls, own);
    g_array_append_val(polls, all);
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        const struct pollfd p = {.fd = c->fd, .events = (short)(POLLIN | (c->out->len ? POLLOUT : 0))};
        g_array_append_val(polls, p);
    }
}

void dome__server_turn(dome_server *s, const struct pollfd *polls, guint count, double now)
{
    for (guint i = 0; i < s->clients->len && i + 2 < count; i++) {
        client *c = s->clients->pdata[i];
        if (polls[i + 2].revents & POLLOUT)
            push(c);
        if (polls[i + 2].revents & (POLLIN | POLLHUP | POLLERR))
            hear(c);
        if (c->in->len)
            take_line(s, c, now);
    }
    for (guint i = s->clients->len; i-- > 0;) {
        client *c = s->clients->pdata[i];
        c->gone |= !c->held && now - c->since > PATIENCE;
        if (c->gone)
            g_ptr_array_remove_index(s->clients, i);
    }
    if (count > 0 && polls[0].revents)
        accept_some(s, s->own, now);
    if (count > 1 && polls[1].revents)
        accept_some(s, s->all, now);
}
