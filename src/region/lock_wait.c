#include "region/lock_wait.h"

#include "transport/ahead.h"

/* ns: a task looks so soon whether others wait for it, at first and at most. */
enum { FIRST_SLEEP = 5 * 1000 * 1000, LONGEST_SLEEP = 100 * 1000 * 1000 };

dome_lock_wait dome__lock_wait_begin(dome_transport *transport, int whom)
{
    return (dome_lock_wait){.transport = transport,
                            .whom = whom,
                            .start = dome__account_begin_wait(&transport->account, DOME_WAITS(whom, DOME_WAITS_NEAR), 0),
                            .ns = FIRST_SLEEP,
                            .turn = -1};
}

/* Messages that others send meanwhile are taken in, and all-reduces get on: the holder may wait for either. */
static int serve_others(dome_transport *t)
{
    if (t->provider.can & DOME_TRANSPORT_PROBE)
        dome__transport_arrived(t, -1, DOME_CHANNEL_PROGRAM);
    return t->ahead ? dome__ahead_drive(t) : DOME_OK;
}

void dome__lock_wait_look(dome_lock_wait *wait, int holder, int64_t turn)
{
    dome_transport *t = wait->transport;
    dome__account_await(&t->account, DOME_AWAITS(holder, DOME_AWAITED_LOCK));
    if (wait->turn >= 0 && turn != wait->turn)
        dome__account_progress(&t->account);
    wait->turn = turn;
    wait->ns = MIN(2 * wait->ns, LONGEST_SLEEP);
    if (wait->status == DOME_OK)
        wait->status = serve_others(t);
}

int dome__lock_wait_end(dome_lock_wait *wait)
{
    dome_transport *t = wait->transport;
    dome__account_await(&t->account, 0);
    const uint64_t took = dome__account_end_wait(&t->account, wait->whom, wait->start);
    if (t->waited)
        t->waited(t, wait->whom, wait->start, took);
    return wait->status;
}
