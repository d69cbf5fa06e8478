/* A task's line to the hub: a thread that beats while the task computes or waits, ends the task when it is told to or
 * when the hub is gone, and passes on the line of a failure. Not for the one-task case, which has no hub. */
#ifndef DOME_SRC_WATCH_H
#define DOME_SRC_WATCH_H

#include "core/environment.h"
#include "supervision/hub.h"
#include "supervision/wire.h"

/* Where the hub is, as it travels through an environment variable or a start message:
 * "cookie;address:port,address:port;directory of a private virtual machine". */
typedef struct dome_hub_address {
    char *cookie;
    char **endpoints;
    char *directory; /* of a private virtual machine, "" if none */
} dome_hub_address;

bool dome__hub_address_parse(dome_hub_address *address, const char *text);
void dome__hub_address_clear(dome_hub_address *address);

/* For who is on another host than the hub: without loopback addresses, where strangers may listen there. */
void dome__hub_address_outside(dome_hub_address *address);

/* A connection to one of its endpoints, over which both sides have proven who they are; or -1. Each of the two steps takes so
 * many seconds at most. */
int dome__hub_connect(const dome_hub_address *address, const char *endpoint, dome_wire_channel channel, double seconds);

/* Connects and, on other tasks than the first, puts standard error (and output, if asked for) on lines of their own to the hub.
 * NULL with *message (g_free'd) on failure. tid is the transport's number for the task, 0 if none. */
dome_watch *dome__watch_open(const dome_hub_address *address, int rank, const char *host, int tid, bool own_output,
                             double timeout, dome_output output, char **message);

/* From now on the thread passes on what is recorded, which is freed with the watch. path: rank 0 says where the trace goes; NULL
 * on the others. append: to the trace that is there. Before the thread starts. */
void dome__watch_trace(dome_watch *watch, dome_trace *trace, const char *path, const char *command, bool append);

/* The number of the recording on demand that the hub asks for; 0: none. */
uint32_t dome__watch_wanted(const dome_watch *watch);

/* From now on the thread passes on this, and frees what it has passed on before; NULL: nothing. False if it has not got to the
 * one before yet. */
bool dome__watch_record(dome_watch *watch, dome_trace *trace);

/* Starts the thread. */
void dome__watch_start(dome_watch *watch);

/* The program stands: beats tell of its transport from now on. */
void dome__watch_stand(dome_watch *watch, const dome_transport *transport);

/* Tells the hub at once where the program is. */
void dome__watch_beat(dome_watch *watch);

/* Where the hub is, as seen from here: rank 0 runs on the same host. address is a struct sockaddr_in; false if it is not known.
 */
bool dome__watch_peer(const dome_watch *watch, void *address);

/* The program is over for this task, and its transport is about to be closed: should that take longer than the timeout, the
 * daemon does not answer. */
void dome__watch_leave(dome_watch *watch);

/* The operation under way, for beats, and the number that its object's name has in the trail; 0: none. */
void dome__watch_note(dome_watch *watch, uint64_t sequence, uint64_t history, uint32_t operation, uint64_t object);

/* The operations before this one, which the hub asks for when tasks disagree. Freed with the watch. */
dome_trail *dome__watch_trail(const dome_watch *watch);

/* A checkpoint with this number has been written: for those who ask the hub. */
void dome__watch_checkpoint(dome_watch *watch, uint64_t number);
/* The number of loop boundaries passed, for beats. */
void dome__watch_loop(dome_watch *watch, uint64_t loop);

/* Somebody else says the line when the hub is lost. */
void dome__watch_quiet(dome_watch *watch);

/* Ends the whole program with this line. Does not return. */
void dome__watch_fail(dome_watch *watch, dome_end end, int exit_status, const char *line) __attribute__((noreturn));

/* The same when a message has shown that tasks disagree: the hub finds out where they began to, and has a better line then. */
void dome__watch_disagree(dome_watch *watch, int exit_status, const char *line) __attribute__((noreturn));

/* dome_finalize is done: says goodbye, ends the thread and frees. */
void dome__watch_close(dome_watch *watch);

#endif
