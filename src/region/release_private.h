/* What the files of release consistency share (README.md). */
#ifndef DOME_SRC_REGION_RELEASE_PRIVATE_H
#define DOME_SRC_REGION_RELEASE_PRIVATE_H

#include "delta/delta.h"
#include "peer/peer.h"
#include "region/region_profile.h"
#include "region/release.h"
#include "sections/section_log.h"

#include <pthread.h>
#include <string.h>

/* Of a unit at a task. A unit whose state is 0 is private at its home, and invalid at others. */
enum {
    VALID = 1,       /* the copy is as of the last synchronisation, or newer; at the home it always is */
    DIRTY = 2,       /* this task may write it */
    WRITTEN = 4,     /* it has written it since the last barrier */
    ARRIVED = 8,     /* a push has come in this barrier */
    UNTOUCHED = 16,  /* not accessed since the last push */
    MISSED = 32,     /* nor between that one and the push before */
    SHARED = 64,     /* at the home: another task may have a copy; if not, nobody need know that the unit is written */
    OTHERS = 128,    /* at the home: others have written it before this barrier */
    KEPT = 1024,     /* at the home: `old` has the unit as of the last barrier */
    SENT = 2048,     /* what this task has changed went with the exchange of this barrier (release_early.c) */
    EARLY = 4096,    /* all that others have changed has come that way in this barrier */
    TOLD = 8192,     /* not at the home: a part of what was changed since the last barrier was published at a lock */
    CLEAN = 16384,   /* `old` has the unit as it is, all of which is published, and the next store is noticed */
    HOT = 65536,     /* it is among the hot ones */
    LOGGED = 32768,  /* a part of what was changed since the last barrier is in a section of this task */
    STILL = 1 << 20, /* in four bits: so often this task published, and the unit had not changed */
    STILLS = 15 << 20,
    MUCH = 1 << 24,   /* much of it, or a part again and again, is in sections of this task since the last barrier... */
    TOO = 1 << 25,    /* ... and there are sections of others with it since this task began to write it */
    UNREAD = 1 << 26, /* in six bits: so often has come what others changed, and no access is known since */
    UNREADS = (int)0xfc000000,
    TRUST = 1 << 17, /* in two bits: how often accesses were found when the copy was closed */
    TRUSTS = 3 << 17,
    STAYS = 1 << 19, /* its home does not move */
    PINNED = 512,    /* can be read at any time, by whoever */
    IMPLIED = 256    /* at the home: written before another task had a copy, if at all, so all copies have that */
};

/* More of it. */
enum {
    OLD_USED = 1, /* `old` is not all zeros any more */
    REFUSED = 4,  /* it could not be a gift */
    GIFT = 2      /* this task, which has written it, is to become its home in this barrier without sending what has changed */
};

/* A task that fetches a unit behind a place. */
typedef struct reader {
    int rank;
    uint64_t place;
    bool middle; /* its copy is of the middle of an interval: the next push would not make it right */
} reader;

/* What all tasks know alike (release_places.c). */
typedef struct dome_release_alike {
    uint64_t place;      /* of the last barrier: task 0's, if they have come to it at different places */
    uint64_t next;       /* of the one that this task is at */
    uint64_t written[2]; /* where the longest run of units began that was written in the last interval in which any was, and in
                            the one before: what the tasks came from */
    bool fetches;        /* a task has fetched many units before that one */
    GHashTable *places;  /* what they do behind places */
    GArray *owned;       /* owner: what the interval that ends has shown */
    guint owner_keys;    /* in all of `places` */
} dome_release_alike;

