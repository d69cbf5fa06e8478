/* What the files hub*.c share. */
#ifndef DOME_SRC_HUB_PRIVATE_H
#define DOME_SRC_HUB_PRIVATE_H

#include "supervision/hub.h"
#include "supervision/outlet.h"
#include "supervision/wire.h"
#include "trace/demand.h"
#include "trace/sink.h"

#include <glib.h>
#include <poll.h>

typedef struct hub_client {
    int fd;
    bool greeted, bye, closed;
    bool left; /* dome_finalize is over; the process may live on */
    dome_wire_channel channel;
    int rank, pid, tid;
    char *host;
    GByteArray *in; /* frames, or a line of output that is not complete */
    double heard, greeted_at, closed_at;
    bool exiting; /* said that it leaves without dome_finalize */
    int exit_status;
    int last_signal; /* it said that this one ends it; 0: it did not */
    int process;     /* a descriptor of the process of a task on this host; -1: there is none */

    /* its last beat */
    bool beaten, answered;
    uint64_t sequence, history, progress;
    char *operation; /* its name; NULL or "": the program's own code */
    bool waiting;
    uint64_t loop; /* boundaries passed */
    char *object;
    double busy, load; /* processors it used since the beat before; load of its host, below 0: not known */
    int idle;          /* beats in a row that found it waiting without progress */
    double moved_at;   /* when there was progress last */
} hub_client;

typedef struct hub_stranger hub_stranger; /* who has connected, and may be anybody */

typedef struct hub_state {
    dome_hub *hub;
    GPtrArray *clients;   /* tasks' lines; a watch that is closed stays, for what it said last */
    GPtrArray *strangers; /* the oldest first */
    guint descriptors;    /* that this process may have */
    guint inherited;      /* and had when it began */
    double full_until;    /* nobody is let in before: there are no descriptors */
    GArray *polls;        /* struct pollfd */
    GPtrArray *polled;    /* whose they are, after the first ones: strangers, then clients */
    guint polled_strangers;

    int bell;                /* rings when output has been written */
    dome_outlet *outlets[2]; /* of standard output and standard error; one, if they are one file */
    double held_at;          /* when output was last left with the tasks, as nobody read what was there */
    double now, began, started;
    int64_t checkpoint; /* the last one that task 0 told of; below 0: none */
    double checkpoint_at;

    bool rank0_ended;
    int rank0_status; /* as waitpid gives it */
    double rank0_ended_at;

    /* A failure goes through three steps: noticed (survivors are asked where the program was), told (END to all), over. */
    char *noticed; /* text of the line, without the operation */
    bool ask_operation;
    double noticed_at;
    bool told;
    double told_at;
    int exit_status;
    bool killed, lost_killed;
    double killed_at;
    pid_t killer;
    bool ending;   /* a signal from the keyboard or a user asked for it: nothing is lost */
    int passed_on; /* the last signal that rank 0 got from here */
    dome_end end;  /* the worst that was noticed */
    char *line;    /* that was printed, or goes into the report */
    char *silent;  /* the host of the task that was lost without a word */
    bool daemon_ended;
    dome_trace_sink *trace; /* of --dome-trace */
    dome_demand *demand;    /* NULL until task 0 beats */
    uint32_t recording;     /* number of the one on demand; 0: none */
    GPtrArray *trails;      /* what tasks that disagree have done lately; NULL: nobody has asked */
    bool overslept;         /* this process has been stopped for so long that the tasks have given it up */
} hub_state;

static inline double dome__hub_now(void)
{
    return (double)g_get_monotonic_time() * 1e-6;
}

/* ---- hub_failure.c ---- */

/* Step one. Only the first counts. text: this takes it. */
void dome__hub_notice(hub_state *s, dome_end end, bool ask_operation, int exit_status, char *text);
void dome__hub_lost(hub_state *s, hub_client *c, const char *how);

/* The same for a task that has left by itself. */
void dome__hub_left(hub_state *s, const hub_client *c, int exit_status);

/* Seconds without a word after which a task is lost. The tasks count with the same. */
double dome__hub_silence_limit(const hub_state *s);

/* Nobody waits for a task that has been silent for long: it cannot be reached, and ends by itself. */
bool dome__hub_silent(const hub_state *s, const hub_client *c);

/* Step two: the line is printed and everybody is told to end. */
void dome__hub_tell(hub_state *s);

/* Whoever has been told to end and has not is ended. */
void dome__hub_kill_rest(hub_state *s);

/* When all lines are closed: ends the processes of tasks that closed theirs without a word. Not before, since a PVM daemon that
 * is busy with it may lose the line that the console is told. */
