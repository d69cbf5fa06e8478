/* Kernels: the loops of element-wise operations over plain memory, one function for each operation and type, found by table.
 *
 * They know nothing of vectors or tasks. A kernel gets runs of corresponding values; the output may be one of the inputs (the
 * same address), but must not partly overlap one.
 *
 * The bits of results where C leaves them open (every variant must give the same):
 * - Floating point: each + - * / is rounded on its own, to the type of the vector.
 * - Integers wrap around; the smallest signed number divided by -1 is itself. Division truncates towards 0.
 * - min(x, y) is x if x < y or x is NaN, else y; max likewise with >. So of two zeros the second is taken.
 * - Complex: x + y and x - y by parts. x * y = (xr yr - xi yi) + (xr yi + xi yr) i. x / y by R. Smith's method (CACM 5, 1962,
 *   p. 435): for |yr| >= |yi|, with r = yi / yr and d = yr + yi r, ((xr + xi r) / d) + ((xi - xr r) / d) i; otherwise, with
 *   r = yr / yi and d = yr r + yi, ((xr r + xi) / d) + ((xi r - xr) / d) i. Division by 0 gives NaN.
 *   A scalar operand a is real: x + a and x - a change the real part only, x * a and x / a treat the parts apart.
 *   abs is hypot of the parts; sqrt, exp, log, sin, cos, pow are the C library's complex functions.
 * - The payload and sign of a NaN are not specified: processors differ. */
#ifndef DOME_SRC_KERNELS_H
#define DOME_SRC_KERNELS_H

#include <dome/structure.h>
#include <stdbool.h>

/* A product that is rounded before it is added. -ffp-contract=off should ensure that, but gcc from 12 on still turns (a b - c d,
 * a d + c b) into fused operations where it vectorizes for processors that have them. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define DOME_ROUNDED(product) __builtin_assoc_barrier(product)
#endif
#endif
#ifndef DOME_ROUNDED
#define DOME_ROUNDED(product) (product)
#endif

typedef struct dome_kernel_args {
    void *out;
    const void *in[3];
    double a;                 /* the scalar operand; exact in integer types, rounded to float for F32 and C64 */
    uint64_t seed;            /* random */
    const void *value;        /* fill_value: one value */
    uint64_t first;           /* element number of the first value: index, random */
    uint64_t width;           /* values per element */
    size_t bytes;             /* of a value: fill_value, copy, select, struct types */
    const dome_type_ops *ops; /* of a struct type */
} dome_kernel_args;

/* Blocks of this many values are processed by loops of a length that the compiler knows. */
#define DOME_KERNEL_TILE 64

/* Processes count values (whole elements). Returns count, or the number of the first value whose result does not exist (an
 * integer divided by zero); such values become 0 and the others are right. */
typedef uint64_t (*dome_kernel)(const dome_kernel_args *args, uint64_t count);

/* The kernel of an element-wise operation, or NULL if it does not exist for the types. For comparisons and select `type` is that
 * of the values compared or chosen; for all others that of the output. from: convert's input type, otherwise ignored. */
dome_kernel dome__kernel(dome_operation_code code, dome_type type, dome_type from);

/* The kernel of two operations in one, for floating point: the first has the operands in[0] and in[1] (or in[0] and a, or in[0]
 * alone), the second its result and in[2]. left: the result is the left operand of the second. NULL: there is no such kernel. */
dome_kernel dome__pair_kernel(dome_operation_code first, dome_operation_code second, bool left, dome_type type);

/* The kernel of fill_value, for any type. */
uint64_t dome__kernel_fill_value(const dome_kernel_args *args, uint64_t count);

/* Variants: the same loops compiled for processors with wider vectors, with the same bits as results. The widest variant that
 * this processor supports is used. Sets a limit: name is avx512, avx2, baseline (at most these) or auto (no limit). False for any
 * other name. */
bool dome__kernels_limit(const char *name);

/* The variant in use. */
const char *dome__kernels_name(void);

/* How many bytes ahead reductions prefetch: for the processor that this is. */
extern size_t dome__read_ahead;

/* Whether a double is exactly a value of the type (complex: of its parts). Always true for floating point. */
bool dome__exact_in(dome_type type, double value);

#endif
