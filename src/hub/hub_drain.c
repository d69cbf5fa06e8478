/* After the program's end: receives the tasks' last output and writes it, as long as a reader reads it. */
#include "hub/hub_private.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* For a program that the user has ended: seconds without a byte read after which it stops waiting for the reader of its
 * output. */
static const double ENDED_PATIENCE = 1;

/* Receives output that ended tasks had already written. Returns false if there is no more. */
static bool take_rest(hub_state *s)
{
    bool more = dome__hub_once_hear(s);
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (c->closed || !dome__hub_is_output(c))
            continue;
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        bool ready = poll(&p, 1, 0) > 0;
        if (ready)
            dome__hub_receive(s, c);
        more |= ready;
    }
    return more;
}

/* Handles signals during the wait: a user who stops or ends this process now wants to stop or end the wait. */
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

/* Relays incomplete last lines, whose rest will not arrive. */
static void take_parts(hub_state *s)
{
    dome__hub_once_rest(s);
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!c->closed && dome__hub_is_output(c))
            dome__hub_relay(s, c, true);
    }
}

/* Waits for the reader, as any program does; but only for a limited time if the user has ended the program, or it will be
 * restarted. */
static int wait_for_reader(hub_state *s)
{
    double patience = s->rank0.ending                             ? ENDED_PATIENCE
                      : s->hub->report_fd >= 0 && s->failure.told ? s->hub->timeout
                                                                  : G_MAXDOUBLE;
    double moved = dome__hub_now();
    size_t written = dome__hub_output_written(s);
    int ended_by = 0;
    while (!ended_by && dome__hub_now() - moved <= patience) {
        if (!take_rest(s)) {
            take_parts(s);
            if (!dome__hub_output_waiting(s))
                break;
        }
        struct pollfd p[2] = {{.fd = s->hub->signal_fd, .events = POLLIN}, {.fd = s->output.bell, .events = POLLIN}};
        uint64_t rung;
        const int ready = poll(p, 2, 50);
        if (ready < 0 || (ready > 0 && p[1].revents && read(s->output.bell, &rung, sizeof rung) < 0))
            g_usleep(1000);
        ended_by = signal_while_waiting(s);
        size_t so_far = dome__hub_output_written(s);
        if (so_far != written)
            moved = dome__hub_now();
        written = so_far;
    }
    return ended_by;
}

int dome__hub_drain(hub_state *s, int *lost)
{
    int ended_by = wait_for_reader(s);
    *lost = dome__hub_output_error(s);
    dome__hub_output_close(s);
    return ended_by;
}
