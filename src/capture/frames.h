/* Active functions: their memory (dome_capture_enter), and their records while the program is captured. */
#ifndef DOME_SRC_CAPTURE_FRAMES_H
#define DOME_SRC_CAPTURE_FRAMES_H

#include "heap/type_layout.h"

/* The layouts of a function, worked out once (function->known). */
typedef struct dome_capture_frame_layout {
    const dome_capture_layout *saved, *memory; /* NULL: none */
    uint32_t number;                           /* in the image */
    bool used;
} dome_capture_frame_layout;

/* Stands before the memory of an active function. */
typedef struct dome_capture_memory dome_capture_memory;
struct dome_capture_memory {
    dome_capture_memory *below, *above; /* callers and callees */
    dome_capture_function *function;
    size_t number; /* from the outermost, for the image */
} __attribute__((aligned(16)));

static inline void *dome__capture_memory_of(const dome_capture_memory *memory)
{
    return (char *)(uintptr_t)memory + sizeof *memory;
}

/* A record of a function that returned: the innermost is the first. */
typedef struct dome_capture_record {
    dome_capture_function *function;
    int point;
    size_t at; /* of its variables in the data */
} dome_capture_record;

/* The state of frames.c. */
typedef struct dome_capture_frames {
    struct dome_capture_chunk *chunks; /* the one in use; later ones are kept for deeper calls */
    dome_capture_memory *first, *top;  /* top: of the innermost function that is active now; those above wait to be resumed */
    size_t memories;
    dome_capture_record *records;
    size_t record_count, record_room;
    char *data; /* of the records */
    size_t data_used, data_room;
} dome_capture_frames;

dome_capture_frame_layout *dome__capture_frame_layout(dome_capture_function *function);

size_t dome__capture_record_count(void);
const dome_capture_record *dome__capture_record(size_t k);
void *dome__capture_record_data(const dome_capture_record *record);

/* The memory of the outermost function that has any. */
dome_capture_memory *dome__capture_memory_first(void);
size_t dome__capture_memory_count(void);
bool dome__capture_memory_was(const void *address); /* whether an active function has, or had, memory there */
void dome__capture_memory_cut(size_t count);        /* takes away the innermost ones, until there are so many */

/* For a restart, from the outermost on: dome__capture_frames_restored then puts the records into their order. */
void *dome__capture_record_restore(dome_capture_function *function, int point);
void *dome__capture_memory_restore(dome_capture_function *function);
void dome__capture_frames_restored(void);

/* All functions have returned for good, or the image was not taken up. */
void dome__capture_frames_clear(void);

#endif
