#include "watch/watch.h"

#include "core/call_log.h"
#include "machine/standby.h"
#include "system/say.h"
#include "system/thread.h"
#include "system/time.h"
#include "system/unconst.h"
#include "transport/transport.h"
#include "watch/hold.h"
#include "watch/last_signal.h"
#include "watch/stop.h"
#include "watch/watch_beats.h"
#include "watch/watch_line.h"
#include "watch/watch_place.h"
#include "watch/watch_trace.h"
#include "wire/call_log_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct dome_watch {
    dome_hub_address address;
    dome_watch_task task; /* its texts are the watch's */
    double timeout;
    watch_line line;
    watch_place place;
    watch_beats beats;
    watch_trace trace;
    dome_hold *hold; /* counts loop boundaries, and stops at one by order of the hub */
    dome_call_log *call_log;

    pthread_t thread;
    int wake[2]; /* a byte written to it ends the thread */
    bool running;
    bool paused;
    double left; /* when the thread saw that the task is leaving; 0: not yet */

    pid_t pid, parent;
    pid_t caller;     /* the task's own thread */
    bool deserted;    /* it has ended, and the hub knows */
    int first_stderr; /* the original standard error, if it is redirected to the hub; else -1 */
    bool own_output;
    bool quiet; /* does not report the loss of the hub */
    void (*go_back)(void *ctx, const dome_wire_back *back);
    void *go_back_ctx;
};

/* The only watch of the process, for exit and fork handlers. */
static dome_watch *the_watch;

/* The connection of a closed watch, kept open until the process ends: by nothing else can the hub see the end of a task on
 * another host, since a child of the task may hold its output open for longer. */
static int last_fd = -1;

static void leave_fork(void)
{
    if (the_watch)
        dome__watch_line_close(&the_watch->line);
    if (last_fd >= 0)
        close(last_fd);
    last_fd = -1;
}

/* Called from a signal handler. */
static void say_signal(int number)
{
    if (the_watch && the_watch->pid == getpid())
        dome__watch_send_signal(&the_watch->line, number);
}

static void send_message(dome_watch *watch, const dome_wire_message *message)
{
    dome__watch_send(&watch->line, message);
}

static void say_exiting(int status, void *unused)
{
    (void)unused;
    dome_watch *watch = the_watch;
    if (!watch || watch->pid != getpid() || !watch->running)
        return;
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_EXITING, .status = (uint32_t)status});
}

static dome_watch *watch_new(const dome_watch_request *request)
{
    dome_watch *watch = g_new0(dome_watch, 1);
    watch->address.cookie = g_strdup(request->address->cookie);
    watch->address.endpoints = g_strdupv(request->address->endpoints);
    watch->address.directory = g_strdup(request->address->directory);
    watch->task = request->task;
    watch->task.host = g_strdup(request->task.host);
    watch->task.launcher = g_strdup(request->task.launcher);
    watch->own_output = request->own_output;
    watch->timeout = request->timeout;
    watch->hold = dome__hold_new();
    watch->pid = getpid();
    watch->parent = getppid();
    watch->call_log = dome__call_log_new();
    watch->wake[0] = watch->wake[1] = watch->first_stderr = -1;
    dome__watch_line_init(&watch->line);
    dome__watch_beats_init(&watch->beats);
    return watch;
}

static void watch_free(dome_watch *watch)
{
    if (watch->first_stderr >= 0)
        close(watch->first_stderr);
    if (watch->wake[0] >= 0) {
        close(watch->wake[0]);
        close(watch->wake[1]);
    }
    dome__watch_trace_clear(&watch->trace);
    dome__watch_beats_clear(&watch->beats);
    dome__watch_line_clear(&watch->line);
    dome__hub_address_clear(&watch->address);
    dome__call_log_free(watch->call_log);
    dome__hold_free(watch->hold);
    g_free(dome__unconst(watch->task.host));
    g_free(dome__unconst(watch->task.launcher));
    g_free(watch);
}

static void drop_stdout(void)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        close(null);
    }
}

