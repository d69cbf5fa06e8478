/* When a running program takes hosts and lets them go, by what a script of the user's prints (--hosts-script). Functions
 * of texts and times, which end in orders (order.h); they run and start nothing. */
#ifndef DOME_SRC_HOSTS_POLICY_H
#define DOME_SRC_HOSTS_POLICY_H

#include "wire/order.h"

#include <glib.h>

/* A host is taken or let go when the script has said so for SETTLE seconds, and at most once in REST seconds: nothing grows and
 * shrinks to and fro. A host on which no task could be started waits FIRST_WAIT seconds, then twice as long each time. */
#define DOME_HOSTS_SETTLE       5.0
#define DOME_HOSTS_REST         10.0
#define DOME_HOSTS_FIRST_WAIT   30.0
#define DOME_HOSTS_LONGEST_WAIT 3600.0

typedef struct dome_offer {
    char *host;
    int slots;
} dome_offer;

/* The text for a shell: the script, and then a comment that tells its exit status, on a line of its own even if the script's last
 * line has no end. */
#define DOME_SCRIPT_COMMAND "%s\nprintf '\\n#status %%d\\n' $?"

/* Whether this is all the output of a script that has ended with status 0. */
bool dome__script_succeeded(const char *output);

/* Reads lines "host" (one slot) or "host:slots", as scripts for Elastic Horovod print them; # begins a comment. A host in several
 * lines has the sum. An array of dome_offer, g_array_unref'd; NULL with *message (g_free'd) if a line is neither. */
GArray *dome__offers_parse(const char *text, char **message);

typedef struct dome_hosts_policy dome_hosts_policy;

dome_hosts_policy *dome__hosts_policy_new(void);
void dome__hosts_policy_free(dome_hosts_policy *policy);

/* Notes what the script has printed. now: seconds. */
void dome__hosts_policy_offer(dome_hosts_policy *policy, const GArray *offers, double now);

/* A running program at a time (seconds). */
typedef struct dome_hosts_sample {
    double now;
    int size, least, most;    /* tasks; most 0: no limit */
    const char *const *hosts; /* by rank */
} dome_hosts_sample;

/* The order that is due, to be cleared by the caller; false: none. Task 0 stays. */
bool dome__hosts_policy_order(const dome_hosts_policy *policy, const dome_hosts_sample *program, dome_order *order);

/* Takes the outcome of the order. */
void dome__hosts_policy_ended(dome_hosts_policy *policy, const dome_order *order, bool good, double now);

#endif
