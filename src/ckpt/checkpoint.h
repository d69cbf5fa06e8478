/* Checkpoints of a running program: deciding when one is due, copying the state, and restarting. docs/checkpoints.md describes
 * what users see. */
#ifndef DOME_SRC_CHECKPOINT_H
#define DOME_SRC_CHECKPOINT_H

#include "ckpt/handover.h"
#include "core/environment.h"

/* The value of --dome-checkpoint-dir for checkpoints in memory. `dome run --restarts` chooses and removes the directory, in a
 * memory file system, and passes its name in DOME_VARIABLE_MEMORY. */
#define DOME_CHECKPOINT_MEMORY "memory:"

/* Its value for none, where there would otherwise be some (--dome-on-loss heal). */
#define DOME_CHECKPOINT_NONE "none:"

/* For a program that enters another view (wire/view.h). */
struct dome_copies_range; /* copies/copies.h */

typedef struct dome_checkpoint_view {
    uint32_t number;           /* of the view; 0: the first */
    bool back;                 /* it goes back to a checkpoint, or to what the tasks have kept */
    bool in_place;             /* tasks that stay enter it in place */
    dome_handover_piece piece; /* what this task has brought along, taken over by dome__checkpoint_start */
    const int *kept;           /* the files in which it keeps the state for itself (kept.h); NULL: it does not */
    int losses;                /* that the program has gone on after, in views and attempts before, */
    double seconds;            /* in so many seconds */
    bool stays;                /* with checkpoints of its own: this task goes on where it is, */
    uint64_t loop;             /* at this boundary; */
    uint64_t newest, next;     /* its checkpoint, 0: none, and the number of the next; */
    char *host;                /* the host that has copies of all, NULL: none */
} dome_checkpoint_view;

/* Called by dome_init: checks the directory, and opens the checkpoint to restart from if one is requested. Collective. Fails by
 * dome__fail. */
int dome__checkpoint_start(dome_env *env, const char *program, const dome_checkpoint_view *view);

/* Before this task leaves the view: finishes, and leaves the directory as a program does that is to go on. The caller has blocked
 * SIGTERM and SIGUSR1: a request of theirs that has come too late for this view stays pending. */
void dome__checkpoint_leave(dome_env *env);

/* dome__handover_prepare. loop: boundaries passed, for a program that writes no checkpoints. */
int dome__checkpoint_handover(dome_env *env, const char *program, uint64_t loop, const bool *stays, dome_handover **handover,
                              char **why);

/* The loop boundary, in two steps: whether something is due, and doing it. Between them the program may bring its state into
 * objects (src/capture). Collective. */
int dome__checkpoint_decide(dome_env *env, bool *due);
int dome__checkpoint_carry_out(dome_env *env);

/* The first step of a program that polls after each operation (src/capture), where boundaries come too fast, and too unevenly,
 * for tasks to consult each other now and then. pass: counts a boundary; true: one at which all of them consult, by an interval
 * in loops, or because a checkpoint has been put off to it. consult: `asked`, the same on all tasks: somebody wants a
 * checkpoint. */
bool dome__checkpoint_pass(dome_env *env);
int dome__checkpoint_consult(dome_env *env, bool asked, bool *due);

/* Between the two steps: whether the state is to be saved at this boundary, which is the same on all tasks; and, on rank 0,
 * whether the program ends then (SIGTERM). */
bool dome__checkpoint_saves(const dome_env *env);
bool dome__checkpoint_ends(const dome_env *env);

/* It cannot be saved at this boundary, since messages are in transit: it is tried again after so many boundaries; or it is left
 * out, and rank 0 says why, once until one is written. A program that is to end then ends here. */
void dome__checkpoint_put_off(dome_env *env, uint64_t boundaries);
void dome__checkpoint_leave_out(dome_env *env, const char *why);

/* At a boundary where the number of tasks is to change: writes a checkpoint first, and waits for it, unless that would take long.
 * A loss during the change, or soon after it, then goes back to this boundary and not further. Collective. Fails by dome__fail.
 */
int dome__checkpoint_before_change(dome_env *env);

/* Whether one is written at this boundary, as all tasks have been told. */
bool dome__checkpoint_is_due(const dome_env *env);

/* ---- --dome-checkpoint-protocol log: each task has checkpoints of its own (own.c) ---- */

/* Whether the program has several tasks and this protocol. */
bool dome__own_wanted(const dome_env *env);

/* This task keeps its messages in files of the directory of checkpoints, whose paths begin with this text; g_free'd by the
 * caller. NULL: there is no directory. *memory: it is one in memory. */
char *dome__own_stem(const dome_env *env, bool *memory);

/* Counts a boundary of this task. kept: bytes that other tasks keep for it until its next checkpoint. True: one is due. */
bool dome__own_pass(dome_env *env, uint64_t kept);

/* Writes it, and removes the one before. used: with copies on another host, the numbers (uint64_t) of the files of messages to
 * which it refers, and which have been copied. *written: it is complete; otherwise the other host is gone, or this task is to
 * leave the view. Fails by dome__fail. */
