#include "capture/frames.h"

#include "heap/die.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, ALIGNMENT = 16 };

/* Memory of active functions lies in chunks that never move; it is given back from the end. */
typedef struct chunk chunk;
struct chunk {
    chunk *previous, *next;
    size_t room, used;
    char bytes[] __attribute__((aligned(16)));
};

static chunk *chunks; /* the one in use; later ones are kept for deeper calls */

/* The memory of the innermost function that is active now: those above it wait to be resumed. */
static dome_capture_memory *first_memory, *top_memory;
static size_t memories;

static dome_capture_record *records;
static size_t record_count, record_room;
static char *data;
static size_t data_used, data_room;

dome_capture_frame_layout *dome__capture_frame_layout(dome_capture_function *function)
{
    if (function->known)
        return function->known;
    dome_capture_frame_layout *l = g_new0(dome_capture_frame_layout, 1);
    uint64_t one = 1, other = 1;
    l->saved = function->saved ? dome__capture_layout(function->saved, &one) : NULL;
    l->memory = function->memory ? dome__capture_layout(function->memory, &other) : NULL;
    if (one != 1 || other != 1 || (l->saved && l->saved->tail) || (l->memory && l->memory->tail))
        dome__capture_die("the variables of function '%s' are not described as a struct", function->name);
    return function->known = l;
}

/* ---- memory ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void *chunk_take(size_t bytes)
{
    if (!chunks || chunks->room - chunks->used < bytes) {
        chunk *next = chunks ? chunks->next : NULL;
        if (next && next->room < bytes) { /* it is empty: nothing above the chunk in use is */
            chunks->next = next->next;
            if (next->next)
                next->next->previous = chunks;
            free(next);
            next = NULL;
        }
        if (!next) {
            size_t room = MAX(bytes, CHUNK - sizeof(chunk));
            next = malloc(sizeof *next + room);
            if (!next)
                dome__capture_die("no memory for the variables of a function: %zu bytes", bytes);
            *next = (chunk){.previous = chunks, .next = chunks ? chunks->next : NULL, .room = room};
            if (next->next)
                next->next->previous = next;
            if (chunks)
                chunks->next = next;
        }
        chunks = next;
    }
    void *memory = chunks->bytes + chunks->used;
    chunks->used += bytes;
    return memory;
}

static size_t memory_bytes(const dome_capture_function *function)
{
    return aligned(sizeof(dome_capture_memory) + function->memory->size);
}

static dome_capture_memory *new_memory(dome_capture_function *function)
{
    size_t bytes = memory_bytes(function);
    dome_capture_memory *m = chunk_take(bytes);
    memset(m, 0, bytes);
    m->function = function;
    m->below = top_memory;
    if (top_memory)
        top_memory->above = m;
    else
        first_memory = m;
    top_memory = m;
    memories++;
    return m;
}

void *dome_capture_enter(dome_capture_function *function)
{
    if (!function || !function->memory)
        dome__capture_die("function '%s' has no memory in its description", function ? function->name : "(NULL)");
    if (!(dome_capture_status & DOME_CAPTURE_RESUMING))
        return dome__capture_memory_of(new_memory(function));
    dome_capture_memory *m = top_memory ? top_memory->above : first_memory;
    if (!m || m->function != function)
        dome__capture_die("the program does not resume as it was captured: it entered function '%s', not '%s'", function->name,
                          m ? m->function->name : "(none with memory)");
    top_memory = m;
    return dome__capture_memory_of(m);
}

/* Takes away the innermost memory. */
static void drop(dome_capture_memory *m)
{
    top_memory = m->below;
    if (top_memory)
        top_memory->above = NULL;
    else
        first_memory = NULL;
    memories--;
    chunks->used -= memory_bytes(m->function);
    if (chunks->used == 0 && chunks->previous)
        chunks = chunks->previous;
}

void dome_capture_leave(dome_capture_function *function)
{
    dome_capture_memory *m = top_memory;
    if (!m || m->function != function || m->above)
        dome__capture_die("function '%s' returns with dome_capture_leave, but '%s' is the last that entered",
                          function ? function->name : "(NULL)", m ? m->function->name : "(none)");
    drop(m);
}

