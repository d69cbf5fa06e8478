#include "live.h"

#include <glib.h>

#ifdef DOME_WITH_MICROHTTPD

#include "system/child.h"
#include "system/io.h"
#include "system/time.h"
#include "view_data.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reading the trace again takes at most this fraction of the time, and happens at most twice a second. */
static const double READ_SHARE = 0.1, READ_SECONDS = 0.5;

/* Most connections at a time, and seconds after which an idle one is closed. */
enum { CONNECTIONS = 256, SILENCE = 30 };

/* Anybody on this host can connect. This many connections may be open without having shown the token, each for this many seconds;
 * beyond that the oldest is closed when another one is opened. So the page stays reachable, however slowly unknown visitors send.
 */
enum { UNKNOWN = 128, UNKNOWN_FOR = 10 };

/* Seconds by which a server beside a program outlives it, so that pages get the end of the trace. */
enum { LINGER = 3 };

struct dome_live {
    char *path, *token, *address;
    const dome_live_source *source;
    int connection; /* to the program; 0: none */
    struct MHD_Daemon *daemon;
    int fd;

    /* The server has one thread, so this needs no lock. */
    GPtrArray *visitors; /* the oldest first */
    char *data;          /* JSON */
    size_t length;
    char tag[64]; /* identifies the state of the file that was read */
    double read_at, read_took;
};

/* A connection. */
typedef struct visitor {
    int fd;
    double since;
    bool known; /* has shown the token, or has been told to leave */
} visitor;

static void render(const dome_trace_file *file, void (*write)(const dome_trace_file *file, FILE *to), char **text, size_t *length)
{
    FILE *to = open_memstream(text, length);
    if (!to)
        return;
    write(file, to);
    fclose(to);
}

static void write_live_data(const dome_trace_file *file, FILE *to)
{
    dome__view_write_data(file, false, to);
}

static void write_last_data(const dome_trace_file *file, FILE *to)
{
    dome__view_write_data(file, true, to);
}

/* Whether the program has ended, possibly without writing the end of the trace. */
static bool is_gone(const dome_live *live)
{
    struct pollfd p = {.fd = live->connection, .events = POLLIN};
    return live->connection > 0 && poll(&p, 1, 0) > 0;
}

