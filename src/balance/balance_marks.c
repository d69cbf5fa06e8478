#include "balance/balance_marks.h"

#include "core/clock.h"
#include "core/environment.h"
#include "system/time.h"
#include "transport/transport.h"

moment dome__balance_moment(const dome_env *env)
{
    const uint64_t away = dome__clock_away_ns(env);
    return (moment){.sequence = env->position.sequence,
                    .ns = dome__now_ns(),
                    .wait_ns = away,
                    .waits = env->transport->account.waits,
                    .processor_ns = dome__processor_ns(),
                    .wanted_ns = dome__processor_time().wanted_ns,
                    .helped_ns = away - *env->wait_ns,
                    .apart_ns = dome__clock_apart_ns(env)};
}

/* The mark of this number, from 1. */
static const moment *mark(const marks *m, uint64_t number)
{
    return &m->mark[(number - 1) % DOME_BALANCE_MARKS];
}

void dome__marks_make(const dome_env *env, marks *m)
{
    m->mark[m->count++ % DOME_BALANCE_MARKS] = dome__balance_moment(env);
}

void dome__marks_every(marks *m, uint64_t operations)
{
    m->stride = operations;
}

void dome__marks_forget(marks *m)
{
    m->count = 0;
}

bool dome__marks_last(const marks *m, const moment *between[2])
{
    if (m->count < 2)
        return false;
    between[0] = mark(m, m->count - 1);
    between[1] = mark(m, m->count);
    return true;
}

bool dome__marks_recent(const marks *m, const moment *end, const moment *from[2])
{
    uint64_t k = m->count;
    while (k > 0 && m->count - k < DOME_BALANCE_MARKS && end->sequence - mark(m, k)->sequence <= 1 + m->stride / 2)
        k--;
    if (k < 2 || m->count - k + 2 > DOME_BALANCE_MARKS)
        return false;
    from[1] = mark(m, k);
    from[0] = mark(m, k - 1);
    return true;
}
