#include "watch/watch.h"

#include "core/trail.h"
#include "machine/parker.h"
#include "system/deadline.h"
#include "system/say.h"
#include "system/sockets.h"
#include "system/thread.h"
#include "system/time.h"
#include "trace/record.h"
#include "transport/board.h"
#include "transport/handshake.h"
#include "transport/transport.h"
#include "watch/hold.h"
#include "watch/last_signal.h"
#include "watch/moved.h"
#include "wire/inquiry.h"
#include "wire/trail_frame.h"
#include "wire/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct dome_watch {
    dome_hub_address address;
    int fd;      /* to the hub; -1 in a fork of the task */
    int wake[2]; /* a byte written to it ends the thread */
    pthread_t thread;
    bool running;
    pid_t pid;
    pthread_mutex_t send; /* protects sending, and macs.out */
    dome_macs macs;
    pid_t parent;
    int first_stderr; /* the original standard error, if it is redirected to the hub; else -1 */
    bool own_output;
    int rank, tid;
    uint32_t view;
    char *host;
    double timeout;
    GByteArray *in;
    bool paused;
    pid_t caller;             /* the task's own thread */
    bool deserted;            /* it has ended, and the hub knows */
    double left;              /* when the thread saw that the task is leaving; 0: not yet */
    double busy_at, busy_cpu; /* time of the last beat, and processor time used until then */
    uint64_t checkpoint;      /* number of the last one + 1; 0: none */
    uint32_t queries;         /* number received from the hub */
    bool quiet;               /* does not report the loss of the hub */
    void (*go_back)(void *ctx, const dome_wire_back *back);
    void *go_back_ctx;
    dome_hold *hold;       /* counts loop boundaries, and stops at one by order of the hub */
    GArray *taken;         /* of the first task of a host: how many beats of each place it has passed on; uint32_t */
    uint64_t heard_there;  /* when the first task of this host had last heard of the hub */
    pthread_mutex_t state; /* protects the next two, and the data for beats */
    const dome_transport *transport;
    bool leaving;               /* dome__watch_leave was called */
    dome_trace *trace;          /* the trace that the thread sends to the hub; NULL: none */
    _Atomic(dome_trace *) next; /* the trace to send next; NULL: no change */
    atomic_uint_fast32_t wanted;

    /* Set by dome__watch_note and read by the thread: `turn` is odd while they are being written. */
    atomic_uint_fast64_t turn;
    uint64_t sequence, history, object;
    uint32_t operation;
    dome_trail *trail;
};

/* The only watch of the process, for exit and fork handlers. */
static dome_watch *the_watch;

/* The connection of a closed watch, kept open until the process ends: by nothing else can the hub see the end of a task on
 * another host, since a child of the task may hold its output open for longer. */
static int last_fd = -1;

/* Reads one message, waiting at most `seconds`. */
static bool read_message(int fd, dome_mac *mac, GByteArray *in, dome_wire_message *message, double seconds)
{
    const dome_deadline until = dome__deadline_in(seconds);
    for (;;) {
        int have = dome__wire_next(in, mac, message);
        if (have)
            return have > 0;
        guint8 buffer[4096];
        ssize_t n = dome__deadline_read(fd, buffer, sizeof buffer, until);
        if (n <= 0)
            return false;
        g_byte_array_append(in, buffer, (guint)n);
    }
}

static bool greet(const dome_watch *watch, int fd, dome_macs *macs, GByteArray *in)
{
    const dome_wire_message hello = {.kind = DOME_WIRE_HELLO,
                                     .hello = {(uint32_t)watch->rank, (uint32_t)getpid(), (uint32_t)watch->tid, watch->host,
                                               watch->view, (uint32_t)watch->parent}};
    dome_wire_message answer;
    if (!dome__wire_send(fd, &macs->out, &hello) || !read_message(fd, &macs->in, in, &answer, DOME_HANDSHAKE_PATIENCE))
        return false;
    bool good = answer.kind == DOME_WIRE_WELCOME;
    dome__wire_clear(&answer);
    return good;
}

