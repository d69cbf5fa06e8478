#include "hub/hub_private.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void dome__hub_rank0_open(hub_state *s)
{
    s->rank0.pid = s->hub->rank0;
}

void dome__hub_rank0_ended(hub_state *s, int status)
{
    s->rank0.ended = true;
    s->rank0.status = status;
    s->rank0.ended_at = s->now;
}

/* Whether it was started anew and has not come. */
static bool is_awaited(const hub_state *s)
{
    return s->rank0.started_at > 0;
}

void dome__hub_rank0_judge(hub_state *s, const hub_client *watch)
{
    const int status = s->rank0.status;
    const bool may_end = watch && dome__client_may_end(watch->state);
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (is_awaited(s)) {
        dome__hub_notice(
            s, s->rank0.ending ? DOME_END_OWN : DOME_END_LOSS, false, code ? code : 1,
            g_strdup_printf("task 0 on host %s is lost: started anew, its process ended before it joined the program",
                            g_get_host_name()));
    } else if (watch && !may_end && WIFEXITED(status) && dome__hub_gave_up(s, watch)) {
        dome__hub_notice(s, DOME_END_LOSS, false, code ? code : 1, g_strdup("")); /* it has printed the reason */
    } else if (!watch) { /* it ended before it started other tasks, and has printed the reason itself */
        dome__hub_notice(s, WIFSIGNALED(status) && !s->rank0.ending ? DOME_END_LOSS : DOME_END_OWN, false, code,
                         WIFSIGNALED(status) ? g_strdup_printf("the program was ended by signal %d (%s) while it started",
                                                               WTERMSIG(status), strsignal(WTERMSIG(status)))
                                             : g_strdup(""));
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) {
        dome__hub_notice(s, DOME_END_OWN, false, code, g_strdup("")); /* its output pipe was closed, as by `head` */
    } else if (WIFSIGNALED(status) && (s->rank0.ending || s->rank0.passed_on == WTERMSIG(status))) {
        dome__hub_notice(s, DOME_END_OWN, !may_end, code,
                         g_strdup_printf("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else if (!may_end && WIFSIGNALED(status)) {
        dome__hub_notice(s, DOME_END_LOSS, true, code,
                         g_strdup_printf("task 0 on host %s is lost: its process was ended by signal %d (%s)", watch->host,
                                         WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else if (!may_end) {
        dome__hub_notice(s, DOME_END_OWN, false, code ? code : 1,
                         g_strdup_printf("task 0 on host %s ended with exit status %d without dome_finalize", watch->host, code));
    } else if (WIFSIGNALED(status)) { /* what it had not written out is lost */
        const int number = WTERMSIG(status);
        dome__hub_notice(s, number == SIGKILL || number == SIGTERM ? DOME_END_LOSS : DOME_END_OWN, false, code,
                         g_strdup_printf("task 0 on host %s was ended by signal %d (%s) after dome_finalize", watch->host, number,
                                         strsignal(number)));
    }
}

void dome__hub_rank0_left(hub_state *s, hub_client *c)
{
    if (!s->hub->rank0_is_child || s->rank0.ended || !dome__hub_is_expected(c) ||
        s->now - c->closed_at <= dome__hub_silence_limit(s))
        return;
    dome__hub_lost(s, c, c->pid == s->rank0.pid ? DOME_HUB_GOES_ON : "its process ended");
}

void dome__hub_pass_on(hub_state *s, const struct signalfd_siginfo *info)
{
    const int number = (int)info->ssi_signo;
    const bool ends = number != SIGUSR1 && number != SIGUSR2;
    if (s->rank0.ended && ends) { /* other tasks are still running, or their output still waits for its reader */
        s->rank0.ending = true;
        dome__hub_notice(s, DOME_END_OWN, false, 128 + number, g_strdup(""));
    }
    if (s->rank0.ended || !s->hub->rank0_is_child)
        return;
    /* A signal from the keyboard has reached rank 0, too. One that was sent to this process has not, nor has the SIGHUP that only
     * the session leader gets. */
    s->rank0.passed_on = number;
    s->rank0.ending |= ends;
    if (info->ssi_code != SI_KERNEL || (number == SIGHUP && getsid(0) == getpid()))
        kill(s->rank0.pid, number);
    if (s->rank0.ending)
        kill(s->rank0.pid, SIGCONT); /* a process that is stopped would take the signal later, and seem lost */
}

void dome__hub_rank0_started(hub_state *s, pid_t pid)
{
    s->rank0.pid = pid;
    s->rank0.ended = false;
    s->rank0.started_at = s->now;
}

void dome__hub_rank0_came(hub_state *s)
{
    s->rank0.started_at = 0;
}

void dome__hub_look_for_rank0(hub_state *s, double limit)
{
    if (!is_awaited(s) || s->failure.noticed || s->now - s->rank0.started_at <= limit)
        return;
    dome__hub_notice(
        s, DOME_END_LOSS, false, 1,
        g_strdup_printf("task 0 on host %s is lost: started anew, it did not come within %.1f s", g_get_host_name(), limit));
}
