#include "launch/supervise.h"

#include "hub/hub.h"
#include "manage/losses.h"
#include "system/say.h"
#include "system/time.h"
#include "wire/shown_store.h"
#include "wire/wire.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds that the processes of a dead hub get to end by themselves. */
static const double LEFTOVERS = 6;

typedef struct supervisor {
    const dome_supervision *how;
    int signal_fd;
    sigset_t old_mask;
    struct sigaction old_child; /* previous action of SIGCHLD, restored in the program */
    bool ending;                /* the user has ended the program */

    /* the current attempt */
    pid_t hub;
    bool over;
    bool deaf;         /* it cannot learn how children end: the call is refused */
    int status;        /* as from waitpid */
    double stopped_at; /* 0: the hub is not stopped */
    GByteArray *in;
    bool has_hub;
    pid_t rank0, daemon;
    char *directory;
    bool reported, place_known;
    dome_end end;
    char *line, *silent;
    uint64_t sequence, loop, cause;
    int reported_status;

    int shown_fd; /* what has been shown of the program's output; -1: it is not known */
    bool shown;   /* some of it has been, by a run before */

    int heals; /* losses that hubs have healed, or have tried to */
    GString *avoid;
} supervisor;

/* ---- signals ---- */

static void pass_on(const supervisor *s, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    /* A signal from the keyboard has reached the other processes, too. */
    bool alone = info->ssi_code != SI_KERNEL || (number == SIGHUP && getsid(0) == getpid());
    if (alone && s->hub > 0 && !s->over)
        kill(s->hub, number);
}

/* Reaps children. Returns whether there are children left. */
static bool reap(supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid == s->hub && WIFSTOPPED(status)) {
            s->stopped_at = dome__now();
        } else if (pid == s->hub && WIFCONTINUED(status)) {
            s->stopped_at = 0;
        } else if (pid == s->hub) {
            s->over = true;
            s->status = status;
        } else if (pid == s->rank0 && !WIFSTOPPED(status) && !WIFCONTINUED(status)) {
            s->rank0 = 0;
        } else if (pid == s->daemon && !WIFSTOPPED(status) && !WIFCONTINUED(status)) {
            s->daemon = 0;
        }
    }
    s->deaf = pid < 0 && errno != EINTR;
    return pid == 0;
}

static bool handle_signals(supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
        switch (info.ssi_signo) {
        case SIGCHLD:
            break;
        case SIGTSTP:
            pass_on(s, &info);
            raise(SIGSTOP);
            break;
        case SIGCONT:
            if (s->stopped_at > 0)
                s->stopped_at = dome__now();
            if (s->hub > 0 && !s->over)
                kill(s->hub, SIGCONT);
            break;
        case SIGUSR1:
        case SIGUSR2:
            pass_on(s, &info);
            break;
        default:
            s->ending = true;
            pass_on(s, &info);
        }
    }
    return reap(s);
}

/* ---- one attempt ---- */

static void take_started(supervisor *s, const dome_wire_started *started)
{
    s->heals += s->has_hub;
    s->has_hub = true;
    s->rank0 = (pid_t)started->rank0;
    s->daemon = (pid_t)started->daemon;
    g_free(s->directory);
    s->directory = g_strdup(started->directory);
}

static void take_report(supervisor *s, const dome_wire_report *report)
{
    s->reported = true;
    s->end = (dome_end)report->end;
    g_free(s->line);
    g_free(s->silent);
    s->line = g_strdup(report->line);
    s->silent = g_strdup(report->silent);
    s->sequence = report->sequence;
    s->loop = report->loop;
    s->place_known = report->place_known;
    s->cause = report->cause;
    s->reported_status = (int)report->status;
}

static void take_hosts(const supervisor *s, const char *text)
{
    char **hosts = g_strsplit(text, " ", 0);
    s->how->hosts(s->how->ctx, hosts);
    g_strfreev(hosts);
}

