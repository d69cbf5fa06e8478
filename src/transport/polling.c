#include "transport/polling.h"

#include "core/clock.h"
#include "transport/transport.h"

#include <glib.h>
#include <poll.h>
#include <time.h>

/* Sleeps for so long, or until a descriptor of the provider becomes readable. */
static void nap_at_descriptors(dome_transport_provider *p, const struct timespec *time)
{
    const int *fds = NULL;
    int n = p->can & DOME_TRANSPORT_LISTEN ? p->ops->descriptors(p, &fds) : 0;
    struct pollfd *list = g_newa(struct pollfd, n + 1);
    for (int i = 0; i < n; i++)
        list[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    ppoll(list, (nfds_t)n, time, NULL);
}

/* Yields the processor at first, and then sleeps ever longer, up to LONGEST_NAP_NS: a look at one task may read a message of
 * another one, whose descriptor is then no longer readable. */
void dome__poll_until(dome_transport_provider *p, int channel, bool (*ready)(void *ctx), void *ctx)
{
    enum { YIELDS = 100, NAP_NS = 20000, LONGEST_NAP_NS = 1000000 };
    struct timespec nap = {.tv_nsec = NAP_NS};
    uint64_t yielded = 0;
    for (int turn = 0; !ready(ctx); turn++) {
        dome__transport_may_leave();
        dome__yielded(yielded, false);
        yielded = 0;
        if (turn < YIELDS) {
            yielded = dome__yield();
            continue;
        }
        p->ops->arrived(p, -1, channel); /* what these tasks sent before, on other channels, may be in front */
        if (ready(ctx))
            break;
        nap_at_descriptors(p, &nap);
        nap.tv_nsec = MIN(2 * nap.tv_nsec, LONGEST_NAP_NS);
    }
    dome__yielded(yielded, true);
}
