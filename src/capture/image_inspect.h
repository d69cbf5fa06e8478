/* Reading the image of a captured program without the program: what is in it, by the descriptions in its head (docs/capture.md).
 * Nothing in the bytes is trusted. */
#ifndef DOME_SRC_CAPTURE_IMAGE_INSPECT_H
#define DOME_SRC_CAPTURE_IMAGE_INSPECT_H

#include "capture/pointers.h"
#include "heap/descriptions.h"

#include <glib.h>

enum { DOME_CAPTURE_NO_NUMBER = -1 };

typedef struct dome_capture_shown_global {
    const char *name;
    const dome_capture_shown_type *type; /* of an element */
    uint64_t elements;
    bool constant; /* its values are not in the image */
} dome_capture_shown_global;

typedef struct dome_capture_shown_function {
    const char *name;
    const dome_capture_shown_type *saved, *memory; /* NULL: none */
    GHashTable *points;                            /* point -> "queens.c:27" */
} dome_capture_shown_function;

/* An active function. */
typedef struct dome_capture_shown_frame {
    const dome_capture_shown_function *function;
    uint32_t point;
    const uint8_t *saved, *memory; /* values; NULL: none */
} dome_capture_shown_frame;

/* A handle of Dome: an object of the program. */
typedef struct dome_capture_shown_handle {
    char *kind, *name;
} dome_capture_shown_handle;

typedef struct dome_capture_shown_layout {
    uint64_t length;
    uint32_t tasks;
} dome_capture_shown_layout;

typedef struct dome_capture_shown_stream {
    uint64_t number, position, length; /* UINT64_MAX: none */
    char *path, *mode;
} dome_capture_shown_stream;

/* Blocks of the heap with successive serials and of the same type and size. */
typedef struct dome_capture_shown_run {
    uint64_t serial, count, elements, tail;
    const dome_capture_shown_type *type;
} dome_capture_shown_run;

/* Bytes of the parts of the head. */
typedef struct dome_capture_head_bytes {
    uint64_t numbers, names, types, heap_types, globals, functions, streams, handles;
} dome_capture_head_bytes;

/* Values one after the other: of a global, or of a block of the heap, or of a part of them. */
typedef struct dome_capture_piece {
    const dome_capture_shown_global *global; /* NULL: of the heap */
    uint64_t serial;
    const dome_capture_shown_type *type;
    uint64_t elements, tail; /* of the whole */
    uint64_t first, count;   /* of them, those here; a flexible member's elements come behind them */
    const uint8_t *bytes;
    uint64_t length;
} dome_capture_piece;

/* Gives the bytes of a block of the image, until the next call. False: *problem (g_free'd by the caller). */
typedef bool (*dome_capture_block_reader)(void *ctx, uint64_t block, const uint8_t **bytes, uint64_t *length, char **problem);

/* How far the pieces have been read. */
typedef struct dome_capture_reading {
    dome_capture_block_reader reader;
    void *ctx;
    uint8_t *frame_bytes;
    uint64_t next;           /* block of the image */
    uint64_t global, first;  /* globals that are next, and elements of the large one */
    uint8_t *whole;          /* the block that was read, if its zeros had been left out */
    const uint8_t *at, *end; /* what is left of the block that was read */
    uint64_t left;           /* globals or blocks of the run in it */
    dome_bytes run;          /* descriptions of the runs in it that are left; at NULL: none were read */
    uint64_t after;          /* serial behind the run before them; 0: they begin the block */
    dome_capture_shown_run current;
    bool all_runs;
} dome_capture_reading;

typedef struct dome_capture_inspection {
    uint64_t polls, request_at;
    bool counting;
    bool bare; /* of an earlier build (image_private.h) */
    dome_capture_head_bytes head_bytes;
    uint64_t heap_blocks;
    dome_capture_described described;
    GPtrArray *block_types;  /* of blocks of the heap, by number */
    GPtrArray *globals;      /* dome_capture_shown_global, by number */
    GPtrArray *codes;        /* const char *, by number */
    GPtrArray *functions;    /* dome_capture_shown_function */
    GArray *frames;          /* dome_capture_shown_frame, from the outermost on */
    GArray *memories;        /* guint: the frame whose memory has this number */
    GArray *streams;         /* dome_capture_shown_stream */
    GPtrArray *struct_types; /* char *: of Dome, by code - DOME_KIND_STRUCT */
    GArray *handles;         /* dome_capture_shown_handle, by number - 1 */
    GArray *layouts;         /* dome_capture_shown_layout, by number */
    GArray *runs;            /* dome_capture_shown_run: of the blocks that have been read so far, or of all once they have been */
    uint64_t blocks;         /* of the image */
    uint64_t left_out;       /* bytes that blocks without their zeros were shorter, of those that were read */
    dome_capture_reading reading;
} dome_capture_inspection;

/* The index in block 0 of a Dome program's image (image_object.h). The blocks of task 0's image are those of the object 'image of
 * the program' from its block 1 on, but for the differing ones, which are the first of the object 'image of tasks'. */
typedef struct dome_capture_shown_index {
    uint32_t tasks;    /* 0: nothing differs between tasks */
    char *why;         /* the first difference */
    uint64_t blocks;   /* of task 0's image */
    GArray *differing; /* uint64_t, ascending */
} dome_capture_shown_index;

/* Of block 0 of an object. False: it is the head of the image of a program without calls of Dome. */
bool dome__capture_inspect_is_index(const uint8_t *bytes, uint64_t length);
bool dome__capture_inspect_index(dome_capture_shown_index *index, const uint8_t *bytes, uint64_t length, char **problem);
void dome__capture_inspect_index_clear(dome_capture_shown_index *index);

/* Appends what the handle with a number is: "dvec x". */
void dome__capture_shown_handle_text(GString *to, const dome_capture_inspection *inspection, uint64_t number, uint64_t place);

/* Reads head and active functions. NULL: *problem. */
dome_capture_inspection *dome__capture_inspect(dome_capture_block_reader reader, void *ctx, uint64_t blocks, char **problem);
void dome__capture_inspection_free(dome_capture_inspection *inspection);

/* The next piece, of globals in their order, then of the heap by serial. False: there is none; or *problem. Constant globals
 * have none. */
bool dome__capture_inspect_next(dome_capture_inspection *inspection, dome_capture_piece *piece, char **problem);

/* To the first piece. */
void dome__capture_inspect_rewind(dome_capture_inspection *inspection);

/* The run of a serial, among those that were read; NULL: none. */
const dome_capture_shown_run *dome__capture_inspect_run(const dome_capture_inspection *inspection, uint64_t serial);

/* A pointer, by its 16 bytes. number: of what the space has; *past: the end of what lies before the place. */
dome_capture_space dome__capture_shown_pointer(const uint8_t *bytes, uint64_t *number, uint64_t *place, bool *past);

/* "[3].next" appended to a text: the place in elements of a type; nothing for their beginning. */
void dome__capture_shown_path(GString *to, const dome_capture_shown_type *type, uint64_t elements, uint64_t place, bool past);

/* The member of a union that is in use, in the bytes of a value; NULL: none. */
const dome_capture_shown_member *dome__capture_shown_in_use(const dome_capture_shown_type *type, const uint8_t *bytes);

/* Whether values of two descriptions have the same form and names. */
bool dome__capture_shown_types_equal(const dome_capture_shown_type *a, const dome_capture_shown_type *b);

#endif
