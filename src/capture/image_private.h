/* Shared by the files image*.c. docs/capture.md describes the bytes. */
#ifndef DOME_SRC_CAPTURE_IMAGE_PRIVATE_H
#define DOME_SRC_CAPTURE_IMAGE_PRIVATE_H

#include "capture/handles.h"
#include "capture/image.h"
#include "capture/pointers.h"
#include "capture/status.h"
#include "capture/streams.h"
#include "heap/heap.h"

#include <glib.h>

/* The versions of images, and those of earlier builds, which are still read: images without sources say nothing of functions that
 * are not active; those that are bare have all zeros in them, blocks of active functions and of globals do not begin with their
 * kind, and constants are cut into blocks like other globals.
 *
 * A variable or block of the heap that takes more than SMALL_BYTES in the image is cut into parts of about PART_BYTES. Smaller
 * ones share a block of the image: globals up to PART_BYTES, blocks of the heap if their serials differ in the last GROUP_BITS
 * only.
 */
enum {
    IMAGE_VERSION = 9,
    IMAGE_VERSION_HANDLES = 10, /* of a Dome program: block 0 is an index (image_object.h), and the head has handles */
    IMAGE_VERSION_NO_SOURCES = 7,
    IMAGE_VERSION_HANDLES_NO_SOURCES = 8,
    IMAGE_VERSION_BARE = 4,
    IMAGE_VERSION_HANDLES_BARE = 6,
    KIND_BYTES = 1, /* at the beginning of a block: its kind */
    SMALL_BYTES = 1 << 18,
    PART_BYTES = 1 << 20,
    GROUP_BITS = 10
};

typedef struct image_form {
    bool known, handles, bare, sources;
} image_form;

static inline image_form image_form_of(uint32_t version)
{
    image_form f = {.handles = version == IMAGE_VERSION_HANDLES || version == IMAGE_VERSION_HANDLES_NO_SOURCES ||
                               version == IMAGE_VERSION_HANDLES_BARE,
                    .bare = version == IMAGE_VERSION_BARE || version == IMAGE_VERSION_HANDLES_BARE,
                    .sources = version == IMAGE_VERSION || version == IMAGE_VERSION_HANDLES};
    f.known = f.sources || f.bare || version == IMAGE_VERSION_NO_SOURCES || version == IMAGE_VERSION_HANDLES_NO_SOURCES;
    return f;
}

typedef enum segment_kind {
    SEGMENT_HEAD,
    SEGMENT_FRAMES,
    SEGMENT_GLOBALS,
    SEGMENT_GLOBAL_PART,
    SEGMENT_BLOCKS,
    SEGMENT_BLOCK_PART,   /* the first of a large one */
    SEGMENT_BLOCK_MORE,   /* the others */
    SEGMENT_WITHOUT_ZEROS /* of a block in the image alone: a short one of another kind (zeros.h) */
} segment_kind;

/* A block of the image. */
typedef struct segment {
    segment_kind kind;
    size_t global;             /* GLOBALS: the first; of constants none is saved. GLOBAL_PART: the one */
    dome_capture_block *block; /* BLOCKS: the first. BLOCK_PART: the one */
    uint64_t count;            /* GLOBALS, BLOCKS: how many of them, with constants */
    uint64_t first, elements;  /* parts */
    uint64_t runs;             /* BLOCKS: blocks of one type and size with successive serials */
    uint64_t head;             /* bytes before the values: the kind, and what tells of the heap's blocks */
    uint64_t bytes;            /* all */
    uint8_t *ready;            /* `bytes` of a short one, which has been packed; NULL: it is packed when it is written */
} segment;

/* A run of blocks, as the image describes them. */
typedef struct block_run {
    uint64_t serial, count, elements, tail;
    const dome_capture_layout *layout;
} block_run;

/* Memory that was read and has pointers, until all blocks are there. */
typedef struct kept {
    segment_kind kind;
    uint8_t *bytes;
    uint64_t length;
    segment segment; /* of globals */
    size_t block;    /* of the heap: index of the first in `blocks` */
    uint64_t count;
} kept;

struct dome_capture_image {
    uint64_t length;  /* blocks */
    GArray *segments; /* segment */
    GByteArray *head, *frames;
    GPtrArray *types; /* of blocks of the heap: const dome_capture_layout, by number */
    dome_env *env;    /* whose handles the program may have; NULL: a program without calls of Dome */
    dome_capture_coder coder;

    /* restarting */
    image_form form;
    GPtrArray *changed; /* names of functions and constants that are others in this program; NULL: none */
    uint64_t next;      /* block that is read next */
    char *problem;
    dome_capture_counts counts;
    uint64_t serial;
    GPtrArray *functions; /* dome_capture_function, by number */
    GArray *globals;      /* size_t: by number in the image, in the program; SIZE_MAX: none */
    GPtrArray *codes;     /* addresses, by number */
    uint64_t records, memories, all_blocks;
    GPtrArray *blocks; /* dome_capture_block, by serial */
    GPtrArray *memory; /* void * */
    GPtrArray *memory_layouts;
    GArray *kept;       /* struct kept */
    uint64_t part_left; /* elements of the last block that further parts have */
    dome_capture_saved_streams *streams;
    dome_capture_saved_handles *handles;
};

static inline segment *image_segment(const dome_capture_image *image, guint k)
{
    return &g_array_index(image->segments, segment, k);
}

/* Puts the zeros back into a block behind the head that is no part of a large global. *bytes and *length become those of the
 * whole block; *own is what the caller frees (g_free), NULL if no zeros were left out. False: the block is damaged. */
bool dome__capture_image_whole_block(const uint8_t **bytes, uint64_t *length, uint8_t **own);

/* Appends the segments of the globals: a function of their types alone. */
void dome__capture_image_cut_globals(GArray *segments, bool bare);

/* How many of the elements that are left of a large array are in its next part: those of PART_BYTES, but all that are left if
 * they are at most half as many more. */
uint64_t dome__capture_image_part_elements(uint64_t portable, uint64_t left);

#endif
