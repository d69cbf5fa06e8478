/* Orders of a user to a running program: `dome grow`, `dome shrink`, `dome move`, `dome suspend`, `dome resume`, over a local
 * socket (transport/control_socket.h). A client sends one line. The hub answers the user who runs the program, with one line,
 * "done TEXT" or "no TEXT", when the order is carried out or refused, and closes the connection.
 *
 *     grow K [HOST...]      K tasks more, on these hosts in turn; 0: one on each
 *     shrink K [HOST...]    the K highest ranks leave, of those on these hosts; 0: all that are there
 *     move FROM TO          all tasks of one host go to another
 *     suspend, resume       all tasks stop, and run again */
#ifndef DOME_SRC_ORDER_H
#define DOME_SRC_ORDER_H

#include "wire/view_plan.h"

#include <stdbool.h>
#include <stddef.h>

#define DOME_CONTROL_ORDER "dome-order"

enum { DOME_ORDER_MOST = 4096 }; /* bytes of a line */

typedef enum dome_order_kind {
    DOME_ORDER_GROW,
    DOME_ORDER_SHRINK,
    DOME_ORDER_MOVE,
    DOME_ORDER_SUSPEND,
    DOME_ORDER_RESUME
} dome_order_kind;

typedef struct dome_order {
    dome_order_kind kind;
    int count;    /* 0: see above */
    char **hosts; /* MOVE: from and to */
} dome_order;

/* Reads an order, to be cleared by the caller; false if it is none. */
bool dome__order_parse(const char *line, dome_order *order);
void dome__order_clear(dome_order *order);

/* Whether it changes the members of the program; the other orders have no plan. */
bool dome__order_changes(const dome_order *order);

/* The line for an order, without its end; g_free'd. */
char *dome__order_line(const dome_order *order);

/* Whether a word can be the name of a host. */
bool dome__order_is_host(const char *word);

/* Whether two names are those of one host: one of them may lack the domain. */
bool dome__order_same_host(const char *a, const char *b);

/* The hosts on which the order starts tasks, NULL-terminated; they belong to the order. NULL: it names none. */
char *const *dome__order_new_hosts(const dome_order *order);

/* The plan (view_plan.h) of an order to `size` tasks; hosts: by rank. Returns NULL, or a text (g_free'd) why there is none. */
char *dome__order_plan(const dome_order *order, int size, const char *const *hosts, dome_view_plan *plan);

/* Reasons for which a hub cannot carry out an order now, but perhaps later: whole answers, or parts of them. */
#define DOME_ORDER_STARTING    "the program is still starting"
#define DOME_ORDER_CHANGING    "the program is about to change already"
#define DOME_ORDER_OWN_REQUEST "at its own request"
#define DOME_ORDER_GOES_BACK   "a task was lost, and the program goes back: give the order again"
#define DOME_ORDER_TAKEN_BACK  "the program goes on as it was"
#define DOME_ORDER_ANOTHER     "another order is under way"
#define DOME_ORDER_ADDING      "hosts are being added for another order"
#define DOME_ORDER_NOT_ADDED   "cannot be added: "
#define DOME_ORDER_LOST_NOW    "was lost a moment ago"
#define DOME_ORDER_SUSPENDED   "the program is suspended"
#define DOME_ORDER_TOO_MANY    "too many orders at once"
#define DOME_ORDER_NOT_THERE   "no task of the program is on host"
#define DOME_ORDER_THERE       "of its tasks"
#define DOME_ORDER_HAS_THEM    "already" /* so many tasks, or on that host */

/* Whether an answer has one of these reasons. */
bool dome__order_is_for_now(const char *answer);

/* Sends an order to the hub with this pid, and waits for its answer for so many seconds. Returns the answer (g_free'd); "" if
 * there is none in time; NULL if no hub of this user has that pid, or it has ended. */
char *dome__order_send(int pid, const char *line, double seconds);

#endif