/* Reads the trace again if it has changed, but not too often. */
static void refresh(dome_live *live)
{
    struct stat info;
    char tag[64];
    double begin = dome__now();
    if (live->data && begin - live->read_at < MAX(READ_SECONDS, live->read_took / READ_SHARE))
        return;
    if (stat(live->path, &info) < 0)
        return;
    bool gone = is_gone(live);
    snprintf(tag, sizeof tag, "\"%lld-%lld-%ld%s\"", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
             info.st_mtim.tv_nsec, gone ? "-gone" : "");
    if (live->data && strcmp(tag, live->tag) == 0)
        return;
    char *message = NULL, *text = NULL;
    size_t length;
    dome_trace_file *file = dome__trace_read(live->path, &message);
    if (file)
        render(file, gone ? write_last_data : write_live_data, &text, &length);
    if (text) {
        free(live->data);
        live->data = text;
        live->length = length;
        g_strlcpy(live->tag, tag, sizeof live->tag);
    }
    dome__trace_file_free(file);
    g_free(message);
    live->read_at = dome__now();
    live->read_took = live->read_at - begin;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type, const char *tag, void *text,
                              size_t length, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(length, text, mode);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    if (tag)
        MHD_add_response_header(response, "ETag", tag);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    return answer(connection, status, "text/plain; charset=utf-8", NULL, (void *)text, strlen(text), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result give_text(struct MHD_Connection *connection, const char *type, char *text, size_t length)
{
    return text ? answer(connection, 200, type, NULL, text, length, MHD_RESPMEM_MUST_FREE)
                : refuse(connection, 503, "there is nothing to show now\n");
}

static enum MHD_Result give_page(dome_live *live, struct MHD_Connection *connection)
{
    if (live->source) {
        size_t bytes = 0;
        char *page = live->source->page(&bytes);
        return give_text(connection, "text/html; charset=utf-8", page, bytes);
    }
    char *message = NULL, *text = NULL;
    size_t length = 0;
    dome_trace_file *file = dome__trace_read(live->path, &message);
    g_free(message);
    if (!file) {
        static const char early[] = "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"1\">"
                                    "<title>Dome</title><p>The program has not begun to record yet.";
        return answer(connection, 200, "text/html; charset=utf-8", NULL, (void *)early, sizeof early - 1, MHD_RESPMEM_PERSISTENT);
    }
    render(file, dome__view_write_live_page, &text, &length);
    dome__trace_file_free(file);
    if (!text)
        return MHD_NO;
    enum MHD_Result result = answer(connection, 200, "text/html; charset=utf-8", NULL, text, length, MHD_RESPMEM_MUST_COPY);
    free(text);
    return result;
}

static enum MHD_Result give_data(dome_live *live, struct MHD_Connection *connection)
{
    if (live->source) {
        size_t bytes = 0;
        char *data = live->source->data(&bytes);
        return give_text(connection, "application/json", data, bytes);
    }
    refresh(live);
    if (!live->data)
        return refuse(connection, 503, "there is no trace yet\n");
    const char *has = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");
    if (has && strcmp(has, live->tag) == 0)
        return answer(connection, 304, "application/json", live->tag, (void *)"", 0, MHD_RESPMEM_PERSISTENT);
    return answer(connection, 200, "application/json", live->tag, live->data, live->length, MHD_RESPMEM_MUST_COPY);
}

/* The body of a request. */
typedef struct visit {
    char text[512];
    size_t length;
    bool long_one;
} visit;

static void end_visit(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    g_free(*state);
    *state = NULL;
}

static void take_body(visit *v, const char *upload, size_t *size)
{
    const size_t room = sizeof v->text - 1 - v->length, taken = MIN(*size, room);
    memcpy(v->text + v->length, upload, taken);
    v->length += taken;
    v->long_one |= *size > room;
    *size = 0;
}

static enum MHD_Result take_order(dome_live *live, struct MHD_Connection *connection, const visit *v)
{
    bool done = false;
    char *said = v->long_one ? g_strdup("the order is too long") : live->source->order(v->text, &done),
         *text = g_strconcat(said, "\n", NULL);
    const enum MHD_Result result =
        answer(connection, done ? 200 : 409, "text/plain; charset=utf-8", NULL, text, strlen(text), MHD_RESPMEM_MUST_COPY);
    g_free(text);
    g_free(said);
    return result;
}

/* Compares in a time that does not depend on the wrong token. */
static bool right_token(const dome_live *live, const char *given, size_t length)
{
    size_t wanted = strlen(live->token);
    unsigned differ = length != wanted;
    for (size_t k = 0; k < wanted; k++)
        differ |= (unsigned)(live->token[k] ^ (k < length ? given[k] : 0));
    return differ == 0;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
    dome_live *live = context;
    (void)version;
    if (!*state) { /* only the head has arrived */
        *state = g_new0(visit, 1);
        return MHD_YES;
    }
    if (*upload_size > 0) {
        take_body(*state, upload, upload_size);
        return MHD_YES;
    }
    const char *token = url + 1, *rest = url[0] == '/' ? strchr(token, '/') : NULL;
    if (url[0] != '/' || !right_token(live, token, rest ? (size_t)(rest - token) : strlen(token)))
        return refuse(connection, 403, "the address is not whole: it has a token, as dome said it\n");
    ((visitor *)MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context)->known = true;
    if (live->source && strcmp(method, "POST") == 0 && g_strcmp0(rest, "/order") == 0)
        return take_order(live, connection, *state);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(connection, 405, "this page is for reading\n");
    if (rest && strcmp(rest, "/") == 0)
        return give_page(live, connection);
    if (rest && strcmp(rest, "/data.json") == 0)
        return give_data(live, connection);
    return refuse(connection, 404, "there is nothing of that name\n");
}

static void crowd_out(dome_live *live)
{
    guint unknown = 0;
    for (guint i = 0; i < live->visitors->len; i++)
        unknown += !((visitor *)live->visitors->pdata[i])->known;
    for (guint i = 0; i < live->visitors->len; i++) {
        visitor *v = live->visitors->pdata[i];
        if (v->known || (unknown < UNKNOWN && dome__now() - v->since < UNKNOWN_FOR))
            continue;
        shutdown(v->fd, SHUT_RDWR); /* the server then closes it */
        v->known = true;
        unknown--;
    }
}

static void note_connection(void *context, struct MHD_Connection *connection, void **of_connection,
                            enum MHD_ConnectionNotificationCode what)
{
    dome_live *live = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        g_ptr_array_remove(live->visitors, *of_connection);
        g_free(*of_connection);
        return;
    }
    crowd_out(live);
    visitor *v = *of_connection = g_new0(visitor, 1);
    v->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    v->since = dome__now();
    g_ptr_array_add(live->visitors, v);
}

static int listen_on(const dome_live_request *request, struct sockaddr_in *here, char **message)
{
    const char *address = request->address ? request->address : "127.0.0.1";
    int on = 1;
    *here = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)request->port)};
    if (request->port < 0 || request->port > 65535) {
        *message = g_strdup_printf("there is no port %d", request->port);
        return -1;
    }
    if (inet_pton(AF_INET, address, &here->sin_addr) != 1) {
        *message = g_strdup_printf("'%s' is not an address of the form 127.0.0.1", address);
        return -1;
    }
    if (ntohl(here->sin_addr.s_addr) >> 24 != 127 && !request->open) {
        *message = g_strdup_printf("at %s others on the network could reach the page: add --open if that is meant", address);
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *here;
    if (fd >= 0 && request->port)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && bind(fd, (struct sockaddr *)here, sizeof *here) == 0 && listen(fd, SOMAXCONN) == 0 &&
        getsockname(fd, (struct sockaddr *)here, &length) == 0)
        return fd;
    *message = errno == EADDRINUSE
                   ? g_strdup_printf("port %d of %s is in use: give another one, or none", request->port, address)
                   : g_strdup_printf("cannot listen on port %d of %s: %s", request->port, address, g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

dome_live *dome__live_start(const dome_live_request *request, char **message)
{
    struct sockaddr_in here;
    guint8 random[16];
    int fd = listen_on(request, &here, message);
    if (fd < 0)
        return NULL;
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        *message = g_strdup("no random numbers for the page's token");
        close(fd);
        return NULL;
    }
    dome_live *live = g_new0(dome_live, 1);
    GString *token = g_string_new(NULL);
    for (size_t k = 0; k < sizeof random; k++)
        g_string_append_printf(token, "%02x", random[k]);
    char text[INET_ADDRSTRLEN];
    live->fd = fd;
    live->path = g_strdup(request->path);
    live->source = request->source;
    live->connection = request->connection;
    live->token = g_string_free(token, FALSE);
    live->address = g_strdup_printf("http://%s:%d/%s/", inet_ntop(AF_INET, &here.sin_addr, text, sizeof text),
                                    ntohs(here.sin_port), live->token);
    live->visitors = g_ptr_array_new();
    live->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, handle, live, MHD_OPTION_LISTEN_SOCKET, fd,
                                    MHD_OPTION_NOTIFY_CONNECTION, note_connection, live, MHD_OPTION_NOTIFY_COMPLETED, end_visit,
                                    NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                                    (unsigned)SILENCE, MHD_OPTION_END);
    if (!live->daemon) {
        *message = g_strdup("cannot start the server of the page");
        close(fd);
        dome__live_stop(live);
        return NULL;
    }
    return live;
}

