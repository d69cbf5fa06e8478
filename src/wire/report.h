/* The report of a hub about its program for `dome ps`: a text over a local socket (transport/control_socket.h,
 * DOME_CONTROL_REPORT). The hub answers only the user who runs the program, and never waits for a client. */
#ifndef DOME_SRC_REPORT_H
#define DOME_SRC_REPORT_H

#include "transport/mac.h"
#include "wire/history.h"

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- the hub's side ---- */

/* Accepts a client and sends it the result of `text` (as made by dome__report_text), or refuses it. Returns false if the client
 * is still waiting, for lack of descriptors. */
bool dome__report_answer(int fd, char *(*text)(void *ctx), void *ctx);

/* Sends the text to a client that is already connected, and then its code; mac NULL: without one. Does not close fd. */
void dome__report_send(int fd, dome_mac *mac, char *(*text)(void *ctx), void *ctx);

/* ---- the contents: a key file ---- */

typedef struct dome_report_task {
    int rank, pid;
    char *host, *operation, *object; /* operation "": the program's own code */
    bool waiting;                    /* it waits for other tasks */
    uint64_t sequence;               /* number of operations so far */
    double busy;                     /* processors used recently */
    double load;                     /* load average of its host; below 0: unknown */
    double silent;                   /* seconds since its last message */
} dome_report_task;

typedef struct dome_report {
    int pid;    /* of the hub: send signals for the program to it */
    char *host; /* of the hub */
    char **command;
    char *directory;           /* working directory */
    bool suspended;            /* all tasks are stopped by order of the user */
    uint32_t view;             /* number of its view: how often it has changed its number of tasks */
    char *trace;               /* file to which a trace is written; "": none */
    char *machine;             /* "private", or "own": the user's virtual machine */
    double seconds;            /* since the start */
    int64_t checkpoint;        /* number of the last checkpoint; below 0: none */
    double checkpoint_seconds; /* since that checkpoint */
    GPtrArray *views;          /* dome_view_note: the first and the newest; their `ns` is not reported */
    uint64_t views_left_out;   /* between the first of them and the others */
    GPtrArray *tasks;          /* dome_report_task */
} dome_report;

char *dome__report_text(const dome_report *report);

/* NULL if the text is not a complete report. */
dome_report *dome__report_parse(const char *text);

dome_report *dome__report_new(void);
void dome__report_free(dome_report *report);

/* ---- the asking side ---- */

/* The texts of all hubs of this user on this host, lowest pid first. *silent, unless NULL: so many more have not answered in
 * time. */
GPtrArray *dome__report_ask_all(guint *silent);

/* The text of a hub on another host; address: a dome_hub_address as text. NULL if it does not answer; with *message (g_free'd) if
 * its answer was not the hub's. */
char *dome__report_ask_hub(const char *address, char **message);

#endif
