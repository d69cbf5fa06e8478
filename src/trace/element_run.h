/* Neighbouring elements of a region. */
#ifndef DOME_SRC_TRACE_ELEMENT_RUN_H
#define DOME_SRC_TRACE_ELEMENT_RUN_H

#include <stdint.h>

typedef struct dome_element_run {
    uint64_t first, count;
} dome_element_run;

#endif
