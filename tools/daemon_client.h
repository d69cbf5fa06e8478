/* The commands' side of domed: one request over its socket, and the lines that answer it. */
#ifndef DOME_TOOLS_DAEMON_CLIENT_H
#define DOME_TOOLS_DAEMON_CLIENT_H

#include "daemon/daemon_record.h"
#include "daemon/table.h"

#include <glib.h>
#include <stdbool.h>

/* A new request, with the version. */
dome_record dome__daemon_request(const char *verb);

/* Connects to the daemon: that of DOME_DAEMON (the path of its socket), else the user's own, else root's. -1: there is none. */
int dome__daemon_connect(void);

/* Sends a request, again for some seconds if the daemon ends meanwhile, and closes the connection behind the answer. Returns the
 * answer's last line, `done` or `no`, to be cleared; the lines before it are added to `lines` (dome_record), if that is not NULL.
 * Without a daemon or an answer the command ends. */
dome_record dome__daemon_ask(const char *command, const dome_record *request, GArray *lines);

/* The same; the command ends also where the daemon refuses it. Returns the text of the answer, g_free'd. */
char *dome__daemon_order(const char *command, const dome_record *request);

/* The daemon's table, or NULL: there is no daemon. */
dome_table *dome__daemon_table(const char *command);

/* For a command that goes on: the table, or the answer to an order, g_free'd. NULL, or *done false: not now. */
dome_table *dome__daemon_look(void);
char *dome__daemon_try(const dome_record *request, bool *done);

/* Reads a line of an answer that may take long, from `in`, in which what was read stands. 1: *line is one; 0: not yet, after so
 * many seconds; -1: the daemon has closed the connection. */
int dome__daemon_line(int fd, GString *in, double seconds, dome_record *line);

bool dome__daemon_send(int fd, const dome_record *request);

#endif
