/* Abstract local sockets (a name, no file) by which a user's commands find that user's programs and query them. The kernel drops
 * a name with its process, so nothing has to be cleaned up. Names are "WHAT/UID/PID/RANDOM": nobody can bind a name before the
 * program does, because nobody can guess the end. Any user can bind other names that look so, and connect to these: both ends
 * therefore look at the uid of their peer, which the kernel tells. README.md says why there are no files. */
#ifndef DOME_SRC_CONTROL_SOCKET_H
#define DOME_SRC_CONTROL_SOCKET_H

#include <glib.h>

#include <stdbool.h>

/* WHAT: the service that a command asks a program for, or a task another one. */
#define DOME_CONTROL_REPORT "dome-hub"  /* wire/report.h */
#define DOME_CONTROL_VIEW   "dome-view" /* trace/demand.h */
#define DOME_CONTROL_PEER   "dome-peer" /* peer/peer.h */

/* Returns a listening socket of this process, or -1 if none can be made: the program then runs without it. */
int dome__control_socket_listen(const char *what);

/* Accepts a waiting connection of this user. Otherwise returns -1 with errno set. Connections of other users are closed, a few
 * hundred in a call; if there were more, errno is EACCES. Does not block. */
int dome__control_socket_accept(int fd);

/* Whether a process of this user is at the other end of the local connection. */
bool dome__control_socket_is_own(int fd);

/* Connects to this user's process; -1 if there is none, or if others keep its socket busy for some seconds. The socket does not
 * block. */
int dome__control_socket_connect(const char *what, int pid);

/* The same to all of this user's processes on this host that listen, lowest pid first: descriptors, int. */
GArray *dome__control_socket_connect_all(const char *what);

/* The pids of these processes, lowest first, to none of which it connects: int. */
GArray *dome__control_socket_list(const char *what);

#endif
