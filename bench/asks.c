/* asks: how long a request over the service channel takes.
 *
 *     asks [COUNT]          20000 requests of each kind
 *
 * Two processes of this host: one asks and waits, the channel's thread of the other answers. It prints the median and the 99th
 * percentile for replies of 0 bytes and of a page, by a local socket and by TCP over loopback, and the same for a page that
 * another process sends by a plain socket: what the kernel alone takes, which wakes one thread less. */
#include "peer/peer.h"
#include "system/time.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WARM = 500 };

typedef struct road {
    const char *name;
    bool near;
    dome_peer_place places[4];
    int listening[2][2];
} road;

static void fail(const char *what)
{
    fprintf(stderr, "asks: %s: %s\n", what, strerror(errno));
    exit(1);
}

static road open_road(const char *name, bool near)
{
    road r = {.name = name, .near = near, .listening = {{-1, -1}, {-1, -1}}};
    for (int rank = 0; rank < 2; rank++) {
        dome_peer_place *place = &r.places[2 * rank + !near];
        if (!near)
            *place = dome__peer_place_here(true);
        r.listening[rank][!near] = near ? dome__peer_place_listen_near(place) : dome__peer_place_listen(place);
        if (r.listening[rank][!near] < 0)
            fail("listening");
    }
    return r;
}

static dome_peer *start(const road *r, int rank)
{
    const dome_peer_setup setup = {.rank = rank,
                                   .size = 2,
                                   .purpose = "asks",
                                   .listening = {r->listening[rank][0], r->listening[rank][1]},
                                   .places = r->places,
                                   .patience = 10};
    dome_peer *p = dome__peer_new(&setup);
    if (!p)
        fail("a thread");
    return p;
}

static void give(void *page, const dome_peer_request *request)
{
    dome__peer_reply(request->peer, request->from, request->id, page, *(const uint8_t *)request->data ? PAGE : 0);
}

static pid_t serve(const road *r)
{
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child > 0)
        return child;
    static char page[PAGE];
    dome__peer_on(start(r, 1), DOME_PEER_OTHERS, give, page);
    for (;;)
        pause();
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *name, const char *what, double *us, int count)
{
    qsort(us, (size_t)count, sizeof *us, compare);
    printf("%-14s %-22s median %6.1f us   99 %% %6.1f us\n", name, what, us[count / 2], us[count - 1 - count / 100]);
}

static void ask(dome_peer *p, uint8_t whole)
{
    GByteArray *reply = NULL;
    if (dome__peer_ask(p, 1, DOME_PEER_OTHERS, &whole, 1, &reply) != DOME_PEER_OK)
        fail("no reply");
    g_byte_array_unref(reply);
}

static void measure(const road *r, double *us, int count)
{
    const pid_t child = serve(r);
    dome_peer *p = start(r, 0);
    g_usleep(100000); /* until the child serves */
    for (uint8_t whole = 0; whole < 2; whole++) {
        for (int k = -WARM; k < count; k++) {
            const uint64_t began = dome__now_ns();
            ask(p, whole);
            us[k < 0 ? 0 : k] = (double)(dome__now_ns() - began) / 1000;
        }
        print_times(r->name, whole ? "4096 bytes" : "nothing", us, count);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    dome__peer_free(p);
}

/* ---- without a channel ---- */

static pid_t echo(int fd)
{
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child > 0)
        return child;
    char page[PAGE] = {0};
    while (recv(fd, page, 64, 0) > 0)
        if (send(fd, page, PAGE, MSG_NOSIGNAL) < 0)
            break;
    _exit(0);
}

static void measure_kernel(double *us, int count)
{
    int ends[2];
    char page[PAGE] = {0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        fail("socketpair");
    const pid_t child = echo(ends[1]);
    for (int k = -WARM; k < count; k++) {
        const uint64_t began = dome__now_ns();
        if (send(ends[0], page, 64, MSG_NOSIGNAL) < 0 || recv(ends[0], page, PAGE, MSG_WAITALL) != PAGE)
            fail("echo");
        us[k < 0 ? 0 : k] = (double)(dome__now_ns() - began) / 1000;
    }
    print_times("local socket", "4096 bytes, no channel", us, count);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 20000;
    if (count < 1)
        return 2;
    double *us = g_new(double, count);
    const road near = open_road("local socket", true), far = open_road("TCP", false);
    measure_kernel(us, count);
    measure(&near, us, count);
    measure(&far, us, count);
    g_free(us);
    return 0;
}
