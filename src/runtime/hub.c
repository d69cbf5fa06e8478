#include "runtime/hub.h"

#include "runtime/clock.h"
#include "runtime/door.h"
#include "runtime/launch.h"
#include "runtime/operation.h"
#include "runtime/progress.h"
#include "runtime/report.h"
#include "runtime/wire.h"
#include "trace/demand.h"
#include "trace/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

typedef struct client {
    int fd;
    bool greeted, bye, closed;
    dome_wire_channel channel;
    int rank, pid, tid;
    char *host;
    GByteArray *in; /* frames, or a line of output that is not complete */
    double heard, greeted_at;
    bool exiting; /* said that it leaves without dome_finalize */
    int exit_status;

    /* its last beat */
    bool beaten, answered;
    uint64_t sequence, history, progress;
    uint32_t operation;
    bool waiting;
    uint64_t loop; /* boundaries passed */
    char *object;
    double busy, load; /* processors it used since the beat before; load of its host, below 0: not known */
    int idle;          /* beats in a row that found it waiting without progress */
} client;

typedef struct state {
    dome_hub *hub;
    GPtrArray *clients;
    double now, began, started;
    int64_t checkpoint; /* the last one that task 0 told of; below 0: none */
    double checkpoint_at;

    bool rank0_ended;
    int rank0_status; /* as waitpid gives it */
    double rank0_ended_at;

    /* A failure goes through three steps: noticed (survivors are asked where the program was), told (END to all), over. */
    char *noticed; /* text of the line, without the operation */
    bool ask_operation;
    double noticed_at;
    bool told;
    double told_at;
    int exit_status;
    bool killed;
    double killed_at;
    pid_t killer;
    bool ending;   /* a signal from the keyboard or a user asked for it: nothing is lost */
    int passed_on; /* the last signal that rank 0 got from here */
    dome_end end;  /* the worst that was noticed */
    char *line;    /* that was printed, or goes into the report */
    char *silent;  /* the host of a task that is lost without a word */
    bool daemon_ended;
    dome_trace_sink *trace; /* of --dome-trace */
    dome_demand *demand;    /* NULL until task 0 beats */
    uint32_t recording;     /* number of the one on demand; 0: none */
    bool overslept;         /* this process has been stopped for so long that the tasks have given it up */
} state;

static double monotonic(void)
{
    return (double)g_get_monotonic_time() * 1e-6;
}

static void say(const char *line)
{
    char *text = g_strconcat(dome__progress_clear(STDERR_FILENO), line, g_str_has_suffix(line, "\n") ? "" : "\n", NULL);
    size_t length = strlen(text), done = 0;
    while (done < length) {
        ssize_t n = write(STDERR_FILENO, text + done, length - done);
        if (n <= 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    g_free(text);
}

int dome__hub_signals(void *old_mask)
{
    sigset_t set;
    static const int handled[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigemptyset(&set);
    for (size_t i = 0; i < G_N_ELEMENTS(handled); i++)
        sigaddset(&set, handled[i]);
    sigprocmask(SIG_BLOCK, &set, old_mask);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void notice(state *s, dome_end end, bool ask_operation, int exit_status, char *text)
{
    if (s->noticed || s->told) {
        g_free(text);
        return;
    }
    s->noticed = text;
    s->noticed_at = s->now;
    s->ask_operation = ask_operation;
    s->exit_status = exit_status;
    s->end = MAX(s->end, end);
    if (!ask_operation)
        return;
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && c->channel == DOME_WIRE_WATCH)
            dome__wire_send(c->fd, dome__wire_new(DOME_WIRE_QUERY));
    }
}

static const char *operation_text(const client *c, char *buffer, size_t size)
{
    if (c->operation == DOME_OP_NONE || c->operation >= DOME_OPERATIONS)
        snprintf(buffer, size, "the program's own code");
    else if (c->object && c->object[0])
        snprintf(buffer, size, "%s of '%s'", dome__operation_name(c->operation), c->object);
    else
        snprintf(buffer, size, "%s", dome__operation_name(c->operation));
    return buffer;
}

static char **command_of(pid_t pid)
{
    char *path = g_strdup_printf("/proc/%d/cmdline", (int)pid), *text = NULL;
    gsize length = 0;
    GPtrArray *words = g_ptr_array_new();
    if (g_file_get_contents(path, &text, &length, NULL))
        for (const char *at = text; at < text + length; at += strlen(at) + 1)
            g_ptr_array_add(words, g_strdup(at));
    g_ptr_array_add(words, NULL);
    g_free(text);
    g_free(path);
    return (char **)g_ptr_array_free(words, FALSE);
}

static char *command_line(void *data)
{
    const state *s = data;
    char **words = command_of(s->hub->rank0), *line = g_strjoinv(" ", words);
    g_strfreev(words);
    return line;
}

static char *report_text(void *data);

static dome_trace_sink *sink_of(const state *s)
{
    return s->trace ? s->trace : dome__demand_sink(s->demand);
}

static void send_record(const state *s, const client *c)
{
    GByteArray *frame = dome__wire_new(DOME_WIRE_RECORD);
    dome__wire_put_u32(frame, s->recording);
    dome__wire_send(c->fd, frame);
}

/* Somebody wants to see the program, or nobody any more. */
static void attend(state *s)
{
    uint32_t wanted = dome__demand_step(s->demand);
    if (wanted == s->recording)
        return;
    s->recording = wanted;
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && c->channel == DOME_WIRE_WATCH)
            send_record(s, c);
    }
}