/* Leads this task's streams to the hub, which prefixes their lines with the rank. */
static bool redirect(dome_watch *watch, const dome_wire_hello *hello, dome_output output)
{
    if (watch->task.view == 0) /* else it leads to the hub already */
        watch->first_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    bool good = dome__watch_redirect(&watch->address, hello, DOME_WIRE_STDERR, STDERR_FILENO);
    if (good && output == DOME_OUTPUT_ALL)
        good = dome__watch_redirect(&watch->address, hello, DOME_WIRE_STDOUT, STDOUT_FILENO);
    else if (good)
        drop_stdout();
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stderr, NULL, _IOLBF, 0);
    return good;
}

/* Why there is no watch: the hub cannot be reached, or it can and there is no pipe. */
static char *failure(const dome_watch *watch, bool reached, int error)
{
    const dome_watch_task *task = &watch->task;
    if (reached)
        return g_strdup_printf("task %d on host %s has no pipe for the thread that watches over it: %s", task->rank, task->host,
                               g_strerror(error));
    char *all = g_strjoinv(" and ", watch->address.endpoints);
    char *text = g_strdup_printf("task %d on host %s cannot reach the process that watches over the program at %s: is a firewall "
                                 "in the way?",
                                 task->rank, task->host, all);
    g_free(all);
    return text;
}

dome_watch *dome__watch_open(const dome_watch_request *request, char **message)
{
    dome_watch *watch = watch_new(request);
    const dome_watch_task *task = &watch->task;
    const dome_wire_hello hello = {(uint32_t)task->rank, (uint32_t)watch->pid, (uint32_t)task->id,
                                   watch->task.host,     task->view,           (uint32_t)watch->parent};
    bool good = dome__watch_line_open(&watch->line, &watch->address, &hello);
    if (good && !watch->own_output)
        good = redirect(watch, &hello, request->output);
    if (good && pipe2(watch->wake, O_CLOEXEC) == 0)
        return watch;
    *message = failure(watch, good, errno);
    dome__watch_line_close(&watch->line);
    watch_free(watch);
    return NULL;
}

/* Flushes stdout, so that buffered output is not lost; gives up if the main thread keeps its lock. */
static void flush_output(void)
{
    for (int i = 0; i < 50; i++) {
        if (ftrylockfile(stdout) == 0) {
            fflush(stdout);
            funlockfile(stdout);
            return;
        }
        g_usleep(1000);
    }
}

static void end_now(int status)
{
    flush_output();
    _exit(status);
}

/* The object's name; NULL: none; g_free'd. */
static char *object_of(const dome_watch *watch, const watch_position *at)
{
    return at->object ? dome__names_find(watch->call_log->names, at->object) : NULL;
}

static const char *operation_of(const watch_position *at, const char *otherwise)
{
    return at->operation == DOME_OP_NONE ? otherwise : dome__operation_name(at->operation);
}

static GByteArray *beat_frame(dome_watch *watch)
{
    const watch_position at = dome__watch_place_read(&watch->place);
    char *object = object_of(watch, &at);
    dome_wire_message message = {.kind = DOME_WIRE_BEAT};
    message.beat = (dome_wire_beat){.rank = (uint32_t)watch->task.rank,
                                    .sequence = at.sequence,
                                    .history = at.history,
                                    .operation = operation_of(&at, ""),
                                    .object = object,
                                    .loop = dome__hold_passed(watch->hold),
                                    .bare = watch->call_log->objects > 0 && watch->call_log->named == 0};
    dome__watch_beats_measure(&watch->beats, &watch->line, &message.beat);
    GByteArray *frame = dome__wire_frame(&message);
    g_free(object);
    return frame;
}

static void send_beat(dome_watch *watch)
{
    GByteArray *frame = beat_frame(watch);
    dome__watch_send_frame(&watch->line, frame);
    g_byte_array_unref(frame);
}

/* Sends a beat; on a host of many tasks by the first of them, which passes on those of all. */
static void beat_by_board(dome_watch *watch, double period)
{
    GByteArray *frame = beat_frame(watch);
    if (!dome__watch_beats_by_board(&watch->beats, frame, period))
        dome__watch_send_frame(&watch->line, frame);
    g_byte_array_unref(frame);
}

uint32_t dome__watch_wanted(const dome_watch *watch)
{
    return (uint32_t)atomic_load_explicit(&watch->trace.wanted, memory_order_relaxed);
}

bool dome__watch_record(dome_watch *watch, dome_trace *trace)
{
    return dome__watch_trace_offer(&watch->trace, trace);
}

