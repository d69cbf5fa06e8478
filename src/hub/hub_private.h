/* Declarations shared by the files hub*.c. */
#ifndef DOME_SRC_HUB_PRIVATE_H
#define DOME_SRC_HUB_PRIVATE_H

#include "hub/client_state.h"
#include "hub/hub.h"
#include "hub/hub_difference.h"
#include "hub/hub_failure.h"
#include "hub/hub_heal.h"
#include "hub/hub_output.h"
#include "hub/hub_poll.h"
#include "hub/hub_rank0.h"
#include "hub/hub_record.h"
#include "hub/hub_strangers.h"
#include "system/time.h"
#include "wire/history.h"
#include "wire/inquiry.h"
#include "wire/order.h"
#include "wire/view.h"
#include "wire/wire.h"

#include <glib.h>
#include <poll.h>

/* What a task's last beat told. */
typedef struct hub_beat {
    bool came;     /* false: there has been none */
    bool answered; /* the hub's query */
    bool waiting;
    bool bare; /* it has objects, but none with a name */
    uint64_t sequence, history, progress;
    uint64_t loop;    /* loop boundaries passed */
    uint64_t awaited; /* DOME_AWAITS of the message that it waits for; 0: none */
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
    dome_client_state state; /* what its task has said, and what has become of it: dome__hub_step alone changes it */
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
    bool told_of;    /* by another task of its host, and it has not spoken since */
    int exit_status; /* it has announced that it exits so, without dome_finalize; below 0: it has not */
    int last_signal; /* the signal that ends it, as announced by the task; 0: none */
    int process;     /* pidfd of a task on this host; -1: none */
    hub_beat beat;
};

/* Hosts that are being added to the virtual machine, by a process of their own. */
typedef struct hub_adding {
    pid_t process;
    int fd;       /* it says there what has failed, and closes it; -1: nothing is being added */
    double until; /* it is given up then */
    GString *said;
    dome_order order; /* to be carried out afterwards */
    int asker;
} hub_adding;

/* A process that starts newcomers. */
typedef struct hub_parking {
    pid_t process;
    int fd; /* -1: there is none */
    uint32_t view;
    double until; /* it is given up then */
    char *hosts;
    GString *said;
    bool over; /* it has said what there is to say */
} hub_parking;

/* A host that is down. */
typedef struct hub_host {
    char *name;
    double at; /* since when */
} hub_host;

/* A process that looks which other hosts are there. */
typedef struct hub_look {
    pid_t process;
    int fd;        /* it says there which are not; -1: that is known */
    double until;  /* it is given up then */
    GString *said; /* NULL: nobody asks */
} hub_look;

/* Whether tasks wait for ever. */
typedef struct hub_inquiry {
    dome_inquiry *of; /* NULL: nobody is asked */
    uint32_t number;
    int size;
    double *moved_at; /* by rank: the task's, when it was asked */
    double began, again;
} hub_inquiry;

/* Instead of the descriptor of a user who waits for the answer to an order: the script of hosts does, or --dome-size auto. */
enum { DOME_HUB_SCRIPT = -2, DOME_HUB_SIZE = -3 };

typedef struct hub_script hub_script; /* --hosts-script */
typedef struct hub_size hub_size;     /* --dome-size auto */

struct hub_state {
    dome_hub *hub;
    GPtrArray *watches; /* by rank: the newest connection of its watcher; NULL: none */
    GPtrArray *clients; /* tasks' connections; a closed watch is kept for its last state */
    hub_strangers strangers;
    hub_poll poll;
    hub_output output;
    hub_record record;
    double looked_at; /* when this process last went through all connections */
    bool beaten;      /* beats have come since */

    dome_awake awake;
    double now, began;    /* on the clock of the time in which this process runs */
    double started;       /* wall time */
    int64_t checkpoint;   /* number of the last one that task 0 has reported; below 0: none */
    double checkpoint_at; /* wall time */

    char **command; /* the words of rank 0, as last known; NULL: not asked for */
    hub_rank0 rank0;
    hub_healing healing;
    hub_failure failure;
    pid_t killer;
    bool daemon_ended;
    hub_difference difference;
    hub_inquiry inquiry;
    double
        overslept_until; /* this process was stopped for so long that tasks that ran meanwhile consider it lost, and are ending */

