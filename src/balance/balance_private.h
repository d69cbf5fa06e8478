/* Shared by the files that implement a phase: balance.c (when it is held, and its steps), balance_marks.c, domains.c,
 * balance_exchange.c, learn.c, costs.c, decide.c. */
#ifndef DOME_SRC_BALANCE_PRIVATE_H
#define DOME_SRC_BALANCE_PRIVATE_H

#include "balance/balance.h"
#include "balance/balance_marks.h"
#include "balance/balance_operations.h"
#include "balance/policy.h"
#include "transport/relay.h"

/* All objects of one length and block size. */
typedef struct domain {
    uint64_t length, block_size, blocks;
    double weight; /* its work as a fraction of that of all domains */
    double *costs; /* by block, mean 1; NULL: blocks cost the same */
    dome_flow *flow;
    double lost;  /* dome__division_pays */
    double *seen; /* costs measured in the phase before, by block; 0: not this task's block then. NULL: none measured */
    bool uneven; /* a task has found that its blocks differ: numbers that travel ahead include costs, as they do once costs is set
                  */

    /* of the current phase */
    dome_layout *layout; /* NULL: no objects */
    dome_object *object; /* an object that states what its blocks cost; NULL: none does */
    dome_topology topology;
    bool followed; /* dome__object_is_followed */
    uint64_t block_bytes;
    double seconds;          /* this task's computing time for it */
    double *told;            /* costs of blocks that have travelled ahead, as in an all-gather by owner; NULL: none have */
    uint64_t *counts, start; /* the new division */
    uint64_t moves;          /* blocks that change owner */
} domain;

/* When phases are held. balance.c */
typedef struct timetable {
    uint64_t every, phases_left;        /* 0 and UINT64_MAX: adaptive, no limit */
    bool started;                       /* an operation in which data may move has begun */
    bool due;                           /* a phase, or a step of one, before the operation that is about to begin */
    uint64_t next;                      /* number of the operation before which the next phase is due */
    uint64_t together, together_before; /* collectives (group.h) up to the last phase, to the last operation that moves data */
} timetable;

/* A phase whose numbers travel ahead (balance_exchange.c) has two steps, in operations that all tasks know: in one the task gives
 * its numbers, before the other, the timetable's `next`, it takes those of all, decides and moves data. balance.c */
typedef struct two_steps {
    bool give;            /* what is due is the first step */
    bool begun;           /* between the two steps */
    double give_seconds;  /* that the first step took */
    uint64_t looked_ns;   /* when the task last looked for numbers */
    uint64_t late, delay; /* operations after which this task had the last numbers, and after which all tasks should have them */
} two_steps;

/* This task's numbers. balance_exchange.c */
typedef struct given_numbers {
    moment at;   /* when they were taken */
    double part; /* of the processor, that this task had while it computed, by the last phase; 0: not known */
} given_numbers;

/* The last phase. balance.c */
typedef struct last_phase {
    bool was_calm;                      /* it changed nothing */
    double move_seconds, phase_seconds; /* as measured by this task */
} last_phase;

/* Whether tasks wait longer than usual. balance.c */
typedef struct waiting_alarm {
    uint64_t window_ns, window_wait_ns;
    double usual_wait, share; /* usual_wait < 0: not known yet */
    bool raised;
} waiting_alarm;

/* Facts about the speeds, by learn.c. */
typedef struct lessons {
    bool by_processor; /* they are those of the tasks' processors, not of their work */
    double usual_busy; /* seconds that the median task computes between two phases */
    double computing;  /* the part of the time in which the busiest task computes */
} lessons;

struct dome_balance {
    dome_balancing policy;
    dome_topology topology;
    int rank, size, group;
    bool check_pointers;

    timetable when;
    dome_relay *relay; /* NULL: none is needed, or the transport cannot tell whether a message has arrived */
    two_steps ahead;
    given_numbers given;
    GPtrArray *domains;
    dome_speed *speeds; /* by rank; the same on all tasks */
    dome_schedule schedule;
    dome_moving moving; /* seconds per byte */
    double processor;   /* speed of this task's processor when it is not shared, in any unit */
    bool skewed;        /* data has been moved because speeds differ */
    lessons learned;
    marks marks;