/* False at the end. */
static bool take_messages(supervisor *s, int fd)
{
    guint8 buffer[4096];
    ssize_t n;
    while ((n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0)
        g_byte_array_append(s->in, buffer, (guint)n);
    dome_wire_message message;
    while (dome__wire_next(s->in, NULL, &message) > 0) {
        if (message.kind == DOME_WIRE_STARTED)
            take_started(s, &message.started);
        else if (message.kind == DOME_WIRE_REPORT)
            take_report(s, &message.report);
        else if (message.kind == DOME_WIRE_HOSTS)
            take_hosts(s, message.hosts);
        dome__wire_clear(&message);
    }
    return n != 0;
}

/* Removes what is for restarts, and ends this process. */
static void give_up(const supervisor *s, const char *what) __attribute__((noreturn));

static void give_up(const supervisor *s, const char *what)
{
    dome__say("cannot start the program: %s: %s", what, strerror(errno));
    s->how->finish(s->how->ctx, 0);
    exit(1);
}

static void start(supervisor *s, dome_attempt *attempt)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        give_up(s, "socketpair");
    pid_t parent = getpid();
    fflush(NULL);
    s->hub = fork();
    if (s->hub == 0) {
        close(ends[0]);
        close(s->signal_fd);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* end with the supervisor: the guard and the tasks handle the end of the hub */
        if (getppid() != parent)
            _exit(1);
        sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
        sigaction(SIGCHLD, &s->old_child, NULL);
        attempt->report_fd = ends[1];
        s->how->start(s->how->ctx, attempt);
        _exit(1);
    }
    close(ends[1]);
    attempt->report_fd = ends[0];
    if (s->hub < 0)
        give_up(s, "fork");
}

