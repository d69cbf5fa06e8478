/* Tells other tasks which operation a task is in. */
#ifndef DOME_SRC_STAMP_H
#define DOME_SRC_STAMP_H

#include <stdint.h>

/* Sent with every message, so that a receiver in another operation notices. */
typedef struct dome_stamp {
    uint64_t sequence;  /* number of the operation */
    uint64_t history;   /* hash of all operations up to this one, with their arguments */
    uint64_t object;    /* id of its object, 0 if none */
    uint32_t operation; /* dome_operation code (src/core/operation.h) */
} dome_stamp;

#endif
