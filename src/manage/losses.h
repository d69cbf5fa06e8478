/* Losses at the same point of the program, one after the other: healing or starting again does not help there. */
#ifndef DOME_SRC_LOSSES_H
#define DOME_SRC_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

/* After this many losses of one cause at the same point the program is given up. Losses from outside (a killed process, a host)
 * are a sign only if they hit the same tasks in a row: several hosts or tasks may be lost before the program has gone on. Where
 * the program itself fails, it would fail again, whatever else is lost in between. */
enum { DOME_LOSSES_MOST = 3 };

/* Causes of losses; other values are words for the tasks that are lost by something outside of the program. */
enum {
    DOME_CAUSE_PROGRAM, /* a task has failed, or the cause is not known */
    DOME_CAUSE_DAEMON,  /* the launcher's daemon has ended */
    DOME_CAUSE_TASKS    /* the least of the others */
};

/* Where the program was. */
typedef struct dome_place {
    bool known;
    uint64_t checkpoint, loop, sequence;
    uint64_t cause;
} dome_place;

typedef struct dome_losses {
    dome_place last;
    int row;      /* of the last cause, in a row */
    int failures; /* of the program itself at this place */
} dome_losses;

/* The cause that includes the loss of task `rank`, too: in the order of ranks, from DOME_CAUSE_PROGRAM on. */
uint64_t dome__losses_add_task(uint64_t cause, int rank);

/* Notes a loss. Returns whether the program is to be given up. */
bool dome__losses_note(dome_losses *losses, const dome_place *here);

/* What it returned. */
bool dome__losses_repeat(const dome_losses *losses);

#endif
