/* The last operations of a task with their arguments, so that the first differing call of tasks that disagree can be reported.
 * The program's thread writes it; the watcher thread reads it, and sends it to the hub on request. */
#ifndef DOME_SRC_CALL_LOG_H
#define DOME_SRC_CALL_LOG_H

#include "core/names.h"

#include <glib.h>

#include <stdatomic.h>
#include <stdbool.h>

/* Number of operations kept, and of words of each; if there are more words, the last one kept is a hash of the rest. */
enum { DOME_CALL_LOG_LENGTH = 128, DOME_CALL_LOG_WORDS = 6 };

typedef struct dome_call_log_entry {
    uint64_t sequence; /* the operation's number; 0 while the entry is being written */
    uint64_t history, object, word[DOME_CALL_LOG_WORDS];
    uint32_t operation, count; /* count: number of words of the call */
} dome_call_log_entry;

typedef struct dome_call_log {
    dome_names *names;          /* of objects, by id, and of texts, by hash */
    atomic_uint objects, named; /* how many there are, and those with a name of the program's */
    dome_call_log_entry entry[DOME_CALL_LOG_LENGTH];
} dome_call_log;

dome_call_log *dome__call_log_new(void);
void dome__call_log_free(dome_call_log *call_log);

/* A hash of the words that do not fit into an entry. */
uint64_t dome__call_log_rest(const uint64_t *words, size_t count);

static inline void dome__call_log_note(dome_call_log *call_log, uint64_t sequence, uint64_t history, uint32_t operation,
                                       uint64_t object, const uint64_t *words, size_t count)
{
    dome_call_log_entry *e = &call_log->entry[sequence % DOME_CALL_LOG_LENGTH];
    size_t whole = count > DOME_CALL_LOG_WORDS ? DOME_CALL_LOG_WORDS - 1 : count;
    __atomic_store_n(&e->sequence, 0, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&e->history, history, __ATOMIC_RELAXED);
    __atomic_store_n(&e->object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&e->operation, operation, __ATOMIC_RELAXED);
    __atomic_store_n(&e->count, (uint32_t)count, __ATOMIC_RELAXED);
    for (size_t k = 0; k < whole; k++)
        __atomic_store_n(&e->word[k], words[k], __ATOMIC_RELAXED);
    if (whole < count)
        __atomic_store_n(&e->word[whole], dome__call_log_rest(words + whole, count - whole), __ATOMIC_RELAXED);
    __atomic_store_n(&e->sequence, sequence, __ATOMIC_RELEASE);
}

/* Copies the entry of an operation; false if it has been overwritten, or is not yet written. */
bool dome__call_log_take(const dome_call_log *call_log, uint64_t sequence, dome_call_log_entry *out);

/* A call as text; *arguments: its arguments as a NULL-terminated list of names and values, alternating. A value that begins with
 * '#' is a hash, not shown to users. */
char *dome__call_log_call(dome_names *names, const dome_call_log_entry *entry, char ***arguments);

#endif
