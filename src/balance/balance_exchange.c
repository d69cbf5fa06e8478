/* How the numbers of a phase reach all tasks: at once, or ahead, while the program continues. */
#include "balance/balance_private.h"
#include "core/object_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

/* From this many tasks on, several to a host, all phases use the relay. */
enum { MANY = 128 };

static int numbers_of_each(const dome_balance *b)
{
    int each = SAYS;
    for (guint k = 0; k < b->domains->len; k++)
        if (dome__domain_is_live(g_ptr_array_index(b->domains, k)))
            each += SAYS_OF_DOMAIN;
    return each;
}

static void say_domains(dome_env *env, const dome_balance *b, double *says)
{
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        says[SAYS_SECONDS] = d->seconds;
        says[SAYS_UNEVEN] = !d->costs && dome__costs_differ(env, d);
        says += SAYS_OF_DOMAIN;
    }
}

double dome__busy_seconds(const moment *from, const moment *to, bool polls)
{
    const double elapsed = MAX((double)(int64_t)(to->ns - from->ns) * 1e-9, 0);
    const int64_t apart = (int64_t)(to->apart_ns - from->apart_ns);
    const double own = MAX(elapsed - (double)(apart + (int64_t)(to->wait_ns - from->wait_ns)) * 1e-9, 0);
    const int64_t ran = (int64_t)(to->processor_ns - from->processor_ns), wanted = (int64_t)(to->wanted_ns - from->wanted_ns);
    const double ready = (double)(ran + wanted - apart - (int64_t)(to->helped_ns - from->helped_ns)) * 1e-9;
    return polls ? own : CLAMP(ready, own, elapsed);
}

/* The processor time of the task's work between two moments. */
static double had_seconds(const moment *from, const moment *to)
{
    const int64_t ran = (int64_t)(to->processor_ns - from->processor_ns);
    return MAX((double)(ran - (int64_t)(to->apart_ns - from->apart_ns)) * 1e-9, 0);
}

/* Less computing says nothing of a task's part of its processor: schedulers and limits give it in turns of some milliseconds. */
static const double LEAST_COMPUTING = 0.05; /* s */

double dome__balance_part(const dome_env *env, const moment *from, const moment *to)
{
    const double busy = dome__busy_seconds(from, to, env->transport->provider.can & DOME_TRANSPORT_SHARE);
    const double had = had_seconds(from, to);
    return busy >= LEAST_COMPUTING ? CLAMP(had / busy, 0, 1) : 0;
}

static void say_stretch(const dome_env *env, const moment *from, const moment *to, double *says)
{
    says[SAYS_BUSY] = dome__busy_seconds(from, to, env->transport->provider.can & DOME_TRANSPORT_SHARE);
    says[SAYS_ELAPSED] = MAX((double)(int64_t)(to->ns - from->ns) * 1e-9, 0);
    says[SAYS_HAD] = had_seconds(from, to);
    says[SAYS_WAITS] = (double)(to->waits - from->waits);
}

/* This task's numbers, `each` of them; there is room for `more`. g_free. */
static double *own_numbers(dome_env *env, dome_balance *b, int each, uint64_t more)
{
    bool ok = dome__env_advance(env); /* first, because this is computing time, too */
    const moment *left = &b->given.at;
    b->given.at = dome__balance_moment(env);
    if (b->processor == 0)
        b->processor = dome__processor_speed();
    double *mine = g_new0(double, (gsize)each + more);
    const moment *recent[2];
    const bool marked = dome__marks_recent(&b->marks, left, recent);
    say_stretch(env, &b->start, left, mine + STRETCH_ALL * SAYS_OF_STRETCH);
    if (marked) {
        say_stretch(env, recent[0], recent[1], mine + STRETCH_BEFORE * SAYS_OF_STRETCH);
        say_stretch(env, recent[1], left, mine + STRETCH_LAST * SAYS_OF_STRETCH);
    }
    const double part = dome__balance_part(env, marked && b->alarm.raised ? recent[1] : &b->start, left);
    b->given.part = part > 0 ? part : b->given.part;
    mine[SAYS_FAILED] = !ok;
    mine[SAYS_PHASE] = b->last.phase_seconds;
    mine[SAYS_MOVE] = b->last.move_seconds;
    mine[SAYS_PROCESSOR] = b->processor;
    mine[SAYS_LATE] = (double)b->ahead.late;
    say_domains(env, b, mine + SAYS);
    return mine;
}

static void sum_up(const dome_balance *b, hearing *h)
{
    for (int r = 0; r < b->size; r++) {
        h->failed = h->failed || dome__said(h, r, SAYS_FAILED) != 0;
        h->elapsed += dome__said(h, r, SAYS_ELAPSED) / b->size;
        h->busy_mean += dome__said(h, r, SAYS_BUSY) / b->size;
        h->busy_most = MAX(h->busy_most, dome__said(h, r, SAYS_BUSY));
        h->phase += dome__said(h, r, SAYS_PHASE) / b->size;
        h->move = MAX(h->move, dome__said(h, r, SAYS_MOVE));
        h->late = MAX(h->late, dome__said(h, r, SAYS_LATE));
    }
}