struct dome_release {
    dome_env *env;
    dome_peer *peer;
    pthread_mutex_t lock; /* of all that follows, and of the regions */
    GPtrArray *regions;   /* dome_release_units by number; NULL: freed */
    GHashTable *known;    /* gint64 *: keys of units that were written since the last barrier, as far as this task knows */
    uint64_t epoch;       /* barriers so far at which something had been written */
    uint64_t place;       /* of the last one */
    uint64_t unasked;     /* changes that have come unasked, in copies that are mostly read (release_state.c) */
    GArray *early;        /* uint64_t: keys of units that were sent with this task's last card */
    GArray *hot;          /* hot_unit */
    GArray *forgotten;    /* uint64_t: keys of units of which this task has ended its copy, and has not told the home yet */
    GHashTable *habits;   /* habit by place: what is written and fetched behind it (release_places.c) */
    guint habit_keys;     /* in all of these */
    guint fetched;        /* units that this task has fetched since the last barrier */
    bool shows;           /* units can be read from other tasks' memory (release_peek.c); the same on all tasks */
    bool moving;          /* tasks move homes: another one may have done so before this one, and ask for its units */
    dome_release_alike alike;
    GArray *begun;       /* uint64_t: keys of units for whose first write since the last barrier there was a fault */
    GArray *asked;       /* uint64_t: keys of units that accesses have fetched since the last barrier */
    GArray *foreseen;    /* uint64_t: keys of units that were opened because they were written behind this place before */
    GHashTable *pushing; /* gint64 *: places behind which a unit was pushed, or has got a reader, the last time */
    GHashTable *places;  /* gint64 *: places behind which a unit of this home has readers; their number */
    uint64_t meets;      /* barriers so far: a task that fetches has come as far, or the home lets it wait */
    GArray *published;   /* uint64_t: keys of units that this task has sent, or has as their home, since dome__release_tell */
    GArray *waiting;     /* waiting_fetch */
    GArray *deltas;      /* waiting_delta */
    GArray *gifts;       /* uint64_t: keys of units with this mark */
    struct dome_release_room *room;
    struct dome_release_sections *sections; /* of the token (release_sections.c); NULL: there is none */
};

/* What a barrier needs for a moment. It is kept, since barriers may follow each other at once. */
typedef struct dome_release_room {
    GArray *cards, *runs, *counts, *entry_bytes, *own, *more, *more_counts; /* uint64_t */
    GArray *own_runs;                                                       /* run */
    GArray *entries;                                                        /* const uint8_t *, by rank */
    GByteArray *own_entries;
    GArray *parts; /* part (release_early.c) */
} dome_release_room;

/* A unit that may be written without a fault, and how often it was not (release_places.c). */
typedef struct hot_unit {
    uint64_t key;
    unsigned quiet;
} hot_unit;

typedef struct waiting_fetch {
    dome_release_units *units;
    GArray *which;            /* uint64_t: units, in ascending order; dome__release_answer frees it */
    uint64_t meets, have, id; /* have: the last section that the other task has */
    int from;
    bool inside; /* the other task is in a section */
} waiting_fetch;

/* Changes of the interval behind a barrier from which this task has not come yet. */
typedef struct waiting_delta {
    dome_release_units *units;
    GBytes *records;
    uint64_t id;
    int from;
    uint8_t word;
} waiting_delta;

/* The task that has written a unit while no other task did. All tasks have the same. */
typedef struct dome_release_trend {
    uint16_t writer;       /* the last one, + 1; 0: several */
    uint8_t streak, moved; /* so many meetings in a row, and so often its home has moved */
} dome_release_trend;

