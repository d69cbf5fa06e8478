/* Local sockets with a name and no file, by which a user's commands find and ask his programs: nothing stays behind and nothing
 * has to be swept. Names are "WHAT/USER/PID". Anybody may take such a name, or connect to it: both ends look who the other one
 * is. */
#ifndef DOME_SRC_DOOR_H
#define DOME_SRC_DOOR_H

#include <glib.h>

#include <stdbool.h>

/* What programs are asked for. */
#define DOME_DOOR_REPORT "dome-hub"  /* supervision/report.h */
#define DOME_DOOR_VIEW   "dome-view" /* trace/demand.h */

/* A listening socket of this process, or -1 where there can be none: the program runs without. */
int dome__door_listen(const char *what);

/* Somebody who waits there, if he is this user; else -1 with errno, EACCES for somebody else, who is sent away. Does not block.
 */
int dome__door_accept(int fd);

/* Connects to this user's process; -1 if there is none. The socket does not block. */
int dome__door_connect(const char *what, int pid);

/* Processes of this user on this host that listen, lowest pid first: int. */
GArray *dome__door_list(const char *what);

#endif