    dome_view view;
    int order_fd;                /* listens for orders */
    hub_ask asks[DOME_HUB_ASKS]; /* orders that have not arrived completely */
    int asker;                   /* waits for the answer to its order; -1: none */
    bool meet;                   /* a task wants all to meet at a boundary */
    hub_adding adding;
    hub_parking parking;
    hub_script *script;     /* NULL: none */
    hub_size *size;         /* NULL: none */
    double entered_at;      /* when the last change began */
    double asked_at;        /* when the last order came */
    const char *order_from; /* who gave it: a static text */
    dome_history history;
    uint64_t loops_before; /* loop boundaries passed in earlier views */

    GArray *down; /* hub_host */
    hub_look look;
};

/* Wall time. */
static inline double dome__hub_now(void)
{
    return (double)g_get_monotonic_time() * 1e-6;
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

/* Whether a task that has ended did so because this process was silent. SIGTERM: its daemon ended, asked by another such task. */
static inline bool dome__hub_gave_up(const hub_state *s, const hub_client *c)
{
    return s->now < s->overslept_until && c->exit_status < 0 && (!c->last_signal || c->last_signal == SIGTERM);
}

/* ---- hub_machine.c ---- */

/* Kills tasks of any host by their launcher's ids, in a process apart. */
void dome__hub_launcher_kill(hub_state *s, const int *tids, int n);

/* ---- hub_drain.c ---- */

/* After the program's end: waits for the reader of its output, and closes it. Returns the signal that ended the wait, or 0. */
int dome__hub_drain(hub_state *s);

/* ---- hub_lines.c ---- */

/* Adds a connection. Takes ownership of fd. */
void dome__hub_add_client(hub_state *s, int fd, dome_wire_channel channel, const dome_macs *macs);
void dome__hub_client_free(hub_client *c);

/* Removes closed connections that are no longer needed. */
void dome__hub_sweep(hub_state *s);

/* Sends a message to a task. A loss is noticed when its connection is read. */
void dome__hub_send(hub_client *c, const dome_wire_message *message);
void dome__hub_to_all_watches(hub_state *s, dome_wire_kind kind);

/* Tells tasks that this process is there; those of which another one tells learn it from that one. */
void dome__hub_say_alive(hub_state *s);

/* The watcher's connection of a task that has greeted; NULL: there is none. */
hub_client *dome__hub_watch_of(const hub_state *s, uint32_t rank);
void dome__hub_note_watch(hub_state *s, hub_client *c);

/* ---- hub_clients.c ---- */

/* After beats: notices tasks that disagree, or wait for each other. */
void dome__hub_look_at_beats(hub_state *s);

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

/* ---- hub_inquiry.c ---- */

/* Whether these tasks, by rank (NULL: it is not one of them), none of which has moved for long, wait for ever. Asks them, unless
 * that is going on, and returns false as long as that is not known: call it again and again. */
bool dome__hub_for_ever(hub_state *s, const hub_client *const *tasks, int size);

/* What a task answers. */
void dome__hub_inquiry_answer(hub_state *s, const hub_client *c, const dome_wire_message *answer);
void dome__hub_inquiry_close(hub_state *s);

/* ---- hub_process.c ---- */

/* What has become of a task whose connection is closed and whose process is there. */
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

/* Answers who still waits. */
void dome__hub_view_close(hub_state *s);
void dome__hub_view_act(hub_state *s, dome_view_act act);

/* Takes what users have sent. */
void dome__hub_take_orders(hub_state *s);

/* Whether the task belongs to this view or to the next; *then: for dome__hub_view_act when it has been welcomed. */
bool dome__hub_view_greet(hub_state *s, hub_client *c, dome_view_act *then);

/* Messages of tasks. */
void dome__hub_view_change(hub_state *s, hub_client *c, const dome_wire_change *change);
void dome__hub_view_stands(hub_state *s, const dome_wire_view *view);

/* A change begins. */
void dome__hub_view_entered(hub_state *s);

/* The present view begins after so many loop boundaries. */
void dome__hub_view_count_from(hub_state *s, uint64_t loops);

/* Notices tasks that have ended between two views, or do not come back within so many seconds. */
void dome__hub_look_for_away(hub_state *s, double limit);

/* Orders all tasks to meet at a boundary, if a task wants that and it can be now. */
void dome__hub_meet(hub_state *s);

/* Carries out an order; the asker is answered when that is done. Takes over the order. */
void dome__hub_carry_out(hub_state *s, dome_order *order, int asker);

/* Answers a user, and closes the connection. */
void dome__hub_reply(hub_state *s, int fd, const char *word, const char *text);

/* ---- hub_history.c ---- */

/* An order is being carried out: it came at s->asked_at. */
void dome__hub_history_ordered(hub_state *s, const dome_order *order, int asker);

/* The program changes, by that order or by its own wish. */
void dome__hub_history_changes(hub_state *s, bool ordered);

/* All tasks of the present view have joined. */
void dome__hub_history_stands(hub_state *s);
void dome__hub_history_took(hub_state *s, const dome_wire_times *times);

/* Writes all views so far into what begins to be recorded. */
void dome__hub_history_recite(const hub_state *s, dome_trace_sink *sink);

/* The option that gives orders, DOME_HUB_SCRIPT or DOME_HUB_SIZE, as the user has written it. */
const char *dome__hub_option(const hub_state *s, int asker);

/* ---- hub_hosts.c ---- */

/* Adds the hosts on which an order starts tasks to the virtual machine, unless the program has tasks there, and then carries it
 * out. Takes over the order. */
void dome__hub_add_hosts(hub_state *s, dome_order *order, int asker);

/* Takes what the process that adds hosts has said. */
void dome__hub_hear_hosts(hub_state *s);
void dome__hub_hosts_close(hub_state *s);

/* ---- hub_park.c ---- */

/* Task 0 wants newcomers. It is answered when they wait for the next view, or cannot be started. */
void dome__hub_park(hub_state *s, const hub_client *c, const dome_wire_park *park);
void dome__hub_hear_parker(hub_state *s, bool readable);

/* The change that they were for is over. */
void dome__hub_park_end(hub_state *s);

/* The host of each rank of the present view; g_free'd, the names belong to the connections. */
const char **dome__hub_hosts(const hub_state *s);

/* Tells the supervisor, if there is one: it removes checkpoints in memory there. */
void dome__hub_tell_hosts(const hub_state *s);

/* Prints a line about orders of `who`, once, however often it comes. said: the last one, the caller's to g_free. */
void dome__hub_say_once(hub_state *s, char **said, const char *who, const char *text);

/* ---- hub_script.c ---- */

void dome__hub_script_open(hub_state *s);
int dome__hub_script_fd(const hub_state *s);

/* Runs the script when it is time, takes what it has printed, and gives orders. */
void dome__hub_script_tick(hub_state *s);

/* What has become of its order. */
void dome__hub_script_answer(hub_state *s, const char *word, const char *text);
void dome__hub_script_close(hub_state *s);

/* ---- hub_size.c ---- */

void dome__hub_size_open(hub_state *s);

/* Orders another number of tasks when that pays. */
void dome__hub_size_tick(hub_state *s);

/* What has become of that order. */
void dome__hub_size_answer(hub_state *s, const char *word, const char *text);
void dome__hub_size_close(hub_state *s);

/* ---- hub_down.c ---- */

/* Finds out which hosts are down after a loss; tasks there are lost. Returns false as long as that is not known. */
bool dome__hub_find_down(hub_state *s, hub_member *members, int size);

/* How many hosts are down. */
int dome__hub_count_down(const hub_state *s);

GArray *dome__hub_down_new(void);

/* Forgets what has been found out for this loss. */
void dome__hub_look_end(hub_state *s);

/* After some minutes PVM has forgotten the host, which can be added again. */
bool dome__hub_is_down(const hub_state *s, const char *host);
void dome__hub_set_down(hub_state *s, const char *host);

/* A task has come from there. */
void dome__hub_set_up(hub_state *s, const char *host);

/* Their names, separated by blanks; g_free'd. */
char *dome__hub_down_text(const hub_state *s);

/* ---- hub_report.c ---- */

/* For dome__report_answer and dome__demand_open. */
char *dome__hub_report_text(void *state);

/* The words with which rank 0 was started. The system has none of a process that has ended or is about to run another program:
 * then those that were known before. */
char **dome__hub_command(hub_state *s);
char *dome__hub_command_line(void *state);

/* Sends the supervisor the report that it needs to restart the program. */
void dome__hub_report_end(const hub_state *s);

#endif