static void send_end(const state *s, client *c, const char *text)
{
    GByteArray *end = dome__wire_new(DOME_WIRE_END);
    dome__wire_put_u32(end, (uint32_t)s->exit_status);
    dome__wire_put_string(end, text);
    dome__wire_send(c->fd, end);
}

/* The console hears a task only while the task lives: when rank 0 is gone, another says the line. NULL while rank 0 is there. */
static const client *speaker_for_rank0(const state *s)
{
    const client *speaker = NULL;
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        if (!c->greeted || c->closed || c->channel != DOME_WIRE_WATCH)
            continue;
        if (c->rank == 0)
            return NULL;
        if (!speaker || c->rank < speaker->rank)
            speaker = c;
    }
    return speaker;
}

/* Step two: the line is printed and everybody is told to end. */
static void tell(state *s)
{
    char where[160] = "";
    if (s->ask_operation) {
        const client *lowest = NULL;
        for (guint i = 0; i < s->clients->len; i++) {
            const client *c = s->clients->pdata[i];
            if (c->channel == DOME_WIRE_WATCH && c->beaten && !c->closed && c->answered &&
                (!lowest || (c->operation != DOME_OP_NONE && lowest->operation == DOME_OP_NONE) ||
                 (c->rank < lowest->rank && (c->operation != DOME_OP_NONE) == (lowest->operation != DOME_OP_NONE))))
                lowest = c;
        }
        if (!lowest)
            for (guint i = 0; i < s->clients->len && !lowest; i++) {
                const client *c = s->clients->pdata[i];
                lowest = c->channel == DOME_WIRE_WATCH && c->beaten ? c : NULL;
            }
        if (lowest)
            operation_text(lowest, where, sizeof where);
    }
    char *line = !s->noticed[0] ? g_strdup("")
                 : where[0]     ? g_strdup_printf("dome: %s; the program was in %s\n", s->noticed, where)
                                : g_strdup_printf("dome: %s\n", s->noticed);
    const client *speaker = s->hub->rank0_is_child ? NULL : speaker_for_rank0(s);
    bool reported = s->hub->report_fd >= 0 && s->end != DOME_END_OWN && !s->ending;
    if (line[0] && !speaker && !reported)
        say(line);
    if (line[0])
        dome__trace_sink_failure(sink_of(s), line);
    s->line = g_strdup(line);
    s->told = true;
    s->told_at = s->now;
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && c->channel == DOME_WIRE_WATCH)
            send_end(s, c, c == speaker ? line : "");
    }
    g_free(line);
}

/* Lines of other tasks' output appear whole, with the rank before them. */
static void relay(client *c, bool last)
{
    FILE *to = c->channel == DOME_WIRE_STDOUT ? stdout : stderr;
    for (;;) {
        guint8 *end = c->in->len ? memchr(c->in->data, '\n', c->in->len) : NULL;
        guint length = end ? (guint)(end - c->in->data) + 1 : c->in->len;
        if (!length || (!end && !last && length < 8192))
            break;
        /* PVM's library has words about the end of its daemon, which is reported in ours. */
        bool word = c->channel == DOME_WIRE_STDERR && length > 8 && memcmp(c->in->data, "libpvm [", 8) == 0;
        if (!word)
            fprintf(to, "%s[%d] %.*s%s", dome__progress_clear(fileno(to)), c->rank, (int)length, (const char *)c->in->data,
                    end ? "" : "\n");
        g_byte_array_remove_range(c->in, 0, length);
    }
    fflush(to);
}

