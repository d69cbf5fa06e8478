#include "hub/hub_private.h"
#include "system/say.h"
#include "system/terminal.h"
#include "transport/control_socket.h"
#include "wire/report.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int dome__hub_signals(sigset_t *old_mask)
{
    sigset_t set;
    static const int handled[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigemptyset(&set);
    for (size_t i = 0; i < G_N_ELEMENTS(handled); i++) {
        struct sigaction action;
        if (handled[i] == SIGCHLD || sigaction(handled[i], NULL, &action) < 0 || action.sa_handler != SIG_IGN)
            sigaddset(&set, handled[i]);
    }
    if (sigprocmask(SIG_BLOCK, &set, old_mask) < 0)
        return -1;
    const int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC), error = errno;
    if (fd < 0)
        sigprocmask(SIG_SETMASK, old_mask, NULL); /* else they could not even end this process */
    errno = error;
    return fd;
}

/* Takes the last messages of task 0, whose process has ended, and then judges how. */
static void rank0_ended(hub_state *s, int status)
{
    const hub_client *watch = NULL;
    dome__hub_rank0_ended(s, status);
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_watch(c) || c->rank != 0)
            continue;
        if (!c->closed)
            dome__hub_receive(s, c);
        watch = c;
    }
    if (!s->failure.told && !s->failure.noticed)
        dome__hub_rank0_judge(s, watch);
}

/* Waits for children that have ended. */
static void reap(hub_state *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->rank0.pid && s->hub->rank0_is_child)
            rank0_ended(s, status);
        else
            dome__hub_machine_reaped(s, pid);
    }
    if (pid < 0 && errno != ECHILD && errno != EINTR) /* else this process would wait for ever */
        dome__hub_notice(s, DOME_END_OWN, false, 1,
                         g_strdup_printf("cannot learn how the program's processes end: wait: %s", g_strerror(errno)));
    if (s->machine->daemon_ended && !s->rank0.ended)
        dome__hub_notice(s, DOME_END_LOSS, true, 1,
                         g_strdup_printf("the %s daemon of this run (pid %d on host %s) ended", s->hub->machine.launcher->title,
                                         (int)s->hub->machine.daemon, g_get_host_name()));
}

static void handle_signals(hub_state *s)
{
    struct signalfd_siginfo info;
    while (read(s->hub->signal_fd, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;
        if (number == SIGCHLD) {
            reap(s);
        } else if (number == SIGTSTP) {
            dome__hub_to_all_watches(s, DOME_WIRE_PAUSE);
            raise(SIGSTOP);
            dome__hub_skip_time(s);
        } else if (number == SIGCONT) {
            dome__hub_suspend_end(s);
            dome__hub_to_all_watches(s, DOME_WIRE_RESUME);
            if (s->hub->rank0_is_child && info.ssi_code != SI_KERNEL && !s->rank0.ended)
                kill(s->rank0.pid, SIGCONT);
        } else {
            dome__hub_suspend_end(s);
            dome__hub_pass_on(s, &info);
        }
    }
}

/* The host to blame: during the start, the host that rank 0 is starting tasks on. */
static char *silent_host(const hub_client *c)
{
    static const char before[] = "tasks on host ";
    const char *object = c->beat.object ? c->beat.object : "";
    return g_strdup(g_str_has_prefix(object, before) ? object + strlen(before) : c->host);
}

/* Reports tasks that are silent for too long. A task before its first operation is still starting: its limit is longer than those
 * of spawning and joining, which report first. */
static void silence(hub_state *s)
{
    double limit = dome__hub_silence_limit(s), start_limit = 1.5 * MAX(s->hub->timeout, 10);
    bool rank0 = false;
    dome__hub_look_for_away(s, start_limit);
    dome__hub_look_for_done(s, limit);
    dome__hub_look_for_rank0(s, start_limit);
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        const bool greeted = dome__client_has_greeted(c->state);
        rank0 |= greeted && c->rank == 0;
        if (c->closed && c->rank == 0 && dome__hub_is_watch(c))
            dome__hub_rank0_left(s, c);
        double silent = s->now - c->heard;
        bool starting = !greeted || !c->beat.sequence;
        if (c->closed || dome__client_may_end(c->state) || dome__hub_is_output(c))
            continue;
        if (silent <= (c->beat.came ? limit : start_limit) && !(starting && greeted && s->now - c->greeted_at > start_limit))
            continue;
        if (greeted && starting && silent <= limit) {
            char *how = g_strdup_printf("it did not finish starting within %.1f s", start_limit), *host = silent_host(c);
            if (!dome__hub_look_for_host(s, c, host, start_limit))
                dome__hub_lost(s, c, how);
            dome__hub_notice_silent(s, host);
            g_free(how);
        } else if (greeted) {
            char *how = g_strdup_printf("nothing heard from it for %.1f s (host down, link cut or process stopped)", silent);
            dome__hub_lost(s, c, how);
            dome__hub_notice_silent(s, g_strdup(c->host));
            g_free(how);
        } else {
            dome__hub_closed(s, c); /* it has proven itself but never said which task it is */
        }
    }
    if (s->hub->rank0_in_init && !rank0 && s->now - s->report.started > start_limit)
        dome__hub_notice(s, DOME_END_LOSS, false, 1,
                         g_strdup_printf("task 0 on host %s is lost: it did not finish starting within %.1f s", g_get_host_name(),
                                         start_limit));
}