/* ---- ahead ---- */

/* Whether the costs of a domain's blocks travel with the numbers; the same on all tasks. */
static bool has_costs(const domain *d)
{
    return dome__domain_is_live(d) && (d->costs || d->uneven);
}

/* Each task gives `each` numbers, then the costs of its blocks in the domains in which blocks differ. */
static uint64_t *counts_of_all(const dome_balance *b)
{
    uint64_t *counts = g_new(uint64_t, b->size);
    for (int r = 0; r < b->size; r++) {
        counts[r] = (uint64_t)numbers_of_each(b);
        for (guint k = 0; k < b->domains->len; k++) {
            const domain *d = g_ptr_array_index(b->domains, k);
            if (has_costs(d))
                counts[r] += dome_layout_run(d->layout, r, NULL);
        }
    }
    return counts;
}

int dome__balance_give(dome_env *env, dome_balance *b)
{
    int each = numbers_of_each(b);
    uint64_t *counts = counts_of_all(b);
    double *mine = own_numbers(env, b, each, counts[b->rank] - (uint64_t)each), *costs = mine + each;
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!has_costs(d))
            continue;
        dome__costs_of(env, d, costs);
        costs += dome_layout_run(d->layout, b->rank, NULL);
    }
    int status = dome__relay_begin(b->relay, mine, counts);
    g_free(mine);
    g_free(counts);
    return status == DOME_OK ? status : dome__fail_transport(env, status);
}

/* All tasks' costs of a domain, which follow `at` numbers of a rank in its message; at is advanced. */
static void take_costs(const dome_balance *b, domain *d, uint64_t *at)
{
    g_free(d->told);
    d->told = g_new(double, d->blocks);
    for (uint64_t r = 0, done = 0; r < (uint64_t)b->size; r++) {
        uint64_t count = dome_layout_run(d->layout, (int)r, NULL);
        memcpy(d->told + done, dome__relay_numbers(b->relay, (int)r) + at[r], count * sizeof *d->told);
        done += count;
        at[r] += count;
    }
}

int dome__balance_take(dome_env *env, dome_balance *b, hearing *h)
{
    uint64_t waited = dome__clock_away_ns(env);
    int status = dome__relay_advance(b->relay, true);
    b->waited_ns += dome__clock_away_ns(env) - waited;
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    h->each = numbers_of_each(b);
    h->said = g_new(double, (gsize)h->each *(gsize)b->size);
    uint64_t *at = g_new(uint64_t, b->size);
    for (int r = 0; r < b->size; r++) {
        memcpy(h->said + (size_t)h->each * (size_t)r, dome__relay_numbers(b->relay, r), (size_t)h->each * sizeof *h->said);
        at[r] = (uint64_t)h->each;
    }
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (has_costs(d))
            take_costs(b, d, at);
    }
    g_free(at);
    sum_up(b, h);
    return DOME_OK;
}

void dome__balance_take_back(dome_balance *b, const hearing *h)
{
    for (guint k = 0, at = SAYS; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        g_clear_pointer(&d->told, g_free); /* the next phase may have another layout */
        if (!b->ahead.begun || !dome__domain_is_live(d))
            continue;
        d->seconds += dome__said(h, b->rank, (int)at + SAYS_SECONDS);
        at += SAYS_OF_DOMAIN;
    }
}

/* ---- at once ---- */

/* A relay needs the fewest messages, and of those between hosts one each way for each host; an all-gather, fewer bytes of a task
 * and on one host none. */
static bool by_relay(const dome_balance *b, const dome_transport *t)
{
    bool many = t->group.size >= MANY && t->group.leaders.count > 1 && t->group.leaders.count <= t->group.size / 2;
    return b->relay && (b->policy == DOME_BALANCE_RING || many);
}

int dome__balance_exchange(dome_env *env, dome_balance *b, hearing *h)
{
    if (by_relay(b, env->transport)) {
        int given = dome__balance_give(env, b);
        return given == DOME_OK ? dome__balance_take(env, b, h) : given;
    }
    h->each = numbers_of_each(b);
    double *mine = own_numbers(env, b, h->each, 0);
    h->said = g_new0(double, (gsize)h->each *(gsize)b->size);
    int status = dome__allgather(env->transport, DOME_F64, mine, (uint64_t)h->each, h->said);
    b->waited_ns += dome__clock_away_ns(env) - b->given.at.wait_ns;
    g_free(mine);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    sum_up(b, h);
    return DOME_OK;
}
