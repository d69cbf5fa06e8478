/* Orders of a daemon to the hubs of its programs, and questions. A hub answers its user alone, and may take a while; so a child
 * process of that user asks. */
#ifndef DOME_SRC_ASK_HUB_H
#define DOME_SRC_ASK_HUB_H

#include "daemon/table.h"

#include <sys/types.h>

/* Gives the order (wire/order.h; without its end) to the hub that descends from the program's process `run`, or, if it is NULL,
 * asks how the program is. Returns the child, or -1; its answer comes on *fd as a line, and then that is closed:
 *
 *     done TEXT | no TEXT          the hub's words; "late": no answer within so many seconds; "none": there is no such hub
 *     is tasks=3 checkpoint=2 suspended=0 on=h1:2 on=h2:1
 */
pid_t dome__ask_hub(const dome_program *program, pid_t run, const char *order, int seconds, int *fd);

#endif