static void lost(state *s, client *c, const char *how)
{
    notice(s, DOME_END_LOSS, true, 1, g_strdup_printf("task %d on host %s is lost: %s", c->rank, c->host, how));
}

static void closed(state *s, client *c)
{
    if (c->closed)
        return;
    c->closed = true;
    close(c->fd);
    if (!c->greeted)
        return;
    if (c->channel != DOME_WIRE_WATCH) {
        relay(c, true);
        return;
    }
    if (c->bye || s->told)
        return;
    if (c->rank == 0 && s->hub->rank0_is_child)
        return; /* waitpid tells more */
    if (s->overslept) {
        notice(s, DOME_END_LOSS, false, 1, g_strdup("")); /* rank 0 has said why */
        return;
    }
    if (c->exiting)
        notice(s, DOME_END_OWN, false, c->exit_status ? c->exit_status : 1,
               g_strdup_printf("task %d on host %s ended with exit status %d without dome_finalize", c->rank, c->host,
                               c->exit_status));
    else
        lost(s, c, "its process ended");
}

static void mismatch(state *s, const client *a, const client *b)
{
    char first[160], second[160];
    operation_text(a, first, sizeof first);
    operation_text(b, second, sizeof second);
    notice(s, DOME_END_OWN, false, 2,
           g_strdup_printf("tasks disagree about the next operation: task %d on host %s is in %s, task %d on host %s in %s%s",
                           a->rank, a->host, first, b->rank, b->host, second,
                           strcmp(first, second) ? "" : ", with other arguments or after other operations"));
}

/* Tasks at the same operation number must have the same history; and when all wait without progress, they must at
 * least stand at the same operation. */
static void compare(state *s, const client *c)
{
    bool all_idle = true;
    const client *elsewhere = NULL;
    int tasks = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const client *other = s->clients->pdata[i];
        if (other->channel != DOME_WIRE_WATCH || !other->greeted)
            continue;
        if (!other->beaten || other->closed) {
            all_idle = false;
            continue;
        }
        tasks++;
        if (other->sequence == c->sequence && other->history != c->history) {
            mismatch(s, other->rank < c->rank ? other : c, other->rank < c->rank ? c : other);
            return;
        }
        all_idle &= other->idle >= 3;
        if (other->sequence != c->sequence)
            elsewhere = other;
    }
    if (all_idle && elsewhere && tasks > 1)
        mismatch(s, elsewhere->rank < c->rank ? elsewhere : c, elsewhere->rank < c->rank ? c : elsewhere);
}