void dome__hub_kill_lost(hub_state *s);

void dome__hub_send_end(const hub_state *s, hub_client *c, const char *text);

/* Whether the task's last beat came from inside of an operation. */
bool dome__hub_in_operation(const hub_client *c);

/* What a task is in; returns buffer. */
const char *dome__hub_operation_text(const hub_client *c, char *buffer, size_t size);

/* ---- hub_poll.c ---- */

/* What is always waited for, before tasks and strangers. */
enum { DOME_POLL_SIGNAL, DOME_POLL_LISTEN, DOME_POLL_REPORT, DOME_POLL_DEMAND, DOME_POLL_BELL, DOME_POLL_FIRST };

/* Waits for something to happen, at most so many ms. */
void dome__hub_wait(hub_state *s, int report_fd, int ms);

/* Whether it was something about this one of the above. */
bool dome__hub_happened(const hub_state *s, int which);

/* ---- hub_strangers.c ---- */

/* This process may have as many connections as the system lets it. */
void dome__hub_raise_limit(hub_state *s);

void dome__hub_accept(hub_state *s);
int dome__hub_stranger_fd(const hub_stranger *x);

/* He becomes a client, or is sent away, or has not said enough. */
void dome__hub_hear_stranger(hub_state *s, hub_stranger *x);

/* Those who take too long are sent away. */
void dome__hub_strangers_late(hub_state *s);

/* They have as much time again: this process was stopped. */
void dome__hub_strangers_renew(hub_state *s);
void dome__hub_strangers_close(hub_state *s);

/* ---- hub_output.c ---- */

void dome__hub_output_open(hub_state *s);

/* Text for one of this process's streams, STDOUT_FILENO or STDERR_FILENO. Never waits. */
void dome__hub_print(hub_state *s, int fd, const char *text);

/* Waits until all of it is written, at most so long. */
void dome__hub_flush(hub_state *s, double seconds);

/* Lines of other tasks' output appear whole, with the rank before them. last: what is there of one, too. */
void dome__hub_relay(hub_state *s, hub_client *c, bool last);

/* So much of this output waits for a reader that the task has to wait, too. */
bool dome__hub_holds(const hub_state *s, const hub_client *c);

/* Bytes of both streams that no reader has taken yet, and that readers have taken. */
size_t dome__hub_output_waiting(const hub_state *s);
size_t dome__hub_output_written(const hub_state *s);

/* Says how much output nobody has read, and drops it. */
void dome__hub_output_close(hub_state *s);

/* ---- hub_drain.c ---- */

/* After the program's end: waits for the reader of its output, and closes it. The number of a signal that ended the waiting, or
 * 0. */
int dome__hub_drain(hub_state *s);

/* ---- hub_lines.c ---- */

/* Takes fd. */
void dome__hub_add_client(hub_state *s, int fd, dome_wire_channel channel);
void dome__hub_client_free(hub_client *c);

/* Removes the lines that are closed and have nothing left to say. */
void dome__hub_sweep(hub_state *s);
void dome__hub_to_all_watches(hub_state *s, dome_wire_kind kind);

/* ---- hub_clients.c ---- */

/* Reads what a task has sent. */
void dome__hub_receive(hub_state *s, hub_client *c);

/* A line is closed, from either side. */
void dome__hub_closed(hub_state *s, hub_client *c);

/* ---- hub_process.c ---- */

/* For hub_client.process. */
int dome__hub_process_open(const hub_state *s, const hub_client *c);

/* A task's line is closed without a word: notices how its process has ended. */
void dome__hub_process_ended(hub_state *s, hub_client *c);

/* ---- hub_difference.c ---- */

/* Tasks disagree: all are asked what they have done lately. */
void dome__hub_ask_trails(hub_state *s);
void dome__hub_take_trail(hub_state *s, int rank, GArray *calls);
bool dome__hub_has_trail(const hub_state *s, int rank);

/* The first call that differed, as a line (g_free); NULL if that is not known. */
char *dome__hub_difference(const hub_state *s);

/* ---- hub_report.c ---- */

/* For dome__report_answer and dome__demand_open. */
char *dome__hub_report_text(void *state);
char *dome__hub_command_line(void *state);

/* What the process that may start the program again has to know. */
void dome__hub_report_end(const hub_state *s);

/* ---- hub_record.c ---- */

/* Where records go now; NULL: there are none. */
dome_trace_sink *dome__hub_sink(const hub_state *s);

/* Tells a task what to record. */
void dome__hub_send_record(const hub_state *s, const hub_client *c);

/* Somebody wants to see the program, or nobody any more. */
void dome__hub_attend(hub_state *s);

#endif