void dome__watch_trace(dome_watch *watch, dome_trace *trace, const char *path, const char *command, bool append)
{
    dome__watch_trace_begin(&watch->trace, trace);
    if (path)
        send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_TRACE_OPEN, .trace_open = {path, command, append}});
}

/* Sends all records that there are. */
static void end_trace(dome_watch *watch)
{
    dome__watch_trace_take(&watch->trace, &watch->line, &watch->beats, true);
}

/* The texts are not freed: the process is about to end. */
static void say_lost(dome_watch *watch, const char *how)
{
    const watch_position at = dome__watch_place_read(&watch->place);
    const char *object = at.operation != DOME_OP_NONE ? object_of(watch, &at) : NULL;
    char *text = g_strdup_printf("the process that watched over the program %s; ending task 0 on host %s, in %s%s%s%s", how,
                                 watch->task.host, operation_of(&at, "the program's own code"), object ? " of '" : "",
                                 object ? object : "", object ? "'" : "");
    dome__say_at_once("%s", text);
}

/* Ends this task because the hub is gone or silent: no other process will end it. */
static void hub_lost(dome_watch *watch, const char *how)
{
    if (watch->task.rank == 0 && !watch->quiet)
        say_lost(watch, how);
    flush_output();
    /* On the hub's host the guard takes a private virtual machine down, and this task with it; on another host only the task
     * itself can end its daemon. */
    const char *directory = watch->address.directory;
    if (directory[0] && watch->task.rank != 0) {
        for (int i = 0; i < 100 && access(directory, F_OK) == 0; i++)
            g_usleep(10000);
        if (watch->parent > 1 && getppid() == watch->parent)
            kill(watch->parent, SIGTERM);
    }
    _exit(1);
}

/* Sends this task's last operations, for the hub to compare with those of other tasks. */
static void send_call_log(dome_watch *watch)
{
    GArray *calls = dome__call_log_frame(watch->call_log, dome__watch_place_read(&watch->place).sequence);
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_CALL_LOG, .calls = calls});
    g_array_unref(calls);
}

/* Answers a question of the hub about messages. */
static void answer_inquiry(dome_watch *watch, const dome_wire_message *question)
{
    GArray *numbers = dome__watch_beats_inquiry(&watch->beats, question);
    send_message(watch, &(dome_wire_message){.kind = question->kind, .numbers = {question->numbers.inquiry, numbers}});
    g_clear_pointer(&numbers, g_array_unref);
}

static void send_fail(dome_watch *watch, dome_end end, int exit_status, const char *line, bool disagree)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_FAIL, .fail = {(uint32_t)exit_status, line, end, disagree}});
}

/* Ends this task, which is lost like one whose connection is; the hub can still be told why. */
static void end_altered(dome_watch *watch)
{
    char *line = g_strdup_printf("task %d on host %s is lost: a message of the process that watches over the program was altered "
                                 "on the way",
                                 watch->task.rank, watch->task.host);
    send_fail(watch, DOME_END_LOSS, 1, line, false);
    g_free(line);
    dome__watch_flush(&watch->line);
    end_now(1);
}

static void take_end(dome_watch *watch, const dome_wire_end *end)
{
    int status = (int)end->status;
    end_trace(watch);
    if (end->text[0] && watch->first_stderr >= 0 && write(watch->first_stderr, end->text, strlen(end->text)) < 0)
        status = 1;
    end_now(status);
}

/* Answers how many loop boundaries this task has passed; it holds at the next one. */
static void take_hold(dome_watch *watch, uint64_t order)
{
    const uint64_t passed = dome__hold_order(watch->hold, order);
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_HOLD, .hold = {.order = order, .loop = passed}});
}

/* Output that is not written yet is lost, as it is in a task that is killed: the program comes to it again. */
static void take_back(dome_watch *watch, const dome_wire_back *back)
{
    if (!watch->go_back || back->number <= watch->task.view)
        return;
    end_trace(watch);
    watch->go_back(watch->go_back_ctx, back);
}

/* The hub hears that the task has stopped when it has. */
static void take_stop(dome_watch *watch)
{
    GByteArray *said = dome__watch_lend(&watch->line, &(dome_wire_message){.kind = DOME_WIRE_STOP});
    dome__stop_until(watch->line.fd, said->data, said->len);
    dome__watch_lent(&watch->line);
    g_byte_array_unref(said);
}