void dome__capture_memory_cut(size_t count)
{
    while (memories > count)
        drop(top_memory);
}

bool dome__capture_memory_was(const void *address)
{
    const chunk *c = chunks;
    while (c && c->previous)
        c = c->previous;
    for (; c; c = c->next)
        if ((const char *)address >= c->bytes && (const char *)address < c->bytes + c->room)
            return true;
    return false;
}

dome_capture_memory *dome__capture_memory_first(void)
{
    return first_memory;
}

size_t dome__capture_memory_count(void)
{
    return memories;
}

/* ---- records ---- */

/* Room for `more` further things of `size` bytes in an array; ends the program without memory. */
static void *grown(void *array, size_t used, size_t more, size_t size, size_t *room)
{
    enum { LEAST = 64 };
    if (used + more <= *room)
        return array;
    *room = MAX(used + more, *room + *room / 2 + LEAST);
    array = realloc(array, *room * size);
    if (!array)
        dome__capture_die("no memory for the records of the active functions");
    return array;
}

static void *add_record(dome_capture_function *function, int point)
{
    size_t bytes = function->saved ? aligned(function->saved->size) : 0;
    records = grown(records, record_count, 1, sizeof *records, &record_room);
    data = grown(data, data_used, bytes, 1, &data_room);
    records[record_count++] = (dome_capture_record){function, point, data_used};
    void *at = data + data_used;
    if (bytes > 0)
        memset(at, 0, bytes);
    data_used += bytes;
    return function->saved ? at : NULL;
}

void *dome_capture_push(dome_capture_function *function, int point)
{
    if (!function || !(dome_capture_status & DOME_CAPTURE_CAPTURING))
        dome__capture_die("dome_capture_push of function '%s' outside of a capture", function ? function->name : "(NULL)");
    if (function->memory) {
        if (!top_memory || top_memory->function != function)
            dome__capture_die("function '%s' is captured without its memory: it has not called dome_capture_enter",
                              function->name);
        top_memory = top_memory->below;
    }
    return add_record(function, point);
}

const void *dome_capture_pop(dome_capture_function *function, int *point)
{
    if (!function || !(dome_capture_status & DOME_CAPTURE_RESUMING))
        dome__capture_die("dome_capture_pop of function '%s', which does not resume", function ? function->name : "(NULL)");
    if (record_count == 0 || records[record_count - 1].function != function)
        dome__capture_die("the program does not resume as it was captured: it called function '%s', not '%s'", function->name,
                          record_count > 0 ? records[record_count - 1].function->name : "(a poll)");
    const dome_capture_record *r = &records[--record_count];
    data_used = record_count > 0 ? r->at : 0;
    *point = r->point;
    return function->saved ? data + r->at : NULL;
}

size_t dome__capture_record_count(void)
{
    return record_count;
}

const dome_capture_record *dome__capture_record(size_t k)
{
    return &records[k];
}

void *dome__capture_record_data(const dome_capture_record *record)
{
    return data + record->at;
}

/* ---- restarting ---- */

void *dome__capture_record_restore(dome_capture_function *function, int point)
{
    return add_record(function, point);
}

void *dome__capture_memory_restore(dome_capture_function *function)
{
    return dome__capture_memory_of(new_memory(function));
}

void dome__capture_frames_restored(void)
{
    /* The outermost was restored first, and is to be the last. The data keeps its place: `at` is only a place to give memory back
     * to, so the order does not matter until all have been popped. */
    for (size_t a = 0, b = record_count; a + 1 < b; a++) {
        dome_capture_record r = records[a];
        records[a] = records[--b];
        records[b] = r;
    }
    top_memory = NULL;
}

void dome__capture_frames_clear(void)
{
    record_count = data_used = 0;
    dome_capture_memory *m = first_memory;
    while (m && m->above)
        m = m->above;
    for (top_memory = m; top_memory;)
        drop(top_memory);
}
