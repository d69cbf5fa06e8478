#include "trace/demand.h"

#include "system/deadline.h"
#include "system/environment_variables.h"
#include "system/time.h"
#include "transport/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Most viewers at a time. */
enum { VIEWERS = 16 };

/* Seconds for which recording continues after the last viewer has left, so that a viewer who returns finds the time in between
 * recorded. */
static const double LINGER = 60;

/* Bytes after which a recording is begun anew. The format grows with the logarithm of time, so few programs reach this. */
#define ROOM (UINT64_C(64) << 20)

/* Seconds within which a program must answer: a program of a single task answers only between its operations. */
static const double PATIENCE = 10;

struct dome_demand {
    char *(*command)(void *ctx);
    void (*ending)(void *ctx);
    void *ctx;
    int listen_fd, epoll_fd;
    int viewers[VIEWERS]; /* connections; -1: none */
    char *lent;           /* file of a recording that is made in any case; NULL: none */
    int file;             /* -1: no recording */
    dome_trace_sink *sink;
    uint32_t recordings;
    double looked_at; /* when there last was a viewer */
    double linger;
    uint64_t room;
};

/* Tests set these times and sizes, to avoid waiting for minutes. */
static double of_test(const char *name, double usual)
{
    const char *text = g_getenv(name);
    return text ? g_ascii_strtod(text, NULL) : usual;
}