/* Seconds during which connecting is retried: under a flood of other connections the hub may close a task's. */
static const double JOIN_AGAIN = 3;

/* Opens a connection to the hub and exchanges greetings; -1 on failure. */
static int join(const dome_watch *watch, dome_wire_channel channel, dome_macs *macs, GByteArray *in)
{
    double began = dome__now();
    do {
        for (char **endpoint = watch->address.endpoints; *endpoint; endpoint++) {
            int fd = dome__hub_connect(&watch->address, *endpoint, channel, DOME_HANDSHAKE_PATIENCE, macs);
            if (fd < 0)
                continue;
            if (greet(watch, fd, macs, in))
                return fd;
            close(fd);
            g_byte_array_set_size(in, 0);
        }
        g_usleep(50000);
    } while (dome__now() - began < JOIN_AGAIN);
    return -1;
}

/* Redirects a stream of this task to the hub by a separate connection; the hub prefixes its lines with the rank. */
static bool redirect(const dome_watch *watch, dome_wire_channel channel, int to)
{
    GByteArray *in = g_byte_array_new();
    dome_macs macs; /* what follows the greeting is the program's output, which has none */
    int fd = join(watch, channel, &macs, in);
    g_byte_array_free(in, TRUE);
    if (fd < 0)
        return false;
    struct timeval none = {0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    const bool done = dup2(fd, to) >= 0;
    close(fd);
    return done;
}

static void leave_fork(void)
{
    if (the_watch) {
        close(the_watch->fd);
        the_watch->fd = -1;
    }
    if (last_fd >= 0)
        close(last_fd);
    last_fd = -1;
}

/* Called from a signal handler. Another thread may be sending: waits up to 50 ms for it (the interrupted thread itself cannot
 * finish). */
static void say_signal(int number)
{
    dome_watch *watch = the_watch;
    if (!watch || watch->fd < 0 || watch->pid != getpid())
        return;
    uint8_t frame[DOME_WIRE_SIGNAL_BYTES];
    for (int i = 0; i < 50; i++) {
        if (pthread_mutex_trylock(&watch->send) == 0) {
            dome__wire_signal_frame(frame, &watch->macs.out, number);
            ssize_t ignored = send(watch->fd, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
            (void)ignored;
            return; /* keep the lock: this is the last message */
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void send_frame(dome_watch *watch, const GByteArray *frame)
{
    pthread_mutex_lock(&watch->send);
    dome__wire_send_frames(watch->fd, &watch->macs.out, frame);
    pthread_mutex_unlock(&watch->send);
}

static void send_message(dome_watch *watch, const dome_wire_message *message)
{
    GByteArray *frame = dome__wire_frame(message);
    send_frame(watch, frame);
    g_byte_array_unref(frame);
}

/* Waits until the system has sent what was written. A process that closes its connection with messages of the hub unread resets
 * it, and what the system has held back until then, as it does after many short messages, would never be sent. */
static void flush_messages(const dome_watch *watch)
{
    int left = 0;
    for (int i = 0; i < 200 && ioctl(watch->fd, SIOCOUTQNSD, &left) == 0 && left > 0; i++)
        g_usleep(10000);
}

static void say_exiting(int status, void *unused)
{
    (void)unused;
    dome_watch *watch = the_watch;
    if (!watch || watch->pid != getpid() || !watch->running)
        return;
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_EXITING, .status = (uint32_t)status});
}

dome_watch *dome__watch_open(const dome_hub_address *address, int rank, uint32_t view, const char *host, int tid, bool own_output,
                             double timeout, dome_output output, char **message)
{
    dome_watch *watch = g_new0(dome_watch, 1);
    watch->address.cookie = g_strdup(address->cookie);
    watch->address.endpoints = g_strdupv(address->endpoints);
    watch->address.directory = g_strdup(address->directory);
    watch->rank = rank;
    watch->view = view;
    watch->hold = dome__hold_new();
    watch->host = g_strdup(host);
    watch->tid = tid;
    watch->own_output = own_output;
    watch->timeout = timeout;
    watch->pid = getpid();
    watch->parent = getppid();
    watch->in = g_byte_array_new();
    watch->trail = dome__trail_new();
    watch->wake[0] = watch->wake[1] = watch->first_stderr = -1;
    pthread_mutex_init(&watch->send, NULL);
    pthread_mutex_init(&watch->state, NULL);
    watch->fd = join(watch, DOME_WIRE_WATCH, &watch->macs, watch->in);
    bool good = watch->fd >= 0;
    if (good && !own_output) {
        if (view == 0) /* else it leads to the hub already */
            watch->first_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
        good = redirect(watch, DOME_WIRE_STDERR, STDERR_FILENO);
        if (good && output == DOME_OUTPUT_ALL) {
            good = redirect(watch, DOME_WIRE_STDOUT, STDOUT_FILENO);
        } else if (good) {
            int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
            if (null >= 0) {
                dup2(null, STDOUT_FILENO);
                close(null);
            }
        }
        setvbuf(stdout, NULL, _IOLBF, 0);
        setvbuf(stderr, NULL, _IOLBF, 0);
    }
    const bool wakes = good && pipe2(watch->wake, O_CLOEXEC) == 0;
    if (!wakes) {
        const int error = errno;
        char *all = g_strjoinv(" and ", watch->address.endpoints);
        *message = good ? g_strdup_printf("task %d on host %s has no pipe for the thread that watches over it: %s", rank, host,
                                          g_strerror(error))
                        : g_strdup_printf("task %d on host %s cannot reach the process that watches over the program at %s: is a "
                                          "firewall in the way?",
                                          rank, host, all);
        g_free(all);
        if (watch->fd >= 0)
            close(watch->fd);
        watch->fd = -1;
        dome__watch_close(watch);
        return NULL;
    }
    return watch;
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

typedef struct place {
    uint64_t sequence, history, object;
    uint32_t operation;
} place;

static place read_place(dome_watch *watch)
{
    place p;
    uint64_t turn;
    do {
        turn = atomic_load_explicit(&watch->turn, memory_order_acquire);
        p.sequence = __atomic_load_n(&watch->sequence, __ATOMIC_RELAXED);
        p.history = __atomic_load_n(&watch->history, __ATOMIC_RELAXED);
        p.operation = __atomic_load_n(&watch->operation, __ATOMIC_RELAXED);
        p.object = __atomic_load_n(&watch->object, __ATOMIC_RELAXED);
        atomic_thread_fence(memory_order_acquire);
    } while ((turn & 1) || turn != atomic_load_explicit(&watch->turn, memory_order_relaxed));
    return p;
}

/* Processors used by this process since the previous call, in thousandths. */
static uint32_t busy_lately(dome_watch *watch)
{
    struct timespec used;
    double t = dome__now(),
           cpu = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + 1e-9 * (double)used.tv_nsec : 0;
    double share = t > watch->busy_at ? (cpu - watch->busy_cpu) / (t - watch->busy_at) : 0;
    watch->busy_at = t;
    watch->busy_cpu = cpu;
    return (uint32_t)(CLAMP(share, 0, 1e6) * 1000);
}

/* Bytes transferred: a partly received message is progress, too. */
static uint64_t moved(const dome_watch *watch)
{
    struct sockaddr_in hub;
    return dome__watch_peer(watch, &hub) ? dome__bytes_moved(&hub) : 0;
}

/* *object: the text of beat->object, g_free'd by the caller. */
static void make_beat(dome_watch *watch, dome_wire_beat *beat, char **object)
{
    place p = read_place(watch);
    *beat = (dome_wire_beat){.rank = (uint32_t)watch->rank};
    beat->sequence = p.sequence;
    beat->history = p.history;
    beat->operation = p.operation == DOME_OP_NONE ? "" : dome__operation_name(p.operation);
    pthread_mutex_lock(&watch->state);
    const dome_transport *transport = watch->transport;
    beat->waiting = transport && __atomic_load_n(&transport->account.waiting, __ATOMIC_RELAXED) != 0;
    beat->awaited = transport ? __atomic_load_n(&transport->account.awaited, __ATOMIC_RELAXED) : 0;
    beat->progress = transport ? __atomic_load_n(&transport->account.progress, __ATOMIC_RELAXED) : 0;
    if (beat->waiting)
        beat->progress += moved(watch);
    beat->waited = transport ? __atomic_load_n(&transport->account.wait_ns, __ATOMIC_RELAXED) : 0;
    beat->queries = watch->queries;
    beat->busy = busy_lately(watch);
    pthread_mutex_unlock(&watch->state);
    *object = p.object ? dome__names_find(watch->trail->names, p.object) : NULL;
    beat->object = *object;
    double average;
    beat->load = getloadavg(&average, 1) == 1 ? (uint32_t)(average * 100) : UINT32_MAX;
    beat->checkpoint = __atomic_load_n(&watch->checkpoint, __ATOMIC_RELAXED);
    beat->loop = dome__hold_passed(watch->hold);
    beat->bare = watch->trail->objects > 0 && watch->trail->named == 0;
}

static void send_beat(dome_watch *watch)
{
    dome_wire_message message = {.kind = DOME_WIRE_BEAT};
    char *object;
    make_beat(watch, &message.beat, &object);
    send_message(watch, &message);
    g_free(object);
}

/* ---- the board of a host ---- */

/* Appends the beats that other tasks have put there since the last call, as they are sent. */
static void append_board(dome_watch *watch, const dome_board *board, int tasks, GByteArray *beats)
{
    if (!watch->taken)
        watch->taken = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    g_array_set_size(watch->taken, (guint)tasks);
    for (int i = 1; i < tasks; i++) {
        uint8_t beat[DOME_BOARD_MOST];
        const size_t length = dome__board_take(board, i, &g_array_index(watch->taken, uint32_t, i), beat);
        g_byte_array_append(beats, beat, (guint)length);
    }
}

/* Seconds, in periods, after which another task no longer relies on the first one of its host to tell the hub of it. */
static const double RELIES = 2.5;

/* Sends a beat; on a host of many tasks by the first of them, which passes on those of all. */
static void beat_by_board(dome_watch *watch, double period)
{
    dome_wire_message message = {.kind = DOME_WIRE_BEAT};
    char *object;
    make_beat(watch, &message.beat, &object);
    GByteArray *frame = dome__wire_frame(&message);
    g_free(object);
    bool told = false;
    pthread_mutex_lock(&watch->state);
    const dome_transport *t = watch->transport;
    dome_board *board = t ? __atomic_load_n(&t->account.board, __ATOMIC_ACQUIRE) : NULL;
    if (board && t->account.board_place == 0) {
        append_board(watch, board, t->account.board_tasks, frame);
        __atomic_store_n(&board->told, dome__now_ns(), __ATOMIC_RELAXED);
    } else if (board && dome__board_put(board, t->account.board_place, frame->data, frame->len)) {
        const uint64_t last = __atomic_load_n(&board->told, __ATOMIC_RELAXED);
        told = last && (double)dome__since_ns(last) * 1e-9 < RELIES * period;
    }
    pthread_mutex_unlock(&watch->state);
    if (!told)
        send_frame(watch, frame);
    g_byte_array_unref(frame);
}

/* Whether the hub has been heard, by this task or by the first of its host, which tells the others. */
static bool is_heard(dome_watch *watch, bool itself)
{
    bool heard = itself;
    pthread_mutex_lock(&watch->state);
    dome_board *board = watch->transport ? __atomic_load_n(&watch->transport->account.board, __ATOMIC_ACQUIRE) : NULL;
    if (board && watch->transport->account.board_place == 0) {
        if (itself)
            __atomic_store_n(&board->heard, dome__now_ns(), __ATOMIC_RELAXED);
    } else if (board) {
        const uint64_t there = __atomic_load_n(&board->heard, __ATOMIC_RELAXED);
        heard |= there != watch->heard_there;
        watch->heard_there = there;
    }
    pthread_mutex_unlock(&watch->state);
    return heard;
}

/* ---- the trace ---- */

/* Seconds between sending records to the hub: the most that is lost if the process is killed. */
static const double TRACE_TICK = 0.1;

/* The most bytes of trace lines in one message. */
enum { TRACE_LINES = 15000 };

static void send_lines(dome_watch *watch, const GString *lines)
{
    if (lines->len > 0)
        send_message(watch,
                     &(dome_wire_message){.kind = DOME_WIRE_TRACE, .trace = {dome__trace_number(watch->trace), lines->str}});
}

static uint64_t waited_ns(dome_watch *watch)
{
    pthread_mutex_lock(&watch->state);
    const dome_transport *t = watch->transport;
    uint64_t wait = t ? __atomic_load_n(&t->account.wait_ns, __ATOMIC_RELAXED) : 0;
    if (t && __atomic_load_n(&t->account.waiting, __ATOMIC_RELAXED))
        wait += dome__since_ns(__atomic_load_n(&t->account.wait_began, __ATOMIC_RELAXED));
    pthread_mutex_unlock(&watch->state);
    return wait;
}

static void pass_trace_on(dome_watch *watch, bool last)
{
    GString *lines = g_string_new(NULL);
    bool more = watch->trace != NULL;
    while (more) {
        g_string_truncate(lines, 0);
        more = dome__trace_take(watch->trace, waited_ns(watch), last, TRACE_LINES, lines);
        send_lines(watch, lines);
        last = false;
    }
    g_string_free(lines, TRUE);
}

/* In `next`: stop sending a trace. */
#define NOTHING ((dome_trace *)(void *)&nothing)
static char nothing;

static void take_next(dome_watch *watch)
{
    dome_trace *next = atomic_exchange_explicit(&watch->next, NULL, memory_order_acquire);
    if (!next)
        return;
    pass_trace_on(watch, true);
    dome__trace_free(watch->trace);
    watch->trace = next == NOTHING ? NULL : next;
}

uint32_t dome__watch_wanted(const dome_watch *watch)
{
    return (uint32_t)atomic_load_explicit(&watch->wanted, memory_order_relaxed);
}

bool dome__watch_record(dome_watch *watch, dome_trace *trace)
{
    dome_trace *none = NULL;
    return atomic_compare_exchange_strong_explicit(&watch->next, &none, trace ? trace : NOTHING, memory_order_release,
                                                   memory_order_relaxed);
}

static void ask_clock(dome_watch *watch)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_CLOCK, .clock = {.asked = dome__trace_now(watch->trace)}});
}

/* Takes the hub's time to be that of the middle between question and answer; the error is at most half of the time between
 * them. */
static void take_clock(dome_watch *watch, const dome_wire_clock *clock)
{
    uint64_t asked = clock->asked, now = watch->trace ? dome__trace_now(watch->trace) : 0, middle = asked + (now - asked) / 2;
    if (!watch->trace || now < asked)
        return;
    GString *lines = g_string_new(NULL);
    dome__trace_clock(watch->trace, (int64_t)(clock->hub - middle), middle, (now - asked) / 2, lines);
    send_lines(watch, lines);
    g_string_free(lines, TRUE);
}

/* Seconds until the next task of the trace; asks for the hub's clock if due. */
static double trace_next(dome_watch *watch)
{
    double due = dome__trace_clock_due(watch->trace);
    if (due <= 0) {
        ask_clock(watch);
        due = dome__trace_clock_due(watch->trace);
    }
    return MIN(due, TRACE_TICK);
}

void dome__watch_trace(dome_watch *watch, dome_trace *trace, const char *path, const char *command, bool append)
{
    watch->trace = trace;
    if (!path)
        return;
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_TRACE_OPEN, .trace_open = {path, command, append}});
}

