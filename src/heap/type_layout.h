/* The meaning of a dome_capture_type on this machine: how values lie in memory and in the image, worked out once. */
#ifndef DOME_SRC_HEAP_TYPE_LAYOUT_H
#define DOME_SRC_HEAP_TYPE_LAYOUT_H

#include <dome/capture.h>
#include <glib.h>

/* A pointer takes this many bytes in the image: the word of its block, and the offset there (pointers.h). */
enum { DOME_CAPTURE_POINTER_BYTES = 16 };

/* A union begins with the number of the member that is in use. */
enum { DOME_CAPTURE_UNION_HEAD = 4 };

typedef struct dome_capture_layout dome_capture_layout;
struct dome_capture_slabs;

/* The layouts that type_layout.c has worked out. */
typedef struct dome_capture_type_layouts {
    GHashTable *layouts; /* by name and hash */
} dome_capture_type_layouts;

typedef enum dome_capture_step_kind {
    DOME_CAPTURE_STEP_ITEMS,    /* numbers of the same size in both forms */
    DOME_CAPTURE_STEP_WIDER,    /* integers with more bytes in the image than here (long of 4 bytes) */
    DOME_CAPTURE_STEP_POINTERS, /* */
    DOME_CAPTURE_STEP_REPEAT,   /* an array of structs: `inner`, `count` times */
    DOME_CAPTURE_STEP_UNION     /* one of the layouts `members` */
} dome_capture_step_kind;

/* `count` things that lie one after the other, in memory from `offset` and in the image from `portable`. */
typedef struct dome_capture_step {
    dome_capture_step_kind kind;
    dome_type_kind scalar;
    size_t offset, size; /* size, item: of one of the things, in memory and in the image */
    uint64_t portable, item, count;
    const dome_capture_layout *inner;
    const dome_capture_type *type;             /* POINTERS: of what they point to. UNION: the union */
    const dome_capture_layout *const *members; /* UNION */
    unsigned flags;                            /* DOME_CAPTURE_NUMBERS, DOME_CAPTURE_MAY_DANGLE */
    bool deep;                                 /* POINTERS: what they point to has pointers itself */
} dome_capture_step;

struct dome_capture_layout {
    const dome_capture_type *type; /* the first of this name and shape */
    const char *name;
    size_t size;
    uint64_t portable; /* bytes in the image, of a flexible member none */
    uint64_t hash;     /* of the shape, equal on all machines */
    bool pointers, unions;
    bool words; /* it has numbers or bytes in which an address could lie */
    dome_capture_step *steps;
    size_t nsteps;
    dome_capture_step *links; /* of them, those that lead to pointers */
    size_t nlinks;
    void (*pack)(void *to, const void *from,
                 size_t count); /* the type's own: numbers; NULL: there is none, or there are unions */
    bool (*unpack)(void *to, const void *from, size_t count);
    const dome_capture_layout *tail; /* of an element of the flexible last member; NULL: there is none */
    size_t tail_offset;
    unsigned flags;  /* of the flexible last member; while the steps are worked out, of what is being added */
    uint32_t number; /* in the image that is being taken */
    bool used;
    struct dome_capture_slabs *slabs; /* of the heap, by size; NULL: none yet */
};

/* The layout of an element, and in *count how many of them the type has: those of arrays multiply. The same for every type of the
 * same name and shape. A description that is wrong ends the program. */
const dome_capture_layout *dome__capture_layout(dome_capture_type *type, uint64_t *count);

/* The hash of a type's shape: names, forms in the image and counts, but nothing that depends on the machine. */
uint64_t dome__capture_shape(const dome_capture_type *type);

/* The same from its parts, as a description in an image has them: first the kind, the name (of a pointer that of what it points
 * to; of a number or an array NULL) and the form or the count; then the parts, of an array its element, without a name. */
uint64_t dome__capture_shape_begin(dome_capture_kind kind, const char *name, uint64_t number);
uint64_t dome__capture_shape_add(uint64_t shape, const char *name, uint64_t part);

/* The layout of a name and a hash; NULL: no type that was seen so far has them. */
const dome_capture_layout *dome__capture_layout_find(const char *name, uint64_t hash);

void dome__capture_layouts_begin(void); /* all are unused */

/* Converts pointers: each function gets the address of the variable in memory. */
typedef struct dome_capture_coder {
    void (*encode)(void *ctx, const void *const *from, const dome_capture_type *target, uint8_t *to);
    bool (*decode)(void *ctx, void **to, const dome_capture_type *target, const uint8_t *from); /* false: no such place */
    void *ctx;
    const char *problem; /* of an unpacking that failed: a text for dome__capture_say_where */
    const void *where;
} dome_capture_coder;

void dome__capture_pack(const dome_capture_layout *layout, uint8_t *to, const void *from, uint64_t count,
                        dome_capture_coder *coder);

/* Unpacking takes two passes, first all numbers of all blocks, then all pointers: numbers tell which member a union holds, and
 * the places to which pointers lead depend on that. False: a value does not fit (*coder says where). */
bool dome__capture_unpack_numbers(const dome_capture_layout *layout, void *to, const uint8_t *from, uint64_t count,
                                  dome_capture_coder *coder);
bool dome__capture_unpack_pointers(const dome_capture_layout *layout, void *to, const uint8_t *from, uint64_t count,
                                   dome_capture_coder *coder);

/* Places in an element. `past`: the place is the end of the member before it, because no member begins there (padding), or
 * because the member that begins there is not of the pointer's type. base: the element's address, where unions are asked. False:
 * no member begins or ends there. */
bool dome__capture_to_portable(const dome_capture_layout *layout, const void *base, size_t offset,
                               const dome_capture_type *target, uint64_t *portable, bool *past);
bool dome__capture_to_native(const dome_capture_layout *layout, const void *base, uint64_t portable, bool past,
                             const dome_capture_type *target, size_t *offset);

/* The member of a union that is in use: an element of that step; NULL: none. */
const dome_capture_layout *dome__capture_in_use(const dome_capture_step *step, const void *address);

/* How far inside of a number or pointer an offset is; 0: it is not. *pointer: it is a pointer. */
size_t dome__capture_inside(const dome_capture_layout *layout, const void *base, size_t offset, bool *pointer);

/* "next.value[3]", for messages: what lies at an offset of an element of a type. g_free'd by the caller. */
char *dome__capture_path(const dome_capture_layout *layout, size_t offset);

#endif
