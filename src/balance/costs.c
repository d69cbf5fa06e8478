/* The costs of blocks, where they differ. */
#include "balance/balance_private.h"
#include "core/layout.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <string.h>

/* Blocks differ in cost if the standard deviation exceeds this fraction of the mean and the measurement correlates at least this
 * well with the one before: noise does not. */
static const double UNEVEN = 0.2, CORRELATION = 0.7;

/* Weight of a new measurement of a block's cost. */
static const double COST_WEIGHT = 0.5;

/* No block is free: mean costs are 1. */
static const double LEAST_COST = 1e-3;

/* The costs of this task's blocks in a domain, in any unit, in the order of its run; false if nothing is known. */
static bool measured_costs(dome_env *env, const domain *d, double *costs)
{
    const dome_block_times *times = d->object ? NULL : dome__block_times(env, d->layout);
    dome_span ranges[2];
    uint64_t count = 0;
    double sum = 0;
    for (int s = 0, n = dome__layout_block_ranges(d->layout, env->rank, ranges); s < n; count += ranges[s++].count) {
        if (times)
            memcpy(costs + count, times->ns + ranges[s].first, ranges[s].count * sizeof *costs);
        else if (dome_object_cost(d->object, ranges[s].first, ranges[s].count, costs + count) != DOME_OK)
            return false;
    }
    for (uint64_t k = 0; k < count; k++) {
        if (!(costs[k] >= 0) || !isfinite(costs[k]))
            return false;
        sum += costs[k];
    }
    return sum > 0;
}

/* The correlation of two measurements of this task's blocks, from position `first` of its run on; 0 if fewer than 4 blocks are in
 * both. */
static double correlation(const domain *d, int rank, uint64_t first, const double *costs, uint64_t count)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (uint64_t k = 0; k < count; k++) {
        double a = d->seen[dome__layout_block_at(d->layout, rank, first + k)], b = costs[k];
        if (a <= 0)
            continue;
        n++;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    double spread = (n * xx - x * x) * (n * yy - y * y);
    return n >= 4 && spread > 0 ? (n * xy - x * y) / sqrt(spread) : 0;
}

bool dome__costs_differ(dome_env *env, domain *d)
{
    int rank = env->rank;
    uint64_t count = dome_layout_run(d->layout, rank, NULL);
    double *costs = g_new(double, MAX(count, 1)), mean = 0, square = 0;
    bool uneven = false;
    if (count >= 4 && measured_costs(env, d, costs)) {
        /* the first blocks are computed with cold caches, so their times prove nothing */
        uint64_t skip = d->object ? 0 : count / 8 + 1, n = count - skip;
        const double *told = costs + skip;
        for (uint64_t k = 0; k < n; k++)
            mean += told[k] / (double)n;
        for (uint64_t k = 0; k < n; k++)
            square += (told[k] - mean) * (told[k] - mean);
        bool differ = sqrt(square / (double)n) > UNEVEN * mean;
        bool again = differ && d->seen && correlation(d, rank, skip, told, n) > CORRELATION;
        uneven = differ && (d->object || again);
        if (!d->seen)
            d->seen = g_new(double, d->blocks);
        memset(d->seen, 0, d->blocks * sizeof *d->seen);
        for (uint64_t k = 0; k < count; k++)
            d->seen[dome__layout_block_at(d->layout, rank, k)] = costs[k];
    }
    g_free(costs);
    return uneven;
}

/* Takes over the costs that an object states; they are comparable for all its blocks. */
static void take_costs(domain *d, const double *all, const uint64_t *counts, int size)
{
    double sum = 0;
    uint64_t at = 0;
    for (uint64_t k = 0; k < d->blocks; k++)
        sum += all[k];
    for (int r = 0; r < size && sum > 0; at += counts[r++])
        for (uint64_t k = 0; k < counts[r]; k++)
            d->costs[dome__layout_block_at(d->layout, r, k)] = all[at + k] * ((double)d->blocks / sum);
}

/* Processor times compare the blocks of one task, and those of different tasks once the speeds of their processors are taken into
 * account. (The share of its processor that a task gets is not part of them: that is its rate.) For a task that has timed nothing
 * the known costs are kept. weight: of the measurement, against the known costs. */
static void adjust_costs(domain *d, const double *all, const uint64_t *counts, int size, const hearing *h, double weight)
{
    double *cost = g_new(double, d->blocks), sum = 0, known = 0;
    uint64_t at = 0;
    for (int r = 0; r < size; at += counts[r++]) {
        double timed = 0;
        for (uint64_t k = 0; k < counts[r]; k++)
            timed += all[at + k];
        for (uint64_t k = 0; k < counts[r]; k++) {
            uint64_t block = dome__layout_block_at(d->layout, r, k);
            cost[block] = timed > 0 ? all[at + k] * dome__said(h, r, SAYS_PROCESSOR) : -1;
            sum += timed > 0 ? cost[block] : 0;
            known += timed > 0 ? d->costs[block] : 0;
        }
    }
    for (uint64_t k = 0; k < d->blocks && sum > 0; k++)
        if (cost[k] >= 0)
            d->costs[k] += weight * (MAX(cost[k] * (known / sum), LEAST_COST) - d->costs[k]);
    g_free(cost);
}

void dome__costs_of(dome_env *env, const domain *d, double *costs)
{
    if (!measured_costs(env, d, costs))
        memset(costs, 0, dome_layout_run(d->layout, env->rank, NULL) * sizeof *costs);
}

/* All blocks' costs, by owner. */
static int gather_costs(dome_env *env, const domain *d, const uint64_t *counts, double *all)
{
    double *mine = g_new(double, MAX(counts[env->rank], 1));
    dome__costs_of(env, d, mine);
    int status = dome__allgatherv(env->transport, DOME_F64, mine, counts, all);
    g_free(mine);
    return status == DOME_OK ? status : dome__fail_transport(env, status);
}

int dome__learn_costs(dome_env *env, const dome_balance *b, const hearing *h, domain *d)
{
    uint64_t *counts = g_new(uint64_t, b->size);
    for (int r = 0; r < b->size; r++)
        counts[r] = dome_layout_run(d->layout, r, NULL);
    bool told = d->told != NULL;
    double *all = told ? g_steal_pointer(&d->told) : g_new(double, d->blocks);
    int status = told ? DOME_OK : gather_costs(env, d, counts, all);
    bool first = !d->costs;
    if (first) {
        d->costs = g_new(double, d->blocks);
        for (uint64_t k = 0; k < d->blocks; k++)
            d->costs[k] = 1;
    }
    if (status == DOME_OK && d->object)
        take_costs(d, all, counts, b->size);
    else if (status == DOME_OK)
        adjust_costs(d, all, counts, b->size, h, first ? 1 : COST_WEIGHT);
    g_free(counts);
    g_free(all);
    return status;
}