static void frame_from(state *s, client *c, const GByteArray *frame)
{
    dome_wire_reader reader;
    dome_wire_kind kind = dome__wire_open(&reader, frame);
    if (!c->greeted) {
        char *cookie = dome__wire_get_string(&reader);
        uint32_t channel = dome__wire_get_u32(&reader);
        c->rank = (int)dome__wire_get_u32(&reader);
        c->pid = (int)dome__wire_get_u32(&reader);
        c->tid = (int)dome__wire_get_u32(&reader);
        c->host = dome__wire_get_string(&reader);
        c->channel = (dome_wire_channel)channel;
        c->greeted = kind == DOME_WIRE_HELLO && !reader.bad && strcmp(cookie, s->hub->cookie) == 0 && channel <= DOME_WIRE_ASK;
        g_free(cookie);
        if (c->greeted && c->channel == DOME_WIRE_ASK) {
            dome__report_send(c->fd, report_text, s);
            c->greeted = false; /* it is no task */
            c->closed = true;
            close(c->fd);
        } else if (c->greeted) {
            c->greeted_at = s->now;
            GByteArray *welcome = dome__wire_new(DOME_WIRE_WELCOME);
            dome__wire_put_string(welcome, s->hub->cookie);
            dome__wire_send(c->fd, welcome);
            if (s->recording && c->channel == DOME_WIRE_WATCH)
                send_record(s, c);
            if (s->told && c->channel == DOME_WIRE_WATCH)
                send_end(s, c, "");
        } else {
            c->closed = true; /* a stranger */
            close(c->fd);
        }
        return;
    }
    switch (kind) {
    case DOME_WIRE_BEAT: {
        uint64_t sequence = dome__wire_get_u64(&reader);
        c->history = dome__wire_get_u64(&reader);
        c->operation = dome__wire_get_u32(&reader);
        c->waiting = dome__wire_get_u32(&reader);
        uint64_t progress = dome__wire_get_u64(&reader);
        g_free(c->object);
        c->object = dome__wire_get_string(&reader);
        c->idle = c->waiting && c->beaten && sequence == c->sequence && progress == c->progress ? c->idle + 1 : 0;
        c->sequence = sequence;
        c->progress = progress;
        c->beaten = true;
        c->answered = dome__wire_get_u32(&reader) > 0; /* there is one query in the life of a program */
        c->busy = dome__wire_get_u32(&reader) / 1e3;
        uint32_t load = dome__wire_get_u32(&reader);
        c->load = load == UINT32_MAX ? -1 : load / 1e2;
        int64_t checkpoint = (int64_t)dome__wire_get_u64(&reader) - 1;
        if (c->rank == 0 && checkpoint >= 0 && checkpoint != s->checkpoint) {
            s->checkpoint = checkpoint;
            s->checkpoint_at = s->now;
        }
        c->loop = MAX(c->loop, dome__wire_get_u64(&reader));
        if (c->rank == 0 && !s->demand) { /* with --dome-trace it has said so before */
            s->demand = dome__demand_open(command_line, NULL, s);
            if (s->trace)
                dome__demand_lend(s->demand, dome__trace_sink_path(s->trace));
        }
        if (!s->told && !s->noticed)
            compare(s, c);
        break;
    }
    case DOME_WIRE_FAIL: {
        int status = (int)dome__wire_get_u32(&reader);
        char *line = dome__wire_get_string(&reader);
        uint32_t end = dome__wire_get_u32(&reader);
        if (!s->told) { /* a reason from inside is better than what was noticed from outside a moment ago */
            g_free(s->noticed);
            s->noticed = NULL;
            notice(s, (dome_end)MIN(end, DOME_END_LOSS), false, status, g_strdup(line));
        }
        g_free(line);
        c->bye = true;
        break;
    }
    case DOME_WIRE_EXITING:
        c->exiting = true;
        c->exit_status = (int)dome__wire_get_u32(&reader) & 0xff;
        break;
    case DOME_WIRE_BYE:
        c->bye = true;
        break;
    case DOME_WIRE_CLOCK: {
        GByteArray *answer = dome__wire_new(DOME_WIRE_CLOCK);
        dome__wire_put_u64(answer, dome__wire_get_u64(&reader));
        dome__wire_put_u64(answer, dome__now_ns());
        dome__wire_send(c->fd, answer);
        break;
    }
    case DOME_WIRE_TRACE_OPEN: {
        char *path = dome__wire_get_string(&reader), *command = dome__wire_get_string(&reader);
        bool append = dome__wire_get_u32(&reader) != 0;
        if (!s->trace && !reader.bad)
            s->trace = dome__trace_sink_open(path, command, append);
        g_free(path);
        g_free(command);
        break;
    }
    case DOME_WIRE_TRACE: {
        uint32_t number = dome__wire_get_u32(&reader);
        char *lines = dome__wire_get_string(&reader);
        dome_trace_sink *sink = !number ? s->trace : number == s->recording ? dome__demand_sink(s->demand) : NULL;
        dome__trace_sink_take(sink, c->rank, lines, strlen(lines));
        g_free(lines);
        break;
    }
    default:
        break;
    }
}

static void receive(state *s, client *c)
{
    guint8 buffer[65536];
    for (int round = 0; round < 16 && !c->closed; round++) {
        ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (n <= 0) {
            closed(s, c);
            return;
        }
        c->heard = s->now;
        g_byte_array_append(c->in, buffer, (guint)n);
        if (c->greeted && c->channel != DOME_WIRE_WATCH) {
            relay(c, false);
            continue;
        }
        GByteArray *frame = g_byte_array_new();
        int have = 0;
        while (!c->closed && (!c->greeted || c->channel == DOME_WIRE_WATCH) && (have = dome__wire_next(c->in, frame)) > 0)
            frame_from(s, c, frame);
        g_byte_array_free(frame, TRUE);
        if (have < 0 && !c->closed)
            closed(s, c);
    }
}

static void accept_clients(state *s)
{
    int fd;
    while ((fd = accept4(s->hub->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        int on = 1;
        struct timeval limit = {.tv_sec = 1};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        client *c = g_new0(client, 1);
        c->fd = fd;
        c->heard = s->now;
        c->rank = -1;
        c->in = g_byte_array_new();
        g_ptr_array_add(s->clients, c);
    }
}

static void to_all_watches(state *s, dome_wire_kind kind)
{
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && c->channel == DOME_WIRE_WATCH)
            dome__wire_send(c->fd, dome__wire_new(kind));
    }
}

