/* Orders of a user to a running program: `dome grow` and `dome shrink`, over a local socket (transport/door.h). A client sends
 * one line, "grow K" or "shrink K". The hub answers the user who runs the program, with one line, "done TEXT" or "no TEXT", when
 * the order is carried out or refused, and closes the connection. */
#ifndef DOME_SRC_ORDER_H
#define DOME_SRC_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#define DOME_DOOR_ORDER "dome-order"

enum { DOME_ORDER_MOST = 64 }; /* bytes of a line */

/* Reads an order: *change gets the number of tasks to add, negative for fewer. */
bool dome__order_parse(const char *line, int *change);

/* Sends an order to the hub with this pid, and waits for its answer for so many seconds. Returns the answer (g_free'd); "" if
 * there is none in time; NULL if no hub of this user has that pid, or it has ended. */
char *dome__order_send(int pid, const char *line, double seconds);

#endif