struct dome_release_units {
    dome_release_setup setup;
    uint32_t number;
    size_t pages;               /* of a unit */
    int32_t *homes;             /* ranks + 1, by unit; 0: the home that all units had at first */
    uint32_t *state;            /* by unit */
    uint64_t *changed;          /* by unit, at the home: the epoch in which it was changed last, + 1 */
    int32_t *writers;           /* by unit, while homes are chosen: 0 but for those that were written; NULL: homes do not move */
    dome_release_trend *trends; /* by unit; as writers */
    char *old; /* where this task writes, the unit before; at the home of a unit that has readers and was changed, as of the last
                  barrier */
    uint64_t *shown; /* by rank: where the memory of that task is, if this one can read it; 0: it cannot. NULL: no task can */
    uint8_t *marks;  /* by unit */
    char *mirror;    /* what other tasks change while this one writes goes here, too; NULL: nobody asks */
    uint64_t moved_first, moved_end; /* homes of some units between these have moved; 0, 0: none */
    GArray *pinned;                  /* uint64_t: units with this state */
    uint64_t next;                   /* the unit behind those that the last fault brought */
    uint16_t *streaks;               /* by unit: faults up to the unit before (release_units.c) */
    GHashTable *readers;             /* at homes: GArray of reader by unit */
    GArray *dirty, *written;         /* uint64_t: units with these states */
    dome_delta *delta;               /* for a moment; with the lock */
    dome_region_figures *figures;
    dome_unit_writes *writes; /* NULL: nobody asks for it */
};

/* Messages: a word, the region's number, then
 *   FETCH   meets of the task, the last section that it has, 1 if it is in a section, the units; the reply: their values. Of
 *           memory with sections: SECTIONS_HEAD bytes, sections, a bit for each unit that is zeros, the values of the others
 *   DELTA   meets of the task, records (delta.h), of the region's memory, or of images; the reply: they are applied
 *   CHANGE  the same, at a lock: others may write the same bytes before the next barrier
 *   PUSH    the number of units (4 bytes), the units, records; the reply: they are applied
 *   ADD     meets of the task, the first value (8 bytes), their number (4 bytes), the values; the reply: what was there
 *   LOG     sections (sections/section_pull.h); no region */
enum { FETCH = 1, DELTA, CHANGE, PUSH, ADD, LOG };
enum { MESSAGE = 5, FETCH_HEAD = MESSAGE + 8 + 8 + 1, ADD_MESSAGE = MESSAGE + 8 + 8 + 4, MOST_RECORDS = 1 << 18 };

/* A key: the region's number, and the unit. */
enum { UNIT_BITS = 40 };

static inline uint64_t key_of(const dome_release_units *u, uint64_t unit)
{
    return (uint64_t)u->number << UNIT_BITS | unit;
}

static inline char *place_of(const dome_release_units *u, uint64_t unit)
{
    return (char *)dome__memory_alias(u->setup.memory) + unit * u->setup.unit;
}

static inline char *old_of(const dome_release_units *u, uint64_t unit)
{
    return u->old + unit * u->setup.unit;
}

static inline dome_release_units *units_of(const dome_release *r, uint64_t key, uint64_t *unit)
{
    *unit = key & ((UINT64_C(1) << UNIT_BITS) - 1);
    const uint64_t region = key >> UNIT_BITS;
    return region < r->regions->len ? r->regions->pdata[region] : NULL;
}

static inline int home_of(const dome_release_units *u, uint64_t unit)
{
    return u->homes[unit] ? u->homes[unit] - 1 : u->setup.home;
}

static inline bool is_home(const dome_release_units *u, uint64_t unit)
{
    return home_of(u, unit) == u->setup.release->env->rank;
}

static inline bool is_valid(const dome_release_units *u, uint64_t unit)
{
    return u->state[unit] & VALID || is_home(u, unit);
}

static inline bool is_private(const dome_release_units *u, uint64_t unit)
{
    return !(u->state[unit] & SHARED) && is_home(u, unit);
}

static inline bool has_before(const dome_release_units *u, uint64_t unit)
{
    return u->state[unit] & (is_home(u, unit) ? KEPT : DIRTY | CLEAN);
}

