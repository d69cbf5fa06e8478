/* The connections of a daemon's users: lines of records over a Unix socket, whose kernel says who is at the other end. No user
 * can keep another one out: there are so many connections for each, a line for each in turn, and a connection that says nothing
 * ends. */
#ifndef DOME_SRC_SERVER_H
#define DOME_SRC_SERVER_H

#include "daemon/daemon_record.h"

#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#define DOME_CONTROL_DAEMON "dome-daemon"

/* Of root's daemon. */
#define DOME_DAEMON_SOCKET "/run/dome/socket"

typedef struct dome_server dome_server;

typedef struct dome_server_user {
    uint64_t client; /* number of the connection */
    uid_t uid;
    gid_t gid;
    pid_t pid; /* 0: it is asked by another host's daemon */
} dome_server_user;

typedef void dome_server_request(void *ctx, const dome_server_user *user, const dome_record *request);

/* Listens for this user's commands, and, if path is given, for everybody's. NULL with *message (g_free'd). */
dome_server *dome__server_open(const char *path, dome_server_request *request, void *ctx, char **message);
void dome__server_close(dome_server *server);

/* Also listens for other hosts' daemons (remote_line.h) at ADDRESS:PORT or ADDRESS. The key is taken over. False with *message.
 */
bool dome__server_listen(dome_server *server, const char *address, char *key, size_t length, char **message);

/* Adds what is to be polled; then takes what happened on these descriptors. now: s. */
void dome__server_poll(dome_server *server, GArray *polls);
void dome__server_turn(dome_server *server, const struct pollfd *polls, guint count, double now);

/* A line for that connection, if it is still there. */
void dome__server_say(dome_server *server, uint64_t client, const dome_record *line);

/* The descriptor of that connection; -1: it has gone. */
int dome__server_fd(const dome_server *server, uint64_t client);

/* The connection belongs to another process now: this one forgets it. */
void dome__server_forget(dome_server *server, uint64_t client);

/* The connection waits for something that may take long. */
void dome__server_hold(dome_server *server, uint64_t client);

#endif
