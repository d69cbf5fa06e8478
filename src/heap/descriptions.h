/* The names and the types in the head of an image, to which the rest of it refers by numbers (docs/capture.md). They let dome
 * ckpt print values without the program, and a restart compare the program's types with the image's. */
#ifndef DOME_SRC_HEAP_DESCRIPTIONS_H
#define DOME_SRC_HEAP_DESCRIPTIONS_H

#include "heap/type_layout.h"
#include "system/bytes.h"

#include <glib.h>

/* ---- writing ---- */

typedef struct dome_capture_descriptions dome_capture_descriptions;

dome_capture_descriptions *dome__capture_descriptions_new(void);
void dome__capture_descriptions_free(dome_capture_descriptions *descriptions);

/* Their numbers, in the order in which they are first needed. */
uint64_t dome__capture_describe_name(dome_capture_descriptions *descriptions, const char *name);
uint64_t dome__capture_describe_type(dome_capture_descriptions *descriptions, const dome_capture_type *type);

void dome__capture_descriptions_append(const dome_capture_descriptions *descriptions, GByteArray *to);

/* ---- reading ---- */

typedef struct dome_capture_shown_type dome_capture_shown_type;

typedef struct dome_capture_shown_member {
    const char *name;
    const dome_capture_shown_type *type;
    uint64_t at; /* in a value, in bytes of the image */
} dome_capture_shown_member;

struct dome_capture_shown_type {
    const char *name;
    dome_capture_kind kind;
    dome_type_kind scalar;
    uint64_t shape;                         /* dome__capture_shape */
    uint64_t bytes;                         /* of a value, without a flexible last member */
    uint64_t count;                         /* ARRAY: elements. STRUCT, UNION: members */
    const dome_capture_shown_type *element; /* ARRAY */
    dome_capture_shown_member *members;
    const dome_capture_shown_type *tail; /* of an element of the flexible last member; NULL: there is none */
    bool pointers;
    unsigned depth;
};

typedef struct dome_capture_described {
    GPtrArray *names; /* char * */
    GPtrArray *types; /* dome_capture_shown_type */
    uint64_t name_bytes, type_bytes;
} dome_capture_described;

/* Nothing in the bytes is trusted: from->bad if they are no descriptions. */
void dome__capture_described_read(dome_capture_described *described, dome_bytes *from);
void dome__capture_described_clear(dome_capture_described *described);

/* Reads a number; from->bad, and an empty name or NULL, if nothing has it. `_or_none` reads one more than the number, or 0: NULL.
 */
const char *dome__capture_described_name(const dome_capture_described *described, dome_bytes *from);
const dome_capture_shown_type *dome__capture_described_type(const dome_capture_described *described, dome_bytes *from);
const dome_capture_shown_type *dome__capture_described_type_or_none(const dome_capture_described *described, dome_bytes *from);

#endif
