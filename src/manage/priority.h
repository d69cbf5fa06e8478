/* Which programs of a cluster run, and with how many tasks (Stardust's transfer policy, section 3.3.2: programs of high priority
 * run, others are suspended until there is room). Programs whose number of tasks can change shrink for others before any is
 * suspended, and grow again later. A function of the cluster's state; it orders nothing.
 *
 * - Priority goes first. Among equals, programs that have used little go first: a program's turn is how often what it has used
 *   has doubled, as in the feedback queues of operating systems, so short programs do not wait for long ones, whose length nobody
 *   has to tell. Waiting makes up for it: PATIENCE for one turn, so every program comes to run.
 * - In this order each program gets processors for its smallest number of tasks, by the first topology that fits: one for each,
 *   or fewer, which its tasks share, so that none stand idle because no program fits. A program that finds no place waits, and
 * one that runs is suspended if others that go first need its places.
 * - Programs of higher priority get one for each before those of lower priority get any, if there are so many. And a program does
 *   not share processors on hosts where one of higher priority is: its tasks would take more than they are given.
 * - A bound program keeps its places, or is suspended; so does one whose task that cannot leave its host finds no place there.
 *   Others avoid such places.
 * - Then places that are left are dealt task by task, to the program of highest priority that has fewest, up to its most.
 * - A program grows or moves at most once in REST. One task moves to a much faster processor after SETTLED.
 * - A program that finds no idle processor shares busy ones with the programs of other users. One with topologies does not: it
 *   waits until one fits. Further tasks are dealt to busy processors only if none at all is idle. */
#ifndef DOME_SRC_PRIORITY_H
#define DOME_SRC_PRIORITY_H

#include "manage/managed.h"

/* Seconds. */
#define DOME_PRIORITY_REST     10.0
#define DOME_PRIORITY_SETTLED  60.0
#define DOME_PRIORITY_PATIENCE 600.0
#define DOME_PRIORITY_TURN     60.0 /* of a processor: what is used in the first turn */

typedef enum dome_manage_verb {
    DOME_MANAGE_NOTHING,
    DOME_MANAGE_START,
    DOME_MANAGE_CHANGE,  /* shrink, grow or move to these tasks on each host; a suspended program is resumed first */
    DOME_MANAGE_SUSPEND, /* stop all tasks where they are */
    DOME_MANAGE_RESUME,
    DOME_MANAGE_PARK /* write a checkpoint and end: its hosts keep nothing; it waits to be started from there */
} dome_manage_verb;

/* Decides at a time (seconds). verbs[p]: for each program; tasks[p * host_count + h]: its tasks on each host then. For
 * DOME_MANAGE_NOTHING, SUSPEND and RESUME they are those that it has; for PARK, 0. */
void dome__priority_decide(const dome_managed *cluster, double now, dome_manage_verb *verbs, int *tasks);

#endif
