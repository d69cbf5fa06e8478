/* The members of a type, and the types of C that vectors can have. Types that programs describe are in core/type.c. */
#ifndef DOME_SRC_SYSTEM_BASIC_TYPES_H
#define DOME_SRC_SYSTEM_BASIC_TYPES_H

#include <dome/type.h>

struct dome_type_desc {
    const char *name;
    dome_type_kind kind;
    size_t atom; /* bytes of the items that byte order applies to; 0 for a struct */
    size_t size, portable;
    bool dense; /* no padding */
    size_t nfields;
    dome_field *fields;
    dome_type_ops *ops; /* of a struct type; NULL: no arithmetic */
};

/* The basic types by kind, for static initializers; dome_type_basic returns their addresses. */
extern const struct dome_type_desc dome__basic_types[DOME_KIND_STRUCT];

#endif
