/* A task's connection to the hub: a thread that sends beats while the task computes or waits, and ends the task when the hub
 * tells it to or is gone; it also sends the line of a failure. A program of one task has no hub and no watch. */
#ifndef DOME_SRC_WATCH_H
#define DOME_SRC_WATCH_H

#include "core/environment.h"
#include "wire/hub_address.h"
#include "wire/wire.h"

/* The task that is watched. */
typedef struct dome_watch_task {
    int rank;
    uint32_t view; /* the number of its view (view.h) */
    int id;        /* the launcher's; 0: none */
    const char *host;
    const char *launcher; /* the title of its launcher */
} dome_watch_task;

typedef struct dome_watch_request {
    const dome_hub_address *address;
    dome_watch_task task;
    double timeout;
    bool own_output;    /* its streams stay what they are, as on rank 0 */
    dome_output output; /* else: what of its output the hub gets */
} dome_watch_request;

/* Connects to the hub and, without own_output, leads standard error (and output, if requested) to the hub by separate
 * connections. NULL with *message (g_free'd) on failure. */
dome_watch *dome__watch_open(const dome_watch_request *request, char **message);

/* Makes the thread send the trace to the hub; it is freed with the watch. path: on rank 0, the file of the trace; NULL on other
 * tasks. append: append to an existing trace. Call it before the thread starts. */
void dome__watch_trace(dome_watch *watch, dome_trace *trace, const char *path, const char *command, bool append);

/* The number of the recording on demand that the hub asks for; 0: none. */
uint32_t dome__watch_wanted(const dome_watch *watch);

/* Makes the thread send this trace from now on, and free the one before; NULL: none. Returns false if the thread has not yet
 * taken the previous request. */
bool dome__watch_record(dome_watch *watch, dome_trace *trace);

/* Starts the thread. False: there is none (errno). From now on the thread that calls this is the task's own: if it ends before
 * dome__watch_stop, the program ends. */
bool dome__watch_start(dome_watch *watch);

/* Call when the transport is open: beats report its state from now on. */
void dome__watch_stand(dome_watch *watch, const dome_transport *transport);

/* Sends a beat at once. */
void dome__watch_beat(dome_watch *watch);

/* The address of the hub as this task reaches it; rank 0 runs on the same host. address is a struct sockaddr_in; false if it is
 * unknown. */
bool dome__watch_peer(const dome_watch *watch, void *address);

/* Call when the program is complete for this task, and its output is written. After this call the end of the task is no loss,
 * provided that all other tasks also come to this call. */
void dome__watch_done(dome_watch *watch);

/* Call before closing the transport at the end of the program: if closing takes longer than the timeout, the daemon does not
 * answer, and the watch reports that. */
void dome__watch_leave(dome_watch *watch);

/* Sets the current operation, for beats. object: the number of its object's name in the call log; 0: none. */
void dome__watch_note(dome_watch *watch, uint64_t sequence, uint64_t history, uint32_t operation, uint64_t object);

/* The last operations, which the hub requests when tasks disagree. Freed with the watch. */
dome_call_log *dome__watch_call_log(const dome_watch *watch);

/* Notes that a checkpoint with this number has been written, for the hub's reports. */
void dome__watch_checkpoint(dome_watch *watch, uint64_t number);

/* Counts a loop boundary, for beats. Returns the plan (view_plan.h, as text; g_free'd) by which the hub has ordered all tasks to
 * change at this boundary, with the number of the order (hold.h); NULL: none. */
char *dome__watch_loop(dome_watch *watch, uint64_t *order);

/* Loop boundaries counted. */
uint64_t dome__watch_passed(const dome_watch *watch);

/* All tasks are to meet at a loop boundary: an order comes to them whose plan has the same members. */
void dome__watch_meet(dome_watch *watch);

/* Rank 0: the program cannot carry out the order here, and tries it again at later boundaries by itself. */
void dome__watch_postpone(dome_watch *watch, uint64_t order);

/* Rank 0: the program cannot carry out the order, and goes on as it was. */
void dome__watch_refuse(dome_watch *watch, uint64_t order, const char *why);

/* This task goes over into view `number`, which is made by this plan, or leaves. */
void dome__watch_change(dome_watch *watch, uint32_t number, const char *plan);

/* For a task that becomes the program anew: ends the thread, and sends what it has left. The connection closes by exec. */
void dome__watch_stop(dome_watch *watch);

/* For a task that comes into the next view as the process that it is: ends the thread, sends what it has left, closes the
 * connection and frees. */
void dome__watch_go_over(dome_watch *watch);

/* Rank 0: waits until all tasks are back that come into this view, and takes the ids of its n members, itself included; 0: a
 * newcomer, to be started. False after so many seconds. */
bool dome__watch_members(dome_watch *watch, int *ids, int n, double seconds);

/* Rank 0: has newcomers of the next view started with what is in this file (standby.h) on these hosts, by rank; ids[r] gets the
 * launcher's ids, 0 for others. Returns NULL, or why there are none (g_free'd). */
char *dome__watch_standby(dome_watch *watch, int descriptor, const char *hosts, int *ids, int n);

/* Rank 0: all tasks of this view have joined. The number of the view is filled in here. */
void dome__watch_stands(dome_watch *watch, const dome_wire_view *view);

/* Rank 0, afterwards: waits until the hub has heard it. Before, the change into this view can be taken back. False after so many
 * seconds. */
bool dome__watch_await_stands(dome_watch *watch, double seconds);

/* Tells the hub where this task's output is, all of which is on its way, and waits until the hub has it. Returns the answer. */
uint64_t dome__watch_shown(dome_watch *watch, dome_wire_shown_what what, uint64_t loop);

/* Rank 0: how long the change into this view took. The number of the view is filled in here. */
void dome__watch_times(dome_watch *watch, const dome_wire_times *times);

/* Makes the thread call this function when the hub tells the task to go back, with all signals blocked. It becomes the program
 * anew at once, whatever the main thread does, and does not return. Call it before the thread starts. */
void dome__watch_on_back(dome_watch *watch, void (*go)(void *ctx, const dome_wire_back *back), void *ctx);

/* Do not print a line if the hub is lost: the supervisor does. */
void dome__watch_quiet(dome_watch *watch);

/* Ends the whole program with this line. Does not return. */
void dome__watch_fail(dome_watch *watch, dome_end end, int exit_status, const char *line) __attribute__((noreturn));

/* The same after a message has shown that tasks disagree: the hub looks for the first call that differed, and then prints a
 * better line. */
void dome__watch_disagree(dome_watch *watch, int exit_status, const char *line) __attribute__((noreturn));

/* At the end of dome_finalize: says goodbye to the hub, ends the thread and frees. */
void dome__watch_close(dome_watch *watch);

#endif
