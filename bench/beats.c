/* beats: what the hub of a program of many tasks costs while they do nothing but beat.
 *
 *     beats [TASKS [SECONDS [CONNECTIONS [HOST]]]]          10000 tasks, 10 s, one connection each, 32 to a host
 *
 * The hub is the library's own, in a process of its own. This program stands for the tasks: it opens their connections, greets,
 * and sends a beat for each once a second, evenly over the second, as the watchers of so many tasks do at a timeout of 10 s or
 * more: those of a host by its first task, as where many share a host; with HOST 1 each task for itself. With 2 or
 * 3 connections a task also has those of its output (3: --dome-output all), on which nothing is written. It prints the processor
 * time of the hub: all it does for beats, its own signs of life to the tasks included. */
#include "hub/hub.h"
#include "transport/handshake.h"
#include "watch/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 32, SPARE = 64, STEPS = 1000, MOST_CONNECTIONS = 3 };

static const char cookie[] = "0123456789abcdef0123456789abcdef";
static const double TIMEOUT = 10;

typedef struct crowd {
    int tasks, connections, host; /* host: tasks on one */
    dome_hub_address address;
    int *fd; /* by task and channel */
    dome_macs *macs;
    int failed;
} crowd;

typedef struct part {
    crowd *of;
    int first;
    pthread_t thread;
} part;

static void fail(const char *what)
{
    fprintf(stderr, "beats: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void raise_limit(int connections)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_max < (rlim_t)connections + SPARE || setrlimit(RLIMIT_NOFILE, &limit) < 0) {
        printf("skipped: %d connections are more than the limit on open files allows (ulimit -Hn: %llu)\n", connections,
               (unsigned long long)limit.rlim_max);
        exit(77);
    }
}

static int listen_here(uint16_t *port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) < 0 || listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)&here, &length) < 0)
        fail("cannot listen");
    *port = ntohs(here.sin_port);
    return fd;
}

