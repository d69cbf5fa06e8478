/* How many tasks each of several programs gets of the slots of some hosts (src/daemon). A function of numbers. */
#ifndef DOME_SRC_SHARE_POLICY_H
#define DOME_SRC_SHARE_POLICY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dome_share {
    int least, most; /* tasks with which it can run */
    int has;         /* its tasks now; 0: it waits */
    bool fixed;      /* it runs and cannot change their number */
    int gets;        /* the result; 0: it waits on */
} dome_share;

/* The programs stand in the order in which they are served. What runs is never stopped, but has to shrink, to `least` at most,
 * for what waits before it in the order. Behind one that waits and has no room all others wait, or a large program would wait for
 * ever. One that has no room on all hosts together runs alone. What is left goes to the first that can use it. */
void dome__share_out(dome_share *programs, size_t count, int slots);

#endif