/* Ends this task because the hub is gone or silent: no other process will end it. */
static void hub_lost(dome_watch *watch, const char *how)
{
    place p = read_place(watch);
    if (watch->rank == 0 && !watch->quiet) {
        bool inside = p.operation != DOME_OP_NONE;
        char *object = inside && p.object ? dome__names_find(watch->trail->names, p.object) : NULL;
        char *text = g_strdup_printf("the process that watched over the program %s; ending task 0 on host %s, in %s%s%s%s", how,
                                     watch->host, inside ? dome__operation_name(p.operation) : "the program's own code",
                                     object ? " of '" : "", object ? object : "", object ? "'" : "");
        dome__say_at_once("%s", text);
    } /* the texts are not freed: the process is about to end */
    flush_output();
    /* On the hub's host the guard takes a private virtual machine down, and this task with it; on another host only the task
     * itself can end its daemon. */
    const char *directory = watch->address.directory;
    if (directory[0] && watch->rank != 0) {
        for (int i = 0; i < 100 && access(directory, F_OK) == 0; i++)
            g_usleep(10000);
        if (watch->parent > 1 && getppid() == watch->parent)
            kill(watch->parent, SIGTERM);
    }
    _exit(1);
}

/* Sends this task's last operations, for the hub to compare with those of other tasks. */
static void send_trail(dome_watch *watch)
{
    GArray *calls = dome__trail_calls(watch->trail, read_place(watch).sequence);
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_TRAIL, .calls = calls});
    g_array_unref(calls);
}