static void rank0_ended(state *s, int status)
{
    s->rank0_ended = true;
    s->rank0_status = status;
    s->rank0_ended_at = s->now;
    client *watch = NULL;
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        if (c->greeted && c->rank == 0 && c->channel == DOME_WIRE_WATCH) {
            if (!c->closed)
                receive(s, c); /* what it said last */
            watch = c;
        }
    }
    if (s->told || s->noticed)
        return;
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (!watch) { /* it never got to the point where others could exist; it has said why itself */
        notice(s, WIFSIGNALED(status) && !s->ending ? DOME_END_LOSS : DOME_END_OWN, false, code,
               WIFSIGNALED(status) ? g_strdup_printf("the program was ended by signal %d (%s) while it started", WTERMSIG(status),
                                                     strsignal(WTERMSIG(status)))
                                   : g_strdup(""));
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) {
        notice(s, DOME_END_OWN, false, code, g_strdup("")); /* "| head" has read enough: no error to anybody */
    } else if (WIFSIGNALED(status) && (s->ending || s->passed_on == WTERMSIG(status))) {
        notice(s, DOME_END_OWN, !watch->bye, code,
               g_strdup_printf("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else if (!watch->bye && WIFSIGNALED(status)) {
        notice(s, DOME_END_LOSS, true, code,
               g_strdup_printf("task 0 on host %s is lost: its process was ended by signal %d (%s)", watch->host,
                               WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else if (!watch->bye) {
        notice(s, DOME_END_OWN, false, code ? code : 1,
               g_strdup_printf("task 0 on host %s ended with exit status %d without dome_finalize", watch->host, code));
    }
}

static void handle_signals(state *s)
{
    struct signalfd_siginfo info;
    while (read(s->hub->signal_fd, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;
        if (number == SIGCHLD) {
            int status;
            pid_t pid;
            while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
                if (pid == s->hub->rank0 && s->hub->rank0_is_child)
                    rank0_ended(s, status);
                else if (pid == s->hub->daemon)
                    s->daemon_ended = true;
                else if (pid == s->killer)
                    s->killer = 0;
            }
            if (s->daemon_ended && !s->rank0_ended)
                notice(s, DOME_END_LOSS, true, 1,
                       g_strdup_printf("the PVM daemon of this run (pid %d on host %s) ended", (int)s->hub->daemon,
                                       g_get_host_name()));
        } else if (number == SIGTSTP) {
            to_all_watches(s, DOME_WIRE_PAUSE);
            raise(SIGSTOP);
        } else if (number == SIGCONT) {
            s->now = s->began = monotonic();
            for (guint i = 0; i < s->clients->len; i++) {
                client *c = s->clients->pdata[i];
                c->heard = c->greeted_at = s->now;
            }
            to_all_watches(s, DOME_WIRE_RESUME);
            if (s->hub->rank0_is_child && info.ssi_code != SI_KERNEL && !s->rank0_ended)
                kill(s->hub->rank0, SIGCONT);
        } else if (s->hub->rank0_is_child && !s->rank0_ended) {
            /* From the keyboard it reached rank 0 as well; sent to this process it did not, nor does the hangup that a session's
             * first process gets. */
            s->passed_on = number;
            s->ending |= number != SIGUSR1 && number != SIGUSR2;
            if (info.ssi_code != SI_KERNEL || (number == SIGHUP && getsid(0) == getpid()))
                kill(s->hub->rank0, number);
        }
    }
}

/* The tasks count with the same. */
static double silence_limit(const state *s)
{
    double period = CLAMP(s->hub->timeout / 10, 0.02, 1.0);
    return MAX(s->hub->timeout - period - 0.5, s->hub->timeout / 2);
}

/* A start that is stuck names the host it is stuck on. */
static char *silent_host(const client *c)
{
    static const char before[] = "tasks on host ";
    const char *object = c->object ? c->object : "";
    return g_strdup(g_str_has_prefix(object, before) ? object + strlen(before) : c->host);
}

/* A task that has not come to its first operation is starting: spawning and joining have limits of their own, which come first.
 */
static void silence(state *s)
{
    double limit = silence_limit(s), start_limit = 1.5 * MAX(s->hub->timeout, 10);
    bool rank0 = false;
    for (guint i = 0; i < s->clients->len; i++) {
        client *c = s->clients->pdata[i];
        rank0 |= c->greeted && c->rank == 0;
        double silent = s->now - c->heard;
        bool starting = !c->greeted || !c->sequence;
        if (c->closed || c->bye || (c->greeted && c->channel != DOME_WIRE_WATCH))
            continue;
        if (silent <= (c->beaten ? limit : start_limit) && !(starting && c->greeted && s->now - c->greeted_at > start_limit))
            continue;
        if (c->greeted && starting && silent <= limit) {
            char *how = g_strdup_printf("it did not get through its start within %.1f s", start_limit);
            lost(s, c, how);
            s->silent = silent_host(c);
            g_free(how);
        } else if (c->greeted) {
            char *how = g_strdup_printf("nothing heard from it for %.1f s (host down, link cut or process stopped)", silent);
            lost(s, c, how);
            g_free(s->silent);
            s->silent = g_strdup(c->host);
            g_free(how);
        } else {
            closed(s, c); /* a stranger */
        }
    }
    if (s->hub->rank0_in_init && !rank0 && s->now - s->began > start_limit)
        notice(s, DOME_END_LOSS, false, 1,
               g_strdup_printf("task 0 on host %s is lost: it did not get through its start within %.1f s", g_get_host_name(),
                               start_limit));
}

/* Whoever has been told to end and has not is ended. */
static void kill_rest(state *s)
{
    s->killed = true;
    s->killed_at = s->now;
    if (s->hub->rank0_is_child ? !s->rank0_ended : getppid() == s->hub->rank0)
        kill(s->hub->rank0, SIGKILL);
    int *tids = g_new0(int, s->clients->len + 1), n = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && c->rank != 0 && c->channel == DOME_WIRE_WATCH && c->tid)
            tids[n++] = c->tid;
    }
    if (n && s->hub->kill_tasks && !s->daemon_ended) {
        s->killer = fork();
        if (s->killer == 0) {
            signal(SIGALRM, SIG_DFL);
            alarm(2);
            s->hub->kill_tasks(tids, n);
            _exit(0);
        }
    }
    g_free(tids);
}

/* Nobody waits for a task that has been silent for long: it cannot be reached, and ends by itself. */
static bool silent(const state *s, const client *c)
{
    return s->now - c->heard > silence_limit(s) / 2;
}

static bool all_closed(const state *s, bool but_silent)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        if (c->greeted && !c->closed && !(but_silent && (c->channel != DOME_WIRE_WATCH || silent(s, c))))
            return false;
    }
    return true;
}

