#include "capture/capture.h"

#include "heap/die.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, ALIGNMENT = 16 };

/* Memory of active functions lies in chunks that never move; it is given back from the end. */
typedef struct dome_capture_chunk chunk;
struct dome_capture_chunk {
    chunk *previous, *next;
    size_t room, used;
    char bytes[] __attribute__((aligned(16)));
};

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
    dome_capture_frames *f = &dome__capture->frames;
    if (!f->chunks || f->chunks->room - f->chunks->used < bytes) {
        chunk *next = f->chunks ? f->chunks->next : NULL;
        if (next && next->room < bytes) { /* it is empty: nothing above the chunk in use is */
            f->chunks->next = next->next;
            if (next->next)
                next->next->previous = f->chunks;
            free(next);
            next = NULL;
        }
        if (!next) {
            size_t room = MAX(bytes, CHUNK - sizeof(chunk));
            next = malloc(sizeof *next + room);
            if (!next)
                dome__capture_die("no memory for the variables of a function: %zu bytes", bytes);
            *next = (chunk){.previous = f->chunks, .next = f->chunks ? f->chunks->next : NULL, .room = room};
            if (next->next)
                next->next->previous = next;
            if (f->chunks)
                f->chunks->next = next;
        }
        f->chunks = next;
    }
    void *memory = f->chunks->bytes + f->chunks->used;
    f->chunks->used += bytes;
    return memory;
}

static size_t memory_bytes(const dome_capture_function *function)
{
    return aligned(sizeof(dome_capture_memory) + function->memory->size);
}

static dome_capture_memory *new_memory(dome_capture_function *function)
{
    dome_capture_frames *f = &dome__capture->frames;
    size_t bytes = memory_bytes(function);
    dome_capture_memory *m = chunk_take(bytes);
    memset(m, 0, bytes);
    m->function = function;
    m->below = f->top;
    if (f->top)
        f->top->above = m;
    else
        f->first = m;
    f->top = m;
    f->memories++;
    return m;
}

void *dome_capture_enter(dome_capture_function *function)
{
    dome_capture_frames *f = &dome__capture->frames;
    if (!function || !function->memory)
        dome__capture_die("function '%s' has no memory in its description", function ? function->name : "(NULL)");
    if (!(dome_capture_status & DOME_CAPTURE_RESUMING))
        return dome__capture_memory_of(new_memory(function));
    dome_capture_memory *m = f->top ? f->top->above : f->first;
    if (!m || m->function != function)
        dome__capture_die("the program does not resume as it was captured: it entered function '%s', not '%s'", function->name,
                          m ? m->function->name : "(none with memory)");
    f->top = m;
    return dome__capture_memory_of(m);
}

/* Takes away the innermost memory. */
static void drop(dome_capture_memory *m)
{
    dome_capture_frames *f = &dome__capture->frames;
    f->top = m->below;
    if (f->top)
        f->top->above = NULL;
    else
        f->first = NULL;
    f->memories--;
    f->chunks->used -= memory_bytes(m->function);
    if (f->chunks->used == 0 && f->chunks->previous)
        f->chunks = f->chunks->previous;
}

void dome_capture_leave(dome_capture_function *function)
{
    dome_capture_frames *f = &dome__capture->frames;
    dome_capture_memory *m = f->top;
    if (!m || m->function != function || m->above)
        dome__capture_die("function '%s' returns with dome_capture_leave, but '%s' is the last that entered",
                          function ? function->name : "(NULL)", m ? m->function->name : "(none)");
    drop(m);
}

void dome__capture_memory_cut(size_t count)
{
    dome_capture_frames *f = &dome__capture->frames;
    while (f->memories > count)
        drop(f->top);
}

bool dome__capture_memory_was(const void *address)
{
    dome_capture_frames *f = &dome__capture->frames;
    const chunk *c = f->chunks;
    while (c && c->previous)
        c = c->previous;
    for (; c; c = c->next)
        if ((const char *)address >= c->bytes && (const char *)address < c->bytes + c->room)
            return true;
    return false;
}

dome_capture_memory *dome__capture_memory_first(void)
{
    dome_capture_frames *f = &dome__capture->frames;
    return f->first;
}

size_t dome__capture_memory_count(void)
{
    dome_capture_frames *f = &dome__capture->frames;
    return f->memories;
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
    dome_capture_frames *f = &dome__capture->frames;
    size_t bytes = function->saved ? aligned(function->saved->size) : 0;
    f->records = grown(f->records, f->record_count, 1, sizeof *f->records, &f->record_room);
    f->data = grown(f->data, f->data_used, bytes, 1, &f->data_room);
    f->records[f->record_count++] = (dome_capture_record){function, point, f->data_used};
    void *at = f->data + f->data_used;
    if (bytes > 0)
        memset(at, 0, bytes);
    f->data_used += bytes;
    return function->saved ? at : NULL;
}

void *dome_capture_push(dome_capture_function *function, int point)
{
    dome_capture_frames *f = &dome__capture->frames;
    if (!function || !(dome_capture_status & DOME_CAPTURE_CAPTURING))
        dome__capture_die("dome_capture_push of function '%s' outside of a capture", function ? function->name : "(NULL)");
    if (function->memory) {
        if (!f->top || f->top->function != function)
            dome__capture_die("function '%s' is captured without its memory: it has not called dome_capture_enter",
                              function->name);
        f->top = f->top->below;
    }
    return add_record(function, point);
}

const void *dome_capture_pop(dome_capture_function *function, int *point)
{
    dome_capture_frames *f = &dome__capture->frames;
    if (!function || !(dome_capture_status & DOME_CAPTURE_RESUMING))
        dome__capture_die("dome_capture_pop of function '%s', which does not resume", function ? function->name : "(NULL)");
    if (f->record_count == 0 || f->records[f->record_count - 1].function != function)
        dome__capture_die("the program does not resume as it was captured: it called function '%s', not '%s'", function->name,
                          f->record_count > 0 ? f->records[f->record_count - 1].function->name : "(a poll)");
    const dome_capture_record *r = &f->records[--f->record_count];
    f->data_used = f->record_count > 0 ? r->at : 0;
    *point = r->point;
    return function->saved ? f->data + r->at : NULL;
}

size_t dome__capture_record_count(void)
{
    dome_capture_frames *f = &dome__capture->frames;
    return f->record_count;
}

const dome_capture_record *dome__capture_record(size_t k)
{
    dome_capture_frames *f = &dome__capture->frames;
    return &f->records[k];
}

void *dome__capture_record_data(const dome_capture_record *record)
{
    dome_capture_frames *f = &dome__capture->frames;
    return f->data + record->at;
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
    dome_capture_frames *f = &dome__capture->frames;
    /* The outermost was restored first, and is to be the last. The data keeps its place: `at` is only a place to give memory back
     * to, so the order does not matter until all have been popped. */
    for (size_t a = 0, b = f->record_count; a + 1 < b; a++) {
        dome_capture_record r = f->records[a];
        f->records[a] = f->records[--b];
        f->records[b] = r;
    }
    f->top = NULL;
}

void dome__capture_frames_clear(void)
{
    dome_capture_frames *f = &dome__capture->frames;
    f->record_count = f->data_used = 0;
    dome_capture_memory *m = f->first;
    while (m && m->above)
        m = m->above;
    for (f->top = m; f->top;)
        drop(f->top);
}
