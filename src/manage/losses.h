/* Losses at the same point of the program, one after the other: healing or starting again does not help there. */
#ifndef DOME_SRC_LOSSES_H
#define DOME_SRC_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

/* After this many losses in a row at the same point the program is given up. Losses from outside (a killed process, a host) are
 * a sign only if they hit the same tasks: several hosts or tasks may be lost before the program has gone on. */
enum { DOME_LOSSES_MOST = 3 };

/* Where the program was. */
typedef struct dome_place {
    bool known;
    uint64_t checkpoint, loop, sequence;
    uint64_t victims; /* of losses that come from outside of the program: which tasks; 0: it failed, or that is not known */
} dome_place;

typedef struct dome_losses {
    dome_place last;
    int times; /* in a row */
} dome_losses;

/* Notes a loss. Returns whether the program is to be given up. */
bool dome__losses_note(dome_losses *losses, const dome_place *here);

#endif
