#include "daemon/server.h"

#include "daemon/remote_line.h"
#include "system/sockets.h"
#include "transport/control_socket.h"
#include "transport/handshake.h"

#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections in all, and of a user who is not root; bytes that wait for a reader; seconds for a line to come. */
enum { CLIENTS_MOST = 256, CLIENTS_OF_USER = 32, OUT_MOST = 8 << 20 };
static const double PATIENCE = 10;

/* Connections of other hosts' daemons, and seconds in which they prove that they are such. */
enum { REMOTE_MOST = 64 };
static const double PROOF = DOME_HANDSHAKE_PATIENCE;

/* A connection by TCP. */
typedef struct remote {
    dome_handshake shake;
    dome_macs macs;
    bool proven;
} remote;

enum { LISTENERS = 3 };

typedef struct client {
    dome_server_user user;
    int fd;
    bool held, gone;
    double since; /* its last line */
    GString *in, *out;
    remote *remote; /* NULL: of this host */
} client;

struct dome_server {
    dome_server_request *request;
    void *ctx;
    char *path;
    int own, all, remote; /* listen; -1: none */
    char *key;            /* of the daemons */
    size_t key_length;
    uint64_t next;
    GPtrArray *clients;
};

static void free_client(void *item)
{
    client *c = item;
    close(c->fd);
    g_string_free(c->in, TRUE);
    g_string_free(c->out, TRUE);
    g_free(c->remote);
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
    s->remote = -1;
    s->own = dome__control_socket_listen(DOME_CONTROL_DAEMON);
    s->next = 1;
    s->clients = g_ptr_array_new_with_free_func(free_client);
    return s;
}

bool dome__server_listen(dome_server *s, const char *text, char *key, size_t length, char **message)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST};
    struct addrinfo *at = NULL;
    char *address = NULL, number[16];
    int port = 0, one = 1;
    s->key = key;
    s->key_length = length;
    const bool good = dome__remote_address(text, &address, &port);
    g_snprintf(number, sizeof number, "%d", port);
    if (!good || getaddrinfo(address, number, &hints, &at) != 0) {
        *message = g_strdup_printf("--listen %s: give an address of this host, or one with :PORT", text);
    } else {
        s->remote = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (s->remote >= 0)
            setsockopt(s->remote, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (s->remote < 0 || bind(s->remote, at->ai_addr, at->ai_addrlen) < 0 || listen(s->remote, SOMAXCONN) < 0)
            *message = g_strdup_printf("--listen %s: %s", text, g_strerror(errno));
    }
    if (at)
        freeaddrinfo(at);
    g_free(address);
    return !*message;
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
    if (s->remote >= 0)
        close(s->remote);
    g_free(s->key);
    g_free(s->path);
    g_free(s);
}

static guint count_of(const dome_server *s, uid_t uid)
{
    guint n = 0;
    for (guint i = 0; i < s->clients->len; i++)
        n += !((const client *)s->clients->pdata[i])->remote && ((const client *)s->clients->pdata[i])->user.uid == uid;
    return n;
}

