/* Operands that are repeated: one value for all values of an element, or one element for all elements. */
#ifndef DOME_SRC_REPEAT_H
#define DOME_SRC_REPEAT_H

#include "kernels/kernels.h"

/* Where a run of values begins: at value number `skipped` of an element of `width` values. bytes: of a value. */
typedef struct dome_repeat {
    uint64_t width, skipped;
    size_t bytes;
} dome_repeat;

/* to[v] = from[(skipped + v) / width], for count values. */
void dome__repeat_values(void *to, const void *from, const dome_repeat *repeat, uint64_t count);

/* to[v] = row[(skipped + v) % width], for count values. */
void dome__repeat_row(void *to, const void *row, const dome_repeat *repeat, uint64_t count);

/* The same as kernels: of in[0], or of the row at args->value. */
uint64_t dome__kernel_repeat_values(const dome_kernel_args *args, uint64_t count);
uint64_t dome__kernel_repeat_row(const dome_kernel_args *args, uint64_t count);

#endif
