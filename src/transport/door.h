/* Abstract local sockets (a name, no file) by which a user's commands find that user's programs and query them. A name ends with
 * its process, so nothing has to be cleaned up. Names are "WHAT/UID/PID". Any user can bind such a name or connect to it: both
 * ends check the uid of their peer. */
#ifndef DOME_SRC_DOOR_H
#define DOME_SRC_DOOR_H

#include <glib.h>

#include <stdbool.h>

/* WHAT: the service that a command asks a program for. */
#define DOME_DOOR_REPORT "dome-hub"  /* supervision/report.h */
#define DOME_DOOR_VIEW   "dome-view" /* trace/demand.h */

/* Returns a listening socket of this process, or -1 if none can be made: the program then runs without it. */
int dome__door_listen(const char *what);

/* Accepts a waiting connection of this user. Otherwise returns -1 with errno set; a connection of another user is closed, and
 * errno is EACCES. Does not block. */
int dome__door_accept(int fd);

/* Connects to this user's process; -1 if there is none. The socket does not block. */
int dome__door_connect(const char *what, int pid);

/* Processes of this user on this host that listen, lowest pid first: int. */
GArray *dome__door_list(const char *what);

#endif