static bool over(state *s)
{
    bool rank0 = s->hub->rank0_is_child ? s->rank0_ended : true;
    if (s->noticed && !s->told) {
        bool answered = true;
        for (guint i = 0; i < s->clients->len; i++) {
            const client *c = s->clients->pdata[i];
            if (s->ask_operation && c->greeted && !c->closed && c->channel == DOME_WIRE_WATCH && !c->answered && !silent(s, c))
                answered = false;
        }
        if (answered || s->now - s->noticed_at > 0.2)
            tell(s);
    }
    if (s->told) {
        if (rank0 && all_closed(s, false) && !s->killer)
            return true;
        if (!s->killed && s->now - s->told_at > 0.3)
            kill_rest(s);
        if (!s->killed)
            return false;
        /* The news of a kill on another host, or the lack of it. */
        double waited = s->now - s->killed_at;
        return waited > 2.5 || (waited > 0.3 && rank0 && all_closed(s, true) && !s->killer);
    }
    if (!s->hub->rank0_is_child) { /* rank 0 may live on in its own code after dome_finalize */
        bool any = false;
        for (guint i = 0; i < s->clients->len; i++) {
            const client *c = s->clients->pdata[i];
            any |= c->greeted && c->channel == DOME_WIRE_WATCH;
        }
        return any ? all_closed(s, false) : getppid() != s->hub->rank0;
    }
    /* A task may have work of its own after dome_finalize; its output line closes when its process ends. */
    return rank0 && (all_closed(s, false) || s->now - s->rank0_ended_at > s->hub->timeout);
}

