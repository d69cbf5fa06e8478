/* What the files checkpoint*.c share. */
#ifndef DOME_SRC_CHECKPOINT_PRIVATE_H
#define DOME_SRC_CHECKPOINT_PRIVATE_H

#include "ckpt/background.h"
#include "ckpt/checkpoint.h"
#include "ckpt/link.h"

/* As it was when this program began. */
typedef struct dome_run {
    uint64_t first, failures;
    double seconds;
    bool running;
} dome_run;

struct dome_checkpoints {
    char *directory, *program;
    bool in_memory;            /* the directory, which goes when the program comes to its end */
    uint64_t loop, next_check; /* boundaries passed, and the one at which to agree again; equal on all tasks */
    dome_ckpt_capture capture;
    dome_ckpt_link link;
    dome_ckpt_pieces pieces; /* groups of tasks that share a directory */
    dome_ckpt_background *background;
    dome_ckpt_job job; /* of the checkpoint under way */
    bool reserved;     /* room for copies has been made */
    bool under_way;    /* it has begun, and nobody has looked yet at what became of it */
    double job_pause;

    /* going on from one */
    dome_ckpt_file *from; /* NULL: not, or not any more */
    uint64_t collected;   /* its number, put together out of pieces; 0: none was */
    GHashTable *restored; /* names of objects that have got their values */

    /* rank 0 */
    dome_store *store;   /* leaders of groups as well */
    dome_ckpt *previous; /* the last good one; NULL: none to rest on */
    dome_run run;
    double began;     /* this program */
    uint64_t number;  /* of the next */
    bool full;        /* it has to hold everything */
    bool mostly_same; /* most of what was captured for the last one had not changed */
    double last;      /* when the last one was begun */
    double cost;      /* of one, seconds; 0: not known */
    double checked;   /* when tasks agreed last, and at which boundary */
    uint64_t checked_loop;
    unsigned failures; /* running */
    double written_at; /* when the last one was known to be written */

    dome_checkpoint_report report;
};

/* A line of rank 0's about something that does not end the program. */
void dome__checkpoint_say(dome_env *env, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rank 0's data for all. */
int dome__checkpoint_share(dome_env *env, void *data, uint64_t count, dome_type type);

/* Whether hosts share no directory: each has a piece of every checkpoint. */
static inline bool dome__checkpoint_in_pieces(const dome_checkpoints *c)
{
    return c->pieces.count > 1;
}

bool dome__checkpoint_leads_group(const dome_env *env);

/* ---- checkpoint_run.c: the file `run` ----
 *
 * It knows the number of the first checkpoint of this run, since what is older is another run's; and how often the run has failed
 * in how many seconds. */

/* Whether it can be read, or is not there. */
bool dome__run_check(const char *directory, char **message);
dome_run dome__run_read(const char *directory);
bool dome__run_write(const dome_checkpoints *c, bool running, char **message);

/* At the start. A run that goes on although nobody has ended it has failed. */
bool dome__run_note(dome_checkpoints *c, bool goes_on, char **message);

/* The mean time between failures that is given, or else that this run has seen so far. */
double dome__time_between_failures(const dome_env *env);

/* ---- checkpoint_signals.c: what signals ask rank 0 for ---- */

void dome__checkpoint_catch_signals(void);

/* end: and does what SIGTERM has asked for. */
void dome__checkpoint_leave_signals(bool end);

/* A checkpoint is asked for (SIGUSR1), until it is answered. */
bool dome__checkpoint_asked(void);
void dome__checkpoint_answered(void);

/* One, and then the end (SIGTERM). Asked at a boundary: what follows is the writing of it. */
bool dome__checkpoint_ending(void);

/* ---- checkpoint_copy.c: the state ---- */

/* The blocks that this task writes, as one or two runs. What all tasks have is shared out among them. */
int dome__checkpoint_own_blocks(const dome_env *env, const dome_object_info *info, dome_span runs[2]);

/* Whether its blocks are stored as values of its type. */
bool dome__checkpoint_is_fixed(const dome_object *object, const dome_object_info *info);

/* Copies what has changed, or all, into the capture, which holds what went wrong. */
void dome__checkpoint_copy(dome_env *env, bool full);
dome_ckpt *dome__checkpoint_describe(dome_env *env, uint64_t number, char **message);

/* Of the whole state in a file, and of a copy of this task's part. */
uint64_t dome__checkpoint_bytes(const dome_env *env);
uint64_t dome__checkpoint_own_bytes(const dome_env *env);

/* ---- checkpoint_write.c: one after the other, beside the program ---- */

/* Copies what has changed, and leaves the rest to the thread. */
void dome__checkpoint_begin_writing(dome_env *env, uint64_t number, bool full);

/* Looks at what became of the one under way; it is done. */
void dome__checkpoint_take_result(dome_env *env);

/* The same, after waiting for it. */
void dome__checkpoint_finish_writing(dome_env *env);

/* ---- checkpoint_restart.c: going on from one ---- */

/* Opens the one to go on from, if one is wanted. Collective. Fails by dome__fail. */
int dome__checkpoint_open(dome_env *env);

/* At the first boundary: the program has made what it works with. */
void dome__checkpoint_end_restart(dome_env *env);

#endif
