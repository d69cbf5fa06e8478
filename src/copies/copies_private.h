/* Shared by the files of copies. */
#ifndef DOME_SRC_COPIES_COPIES_PRIVATE_H
#define DOME_SRC_COPIES_COPIES_PRIVATE_H

#include "copies/copies.h"
#include "copies/copies_keeper.h"
#include "peer/peer.h"

#include <pthread.h>

/* What a task has asked its partner for. Questions of the channel may outlive the copies. */
typedef struct dome_copies_line {
    gint refs;
    pthread_mutex_t lock;
    pthread_cond_t come;
    unsigned under_way; /* questions without an answer */
    bool gone;          /* the partner */
    char *why;          /* what it cannot do; NULL: nothing */
} dome_copies_line;

struct dome_copies {
    dome_env *env;
    dome_copies_view view;
    dome_keeper *keeper; /* of what other tasks give to this one */
    int partner;
    char *host;     /* where the copies are; NULL: they are incomplete, */
    bool failed;    /* and cannot be completed */
    uint64_t given; /* length of the checkpoint */
    dome_copies_line *line;
};

/* The task that has the copies of this one: of the next group. */
int dome__copies_partner(int rank, int size, int groups, const int *group);

/* ---- copies_fetch.c ---- */

/* A checkpoint of a single task that a group has. */
typedef struct dome_copies_item {
    uint64_t number, rank, group, good;
} dome_copies_item;

/* All of them; the same on all tasks. Those of no use are removed. Collective. Fails by dome__fail. */
int dome__copies_list(dome_env *env, const dome_copies_view *view, GArray **items);

/* A task that goes back has the newest that is good in its directory. Collective. Fails by dome__fail. */
int dome__copies_fetch(dome_env *env, const dome_copies_view *view, GArray *items);

#endif
