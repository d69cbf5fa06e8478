/* Declarations shared by the files hub*.c. */
#ifndef DOME_SRC_HUB_PRIVATE_H
#define DOME_SRC_HUB_PRIVATE_H

#include "hub/client_state.h"
#include "hub/hub.h"
#include "hub/hub_difference.h"
#include "hub/hub_down.h"
#include "hub/hub_failure.h"
#include "hub/hub_heal.h"
#include "hub/hub_history.h"
#include "hub/hub_inquiry.h"
#include "hub/hub_machine.h"
#include "hub/hub_orders.h"
#include "hub/hub_output.h"
#include "hub/hub_pending.h"
#include "hub/hub_poll.h"
#include "hub/hub_rank0.h"
#include "hub/hub_record.h"
#include "hub/hub_report.h"
#include "hub/hub_standby.h"
#include "system/time.h"
#include "wire/history.h"
#include "wire/order.h"
#include "wire/view.h"
#include "wire/wire.h"

#include <glib.h>
#include <poll.h>

/* The contents of a task's last beat. */
typedef struct hub_beat {
    bool came;     /* false: there has been none */
    bool answered; /* the hub's query */
    bool waiting;
    bool bare; /* it has objects, but none with a name */
    uint64_t sequence, history, progress;
    uint64_t loop;    /* loop boundaries passed */
    uint64_t awaited; /* DOME_AWAITS of the message or lock that it waits for; 0: none */
    char *operation;  /* its name; NULL or "": the program's own code */
    char *object;
    double busy, load; /* processors used since the previous beat; load of its host, below 0: unknown */
    double waited;     /* seconds, for others, in its view */
    int idle;          /* number of consecutive beats in which it waited without progress */
    double moved_at;   /* time of its last progress */
} hub_beat;

struct hub_client {
    int fd;
    dome_macs macs;
    dome_client_state state; /* of the task's life (client_state.h): dome__hub_step alone changes it */
    bool closed;             /* the connection, which may end in any state */
    bool lost;               /* the hub has found so, whatever the task says; healing alone asks for it */
    uint32_t view;           /* number of its view */
    char *early; /* the plan of a change that it has announced before task 0 told that the first view stands; NULL: none */
    dome_wire_channel channel;
    int set; /* of hub_state.sets, with in_set */
    bool in_set;
    int rank, pid, tid, parent;
    char *host;
    GByteArray *in; /* unread frames, or an incomplete line of output */
    double heard, greeted_at, closed_at;
    bool told_of;        /* another task of its host has vouched for it (board.h), and no message of its own has come since */
    int exit_status;     /* it has announced that it exits so, without dome_finalize; below 0: it has not */
    int last_signal;     /* the signal that ends it, as announced by the task; 0: none */
    int process;         /* pidfd of a task on this host; -1: none */
    uint64_t stopped_at; /* how many messages had been sent to it when it was told to stop (hub_suspend.c) */
    hub_beat beat;
};

typedef struct hub_script hub_script; /* --hosts-script */
typedef struct hub_size hub_size;     /* --dome-size auto */
typedef struct hub_suspension hub_suspension;
typedef struct hub_once hub_once; /* output that is shown once */

/* One program that the hub supervises. A part belongs to the file of its name, which alone changes its members; others read them.
 * The clients belong to hub_lines.c, `beaten` to hub_clients.c, and the view to hub_view.c. */
struct hub_state {
    const dome_hub *hub;  /* with what it was started */
    hub_machine *machine; /* on which it runs */
    double now;           /* on the clock of the time in which this process runs: hub_machine.c */
    GPtrArray *clients;   /* tasks' connections; a closed watch is kept for its last state */
    GPtrArray *watches;   /* by rank: the newest connection of its watcher; NULL: none */
    bool beaten;          /* beats have come since they were last looked at */

    hub_rank0 rank0;
    hub_output output;
    hub_record record;
    hub_report report;

    hub_failure failure;
    hub_difference difference;
    hub_inquiry inquiry;
    hub_probe probe;
    hub_healing healing;

    dome_view view;
    hub_history history;
    hub_orders orders;
    hub_standby standby;
    hub_once *once;     /* NULL: rank 0's output does not come here */
    hub_script *script; /* NULL: none */
    hub_size *size;     /* NULL: none */
    hub_suspension *suspension;
    bool suspended; /* all tasks are stopped; hub_suspend.c alone changes it */
};

/* Wall time. */
static inline double dome__hub_now(void)
{
    return dome__now();
}

static inline void dome__hub_step(hub_client *c, dome_client_event event)
{
    c->state = dome__client_next(c->state, event);
}

