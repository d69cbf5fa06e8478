/* Targets that no longer exist: freed blocks, closed streams, variables of functions that have returned. A pointer to one cannot
 * be used, so a checkpoint may hold it as a pointer that leads nowhere. */
#ifndef DOME_SRC_HEAP_DANGLING_H
#define DOME_SRC_HEAP_DANGLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stack below the frame of the function that calls the program, all of whose functions have returned. */
typedef struct dome_capture_dangling_stack {
    uintptr_t lowest, frame;
} dome_capture_dangling_stack;

/* own_frame: that of the function that calls the program. */
void dome__capture_dangling_begin(const void *own_frame);

/* Memory was given back, or is used again. Blocks in slabs are known without that. */
void dome__capture_dangling_add(const void *memory, size_t bytes);
void dome__capture_dangling_cut(const void *memory, size_t bytes);

/* Whether an address lies in such memory, for an address that leads to nothing that is known. */
bool dome__capture_is_dangling(const void *address);

#endif