static void refuse(int fd)
{
    static const char line[] = "no text=too%20many%20connections\n";
    const ssize_t ignored = send(fd, line, sizeof line - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored;
    close(fd);
}

static void add_client(dome_server *s, int fd, const struct ucred *peer, remote *remote, double now)
{
    client *c = g_new0(client, 1);
    *c = (client){.user = {s->next++, peer->uid, peer->gid, peer->pid},
                  .fd = fd,
                  .since = now,
                  .in = g_string_new(NULL),
                  .out = g_string_new(NULL),
                  .remote = remote};
    g_ptr_array_add(s->clients, c);
}

/* Anybody can connect: where there are many that have proven nothing, the oldest of them goes. */
static void accept_remote(dome_server *s, double now)
{
    const struct ucred nobody = {0, (uid_t)-1, (gid_t)-1};
    const int fd = accept4(s->remote, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    client *oldest = NULL;
    guint count = 0;
    if (fd < 0)
        return;
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        count += c->remote != NULL;
        if (!oldest && c->remote && !c->remote->proven)
            oldest = c;
    }
    if (count >= REMOTE_MOST && oldest)
        g_ptr_array_remove(s->clients, oldest);
    if (count >= REMOTE_MOST && !oldest) {
        close(fd);
        return;
    }
    remote *r = g_new0(remote, 1);
    dome__socket_be_quick(fd);
    dome__handshake_begin(&r->shake, false, DOME_REMOTE_PURPOSE, s->key, s->key_length, 0);
    add_client(s, fd, &nobody, r, now);
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
            add_client(s, fd, &peer, NULL, now);
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
    char *line = c->remote ? dome__remote_seal(&c->remote->macs.out, record) : dome__record_line(record);
    g_string_append(c->out, line);
    if (!c->remote)
        g_string_append_c(c->out, '\n');
    g_free(line);
    c->held = false;
    c->gone |= c->out->len > OUT_MOST;
    push(c);
}

int dome__server_fd(const dome_server *s, uint64_t number)
{
    const client *c = find(s, number);
    return c ? c->fd : -1;
}

void dome__server_forget(dome_server *s, uint64_t number)
{
    client *c = find(s, number);
    if (c)
        c->gone = true;
}

void dome__server_hold(dome_server *s, uint64_t number)
{
    client *c = find(s, number);
    if (c)
        c->held = true;
}

/* Whose request it is, the other daemon says; the rights are those of that name here. */
static bool take_user(client *c, const dome_record *request)
{
    const char *name = dome__record_get(request, "as");
    const struct passwd *entry = name ? getpwnam(name) : NULL;
    if (!entry)
        return false;
    c->user = (dome_server_user){c->user.client, entry->pw_uid, entry->pw_gid, 0};
    return true;
}

static bool open_line(client *c, size_t length, dome_record *request)
{
    if (!c->remote)
        return dome__record_parse(c->in->str, length, request);
    return dome__remote_open(&c->remote->macs.in, c->in->str, length, request);
}

static void answer_stranger(dome_server *s, const client *c)
{
    dome_record line = dome__record_new("no");
    dome__record_add(&line, "text", "there is no user of that name on this host");
    dome__server_say(s, c->user.client, &line);
    dome__record_clear(&line);
}

static void take_line(dome_server *s, client *c, double now)
{
    const char *end = memchr(c->in->str, '\n', c->in->len);
    dome_record request;
    if (!end) {
        c->gone |= c->in->len > DOME_RECORD_MOST + DOME_REMOTE_HEAD;
        return;
    }
    const size_t length = (size_t)(end - c->in->str);
    c->since = now;
    if (open_line(c, length, &request)) {
        if (c->remote && !take_user(c, &request))
            answer_stranger(s, c);
        else
            s->request(s->ctx, &c->user, &request);
        dome__record_clear(&request);
    } else {
        c->gone = true;
    }
    g_string_erase(c->in, 0, (gssize)length + 1);
}

static void prove(client *c, double now)
{
    remote *r = c->remote;
    const dome_handshake_state state = dome__handshake_step(&r->shake, c->fd);
    r->proven = state == DOME_HANDSHAKE_DONE && dome__handshake_macs(&r->shake, c->fd, &r->macs);
    c->gone |=
        state == DOME_HANDSHAKE_FAILED || (state == DOME_HANDSHAKE_DONE && !r->proven) || (!r->proven && now - c->since > PROOF);
}

static void hear(client *c, double now)
{
    if (c->remote && !c->remote->proven) {
        prove(c, now);
        return;
    }
    char buffer[16384];
    const ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0)
        g_string_append_len(c->in, buffer, n);
    else
        c->gone |= n == 0 || (errno != EAGAIN && errno != EINTR);
}

void dome__server_poll(dome_server *s, GArray *polls)
{
    const struct pollfd listeners[LISTENERS] = {
        {.fd = s->own, .events = POLLIN}, {.fd = s->all, .events = POLLIN}, {.fd = s->remote, .events = POLLIN}};
    g_array_append_vals(polls, listeners, LISTENERS);
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        const struct pollfd p = {.fd = c->fd, .events = (short)(POLLIN | (c->out->len ? POLLOUT : 0))};
        g_array_append_val(polls, p);
    }
}

void dome__server_turn(dome_server *s, const struct pollfd *polls, guint count, double now)
{
    for (guint i = 0; i < s->clients->len && i + LISTENERS < count; i++) {
        client *c = s->clients->pdata[i];
        if (polls[i + LISTENERS].revents & POLLOUT)
            push(c);
        if (polls[i + LISTENERS].revents & (POLLIN | POLLHUP | POLLERR))
            hear(c, now);
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
    if (count > 2 && polls[2].revents)
        accept_remote(s, now);
}
