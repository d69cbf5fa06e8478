/* Shared by policy.c, policy_speed.c and policy_when.c. */
#ifndef DOME_SRC_POLICY_PRIVATE_H
#define DOME_SRC_POLICY_PRIVATE_H

#include "balance/policy.h"

#include <math.h>

static inline bool dome__rate_known(double rate)
{
    return rate > 0 && isfinite(rate);
}

static inline double dome__block_cost(const dome_load *load, uint64_t block)
{
    return load->costs ? load->costs[block] : 1;
}

/* Rates of all ranks, freed by g_free: the mean in the place of those that are not known. */
double *dome__rates_of(const dome_load *load);

/* A rank's rate at a moment between now (0) and the end of the time for which a division is made (1). rates: dome__rates_of. */
static inline double dome__rate_at(const dome_load *load, const double *rates, int rank, double moment)
{
    bool changes = load->later && dome__rate_known(load->later[rank]) && moment > 0;
    return changes ? 1 / ((1 - moment) / rates[rank] + moment / load->later[rank]) : rates[rank];
}

#endif
