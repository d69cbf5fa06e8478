/* On which hosts tasks run: those whose processors are free and fast (Stardust, section 3.3.3: "the less loaded ones are
 * selected"), beside the tasks that the program has already. Functions of numbers; they start nothing. */
#ifndef DOME_SRC_HOST_CHOICE_H
#define DOME_SRC_HOST_CHOICE_H

#include "manage/managed.h"

/* Free processors of hosts. */
typedef struct dome_room {
    const dome_managed_host *hosts;
    int count;
    int *used;    /* by host: tasks that are placed there */
    int *claimed; /* by host: tasks that run there now and are not placed yet: others avoid their places */
    int *fixed;   /* by host: those of them that cannot go elsewhere */
    int home;     /* 1 + the host that is taken among equally good ones; 0: none */
    bool shared;  /* tasks may share processors with what others do there */
    bool *barred; /* by host: not for the program that is placed now */
    int only;     /* 1 + the only host for what is placed now; 0: any */
} dome_room;

/* How many tasks of programs a host has processors for: those that are idle but for these tasks, or all if they are shared. 0 if
 * tasks are to go. */
int dome__host_choice_slots(const dome_managed_host *host, bool shared);

/* Places up to `wanted` tasks of a program in the room; placed: on each host, from what is there (0 at first). present: tasks
 * that the program has on each host, which it keeps where it can. wish: which hosts may be taken; NULL: any. Returns how many
 * tasks found a place, and adds them to `placed` and to room->used. */
int dome__host_choice_fill(dome_room *room, int wanted, const dome_wish *wish, const int *present, int *placed);

/* Whether a task that moves to the fastest free processor would be so much faster that it is worth it (a quarter): then
 * moves it in `placed` and in the room. */
bool dome__host_choice_improve(dome_room *room, const dome_wish *wish, int *placed);

#endif
