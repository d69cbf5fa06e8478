/* The moment at which a wait ends, by the monotonic clock, and waiting for descriptors until then. */
#ifndef DOME_SRC_DEADLINE_H
#define DOME_SRC_DEADLINE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct dome_deadline {
    uint64_t at; /* as dome__now_ns; UINT64_MAX: never */
} dome_deadline;

/* So many seconds from now; it has passed if there are none. */
dome_deadline dome__deadline_in(double seconds);

bool dome__deadline_passed(dome_deadline deadline);

/* The time that is left, 0 if it has passed: in seconds; in milliseconds as poll takes them, rounded up. */
double dome__deadline_seconds(dome_deadline deadline);
int dome__deadline_ms(dome_deadline deadline);

/* poll, again if a signal interrupts it; 0: the deadline has passed, and nothing is ready. Looks once if it had passed before. */
int dome__deadline_poll(struct pollfd *polls, nfds_t count, dome_deadline deadline);

/* read, as soon as there is something. -1 with ETIMEDOUT where the deadline has passed, even if there is something: a sender that
 * does not end cannot prolong the wait. */
ssize_t dome__deadline_read(int fd, void *to, size_t bytes, dome_deadline deadline);

#endif
