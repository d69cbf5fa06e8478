/* Shared by the files checkpoint*.c. */
#ifndef DOME_SRC_CHECKPOINT_PRIVATE_H
#define DOME_SRC_CHECKPOINT_PRIVATE_H

#include "ckpt/background.h"
#include "ckpt/checkpoint.h"
#include "ckpt/kept.h"
#include "ckpt/link.h"
#include "copies/copies.h"

/* State of the run when this program began. */
typedef struct dome_run {
    uint64_t first, failures;
    double seconds;
    bool running;
} dome_run;

/* Words of rank 0 to all tasks at a boundary. */
typedef struct dome_checkpoint_order {
    uint64_t number; /* write this checkpoint; 0: none */
    uint64_t full;
    uint64_t next; /* boundary of the next check */
    uint64_t ending;
    uint64_t keep; /* each task keeps the state for itself */
} dome_checkpoint_order;

/* Of checkpoint_boundary.c: when a checkpoint is due. */
typedef struct dome_checkpoint_due {
    uint64_t next_check;         /* boundary of the next check; equal on all tasks */
    dome_checkpoint_order order; /* for this boundary, decided and not yet carried out */
    bool again;                  /* one was due, and has been put off; the same on all tasks */
    bool reserved;               /* memory for copies has been allocated */
    /* rank 0 */
    bool empty;            /* it has been said that there is nothing to write */
    double last;           /* time at which the last one was begun */
    double checked;        /* time of the tasks' last check, */
    uint64_t checked_loop; /* and its boundary */
} dome_checkpoint_due;

/* Of checkpoint_write.c: the checkpoint that is being written, and how the last ones went. */
typedef struct dome_checkpoint_writing {
    dome_ckpt_job job; /* of the current checkpoint */
    bool under_way;    /* the job has begun, and its result has not been processed yet */
    double job_pause;
    double job_began;    /* time at which the program stopped for it */
    uint64_t saved_loop; /* boundary of the last one */
    bool unreachable;    /* the last one was not written because a task could not be reached */
    bool kept_any;       /* this task has kept the state for itself in this view */
    bool unkept;         /* it has been said that it cannot */
    bool unfrozen;       /* it has been said that there is no copy on write */
    /* rank 0 */
    unsigned whole;    /* checkpoints for which no deltas are tried, since the last trial did not pay */
    bool mostly_same;  /* most blocks copied for the last one had not changed */
    double cost;       /* of one, seconds; 0: not known */
    double took;       /* seconds until the last one was written; 0: not known. The thread that writes it sets it */
    double written_at; /* time at which the last one was known to be written */
    unsigned failures; /* running */
    bool left_out;     /* it has been said that one was left out, and none has been written since */
} dome_checkpoint_writing;

/* Of checkpoint_restart.c: what the program goes on from. */
typedef struct dome_checkpoint_restart {
    dome_ckpt_file *from;           /* NULL: nothing, or it is no longer needed */
    dome_handover_source *handover; /* NULL: it is a file */
    bool lazy;                      /* objects may read their values later; the same on all tasks */
    bool doubted;                   /* rank 0: the directory has the file `doubted` */
    uint64_t collected;             /* its number if it was merged from pieces; 0: it was not */
    GHashTable *restored;           /* names of objects that have got their values */
    GHashTable *lost;               /* by name, the elements that no task has: a GArray of dome_span. NULL: there are none */
    uint64_t restored_ns;           /* time spent on that */
    uint64_t restored_at;           /* when the last of them had got its values; 0: none has */
} dome_checkpoint_restart;

/* Of checkpoint_run.c: the run before this program, and this program. */
typedef struct dome_checkpoint_past {
    dome_run run;
    double began;    /* this program */
    uint64_t losses; /* that it has gone on after before, */
    double seconds;  /* in so many seconds */
} dome_checkpoint_past;

struct dome_checkpoints {
    char *directory, *program; /* directory NULL: the program writes no checkpoint files */
    bool in_memory;            /* the directory is in memory, and removed at the end of the program */
    dome_kept *kept;           /* what this task keeps of the state for itself; NULL: nothing */
    uint64_t loop;             /* boundaries passed; equal on all tasks */
    dome_ckpt_snapshot snapshot;
    dome_ckpt_link link;
    dome_ckpt_pieces pieces; /* groups of tasks that share a directory */
    dome_ckpt_background *background;

    dome_checkpoint_due due;
    dome_checkpoint_writing writing;
    dome_checkpoint_restart restart;

    /* rank 0 */
    dome_checkpoint_past past;
    dome_store *store;   /* on leaders of groups as well */
    dome_ckpt *previous; /* the last good one; NULL: none that the next could refer to */
    uint64_t number;     /* of the next */
    bool full;           /* the next one must contain everything */

    /* --dome-checkpoint-protocol log (own.c) */
    bool own;            /* each task has checkpoints of its own */
    char *own_path;      /* the newest; NULL: there is none; */
    uint64_t own_newest; /* and its number */
    double own_last;     /* when the last was begun, */
    double own_cost;     /* and what it took, seconds; 0: not known */
    dome_copies *copies; /* on another host; NULL: there are none, */
    double uncopied;     /* or since this time they cannot be made; 0: they can */

    dome_checkpoint_report report;
};

/* ---- checkpoint_signals.c: lines and messages ---- */