/* A connection of a task, on which its watcher talks. */
static inline bool dome__hub_is_watch(const hub_client *c)
{
    return dome__client_has_greeted(c->state) && c->channel == DOME_WIRE_WATCH;
}

/* A connection of a task, on which its output comes. */
static inline bool dome__hub_is_output(const hub_client *c)
{
    return dome__client_has_greeted(c->state) && c->channel != DOME_WIRE_WATCH;
}

/* A task that is connected, and takes part in the program. */
static inline bool dome__hub_is_there(const hub_client *c)
{
    return dome__hub_is_watch(c) && !c->closed && !dome__client_has_left(c->state);
}

/* A task of the present view, with or without a connection. */
static inline bool dome__hub_is_task(const hub_state *s, const hub_client *c)
{
    return dome__hub_is_watch(c) && c->view == s->view.number && c->rank >= 0;
}

/* Whether the end of its connection tells something: it has not said that it may end, nor is it on its way into the next view. */
static inline bool dome__hub_is_expected(const hub_client *c)
{
    return !dome__client_may_end(c->state) && !dome__client_is_away(c->state);
}

/* Whether the task was inside an operation at its last beat. */
static inline bool dome__hub_in_operation(const hub_client *c)
{
    return c->beat.operation && c->beat.operation[0];
}

/* Whether a task that has ended did so because this process was silent. SIGTERM: its daemon ended, asked by another such task. */
static inline bool dome__hub_gave_up(const hub_state *s, const hub_client *c)
{
    return s->now < s->machine->overslept_until && c->exit_status < 0 && (!c->last_signal || c->last_signal == SIGTERM);
}

/* ---- hub_drain.c ---- */

/* After the program's end: waits for the reader of its output, and closes it. Returns the signal that ended the wait, or 0.
 * *lost: why standard output could not be written (errno), or 0. */
int dome__hub_drain(hub_state *s, int *lost);

/* ---- hub_once.c ---- */

void dome__hub_once_open(hub_state *s);

/* Where task 0's standard output comes; -1: nowhere, or it is read no more. */
int dome__hub_once_fd(const hub_state *s);

/* Takes what there is of it, at most so much as a turn allows. Returns whether something came. */
bool dome__hub_once_hear(hub_state *s);

/* Takes what has come of the standard output of a task other than 0. False: it is shown as it comes. */
bool dome__hub_once_take(hub_state *s, hub_client *c);

/* Task 0 is in dome_init, and greets. */
void dome__hub_once_greeted(hub_state *s, const hub_client *c);

/* A task tells where its output is; it is answered. */
void dome__hub_once_told(hub_state *s, hub_client *c, const dome_wire_shown *told);

/* A task that has told so may be answered now. */
void dome__hub_once_tick(hub_state *s);

/* Output has been written: some answers wait for that. */
void dome__hub_once_rung(hub_state *s);

/* After the program's end: shows incomplete lines, unless the program is started again. */
void dome__hub_once_rest(hub_state *s);

/* well: the program has come to its end. */
void dome__hub_once_close(hub_state *s, bool well);

/* ---- hub_lines.c ---- */

void dome__hub_lines_open(hub_state *s);
void dome__hub_lines_close(hub_state *s);

/* Adds a connection. Takes ownership of fd. */
void dome__hub_add_client(hub_state *s, int fd, dome_wire_channel channel, const dome_macs *macs);

/* Adds the connection to the set of its present kind. Call it again after the greeting, when the kind changes. False: the system
 * does not allow it. */
bool dome__hub_hear_from_now(hub_state *s, hub_client *c);
void dome__hub_hear_no_more(hub_state *s, hub_client *c);

/* Removes closed connections that are no longer needed. */
void dome__hub_sweep(hub_state *s);

/* Sends a message to a task. A loss is noticed when its connection is read. */
void dome__hub_send(hub_client *c, const dome_wire_message *message);
void dome__hub_to_all_watches(hub_state *s, dome_wire_kind kind);

/* Tells tasks that this process is there. A task for which another one vouches learns it from that one. */
void dome__hub_say_alive(hub_state *s);

/* The watcher's connection of a task that has greeted; NULL: there is none. */
hub_client *dome__hub_watch_of(const hub_state *s, uint32_t rank);
void dome__hub_note_watch(hub_state *s, hub_client *c);

/* ---- hub_clients.c ---- */

/* After beats: notices tasks that disagree, or wait for each other. */
void dome__hub_look_at_beats(hub_state *s);

/* A message has arrived that must be judged together with the beats. */
void dome__hub_judge_soon(hub_state *s);

/* Reads what a task has sent. */
void dome__hub_receive(hub_state *s, hub_client *c);

/* Handles a connection that either side has closed. */
void dome__hub_closed(hub_state *s, hub_client *c);

