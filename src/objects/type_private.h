/* What a type is made of. */
#ifndef DOME_SRC_TYPE_PRIVATE_H
#define DOME_SRC_TYPE_PRIVATE_H

#include <dome/type.h>

struct dome_type_desc {
    const char *name;
    dome_type_kind kind;
    size_t atom; /* bytes of the items whose order of bytes differs between machines; 0 for a struct */
    size_t size, portable;
    bool dense; /* no padding */
    size_t nfields;
    dome_field *fields;
};

/* A hash of the whole description, equal on machines whose structs are padded differently. */
uint64_t dome__type_hash(dome_type type);

/* Frees a struct type; a GDestroyNotify. */
void dome__type_free(void *type);

#endif