/* Whether an output connection outlives its task: a child of the task holds it open. The task's own end and last output have
 * arrived separately. */
static bool outlives_task(const hub_state *s, const hub_client *output)
{
    static const double late = 0.3;
    bool ended = false;
    if (output->channel == DOME_WIRE_WATCH)
        return false;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_watch(c) || c->rank != output->rank)
            continue;
        ended = c->closed && s->now - c->closed_at > late;
    }
    return ended;
}

static bool all_closed(const hub_state *s, bool but_silent)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__client_has_greeted(c->state) && !c->closed && !outlives_task(s, c) &&
            !(but_silent && (c->channel != DOME_WIRE_WATCH || dome__hub_silent(s, c))))
            return false;
    }
    return true;
}

/* Tasks that made the same calls do not disagree: what they wait for has been lost on its way, as a task is lost. */
static void judge_by_calls(hub_state *s)
{
    if (s->failure.end == DOME_END_OWN && dome__hub_message_is_lost(s))
        dome__hub_notice_anew(
            s, DOME_END_LOSS, 1,
            g_strdup("all tasks wait for messages that are not under way, though they have made the same calls"));
}

/* After a failure was noticed: waits until the tasks that are there have answered, or for a while, and then tells all tasks of
 * the failure. */
static void await_answers(hub_state *s)
{
    bool all = true, any = false;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        bool there = dome__hub_is_there(c) && !dome__hub_silent(s, c);
        if (there &&
            ((s->failure.ask_operation && !c->beat.answered) || (s->difference.call_logs && !dome__hub_has_call_log(s, c->rank))))
            all = false;
        any |= c->beat.answered;
    }
    if (!all && s->now - s->failure.noticed_at <= (s->difference.call_logs ? 2 : 0.2))
        return;
    dome__hub_notice_place(s, all || any);
    judge_by_calls(s);
    if (dome__hub_heal(s))
        return;
    dome__hub_say_unhealed(s);
    dome__hub_notice_cause(s, dome__hub_cause(s));
    dome__hub_tell(s);
}

static bool over(hub_state *s)
{
    bool rank0 = s->hub->rank0_is_child ? s->rank0.ended : true;
    if (s->failure.noticed && !s->failure.told) {
        await_answers(s);
        if (!s->failure.told)
            return false;
    }
    if (s->failure.told) {
        if (rank0 && all_closed(s, false) && !s->machine->killer) {
            if (!s->failure.killed && !s->failure.lost_killed)
                dome__hub_kill_lost(s);
            return !s->machine->killer;
        }
        if (!s->failure.killed && s->now - s->failure.told_at > 0.3)
            dome__hub_kill_rest(s);
        if (!s->failure.killed)
            return false;
        /* Time for the closing of connections to arrive from killed tasks on other hosts. */
        double waited = s->now - s->failure.killed_at;
        return waited > 2.5 || (waited > 0.3 && rank0 && all_closed(s, true) && !s->machine->killer);
    }
    if (!s->hub->rank0_is_child) { /* rank 0 may continue its own code after dome_finalize */
        bool any = false;
        for (guint i = 0; i < s->clients->len && !any; i++) {
            const hub_client *c = s->clients->pdata[i];
            any = dome__hub_is_watch(c);
        }
        return any ? all_closed(s, false) : getppid() != s->rank0.pid;
    }
    /* A task may continue its own code after dome_finalize; its output connection closes when its process ends. */
    return rank0 && (all_closed(s, false) || s->now - MAX(s->rank0.ended_at, s->output.held_at) > s->hub->timeout);
}

static void open_state(hub_state *s)
{
    dome__hub_lines_open(s);
    dome__hub_machine_open(s);
    dome__hub_rank0_open(s);
    dome__hub_report_open(s);
    dome__hub_heal_open(s);
    dome__hub_probe_end(s);
    dome__hub_pending_open(s);
    dome__hub_output_open(s);
    dome__hub_once_open(s);
    dome__hub_view_open(s);
    dome__hub_history_open(s);
    dome__hub_standby_open(s);
    dome__hub_orders_open(s);
    dome__hub_suspend_open(s);
    if (!dome__hub_poll_open(s))
        dome__hub_notice(s, DOME_END_START, false, 1,
                         g_strdup_printf("cannot watch over the program's tasks: %s", g_strerror(errno)));
}

static void close_state(hub_state *s, int status)
{
    dome__hub_lines_close(s);
    dome__hub_poll_close(s);
    dome__hub_failure_close(s);
    dome__hub_difference_forget(s);
    dome__hub_record_close(s, status);
    dome__hub_report_close(s);
    dome__hub_heal_close(s);
    dome__hub_probe_end(s);
    dome__hub_inquiry_close(s);
    dome__hub_suspend_close(s);
    g_array_unref(s->machine->down);
}