static void take_message(dome_watch *watch, const dome_wire_message *message)
{
    switch (message->kind) {
    case DOME_WIRE_QUERY:
        dome__transport_stop();
        dome__watch_beats_query(&watch->beats);
        send_beat(watch);
        break;
    case DOME_WIRE_END:
        take_end(watch, &message->end);
        break;
    case DOME_WIRE_CALL_LOG:
        send_call_log(watch);
        break;
    case DOME_WIRE_WAITS:
    case DOME_WIRE_GIVEN:
        answer_inquiry(watch, message);
        break;
    case DOME_WIRE_CLOCK:
        dome__watch_trace_clock(&watch->trace, &watch->line, &message->clock);
        break;
    case DOME_WIRE_HOLD:
        take_hold(watch, message->hold.order);
        break;
    case DOME_WIRE_TARGET:
        dome__hold_target(watch->hold, message->hold.order, message->hold.loop, message->hold.plan);
        break;
    case DOME_WIRE_BACK:
        take_back(watch, &message->back);
        break;
    case DOME_WIRE_MEMBERS:
        dome__hold_members(watch->hold, message->members);
        break;
    case DOME_WIRE_STANDBY:
        dome__hold_standby(watch->hold, message->standby.text);
        break;
    case DOME_WIRE_SHOWN:
        dome__hold_shown(watch->hold, message->shown.loop);
        break;
    case DOME_WIRE_STANDS:
        dome__hold_stands(watch->hold);
        break;
    case DOME_WIRE_RECORD:
        dome__watch_trace_want(&watch->trace, message->recording);
        break;
    case DOME_WIRE_PAUSE:
        watch->paused = true;
        break;
    case DOME_WIRE_RESUME:
        watch->paused = false;
        break;
    default:
        break;
    }
}

/* Reads data from the hub. Returns false if there was none. */
static bool receive(dome_watch *watch)
{
    bool gone;
    const bool some = dome__watch_receive(&watch->line, &gone);
    if (gone)
        hub_lost(watch, "is gone");
    return some;
}

/* An order to stop holds until the next message, which may have come with it. */
static void take_messages(dome_watch *watch)
{
    dome_wire_message message;
    bool stops = false;
    int have;
    while ((have = dome__watch_next(&watch->line, &message)) > 0) {
        if (stops)
            send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_STOP});
        stops = message.kind == DOME_WIRE_STOP;
        if (!stops)
            take_message(watch, &message);
        dome__wire_clear(&message);
    }
    if (have == DOME_WIRE_ALTERED)
        end_altered(watch);
    if (have < 0)
        hub_lost(watch, "has sent an invalid message");
    if (stops)
        take_stop(watch);
}

/* Reports a dome_finalize that hangs: leaving the message passing system blocks if the daemon does not answer. */
static void look_for_end(dome_watch *watch, double t, double limit)
{
    if (!dome__watch_beats_leaving(&watch->beats))
        return;
    if (!watch->left)
        watch->left = t;
    if (t - watch->left > limit && !watch->paused) {
        char *line = g_strdup_printf("dome_finalize: the %s daemon of this host does not answer (task %d on host %s)",
                                     watch->task.launcher, watch->task.rank, watch->task.host);
        send_fail(watch, DOME_END_LOSS, 1, line, false);
        g_free(line);
        watch->left = G_MAXDOUBLE; /* report once; the hub's answer ends this process */
    }
}

/* Whether the task's own thread has ended while the process goes on. The first thread of a process stays there as a zombie. */
static bool is_deserted(const dome_watch *watch)
{
    char path[64], text[512];
    if (watch->caller != watch->pid)
        return syscall(SYS_tgkill, watch->pid, watch->caller, 0) < 0 && errno == ESRCH;
    g_snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)watch->caller);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[MAX(n, 0)] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && (strncmp(name_end, ") Z", 3) == 0 || strncmp(name_end, ") X", 3) == 0);
}

/* Without its own thread (pthread_exit) the task would wait for ever, and all others for it. */
static void look_for_caller(dome_watch *watch)
{
    if (watch->deserted || !is_deserted(watch))
        return;
    char *line = g_strdup_printf("the thread that called dome_init has ended (pthread_exit) without dome_finalize (task %d on "
                                 "host %s)",
                                 watch->task.rank, watch->task.host);
    send_fail(watch, DOME_END_OWN, 2, line, false);
    g_free(line);
    watch->deserted = true; /* the hub's answer ends this process */
}