static void watch_for(dome_demand *demand, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
    epoll_ctl(demand->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

dome_demand *dome__demand_open(char *(*command)(void *ctx), void (*ending)(void *ctx), void *ctx)
{
    int listen_fd = dome__control_socket_listen(DOME_CONTROL_VIEW), epoll_fd = listen_fd < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) {
        if (listen_fd >= 0)
            close(listen_fd);
        return NULL;
    }
    dome_demand *demand = g_new0(dome_demand, 1);
    *demand = (dome_demand){.command = command,
                            .ending = ending,
                            .ctx = ctx,
                            .listen_fd = listen_fd,
                            .epoll_fd = epoll_fd,
                            .file = -1,
                            .linger = of_test(DOME_VARIABLE_TEST_LINGER, LINGER),
                            .room = (uint64_t)of_test(DOME_VARIABLE_TEST_ROOM, (double)ROOM)};
    for (int k = 0; k < VIEWERS; k++)
        demand->viewers[k] = -1;
    watch_for(demand, listen_fd);
    return demand;
}

void dome__demand_lend(dome_demand *demand, const char *path)
{
    if (!demand)
        return;
    g_free(demand->lent);
    demand->lent = g_strdup(path);
}

int dome__demand_fd(const dome_demand *demand)
{
    return demand ? demand->epoll_fd : -1;
}

dome_trace_sink *dome__demand_sink(const dome_demand *demand)
{
    return demand ? demand->sink : NULL;
}

/* ---- the recording ---- */

static void begin_recording(dome_demand *demand)
{
    if (demand->file < 0)
        demand->file = memfd_create("dome-trace", MFD_CLOEXEC);
    if (demand->file < 0 || ftruncate(demand->file, 0) < 0)
        return;
    fcntl(demand->file, F_SETFL, O_APPEND);
    char *command = demand->command(demand->ctx);
    demand->sink = dome__trace_sink_open_fd(demand->file, command);
    g_free(command);
    demand->recordings++;
}

static void end_recording(dome_demand *demand)
{
    if (demand->ending)
        demand->ending(demand->ctx);
    dome__trace_sink_leave(g_steal_pointer(&demand->sink));
}

/* ---- viewers ---- */

/* A descriptor that can read but not write; -1 with errno. */
static int readable(const dome_demand *demand)
{
    char path[40];
    g_snprintf(path, sizeof path, "/proc/self/fd/%d", demand->file);
    return open(demand->lent ? demand->lent : path, O_RDONLY | O_CLOEXEC);
}

/* Sends "+" with the descriptor, or "-" with the reason for refusal. */
static bool answer(int to, int file, const char *reason)
{
    char text[256], control[CMSG_SPACE(sizeof(int))] = "";
    g_snprintf(text, sizeof text, "%c%s", file >= 0 ? '+' : '-', file >= 0 ? "" : reason);
    struct iovec data = {text, strlen(text)};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (file >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &file, sizeof file);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 && file >= 0;
}

static void let_in(dome_demand *demand)
{
    int fd = dome__control_socket_accept(demand->listen_fd), place = 0;
    if (fd < 0)
        return;
    while (place < VIEWERS && demand->viewers[place] >= 0)
        place++;
    if (place < VIEWERS && !demand->lent && !demand->sink)
        begin_recording(demand);
    int file = place < VIEWERS ? readable(demand) : -1;
    const char *reason = place < VIEWERS ? g_strerror(errno) : "it has the most viewers it can have";
    if (answer(fd, file, reason)) {
        demand->viewers[place] = fd;
        demand->looked_at = dome__now();
        watch_for(demand, fd);
    } else {
        close(fd);
    }
    if (file >= 0)
        close(file);
}

/* Viewers send nothing: when a viewer's connection is readable, the viewer has left. */
static void let_out(dome_demand *demand, int fd)
{
    for (int k = 0; k < VIEWERS; k++)
        if (demand->viewers[k] == fd) {
            demand->viewers[k] = -1;
            close(fd);
        }
}

static bool anybody(const dome_demand *demand)
{
    for (int k = 0; k < VIEWERS; k++)
        if (demand->viewers[k] >= 0)
            return true;
    return false;
}

uint32_t dome__demand_step(dome_demand *demand)
{
    struct epoll_event events[VIEWERS + 1];
    int n = demand ? epoll_wait(demand->epoll_fd, events, VIEWERS + 1, 0) : 0;
    for (int k = 0; k < n; k++)
        if (events[k].data.fd == demand->listen_fd)
            let_in(demand);
        else
            let_out(demand, events[k].data.fd);
    if (!demand || !demand->sink)
        return 0;
    if (anybody(demand)) {
        demand->looked_at = dome__now();
    } else if (dome__now() - demand->looked_at > demand->linger) {
        end_recording(demand);
        close(demand->file);
        demand->file = -1;
        return 0;
    }
    if (dome__trace_sink_bytes(demand->sink) > demand->room) {
        end_recording(demand);
        begin_recording(demand);
    }
    return demand->sink ? demand->recordings : 0;
}

static void close_all(dome_demand *demand)
{
    for (int k = 0; k < VIEWERS; k++)
        if (demand->viewers[k] >= 0)
            close(demand->viewers[k]);
    close(demand->listen_fd);
    close(demand->epoll_fd);
    if (demand->file >= 0)
        close(demand->file);
}

void dome__demand_close(dome_demand *demand, int exit_status)
{
    if (!demand)
        return;
    dome__trace_sink_close(demand->sink, exit_status, false);
    close_all(demand);
    g_free(demand->lent);
    g_free(demand);
}

void dome__demand_forget(dome_demand *demand)
{
    if (demand)
        close_all(demand);
}

/* ---- asking ---- */

bool dome__demand_ask(int pid, int *file, int *connection, char **message)
{
    char text[256] = "", control[CMSG_SPACE(sizeof(int))];
    struct iovec data = {text, sizeof text - 1};
    struct msghdr got = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *file = -1;
    const dome_deadline until = dome__deadline_in(PATIENCE);
    bool starting = true; /* a hub opens this socket only when its tasks have joined */
    while ((*connection = dome__control_socket_connect(DOME_CONTROL_VIEW, pid)) < 0 && starting &&
           !dome__deadline_passed(until)) {
        GArray *hubs = dome__control_socket_list(DOME_CONTROL_REPORT);
        starting = false;
        for (guint k = 0; k < hubs->len; k++)
            starting |= g_array_index(hubs, int, k) == pid;
        g_array_free(hubs, TRUE);
        g_usleep(50000);
    }
    if (*connection < 0) {
        *message = g_strdup_printf("no Dome program of yours runs as %d (dome ps lists them)", pid);
        return false;
    }
    struct pollfd p = {.fd = *connection, .events = POLLIN};
    const int ready = dome__deadline_poll(&p, 1, until);
    ssize_t n = ready > 0 ? recvmsg(*connection, &got, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) : -1;
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&got) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(c), sizeof *file);
    if (*file >= 0)
        return true;
    if (n > 1)
        *message = g_strdup_printf("program %d cannot record: %s", pid, text + 1);
    else if (ready > 0)
        *message = g_strdup_printf("program %d has ended", pid);
    else
        *message = g_strdup_printf("program %d does not answer: it has called no operation of Dome for %.0f s; try again", pid,
                                   PATIENCE);
    close(*connection);
    return false;
}