static pid_t start_hub(int listen_fd)
{
    sigset_t before;
    const int signals = dome__hub_signals(&before);
    const pid_t self = getpid(), pid = fork();
    if (pid < 0)
        fail("cannot fork");
    if (pid == 0) {
        dome_hub hub = {.listen_fd = listen_fd,
                        .cookie = cookie,
                        .timeout = TIMEOUT,
                        .rank0 = self,
                        .signal_fd = signals,
                        .report_fd = -1,
                        .machine.launcher = &dome__launcher_self};
        int number;
        _exit(dome__hub_run(&hub, &number));
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(listen_fd);
    close(signals);
    return pid;
}

/* A connection whose greeting the hub has answered. */
static int join(const crowd *c, int rank, dome_wire_channel channel, dome_macs *macs)
{
    const int fd = dome__hub_connect(&c->address, c->address.endpoints[0], channel, DOME_HANDSHAKE_PATIENCE, macs);
    char host[32];
    snprintf(host, sizeof host, "simulated%d", rank / c->host);
    const dome_wire_message hello = {.kind = DOME_WIRE_HELLO,
                                     .hello = {.rank = (uint32_t)rank, .pid = (uint32_t)getpid(), .host = host}};
    char answer[8 + DOME_MAC_BYTES];
    if (fd >= 0 && (!dome__wire_send(fd, &macs->out, &hello) || recv(fd, answer, sizeof answer, MSG_WAITALL) != sizeof answer)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void *join_part(void *argument)
{
    static const dome_wire_channel channels[MOST_CONNECTIONS] = {DOME_WIRE_WATCH, DOME_WIRE_STDERR, DOME_WIRE_STDOUT};
    const part *p = argument;
    crowd *c = p->of;
    for (int rank = p->first; rank < c->tasks; rank += THREADS)
        for (int k = 0; k < c->connections; k++) {
            const int i = rank * c->connections + k;
            if ((c->fd[i] = join(c, rank, channels[k], &c->macs[i])) < 0)
                __atomic_add_fetch(&c->failed, 1, __ATOMIC_RELAXED);
        }
    return NULL;
}

static void join_all(crowd *c)
{
    part parts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        parts[i] = (part){.of = c, .first = i};
        if (pthread_create(&parts[i].thread, NULL, join_part, &parts[i]))
            fail("cannot start a thread");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(parts[i].thread, NULL);
    if (c->failed) {
        fprintf(stderr, "beats: %d of %d connections were refused\n", c->failed, c->tasks * c->connections);
        exit(1);
    }
}

static dome_wire_beat beat_of(int rank, uint64_t round)
{
    return (dome_wire_beat){.rank = (uint32_t)rank,
                            .sequence = round * STEPS,
                            .history = round * 0x9e3779b97f4a7c15u,
                            .operation = "dvec_sum",
                            .object = "temperature",
                            .waiting = (uint32_t)(rank % 2),
                            .progress = round * STEPS,
                            .busy = 1000,
                            .load = 200,
                            .loop = round};
}

/* The beats of the tasks of a host, from its first one. */
static void send_beats(const crowd *c, int first, uint64_t round)
{
    const int end = MIN(first + c->host, c->tasks);
    GByteArray *beats = g_byte_array_new();
    for (int rank = first; rank < end; rank++) {
        GByteArray *frame = dome__wire_frame(&(dome_wire_message){.kind = DOME_WIRE_BEAT, .beat = beat_of(rank, round)});
        g_byte_array_append(beats, frame->data, frame->len);
        g_byte_array_unref(frame);
    }
    const int i = first * c->connections;
    if (!dome__wire_send_frames(c->fd[i], &c->macs[i].out, beats))
        fail("the hub is gone");
    g_byte_array_unref(beats);
}

/* Takes what the hub has said. */
static void drain(const crowd *c, int rank)
{
    char buffer[256];
    while (recv(c->fd[rank * c->connections], buffer, sizeof buffer, MSG_DONTWAIT) == sizeof buffer)
        ;
}

/* One beat of each task, evenly over a second. */
static void beat(const crowd *c, uint64_t round)
{
    const gint64 begin = g_get_monotonic_time();
    for (int rank = 0; rank < c->tasks; rank += c->host) {
        const gint64 left = begin + (gint64)rank * G_USEC_PER_SEC / c->tasks - g_get_monotonic_time();
        if (left > 100)
            g_usleep((gulong)left);
        drain(c, rank);
        send_beats(c, rank, round);
    }
    const gint64 left = begin + G_USEC_PER_SEC - g_get_monotonic_time();
    if (left > 0)
        g_usleep((gulong)left);
}

static double processor_time(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) < 0)
        fail("the hub is gone");
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const int seconds = argc > 2 ? atoi(argv[2]) : 10;
    crowd c = {.tasks = argc > 1 ? atoi(argv[1]) : 10000,
               .connections = argc > 3 ? atoi(argv[3]) : 1,
               .host = argc > 4 ? atoi(argv[4]) : 32};
    if (c.tasks < 1 || c.tasks > 1000000 || seconds < 1 || c.connections < 1 || c.connections > MOST_CONNECTIONS || c.host < 1) {
        fprintf(stderr, "usage: beats [TASKS [SECONDS [CONNECTIONS [HOST]]]], up to %d connections each\n", MOST_CONNECTIONS);
        return 2;
    }
    uint16_t port;
    raise_limit(c.tasks * c.connections);
    const pid_t hub = start_hub(listen_here(&port));
    char *text = g_strdup_printf("%s;127.0.0.1:%u;", cookie, port);
    clockid_t clock = 0;
    if (!dome__hub_address_parse(&c.address, text) || clock_getcpuclockid(hub, &clock))
        fail("no hub");
    c.fd = g_new0(int, c.tasks *c.connections);
    c.macs = g_new0(dome_macs, c.tasks * c.connections);
    const double began = processor_time(clock), at = (double)g_get_monotonic_time() * 1e-6;
    join_all(&c);
    printf("%d tasks, %d connection%s each, %d to a host: they joined in %.1f s, for %.2f s of the hub's processor time\n",
           c.tasks, c.connections, c.connections == 1 ? "" : "s", c.host, (double)g_get_monotonic_time() * 1e-6 - at,
           processor_time(clock) - began);
    beat(&c, 1);
    const double before = processor_time(clock), from = (double)g_get_monotonic_time() * 1e-6;
    for (int k = 0; k < seconds; k++)
        beat(&c, (uint64_t)k + 2);
    const double used = processor_time(clock) - before, took = (double)g_get_monotonic_time() * 1e-6 - from;
    printf("%.1f s of beats: %.2f %% of a processor, %.2f us a beat\n", took, 100 * used / took,
           1e6 * used / ((double)seconds * c.tasks));
    for (int i = 0; i < c.tasks * c.connections; i++) {
        if (i % c.connections == 0)
            dome__wire_send(c.fd[i], &c.macs[i].out, &(dome_wire_message){.kind = DOME_WIRE_BYE});
        close(c.fd[i]);
    }
    int status;
    if (waitpid(hub, &status, 0) != hub || status != 0) {
        fprintf(stderr, "beats: the hub ended with status %d\n", status);
        return 1;
    }
    dome__hub_address_clear(&c.address);
    g_free(text);
    g_free(c.fd);
    g_free(c.macs);
    return 0;
}