/* Tasks that had not joined the program when their daemon was killed are nobody's but, by adoption, this process's. */
static void end_orphans(const char *directory)
{
    char *id = g_path_get_basename(directory), *machine = g_strdup_printf("PVM_VMID=%s", id);
    GDir *proc = g_dir_open("/proc", 0, NULL);
    const char *name;
    while (proc && (name = g_dir_read_name(proc))) {
        char *stat_path = g_build_filename("/proc", name, "stat", NULL), *stat = NULL;
        char *environ_path = g_build_filename("/proc", name, "environ", NULL), *environment = NULL;
        gsize length = 0;
        int parent = 0;
        char *after = g_ascii_isdigit(name[0]) && g_file_get_contents(stat_path, &stat, NULL, NULL) ? strrchr(stat, ')') : NULL;
        if (after && sscanf(after, ") %*c %d", &parent) == 1 && parent == getpid() &&
            g_file_get_contents(environ_path, &environment, &length, NULL)) {
            bool task = false, of_machine = false;
            for (const char *at = environment; at < environment + length; at += strlen(at) + 1) {
                task |= strcmp(at, "DOME_JOIN=1") == 0;
                of_machine |= strcmp(at, machine) == 0;
            }
            /* It may not have come to its own program yet. */
            char *exe_path = g_build_filename("/proc", name, "exe", NULL), *exe = g_file_read_link(exe_path, NULL);
            char *base = exe ? g_path_get_basename(exe) : g_strdup("");
            task |= g_str_has_prefix(base, "pvmd");
            if (task && of_machine) {
                kill(atoi(name), SIGKILL);
                waitpid(atoi(name), NULL, 0); /* it may still make files until it is gone */
            }
            g_free(base);
            g_free(exe);
            g_free(exe_path);
        }
        g_free(stat);
        g_free(environment);
        g_free(stat_path);
        g_free(environ_path);
    }
    if (proc)
        g_dir_close(proc);
    g_free(machine);
    g_free(id);
}

static int by_rank(const void *a, const void *b)
{
    const dome_report_task *const *x = a, *const *y = b;
    return ((*x)->rank > (*y)->rank) - ((*x)->rank < (*y)->rank);
}

static char *report_text(void *data)
{
    const state *s = data;
    dome_report *report = dome__report_new();
    char *directory = g_strdup_printf("/proc/%d/cwd", (int)s->hub->rank0);
    report->pid = (int)getpid();
    report->host = g_strdup(g_get_host_name());
    report->command = command_of(s->hub->rank0);
    report->directory = g_file_read_link(directory, NULL);
    report->trace = g_strdup(s->trace ? dome__trace_sink_path(s->trace) : "");
    report->machine = g_strdup(s->hub->directory ? "private" : "own");
    report->seconds = monotonic() - s->started;
    report->checkpoint = s->checkpoint;
    report->checkpoint_seconds = s->checkpoint >= 0 ? monotonic() - s->checkpoint_at : 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        if (!c->greeted || c->closed || c->channel != DOME_WIRE_WATCH)
            continue;
        dome_report_task *t = g_new0(dome_report_task, 1);
        t->rank = c->rank;
        t->pid = c->pid;
        t->host = g_strdup(c->host);
        t->operation = g_strdup(c->operation == DOME_OP_NONE ? "" : dome__operation_name(c->operation));
        t->object = g_strdup(c->operation == DOME_OP_NONE ? "" : c->object);
        t->waiting = c->waiting;
        t->sequence = c->sequence;
        t->busy = c->busy;
        t->load = c->beaten ? c->load : -1;
        t->silent = monotonic() - c->heard;
        g_ptr_array_add(report->tasks, t);
    }
    g_ptr_array_sort(report->tasks, by_rank);
    char *text = dome__report_text(report);
    dome__report_free(report);
    g_free(directory);
    return text;
}

/* What the process that may start the program again has to know. */
static void report_end(const state *s)
{
    uint64_t loop = 0, sequence = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const client *c = s->clients->pdata[i];
        loop = MAX(loop, c->loop);
        sequence = MAX(sequence, c->sequence);
    }
    GByteArray *frame = dome__wire_new(DOME_WIRE_REPORT);
    dome__wire_put_u32(frame, s->ending || !s->told ? DOME_END_OWN : s->end);
    dome__wire_put_string(frame, s->line ? s->line : "");
    dome__wire_put_string(frame, s->silent ? s->silent : "");
    dome__wire_put_u64(frame, sequence);
    dome__wire_put_u64(frame, loop);
    dome__wire_send(s->hub->report_fd, frame);
}

