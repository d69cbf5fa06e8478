/* Checkpoints of a running program: when one is due, copying the state, and going on from one. docs/checkpoints.md says what
 * users see; src/ckpt knows files. */
#ifndef DOME_SRC_CHECKPOINT_H
#define DOME_SRC_CHECKPOINT_H

#include "core/environment.h"

/* --dome-checkpoint-dir with this name: in memory. `dome run --restarts` chooses and removes the directory, in a file system of
 * memory, and names it in DOME_VARIABLE_MEMORY. */
#define DOME_CHECKPOINT_MEMORY "memory:"

/* In dome_init: looks at the directory, and opens the checkpoint to go on from if one is wanted. Collective. Fails by
 * dome__fail. */
int dome__checkpoint_start(dome_env *env, const char *program);

/* The loop boundary. Collective. */
int dome__checkpoint_boundary(dome_env *env);

/* In dome_finalize: what is being written is finished. */
void dome__checkpoint_finish(dome_env *env);
void dome__checkpoint_free(dome_env *env);

/* Gives a new object its values, if the program restarts. Fails by dome__fail. */
int dome__checkpoint_restore(dome_env *env, dome_object *object);

/* Which checkpoint a program of that name would go on from with --dome-restart=auto, and its loop boundary, without looking at
 * its data. False if there is none. */
bool dome__checkpoint_newest(const char *directory, const char *program, uint64_t *number, uint64_t *loop);

bool dome__checkpoint_restarting(const dome_env *env);

/* The last checkpoint that this program has written, and how many seconds ago. False if there is none, and on other tasks than
 * the first. */
bool dome__checkpoint_last(const dome_env *env, uint64_t *number, double *age);

/* For the profile. */
typedef struct dome_checkpoint_report {
    uint64_t written, failed;
    uint64_t bytes; /* of data in the files; known to rank 0 */
    double pause;   /* seconds that this task waited for its copies */
    double consult; /* seconds spent in agreeing when to write */
    double cost;    /* of one: pause, and processor time beside the program; seconds */
    double longest_pause;
    double interval; /* aimed at, seconds; 0: by loops */
} dome_checkpoint_report;

/* False if the program writes none. */
bool dome__checkpoint_report(const dome_env *env, dome_checkpoint_report *report);

#endif
