/* For the files that call slots of objects' operation tables. */
#ifndef DOME_SRC_CORE_SLOT_H
#define DOME_SRC_CORE_SLOT_H

#include "core/handle.h"

/* A slot, or NULL if it is empty or the table is of a version without it. */
#define SLOT(object, slot)                                                                                                       \
    ((object)->ops->size >= offsetof(dome_object_ops, slot) + sizeof(object)->ops->slot ? (object)->ops->slot : NULL)

#endif
