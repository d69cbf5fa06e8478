/* How a phase learns: all tasks draw the same conclusions from the numbers of all. */
#include "balance/balance_private.h"
#include "core/object_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of computing without a wait, on average, that show a task's share of its processor. */
static const double LONG_STRETCH = 0.05;

/* A task that has less of its processor while it computes shares it. */
static const double OWN_PART = 0.8;

/* The least part of the time in which tasks are taken to compute. */
static const double LEAST_PART = 0.001;

/* At the user's interval: a phase after less than this part of the usual computing says nothing of speeds. The usual amount is
 * forgotten by this factor in each phase. */
static const double TELLING = 0.1, USUAL = 0.9;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double dome__median(const double *values, int n)
{
    double *sorted = g_new(double, (gsize)MAX(n, 1));
    int known = 0;
    for (int k = 0; k < n; k++)
        if (values[k] > 0 && isfinite(values[k]))
            sorted[known++] = values[k];
    qsort(sorted, (size_t)known, sizeof *sorted, compare_doubles);
    double middle = known ? sorted[known / 2] : 0;
    g_free(sorted);
    return middle;
}

/* Sets the weights of domains: by their computing times, or by their sizes if nothing has been computed for any. */
static void weigh(dome_balance *b, const hearing *h)
{
    double sum = 0, bytes = 0;
    int at = SAYS;
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        d->weight = 0;
        if (!dome__domain_is_live(d))
            continue;
        for (int r = 0; r < b->size; r++)
            d->weight += dome__said(h, r, at + SAYS_SECONDS);
        at += SAYS_OF_DOMAIN;
        sum += d->weight;
        bytes += (double)d->block_bytes * (double)d->blocks;
    }
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (dome__domain_is_live(d))
            d->weight = sum > 0 ? d->weight / sum : (double)d->block_bytes * (double)d->blocks / bytes;
    }
}

/* The work a rank owned, as a fraction of all work. */
static double owned_work(const dome_balance *b, int rank)
{
    double work = 0;
    for (guint k = 0; k < b->domains->len; k++) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (dome__domain_is_live(d))
            work += d->weight * dome__domain_owned_part(d, rank);
    }
    return work;
}

/* In a program whose blocks have measured costs, costs change, and the known ones describe the past. A task's speed is then its
 * share of its processor, in the unit of the costs. A speed computed from the work it owned would include changes of costs that
 * have not been learnt yet, and count them twice. */
static double rate_by_processor(const hearing *h, int rank, int stretch)
{
    double busy = dome__said_of(h, rank, stretch, SAYS_BUSY), had = MIN(dome__said_of(h, rank, stretch, SAYS_HAD), busy);
    return busy > 0 && had > 0 ? dome__said(h, rank, SAYS_PROCESSOR) * had / busy : 0;
}

static bool costs_are_measured(const dome_balance *b)
{
    for (guint k = 0; k < b->domains->len; k++) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (dome__domain_is_live(d) && d->costs && !d->object)
            return true;
    }
    return false;
}

/* The rate of a rank with a whole processor, in the unit of the rates. */
static double unit_of(const dome_balance *b, const hearing *h, int rank, int stretch, double work)
{
    double had = dome__said_of(h, rank, stretch, SAYS_HAD);
    return b->learned.by_processor ? dome__said(h, rank, SAYS_PROCESSOR) : had > 0 ? work / had : 0;
}

/* Whether other programs, or limits, take part of a task's processor while it computes. */
static bool processors_are_shared(const dome_balance *b, const hearing *h, int stretch)
{
    for (int r = 0; r < b->size; r++)
        if (dome__said_of(h, r, stretch, SAYS_HAD) < OWN_PART * dome__said_of(h, r, stretch, SAYS_BUSY))
            return true;
    return false;
}

/* The numbers of all tasks for a stretch. */
typedef struct stretch {
    int which;
    double seconds; /* for which the busiest task has computed: other time shows no speed */
    bool shared;
    bool telling; /* the tasks computed enough to show their speeds */
} stretch;

/* Learns what a rank has shown of its speed. Long stretches of computing show it. If tasks on shared processors wait for each
 * other every few milliseconds, only the task for which the others wait shows its speed. */
static bool learn_speed(dome_balance *b, const hearing *h, int rank, const stretch *s, double rate, double mean)
{
    dome_speed *speed = &b->speeds[rank];
    double busy = dome__said_of(h, rank, s->which, SAYS_BUSY), elapsed = dome__said_of(h, rank, s->which, SAYS_ELAPSED);
    if (!s->shared || b->when.every || !(rate > 0) || !(elapsed > 0) ||
        busy / (1 + dome__said_of(h, rank, s->which, SAYS_WAITS)) >= LONG_STRETCH)
        return dome__speed_update(speed, rate, s->seconds, mean);
    return dome__speed_between(speed, rate * busy / elapsed, rate, s->seconds, mean);
}