/* Waits until the attempt is over. Kills a hub that is stopped for longer than the timeout: its tasks consider it lost, too. */
static void watch(supervisor *s, int fd)
{
    while (!s->over) {
        struct pollfd p[2] = {{.fd = s->signal_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        if (poll(p, 2, s->stopped_at > 0 ? 100 : -1) < 0) {
            p[1].revents = 0;
            if (errno != EINTR)
                g_usleep(10000); /* it looks now and then */
        }
        const bool more = p[1].revents & POLLIN ? take_messages(s, fd) : !p[1].revents;
        fd = more ? fd : -1;
        handle_signals(s);
        if (s->deaf && fd < 0 && !s->over) { /* the hub is gone, and has said why: it could not wait, either */
            s->over = true;
            s->status = W_EXITCODE(1, 0);
        }
        if (s->stopped_at > 0 && dome__now() - s->stopped_at > s->how->timeout) {
            kill(s->hub, SIGKILL);
            s->stopped_at = 0;
        }
    }
    if (fd >= 0)
        take_messages(s, fd);
}

/* Whether only the daemon is left, and the guard does not end it. */
static bool abandoned(const supervisor *s, double began)
{
    return s->rank0 == 0 && s->daemon > 0 && dome__now() - began > 1;
}

/* After the hub was killed: its guard takes the machine down, and rank 0 ends itself; as a subreaper this process is now their
 * parent. If the guard was killed, too, does the guard's work. */
static void wait_for_leftovers(supervisor *s)
{
    double began = dome__now(), limit = MAX(LEFTOVERS, s->how->timeout + 3);
    while (handle_signals(s) && dome__now() - began < (s->rank0 > 0 ? limit : LEFTOVERS) && !abandoned(s, began))
        g_usleep(5000);
    if (s->rank0 > 0 && kill(s->rank0, SIGKILL) == 0)
        waitpid(s->rank0, NULL, 0);
    if (s->directory && s->directory[0] && access(s->directory, F_OK) == 0)
        s->how->launcher->machine.take_down(s->directory, false);
}

static void add_silent(supervisor *s)
{
    char **known = g_strsplit(s->avoid->str, " ", 0), **hosts = g_strsplit(s->silent ? s->silent : "", " ", 0);
    for (char **host = hosts; *host; host++)
        if (!g_strv_contains((const char *const *)known, *host))
            g_string_append_printf(s->avoid, "%s%s", s->avoid->len ? " " : "", *host);
    g_strfreev(hosts);
    g_strfreev(known);
}

static void clear(supervisor *s)
{
    s->hub = s->rank0 = s->daemon = 0;
    s->over = s->reported = s->place_known = s->has_hub = false;
    s->stopped_at = 0;
    s->end = DOME_END_OWN;
    s->sequence = s->loop = 0;
    s->cause = DOME_CAUSE_PROGRAM;
    g_byte_array_set_size(s->in, 0);
    g_clear_pointer(&s->line, g_free);
    g_clear_pointer(&s->silent, g_free);
    g_clear_pointer(&s->directory, g_free);
}

/* The reason of the failure, without the prefix "dome: " and the newline. */
static char *reason(const supervisor *s)
{
    const char *line = s->line ? s->line : "";
    if (line[0])
        return dome__say_text(line);
    if (!s->reported && !s->has_hub && WIFSIGNALED(s->status))
        return g_strdup_printf("the program was ended by signal %d (%s)", WTERMSIG(s->status), strsignal(WTERMSIG(s->status)));
    const char *what = s->reported ? "the process that watched over the program was stopped for too long"
                                   : "the process that watched over the program was ended";
    if (!s->reported && WIFSIGNALED(s->status))
        return g_strdup_printf("%s by signal %d (%s)", what, WTERMSIG(s->status), strsignal(WTERMSIG(s->status)));
    return g_strdup(what);
}

/* Whether the attempt ended by a loss, after which a restart makes sense. */
static bool is_loss(const supervisor *s, int attempt)
{
    if (s->ending)
        return false;
    if (!s->reported) {
        int number = WIFSIGNALED(s->status) ? WTERMSIG(s->status) : 0;
        return number && number != SIGPIPE && number != SIGINT;
    }
    return s->end == DOME_END_LOSS || (s->end == DOME_END_START && attempt > 0);
}

static char *from(const dome_supervise_point *point)
{
    if (point->number == 0)
        return g_strdup_printf("from the beginning (%s)",
                               point->saves ? "it had written no checkpoint yet: --dome-checkpoint-every says when"
                                            : "it writes no checkpoints: --dome-checkpoint-dir memory: keeps them in memory");
    char *with = point->tasks ? g_strdup_printf("with %d task%s ", point->tasks, point->tasks == 1 ? "" : "s") : g_strdup("");
    char *at = point->loop ? g_strdup_printf(" (loop boundary %" G_GUINT64_FORMAT ")", point->loop) : g_strdup("");
    char *text = point->doubted ? g_strdup_printf("%sfrom the newest checkpoint that is not damaged", with)
                                : g_strdup_printf("%sfrom checkpoint %" G_GUINT64_FORMAT "%s", with, point->number, at);
    g_free(at);
    g_free(with);
    return text;
}

/* Without what the program has registered by atexit: that is for processes that run it. */
static void end_like(int status)
{
    fflush(NULL);
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    int number = WTERMSIG(status);
    if (number == SIGKILL)
        _exit(1);
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

/* How the next attempt goes on: whether from a checkpoint, and with how many tasks. */
typedef struct next_attempt {
    int number;
    bool resume;
    int tasks;
} next_attempt;

/* Runs the program once, until it is over. */
static void attempt(supervisor *s, const next_attempt *next, double began)
{
    const int restarts = s->how->restarts;
    dome_attempt attempt = {.number = next->number,
                            .losses = next->number + s->heals,
                            .seconds = dome__now() - began,
                            .resume = next->resume,
                            .tasks = next->tasks,
                            .shown_fd = s->shown_fd,
                            .avoid = s->avoid->str,
                            .anew = next->number > 0 || s->shown,
                            .left = restarts ? MAX(restarts - next->number - s->heals, 0) : -1};
    clear(s);
    start(s, &attempt);
    watch(s, attempt.report_fd);
    close(attempt.report_fd);
    const bool killed = WIFSIGNALED(s->status) && WTERMSIG(s->status) == SIGKILL;
    if ((!s->reported || killed) && s->has_hub)
        wait_for_leftovers(s);
    if (s->reported && killed && s->end == DOME_END_OWN) /* behind the program's end, while it took the machine down */
        s->status = W_EXITCODE(s->reported_status, 0);
}

/* Why the program is not started again after this loss, g_free'd by the caller; "": it was not to be; NULL: it is. */
static char *why_not_again(const supervisor *s, dome_losses *losses, const dome_supervise_point *point, int used)
{
    const dome_place here = {
        .known = s->place_known, .checkpoint = point->number, .loop = s->loop, .sequence = s->sequence, .cause = s->cause};
    if (dome__losses_note(losses, &here))
        return g_strdup_printf("; that is the same place %d times in a row: the program is not started again", DOME_LOSSES_MOST);
    if (s->how->restarts == 0)
        return g_strdup("");
    if (used < s->how->restarts)
        return NULL;
    return g_strdup_printf("; not started again: %d restart%s used up", used, used == 1 ? " is" : "s are");
}

/* Goes on from `point`. Returns false if a signal has ended the program meanwhile. */
static bool prepare_next(supervisor *s, const next_attempt *next, const dome_supervise_point *point, const char *text)
{
    add_silent(s);
    char *where = s->how->prepare(s->how->ctx, s->avoid->str), *point_text = from(point);
    handle_signals(s);
    if (!s->ending)
        dome__say("%s; started again%s%s %s, restart %d of %d", text, where[0] ? " " : "", where, point_text,
                  next->number + s->heals, s->how->restarts);
    g_free(where);
    g_free(point_text);
    return !s->ending;
}

/* After an attempt: says what happened, and returns whether the program is started again. first: the checkpoint that existed
 * before this run, which may belong to another one. */
static bool goes_on(supervisor *s, dome_losses *losses, const dome_supervise_point *first, next_attempt *next)
{
    if (!is_loss(s, next->number)) {
        if (s->reported && s->end == DOME_END_START && s->line)
            fputs(s->line, stderr);
        return false;
    }
    dome_supervise_point point = {0};
    s->how->point(s->how->ctx, true, &point);
    char *text = reason(s), *why_not = why_not_again(s, losses, &point, next->number + s->heals);
    bool again = !why_not;
    if (again) {
        next->number++;
        next->resume = next->resume || point.number != first->number;
        s->how->point(s->how->ctx, next->resume, &point);
        next->tasks = next->resume ? point.tasks : 0;
        again = prepare_next(s, next, &point, text);
    } else {
        dome__say("%s%s", text, why_not);
    }
    g_free(why_not);
    g_free(text);
    return again;
}

static void say_differing(const supervisor *s)
{
    dome_shown_store *store = s->shown_fd >= 0 ? dome__shown_store_open(s->shown_fd) : NULL;
    char *line = store ? dome__shown_differing(store) : NULL;
    if (line)
        dome__say("%s", line);
    g_free(line);
    dome__shown_store_close(store);
}

/* The file that outlives this host: a run before may have left it. */
static void open_copy(supervisor *s)
{
    const char *path = s->how->output_state;
    char *whole = g_canonicalize_filename(path, NULL), *why = NULL;
    dome_shown_store *store = s->shown_fd >= 0 ? dome__shown_store_open(s->shown_fd) : NULL;
    if (!store || !dome__shown_store_copy_to(store, whole, STDOUT_FILENO, &why)) {
        dome__say("what has been shown cannot be noted in %s: %s", path, why ? why : strerror(errno));
        s->how->finish(s->how->ctx, 0);
        exit(2);
    }
    s->shown = dome__shown_written(dome__shown_writer_of(store)) > 0;
    dome__shown_store_close(store);
    g_free(whole);
}

/* A program that was ended may go on later; one that has come to its end does not. */
static void remove_copy(const supervisor *s)
{
    const bool own = s->reported ? s->end == DOME_END_OWN : WIFEXITED(s->status);
    if (!s->ending && own && unlink(s->how->output_state) < 0 && errno != ENOENT)
        dome__say("%s cannot be removed: %s", s->how->output_state, strerror(errno));
}

int dome__supervise(const dome_supervision *how)
{
    supervisor s = {.how = how, .in = g_byte_array_new(), .avoid = g_string_new(NULL)};
    dome_losses losses = {0};
    next_attempt next = {0};
    int survived;
    const double began = dome__now();
    dome_supervise_point first = {0};
    how->point(how->ctx, true, &first);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const struct sigaction heard = {.sa_handler = SIG_DFL}; /* a process that ignores SIGCHLD cannot learn how its children end */
    sigaction(SIGCHLD, &heard, &s.old_child);
    s.signal_fd = dome__hub_signals(&s.old_mask);
    if (s.signal_fd < 0)
        give_up(&s, "its signals");
    s.shown_fd = dome__shown_file();
    if (how->output_state)
        open_copy(&s);
    do {
        attempt(&s, &next, began);
        survived = next.number + s.heals;
    } while (goes_on(&s, &losses, &first, &next));
    say_differing(&s);
    if (how->output_state)
        remove_copy(&s);
    how->finish(how->ctx, survived);
    end_like(s.status);
    return 1;
}

void dome__supervise_failed(const dome_attempt *attempt, bool lost, const char *message)
{
    char *line = g_strdup_printf(DOME_SAY_PREFIX "%s\n", message);
    const dome_end end = lost ? DOME_END_LOSS : DOME_END_START;
    dome__wire_send(attempt->report_fd, NULL,
                    &(dome_wire_message){.kind = DOME_WIRE_REPORT, .report = {.end = end, .line = line, .place_known = 1}});
    g_free(line);
    _exit(1);
}