/* Prints a message on rank 0 about a problem that does not end the program. */
void dome__checkpoint_say(dome_env *env, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends rank 0's data to all tasks. */
int dome__checkpoint_share(dome_env *env, void *data, uint64_t count, dome_type type);

/* Whether the hosts share no directory: then each has a piece of every checkpoint. */
static inline bool dome__checkpoint_in_pieces(const dome_checkpoints *c)
{
    return c->pieces.count > 1;
}

static inline bool dome__checkpoint_leads_group(const dome_env *env)
{
    const dome_ckpt_pieces *p = &env->checkpoints->pieces;
    return p->leader[p->group[env->rank]] == env->rank;
}

/* ---- checkpoint.c, own.c: the start ---- */

/* All tasks use the directory that rank 0 names, wherever they run. Collective. */
int dome__checkpoint_agree_directory(dome_env *env, dome_checkpoints *c);

/* Makes the directory, by the option that says whom it may belong to, and finds which tasks share it. Fails by dome__fail.
 * Collective. */
int dome__checkpoint_find_groups(dome_env *env, dome_checkpoints *c);

/* The same as dome__checkpoint_start for a program whose tasks have checkpoints of their own; env->checkpoints is there. */
int dome__own_start(dome_env *env, const dome_checkpoint_view *view);

/* ---- checkpoint_run.c: the file `run` ----
 *
 * It contains the number of the first checkpoint of this run, since older ones belong to another run; and how often the run has
 * failed in how many seconds. */

/* Whether the file can be read, or does not exist. */
bool dome__run_check(const char *directory, char **message);
dome_run dome__run_read(const char *directory);
bool dome__run_write(const dome_checkpoints *c, bool running, char **message);

/* Called at the start. A run that continues without having been ended has failed. */
bool dome__run_note(dome_checkpoints *c, bool goes_on, char **message);

/* Before all else: this program goes on after so many losses, in so many seconds. */
void dome__run_begin(dome_checkpoints *c, int losses, double seconds);

/* The mean time between failures: the user's, otherwise as observed in this run. */
double dome__time_between_failures(const dome_env *env);

/* ---- checkpoint_signals.c: signals with requests to rank 0 ---- */

void dome__checkpoint_catch_signals(void);

/* end: performs the end that SIGTERM requested. */
void dome__checkpoint_leave_signals(bool end);

/* Raises again what has been requested and not been done. The caller has blocked both signals, so they stay pending. */
void dome__checkpoint_keep_signals(void);

/* A checkpoint is requested (dome__checkpoint_asked) from the first call to the second. */
void dome__checkpoint_ask(void);
void dome__checkpoint_answered(void);

/* A checkpoint and then the end have been requested (SIGTERM). Called at a boundary: the checkpoint is written next. */
bool dome__checkpoint_ending(void);

/* ---- checkpoint_boundary.c ---- */

/* At the start, and once it is known at which boundary the program goes on. */
void dome__checkpoint_due_begin(dome_checkpoints *c);
void dome__checkpoint_due_from(dome_checkpoints *c);

/* ---- checkpoint_copy.c ---- */

/* Copies what has changed, or everything, into the snapshot, which also notes problems. */
void dome__checkpoint_copy(dome_env *env, bool full);

/* Bytes of the whole state in a file, and of a copy of this task's part. */
uint64_t dome__checkpoint_bytes(const dome_env *env);
uint64_t dome__checkpoint_own_bytes(const dome_env *env);

/* Whether the state has objects of which these two do not know. */
bool dome__checkpoint_has_untyped(const dome_env *env);

/* ---- checkpoint_write.c: one checkpoint after the other, beside the program ---- */

/* Copies the blocks that have changed, and starts the thread that writes the copy. Fails by dome__fail. */
int dome__checkpoint_begin_writing(dome_env *env, uint64_t number, bool full);

/* Processes the result of the current checkpoint, whose job must have ended. */
void dome__checkpoint_take_result(dome_env *env);

/* The same, after waiting for the job to end. */
void dome__checkpoint_finish_writing(dome_env *env);

/* Whether the checkpoint behind this one is to have all blocks: a chain of deltas ends with this one. */
bool dome__checkpoint_ends_chain(const dome_ckpt *ckpt);

/* On rank 0: messages were in transit at each boundary where the state could have been saved. Said once, and at the end. */
void dome__checkpoint_tell_left_out(dome_env *env, const char *why, bool ends);

/* The state that each task keeps for itself: writes it. Collective. Fails by dome__fail. */
int dome__checkpoint_keep(dome_env *env);

/* Whether this task has done so in this view. */
bool dome__checkpoint_has_kept(const dome_checkpoints *c);

/* Whether a checkpoint of the present boundary has been begun; the same on all tasks. */
bool dome__checkpoint_saved_here(const dome_checkpoints *c);

/* On rank 0: what a checkpoint costs the program, and how long it takes until it is written, in seconds; 0: not known. */
double dome__checkpoint_cost(const dome_checkpoints *c);
double dome__checkpoint_took(const dome_checkpoints *c);

/* ---- checkpoint_restart.c: restarting ---- */

/* From now on objects get their values from this file, which is taken over. */
void dome__checkpoint_take_up(dome_checkpoints *c, dome_ckpt_file *file);

/* Opens the checkpoint to restart from, if one is requested. Collective. Fails by dome__fail. */
int dome__checkpoint_open(dome_env *env);

/* The same for a program that enters another view. */
int dome__checkpoint_open_handover(dome_env *env, const dome_checkpoint_view *view);

/* Goes on with the run of the directory, without a checkpoint of it. */
int dome__checkpoint_go_on(dome_env *env);

/* The same for a program whose tasks go on without some that are lost. It may have kept nothing: then there is nothing to restart
 * from yet. */
int dome__checkpoint_open_kept(dome_env *env, uint32_t view);

/* The end of the environment, or of its checkpoints. */
void dome__checkpoint_restart_free(dome_checkpoints *c);

#endif
