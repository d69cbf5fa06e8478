/* Kernels of reductions: the contribution of one block.
 *
 * Floating-point sums and products of a block are computed from 16 partial ones, of its values number j, j + 16, j + 32, ...,
 * which are then combined in pairs: j with j + 8, with j + 4, with j + 2, with j + 1. All in double precision, each operation
 * rounded on its own; float terms are computed from values widened to double. Integers are summed exactly. */
#ifndef DOME_SRC_KERNELS_REDUCE_H
#define DOME_SRC_KERNELS_REDUCE_H

#include "kernels/exact_sum.h"
#include "kernels/kernels.h"

#include <dome/type.h>

#include <string.h>

typedef enum dome_terms {
    DOME_TERMS_SUM,     /* x; complex: real parts, imaginary parts */
    DOME_TERMS_DOT,     /* x * y; complex: conj(x) * y = (xr yr + xi yi) + (xr yi - xi yr) i */
    DOME_TERMS_SQUARES, /* |x|^2; complex: xr xr + xi xi */
    DOME_TERMS_SCALED,  /* |x * scale[0] * scale[1]|^2, floating point only */
    DOME_TERMS
} dome_terms;

/* Adds the sum of each block of count values to sums[0], and the imaginary part to sums[1] if there is one. A block has `block`
 * values; the last one may be shorter. y is used for DOT only, scale for SCALED only. */
typedef void (*dome_sum_kernel)(const void *x, const void *y, uint64_t count, uint64_t block, const double scale[2],
                                dome_exact_sum sums[2]);

/* NULL if the type has no such sum. */
dome_sum_kernel dome__sum_kernel(dome_terms terms, dome_type type);

/* The same sum piece by piece, for float and double: adds the terms of count values to the partial sums. The length of each piece
 * but a block's last is a multiple of DOME_PARTS. NULL for other types and terms. */
#define DOME_PARTS 16
typedef void (*dome_parts_kernel)(const void *x, const void *y, uint64_t count, double part[DOME_PARTS]);
dome_parts_kernel dome__parts_kernel(dome_terms terms, dome_type type);

/* Combines the partial sums, in the compiler's vector types. */
static inline double dome__fold_parts(const double part[DOME_PARTS])
{
    typedef double eight __attribute__((vector_size(64)));
    typedef double four __attribute__((vector_size(32)));
    typedef double two __attribute__((vector_size(16)));
    eight a, b;
    four c, d;
    two e, f;
    memcpy(&a, part, sizeof a);
    memcpy(&b, part + 8, sizeof b);
    a += b;
    memcpy(&c, &a, sizeof c);
    memcpy(&d, (char *)&a + sizeof c, sizeof d);
    c += d;
    memcpy(&e, &c, sizeof e);
    memcpy(&f, (char *)&c + sizeof e, sizeof f);
    e += f;
    return e[0] + e[1];
}

/* The product of the values of one block: product[0], and product[1] for complex types. NULL for structs. */
typedef void (*dome_product_kernel)(const void *x, uint64_t count, double product[2]);
dome_product_kernel dome__product_kernel(dome_type type);

/* product = product * factor, computed as in the kernels. */
static inline void dome__multiply(bool is_complex, double product[2], const double factor[2])
{
    if (!is_complex) {
        product[0] *= factor[0];
        return;
    }
    double re = DOME_ROUNDED(product[0] * factor[0]) - DOME_ROUNDED(product[1] * factor[1]);
    product[1] = DOME_ROUNDED(product[0] * factor[1]) + DOME_ROUNDED(product[1] * factor[0]);
    product[0] = re;
}

/* The smallest value seen, and its first position. Of two, the better one has the smaller key, or the same key and the smaller
 * position: an order that does not depend on the order of the search. */
typedef struct dome_extreme {
    uint64_t key;      /* increases with the value (for the largest value: decreases); NaN: 0 */
    uint64_t position; /* of the value; UINT64_MAX if there is none yet */
    uint64_t bits;     /* the value: integers as 64 bits with sign or without, floating point as the bits of a double */
} dome_extreme;

#define DOME_EXTREME_NONE ((dome_extreme){UINT64_MAX, UINT64_MAX, 0})

/* Updates `best` with count values, the first of which is at `position`. For the largest value if `largest`. Real types only. */
typedef void (*dome_extreme_kernel)(dome_extreme *best, const void *x, uint64_t count, uint64_t position, bool largest);
dome_extreme_kernel dome__extreme_kernel(dome_type type);
static inline void dome__extreme_merge(dome_extreme *best, const dome_extreme *other)
{
    if (other->key < best->key || (other->key == best->key && other->position < best->position))
        *best = *other;
}

/* The largest magnitude of a real or imaginary part, for floating point without NaN. */
double dome__largest_part(dome_type type, const void *x, uint64_t count);

#endif