static inline bool are_zeros(const char *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Whether this task has never had a value of the unit but zeros, as of memory that a program is about to fill. */
static inline bool is_fresh(const dome_release_units *u, uint64_t unit)
{
    return !(u->marks[unit] & OLD_USED) && are_zeros(place_of(u, unit), u->setup.unit);
}

/* Whether it has `old`; looking at `old` where it was never used would take time. */
static inline bool is_same(const dome_release_units *u, uint64_t unit)
{
    return u->marks[unit] & OLD_USED ? memcmp(place_of(u, unit), old_of(u, unit), u->setup.unit) == 0
                                     : are_zeros(place_of(u, unit), u->setup.unit);
}

static inline bool is_as_before(const dome_release_units *u, uint64_t unit)
{
    return has_before(u, unit) && is_same(u, unit);
}

/* ---- what a task knows of units (release_state.c); the lock is held ---- */

/* The head of a message. */
void dome__release_put(uint8_t *message, uint8_t word, const dome_release_units *units);

/* Units, or their keys, in ascending order, as they mostly are already. */
void dome__release_sort(GArray *units);

/* The same, each once. Returns how many are gone. */
guint dome__release_sort_once(GArray *units);

/* Gives the program this right to some units. */
void dome__release_allow(const dome_release_units *units, uint64_t first, uint64_t count, dome_access access);

/* The same to units in ascending order, by runs: each is a system call. */
void dome__release_allow_all(const dome_release_units *units, const GArray *which, dome_access access);

/* The unit may be written from now on. */
void dome__release_begin_write(dome_release_units *units, uint64_t unit);

/* Takes the right to write from units in ascending order. One that the program has not touched gets none, and so no memory. */
void dome__release_protect_all(const dome_release_units *units, const GArray *which);

/* Whether a unit was never touched, by an address of the program or otherwise; of units in ascending order: *end, at first 0. */
bool dome__release_is_untouched(const dome_release_units *units, uint64_t unit, uint64_t *end);

/* `old` becomes what the unit is now. */
void dome__release_keep_old(dome_release_units *units, uint64_t unit);

/* Takes the right to read from all of these units that are not pinned. */
void dome__release_close(const dome_release_units *units, uint64_t first, uint64_t count);

/* The copies are not valid any more. */
void dome__release_drop(dome_release_units *units, uint64_t first, uint64_t count);

/* What units were before need not be kept. */
void dome__release_free_old(const dome_release_units *units, uint64_t first, uint64_t count);

/* The same of units in ascending order, if they are many: each takes time when it is written again. */
void dome__release_free_many(const dome_release_units *units, const GArray *which);

/* Before a home's unit changes: readers have it as it is now. */
void dome__release_keep(dome_release_units *units, uint64_t unit);

/* NULL: none. */
GArray *dome__release_readers_of(const dome_release_units *units, uint64_t unit);

/* This task has fetched the unit behind the last barrier; it wants it no more. */
void dome__release_note_reader(dome_release_units *units, uint64_t unit, int rank);
void dome__release_reader_drop(dome_release_units *units, uint64_t unit, int rank);

/* The readers of a unit are none any more. */
void dome__release_readers_drop(dome_release *release, GArray *readers);

/* Removes all readers of the unit. */
void dome__release_readers_end(const dome_release_units *units, uint64_t unit);

/* This task's copy is used: by an access to a unit that it has. */
void dome__release_note_access(dome_release_units *units, uint64_t unit);

/* What others have changed in this copy has come unasked. Reading leaves no trace, so the copy is closed now and then; of one
 * that is not opened again the home hears that it is wanted no more. False: the caller ends it. */
bool dome__release_is_wanted(dome_release_units *units, uint64_t unit);

/* A push of this unit has come. */
void dome__release_note_push(dome_release_units *units, uint64_t unit);

/* Whether a home pushed units behind this place the last time. */
void dome__release_note_pushing(dome_release *release, uint64_t place, bool pushes);

/* Whether `old` has the unit as it is published, and only what differs from that is news. */
bool dome__release_is_told(const dome_release_units *units, uint64_t unit);

/* Whether a task that has written a unit alone in this interval would get it as its home. The same on all tasks. */
bool dome__release_would_move(const dome_release_units *units, uint64_t unit, int writer);

/* So many meetings in a row it has done so, with this one; at most DOME_RELEASE_STREAK. */
int dome__release_streak(const dome_release_trend *trend, int writer);
enum { DOME_RELEASE_STREAK = 8 };

/* ---- accesses (release_units.c); the lock is not held ---- */

/* Fetches units of which this task has no valid copy. They may be read then. */
void dome__release_fetch(dome_release_units *units, const GArray *wanted);

/* Units that others have written and that must be readable are fetched. */
void dome__release_refresh(dome_release *release);

/* Adds what a message asks for (from its first value on) to this home's units, and replies; the lock is held. */
void dome__release_add_here(dome_release_units *units, const void *message, size_t bytes, int from, uint64_t id);

/* ---- where all tasks have stopped (release_peek.c); the lock is not held ---- */

/* Reads units from their homes' memory into this task's. Owns `wanted` from then on, and returns a list of the units that could
 * not be read, which may be `wanted` itself. */
GArray *dome__release_peek(dome_release_units *units, GArray *wanted);

/* The same of units, by keys in ascending order, of which this task then has copies, as by dome__release_fetch. Collective, and
 * returns a status. */
int dome__release_read_ahead(dome_release *release, const GArray *keys);

/* ---- what others ask for (release_serve.c); the lock is held ---- */

/* A handler of the service channel; ctx: the release. The lock is not held. */
void dome__release_take_message(void *ctx, const dome_peer_request *request);

/* Answers a question for units, and frees its list of them. */
void dome__release_answer(const waiting_fetch *fetch);

/* Behind a barrier: answers tasks that came to it earlier. */
void dome__release_answer_waiting(dome_release *release);

/* ---- tasks whose data format is another one (release_foreign.c) ---- */

bool dome__release_is_foreign(const dome_release_units *units, int rank);

/* Bytes of a unit's values as they go to a task, or come from it; and these in their place. */
uint64_t dome__release_packed_bytes(const dome_release_units *units, int rank);
void dome__release_unpack(const dome_release_units *units, uint64_t unit, int rank, const void *packed);

/* Replies to a task with the values of some units. */
void dome__release_reply(const waiting_fetch *fetch);

/* An empty delta for such a task, and what has changed in a unit; units in ascending order. */
dome_delta *dome__release_image_delta(const dome_release_units *units);
void dome__release_find_image(const dome_release_units *units, dome_delta *delta, uint64_t unit);

/* What such a task has sent, as a delta of this task's memory; NULL: the records are damaged. */
dome_delta *dome__release_translate(const dome_release_units *units, const void *records, size_t bytes);

/* ---- with the exchange of a barrier (release_early.c); the lock is held ---- */

/* How many tasks have written a unit since the last barrier. */
typedef unsigned dome_release_writers(const void *notices, uint64_t key);

/* What all tasks have sent that way. */
typedef struct dome_release_entries {
    dome_release_writers *writers;
    const void *notices;
    const uint8_t **of; /* by rank */
    const uint64_t *bytes;
} dome_release_entries;

void dome__release_early_begin(dome_release *release);

/* The home hears with the next barrier that this task has no copy any more, unless it has one again. */
void dome__release_forget(dome_release_units *units, uint64_t unit);

/* Units that are much changed, and whose home this task is to be if no other one has written them, need not be sent: these become
 * gifts, if they are many. */
void dome__release_choose_gifts(dome_release *release);

/* Appends entries of units that have changed, and of some that are forgotten. few: bytes that go to all without a need to ask;
 * place: NULL: not known yet. */
void dome__release_put_early(dome_release *release, GByteArray *to, size_t few, const uint64_t *place);

/* When all notices are there: applies others' entries. */
void dome__release_take_early(dome_release *release, const dome_release_entries *entries);

/* A message of units, in ascending order, and of what differs in them from before. The lock is not held. */
void dome__release_send(dome_release_units *units, int rank, uint8_t word, const uint64_t *which, guint count);

/* Sends what this task has changed to the homes, by DELTA or CHANGE, and waits until it is there. The units stay `written`. The
 * lock is not held. */
void dome__release_publish(dome_release_units *units, uint8_t word);

/* ---- before there is a fault (release_places.c); the lock is held ---- */

void dome__release_places_begin(dome_release *release);
void dome__release_places_end(dome_release *release);

/* The unit may be written from now on, though there was no fault. If it has not changed at the next barrier, it was not. */
void dome__release_open_ahead(dome_release_units *units, uint64_t unit);

/* There was a fault to write a unit of memory at a program's own addresses, or an access to units that this task lacked. */
void dome__release_note_begun(dome_release_units *units, uint64_t unit);
void dome__release_note_asked(dome_release_units *units, const GArray *which);

/* The unit may be written without a fault from the next interval on; false: there are too many such units. */
bool dome__release_heat(dome_release *release, uint64_t key);

/* Before a barrier, or a lock (cools: no unit stays hot): hot units that did not change were not written. */
void dome__release_compare_hot(dome_release *release, bool cools);

/* At the end of a barrier: keeps what this task has accessed since the last one, and what all tasks have written, for the next
 * time at that place. */
void dome__release_learn(dome_release *release);

/* All tasks know from the barrier's notices that a task has written these units, alone (or not; but then it is of interest only
 * if it was alone before). */
enum { SEVERAL = -1 };
void dome__release_note_owner(dome_release_units *units, uint64_t unit, int writer);

/* Behind a barrier: units that one task alone writes behind it get that one as their home, if they are many. Collective if so.
 * Returns a status. The lock is not held. */
int dome__release_move_ahead(dome_release *release);

/* Behind a barrier: hot units, and units that were written behind this place before, may be written without a fault. */
void dome__release_keep_hot(dome_release *release);

/* Behind a barrier: fetches what accesses have fetched behind this place before. Collective if any task has fetched many units
 * there the last time, and returns a status. The lock is not held. */
int dome__release_fetch_ahead(dome_release *release);

/* So many units, at least, are worth that all tasks meet once more. */
enum { DOME_RELEASE_MANY = 32 };

/* ---- sections (release_sections.c); the lock is held ---- */

/* Of the token. */
typedef struct dome_release_sections {
    dome_section_log *log;
    bool in_barrier;           /* this task's card is made: what it publishes is late */
    bool entered;              /* this task has been in a section since the last meeting, or owes one */
    bool inside;               /* it is */
    uint64_t reached;          /* so often sections have come with a unit */
    GArray *unsettled;         /* waiting_fetch: of units of which nothing is known but their values now */
    void (*settle)(void *ctx); /* makes this task publish */
    void *ctx;
} dome_release_sections;

static inline bool has_sections(const dome_release_units *u)
{
    return u->setup.release->sections && u->writers;
}

/* All sections up to this number are to be known, which a task has; then all tasks have them. The lock is not held. */
int dome__release_catch_up(dome_release *release, int rank, uint64_t section);

/* Of a reply to FETCH with sections: has the task's memory the number `taken`, and are all up to `end` needed. */
typedef struct dome_release_state {
    uint64_t taken, end;
    const uint8_t *sections;
    uint32_t bytes; /* of the sections; 0: they are to be asked for, if they are needed */
} dome_release_state;
enum { SECTIONS_HEAD = 8 + 8 + 4 };

/* This task's memory has the same sections then: in a thread that waits for the units. The lock is not held. */
void dome__release_reach(dome_release *release, int rank, const dome_release_state *state);

/* What this task knows of a unit that it has got, and that is older. */
void dome__release_renew(dome_release_units *units, uint64_t unit, uint64_t taken);

/* Takes in the sections that have come. */
void dome__release_take_sections(dome_release *release);

/* All tasks have met. */
void dome__release_clear_sections(dome_release *release);

/* Units all of whose changes are in sections need no notice; before a barrier. */
void dome__release_drop_logged(dome_release *release);

#endif
