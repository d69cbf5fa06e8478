/* Connections to the hub that have not yet proven that they belong to the program. Anybody can open them, so their number, time
 * and memory are bounded; when there are too many the oldest are closed, so that they cannot keep a task out. */
#include "hub/hub_private.h"
#include "system/sockets.h"
#include "transport/handshake.h"
#include "wire/report.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* PENDING: the most at a time. When descriptors are scarce, RESERVED are kept for pending connections, and OTHERS for the hub's
 * other files. */
enum { PENDING = 1024, RESERVED = 8, OTHERS = 17 };

/* Seconds without accepting connections after the system has run out of descriptors. */
static const double FULL_FOR = 0.1;

struct hub_pending_connection {
    int fd;
    double since;
    dome_handshake handshake;
};

static guint open_now(void)
{
    guint n = 0;
    GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
    while (dir && g_dir_read_name(dir))
        n++;
    if (dir)
        g_dir_close(dir);
    return n;
}

static guint clamped(rlim_t limit)
{
    return (guint)MIN(limit, (rlim_t)1 << 30);
}

void dome__hub_pending_open(hub_state *s)
{
    s->machine->pending.list = g_ptr_array_new();
    struct rlimit limit;
    s->machine->pending.descriptors = 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            getrlimit(RLIMIT_NOFILE, &limit);
        s->machine->pending.descriptors = clamped(limit.rlim_cur);
    }
    s->machine->pending.inherited = open_now();
}

/* Of a task other than 0: its watcher's, and those of its streams. */
static guint connections(bool all_output)
{
    return all_output ? 3 : 2;
}

/* The most tasks for so many descriptors, of which some are taken. */
static int most_tasks(guint descriptors, guint taken, bool all_output)
{
    const guint needed = taken + RESERVED + OTHERS + 1; /* task 0 writes itself */
    return descriptors > needed ? 1 + (int)((descriptors - needed) / connections(all_output)) : 1;
}

/* Files that this process opens before it becomes the hub: launch.c, private_machine.c. */
enum { LAUNCH = 6 };

int dome__hub_most_tasks(bool all_output, unsigned *files)
{
    struct rlimit limit;
    *files = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? clamped(limit.rlim_max) : 1024;
    return most_tasks(*files, open_now() + LAUNCH, all_output);
}

char *dome__hub_has_no_room(const hub_state *s, int tasks)
{
    bool all_output = false;
    for (guint i = 0; i < s->clients->len; i++)
        all_output |= ((const hub_client *)s->clients->pdata[i])->channel == DOME_WIRE_STDOUT;
    const int most = most_tasks(s->machine->pending.descriptors, s->machine->pending.inherited, all_output);
    return tasks <= most ? NULL
                         : g_strdup_printf("the process that watches over its tasks can have connections to %d: the limit on "
                                           "open files is %u (ulimit -Hn) on host %s",
                                           most, s->machine->pending.descriptors, g_get_host_name());
}

/* Descriptors that tasks take: their connections, and their processes. */
static guint lines(const hub_state *s)
{
    guint n = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        n += !c->closed + (c->process >= 0);
    }
    return n;
}

/* Without its descriptor less can be told of how a process ended. Returns false if there is none. */
static bool forget_process(const hub_state *s)
{
    for (guint i = s->clients->len; i-- > 0;) {
        hub_client *c = s->clients->pdata[i];
        if (c->process >= 0) {
            close(c->process);
            c->process = -1;
            return true;
        }
    }
    return false;
}

static void forget(hub_state *s, guint i, bool close_it)
{
    hub_pending_connection *x = s->machine->pending.list->pdata[i];
    if (close_it)
        close(x->fd);
    g_ptr_array_remove_index(s->machine->pending.list, i);
    g_free(x);
}

/* Whether the descriptors suffice for another task's connection. If not, the start fails with a line that names the limit. */
static bool has_room(hub_state *s)
{
    do {
        const guint used = s->machine->pending.inherited + lines(s) + RESERVED + OTHERS;
        if (used < s->machine->pending.descriptors)
            return true;
    } while (forget_process(s));
    dome__hub_notice(
        s, DOME_END_START, false, 1,
        g_strdup_printf("the program has more tasks than the process that watches over them can have connections to: the "
                        "limit on open files is %u (ulimit -Hn) on host %s: raise it, or run fewer tasks",
                        s->machine->pending.descriptors, g_get_host_name()));
    return false;
}

static void let_in(hub_state *s, guint i)
{
    const hub_pending_connection *x = s->machine->pending.list->pdata[i];
    dome_wire_channel channel = (dome_wire_channel)x->handshake.word;
    dome_macs macs;
    const bool there = dome__handshake_macs(&x->handshake, x->fd, &macs);
    if (there && channel == DOME_WIRE_ASK)
        dome__report_send(x->fd, &macs.out, dome__hub_report_text, s);
    bool line = there && x->handshake.word < DOME_WIRE_ASK && has_room(s);
    if (line)
        dome__hub_add_client(s, x->fd, channel, &macs);
    forget(s, i, !line);
}

void dome__hub_hear_pending(hub_state *s, hub_pending_connection *x)
{
    guint i;
    if (!g_ptr_array_find(s->machine->pending.list, x, &i))
        return;
    dome_handshake_state state = dome__handshake_step(&x->handshake, x->fd);
    if (state == DOME_HANDSHAKE_DONE)
        let_in(s, i);
    else if (state == DOME_HANDSHAKE_FAILED)
        forget(s, i, true);
}

int dome__hub_pending_fd(const hub_pending_connection *x)
{
    return x->fd;
}

static guint most_pending(const hub_state *s)
{
    guint used = s->machine->pending.inherited + lines(s) + OTHERS;
    return CLAMP(s->machine->pending.descriptors > used ? s->machine->pending.descriptors - used : 0, 1, PENDING);
}

void dome__hub_accept_later(hub_state *s)
{
    s->machine->pending.full_until = s->now + FULL_FOR;
}

/* After a failed accept for lack of descriptors: stops polling the listening socket for a while, since it stays readable. */
static void no_more(hub_state *s, int error)
{
    if (error != EMFILE && error != ENFILE && error != ENOMEM && error != ENOBUFS)
        return;
    dome__hub_accept_later(s);
    if (s->machine->pending.list->len)
        forget(s, 0, true);
}

void dome__hub_accept(hub_state *s)
{
    guint most = most_pending(s);
    /* Bounded, so that a flood of connections does not hold up the tasks. */
    for (int turn = 0; turn < 64; turn++) {
        int fd = accept4(s->hub->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            no_more(s, errno);
            return;
        }
        struct timeval limit = {.tv_sec = 1};
        dome__socket_be_quick(fd);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        hub_pending_connection *x = g_new0(hub_pending_connection, 1);
        x->fd = fd;
        x->since = s->now;
        dome__handshake_begin(&x->handshake, false, DOME_WIRE_PURPOSE, s->hub->cookie, strlen(s->hub->cookie), 0);
        g_ptr_array_add(s->machine->pending.list, x);
        while (s->machine->pending.list->len > most)
            forget(s, 0, true);
    }
}

void dome__hub_pending_late(hub_state *s)
{
    while (s->machine->pending.list->len &&
           s->now - ((hub_pending_connection *)s->machine->pending.list->pdata[0])->since > DOME_HANDSHAKE_PATIENCE)
        forget(s, 0, true);
}

void dome__hub_pending_close(hub_state *s)
{
    while (s->machine->pending.list->len)
        forget(s, s->machine->pending.list->len - 1, true);
    g_clear_pointer(&s->machine->pending.list, g_ptr_array_unref);
}
