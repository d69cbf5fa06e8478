#include "system/sockets.h"

#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* To `in` or from `out`; the other is NULL. */
static bool transfer(int fd, char *in, const char *out, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        size_t some = (size_t)MIN(bytes - done, (uint64_t)1 << 24);
        ssize_t n = out ? send(fd, out + done, some, MSG_NOSIGNAL) : recv(fd, in + done, some, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (uint64_t)n;
    }
    return true;
}

bool dome__socket_send(int fd, const void *data, uint64_t bytes)
{
    return transfer(fd, NULL, data, bytes);
}

void dome__socket_be_quick(int fd)
{
    int on = 1; /* without these the connection is slower, and right all the same */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
}

bool dome__socket_receive(int fd, void *data, uint64_t bytes)
{
    return transfer(fd, data, NULL, bytes);
}