const char *dome__live_address(const dome_live *live)
{
    return live->address;
}

void dome__live_stop(dome_live *live)
{
    if (live->daemon)
        MHD_stop_daemon(live->daemon); /* closes the socket */
    g_ptr_array_free(live->visitors, TRUE);
    free(live->data);
    g_free(live->path);
    g_free(live->token);
    g_free(live->address);
    g_free(live);
}

/* Waits until the process has ended. */
static void wait_for_end(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (fd >= 0 && poll(&p, 1, -1) < 0 && errno == EINTR)
        continue;
    while (fd < 0 && kill(pid, 0) == 0) /* an old kernel */
        g_usleep(200000);
}

/* Runs in the server's process: writes the address or an error message to `out`, and does not return. */
static void serve_beside(const dome_live_request *request, bool remove, pid_t beside, int out) __attribute__((noreturn));

static void serve_beside(const dome_live_request *request, bool remove, pid_t beside, int out)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE};
    char *message = NULL;
    for (size_t k = 0; k < G_N_ELEMENTS(ignored); k++)
        signal(ignored[k], SIG_IGN);
    dome_live *live = dome__live_start(request, &message);
    char *text = live ? g_strconcat("+", dome__live_address(live), NULL) : g_strconcat("-", message, NULL);
    const bool written = dome__io_write(out, text, strlen(text));
    close(out);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* a reader of the program's output must not wait for this process to end */
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    if (live && written) {
        wait_for_end(beside);
        sleep(LINGER);
        dome__live_stop(live);
    }
    if (remove)
        unlink(request->path);
    _exit(0);
}

char *dome__live_beside(const dome_live_request *request, bool remove, char **message)
{
    int line;
    const pid_t beside = getpid(), child = dome__child_fork(&(dome_child_setup){.line = DOME_CHILD_TELLS}, &line);
    if (child == 0) { /* the server is a grandchild, so that the program does not find it when it waits for children */
        setsid();
        pid_t server = fork();
        if (server == 0)
            serve_beside(request, remove, beside, line);
        _exit(server < 0);
    }
    if (child < 0) {
        *message = g_strdup_printf("cannot start the server of the page: %s", g_strerror(errno));
        return NULL;
    }
    GString *text = g_string_new(NULL);
    char buffer[512];
    ssize_t n;
    while ((n = dome__io_read_some(line, buffer, sizeof buffer)) > 0)
        g_string_append_len(text, buffer, n);
    close(line);
    dome__child_reap(child);
    char *said = g_strdup(text->len ? text->str + 1 : "cannot start the server of the page");
    bool good = text->len && text->str[0] == '+';
    g_string_free(text, TRUE);
    if (!good)
        *message = said;
    return good ? said : NULL;
}

#else

static void say_without(char **message)
{
    *message = g_strdup("this dome was built without libmicrohttpd, which serves the live page (Debian: libmicrohttpd-dev)");
}

dome_live *dome__live_start(const dome_live_request *request, char **message)
{
    (void)request;
    say_without(message);
    return NULL;
}

const char *dome__live_address(const dome_live *live)
{
    (void)live;
    return "";
}

void dome__live_stop(dome_live *live)
{
    (void)live;
}

char *dome__live_beside(const dome_live_request *request, bool remove, char **message)
{
    (void)request, (void)remove;
    say_without(message);
    return NULL;
}

#endif
