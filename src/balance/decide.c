/* The decision of a phase: a division of every domain. */
#include "balance/balance_private.h"
#include "transport/transport.h"

#include <string.h>

/* The tasks' speeds, by rank. */
typedef struct speeds {
    double *rates, *later, *noises;
} speeds;

/* A division that the user's options keep for some time is not made for the time after it, and noise does not count against an
 * interval that the user has set. */
static speeds speeds_of(dome_balance *b)
{
    speeds s = {g_new(double, b->size), g_new(double, b->size), g_new(double, b->size)};
    double stay = dome__schedule_stay(&b->schedule);
    b->schedule.changed = b->schedule.moves = false;
    for (int r = 0; r < b->size; r++) {
        const dome_speed *speed = &b->speeds[r];
        s.rates[r] = speed->rate;
        s.later[r] = dome__speed_ahead(speed, stay);
        s.noises[r] = b->when.every ? 0 : speed->noise;
        b->schedule.changed |= speed->changed;
        b->schedule.moves |= dome__speed_moves(speed) && !b->when.every;
    }
    return s;
}

static void load_of(const dome_balance *b, const domain *d, const speeds *s, uint64_t *counts, dome_load *load)
{
    for (int r = 0; r < b->size; r++)
        counts[r] = dome_layout_run(d->layout, r, NULL);
    *load = (dome_load){.ranks = b->size,
                        .blocks = d->blocks,
                        .counts = counts,
                        .rates = s->rates,
                        .later = b->schedule.moves ? s->later : NULL,
                        .costs = d->costs,
                        .topology = d->topology,
                        .noises = s->noises};
    dome_layout_run(d->layout, 0, &load->start);
}

/* The part of the program's time to which a gain in a domain applies: in which tasks compute, and compute this domain. */
static double part_of(const dome_balance *b, const domain *d)
{
    return d->weight * b->learned.computing;
}

/* The time that moving takes for blocks of a domain, as if the gain were one of all the time. */
static dome_moving moving_of(const dome_balance *b, const domain *d)
{
    dome_moving moving = b->moving;
    for (int k = 0; k < DOME_REACHES; k++)
        moving.each[k] *= (double)d->block_bytes / part_of(b, d);
    return moving;
}

/* Links that have been measured say what moving takes until moves themselves do. */
static void take_links(dome_balance *b, const dome_transport_links *links)
{
    if (b->moving.host || b->moving.cluster)
        return;
    b->moving.host = links->host;
    b->moving.cluster = links->cluster;
    for (int k = 0; k < DOME_REACHES; k++) {
        double bandwidth = links->crowded[k] > 0 ? links->crowded[k] : links->bandwidth[k];
        if (bandwidth > 0)
            b->moving.each[k] = 1 / bandwidth;
    }
}

/* The new division of a domain; whether moving pays. */
static bool decide_domain(dome_balance *b, domain *d, const dome_load *load)
{
    dome_division division = {load->start, d->counts};
    dome_moving moving = moving_of(b, d);
    bool all = b->group == b->size;
    dome__policy_groups(load, b->group, d->flow, &division);
    if (all && !b->when.every && d->weight > 0)
        dome__policy_spare(load, &moving, dome__schedule_horizon(&b->schedule), &division);
    d->start = division.start;
    uint64_t busiest;
    d->moves = dome__division_moves(load, &division, &busiest);
    double by_reach[DOME_REACHES], then = all ? dome__division_time(load, &division) : dome__oracle_time(load);
    double seconds = dome__moving_seconds(load, &division, &moving, by_reach);
    for (int k = 0; k < DOME_REACHES && d->weight > 0 && !d->followed; k++)
        b->planned[k] += by_reach[k] * part_of(b, d);
    if (!(d->weight > 0) || (d->followed && dome__speeds_in_doubt(b->speeds, b->size)))
        return false;
    return d->followed ? dome__division_has_paid(&b->schedule, load, &division, then, seconds, &d->lost)
                       : dome__division_pays(&b->schedule, load, &division, then, seconds, &d->lost);
}

bool dome__balance_decide(dome_env *env, dome_balance *b)
{
    uint64_t *counts = g_new(uint64_t, b->size);
    speeds s = speeds_of(b);
    bool pays = false;
    if (b->group < b->size) /* several moves in a row are how a ring gets balanced */
        b->schedule.caution = 0;
    take_links(b, &env->transport->group.links);
    memset(b->planned, 0, sizeof b->planned);
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        dome_load load;
        load_of(b, d, &s, counts, &load);
        pays |= decide_domain(b, d, &load);
    }
    for (guint k = 0; k < b->domains->len && pays; k++)
        ((domain *)g_ptr_array_index(b->domains, k))->lost = 0;
    if (!pays)
        memset(b->planned, 0, sizeof b->planned);
    g_free(s.rates);
    g_free(s.later);
    g_free(s.noises);
    g_free(counts);
    return pays;
}

void dome__balance_decide_randomly(dome_balance *b, uint64_t sequence)
{
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        GRand *random = g_rand_new_with_seed((guint32)dome__hash(dome__hash(sequence, d->length), d->block_size));
        double *weight = g_new(double, b->size), sum = 0, before = 0;
        for (int r = 0; r < b->size; r++)
            sum += weight[r] = g_rand_int_range(random, 0, 4) == 0 ? 0 : g_rand_double(random);
        d->start = d->topology == DOME_RING ? (uint64_t)(g_rand_double(random) * (double)d->blocks) % d->blocks : 0;
        uint64_t at = 0;
        for (int r = 0; r < b->size; r++) {
            before += weight[r];
            uint64_t end =
                r == b->size - 1 || sum <= 0 ? d->blocks : MIN((uint64_t)(before / sum * (double)d->blocks), d->blocks);
            d->counts[r] = end - at;
            at = end;
        }
        d->moves = 1;
        g_free(weight);
        g_rand_free(random);
    }
}
