/* Memory of a program at its own addresses, kept equal between all tasks, those of one host too: its globals, heap and stack of
 * main. Each task has a copy of its own; they agree where tasks meet, and in sections that one task enters at a time (release
 * consistency, region/release.h).
 *
 *     dome_space *space = dome__space_new(env);
 *     dome__space_add(space, &(dome_space_range){"globals", start, bytes, .keep = true}, 1);
 *     globals.x = 1;                                          // one task
 *     dome__space_meet(space, 7, true);
 *     printf("%d", globals.x);                                // every task
 *
 * The functions are called by the thread that calls the transport, on a stack that is no part of a range. An access may be made
 * by any thread that has an alternate stack for signals (sigaltstack), which is no part of a range either. */
#ifndef DOME_SRC_SPACE_H
#define DOME_SRC_SPACE_H

#include "core/environment.h"
#include "region/release.h"

typedef struct dome_space dome_space;

/* For a program of several tasks. Collective. NULL: fails by dome__fail. The calling thread gets an alternate stack, if it has
 * none. */
dome_space *dome__space_new(dome_env *env);

/* From now on this task's memory is its own alone. Every access passes; in ranges that kept what was there, task 0 sees what all
 * have written. Before the channel is stopped; collective. NULL is allowed. */
void dome__space_free(dome_space *space);

typedef struct dome_space_range {
    const char *name; /* for messages and the profile; static */
    void *address;    /* a multiple of the page, the same on all tasks */
    uint64_t bytes;   /* likewise; what is never touched costs nothing */
    bool keep;        /* what is there remains; otherwise zeros take its place */
    int home;         /* whose contents count, and who writes without a word until another task reads */
} dome_space_range;

/* Collective. Returns a status, after dome__fail. */
dome_status dome__space_add(dome_space *space, const dome_space_range *ranges, unsigned count);

/* All tasks meet: dome__release_meet_at, dome__release_meet_by. Collective. */
int dome__space_meet(dome_space *space, uint64_t place, bool moves);
int dome__space_meet_by(dome_space *space, dome_release_word *word);

/* Before a system call uses the bytes: all of them can be read, or written, until the next meeting or section. Bytes that are in
 * no range are left alone. */
void dome__space_want(dome_space *space, const void *address, uint64_t bytes, bool write);

/* The home of the page at this address does not move from here on. All tasks call it between the same two meetings. */
void dome__space_stay(dome_space *space, const void *address);

/* Fetches what has another task as its home. Task 0 then has all values as of the last meeting. */
void dome__space_collect(dome_space *space);

/* Threads that block signals, as those of the library do, may read these bytes at any time, whose values are the same on all
 * tasks for ever: variables of the C library that lie in the program's memory. */
void dome__space_pin(dome_space *space, const void *address, uint64_t bytes);

/* Whether other tasks may access this address, too. */
bool dome__space_has(const dome_space *space, const void *address);

/* ---- for one who watches what this task writes ---- */

typedef struct dome_space_memory {
    const char *name;
    char *address;
    uint64_t bytes;
    dome_memory *memory;
} dome_space_memory;

/* The range with this number; false: there are not so many. */
bool dome__space_part(const dome_space *space, unsigned k, dome_space_memory *part);

/* dome__release_units_mirror of that range, dome__release_hold, dome__release_let_go. */
void dome__space_mirror(dome_space *space, unsigned k, void *mirror);
void dome__space_hold(dome_space *space);
void dome__space_let_go(dome_space *space);

/* ---- sections: one task at a time ---- */

/* From enter on this task has what others had written when they left; leave gives them what this task has written. tell: tasks in
 * await look again. Not nested. The status of enter: of messages that were served meanwhile; it is inside all the same. */
int dome__space_enter(dome_space *space);
void dome__space_leave(dome_space *space, bool tell);

/* The same, which says whose await returns. */
typedef struct dome_space_telling {
    const uint8_t *whom; /* by rank: not 0; read between enter and leave. NULL: nobody */
    bool if_written;     /* only if this task has written anything */
    int next;            /* who is told in any case, as it is about to enter; -1: nobody */
} dome_space_telling;
void dome__space_leave_for(dome_space *space, const dome_space_telling *telling);

/* Instead of enter and leave, for a task that does so again soon: what it has written is told to others when it leaves the next
 * time with whom, or when a task has waited for a while. False: this cannot be left for later. */
bool dome__space_defer(dome_space *space);

/* How often other tasks have told so far; await returns when one has told since `seen`, or after a second. */
uint64_t dome__space_told(dome_space *space);
int dome__space_await(dome_space *space, uint64_t seen);

#endif
