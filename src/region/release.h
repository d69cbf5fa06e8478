/* Release consistency (K. Gharachorloo et al., "Memory consistency and event ordering in scalable shared-memory multiprocessors",
 * ISCA 1990), with homes (Y. Zhou, L. Iftode, K. Li, "Performance evaluation of two home-based lazy release consistency protocols
 * for shared virtual memory systems", OSDI 1996): several tasks write a unit at the same time, each in a copy of its own, and
 * what they have written meets where the program synchronises.
 *
 *     interval        task 1 (not the home)          task 0 (home of the unit)       task 2 (has a copy)
 *     first write     keeps the unit as it was
 *     dome_barrier    what it has changed  ------->  applies it
 *                     tells all which units it has written
 *                                                    a push, if task 2 has fetched   applies it; or, without a push,
 *                                                    the unit behind this barrier    its copy is no longer valid
 *     next access                                    answers  <--------------------  fetches the unit
 *
 * A lock carries the names of the units that were written since the last barrier by tasks that had the lock, or by tasks from
 * which they have learned the same way; the next holder fetches these again. A task whose pushed unit was not accessed twice in a
 * row ends the pushes. Bytes that two tasks write in one interval are a race: one of the values stays.
 *
 * Each task has a copy of its own, tasks of one host too. */
#ifndef DOME_SRC_REGION_RELEASE_H
#define DOME_SRC_REGION_RELEASE_H

#include "core/environment.h"
#include "core/layout.h"
#include "memory/memory.h"

enum { DOME_RELEASE_WORDS = 14 };

typedef struct dome_release dome_release;
typedef struct dome_release_units dome_release_units;

/* Over env->peer, which runs. */
dome_release *dome__release_new(dome_env *env);

/* After the channel has been stopped. NULL is allowed. */
void dome__release_free(dome_release *release);

/* ---- where the program synchronises ---- */

/* All tasks meet, and what each has written is there for all. place: by which the program's places of synchronisation differ.
 * Collective. Returns a status, after dome__fail_transport. */
int dome__release_meet(dome_release *release, uint64_t place);

/* What task 0 says to all tasks where they meet. */
typedef struct dome_release_word {
    uint64_t place;
    bool moves; /* a unit that had its first home until now, and that exactly one other task has written since the last meeting,
                   gets this task as its home, if units move at all */
    uint64_t words[DOME_RELEASE_WORDS];
} dome_release_word;

/* The same with a word, which is task 0's on all tasks in the end. The others need not know the place before. */
int dome__release_meet_by(dome_release *release, dome_release_word *word);

/* The same where all know the place; moves: as in the word. */
int dome__release_meet_at(dome_release *release, uint64_t place, bool moves);

/* Behind dome__release_meet_at and dome__release_meet_by, when the token's messages are taken again (the home of a unit may need
 * it to answer): homes follow the tasks that write, and this task fetches what it must be able to read, and what it has read
 * behind this place before. Collective. Returns a status, after dome__fail_transport. */
int dome__release_go_on(dome_release *release);

/* Before a lock is released: sends to the homes what this task has written. Returns what the lock is to carry, which is the
 * caller's. */
GByteArray *dome__release_give(dome_release *release);

/* A lock has been acquired that carries this. */
void dome__release_take(dome_release *release, const void *carried, size_t bytes);

/* Names a unit to all tasks. */
typedef void dome_release_visit(void *ctx, uint64_t key);

/* ---- sections: a lock that one task has at a time, for memory at a program's own addresses (space/token.h) ---- */

/* settle: in the channel's thread, another task waits until this task has published; without this release's lock. */
void dome__release_sections_begin(dome_release *release, void (*settle)(void *ctx), void *ctx);
void dome__release_sections_end(dome_release *release);

/* The lock is this task's; it takes in what others have published. And it is about to leave. */
void dome__release_enter(dome_release *release);
void dome__release_leave(dome_release *release);

/* Outside of a section: others are to see what this task has changed so far in the order in which it was changed. */
void dome__release_owe(dome_release *release);

/* Whether this task has changed anything since it published. */
bool dome__release_has_changed(dome_release *release);

/* What this task has changed becomes the next section; runs: its threads may write meanwhile. By the task that has the lock, in
 * any thread. Returns whether it has changed anything. */
bool dome__release_publish_section(dome_release *release, bool runs);

/* The last section that this task has, taken in or not. */
uint64_t dome__release_section(dome_release *release);

/* How often sections have come with a unit that this task has fetched. */
uint64_t dome__release_reached(dome_release *release);

/* Appends the sections behind a number, if they have at most so many bytes; false: they have more. */
bool dome__release_sections_since(dome_release *release, uint64_t have, uint64_t most, GByteArray *to);

/* They have come from another task. */
void dome__release_hear(dome_release *release, const void *sections, size_t bytes);

/* Barriers so far. */
uint64_t dome__release_meets(dome_release *release);

/* Asks a task for those behind the last one that this task has, as of so many barriers: the task may be at another one; come: in
 * the channel's thread, when they are there. */
void dome__release_pull(dome_release *release, int rank, uint64_t meets, void (*come)(void *ctx), void *ctx);

/* All tasks have the sections up to this number. */
void dome__release_merge(dome_release *release, uint64_t all_have);

/* ---- a region ---- */

typedef struct dome_release_setup {
    dome_release *release;
    const char *what, *name; /* for messages, and for the profile; NULL: none */
    dome_memory *memory;
    dome_type type;
    uint64_t values;           /* of a unit; 0: all machines have one data format */
    uint64_t element;          /* bytes from an element to the next */
    unsigned atom;             /* bytes that one store writes at least: 1, 2, 4 or 8 */
    const dome_layout *layout; /* of elements: the home of a unit is its first element's owner. NULL: */
    int home;                  /* the home of all units at first, whose memory counts; other tasks have no copies. They move */
    uint64_t unit, units;      /* bytes of a unit, and how many there are */
} dome_release_setup;

/* Collective, and all tasks wait for each other. NULL: fails by dome__fail, with *status. */
dome_release_units *dome__release_units_new(const dome_release_setup *setup, dome_status *status);

/* The same without waiting: tasks agree later, before any access. NULL: *why not. */
dome_release_units *dome__release_units_make(const dome_release_setup *setup, const char **why);

/* All tasks have met since the last access. NULL is allowed. */
void dome__release_units_free(dome_release_units *units);

/* As those of shared_units.h; all tasks have met (dome__release_meet) before fetch. */
void dome__release_units_want(dome_release_units *units, uint64_t first, uint64_t bytes, bool write);
void dome__release_units_add(dome_release_units *units, uint64_t first, uint64_t count, const void *values, void *before);
void dome__release_units_fetch(dome_release_units *units, const dome_layout *layout);
void dome__release_units_pin(dome_release_units *units, uint64_t first, uint64_t bytes); /* readable at any time: see space.h */
/* Collective: with units that are made, tasks of one host can read each other's memory where all have stopped. */
int dome__release_units_show(dome_release_units *const *units, unsigned count);
void dome__release_units_stay(dome_release_units *units, uint64_t byte); /* its unit's home does not move from here on */
void dome__release_units_collect(dome_release_units *units); /* units that have got another home: this task has them all then */
void dome__release_units_adopt(dome_release_units *units, const dome_layout *layout);

/* For one who compares what this task writes with a copy: what other tasks change between two meetings is written to the mirror,
 * too, which is as large as the memory. From hold to let_go no such changes come. */
void dome__release_units_mirror(dome_release_units *units, void *mirror);
void dome__release_hold(dome_release *release);
void dome__release_let_go(dome_release *release);

#endif