/* Notices tasks that were done when their connections closed, but not all others are within so many seconds. */
void dome__hub_look_for_done(hub_state *s, double limit);

/* ---- hub_waits.c ---- */

/* Whether a task has waited for some time without any data movement. */
bool dome__hub_idle(const hub_state *s, const hub_client *c);

/* The tasks of the present view by rank, NULL where there is none; g_free'd. */
const hub_client **dome__hub_tasks(const hub_state *s, int *size);

/* Notices tasks that wait for each other's messages, for ever; returns whether there are any that seem to. */
bool dome__hub_find_deadlock(hub_state *s);

/* ---- hub_process.c ---- */

/* The reason for a task whose connection is closed while its process goes on. */
#define DOME_HUB_GOES_ON "its process left the program and has not ended (it became another one by exec, or closed its files)"

/* Opens a value for hub_client.process. */
int dome__hub_process_open(const hub_state *s, const hub_client *c);

/* Handles a task whose connection closed without a farewell: notices a failure that tells how its process ended, or that it goes
 * on, where this is known. */
void dome__hub_process_ended(hub_state *s, hub_client *c);

/* Kills a task of this host that has no connection. */
void dome__hub_process_kill(const hub_client *c);

/* ---- hub_view.c ---- */

void dome__hub_view_open(hub_state *s);

/* The program has ended: nothing changes any more. */
void dome__hub_view_close(hub_state *s);
void dome__hub_view_act(hub_state *s, dome_view_act act);

/* The host of each rank of the present view; g_free'd, the names belong to the connections. */
const char **dome__hub_hosts(const hub_state *s);

/* Has these members ordered; takes over the plan. Returns why that is refused (g_free'd), or NULL. */
char *dome__hub_view_ask(hub_state *s, dome_view_plan *plan);

/* Orders all tasks to meet at a boundary. False: not now, try it again. */
bool dome__hub_view_meet(hub_state *s);

/* A task has stopped at a boundary; task 0 tries the order again later; it refuses the order. */
void dome__hub_view_held(hub_state *s, const hub_client *c, const dome_wire_hold *hold);
void dome__hub_view_postpone(hub_state *s, uint64_t order);
void dome__hub_view_refuse(hub_state *s, const dome_wire_refuse *refuse);

/* Makes the next view without the lost tasks, or with newcomers in their places on these hosts (by rank; NULL: any). */
void dome__hub_view_heal(hub_state *s, const bool *lost, const char *const *hosts);

/* Takes the change back that is under way. */
void dome__hub_view_take_back(hub_state *s, const char *why);

/* Whether the task belongs to this view or to the next; *then: for dome__hub_view_act when it has been welcomed. */
bool dome__hub_view_greet(hub_state *s, hub_client *c, dome_view_act *then);

/* Messages of tasks. */
void dome__hub_view_change(hub_state *s, hub_client *c, const dome_wire_change *change);
void dome__hub_view_stands(hub_state *s, const dome_wire_view *view);

/* Notices tasks that have ended between two views, or do not come back within so many seconds. */
void dome__hub_look_for_away(hub_state *s, double limit);

/* ---- hub_script.c ---- */

void dome__hub_script_open(hub_state *s);
int dome__hub_script_fd(const hub_state *s);

/* Runs the script when it is time, takes what it has printed, and gives orders. */
void dome__hub_script_tick(hub_state *s);

/* Takes the answer to its order. */
void dome__hub_script_answer(hub_state *s, const char *word, const char *text);
void dome__hub_script_close(hub_state *s);

/* ---- hub_suspend.c ---- */

void dome__hub_suspend_open(hub_state *s);
void dome__hub_suspend_close(hub_state *s);

/* Stops all tasks, or lets them run. may: no other order is under way. Returns why not (g_free'd), or NULL. */
char *dome__hub_suspend(hub_state *s, bool wanted, bool may);

/* Whether all tasks are as it was ordered last, or run for another reason. */
bool dome__hub_suspend_is_done(const hub_state *s);

/* A task says that it stops. */
void dome__hub_suspend_said(hub_state *s);

/* The program gets a signal, or is about to end: its tasks must run. */
void dome__hub_suspend_end(hub_state *s);

/* After losses, and when something was sent to a task that is stopped. */
void dome__hub_suspend_tick(hub_state *s, bool may);

/* ---- hub_size.c ---- */

void dome__hub_size_open(hub_state *s);

/* Orders another number of tasks when that pays. */
void dome__hub_size_tick(hub_state *s);

/* Takes the answer to that order. */
void dome__hub_size_answer(hub_state *s, const char *word, const char *text);
void dome__hub_size_close(hub_state *s);

#endif