int dome__own_write(dome_env *env, const GArray *used, bool *written);

/* Whether another host has copies of what this task has, since hosts share no directory; and giving it a part of a file of
 * messages, as dome__copies_range. */
bool dome__own_copies(const dome_env *env);
bool dome__own_give(dome_env *env, const struct dome_copies_range *range);

/* Whether this task has a checkpoint of which no other host has a copy; and giving it one, with `used` as above. Fails by
 * dome__fail. */
bool dome__own_lacks_copy(const dome_env *env);
int dome__own_renew(dome_env *env, const GArray *used);

/* Notes what a task takes along that stays. `host` is g_free'd by the caller. */
void dome__own_carry(const dome_env *env, dome_checkpoint_view *view);

/* Called by dome_finalize: finishes the checkpoint that is being written. */
void dome__checkpoint_finish(dome_env *env);
void dome__checkpoint_free(dome_env *env);

/* Gives a new object its values if the program restarts. Fails by dome__fail. */
int dome__checkpoint_restore(dome_env *env, dome_object *object);

typedef struct dome_checkpoint_point {
    uint64_t number, loop; /* 0: none; its loop boundary */
    uint64_t tasks;        /* as many as it needs; 0: any number */
    bool doubted;          /* data there has turned out to be damaged: a restart verifies first, and may take an older one */
} dome_checkpoint_point;

/* Finds the checkpoint from which a program of that name (NULL: of any) would restart with --dome-restart=auto, without reading
 * its data. False if there is none. */
bool dome__checkpoint_newest(const char *directory, const char *program, dome_checkpoint_point *point);

/* Finds the one from which a program with these options would restart; its loop is 0 if that is not known. */
bool dome__checkpoint_wanted(const char *directory, const dome_restart_options *wanted, dome_checkpoint_point *point);

bool dome__checkpoint_restarting(const dome_env *env);

/* The elements of an object that are lost, as long as the program restarts. Returns how many spans there are; they stay until the
 * program has passed a boundary. */
size_t dome__checkpoint_lost(const dome_env *env, const dome_object *object, const dome_span **spans);
/* How long it took to give objects their values, and when the last one had them (dome__now_ns; 0: none has got any). */
void dome__checkpoint_restored(const dome_env *env, uint64_t *took_ns, uint64_t *at);

/* The number of the checkpoint that the program goes on from, and its loop boundary. False, with 0, if there is none, or it has
 * passed a boundary since. */
bool dome__checkpoint_from(const dome_env *env, uint64_t *number, uint64_t *loop);

/* Whether all objects of the checkpoint that the program goes on from have been made. */
bool dome__checkpoint_complete(const dome_env *env);

/* Loop boundaries passed, with those before a restart; 0: the program writes no checkpoints, and keeps no state. */
uint64_t dome__checkpoint_loop(const dome_env *env);

/* Before this process becomes the program anew by exec, from a thread that has blocked SIGTERM and SIGUSR1: a request of theirs
 * stays pending. */
void dome__checkpoint_go_back(void);

/* The last checkpoint that this program has written, and its age in seconds. False if there is none, and on all tasks but rank 0.
 */
bool dome__checkpoint_last(const dome_env *env, uint64_t *number, double *age);

/* For the profile. */
typedef struct dome_checkpoint_report {
    uint64_t written, failed;
    uint64_t bytes; /* of data in the files; known to rank 0 */
    double pause;   /* seconds that this task waited for its copies */
    double consult; /* seconds spent on agreeing when to write */
    double cost;    /* of one checkpoint: pause, and processor time beside the program; seconds */
    double thread;  /* processor time of the threads that wrote them, of the task that took most */
    double longest_pause;
    double interval; /* target, seconds; 0: by loops */
} dome_checkpoint_report;

/* False if the program writes no checkpoints. */
bool dome__checkpoint_report(const dome_env *env, dome_checkpoint_report *report);

/* ---- for a program that is captured inside its calls (src/capture), and passes a boundary only then ---- */

/* Seconds until the next checkpoint is due; INFINITY if none is by time. */
double dome__checkpoint_due(const dome_env *env);

/* Whether the checkpoint before is still being written: then none is written by time. */
bool dome__checkpoint_busy(const dome_env *env);

/* Waits until the checkpoint before is written, and requests one at the next boundary, as SIGUSR1 does. loops: the number of that
 * boundary; 0: the next. */
void dome__checkpoint_want(dome_env *env, uint64_t loops);

/* Whether there is a request that no checkpoint has answered. */
bool dome__checkpoint_asked(void);

/* `function` is called by the handlers of signals that request a checkpoint. NULL: none. */
void dome__checkpoint_on_request(void (*function)(void));

/* All objects of the checkpoint from which the program restarts have been made: new ones begin without values, as they do from
 * the first boundary on. */
void dome__checkpoint_recovered(dome_env *env);

/* The length of an object in the checkpoint from which the program restarts; 0: it is not there. */
uint64_t dome__checkpoint_saved_length(const dome_env *env, const char *name);

#endif