    moment start; /* the measurement since the last phase */
    last_phase last;
    double planned[DOME_REACHES]; /* what the last move should take, by kind of link; 0: nothing has moved */
    waiting_alarm alarm;

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

/* Forgets the computing times of the live domains: a new measurement begins. */
void dome__domains_restart(dome_env *env, dome_balance *b);

/* The cost that a rank owns, as a fraction of the domain's. */
double dome__domain_owned_part(const domain *d, int rank);

/* ---- balance_exchange.c: at once, in an all-gather, or ahead, by a relay ---- */

/* The numbers that each task tells the others: those of each stretch, others of its own, then those of each live domain. The
 * stretches are the time since the last phase, and the last two between marks, which are 0 if there are not enough marks. */
enum { STRETCH_ALL, STRETCH_BEFORE, STRETCH_LAST, STRETCHES };
enum { SAYS_BUSY, SAYS_ELAPSED, SAYS_HAD, SAYS_WAITS, SAYS_OF_STRETCH };
enum { SAYS_FAILED = STRETCHES * SAYS_OF_STRETCH, SAYS_PHASE, SAYS_MOVE, SAYS_PROCESSOR, SAYS_LATE, SAYS };
enum { SAYS_SECONDS, SAYS_UNEVEN, SAYS_OF_DOMAIN };

/* The numbers of all tasks. */
typedef struct hearing {
    double *said; /* `each` numbers of each rank */
    int each;
    bool failed;
    double elapsed, busy_mean, busy_most, phase, move; /* seconds */
    double late;                                       /* the most */
    bool doubt;
} hearing;

static inline double dome__said(const hearing *h, int rank, int what)
{
    return h->said[(size_t)rank * (size_t)h->each + (size_t)what];
}

static inline double dome__said_of(const hearing *h, int rank, int stretch, int what)
{
    return dome__said(h, rank, stretch * SAYS_OF_STRETCH + what);
}

/* At once, in an all-gather or by the relay. Collective. Fails by dome__fail. */
int dome__balance_exchange(dome_env *env, dome_balance *b, hearing *h);

/* The time for which this task had a processor or would have used one, between two moments. Messages take processor time, too,
 * and a task whose share is small is stopped for long while it sends or receives one: by the clock around the call it waited for
 * others, who wait for it. Where waiting tasks sleep in the kernel, its clocks show the difference. polls: while a task waits,
 * it uses its processor; then the call's clock is all there is. */
double dome__busy_seconds(const moment *from, const moment *to, bool polls);

/* The part of the processor that this task had while it computed between two moments; 0: it computed too little to tell. */
double dome__balance_part(const dome_env *env, const moment *from, const moment *to);

/* Ahead: gives this task's numbers; fetches those of all, and waits for them if it must. Between the two the live domains stay as
 * they are (no survey). Fail by dome__fail. */
int dome__balance_give(dome_env *env, dome_balance *b);
int dome__balance_take(dome_env *env, dome_balance *b, hearing *h);

/* There was too little to judge: adds what this task has given ahead to its measurements again, and forgets the costs of blocks
 * that have travelled. */
void dome__balance_take_back(dome_balance *b, const hearing *h);

/* ---- learn.c ---- */

/* Updates the weights of domains, the costs of blocks and the speeds of tasks. Collective unless the numbers have travelled
 * ahead. Fails by dome__fail. */
int dome__balance_learn(dome_env *env, dome_balance *b, hearing *h);

/* The median of those values that are positive and finite; 0 if there is none. */
double dome__median(const double *values, int n);

/* ---- costs.c ---- */

/* Whether the costs of this task's blocks differ by more than noise: the previous measurement must agree. Costs that an object
 * states need no such check. */
bool dome__costs_differ(dome_env *env, domain *d);

/* The costs of this task's blocks, in the order of its run; 0 if they are not known. */
void dome__costs_of(dome_env *env, const domain *d, double *costs);

/* Gets the costs of blocks from their owners, unless they have travelled ahead. Collective then. Fails by dome__fail. */
int dome__learn_costs(dome_env *env, const dome_balance *b, const hearing *h, domain *d);

/* ---- decide.c ---- */

/* Asks the policy for a division of every domain. If moving one of them pays, all are moved. */
bool dome__balance_decide(dome_env *env, dome_balance *b);

/* A random division, seeded with the number of the operation: some tasks may get nothing. */
void dome__balance_decide_randomly(dome_balance *b, uint64_t sequence);

#endif