/* Handles all connections that are readable. */
static void hear(hub_state *s)
{
    if (dome__hub_happened(s, DOME_POLL_BELL)) {
        dome__hub_output_rung(s);
        dome__hub_once_rung(s);
    }
    if (dome__hub_happened(s, DOME_POLL_RANK0))
        dome__hub_once_hear(s);
    for (guint i = 0; i < s->machine->poll.polled->len; i++)
        if (dome__hub_happened(s, (int)(DOME_POLL_FIRST + i)))
            dome__hub_hear_pending(s, s->machine->poll.polled->pdata[i]);
    for (guint i = 0; i < s->machine->poll.ready->len; i++)
        dome__hub_receive(s, s->machine->poll.ready->pdata[i]);
}

/* Seconds between two scans of all connections, for each connection. A scan takes a small part of that time. */
static const double LOOK = 20e-6;

static void watch_over(hub_state *s)
{
    double period = CLAMP(s->hub->timeout / 10, 0.02, 1.0), beat = s->machine->awake.real, looked_at = 0;
    int report_fd = dome__control_socket_listen(DOME_CONTROL_REPORT);
    while (!over(s)) {
        bool hurry = s->failure.noticed || s->failure.told || s->rank0.ended;
        dome__hub_wait(s, report_fd, hurry ? 10 : (int)(period * 250) + 1);
        dome__hub_pass_time(s, s->suspended ? 0 : period);
        const bool look = hurry || s->now - looked_at >= LOOK * s->clients->len;
        /* Read the last messages of tasks before handling the signals that tell of their end. */
        hear(s);
        dome__hub_once_tick(s);
        if (look && s->beaten)
            dome__hub_look_at_beats(s);
        if (dome__hub_happened(s, DOME_POLL_LISTEN))
            dome__hub_accept(s);
        if (dome__hub_happened(s, DOME_POLL_SIGNAL))
            handle_signals(s);
        if (dome__hub_happened(s, DOME_POLL_REPORT) && !dome__report_answer(report_fd, dome__hub_report_text, s))
            dome__hub_accept_later(s);
        dome__hub_hear_standby(s, dome__hub_happened(s, DOME_POLL_STANDBY));
        dome__hub_take_orders(s);
        dome__hub_suspend_tick(s, dome__hub_may_suspend(s));
        dome__hub_attend(s);
        if (s->machine->awake.real - beat >= period) {
            beat = s->machine->awake.real;
            if (!s->suspended)
                dome__hub_say_alive(s);
        }
        dome__hub_pending_late(s);
        if (!look)
            continue;
        looked_at = s->now;
        if (!s->failure.noticed && !s->failure.told)
            silence(s);
        dome__hub_sweep(s);
    }
    dome__hub_standby_end(s);
    dome__hub_view_close(s);
    dome__hub_orders_close(s);
    dome__hub_history_close(s);
    dome__hub_pending_close(s);
    if (report_fd >= 0)
        close(report_fd);
}

static int status_of(const hub_state *s, int *signal_number)
{
    const int rank0 = s->rank0.status;
    int status = s->failure.told ? s->failure.exit_status : 0;
    if (!s->hub->rank0_is_child || !s->rank0.ended)
        return status;
    if (WIFSIGNALED(rank0)) {
        if (!s->failure.killed || WTERMSIG(rank0) != SIGKILL) /* this process has not killed it */
            *signal_number = WTERMSIG(rank0);
        status = status ? status : 128 + WTERMSIG(rank0);
    } else if (!s->failure.told) {
        status = WEXITSTATUS(rank0);
    }
    return status;
}

/* Waits until the output has been written, and reports: if this process is killed before, it is a loss. */
static int drain_and_report(hub_state *s, int status, int *signal_number)
{
    int lost, ended_by = dome__hub_drain(s, &lost);
    dome__hub_once_close(s, status == 0);
    if (lost && !status) { /* rank 0 has said nothing */
        dome__say("the tasks' output cannot be written: %s", g_strerror(lost));
        status = 1;
    }
    if (ended_by && !status) {
        *signal_number = ended_by;
        status = 128 + ended_by;
    }
    if (s->hub->report_fd >= 0)
        dome__hub_report_end(s, status);
    return status;
}

int dome__hub_run(const dome_hub *hub, int *signal_number)
{
    hub_machine machine = {0};
    hub_state s = {.hub = hub, .machine = &machine};
    *signal_number = 0;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit for output must not end the hub */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(getpid(), SIGCHLD); /* the daemon may have ended before SIGCHLD was watched */
    open_state(&s);
    watch_over(&s);
    int status = status_of(&s, signal_number);
    if (status)
        dome__hub_print(&s, STDERR_FILENO, dome__terminal_clear(STDERR_FILENO)); /* clears an unfinished progress bar */
    const bool slow = dome__hub_output_waiting(&s) > 0; /* a reader may take its time: the machine does not wait for it */
    if (!slow)
        status = drain_and_report(&s, status, signal_number);
    if (hub->machine.directory)
        hub->machine.launcher->machine.take_down(hub->machine.directory, hub->machine.others);
    if (slow)
        status = drain_and_report(&s, status, signal_number);
    close_state(&s, status);
    return status;
}
