/* Requests of this host's users to the daemon of another one. It may not answer for a while, so a child process asks; it has the
 * user's connection, and ends with it. */
#ifndef DOME_SRC_ASK_DAEMON_H
#define DOME_SRC_ASK_DAEMON_H

#include "daemon/daemon_record.h"

#include <sys/types.h>

typedef struct dome_ask_daemon {
    const char *key_file;
    const char *host; /* HOST or HOST:PORT */
    const char *user; /* whose request it is */
} dome_ask_daemon;

/* Returns the child, or -1. client: the user's connection, which stays the caller's. */
pid_t dome__ask_daemon(const dome_ask_daemon *ask, const dome_record *request, int client);

#endif