/* Answers a question of the hub about messages. Before the transport is open the task moves. */
static void answer_inquiry(dome_watch *watch, const dome_wire_message *question)
{
    pthread_mutex_lock(&watch->state);
    const dome_transport *t = watch->transport;
    GArray *numbers = !t                                  ? NULL
                      : question->kind == DOME_WIRE_WAITS ? dome__inquiry_waits(t)
                                                          : dome__inquiry_given(t, question->numbers.numbers);
    pthread_mutex_unlock(&watch->state);
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
                                 watch->rank, watch->host);
    send_fail(watch, DOME_END_LOSS, 1, line, false);
    g_free(line);
    flush_messages(watch);
    end_now(1);
}

static void take_end(dome_watch *watch, const dome_wire_end *end)
{
    int status = (int)end->status;
    take_next(watch);
    pass_trace_on(watch, true);
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
    if (!watch->go_back || back->number <= watch->view)
        return;
    take_next(watch);
    pass_trace_on(watch, true);
    watch->go_back(watch->go_back_ctx, back);
}

static void take_message(dome_watch *watch, const dome_wire_message *message)
{
    switch (message->kind) {
    case DOME_WIRE_QUERY:
        dome__transport_stop();
        pthread_mutex_lock(&watch->state);
        watch->queries++;
        pthread_mutex_unlock(&watch->state);
        send_beat(watch);
        break;
    case DOME_WIRE_END:
        take_end(watch, &message->end);
        break;
    case DOME_WIRE_TRAIL:
        send_trail(watch);
        break;
    case DOME_WIRE_WAITS:
    case DOME_WIRE_GIVEN:
        answer_inquiry(watch, message);
        break;
    case DOME_WIRE_CLOCK:
        take_clock(watch, &message->clock);
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
    case DOME_WIRE_PARK:
        dome__hold_parked(watch->hold, message->park.text);
        break;
    case DOME_WIRE_STANDS:
        dome__hold_stands(watch->hold);
        break;
    case DOME_WIRE_RECORD:
        atomic_store_explicit(&watch->wanted, message->recording, memory_order_relaxed);
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
    guint8 buffer[4096];
    ssize_t n = recv(watch->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        hub_lost(watch, "is gone");
    if (n < 0)
        return false;
    g_byte_array_append(watch->in, buffer, (guint)n);
    return true;
}

static void take_messages(dome_watch *watch)
{
    dome_wire_message message;
    int have;
    while ((have = dome__wire_next(watch->in, &watch->macs.in, &message)) > 0) {
        take_message(watch, &message);
        dome__wire_clear(&message);
    }
    if (have == DOME_WIRE_ALTERED)
        end_altered(watch);
    if (have < 0)
        hub_lost(watch, "has sent an invalid message");
}

/* Reports a dome_finalize that hangs: leaving the message passing system blocks if the daemon does not answer. */
static void look_for_end(dome_watch *watch, double t, double limit)
{
    pthread_mutex_lock(&watch->state);
    const bool leaving = watch->leaving;
    pthread_mutex_unlock(&watch->state);
    if (!leaving)
        return;
    if (!watch->left)
        watch->left = t;
    if (t - watch->left > limit && !watch->paused) {
        char *line = g_strdup_printf("dome_finalize: the PVM daemon of this host does not answer (task %d on host %s)",
                                     watch->rank, watch->host);
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
                                 watch->rank, watch->host);
    send_fail(watch, DOME_END_OWN, 2, line, false);
    g_free(line);
    watch->deserted = true; /* the hub's answer ends this process */
}

static void *watch_main(void *argument)
{
    dome_watch *watch = argument;
    double period = CLAMP(watch->timeout / 10, 0.02, 1.0);
    double limit = MAX(watch->timeout - period - 0.5, watch->timeout / 2);
    double beat = 0, traced = 0;
    dome_awake awake = dome__awake_from(dome__now());
    double heard = awake.now;
    take_messages(watch); /* those that came with the greeting */
    for (;;) {
        double t = dome__now();
        if (t - beat >= period) {
            beat_by_board(watch, period);
            look_for_caller(watch);
            beat = t;
        }
        struct pollfd p[2] = {{.fd = watch->fd, .events = POLLIN}, {.fd = watch->wake[0], .events = POLLIN}};
        double wait = beat + period - t;
        take_next(watch);
        if (dome__watch_wanted(watch) && !watch->trace)
            wait = MIN(wait, TRACE_TICK);
        if (watch->trace) {
            if (t - traced >= TRACE_TICK) {
                pass_trace_on(watch, false);
                traced = t;
            }
            wait = MIN(wait, trace_next(watch));
        }
        int ready = poll(p, 2, MAX((int)(wait * 1000), 1));
        if (ready < 0 && errno != EINTR)
            hub_lost(watch, "cannot be waited for");
        if (p[1].revents)
            break;
        t = dome__awake_read(&awake, dome__now(), 2 * period);
        if (is_heard(watch, p[0].revents && receive(watch)))
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
    pthread_mutex_lock(&watch->state);
    watch->transport = transport;
    pthread_mutex_unlock(&watch->state);
}

void dome__watch_beat(dome_watch *watch)
{
    send_beat(watch);
}

void dome__watch_checkpoint(dome_watch *watch, uint64_t number)
{
    __atomic_store_n(&watch->checkpoint, number + 1, __ATOMIC_RELAXED);
}

bool dome__watch_peer(const dome_watch *watch, void *address)
{
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    bool known = getpeername(watch->fd, (struct sockaddr *)&peer, &length) == 0 && peer.sin_family == AF_INET;
    if (known)
        memcpy(address, &peer, sizeof peer);
    return known;
}

void dome__watch_leave(dome_watch *watch)
{
    pthread_mutex_lock(&watch->state);
    watch->transport = NULL;
    watch->leaving = true;
    pthread_mutex_unlock(&watch->state);
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
    dome__last_signal_catch(say_signal, watch->rank != 0); /* for rank 0 only faults: it is the hub's child, or its parent */
    watch->caller = (pid_t)syscall(SYS_gettid);
    const int error = dome__thread_start(&watch->thread, watch_main, watch);
    watch->running = error == 0;
    errno = error;
    return watch->running;
}

void dome__watch_note(dome_watch *watch, uint64_t sequence, uint64_t history, uint32_t operation, uint64_t object)
{
    uint64_t turn = atomic_load_explicit(&watch->turn, memory_order_relaxed);
    atomic_store_explicit(&watch->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&watch->sequence, sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->history, history, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->operation, operation, __ATOMIC_RELAXED);
    __atomic_store_n(&watch->object, object, __ATOMIC_RELAXED);
    atomic_store_explicit(&watch->turn, turn + 2, memory_order_release);
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
    message.view.number = watch->view;
    send_message(watch, &message);
}

void dome__watch_times(dome_watch *watch, const dome_wire_times *times)
{
    dome_wire_message message = {.kind = DOME_WIRE_TIMES, .times = *times};
    message.times.number = watch->view;
    send_message(watch, &message);
}

void dome__watch_on_back(dome_watch *watch, void (*go)(void *ctx, const dome_wire_back *back), void *ctx)
{
    watch->go_back = go;
    watch->go_back_ctx = ctx;
}

/* Seconds for the hub's answer. It has limits of its own, and answers; if it is gone, this process ends. */
static const double PARKED_WITHIN = 3600;

char *dome__watch_park(dome_watch *watch, int descriptor, const char *hosts, int *ids, int n)
{
    send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_PARK, .park = {(uint32_t)descriptor, hosts}});
    char *line = dome__hold_wait_parked(watch->hold, PARKED_WITHIN), *why = dome__parker_read(line ? line : "", ids, n);
    g_free(line);
    return why;
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

dome_trail *dome__watch_trail(const dome_watch *watch)
{
    return watch->trail;
}

static void fail(dome_watch *watch, dome_end end, int exit_status, const char *line, bool disagree) __attribute__((noreturn));

static void fail(dome_watch *watch, dome_end end, int exit_status, const char *line, bool disagree)
{
    if (watch->fd < 0 || watch->pid != getpid()) {
        dome__say("%s", line); /* in a child process of the task */
    } else {
        send_fail(watch, end, exit_status, line, disagree);
        flush_output();
        /* The hub prints the first such line of all tasks and answers with END, which ends this process from the watcher thread;
         * if the hub is gone, that thread cleans up and ends it. Without a thread or an answer this function ends the process. A
         * task that carries the program's state from a view into the next one may be told to take it back, when the hub has
         * found out which hosts are there. */
        const int turns = watch->view > 0 && end != DOME_END_OWN ? 3000 : 300;
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
    if (watch->fd >= 0) {
        take_next(watch);
        pass_trace_on(watch, true);
        flush_messages(watch);
    }
}

void dome__watch_close(dome_watch *watch)
{
    if (!watch)
        return;
    dome__watch_stop(watch);
    if (watch->fd >= 0) {
        send_message(watch, &(dome_wire_message){.kind = DOME_WIRE_BYE});
        flush_messages(watch);
        if (watch->own_output)
            close(watch->fd);
        else
            last_fd = watch->fd;
    }
    if (watch->taken)
        g_array_unref(watch->taken);
    dome__trace_free(watch->trace);
    if (the_watch == watch) {
        dome__last_signal_leave();
        the_watch = NULL;
    }
    if (watch->first_stderr >= 0)
        close(watch->first_stderr);
    if (watch->wake[0] >= 0) {
        close(watch->wake[0]);
        close(watch->wake[1]);
    }
    dome__hub_address_clear(&watch->address);
    dome__trail_free(watch->trail);
    g_byte_array_free(watch->in, TRUE);
    g_free(watch->host);
    dome__hold_free(watch->hold);
    pthread_mutex_destroy(&watch->send);
    pthread_mutex_destroy(&watch->state);
    g_free(watch);
}
