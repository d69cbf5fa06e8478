/* Orders to change the number of tasks or their hosts: from users (`dome grow`), from a script of hosts, from --dome-size auto.
 * hub_orders.c alone changes these members. */
#ifndef DOME_SRC_HUB_ORDERS_H
#define DOME_SRC_HUB_ORDERS_H

#include "wire/order.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct hub_state hub_state;

/* Instead of the descriptor of a user who waits for the answer to an order: the script of hosts does, or --dome-size auto. */
enum { DOME_HUB_SCRIPT = -2, DOME_HUB_SIZE = -3 };

/* A command that has an order for the program (order.h). */
typedef struct hub_ask {
    int fd;     /* -1: none */
    bool waits; /* the line is complete: until tasks have met */
    guint used;
    char line[DOME_ORDER_MOST];
} hub_ask;

enum { DOME_HUB_ASKS = 4 };

/* Hosts that are being added to the virtual machine, by a process of their own: the launcher may take long for that, or for ever.
 */
typedef struct hub_adding {
    pid_t process;
    int fd;       /* it says there what has failed, and closes it; -1: nothing is being added */
    double until; /* it is given up then */
    GString *said;
    dome_order order; /* to be carried out afterwards */
    int asker;
} hub_adding;

typedef enum hub_suspending { DOME_HUB_NO_SUSPENDING, DOME_HUB_STOPS, DOME_HUB_GOES_ON_AGAIN } hub_suspending;

typedef struct hub_orders {
    int listen_fd;
    hub_ask asks[DOME_HUB_ASKS]; /* orders that have not arrived completely */
    int asker;                   /* waits for the answer to the order that is carried out; -1: nobody does */
    hub_suspending suspending;   /* all tasks are to stop, or to run again, */
    int suspender;               /* and who waits for that; -1: nobody */
    bool meet;                   /* a task wants all to meet at a boundary */
    double asked_at;             /* when the last order came */
    int script_fd;               /* of the script of hosts, while it runs; -1: it does not */
    hub_adding adding;
} hub_orders;

void dome__hub_orders_open(hub_state *s);

/* Answers who still waits. */
void dome__hub_orders_close(hub_state *s);

/* Takes what users have sent, and the orders of the script and of --dome-size auto. */
void dome__hub_take_orders(hub_state *s);

/* Whether all tasks can stop now: none is on its way into the next view. An order may wait for its boundary. */
bool dome__hub_may_suspend(const hub_state *s);

/* Whether an order may be given now by the program's own options: none is under way, and the program goes on. */
bool dome__hub_may_order(const hub_state *s);

/* Takes an order; the asker is answered when it has been carried out. First adds the hosts on which the order starts tasks to the
 * virtual machine, unless the program has tasks there. Takes over the order. */
void dome__hub_order(hub_state *s, dome_order *order, int asker);

/* Answers the asker of the order that was carried out, if there is one. */
void dome__hub_answer(hub_state *s, const char *word, const char *text);

/* A task wants all to meet at a boundary. */
void dome__hub_want_meeting(hub_state *s);

/* Orders all tasks to meet, if a task wants that and it can be now. */
void dome__hub_meet(hub_state *s);

#endif
