/* Regions: memory that all tasks read and write by plain loads and stores; and locks.
 *
 *     dome_region *r = dome_region_new(env, "image", DOME_F64, n, NULL);   // zeros, or the checkpoint's values
 *     double *image = dome_region_data(r);                                 // n elements, on every task
 *     dome_lock *lock = dome_lock_new(env, "total");
 *
 *     for (uint64_t i = first; i < end; i++)                               // this task's share of the work
 *         image[i] = shade(i);
 *     dome_barrier(env);                                                   // from here on all see all of it
 *     dome_lock_acquire(lock);
 *     *total += own;                                                       // one task at a time
 *     dome_lock_release(lock);
 *
 * Typed shared memory beside messages, in checkpoints and on other numbers of tasks, follows Stardust (G. Cabillic, I. Puaut,
 * "Stardust: an environment for parallel programming on networks of heterogeneous workstations", Journal of Parallel and
 * Distributed Computing, 1997, sections 2 and 3). docs/regions.md has an example, and says when a dvec is better.
 *
 * Conventions
 * - "Collective", "collective in order" and the values returned on failure are those of dvec.h and error.h.
 * - Tasks of one host, with one data format, have a region in one piece of memory. Between hosts it is kept equal unit by unit
 *   (dome_region_unit), as in Stardust (section 3): one host may write a unit, or any number may read it. A load or store whose
 *   right to do so another host has waits in a signal handler (SIGSEGV or SIGBUS) until the unit has come. With --dome-road=pvm
 *   each task counts as a host of its own.
 * - Memory is what the processor gives, and between hosts sequentially consistent (L. Lamport, "How to make a multiprocessor
 *   computer that correctly executes multiprocess programs", 1979). Two accesses to one place by two tasks, one of which is a
 *   store, are a mistake of the program (a data race of C11) unless a barrier, a lock, or an operation in which one task waits
 *   for the other lies between them, or both are atomic (stdatomic.h). Tasks may write neighbouring elements, even of one byte,
 *   at the same time.
 * - Which task accesses which elements is up to the program. Each block of elements also has an owner, which saves it in
 *   checkpoints (dome_region_spans). The owner's host answers requests for its units, and has them at first.
 * - At a loop boundary (dome_checkpoint) at which a checkpoint is written, or the tasks change, all tasks wait for each other
 *   before the values are read and after: a checkpoint has every store of all tasks before the boundary, and none behind it.
 * - System calls such as read and write may use a region's memory; with tasks on several hosts see dome_region_want. A child
 *   process of a task (fork) cannot access it.
 * - With tasks on several hosts a thread must not block SIGSEGV or SIGBUS. A program that installs handlers of its own for them
 *   after dome_init passes on, to the handlers before, what it does not know. Threads beside the one that calls Dome may access
 *   regions, but not while that one is in dome_checkpoint, in a move of data, or in dome_region_free; those with DOME_RELEASE
 *   only while that one is in no call of Dome. A signal handler accesses them only where it interrupts the program's own code:
 *   malloc, or a call of Dome, may have what the access waits for. */
#ifndef DOME_REGION_H
#define DOME_REGION_H

#include <dome/env.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dome_region dome_region;

/* When a task sees the stores of other tasks. It makes a difference between hosts alone.
 * DOME_SEQUENTIAL: as above. A unit stays where it was written last, and travels when another host touches it.
 * DOME_RELEASE: release consistency (src/region/release.h has the sources). Each task writes to a copy of its own and waits for
 * nobody, even where two tasks write neighbouring elements of one unit. Other tasks see its stores after dome_barrier; the next
 * holder of a lock sees them; and all see them where all tasks wait for each other for a checkpoint or a move. Other operations,
 * messages and atomic operations make nothing visible. Only changed bytes travel; at a barrier the library pushes them to the
 * tasks that fetched them after the last visit of that barrier. If two tasks write one byte between two barriers, that is a data
 * race, and one of the values stays. Tasks of one host have copies of their own, too. */
typedef enum dome_consistency { DOME_SEQUENTIAL, DOME_RELEASE } dome_consistency;

typedef struct dome_region_options {
    size_t size;    /* sizeof(dome_region_options); DOME_REGION_OPTIONS sets it */
    size_t width;   /* values per element; 0 means 1 */
    uint64_t block; /* elements per block, a power of two; 0 means dome_block_size(n) */
    /* The address of its memory on every task, a multiple of the page; NULL: any, on each task another. At a fixed address a
     * region can hold pointers to its own elements, which mean the same on all tasks. It has no name then (DOME_ERR_ARGUMENT): no
     * checkpoint, which is for any kind of machine, can have pointers. DOME_ERR_MEMORY if something is there on a task. */
    void *at;
    dome_consistency consistency;
    /* Not 0: each element begins at a unit (dome_region_pitch). Tasks that write different elements, such as rows, do not disturb
     * each other, and who reads one gets no part of its neighbours. The memory between the elements has no use: of rows that
     * take two units and a little it is a third. Checkpoints have the elements alone. */
    uint64_t pitched;
} dome_region_options;

/* Options written inside a call: dome_region_new(env, "a", DOME_F64, n, DOME_REGION_OPTIONS(.width = 3)). Other members are 0.
 * C alone; in C++ fill in a struct, with its size. */
#ifndef __cplusplus
#define DOME_REGION_OPTIONS(...) (&(const dome_region_options){.size = sizeof(dome_region_options), __VA_ARGS__})
#endif

