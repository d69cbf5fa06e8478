/* Hosts and programs as the policies of a cluster see them. */
#ifndef DOME_SRC_MANAGED_H
#define DOME_SRC_MANAGED_H

#include "manage/topology.h"

typedef enum dome_managed_use {
    DOME_MANAGED_OPEN,   /* takes tasks */
    DOME_MANAGED_KEEPS,  /* takes no more tasks: its owner has just come, or will soon be known to be away */
    DOME_MANAGED_CLOSED, /* tasks go elsewhere if there is room, and stop if there is none: disabled, or its owner is there */
    DOME_MANAGED_LEFT    /* no task stays, not even a stopped one: drained, or its owner stays */
} dome_managed_use;

typedef struct dome_managed_host {
    const char *name, *architecture;
    int processors;
    double speed; /* of a processor; 1: usual */
    double load;  /* processors that others than Dome's programs keep busy */
    dome_managed_use use;
} dome_managed_host;

typedef enum dome_managed_state {
    DOME_MANAGED_WAITING, /* not started yet, or all its hosts were lost */
    DOME_MANAGED_RUNNING,
    DOME_MANAGED_SUSPENDED /* its tasks are stopped where they are */
} dome_managed_state;

typedef struct dome_managed_program {
    int priority;                      /* more goes first */
    double submitted;                  /* seconds */
    double used;                       /* seconds of processors so far */
    double waited;                     /* seconds during which it has not run, since it was submitted */
    double changed;                    /* when its tasks last changed, or were stopped or continued */
    int least, most;                   /* tasks; equal: their number cannot change */
    const dome_topologies *topologies; /* NULL: any hosts; only wishes from least to most count */
    int home;                          /* 1 + the host on which it begins, if that is as good as others; 0: none */
    int first;                         /* 1 + the host that one of its tasks cannot leave once it has begun; 0: none */
    bool bound;                        /* it can neither change nor move: once it has begun, it stays where it is */
    bool away;                         /* nobody can give it orders: it keeps what it has, before all others */
    dome_managed_state state;
    const int *tasks; /* on each host; all 0 while it waits */
} dome_managed_program;

typedef struct dome_managed {
    const dome_managed_host *hosts;
    int host_count;
    const dome_managed_program *programs;
    int program_count;
} dome_managed;

#endif