/* Waits for the hub, at most so many seconds. Returns whether the thread is to end; *readable: there is something to read. */
static bool wait_for_hub(dome_watch *watch, double seconds, bool *readable)
{
    struct pollfd p[2] = {{.fd = watch->line.fd, .events = POLLIN}, {.fd = watch->wake[0], .events = POLLIN}};
    const int ready = poll(p, 2, MAX((int)(seconds * 1000), 1));
    if (ready < 0 && errno != EINTR)
        hub_lost(watch, "cannot be waited for");
    *readable = p[0].revents != 0;
    return p[1].revents != 0;
}

static void *watch_main(void *argument)
{
    dome_watch *watch = argument;
    double period = CLAMP(watch->timeout / 10, 0.02, 1.0);
    double limit = MAX(watch->timeout - period - 0.5, watch->timeout / 2);
    double beat = 0;
    dome_awake awake = dome__awake_from(dome__now());
    double heard = awake.now;
    take_messages(watch); /* those that came with the greeting */
    for (;;) {
        double t = dome__now();
        bool readable;
        if (t - beat >= period) {
            beat_by_board(watch, period);
            look_for_caller(watch);
            beat = t;
        }
        if (wait_for_hub(watch, dome__watch_trace_turn(&watch->trace, &watch->line, &watch->beats, t, beat + period - t),
                         &readable))
            break;
        t = dome__awake_read(&awake, dome__now(), 2 * period);
        if (dome__watch_beats_heard(&watch->beats, readable && receive(watch)))
            heard = t;
        take_messages(watch);
        if (t - heard > limit && !watch->paused)
            hub_lost(watch, "does not answer");
        look_for_end(watch, t, limit);
    }
    return NULL;
}

void dome__watch_stand(dome_watch *watch, const dome_transport *transport)
{
    dome__watch_beats_transport(&watch->beats, transport);
}

void dome__watch_beat(dome_watch *watch)
{
    send_beat(watch);
}

void dome__watch_checkpoint(dome_watch *watch, uint64_t number)
{
    dome__watch_beats_checkpoint(&watch->beats, number);
}

bool dome__watch_peer(const dome_watch *watch, void *address)
{
    return dome__watch_line_peer(&watch->line, address);
}

void dome__watch_leave(dome_watch *watch)
{
    dome__watch_beats_transport(&watch->beats, NULL);
}

bool dome__watch_start(dome_watch *watch)
{
    static bool registered;
    the_watch = watch;
    if (!registered) {
        pthread_atfork(NULL, NULL, leave_fork);
        on_exit(say_exiting, NULL);
        registered = true;
    }
    dome__last_signal_catch(say_signal, watch->task.rank != 0); /* for rank 0 only faults: it is the hub's child, or its parent */
    watch->caller = (pid_t)syscall(SYS_gettid);
    const int error = dome__thread_start(&watch->thread, watch_main, watch);
    watch->running = error == 0;
    errno = error;
    return watch->running;
}

void dome__watch_note(dome_watch *watch, uint64_t sequence, uint64_t history, uint32_t operation, uint64_t object)
{
    dome__watch_place_set(&watch->place,
                          &(watch_position){.sequence = sequence, .history = history, .operation = operation, .object = object});
}

char *dome__watch_loop(dome_watch *watch, uint64_t *order)
{
    return dome__hold_pass(watch->hold, order);
}

uint64_t dome__watch_passed(const dome_watch *watch)
{
    return dome__hold_passed(watch->hold);
}

void dome__watch_meet(dome_watch *watch)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_MEET});
}

void dome__watch_postpone(dome_watch *watch, uint64_t order)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_POSTPONE, .postponed = order});
}

void dome__watch_done(dome_watch *watch)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_DONE});
}

void dome__watch_refuse(dome_watch *watch, uint64_t order, const char *why)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_REFUSE, .refuse = {order, why}});
}

void dome__watch_change(dome_watch *watch, uint32_t number, const char *plan)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_CHANGE, .change = {number, plan}});
}

void dome__watch_stands(dome_watch *watch, const dome_wire_view *view)
{
    dome_wire_message message = {.kind = DOME_WIRE_STANDS, .view = *view};
    message.view.number = watch->task.view;
    send_message(watch, &message);
}