/* A new region of n elements of any type, all 0. n may be 0. `name` has the meaning that it has in dvec_new: a region with a
 * name of its own is in checkpoints, and has the checkpoint's values while the program restarts (dome_is_restarting); with NULL
 * or "" it is in none. options may be NULL. Collective; when it returns, the values are complete on all tasks. env owns the
 * region until dome_region_free or dome_finalize.
 *
 * NULL on failure: DOME_ERR_ARGUMENT, DOME_ERR_NAME; DOME_ERR_MEMORY; DOME_ERR_STATE (the tasks of a host cannot share memory, or
 * their accesses cannot be noticed; more than 256 tasks on a host, or 256 hosts); on a restart also the errors of dome_object_new
 * (structure.h). In a program that dome-cc compiled a region cannot be saved (docs/dome-cc.md). */
dome_region *dome_region_new(dome_env *env, const char *name, dome_type type, uint64_t n, const dome_region_options *options);

/* Frees a region; a task may still use it until its own call. NULL is allowed. Collective in order. */
void dome_region_free(dome_region *r);

/* The elements, n x width values (with `pitched`, dome_region_pitch values from one to the next), in the same place from
 * dome_region_new to dome_region_free, which may differ between tasks: a pointer stored in a region means nothing to another
 * task, unless it was made with `at`. NULL if there are no elements. Not collective. */
void *dome_region_data(const dome_region *r);

/* Not collective. The name belongs to the region; dome_region_object is its handle for structure.h. */
dome_env *dome_region_env(const dome_region *r);
const char *dome_region_name(const dome_region *r);
dome_type dome_region_type(const dome_region *r);
uint64_t dome_region_length(const dome_region *r); /* elements */
size_t dome_region_width(const dome_region *r);    /* values per element */
size_t dome_region_pitch(const dome_region *r);    /* values from an element to the next */
dome_object *dome_region_object(const dome_region *r);

/* Elements that are whole units, the fewest: units are whole pages of memory of all machines, the heterogeneous pages of Stardust
 * (section 2). Tasks that write different ones do not disturb each other. Not collective. */
uint64_t dome_region_unit(const dome_region *r);

/* Fetches elements that other hosts have, so that the loads (write: loads and stores) of this task that follow do not each wait
 * for a unit: many units travel at once. To be called ahead of a loop over elements that others have written, and before a system
 * call on the region's memory (read, write), which ends early, or fails with EFAULT, where elements would have to be fetched. The
 * elements stay until another task wants them: such a call is repeated, this one included, until all is done. Nothing to do if
 * all tasks are on one host. Each task alone.
 *
 * DOME_ERR_ARGUMENT: the region does not have these elements. */
dome_status dome_region_want(const dome_region *r, uint64_t first, uint64_t count, bool write);

/* Adds values to the elements from `first` on, each value in one step: no other addition or atomic operation on it comes between
 * its load and its store. values: count elements of the region's type; before: gets what was there, NULL: nobody asks. A counter
 * for work that is handed out needs no lock then. Each task alone.
 *
 * Between hosts the unit does not travel: its home adds (dome_region_spans: the owner's host), which takes one message and its
 * answer, unless this host may write the unit now. If others have it, because they read the counter by loads, the home fetches
 * it first. With DOME_RELEASE the home always adds, to its copy: `before` has all additions so far, and all stores that the home
 * has; loads of other tasks see the sum like a store of this task (dome_consistency), its own at once.
 *
 * Additions to one value are in some order, which differs from run to run; each is in it once. So sums of integers (which wrap
 * around) are the same in each run, sums of floating-point numbers only where none is rounded. Several elements are no single
 * step: another task may come between them. Stores to the same element by other tasks are a data race unless a lock or a barrier
 * lies between.
 *
 * DOME_ERR_ARGUMENT: the type is not a basic one of real numbers, or the region does not have these elements. */
dome_status dome_region_fetch_add(dome_region *r, uint64_t first, uint64_t count, const void *values, void *before);

/* Sets spans to the elements whose owner this task is, and returns their number, 0 to 2, as dome_layout_spans does: a division
 * of the work that follows load balancing, like that of a vector with as many elements and the same blocks. It holds until the
 * next operation before which data may move (docs/balancing.md), at which all tasks wait for each other if it moves. Not
 * collective. */
int dome_region_spans(const dome_region *r, dome_span spans[2]);

/* ---- locks ---- */

/* A lock, which at most one task holds. */
typedef struct dome_lock dome_lock;

/* A new lock, which nobody holds. Messages use `name`, of at most DOME_NAME_MAX bytes; NULL or "": the library makes one up.
 * Locks are in no checkpoint: a program that restarts makes them again. Collective. env owns the lock until dome_lock_free or
 * dome_finalize. NULL on failure: DOME_ERR_NAME, DOME_ERR_MEMORY, DOME_ERR_STATE (as dome_region_new). */
dome_lock *dome_lock_new(dome_env *env, const char *name);

/* Waits until this task holds the lock. Tasks get it in the order in which they have asked. What the holder before has written
 * is visible from then on. Each task alone. Tasks that wait for each other by locks, messages and collectives end the program
 * with one line; so does the loss of the holder, if the program cannot heal.
 *
 * DOME_ERR_STATE: this task holds it already. */
dome_status dome_lock_acquire(dome_lock *lock);

/* Gives the lock to the task that has waited longest. Each task alone. DOME_ERR_STATE: this task does not hold it. */
dome_status dome_lock_release(dome_lock *lock);

/* Frees a lock. NULL is allowed. Collective in order. A lock that this task holds ends the program. */
void dome_lock_free(dome_lock *lock);

/* The name belongs to the lock. Not collective. */
const char *dome_lock_name(const dome_lock *lock);

/* dome_checkpoint with a lock held is DOME_ERR_STATE, in a line that names lock and task: the state may be saved there, and locks
 * are in none. dome_barrier and other operations may be called with a lock held. */

#ifdef __cplusplus
}
#endif
#endif