int dome__hub_run(dome_hub *hub, int *signal_number)
{
    state s = {.hub = hub, .clients = g_ptr_array_new(), .now = monotonic(), .checkpoint = -1};
    struct pollfd *p = NULL;
    *signal_number = 0;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(getpid(), SIGCHLD); /* the daemon may have ended before its signal was waited for */
    double period = CLAMP(hub->timeout / 10, 0.02, 1.0), beat = s.now;
    s.began = s.started = s.now;
    int report_fd = dome__door_listen(DOME_DOOR_REPORT);
    while (!over(&s)) {
        guint n = s.clients->len;
        p = g_renew(struct pollfd, p, n + 4);
        p[0] = (struct pollfd){.fd = hub->signal_fd, .events = POLLIN};
        p[1] = (struct pollfd){.fd = hub->listen_fd, .events = POLLIN};
        for (guint i = 0; i < n; i++) {
            const client *c = s.clients->pdata[i];
            p[2 + i] = (struct pollfd){.fd = c->closed ? -1 : c->fd, .events = POLLIN};
        }
        p[2 + n] = (struct pollfd){.fd = report_fd, .events = POLLIN};
        p[3 + n] = (struct pollfd){.fd = dome__demand_fd(s.demand), .events = POLLIN};
        bool hurry = s.noticed || s.told || s.rank0_ended;
        poll(p, n + 4, hurry ? 10 : (int)(period * 250) + 1);
        double before = s.now;
        s.now = monotonic();
        s.overslept |= s.now - before > silence_limit(&s);
        /* What tasks said last comes before the news that they are gone. */
        for (guint i = 0; i < n; i++)
            if (p[2 + i].revents)
                receive(&s, s.clients->pdata[i]);
        if (p[1].revents)
            accept_clients(&s);
        if (p[0].revents)
            handle_signals(&s);
        if (p[2 + n].revents)
            dome__report_answer(report_fd, report_text, &s);
        attend(&s);
        if (s.now - beat >= period) {
            beat = s.now;
            to_all_watches(&s, DOME_WIRE_BEAT);
        }
        if (!s.noticed && !s.told)
            silence(&s);
    }
    g_free(p);
    if (report_fd >= 0)
        close(report_fd);
    int status = s.told ? s.exit_status : 0;
    if (hub->rank0_is_child && s.rank0_ended) {
        if (WIFSIGNALED(s.rank0_status)) {
            if (!s.killed)
                *signal_number = WTERMSIG(s.rank0_status);
            status = status ? status : 128 + WTERMSIG(s.rank0_status);
        } else if (!s.told) {
            status = WEXITSTATUS(s.rank0_status);
        }
    }
    if (status)
        fputs(dome__progress_clear(STDERR_FILENO), stderr); /* a bar that is not going to end */
    if (hub->report_fd >= 0)
        report_end(&s);
    if (!s.daemon_ended)
        dome__hub_take_down(hub->daemon, NULL, hub->halt);
    if (hub->daemon > 0)
        end_orphans(hub->directory);
    dome__hub_take_down(0, hub->directory, NULL);
    for (guint i = 0; i < s.clients->len; i++) {
        client *c = s.clients->pdata[i];
        if (!c->closed)
            close(c->fd);
        if (c->greeted && c->channel != DOME_WIRE_WATCH)
            relay(c, true);
        g_byte_array_free(c->in, TRUE);
        g_free(c->host);
        g_free(c->object);
        g_free(c);
    }
    g_ptr_array_free(s.clients, TRUE);
    g_free(s.noticed);
    dome__trace_sink_close(s.trace, status);
    dome__demand_close(s.demand, status);
    g_free(s.line);
    g_free(s.silent);
    return status;
}

pid_t dome__hub_start_halt(void (*halt)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        signal(SIGALRM, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        alarm(1);
        int null = open("/dev/null", O_RDWR); /* what PVM's library says of a daemon that goes is no news */
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        halt();
        _exit(0);
    }
    return pid;
}

static bool ended_within(pid_t daemon, int milliseconds)
{
    for (int i = 0; i < milliseconds; i++) {
        if (waitpid(daemon, NULL, WNOHANG) != 0)
            return true;
        g_usleep(1000);
    }
    return false;
}

void dome__hub_take_down(pid_t daemon, const char *directory, void (*halt)(void))
{
    if (daemon > 0) {
        /* The handler of its signal does more than a handler may: now and then it stops for good in the middle of it. With no
         * other hosts nothing is lost by that; else their daemons would stay, and so they are ended by a message. */
        kill(daemon, SIGCONT); /* should somebody have stopped it */
        pid_t halting = halt ? dome__hub_start_halt(halt) : 0;
        bool ended = halting > 0 && ended_within(daemon, 1500);
        if (!ended) {
            kill(daemon, SIGTERM);
            ended = ended_within(daemon, 1000);
        }
        if (!ended) {
            kill(daemon, SIGKILL);
            waitpid(daemon, NULL, 0);
        }
        if (halting > 0) {
            kill(halting, SIGKILL);
            waitpid(halting, NULL, 0);
        }
    }
    if (directory)
        dome__remove_directory(directory);
}
