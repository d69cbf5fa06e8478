#include "system/deadline.h"

#include "system/time.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

dome_deadline dome__deadline_in(double seconds)
{
    const uint64_t now = dome__now_ns();
    const double ns = seconds * 1e9;
    if (!(ns > 0))
        return (dome_deadline){now};
    return (dome_deadline){ns < (double)(UINT64_MAX - now) ? now + (uint64_t)ns : UINT64_MAX};
}

static uint64_t left_ns(dome_deadline deadline)
{
    const uint64_t now = dome__now_ns();
    return deadline.at > now ? deadline.at - now : 0;
}

bool dome__deadline_passed(dome_deadline deadline)
{
    return left_ns(deadline) == 0;
}

double dome__deadline_seconds(dome_deadline deadline)
{
    return (double)left_ns(deadline) * 1e-9;
}

int dome__deadline_ms(dome_deadline deadline)
{
    const uint64_t ns = left_ns(deadline), ms = ns / 1000000 + (ns % 1000000 > 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

int dome__deadline_poll(struct pollfd *polls, nfds_t count, dome_deadline deadline)
{
    for (;;) {
        const int ms = dome__deadline_ms(deadline), n = poll(polls, count, ms);
        if (n > 0 || (n < 0 && errno != EINTR))
            return n;
        if (ms == 0) {
            for (nfds_t k = 0; k < count; k++)
                polls[k].revents = 0; /* an interrupted poll leaves them as they were */
            return 0;
        }
    }
}

ssize_t dome__deadline_read(int fd, void *to, size_t bytes, dome_deadline deadline)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (!dome__deadline_passed(deadline)) {
        const int ready = dome__deadline_poll(&p, 1, deadline);
        const ssize_t n = ready > 0 ? read(fd, to, bytes) : ready;
        if (ready && (n >= 0 || (errno != EINTR && errno != EAGAIN)))
            return n;
    }
    errno = ETIMEDOUT;
    return -1;
}
