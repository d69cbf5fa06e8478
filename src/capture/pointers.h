/* Pointers in the image: which block, and where in it.
 *
 * 16 bytes: a word of the space (4 bits) and the number there (60 bits), and a word of the place, whose highest bit says that the
 * place is the end of what lies before it (layout.h). Places are counted in bytes of the image. */
#ifndef DOME_SRC_CAPTURE_POINTERS_H
#define DOME_SRC_CAPTURE_POINTERS_H

#include "heap/heap.h"
#include "heap/type_layout.h"

typedef enum dome_capture_space {
    DOME_CAPTURE_SPACE_VALUE,    /* no address: NULL and other small numbers, as the second word */
    DOME_CAPTURE_SPACE_HEAP,     /* serial of the block */
    DOME_CAPTURE_SPACE_GLOBAL,   /* number in the order of names */
    DOME_CAPTURE_SPACE_MEMORY,   /* of an active function, from the outermost */
    DOME_CAPTURE_SPACE_CODE,     /* number in the order of names */
    DOME_CAPTURE_SPACE_STREAM,   /* number of the stream */
    DOME_CAPTURE_SPACE_DANGLING, /* leads nowhere */
    DOME_CAPTURE_SPACE_HANDLE,   /* of Dome: number in the order of creation (handles.h) */
    DOME_CAPTURE_SPACES
} dome_capture_space;

enum { DOME_CAPTURE_SPACE_SHIFT = 60 }; /* the number has so many bits */

/* The memory that pointers.c has gathered. */
typedef struct dome_capture_pointers {
    GArray *areas, *codes; /* by address */
} dome_capture_pointers;

/* Gathers what pointers may lead to. False without memory. */
bool dome__capture_pointers_begin(void);

/* The target of an address: where it begins, and how many bytes it has. Code, streams and handles have no layout. */
typedef struct dome_capture_target {
    dome_capture_space space; /* DANGLING: nothing that is known */
    const dome_capture_layout *layout;
    uintptr_t begin;
    size_t bytes;
} dome_capture_target;

/* After begin. The target that lies at an address, or ends there. */
dome_capture_target dome__capture_target(const void *address);

/* Calls function(ctx, first, end) for each range of addresses in which globals, memory of active functions and functions lie. */
void dome__capture_areas_each(void (*function)(void *ctx, uintptr_t first, uintptr_t end), void *ctx);

/* Whether a pointer to `type` at an address comes back as one to the same place. */
bool dome__capture_has_place(const void *address, const dome_capture_type *type);

/* For a coder (layout.h). ctx of decode: the blocks of the image. */
void dome__capture_encode(void *ctx, const void *const *from, const dome_capture_type *target, uint8_t *to);
bool dome__capture_decode(void *ctx, void **to, const dome_capture_type *target, const uint8_t *from);

/* Tables for decode: blocks by serial, memory by number. */
typedef struct dome_capture_places {
    dome_capture_block **blocks; /* serials ascend */
    size_t nblocks;
    void **direct;   /* their memory by serial, less the first one; NULL: the serials are too far apart */
    void **memories; /* of active functions, from the outermost */
    const dome_capture_layout **memory_layouts;
    size_t nmemories;
    /* By number in the image. */
    const size_t *globals; /* numbers in this program; SIZE_MAX: it has none of that name */
    size_t nglobals;
    const void *const *codes; /* addresses; NULL: likewise */
    size_t ncodes;
} dome_capture_places;

/* Fills in places->direct, to be freed (g_free), if it is not much larger than blocks. */
void dome__capture_places_index(dome_capture_places *places);

/* "heap block 7 (struct node): next", "global n", ...: what lies at an address; NULL: nothing that is known. g_free'd by the
 * caller. */
char *dome__capture_say_where(const void *address);

#endif
