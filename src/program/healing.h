/* Healing a loss: the other tasks become the program anew and go on from a checkpoint, or without the lost tasks. A task is told
 * to go back at any time, also while it waits for a task that is lost; so what it needs for that is fixed before. */
#ifndef DOME_SRC_PROGRAM_HEALING_H
#define DOME_SRC_PROGRAM_HEALING_H

#include "ckpt/kept.h"
#include "core/environment.h"
#include "wire/view_note.h"
#include "wire/wire.h"

#include <signal.h>

/* Written by healing.c alone. */
typedef struct dome_healing {
    bool heals;                /* the present view heals a loss: it goes on from a checkpoint. The same on all tasks */
    int before;                /* tasks of the last view that stood before this one; the same on all tasks */
    int losses;                /* after which the program has gone on, */
    uint64_t program_ns;       /* and when it began (dome__now_ns of this host) */
    int kept[DOME_KEPT_FILES]; /* what the task keeps for itself (--on-loss tell); -1: nothing */
    int stood;                 /* tasks of the last view that stood; 0: unknown. Atomic: the watcher's thread reads it */
    uint64_t first; /* number of the newest checkpoint when the program was started; known with --dome-restart=NUMBER */
    /* Fixed before the watcher's thread starts: */
    char *facts;        /* for a task that goes back, and for a process in place of task 0: what does not depend on the view */
    char *carried;      /* the same, and the piece of the state: until the view stands it can be taken back */
    char **environment; /* for execve */
    sigset_t mask;      /* of signals, in the main thread */
} dome_healing;

/* In dome_init: takes what a supervisor tells of the losses before; then what is in the note, if there is one. */
void dome__healing_begin(dome_healing *healing);
void dome__healing_take(dome_healing *healing, const dome_view_entry *entry, const dome_view_facts *facts);

/* Makes the files in memory that the note has not named. */
void dome__healing_make_kept(dome_healing *healing);
void dome__healing_clear(dome_healing *healing);

/* For the note to the next view. */
void dome__healing_note(const dome_healing *healing, dome_view_entry *entry);

/* Before the watcher's thread starts: prepares for being told to go back. */
void dome__healing_ready(dome_env *env, const char *host);

/* When the tasks have found each other, before checkpoints are looked for: all learn what task 0 knows of the view. Collective.
 */
int dome__healing_share(dome_env *env);

/* Asks the task's own thread to go over where it is (go_over.h). False: it cannot; if it does not, `otherwise` is called. */
typedef bool (*dome_healing_ask)(dome_env *env, const dome_wire_back *back,
                                 void (*otherwise)(void *ctx, const dome_wire_back *back));

/* From now on a task that is told to go back is asked first. */
void dome__healing_ask_by(dome_healing_ask ask);

/* Whether each task keeps the state for itself: --on-loss tell, where there is a hub that tells of losses. The same on all tasks.
 */
bool dome__healing_keeps(const dome_env *env);

/* The view stands, with so many tasks. */
void dome__healing_stand(dome_healing *healing, int tasks);

#endif
