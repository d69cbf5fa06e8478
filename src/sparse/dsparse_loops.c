/* The loops of products of sparse matrices, for each type of values. */
#include "sparse/dsparse_product.h"

#include "kernels/kernels.h"

#include <string.h>

#define SET_REAL_PRODUCT(z, v, x) ((z) = (v) * (x))
#define ADD_REAL(z, v)            ((z) += (v))
#define SET_COMPLEX_PRODUCT(z, v, x)                                                                                             \
    ((z).re = DOME_ROUNDED((v).re * (x).re) - DOME_ROUNDED((v).im * (x).im),                                                     \
     (z).im = DOME_ROUNDED((v).re * (x).im) + DOME_ROUNDED((v).im * (x).re))
#define ADD_COMPLEX(z, v) ((z).re += (v).re, (z).im += (v).im)

/* Integers are added and multiplied modulo 2^32 or 2^64, with or without a sign. */
#define VALUE       uint32_t
#define NAME(f)     f##_i32
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "sparse/dsparse_loops.h"

#define VALUE       uint64_t
#define NAME(f)     f##_i64
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "sparse/dsparse_loops.h"

#define VALUE       float
#define NAME(f)     f##_f32
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "sparse/dsparse_loops.h"

#define VALUE       double
#define NAME(f)     f##_f64
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "sparse/dsparse_loops.h"

#define VALUE       dsparse_c64
#define NAME(f)     f##_c64
#define SET_PRODUCT SET_COMPLEX_PRODUCT
#define ADD         ADD_COMPLEX
#include "sparse/dsparse_loops.h"

#define VALUE       dsparse_c128
#define NAME(f)     f##_c128
#define SET_PRODUCT SET_COMPLEX_PRODUCT
#define ADD         ADD_COMPLEX
#include "sparse/dsparse_loops.h"

const dsparse_loops *dsparse__loops(const dsparse *a)
{
#define LOOPS(s)                                                                                                                 \
    {                                                                                                                            \
        near_##s, far_##s, wide_##s, more_##s, scatter_##s, products_##s, add_##s                                                \
    }
    static const dsparse_loops i32 = LOOPS(i32), i64 = LOOPS(i64), f32 = LOOPS(f32), f64 = LOOPS(f64), c64 = LOOPS(c64),
                               c128 = LOOPS(c128);
#undef LOOPS
    switch ((int)a->kind) {
    case DOME_KIND_I32:
        return &i32;
    case DOME_KIND_I64:
        return &i64;
    case DOME_KIND_F32:
        return &f32;
    case DOME_KIND_C64:
        return &c64;
    case DOME_KIND_C128:
        return &c128;
    default:
        return &f64;
    }
}