/* Whether the tasks have computed enough since the last phase to show their speeds. The user's interval may end after operations
 * that compute next to nothing; a task that lost its processor there for a moment would seem to be hundreds of times slower. */
static bool is_telling(dome_balance *b, const hearing *h)
{
    double *busy = g_new(double, b->size);
    for (int r = 0; r < b->size; r++)
        busy[r] = dome__said(h, r, SAYS_BUSY);
    double middle = dome__median(busy, b->size);
    bool telling = !b->when.every || middle >= TELLING * b->learned.usual_busy;
    b->learned.usual_busy = MAX(middle, USUAL * b->learned.usual_busy);
    g_free(busy);
    return telling;
}

/* Speeds are parts of the median task's processor: the cost of an operation changes in the course of a program, but its processor
 * time is much the same on all tasks. Returns whether a measurement is in doubt. */
static bool learn_from(dome_balance *b, const hearing *h, const stretch *s)
{
    double *rate = g_new(double, b->size), *unit = g_new(double, b->size), mean = 0;
    bool doubt = false;
    for (int r = 0; r < b->size; r++) {
        double busy = dome__said_of(h, r, s->which, SAYS_BUSY), work = owned_work(b, r);
        rate[r] = busy > 0 && work > 0 ? (b->learned.by_processor ? rate_by_processor(h, r, s->which) : work / busy) : 0;
        unit[r] = unit_of(b, h, r, s->which, work);
        mean += b->speeds[r].rate / b->size;
    }
    double middle = dome__median(unit, b->size);
    if (!(middle > 0))
        middle = dome__median(rate, b->size);
    for (int r = 0; r < b->size && middle > 0; r++) {
        bool learns = s->telling || !(rate[r] > 0);
        if (b->when.every && learns)
            b->speeds[r].doubt = rate[r] / middle; /* the user has set the interval: there may be no later phase to confirm the
                                                    * measurement */
        if (learns && learn_speed(b, h, r, s, rate[r] / middle, mean))
            doubt = true;
    }
    g_free(rate);
    g_free(unit);
    return doubt;
}

static stretch stretch_of(const dome_balance *b, const hearing *h, int which)
{
    stretch s = {.which = which, .shared = processors_are_shared(b, h, which), .telling = true};
    for (int r = 0; r < b->size; r++)
        s.seconds = MAX(s.seconds, dome__said_of(h, r, which, SAYS_BUSY));
    return s;
}

/* A task has asked for this phase because something is not as before. The mean since the last phase hides what; two recent
 * stretches show it, and the second confirms the first. */
static void learn_speeds(dome_balance *b, hearing *h)
{
    const stretch recent[] = {stretch_of(b, h, STRETCH_BEFORE), stretch_of(b, h, STRETCH_LAST)};
    stretch all = stretch_of(b, h, STRETCH_ALL);
    all.telling = is_telling(b, h);
    b->learned.computing = h->elapsed > 0 ? CLAMP(h->busy_most / h->elapsed, LEAST_PART, 1) : 1;
    bool by_processor = costs_are_measured(b);
    if (by_processor && !b->learned.by_processor)
        memset(b->speeds, 0, (size_t)b->size * sizeof *b->speeds); /* the known speeds are in another unit */
    b->learned.by_processor |= by_processor;
    if (b->alarm.raised && recent[0].seconds >= b->schedule.shortest && recent[1].seconds >= b->schedule.shortest) {
        learn_from(b, h, &recent[0]);
        h->doubt |= learn_from(b, h, &recent[1]);
    } else {
        h->doubt |= learn_from(b, h, &all);
    }
    b->schedule.noise = b->schedule.spread = 0;
    for (int r = 0; r < b->size; r++) {
        b->schedule.noise += b->speeds[r].noise / b->size;
        b->schedule.spread += b->speeds[r].spread / b->size;
    }
}

int dome__balance_learn(dome_env *env, dome_balance *b, hearing *h)
{
    int status = DOME_OK, at = SAYS;
    weigh(b, h);
    for (guint k = 0; status == DOME_OK && k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        bool uneven = d->costs || d->told;
        for (int r = 0; r < b->size; r++)
            uneven = uneven || dome__said(h, r, at + SAYS_UNEVEN) != 0;
        at += SAYS_OF_DOMAIN;
        if (uneven && (d->told || !b->ahead.begun))
            status = dome__learn_costs(env, b, h, d);
        h->doubt = h->doubt || (uneven && !d->costs); /* the costs come with the next numbers */
        d->uneven = uneven;
        dome__block_times(env, d->layout)->uneven = uneven && !d->object;
    }
    if (status == DOME_OK)
        learn_speeds(b, h);
    return status;
}
