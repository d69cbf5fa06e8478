#include "system/basic_types.h"

const struct dome_type_desc dome__basic_types[DOME_KIND_STRUCT] = {
#define TYPE_DESC(name_, ctype, suffix)                                                                                          \
    [DOME_KIND_##name_] = {                                                                                                      \
        .name = #suffix,                                                                                                         \
        .kind = DOME_KIND_##name_,                                                                                               \
        .atom = DOME_KIND_##name_ >= DOME_KIND_C64 ? sizeof(ctype) / 2 : sizeof(ctype),                                          \
        .size = sizeof(ctype),                                                                                                   \
        .portable = sizeof(ctype),                                                                                               \
        .dense = true,                                                                                                           \
    },
    DOME_TYPE_LIST(TYPE_DESC)
#undef TYPE_DESC
};

dome_type dome_type_basic(dome_type_kind kind)
{
    return (unsigned)kind < DOME_KIND_STRUCT ? &dome__basic_types[kind] : NULL;
}
