/* The failure of a program, from the first sign of it to the end of the last task: noticed (the hub asks the survivors for their
 * operation), told (the hub sends END to all), over. A loss that is healed is forgotten after the first step. hub_failure.c alone
 * changes these members. */
#ifndef DOME_SRC_HUB_FAILURE_H
#define DOME_SRC_HUB_FAILURE_H

#include "hub/client_state.h"
#include "wire/wire.h"

#include <stddef.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_failure {
    char *noticed; /* the line's text without the operation; NULL: none was noticed */
    double noticed_at;
    dome_end end;       /* the most severe one noticed */
    int exit_status;    /* of the program */
    bool ask_operation; /* the line says in which operation the survivors are */
    bool place_unknown; /* no task that was left has answered in time: the operations are those of earlier beats */
    uint64_t cause;     /* by which losses are compared (manage/losses.h) */
    char *silent;       /* the host of the task that fell silent; NULL: none has */

    bool told;
    double told_at;
    char *line; /* the line that was printed, or goes into the report */
    bool killed, lost_killed;
    double killed_at;
} hub_failure;

/* Step one. Only the first failure counts. Takes ownership of text. */
void dome__hub_notice(hub_state *s, dome_end end, bool ask_operation, int exit_status, char *text);
void dome__hub_lost(hub_state *s, hub_client *c, const char *how);

/* The same for a task that has exited by itself. */
void dome__hub_left(hub_state *s, const hub_client *c, int exit_status);

/* A task's own reason, which replaces what the hub has noticed from outside. */
void dome__hub_notice_reason(hub_state *s, dome_end end, int exit_status, const char *text);

/* The failure that was noticed turns out to be another one. Takes ownership of text. */
void dome__hub_notice_anew(hub_state *s, dome_end end, int exit_status, char *text);

/* A start that failed after the program had started is a loss. */
void dome__hub_notice_loss(hub_state *s);

/* This host has fallen silent. Takes ownership of the name. */
void dome__hub_notice_silent(hub_state *s, char *host);

/* Whether survivors have told in which operation they are. */
void dome__hub_notice_place(hub_state *s, bool known);

/* As dome__hub_cause says. */
void dome__hub_notice_cause(hub_state *s, uint64_t cause);

/* The failure has been dealt with: the next one is another. */
void dome__hub_failure_forget(hub_state *s);
void dome__hub_failure_close(hub_state *s);

/* The line of the failure that was noticed, without the prefix "dome: " and the newline: g_free'd. */
char *dome__hub_reason(const hub_state *s);

/* Step two: prints the line and tells all tasks to end. */
void dome__hub_tell(hub_state *s);

/* Kills tasks that have been told to end and have not ended. */
void dome__hub_kill_rest(hub_state *s);

/* Kills the processes of tasks that closed their connections without a farewell. Call it only when all connections are closed: a
 * PVM daemon that is busy with it may lose the line for the console. */
void dome__hub_kill_lost(hub_state *s);

void dome__hub_send_end(const hub_state *s, hub_client *c, const char *text);

/* Describes the operation that a task is in; returns buffer. */
const char *dome__hub_operation_text(const hub_client *c, char *buffer, size_t size);

#endif