void dome__watch_times(dome_watch *watch, const dome_wire_times *times)
{
    dome_wire_message message = {.kind = DOME_WIRE_TIMES, .times = *times};
    message.times.number = watch->task.view;
    send_message(watch, &message);
}

void dome__watch_on_back(dome_watch *watch, void (*go)(void *ctx, const dome_wire_back *back), void *ctx)
{
    watch->go_back = go;
    watch->go_back_ctx = ctx;
}

/* Seconds for the hub's answer. It has limits of its own, and answers; if it is gone, this process ends. */
static const double ANSWER_WITHIN = 3600;

char *dome__watch_standby(dome_watch *watch, int descriptor, const char *hosts, int *ids, int n)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_STANDBY, .standby = {(uint32_t)descriptor, hosts}});
    char *line = dome__hold_wait_standby(watch->hold, ANSWER_WITHIN), *why = dome__standby_read(line ? line : "", ids, n);
    g_free(line);
    return why;
}

uint64_t dome__watch_shown(dome_watch *watch, dome_wire_shown_what what, uint64_t loop)
{
    uint64_t answer = 0;
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_SHOWN, .shown = {what, loop}});
    dome__hold_wait_shown(watch->hold, ANSWER_WITHIN, &answer);
    return answer;
}

bool dome__watch_await_stands(dome_watch *watch, double seconds)
{
    return dome__hold_wait_stands(watch->hold, seconds);
}

bool dome__watch_members(dome_watch *watch, int *ids, int n, double seconds)
{
    return dome__hold_wait_members(watch->hold, ids, n, seconds);
}

void dome__watch_quiet(dome_watch *watch)
{
    watch->quiet = true;
}

dome_call_log *dome__watch_call_log(const dome_watch *watch)
{
    return watch->call_log;
}

static void fail(dome_watch *watch, dome_end end, int exit_status, const char *line, bool disagree) __attribute__((noreturn));

static void fail(dome_watch *watch, dome_end end, int exit_status, const char *line, bool disagree)
{
    if (watch->line.fd < 0 || watch->pid != getpid()) {
        dome__say("%s", line); /* in a child process of the task */
    } else {
        send_fail(watch, end, exit_status, line, disagree);
        flush_output();
        /* The hub prints the first such line of all tasks and answers with END, which ends this process from the watcher thread;
         * if the hub is gone, that thread cleans up and ends it. Without a thread or an answer this function ends the process. A
         * task that carries the program's state from a view into the next one may be told to take it back, when the hub has
         * found out which hosts are there. */
        const int turns = watch->task.view > 0 && end != DOME_END_OWN ? 3000 : 300;
        for (int i = 0; watch->running && i < turns; i++)
            g_usleep(10000);
    }
    _exit(exit_status);
}

void dome__watch_fail(dome_watch *watch, dome_end end, int exit_status, const char *line)
{
    fail(watch, end, exit_status, line, false);
}

void dome__watch_disagree(dome_watch *watch, int exit_status, const char *line)
{
    fail(watch, DOME_END_OWN, exit_status, line, true);
}

void dome__watch_stop(dome_watch *watch)
{
    if (watch->running) {
        ssize_t ignored = write(watch->wake[1], "", 1);
        (void)ignored;
        pthread_join(watch->thread, NULL);
        watch->running = false;
        dome__transport_resume(); /* the hub's answer to a loss cannot end this process any more */
    }
    if (watch->line.fd >= 0) {
        end_trace(watch);
        dome__watch_flush(&watch->line);
    }
}

static void release(dome_watch *watch)
{
    if (the_watch == watch) {
        dome__last_signal_leave();
        the_watch = NULL;
    }
    watch_free(watch);
}

void dome__watch_go_over(dome_watch *watch)
{
    dome__watch_stop(watch);
    dome__watch_line_close(&watch->line);
    release(watch);
}

void dome__watch_close(dome_watch *watch)
{
    if (!watch)
        return;
    dome__watch_stop(watch);
    if (watch->line.fd >= 0) {
        send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_BYE});
        dome__watch_flush(&watch->line);
        if (watch->own_output)
            dome__watch_line_close(&watch->line);
        else
            last_fd = watch->line.fd;
    }
    release(watch);
}
