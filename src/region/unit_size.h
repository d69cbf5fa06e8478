/* Sizes of units, and whose home a unit has. A unit consists of whole pages of every member's machine (Stardust's heterogeneous
 * page, section 2). Where data formats differ it also consists of whole values, so many on each machine. */
#ifndef DOME_SRC_REGION_UNIT_SIZE_H
#define DOME_SRC_REGION_UNIT_SIZE_H

#include "core/environment.h"
#include "core/layout.h"

typedef struct dome_unit_size {
    uint64_t values; /* of a unit; 0: no unit need have whole ones */
    uint64_t bytes;  /* of a unit in this task's memory */
    uint64_t units;  /* of a region; the caller's */
} dome_unit_size;

/* For values of a type. Collective. Fails by dome__fail; what: "'image'". */
int dome__unit_size_agree(dome_env *env, const char *what, dome_type type, dome_unit_size *size);

/* The fewest elements of so many bytes that are whole units. */
uint64_t dome__unit_size_elements(uint64_t unit, uint64_t element);

/* The rank that owns the first element of a unit: a block of that layout has it. */
int dome__unit_size_owner(const dome_layout *layout, uint64_t element, uint64_t unit_bytes, uint64_t unit);

#endif
