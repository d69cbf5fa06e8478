/* The image of a captured program in a checkpoint, as text. */
#ifndef DOME_TOOLS_DOME_CKPT_IMAGE_H
#define DOME_TOOLS_DOME_CKPT_IMAGE_H

#include "capture/image_inspect.h"
#include "dome_ckpt.h"

typedef struct dome_ckpt_image {
    dome_ckpt_file *file;
    const dome_ckpt_object *object;
    dome_ckpt_buffer buffer;
    uint64_t bytes_read;            /* of blocks of the image */
    bool indexed;                   /* of a Dome program: what is shown is task 0's */
    dome_capture_shown_index index; /* if so */
    dome_capture_inspection *inspection;
} dome_ckpt_image;

bool dome__ckpt_is_image(const dome_ckpt_object *object);

/* False: *message. Closed in both cases. */
bool dome__ckpt_image_open(dome_ckpt_image *image, dome_ckpt_file *file, const dome_ckpt_object *object, char **message);
void dome__ckpt_image_close(dome_ckpt_image *image);

/* The next piece, as dome__capture_inspect_next. */
bool dome__ckpt_image_next(dome_ckpt_image *image, dome_capture_piece *piece, char **message);

/* Reads the whole heap, so that the blocks to which pointers lead are known. */
bool dome__ckpt_image_read_heap(dome_ckpt_image *image, char **message);

/* Appends a value; of arrays at most `most` elements (UINT64_MAX: all). */
void dome__ckpt_image_value(GString *to, const dome_ckpt_image *image, const dome_capture_shown_type *type, const uint8_t *bytes,
                            uint64_t most);

/* Appends `count` values as those of an array, or a single one. */
void dome__ckpt_image_values(GString *to, const dome_ckpt_image *image, const dome_capture_shown_type *type, uint64_t count,
                             const uint8_t *bytes, uint64_t most);

/* Appends what a pointer leads to: "heap 12[3].next", "global n", "#3.column", "function compare". */
void dome__ckpt_image_pointer(GString *to, const dome_ckpt_image *image, const uint8_t *bytes);

/* The place at which an active function was captured: "queens.c:27", or "point 2". g_free'd by the caller. */
char *dome__ckpt_image_place(const dome_capture_shown_frame *frame);

/* The blocks of the heap by type, largest first, of the runs that were read: dome_ckpt_image_kind. */
typedef struct dome_ckpt_image_kind {
    const dome_capture_shown_type *type;
    uint64_t blocks, elements, bytes;
} dome_ckpt_image_kind;
GPtrArray *dome__ckpt_image_kinds(const dome_capture_inspection *inspection);
void dome__ckpt_image_json_kinds(const GPtrArray *kinds);

/* Prints the image: text, or the rest of a JSON object that has been begun. all: nothing is left out. */
int dome__ckpt_image_print(dome_ckpt_file *file, const dome_ckpt_object *object, bool json, bool all);

/* Prints of how many bytes each part of the image is, in the same ways. */
int dome__ckpt_image_sizes(dome_ckpt_file *file, const dome_ckpt_object *object, bool json, bool all);

/* Prints the graph of its pointers for graphviz: at most `most` blocks of the heap. */
int dome__ckpt_image_dot(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t most);

/* Calls tell(ctx, ...) for each difference; all: for each, not only for some of many. False: *message. */
bool dome__ckpt_image_compare(dome_ckpt_image *a, dome_ckpt_image *b, bool all, void (*tell)(void *ctx, const char *text),
                              void *ctx, char **message);

#endif
