#include "watch/watch_line.h"

#include "system/deadline.h"
#include "system/time.h"
#include "transport/handshake.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void dome__watch_line_init(watch_line *line)
{
    line->fd = -1;
    line->in = g_byte_array_new();
    pthread_mutex_init(&line->send, NULL);
}

void dome__watch_line_clear(watch_line *line)
{
    g_byte_array_free(line->in, TRUE);
    pthread_mutex_destroy(&line->send);
}

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

static bool greet(int fd, const dome_wire_hello *hello, dome_macs *macs, GByteArray *in)
{
    const dome_wire_message greeting = {.kind = DOME_WIRE_HELLO, .hello = *hello};
    dome_wire_message answer;
    if (!dome__wire_send(fd, &macs->out, &greeting) || !read_message(fd, &macs->in, in, &answer, DOME_HANDSHAKE_PATIENCE))
        return false;
    bool good = answer.kind == DOME_WIRE_WELCOME;
    dome__wire_clear(&answer);
    return good;
}

/* Seconds during which connecting is retried: under a flood of other connections the hub may close a task's. */
static const double JOIN_AGAIN = 3;

/* Opens a connection to the hub and exchanges greetings; -1 on failure. */
static int join(const dome_hub_address *address, const dome_wire_hello *hello, dome_wire_channel channel, dome_macs *macs,
                GByteArray *in)
{
    double began = dome__now();
    do {
        for (char **endpoint = address->endpoints; *endpoint; endpoint++) {
            int fd = dome__hub_connect(address, *endpoint, channel, DOME_HANDSHAKE_PATIENCE, macs);
            if (fd < 0)
                continue;
            if (greet(fd, hello, macs, in))
                return fd;
            close(fd);
            g_byte_array_set_size(in, 0);
        }
        g_usleep(50000);
    } while (dome__now() - began < JOIN_AGAIN);
    return -1;
}

bool dome__watch_line_open(watch_line *line, const dome_hub_address *address, const dome_wire_hello *hello)
{
    line->fd = join(address, hello, DOME_WIRE_WATCH, &line->macs, line->in);
    return line->fd >= 0;
}

void dome__watch_line_close(watch_line *line)
{
    if (line->fd >= 0)
        close(line->fd);
    line->fd = -1;
}

bool dome__watch_redirect(const dome_hub_address *address, const dome_wire_hello *hello, dome_wire_channel channel, int stream)
{
    GByteArray *in = g_byte_array_new();
    dome_macs macs; /* what follows the greeting is the program's output, which has none */
    int fd = join(address, hello, channel, &macs, in);
    g_byte_array_free(in, TRUE);
    if (fd < 0)
        return false;
    struct timeval none = {0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    const bool done = dup2(fd, stream) >= 0;
    close(fd);
    return done;
}

void dome__watch_send_frame(watch_line *line, const GByteArray *frame)
{
    pthread_mutex_lock(&line->send);
    dome__wire_send_frames(line->fd, &line->macs.out, frame);
    pthread_mutex_unlock(&line->send);
}

void dome__watch_send(watch_line *line, const dome_wire_message *message)
{
    GByteArray *frame = dome__wire_frame(message);
    dome__watch_send_frame(line, frame);
    g_byte_array_unref(frame);
}

GByteArray *dome__watch_lend(watch_line *line, const dome_wire_message *message)
{
    uint8_t code[DOME_MAC_BYTES];
    GByteArray *frame = dome__wire_frame(message);
    pthread_mutex_lock(&line->send);
    dome__mac_next(&line->macs.out, frame->data, frame->len, code);
    g_byte_array_append(frame, code, sizeof code);
    return frame;
}

void dome__watch_lent(watch_line *line)
{
    pthread_mutex_unlock(&line->send);
}

/* Another thread may be sending: waits up to 50 ms for it (the interrupted thread itself cannot finish). */
void dome__watch_send_signal(watch_line *line, int number)
{
    uint8_t frame[DOME_WIRE_SIGNAL_BYTES];
    for (int i = 0; line->fd >= 0 && i < 50; i++) {
        if (pthread_mutex_trylock(&line->send) == 0) {
            dome__wire_signal_frame(frame, &line->macs.out, number);
            ssize_t ignored = send(line->fd, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
            (void)ignored;
            return; /* keep the lock: this is the last message */
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* A process that closes its connection with messages of the hub unread resets it, and what the system has held back until then,
 * as it does after many short messages, would never be sent. */
void dome__watch_flush(const watch_line *line)
{
    int left = 0;
    for (int i = 0; i < 200 && ioctl(line->fd, SIOCOUTQNSD, &left) == 0 && left > 0; i++)
        g_usleep(10000);
}

bool dome__watch_receive(watch_line *line, bool *gone)
{
    guint8 buffer[4096];
    ssize_t n = recv(line->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    *gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n > 0)
        g_byte_array_append(line->in, buffer, (guint)n);
    return n > 0;
}

int dome__watch_next(watch_line *line, dome_wire_message *message)
{
    return dome__wire_next(line->in, &line->macs.in, message);
}

bool dome__watch_line_peer(const watch_line *line, void *address)
{
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    bool known = getpeername(line->fd, (struct sockaddr *)&peer, &length) == 0 && peer.sin_family == AF_INET;
    if (known)
        memcpy(address, &peer, sizeof peer);
    return known;
}
