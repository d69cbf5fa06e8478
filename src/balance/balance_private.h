/* Shared by the files that implement a phase: balance.c (when it is held, and its steps), domains.c, learn.c, costs.c, decide.c.
 */
#ifndef DOME_SRC_BALANCE_PRIVATE_H
#define DOME_SRC_BALANCE_PRIVATE_H

#include "balance/balance.h"
#include "balance/policy.h"

/* All objects of one length and block size. */
typedef struct domain {
    uint64_t length, block_size, blocks;
    double weight; /* its work as a fraction of that of all domains */
    double *costs; /* by block, mean 1; NULL: blocks cost the same */
    dome_flow *flow;
    double *seen; /* costs measured in the phase before, by block; 0: not this task's block then. NULL: none measured */

    /* of the current phase */
    dome_layout *layout; /* NULL: no objects */
    dome_object *object; /* an object that states what its blocks cost; NULL: none does */
    uint64_t block_bytes;
    double seconds;          /* this task's computing time for it */
    uint64_t *counts, start; /* the new division */
    uint64_t moves;          /* blocks that change owner */
} domain;

struct dome_balance {
    dome_balancing policy;
    dome_topology topology;
    int rank, size, group;
    uint64_t every, phases_left; /* 0 and UINT64_MAX: adaptive, no limit */
    bool check_pointers;

    bool started;  /* an operation in which data may move has begun */
    uint64_t next; /* number of the operation before which the next phase is due */
    GPtrArray *domains;
    dome_speed *speeds; /* by rank; the same on all tasks */
    dome_schedule schedule;
    double bandwidth;  /* of moves, bytes per second */
    double processor;  /* speed of this task's processor when it is not shared, in any unit */
    bool skewed;       /* data has been moved because speeds differ */
    bool by_processor; /* speeds are those of the tasks' processors, not of their work */

    /* since the last phase */
    uint64_t start_sequence, start_ns, start_wait_ns, start_processor_ns;
    bool was_calm;                      /* the phase changed nothing */
    double move_seconds, phase_seconds; /* as measured by this task */
    uint64_t moved_bytes;               /* of the busiest task */

    /* the alarm */
    uint64_t window_ns, window_wait_ns;
    double usual_wait, alarm_share; /* usual_wait < 0: not known yet */
    bool alarmed;

    uint64_t waited_ns; /* at the beginning of phases, for the tasks that reach them last */
    dome_balance_report report;
};

/* ---- domains.c ---- */

static inline bool dome__domain_is_live(const domain *d)
{
    return d->layout != NULL;
}

void dome__domain_free(void *domain);

/* Finds the domains that have objects now, in the order in which each got its first: the same on all tasks. */
void dome__domains_survey(dome_env *env, dome_balance *b);

/* The cost that a rank owns, as a fraction of the domain's. */
double dome__domain_owned_part(const domain *d, int rank);

/* ---- learn.c ---- */

/* The numbers that each task sends to the others: its own, then those of each live domain. */
enum { SAYS_BUSY, SAYS_ELAPSED, SAYS_FAILED, SAYS_PHASE, SAYS_MOVE, SAYS_PROCESSOR, SAYS_HAD, SAYS };
enum { SAYS_SECONDS, SAYS_UNEVEN, SAYS_OF_DOMAIN };

/* The numbers of all tasks. */
typedef struct hearing {
    double *said; /* `each` numbers of each rank */
    int each;
    bool failed;
    double elapsed, busy_mean, busy_most, phase, move; /* seconds */
    bool doubt;
} hearing;

static inline double dome__said(const hearing *h, int rank, int what)
{
    return h->said[(size_t)rank * (size_t)h->each + (size_t)what];
}

/* Collective. Fails by dome__fail. */
int dome__balance_exchange(dome_env *env, dome_balance *b, hearing *h);

/* Updates the weights of domains, the costs of blocks and the speeds of tasks. Collective. Fails by dome__fail. */
int dome__balance_learn(dome_env *env, dome_balance *b, hearing *h);

/* The median of those values that are positive and finite; 0 if there is none. */
double dome__median(const double *values, int n);

/* ---- costs.c ---- */

/* Whether the costs of this task's blocks differ by more than noise: the previous measurement must agree. Costs that an object
 * states need no such check. */
bool dome__costs_differ(dome_env *env, domain *d);

/* Gets the costs of blocks from their owners. Collective. Fails by dome__fail. */
int dome__learn_costs(dome_env *env, const dome_balance *b, const hearing *h, domain *d);

/* ---- decide.c ---- */

/* Asks the policy for a division of every domain. If moving one of them pays, all are moved. */
bool dome__balance_decide(dome_balance *b);

/* A random division, seeded with the number of the operation: some tasks may get nothing. */
void dome__balance_decide_randomly(dome_balance *b, uint64_t sequence);

#endif
