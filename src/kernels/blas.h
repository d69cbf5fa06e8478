/* Products of matrices in memory, by a BLAS or by plain loops. A matrix lies in memory row by row.
 *
 * The BLAS is a shared library, which is loaded when it is first needed: a large one that starts threads of its own, which
 * programs without products can do without. */
#ifndef DOME_SRC_BLAS_H
#define DOME_SRC_BLAS_H

#include <dome/type.h>

#include <stdbool.h>
#include <stdint.h>

/* Loads the BLAS, and tells which it is and what it computes with on this processor: where the texts are equal, so are the bits.
 * NULL: there is none. The text stays valid. */
const char *dome__blas_name(void);

/* The same with another library, if none has been loaded. */
const char *dome__blas_load(const char *library);

/* Between these calls the BLAS uses no threads of its own. `begin` returns what `end` needs. */
int dome__blas_begin(void);
void dome__blas_end(int before);

/* C = A B, for A of rows x inner and B of inner x columns values of type DOME_F32 or DOME_F64. C overlaps neither. By plain loops
 * each value is the sum of its products in their order, from 0 on. by_blas: by the BLAS, which must be there. */
void dome__multiply(dome_type type, bool by_blas, uint64_t rows, uint64_t inner, uint64_t columns, const void *a, const void *b,
                    void *c);

/* C = A^T B, for `inner` columns of A, whose rows are `stride` values apart, and B of rows x columns. Likewise. */
void dome__multiply_transposed(bool by_blas, uint64_t rows, uint64_t inner, uint64_t columns, const double *a, uint64_t stride,
                               const double *b, double *c);

#endif
