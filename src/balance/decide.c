/* The decision of a phase: a division of every domain. */
#include "balance/balance_private.h"

static void load_of(const dome_balance *b, const domain *d, const double *rates, const double *noises, uint64_t *counts,
                    dome_load *load)
{
    for (int r = 0; r < b->size; r++)
        counts[r] = dome_layout_run(d->layout, r, NULL);
    *load = (dome_load){b->size, d->blocks, 0, counts, rates, d->costs, b->topology, noises};
    dome_layout_run(d->layout, 0, &load->start);
}

bool dome__balance_decide(dome_balance *b)
{
    double *rates = g_new(double, b->size), *noises = g_new(double, b->size), bytes = 0;
    uint64_t *counts = g_new(uint64_t, b->size);
    bool pays = false;
    for (int r = 0; r < b->size; r++) {
        rates[r] = b->speeds[r].rate;
        noises[r] = b->every ? 0 : b->speeds[r].noise; /* noise does not count against an interval that the user has set */
    }
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        dome_load load;
        load_of(b, d, rates, noises, counts, &load);
        dome_division division = {load.start, d->counts};
        dome__policy_groups(&load, b->group, d->flow, &division);
        d->start = division.start;
        uint64_t busiest;
        d->moves = dome__division_moves(&load, &division, &busiest);
        double moved = (double)(busiest * d->block_bytes);
        bytes += moved;
        /* the gain in a domain counts for the whole program by the domain's weight */
        double then = b->group == b->size ? dome__division_time(&load, &division) : dome__oracle_time(&load);
        if (d->weight > 0 && dome__division_pays(&b->schedule, &load, &division, then, moved / b->bandwidth / d->weight))
            pays = true;
    }
    b->moved_bytes = pays ? (uint64_t)bytes : 0;
    g_free(rates);
    g_free(noises);
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
        d->start = b->topology == DOME_RING ? (uint64_t)(g_rand_double(random) * (double)d->blocks) % d->blocks : 0;
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
