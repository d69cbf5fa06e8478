/* What a hub tells about its program to `dome ps`: a text over a local socket (transport/door.h, DOME_DOOR_REPORT). Only the user
 * who runs the program is answered, and nobody is waited for. */
#ifndef DOME_SRC_REPORT_H
#define DOME_SRC_REPORT_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- the hub's side ---- */

/* Somebody asks: `text` is given (as dome__report_text makes it), or he is sent away. False if he still waits, as there are no
 * descriptors. */
bool dome__report_answer(int fd, char *(*text)(void *ctx), void *ctx);

/* The same to somebody who has come in another way. Does not close. */
void dome__report_send(int fd, char *(*text)(void *ctx), void *ctx);

/* ---- what it says: a key file ---- */

typedef struct dome_report_task {
    int rank, pid;
    char *host, *operation, *object; /* operation "": the program's own code */
    bool waiting;                    /* for other tasks */
    uint64_t sequence;               /* operations so far */
    double busy;                     /* processors it has used lately */
    double load;                     /* load average of its host; below 0: not known */
    double silent;                   /* seconds since it was heard */
} dome_report_task;

typedef struct dome_report {
    int pid;    /* of the hub: what a signal to the program is sent to */
    char *host; /* of the hub */
    char **command;
    char *directory;           /* working directory */
    char *trace;               /* file that a trace is being written to; "": none */
    char *machine;             /* "private", or "own": the user's virtual machine */
    double seconds;            /* since it was started */
    int64_t checkpoint;        /* number of the last one written; below 0: none */
    double checkpoint_seconds; /* since then */
    GPtrArray *tasks;          /* dome_report_task */
} dome_report;

char *dome__report_text(const dome_report *report);

/* NULL if it is not a report, or not a whole one. */
dome_report *dome__report_parse(const char *text);

dome_report *dome__report_new(void);
void dome__report_free(dome_report *report);

/* ---- the asking side ---- */

/* The texts of all hubs of this user on this host, lowest pid first. */
GPtrArray *dome__report_ask_all(void);

/* The text of a hub anywhere; address: a dome_hub_address. NULL if it does not answer. Its own host is not asked in this way. */
char *dome__report_ask_hub(const char *address);

#endif
