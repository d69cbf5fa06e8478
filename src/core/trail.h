/* The last operations of a task with their arguments, so that tasks that disagree can be told the first call that differed. The
 * program's thread writes; the watcher's reads, and sends it all to the hub when that asks. */
#ifndef DOME_SRC_TRAIL_H
#define DOME_SRC_TRAIL_H

#include "core/names.h"

#include <glib.h>

#include <stdatomic.h>
#include <stdbool.h>

/* Operations that are known, and words of each: of more, the last is a hash. */
enum { DOME_TRAIL_LENGTH = 128, DOME_TRAIL_WORDS = 6 };

typedef struct dome_trail_entry {
    uint64_t sequence; /* its number; 0 while it is being written */
    uint64_t history, object, word[DOME_TRAIL_WORDS];
    uint32_t operation, count; /* count: words it had */
} dome_trail_entry;

typedef struct dome_trail {
    dome_names *names; /* of objects, by their ids, and of texts */
    dome_trail_entry entry[DOME_TRAIL_LENGTH];
} dome_trail;

dome_trail *dome__trail_new(void);
void dome__trail_free(dome_trail *trail);

/* A word for all that an entry has no room for. */
uint64_t dome__trail_rest(const uint64_t *words, size_t count);

static inline void dome__trail_note(dome_trail *trail, uint64_t sequence, uint64_t history, uint32_t operation, uint64_t object,
                                    const uint64_t *words, size_t count)
{
    dome_trail_entry *e = &trail->entry[sequence % DOME_TRAIL_LENGTH];
    size_t whole = count > DOME_TRAIL_WORDS ? DOME_TRAIL_WORDS - 1 : count;
    __atomic_store_n(&e->sequence, 0, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&e->history, history, __ATOMIC_RELAXED);
    __atomic_store_n(&e->object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&e->operation, operation, __ATOMIC_RELAXED);
    __atomic_store_n(&e->count, (uint32_t)count, __ATOMIC_RELAXED);
    for (size_t k = 0; k < whole; k++)
        __atomic_store_n(&e->word[k], words[k], __ATOMIC_RELAXED);
    if (whole < count)
        __atomic_store_n(&e->word[whole], dome__trail_rest(words + whole, count - whole), __ATOMIC_RELAXED);
    __atomic_store_n(&e->sequence, sequence, __ATOMIC_RELEASE);
}

/* A copy of the entry of an operation; false if it is there no more, or not yet. */
bool dome__trail_take(const dome_trail *trail, uint64_t sequence, dome_trail_entry *out);

/* A call as text, and its arguments as pairs of name and value; a value that begins with '#' is not for people. NULL-terminated.
 */
char *dome__trail_call(dome_names *names, const dome_trail_entry *entry, char ***arguments);

#endif
