/* message_layers: a message to another task and back, by each layer that it passes on its way, for sizes from 1 byte to 1 MiB.
 *
 *     message_layers ADDRESS [ROUNDS [SECONDS]]     two tasks; 5 rounds; 0.02 s for each layer and size in a round
 *
 * ADDRESS: of task 0's host. Each line is a layer, bytes, and the microseconds of one round trip:
 *
 *     tcp         a plain connection between the two processes: what the kernel and the wire take
 *     pvm         pvm_send and pvm_recv
 *     transport   typed messages with stamps (src/transport/message.h), by the road that the library has chosen
 *     program     dome_send and dome_recv
 *
 * In a round all of them take turns, so that what else the machine does strikes all alike. */
#include "core/environment.h"
#include "system/time.h"
#include "transport/message.h"

#include <arpa/inet.h>
#include <dome/dome.h>
#include <netinet/tcp.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 1 << 20, TAG = 77, FIRST_CALLS = 20 };

static const int sizes[] = {1, 64, 1024, 8192, 65536, 262144, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static dome_env *env;
static int other, other_tid, plain = -1;
static char *data;

static void must(int status, const char *what)
{
    if (status != DOME_OK)
        dome_abort(env, "message_layers: %s", what);
}

/* ---- the layers ---- */

static void tcp_there(int bytes)
{
    for (int done = 0; done < bytes;) {
        const ssize_t n = write(plain, data + done, (size_t)(bytes - done));
        must(n > 0 ? DOME_OK : DOME_ERR_COMM, "the plain connection ended");
        done += (int)n;
    }
}

static void tcp_here(int bytes)
{
    for (int done = 0; done < bytes;) {
        const ssize_t n = read(plain, data + done, (size_t)(bytes - done));
        must(n > 0 ? DOME_OK : DOME_ERR_COMM, "the plain connection ended");
        done += (int)n;
    }
}

static void pvm_there(int bytes)
{
    pvm_initsend(bytes > 2048 ? PvmDataInPlace : PvmDataRaw);
    pvm_pkbyte(data, bytes, 1);
    pvm_send(other_tid, TAG);
}

static void pvm_here(int bytes)
{
    pvm_recv(other_tid, TAG);
    pvm_upkbyte(data, bytes, 1);
}

static void transport_there(int bytes)
{
    must(dome__send(env->transport, other, DOME_CHANNEL_DATA, DOME_U8, data, (uint64_t)bytes), env->transport->reason);
}

static void transport_here(int bytes)
{
    must(dome__recv(env->transport, other, DOME_CHANNEL_DATA, DOME_U8, data, (uint64_t)bytes), env->transport->reason);
}

static void program_there(int bytes)
{
    must(dome_send(env, other, 0, DOME_U8, data, (size_t)bytes), "dome_send");
}

static void program_here(int bytes)
{
    must(dome_recv(env, other, 0, DOME_U8, data, (size_t)bytes, NULL), "dome_recv");
}

static const struct {
    const char *name;
    void (*there)(int), (*here)(int);
} layers[] = {{"tcp", tcp_there, tcp_here},
              {"pvm", pvm_there, pvm_here},
              {"transport", transport_there, transport_here},
              {"program", program_there, program_here}};
enum { LAYERS = sizeof layers / sizeof *layers };

/* ---- the plain connection ---- */

static int listen_there(struct sockaddr_in *name)
{
    socklen_t length = sizeof *name;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)name, sizeof *name) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)name, &length) < 0)
        dome_abort(env, "message_layers: no socket that listens");
    return fd;
}

static void connect_plain(const char *address)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    const int on = 1, listener = dome_rank(env) == 0 ? listen_there(&name) : -1;
    uint16_t port = ntohs(name.sin_port);
    dome_bcast(env, 0, DOME_U16, &port, 1);
    if (listener >= 0) {
        plain = accept(listener, NULL, NULL);
        close(listener);
    } else {
        name.sin_port = htons(port);
        plain = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (inet_pton(AF_INET, address, &name.sin_addr) != 1 || connect(plain, (struct sockaddr *)&name, sizeof name) < 0)
            dome_abort(env, "message_layers: no connection to %s", address);
    }
    if (plain < 0 || setsockopt(plain, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        dome_abort(env, "message_layers: no plain connection");
}

/* ---- measuring ---- */

/* Microseconds of one message there and back. */
static double there_and_back(int layer, int bytes, int calls)
{
    dome_barrier(env);
    const uint64_t began = dome__now_ns();
    for (int i = 0; i < calls; i++) {
        if (other == 1)
            layers[layer].there(bytes);
        layers[layer].here(bytes);
        if (other == 0)
            layers[layer].there(bytes);
    }
    return (double)(dome__now_ns() - began) / 1000 / calls;
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    if (dome_size(env) != 2 || argc < 2)
        dome_abort(env, "message_layers: start two tasks, with the address of the first one's host");
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    const double seconds = argc > 3 ? atof(argv[3]) : 0.02;
    int32_t tid = pvm_mytid(), tids[2], calls[LAYERS][SIZES];
    other = 1 - dome_rank(env);
    data = calloc(MOST, 1);
    dome_allgather(env, DOME_I32, &tid, 1, tids);
    other_tid = tids[other];
    connect_plain(argv[1]);
    for (int layer = 0; layer < LAYERS; layer++) /* the first messages also set up PVM's direct route */
        for (int k = 0; k < SIZES; k++) {
            there_and_back(layer, sizes[k], FIRST_CALLS);
            calls[layer][k] = FIRST_CALLS + (int)(seconds * 1e6 / there_and_back(layer, sizes[k], FIRST_CALLS));
        }
    dome_bcast(env, 0, DOME_I32, calls, (size_t)LAYERS * SIZES);
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < SIZES; k++)
            for (int layer = 0; layer < LAYERS; layer++) {
                const double us = there_and_back(layer, sizes[k], calls[layer][k]);
                dome_print(env, "%s %d %.2f\n", layers[layer].name, sizes[k], us);
            }
    close(plain);
    free(data);
    return dome_finalize(env);
}
