/* The report for `dome ps` and the supervisor, and the facts that only they need. hub_report.c alone changes these members. */
#ifndef DOME_SRC_HUB_REPORT_H
#define DOME_SRC_HUB_REPORT_H

#include <stdint.h>

typedef struct hub_state hub_state;

typedef struct hub_report {
    double started;       /* wall time */
    char **command;       /* the words of rank 0, as last known */
    int64_t checkpoint;   /* number of the last one that task 0 has reported; below 0: none */
    double checkpoint_at; /* wall time */
} hub_report;

void dome__hub_report_open(hub_state *s);
void dome__hub_report_close(hub_state *s);

/* The program has written a checkpoint with this number, or goes on from it: if it is new, it was written just now. */
void dome__hub_report_checkpoint(hub_state *s, int64_t number);

/* The program goes on from the checkpoint with this number. If nobody has told of it, it was written after the last beat. */
void dome__hub_report_back(hub_state *s, int64_t number);

/* For dome__report_answer and dome__demand_open. */
char *dome__hub_report_text(void *state);

/* The words with which rank 0 was started, with blanks between them; g_free'd. If that process has ended, or is about
 * to run another program, the words that were read before. */
char *dome__hub_command_line(void *state);

/* Sends the supervisor the report that it needs to restart the program. */
void dome__hub_report_end(const hub_state *s, int status);

#endif
