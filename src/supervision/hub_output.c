/* The tasks' output, and what the hub itself has to say. Who does not read it slows the tasks that write it, and nothing else. */
#include "core/terminal.h"
#include "supervision/hub_private.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds without a byte read after which what a user has ended does not wait for its reader any more. */
static const double ENDED_PATIENCE = 1;

static bool one_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void dome__hub_output_open(hub_state *s)
{
    s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->outlets[0] = dome__outlet_open(STDOUT_FILENO, s->bell);
    s->outlets[1] = one_file(STDOUT_FILENO, STDERR_FILENO) ? s->outlets[0] : dome__outlet_open(STDERR_FILENO, s->bell);
}

static dome_outlet *outlet_of(const hub_state *s, int fd)
{
    return s->outlets[fd == STDERR_FILENO];
}

static int stream_of(const hub_client *c)
{
    return c->channel == DOME_WIRE_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
}

void dome__hub_print(hub_state *s, int fd, const char *text)
{
    dome__outlet_put(outlet_of(s, fd), text, strlen(text));
}

static size_t both(const hub_state *s, size_t (*of)(const dome_outlet *outlet))
{
    return of(s->outlets[0]) + (s->outlets[1] != s->outlets[0] ? of(s->outlets[1]) : 0);
}

void dome__hub_flush(hub_state *s, double seconds)
{
    double until = dome__hub_now() + seconds;
    while (both(s, dome__outlet_waiting) && dome__hub_now() < until) {
        struct pollfd p = {.fd = s->bell, .events = POLLIN};
        uint64_t rung;
        if (poll(&p, 1, 10) > 0 && read(s->bell, &rung, sizeof rung) < 0)
            return;
    }
}

bool dome__hub_holds(const hub_state *s, const hub_client *c)
{
    return c->greeted && c->channel != DOME_WIRE_WATCH && dome__outlet_full(outlet_of(s, stream_of(c)));
}

void dome__hub_relay(hub_state *s, hub_client *c, bool last)
{
    const char *clear = dome__terminal_clear(stream_of(c));
    GString *text = g_string_new(NULL);
    guint done = 0;
    for (;;) {
        const guint8 *line = c->in->data + done, *end = c->in->len > done ? memchr(line, '\n', c->in->len - done) : NULL;
        guint length = end ? (guint)(end - line) + 1 : c->in->len - done;
        if (!length || (!end && !last && length < 8192))
            break;
        /* PVM's library has words about the end of its daemon, which is reported in ours. */
        bool word = c->channel == DOME_WIRE_STDERR && length > 8 && memcmp(line, "libpvm [", 8) == 0;
        if (!word) {
            g_string_append_printf(text, "%s[%d] ", clear, c->rank);
            g_string_append_len(text, (const char *)line, length);
            g_string_append(text, end ? "" : "\n");
        }
        done += length;
    }
    if (done)
        g_byte_array_remove_range(c->in, 0, done);
    dome__outlet_put(outlet_of(s, stream_of(c)), text->str, text->len);
    g_string_free(text, TRUE);
}

/* ---- the end ---- */

/* What tasks that have been ended had written already. False: there is nothing more of it. */
static bool take_rest(hub_state *s)
{
    bool more = false;
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!c->greeted || c->closed || c->channel == DOME_WIRE_WATCH)
            continue;
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        bool ready = poll(&p, 1, 0) > 0;
        if (ready)
            dome__hub_receive(s, c);
        more |= ready;
    }
    return more;
}

/* A user who stops or ends this process now means the waiting. */
static int signal_while_waiting(const hub_state *s)
{
    struct signalfd_siginfo info;
    int ended_by = 0;
    while (read(s->hub->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTSTP)
            raise(SIGSTOP);
        else if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP || info.ssi_signo == SIGQUIT)
            ended_by = (int)info.ssi_signo;
    }
    return ended_by;
}

/* Without waiting: a line fits into whatever can be written to. */
static void say_dropped(size_t bytes)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    char line[128];
    int n = snprintf(line, sizeof line, "dome: nobody read the program's output: its last %zu bytes are dropped\n", bytes);
    if (poll(&p, 1, 0) > 0 && (p.revents & POLLOUT) && write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* there is nowhere else to say it */
}

/* Lines that nobody will end any more. */
static void take_parts(hub_state *s)
{
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && c->channel != DOME_WIRE_WATCH)
            dome__hub_relay(s, c, true);
    }
}

/* As any program waits for its reader; but what a user has ended does so not for long, nor what is to be started again. */
static int wait_for_reader(hub_state *s)
{
    double patience = s->ending ? ENDED_PATIENCE : s->hub->report_fd >= 0 && s->told ? s->hub->timeout : G_MAXDOUBLE;
    double moved = dome__hub_now();
    size_t written = both(s, dome__outlet_written);
    int ended_by = 0;
    while (!ended_by && dome__hub_now() - moved <= patience) {
        if (!take_rest(s)) {
            take_parts(s);
            if (!both(s, dome__outlet_waiting))
                break;
        }
        struct pollfd p[2] = {{.fd = s->hub->signal_fd, .events = POLLIN}, {.fd = s->bell, .events = POLLIN}};
        uint64_t rung;
        if (poll(p, 2, 50) > 0 && p[1].revents && read(s->bell, &rung, sizeof rung) < 0)
            g_usleep(1000);
        ended_by = signal_while_waiting(s);
        size_t so_far = both(s, dome__outlet_written);
        if (so_far != written)
            moved = dome__hub_now();
        written = so_far;
    }
    return ended_by;
}

int dome__hub_output_close(hub_state *s)
{
    int ended_by = wait_for_reader(s);
    size_t left = both(s, dome__outlet_waiting);
    if (left > 0) { /* the thread is at it until this process ends */
        say_dropped(left);
        return ended_by;
    }
    if (s->outlets[1] != s->outlets[0])
        dome__outlet_close(s->outlets[1]);
    dome__outlet_close(s->outlets[0]);
    close(s->bell);
    return ended_by;
}
