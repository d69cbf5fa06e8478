/* Distributed vectors.
 *
 * A dvec is a vector of n elements in blocks over the tasks of a program (layout.h). An element is
 * `width` values of one type, so a matrix is a vector of rows. Values are stored row by row: value
 * k of element i is value number i * width + k.
 *
 * Conventions
 * - "Collective in order": every task makes the same calls in the same order with equal arguments,
 *   but the call does not communicate. "Collective": the call may also communicate and wait. The
 *   next communication finds tasks that disagree and reports them (DOME_ERR_MISMATCH). After
 *   dome_set_errors_return both kinds may communicate, so that an error that one task finds
 *   (memory, deferred work) is returned on all tasks.
 * - The output is the first argument: dvec_add(z, x, y) is z = x + y. An output may be one of the
 *   inputs.
 * - Functions that return no value return a dome_status. error.h lists what functions return on
 *   failure.
 * - Element-wise functions may defer their work. The values are computed when something needs them:
 *   a reduction, a pointer, a file, the movement of data. Deferring changes no result: calls take
 *   effect in the order in which the program makes them.
 * - Operands of an element-wise function agree in length, width, block size and distribution; inputs
 *   may also be DOME_WHOLE, whatever the output is, or be repeated (see below). dvec_copy also converts
 *   between distributions.
 * - Operands of another basic type than the output are first converted to the output's type, as
 *   dvec_convert does, and the operation is done in that type (NumPy: dtype=z.dtype,
 *   casting="unsafe"). So F64 = F32 + I64 adds in double precision, and F32 = F64 * F64 rounds both
 *   factors before it multiplies. Complex to real is DOME_ERR_TYPE. dvec_copy, dvec_select,
 *   comparisons, functions that need a type of their own (masks, parts of complex values), those with
 *   a complex scalar and struct types need equal types.
 * - Integer arithmetic wraps around as unsigned arithmetic does. An integer divided by zero is
 *   DOME_ERR_RANGE (see below). min and max of floating-point values are NaN if an operand is NaN.
 *   Elements of struct types can be copied, filled, moved, mapped, read and written; their
 *   arithmetic is that of dome_type_set_ops (type.h).
 * - Results have the same bits for any number of tasks and any layout. + - * / and sqrt of real
 *   values are IEEE 754 operations, rounded once and never contracted; complex * and / consist of
 *   these (x / y by Smith's method); fmod and rounding to whole numbers are exact. All other
 *   functions (exp, sin, pow, ...; complex sqrt) are the C library's: their results are equal where
 *   the hosts' C libraries are. docs/numerics.md has the formulas and the rules for signed zeros.
 *
 * Repeated operands (NumPy: broadcasting)
 * - An input of width 1 beside an output of another width gives its value to all values of the element:
 *   dvec_mul(z, x, w) multiplies row i of x by w[i] (shapes (n, k) and (n, 1) in NumPy).
 * - An input of one element that is DOME_WHOLE is the same for all elements: dvec_sub(z, x, mean)
 *   subtracts the row `mean` from each row of x (shapes (n, k) and (1, k)); with width 1 it is one
 *   value for all. Element-wise functions read it when they are called, and report it if it is failed.
 * - Repeated operands work in all element-wise functions except those with a complex or struct
 * scalar, in dvec_copy if nothing is redistributed, and in the loops of map.h and loop.h. In a loop
 * without an output, the widest of the
 *   inputs counts as the output. Outputs are not repeated, nor are operands of reductions.
 *
 * Values that cannot be computed
 * - An integer divided by zero, and 0 raised to a negative integer power, have no value. The whole
 *   output vector is then failed, and so is every vector computed from it. The element-wise
 *   function itself reports nothing.
 * - The first call that needs the values of a failed vector reports DOME_ERR_RANGE; its line names
 *   the operation, the output and the element. Every later call that needs them fails too, until
 *   the whole vector is overwritten. The calls that need values are the reductions, dvec_allgather,
 *   dvec_print, dvec_text, dvec_get, dvec_get_many, dvec_local_spans, dvec_halo_elements,
 *   dvec_halo_planes, dvec_write, dvec_write_zarr, and dvec_copy to another distribution; dvec_scan,
 *   dvec_roll, dvec_shift, dvec_gather, dvec_scatter, dvec_scatter_add, dvec_map, dvec_stencil,
 *   dsparse_multiply, dsparse_multiply_transposed, dsparse_scale_rows, dsparse_submatrix, the
 *   functions of arrays.h and ndim.h, and the loops of map.h and loop.h, for their inputs; dvec_scatter,
 *   dvec_scatter_add, dvec_stencil and the loops of loop.h also for their outputs.
 * - No other call fails: calls on other vectors, and calls that move, overwrite or free the failed
 *   vector, succeed. While a named vector is failed, no checkpoint can be written; a line reports
 *   that.
 * - dome_finalize reports a failed vector if no call has reported its operation.
 * - These rules hold for any number of tasks, any layout and any --dome-evaluator. If several
 *   operations have failed, the line names the earliest operation and its first element. */
#ifndef DOME_DVEC_H
#define DOME_DVEC_H

#include <dome/error.h>
#include <dome/layout.h>
#include <dome/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dvec dvec;

typedef struct dvec_options {
    size_t size;                    /* sizeof(dvec_options); DVEC_OPTIONS sets it */
    dome_distribution distribution; /* DOME_DYNAMIC unless set */
    size_t width;                   /* values per element; 0 means 1 */
    uint64_t block;                 /* elements per block, a power of two; 0 means dome_block_size(n) */
} dvec_options;

/* Options written inside a call, in C and C++: dvec_new_with(env, "a", DOME_F64, n,
 * DVEC_OPTIONS(.width = 100)). Other members are 0. The value is a const dvec_options * that is
 * valid until the call returns. */
#ifndef __cplusplus
#define DVEC_OPTIONS(...) (&(const dvec_options){.size = sizeof(dvec_options), __VA_ARGS__})
#else
#define DVEC_OPTIONS(...)                                                                                                        \
    dvec_options_in_([&] {                                                                                                       \
        dvec_options o_ = {};                                                                                                    \
        o_.size = sizeof o_;                                                                                                     \
        DVEC_OPTIONS_SET_(__VA_ARGS__);                                                                                          \
        return o_;                                                                                                               \
    }())
/* One macro for each number of members. */
#define DVEC_OPTIONS_COUNT_(a, b, c, d, e, f, name, ...) name
#define DVEC_OPTIONS1_(a)                                o_ a
#define DVEC_OPTIONS2_(a, b)                             o_ a, o_ b
#define DVEC_OPTIONS3_(a, b, c)                          o_ a, o_ b, o_ c
#define DVEC_OPTIONS4_(a, b, c, d)                       o_ a, o_ b, o_ c, o_ d
#define DVEC_OPTIONS5_(a, b, c, d, e)                    o_ a, o_ b, o_ c, o_ d, o_ e
#define DVEC_OPTIONS6_(a, b, c, d, e, f)                 o_ a, o_ b, o_ c, o_ d, o_ e, o_ f
#define DVEC_OPTIONS_SET_(...)                                                                                                   \
    DVEC_OPTIONS_COUNT_(__VA_ARGS__, DVEC_OPTIONS6_, DVEC_OPTIONS5_, DVEC_OPTIONS4_, DVEC_OPTIONS3_, DVEC_OPTIONS2_,             \
                        DVEC_OPTIONS1_, )                                                                                        \
    (__VA_ARGS__)
extern "C++" inline const dvec_options *dvec_options_in_(const dvec_options &options)
{
    return &options;
}
#endif

/* ---- creating and freeing ---- */

/* A new vector of n elements, all 0. n may be 0, and may be smaller than the number of tasks.
 * Messages, checkpoints and traces use `name`; with NULL or "" the library makes one up, and the
 * vector is in no checkpoint. A vector with a name of its own is restored from the checkpoint while
 * the program restarts (dome_is_restarting). options may be NULL. Collective in order. env owns the
 * vector until dvec_free or dome_finalize. NULL on failure: DOME_ERR_ARGUMENT, DOME_ERR_NAME (a
 * live object has the name), DOME_ERR_MEMORY; on a restart also the errors of dome_object_new
 * (structure.h). */
dvec *dvec_new(dome_env *env, const char *name, dome_type type, uint64_t n);
dvec *dvec_new_with(dome_env *env, const char *name, dome_type type, uint64_t n, const dvec_options *options);

/* A new vector with the type, length, width, shape, block size and distribution of x, all 0 (PETSc:
 * VecDuplicate); dvec_clone also copies x's values, as dvec_copy does. Collective in order. NULL on
 * failure, as dvec_new. */
dvec *dvec_new_like(const dvec *x, const char *name);
dvec *dvec_clone(const dvec *x, const char *name);

/* Frees a vector. Deferred work that reads it is done first. NULL is allowed. Collective in order.
 */
void dvec_free(dvec *x);

/* Says that the program needs the values of x no more. They are arbitrary from now on. A recorded
 * operation that computes x for nothing else is dropped; recorded operations that read x stay
 * right. It saves the time and memory traffic of temporaries that are used again. Not
 * collective. NULL is allowed. */
void dvec_discard(dvec *x);

/* Not collective. The name belongs to the vector; dvec_object is its handle for structure.h. */
dome_env *dvec_env(const dvec *x);
const char *dvec_name(const dvec *x);
dome_type dvec_type(const dvec *x);
uint64_t dvec_length(const dvec *x); /* elements */
size_t dvec_width(const dvec *x);    /* values per element */
dome_distribution dvec_distribution(const dvec *x);
dome_object *dvec_object(const dvec *x);

/* ---- shapes ----
 *
 * The values of a vector can be those of an array of several dimensions, row by row (C order): the
 * first dimensions count the elements, and an element consists of what the last ones span. A vector
 * of 6 elements of width 4 can have the shape (6, 4), (2, 3, 4), (2, 3, 2, 2), ... The shape is that
 * of the vector's files, and dvec_halo_planes fetches whole planes of it. Element-wise functions and
 * reductions do not look at shapes, and leave that of their output as it is. */

enum { DOME_MAX_DIMENSIONS = 8 };

/* Gives x the shape (shape[0], ..., shape[ndim - 1]); ndim 0 gives back the default one. Some number
 * of the first dimensions (none: 1) has the product dvec_length, and the others have the product
 * dvec_width, else DOME_ERR_SHAPE. Checkpoints keep the shape: a restarted program's vector has it
 * again when it is made. Collective in order. DOME_ERR_ARGUMENT. */
dome_status dvec_set_shape(dvec *x, int ndim, const uint64_t shape[]);

/* Fills the shape and returns the number of dimensions. Without a shape of its own a vector has (n),
 * or (n, width) if the width is not 1. 0 on failure. Not collective. */
int dvec_shape(const dvec *x, uint64_t shape[DOME_MAX_DIMENSIONS]);

/* ---- element-wise functions: collective in order; may be deferred ---- */

/* Sets all values to `value`. In an integer type it must be exact (DOME_ERR_RANGE); in a complex
 * type it is the real part. */
dome_status dvec_fill(dvec *z, double value);

/* Sets all values to *value, a value of the vector's own type, struct types included. The library
 * copies it before the call returns. */
dome_status dvec_fill_value(dvec *z, const void *value);

/* z = x. Between vectors of different distribution or block size, but equal length, width and type,
 * it communicates and is collective. */
dome_status dvec_copy(dvec *z, const dvec *x);

/* z = x, each value converted to z's type. Conversion to an integer type rounds towards zero,
 * saturates at the limits of the type, and turns NaN into 0. Complex to real is DOME_ERR_TYPE. */
dome_status dvec_convert(dvec *z, const dvec *x);

dome_status dvec_add(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_sub(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_mul(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_div(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_min(dvec *z, const dvec *x, const dvec *y); /* not for complex; of two zeros y's, as in max */
dome_status dvec_max(dvec *z, const dvec *x, const dvec *y); /* not for complex */
dome_status dvec_pow(dvec *z, const dvec *x,
                     const dvec *y); /* integers: x to a negative y is 0 but for x = 1, -1; x = 0: DOME_ERR_RANGE */

/* The same with a scalar as second operand. In an integer type it must be exact (DOME_ERR_RANGE);
 * for F32 and C64 it is rounded to float. For complex types it is real: x + a and x - a leave the
 * imaginary part unchanged. */
dome_status dvec_adds(dvec *z, const dvec *x, double a);
dome_status dvec_subs(dvec *z, const dvec *x, double a);
dome_status dvec_muls(dvec *z, const dvec *x, double a);
dome_status dvec_divs(dvec *z, const dvec *x, double a);
dome_status dvec_mins(dvec *z, const dvec *x, double a);
dome_status dvec_maxs(dvec *z, const dvec *x, double a);
dome_status dvec_pows(dvec *z, const dvec *x, double a);

/* The same with the scalar as first operand (r: reversed, as NumPy's __rsub__): a - x, a / x, and a
 * to the power x. Complex: a - x has the parts a - real(x) and -imag(x). Integers: x = 0 in
 * dvec_rdivs, and a = 0 to a negative power in dvec_rpows, are DOME_ERR_RANGE. */
dome_status dvec_rsubs(dvec *z, const dvec *x, double a);
dome_status dvec_rdivs(dvec *z, const dvec *x, double a);
dome_status dvec_rpows(dvec *z, const dvec *x, double a);

/* The remainder of x / y, with the quotient truncated towards 0, so it has the sign of x (C's fmod
 * and %; NumPy's fmod, not its %). Real and integer types. Exact. Integers: y = 0 is
 * DOME_ERR_RANGE; the smallest signed number by -1 gives 0. Floating point: y = 0 or an infinite x
 * gives NaN. */
dome_status dvec_fmod(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_fmods(dvec *z, const dvec *x, double a);

/* The quotient x / y rounded down, and the remainder that belongs to it, which has the sign of y
 * (Python's and NumPy's // and %, NumPy: floor_divide, remainder, mod; not C's / and %, which are
 * dvec_div and dvec_fmod of integers, and not C's remainder). Real and integer types. Integers: y = 0 is
 * DOME_ERR_RANGE; the smallest signed number by -1 is itself, with remainder 0. Floating point: the
 * remainder is exact unless y was added to it, and the quotient is a whole number; y = 0 gives x / y
 * and NaN; a zero remainder has the sign of y. */
dome_status dvec_floor_divide(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_floor_divides(dvec *z, const dvec *x, double a);
dome_status dvec_remainder(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_remainders(dvec *z, const dvec *x, double a);

/* x with the sign of y (C's copysign); the next value after x towards y (C's nextafter); log(exp(x) +
 * exp(y)) without intermediate overflow. Real floating point. */
dome_status dvec_copysign(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_nextafter(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_logaddexp(dvec *z, const dvec *x, const dvec *y);

/* atan2: the angle of the point (x, y) in -pi ... pi, as C's atan2(y, x), signed zeros included.
 * hypot: sqrt(x^2 + y^2) without intermediate overflow. Real floating point. */
dome_status dvec_atan2(dvec *z, const dvec *y, const dvec *x);
dome_status dvec_hypot(dvec *z, const dvec *x, const dvec *y);

/* y = y + a * x, with the product rounded before the sum (BLAS axpy without contraction). */
dome_status dvec_axpy(dvec *y, double a, const dvec *x);

/* y = a * x + b * y (PETSc: VecAXPBY). Both products are rounded, then their sum: the result of
 * dvec_muls of y by b, then dvec_axpy. */
dome_status dvec_axpby(dvec *y, double a, const dvec *x, double b);

/* z = c[0] * x[0] + ... + c[n - 1] * x[n - 1], from left to right; each product is rounded, then
 * each sum (SUNDIALS: N_VLinearCombination, with n = 2 N_VLinearSum; PETSc: VecMAXPY adds to z). z
 * may be any of the x. n is at least 1 and at most 2^24. Each vector is read once. */
dome_status dvec_linear_combination(dvec *z, size_t n, const double c[], const dvec *const x[]);

/* The same with a complex scalar a[0] + a[1] i, for complex vectors (else DOME_ERR_TYPE). The bits
 * are those of dvec_add, ... with a vector filled with a; axpy adds the product of dvec_mul. For
 * C64 both parts are rounded to float. */
dome_status dvec_fill_c128(dvec *z, const double value[2]);
dome_status dvec_adds_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_subs_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_muls_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_divs_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_axpy_c128(dvec *y, const double a[2], const dvec *x);

/* y = y + a * x for a struct type with `mul` and `add`; *a is a value of the type. */
dome_status dvec_axpy_struct(dvec *y, const void *a, const dvec *x);

dome_status dvec_neg(dvec *z, const dvec *x);
dome_status dvec_abs(dvec *z, const dvec *x);  /* complex: the modulus as real + 0i */
dome_status dvec_sign(dvec *z, const dvec *x); /* -1, 0 or 1; NaN of NaN; complex: x / |x|, 0 of 0 */
dome_status dvec_sqrt(dvec *z, const dvec *x); /* sqrt, exp, log, sin, cos: floating point and complex types */
dome_status dvec_exp(dvec *z, const dvec *x);
dome_status dvec_log(dvec *z, const dvec *x);
dome_status dvec_sin(dvec *z, const dvec *x);
dome_status dvec_cos(dvec *z, const dvec *x);
dome_status dvec_tan(dvec *z, const dvec *x); /* tan ... atanh: floating point and complex types */
dome_status dvec_asin(dvec *z, const dvec *x);
dome_status dvec_acos(dvec *z, const dvec *x);
dome_status dvec_atan(dvec *z, const dvec *x);
dome_status dvec_sinh(dvec *z, const dvec *x);
dome_status dvec_cosh(dvec *z, const dvec *x);
dome_status dvec_tanh(dvec *z, const dvec *x);
dome_status dvec_asinh(dvec *z, const dvec *x);
dome_status dvec_acosh(dvec *z, const dvec *x);
dome_status dvec_atanh(dvec *z, const dvec *x);
dome_status dvec_exp2(dvec *z, const dvec *x);  /* 2^x; from here on: real floating point only */
dome_status dvec_expm1(dvec *z, const dvec *x); /* exp(x) - 1, also right for small x */
dome_status dvec_log2(dvec *z, const dvec *x);
dome_status dvec_log10(dvec *z, const dvec *x);
dome_status dvec_log1p(dvec *z, const dvec *x); /* log(1 + x), also right for small x */
dome_status dvec_cbrt(dvec *z, const dvec *x);
dome_status dvec_erf(dvec *z, const dvec *x);
dome_status dvec_erfc(dvec *z, const dvec *x); /* 1 - erf(x) */

/* Rounding to whole numbers: down, up, towards 0, and to the nearest with halves to even (NumPy's
 * round and rint; C's round takes halves away from 0). Exact; a zero result has the sign of x. Real
 * floating point. */
dome_status dvec_floor(dvec *z, const dvec *x);
dome_status dvec_ceil(dvec *z, const dvec *x);
dome_status dvec_trunc(dvec *z, const dvec *x);
dome_status dvec_round(dvec *z, const dvec *x);

/* Parts of complex x. The output of dvec_conj is complex. The output of dvec_real, dvec_imag and
 * dvec_arg has the type of x's parts (F32 for C64, F64 for C128). dvec_arg is the angle in -pi ...
 * pi, atan2 of the parts. dvec_convert makes complex values from real ones. */
dome_status dvec_conj(dvec *z, const dvec *x);
dome_status dvec_real(dvec *z, const dvec *x);
dome_status dvec_imag(dvec *z, const dvec *x);
dome_status dvec_arg(dvec *z, const dvec *x);

/* Comparisons. mask is a DOME_U8 vector: 1 where the relation holds, 0 elsewhere. x and y have the
 * same type. A comparison with NaN gives 0, except ne; zeros of both signs are equal. Complex types
 * have eq and ne only. The scalar a is treated as in dvec_adds. */
dome_status dvec_eq(dvec *mask, const dvec *x, const dvec *y);
dome_status dvec_ne(dvec *mask, const dvec *x, const dvec *y);
dome_status dvec_lt(dvec *mask, const dvec *x, const dvec *y);
dome_status dvec_le(dvec *mask, const dvec *x, const dvec *y);
dome_status dvec_gt(dvec *mask, const dvec *x, const dvec *y);
dome_status dvec_ge(dvec *mask, const dvec *x, const dvec *y);
dome_status dvec_eqs(dvec *mask, const dvec *x, double a);
dome_status dvec_nes(dvec *mask, const dvec *x, double a);
dome_status dvec_lts(dvec *mask, const dvec *x, double a);
dome_status dvec_les(dvec *mask, const dvec *x, double a);
dome_status dvec_gts(dvec *mask, const dvec *x, double a);
dome_status dvec_ges(dvec *mask, const dvec *x, double a);

/* Whether x is NaN, infinite, finite (neither), or has a sign bit (-0.0 and NaN may, too). mask is a
 * DOME_U8 vector: 1 or 0. A complex value is NaN or infinite if one of its parts is (so it may be both), and finite
 * if both parts are; it has no sign bit. Integers are finite, and negative ones have a sign bit. */
dome_status dvec_isnan(dvec *mask, const dvec *x);
dome_status dvec_isinf(dvec *mask, const dvec *x);
dome_status dvec_isfinite(dvec *mask, const dvec *x);
dome_status dvec_signbit(dvec *mask, const dvec *x);

/* Logic on DOME_U8 masks: any value but 0 is true; results are 0 or 1. */
dome_status dvec_and(dvec *mask, const dvec *a, const dvec *b);
dome_status dvec_or(dvec *mask, const dvec *a, const dvec *b);
dome_status dvec_xor(dvec *mask, const dvec *a, const dvec *b);
dome_status dvec_not(dvec *mask, const dvec *a);

/* Bitwise operations on integer types. (dvec_and is for masks: any value but 0 is true.) */
dome_status dvec_bitand(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_bitor(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_bitxor(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_bitands(dvec *z, const dvec *x, double a);
dome_status dvec_bitors(dvec *z, const dvec *x, double a);
dome_status dvec_bitxors(dvec *z, const dvec *x, double a);
dome_status dvec_bitnot(dvec *z, const dvec *x);

/* x shifted by y bits; integer types. lshift fills with 0. rshift fills with the sign in signed
 * types (x / 2^y rounded down), with 0 in others. If y is negative, or at least the number of bits,
 * the result is 0, or -1 for rshift of a negative x (as in NumPy). */
dome_status dvec_lshift(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_rshift(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_lshifts(dvec *z, const dvec *x, double a);
dome_status dvec_rshifts(dvec *z, const dvec *x, double a);

/* z = mask ? x : y for each value. All types, struct types included; z, x and y have the same type.
 */
dome_status dvec_select(dvec *z, const dvec *mask, const dvec *x, const dvec *y);

/* Sets every value to the global index of its element (C++'s iota, NumPy's arange), converted as
 * dvec_convert converts DOME_U64. */
dome_status dvec_iota(dvec *z);

/* Fills z with uniform random numbers that depend on seed and position alone: value p = i * width +
 * k is the same for any layout and machine, and different seeds give independent sequences.
 * Floating point: in [0, 1), with 53 random bits (F32: 24), both parts for complex types. Integers:
 * all bits are random. Generator: Philox4x32-10 with key = seed and counter = p (Salmon, Moraes,
 * Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011). */
dome_status dvec_random(dvec *z, uint64_t seed);

/* The same with normal random numbers of mean 0 and variance 1 (NumPy: standard_normal), in
 * floating-point types; both parts of complex values. The value p has the bits of the inverse normal
 * distribution function at a number of 64 random bits, independent of those of dvec_random with this
 * seed, and F32 is F64 rounded. The bits are the same on all machines, because no function of the C
 * library is used (docs/numerics.md); no value is beyond +-9.16. (M. Wichura: Algorithm AS 241;
 * Applied Statistics 37, 1988.) */
dome_status dvec_random_normal(dvec *z, uint64_t seed);

/* ---- reductions: collective; over all values ----
 *
 * Each block is summed in a fixed order (16 interleaved partial sums over its values, then added in
 * pairs) in double precision. Block sums are added exactly and rounded once, so the bits depend on
 * neither the tasks nor the layout. Integer sums are exact. Products of blocks are formed in the
 * same order and combined along a fixed binary tree. For an empty vector sum, dot and the norms are
 * 0 and prod is 1; its smallest and largest value and their positions are DOME_ERR_ARGUMENT. */

double dvec_sum(const dvec *x);
double dvec_prod(const dvec *x);      /* integers as doubles */
double dvec_min_value(const dvec *x); /* NaN if any value is NaN; among zeros the first */
double dvec_max_value(const dvec *x);
double dvec_dot(const dvec *x, const dvec *y); /* sum of x * y; x may be y; not for complex */
double dvec_norm2(const dvec *x);              /* sqrt of the sum of |x|^2, without intermediate overflow */
double dvec_norm1(const dvec *x);              /* sum of |x|, exact as dvec_sum (PETSc: NORM_1) */
double dvec_norm_inf(const dvec *x);           /* largest |x|; NaN if any value is NaN */
/* n dot products (n from 1 to 2^24) in one exchange between tasks instead of n (PETSc's VecMDot):
 * result[k] is the sum of x[k] * y[k], or of x[k] where y or y[k] is NULL. The bits are those of
 * dvec_dot and dvec_sum. x[k] and y[k] agree in shape and type; different k may differ. On failure
 * all results are NaN. */
dome_status dvec_dots(size_t n, const dvec *const x[], const dvec *const y[], double result[]);

/* The position i * width + k of the first smallest or largest value; of the first NaN if there is
 * one. On failure the position is UINT64_MAX. */
dome_status dvec_argmin(const dvec *x, uint64_t *position);
dome_status dvec_argmax(const dvec *x, uint64_t *position);

/* The same for types that a double cannot hold. _i64: integer types; DOME_ERR_RANGE if the result
 * does not fit. _c128: complex and real types; dot conjugates x (BLAS zdotc); result[0] is the real
 * part, result[1] the imaginary part. */
int64_t dvec_sum_i64(const dvec *x);
int64_t dvec_min_value_i64(const dvec *x);
int64_t dvec_max_value_i64(const dvec *x);
int64_t dvec_dot_i64(const dvec *x, const dvec *y);
dome_status dvec_sum_c128(const dvec *x, double result[2]);
dome_status dvec_prod_c128(const dvec *x, double result[2]);
dome_status dvec_dot_c128(const dvec *x, const dvec *y, double result[2]);

/* The same for struct types with arithmetic (dome_type_set_ops): *result is a value of the type. Sums
 * need `add`, which must be associative and commutative, up to rounding: each block is summed by the
 * type's `sum` or, if it has none, added in 64 interleaved partial sums, which are then added in halves
 * (j and j + 32, ...), and blocks as in dvec_reduce. The sum of no values is all bytes 0. Of values of which none is `less` than
 * the other the first one is taken. dvec_argmin and dvec_argmax accept these types, too. On failure *result keeps its value. */
dome_status dvec_sum_struct(const dvec *x, void *result);
dome_status dvec_min_value_struct(const dvec *x, void *result);
dome_status dvec_max_value_struct(const dvec *x, void *result);

/* Reductions of each column: result[k] is the sum, the smallest or the largest of value k of all
 * elements, with the bits of the column as a vector of its own (NumPy: x.sum(axis=0); PETSc:
 * VecStrideSumAll). result has room for width numbers. For struct types, `field` names a field, or
 * "a.b" for field b of the struct in field a; for other types it is NULL. A field that is an array
 * of m items has m columns, so there are width * m results. Real and integer types; integer sums
 * are exact, then rounded. All columns take one exchange. DOME_ERR_ARGUMENT: no such field, or the
 * smallest or largest value of an empty vector. */
dome_status dvec_column_sums(const dvec *x, const char *field, double result[]);
dome_status dvec_column_min_values(const dvec *x, const char *field, double result[]);
dome_status dvec_column_max_values(const dvec *x, const char *field, double result[]);

/* ---- reductions of your own: collective ----
 *
 * A reduction is given by two functions, which must not call Dome functions. Each may use ctx, which
 * belongs to this task alone.
 *
 * block reduces a block: sets *result from its `count` elements (count * width values at x, at least
 * one element) with the global index `first` of the first one. combine sets *left to *left combined
 * with *right, which stands behind it in the vector. combine must be associative, up to rounding; it
 * need not commute.
 *
 * Blocks are combined along a fixed binary tree over their numbers, the right operand always being
 * the part of the vector behind the left one. So block and combine are called with the same operands,
 * and the result has the same bits, for any number of tasks and any layout.
 * --dome-check-reductions finds functions that are not associative, or whose block does not agree
 * with combine: they are called with three parts of each block, and with each three blocks that
 * follow each other, in two orders. A difference of integers, or one of floating-point numbers beyond
 * 2^-26 (F32: 2^-11) of the largest number involved, is DOME_ERR_RANGE. */
typedef void (*dvec_reduce_kernel)(void *ctx, uint64_t first, size_t count, void *result, const void *x);
typedef void (*dvec_combine)(void *ctx, void *left, const void *right);

/* Reduces x to one value of `type`, which every task gets in *result (MPI: MPI_Op_create and
 * MPI_Allreduce). block NULL: the values themselves are combined, one call for each; then type is
 * x's type. type NULL: x's type. On failure *result keeps its value. DOME_ERR_ARGUMENT for an empty
 * vector. */
dome_status dvec_reduce(const dvec *x, dome_type type, dvec_reduce_kernel block, dvec_combine combine, void *ctx, void *result);

/* ---- movement along the vector: collective ---- */

/* Inclusive prefix sums: z[i] = x[0] + ... + x[i], separately for each of the width values. Real
 * and integer types; integers wrap around. Floating point: z[i] = P + s, where s is the sum from
 * the start of i's block up to i, added in order in double precision (for F32 too), and P is the
 * exact sum of the last s of all blocks before, rounded once. The result is rounded to the type. z
 * may be x. Struct types with `add`, which must be associative up to rounding: z[i] = P + s, where s is
 * added in order from the start of i's block, and P is the sum of the blocks before as the tree of
 * dvec_reduce has it: for block b, one node for each bit of b, from the highest to the lowest. */
dome_status dvec_scan(dvec *z, const dvec *x);

/* z[i] = x[i - k], circular: elements that leave at one end enter at the other (NumPy's roll by k,
 * Fortran's cshift by -k). Any k. z may be x. */
dome_status dvec_roll(dvec *z, const dvec *x, int64_t k);

/* z[i] = x[i - k] without wrapping around: elements that enter are *value, of the vector's own
 * type; NULL means 0 (Fortran's eoshift by -k). Any k. z may be x. */
dome_status dvec_shift(dvec *z, const dvec *x, int64_t k, const void *value);

/* z[i] = x[index[i]]. index has an integer type, width 1, and the length and layout of z. x has any
 * length, and the type and width of z. An index outside 0 ... length(x) - 1 is DOME_ERR_RANGE. */
dome_status dvec_gather(dvec *z, const dvec *x, const dvec *index);

/* z[index[i]] = x[i]. Elements of z that no index names keep their values. If several i name one
 * element, the largest i wins. index is as in dvec_gather, with the layout of x. */
dome_status dvec_scatter(dvec *z, const dvec *x, const dvec *index);

/* z[index[i]] += x[i] for all i in order, with the bits of a loop over i, on any number of tasks
 * (NumPy: add.at; PETSc: ADD_VALUES). Other elements of z keep their values. Integers wrap around;
 * not for struct types. index is as in dvec_scatter. A task stores what others add to its elements
 * until all of it has arrived, so it needs memory for these elements and their indices. */
dome_status dvec_scatter_add(dvec *z, const dvec *x, const dvec *index);

/* Returns all elements, as n * width values to read, on every task (MPI: all-gather). The pointer
 * is valid until x is written or freed, or dvec_allgather(x) is called again, even if data moves.
 * NULL on failure. */
const void *dvec_allgather(const dvec *x);

/* Prints x on rank 0's standard output: a line with its name, type and shape, and below it the values
 * as NumPy prints an array of that shape: all of up to 1000, of more the first and last three along
 * each dimension. Values of struct types show their fields in brackets. Collective. */
dome_status dvec_print(const dvec *x);

/* The same text without the newline at its end, on every task. It is valid until dvec_text(x) is called
 * again or x is freed. Collective. NULL on failure. */
const char *dvec_text(const dvec *x);

/* ---- single elements ---- */

/* Copies element `index`, its width values, to `element` on every task; the owner sends it to the
 * others. Collective. Each call is one broadcast: for more than a few elements use dvec_get_many.
 * DOME_ERR_RANGE for an index beyond the end. */
dome_status dvec_get(const dvec *x, uint64_t index, void *element);

/* Copies the elements index[0], ..., index[n - 1] of x to `elements`, one after the other, in one
 * exchange between tasks (Global Arrays: gather; PETSc's VecGetValues gets local elements only).
 * Each task chooses its own elements; n may be 0. Collective. If a task asks for an element beyond
 * the end, all tasks get DOME_ERR_RANGE. */
dome_status dvec_get_many(const dvec *x, size_t n, const uint64_t index[], void *elements);

/* Sets element `index` to *element, width values of the vector's own type, equal on all tasks; the
 * owner writes it. Collective in order. DOME_ERR_RANGE for an index beyond the end. */
dome_status dvec_set(dvec *x, uint64_t index, const void *element);

/* ---- the local part ---- */

/* A contiguous range of elements in this task's memory: element first + j is at data + j * width
 * values. */
typedef struct dvec_span {
    void *data;
    uint64_t first;
    uint64_t count;
} dvec_span;

/* This task's elements, to read and write. Always fills both spans; an unused one has count 0 (the
 * second is used when the task's run passes the end of the vector). On failure both are empty. The
 * data pointer of an empty span is not NULL but points to no element. Collective in order.
 *
 * Pointers are valid until x is used by another Dome call, or until the next call in which data may
 * move: a reduction, dvec_map, dvec_map_runs, dvec_map_anywhere, the macros of map.h and loop.h, dvec_scan,
 * dvec_roll, dvec_shift, dvec_gather, dvec_scatter, dvec_scatter_add, the functions of arrays.h and ndim.h,
 * dsparse_multiply, dsparse_multiply_transposed, dome_checkpoint, dome_barrier, dome_env_relayout.
 * Calls that return pointers never move data, so a program can hold pointers to several vectors. The
 * rule is the same for all distributions, although DOME_BLOCK and DOME_WHOLE vectors do not move, so
 * that the program can change the distribution later. --dome-check-pointers finds programs that use
 * a pointer for too long, whatever the distribution.
 *
 * A checkpoint contains what the program wrote through a pointer to a DOME_BLOCK or DOME_WHOLE
 * vector even if the pointer was no longer valid: after the first dvec_local_spans each checkpoint
 * compares the vector's values with those of the checkpoint before, which takes about as long as
 * copying them. Writes through such a pointer to a DOME_DYNAMIC vector are lost. */
dome_status dvec_local_spans(dvec *x, dvec_span spans[2]);

/* The same to read only: x does not count as written, and checkpoints do not compare its values. */
dome_status dvec_local_spans_const(const dvec *x, dvec_span spans[2]);

/* A local span, with copies of the elements next to it. */
typedef struct dvec_halo_span {
    dvec_span local;
    const void *below; /* the nbelow elements before local.first, in order; NULL if none */
    uint64_t nbelow;
    const void *above; /* the nabove elements after the span's last */
    uint64_t nabove;
} dvec_halo_span;

/* Fetches up to `below` elements before and `above` elements after each local span. At the ends of
 * the vector there are fewer, unless periodic is set: then indices wrap around, and below and above
 * must not exceed the length. Collective. Fills both spans and limits the pointers as
 * dvec_local_spans does; the copies are valid until the next dvec_halo_elements, dvec_halo_planes
 * or dvec_stencil of x. DOME_ERR_ARGUMENT, DOME_ERR_MEMORY. */
dome_status dvec_halo_elements(dvec *x, uint64_t below, uint64_t above, bool periodic, dvec_halo_span spans[2]);

/* The same by planes: a plane is what the last dimensions of x's shape span, for one index of the
 * first. Fetches up to `below` planes before the plane in which the span begins, and `above` planes
 * after that in which it ends, and the rest of these two: so `below` begins where a plane begins,
 * and `above` ends where one ends. For stencils with neighbours in all directions, diagonal ones
 * too. Periodic: along the first dimension, whose length below and above must not exceed.
 * DOME_ERR_SHAPE: an element is more than a plane. */
dome_status dvec_halo_planes(dvec *x, uint64_t below, uint64_t above, bool periodic, dvec_halo_span spans[2]);

/* A loop over elements and their neighbours, for elements of many values: the rows of a plate, the
 * planes of a cube. near[k] is element index - below + k of x, for k from 0 to below + above, and
 * near[below] thus element `index` itself; NULL where x has no such element. The kernel fills `out`,
 * element `index` of the output, which has its values from before the call. It may keep state in
 * ctx, which belongs to this task alone. It must not call Dome functions. */
typedef void (*dvec_stencil_kernel)(void *ctx, uint64_t index, void *out, const void *const near[]);

/* Calls the kernel once for every element of out, which is not x. With `periodic`, indices wrap
 * around, and below and above must not exceed the length. The vectors agree in length, block size
 * and distribution (x may be DOME_WHOLE); types and widths may differ. below + above is less than
 * DVEC_STENCIL_MAX. Collective. DOME_ERR_ARGUMENT, DOME_ERR_SHAPE, DOME_ERR_LAYOUT,
 * DOME_ERR_MEMORY. */
enum { DVEC_STENCIL_MAX = 32 };
dome_status dvec_stencil(dvec *out, dvec_stencil_kernel kernel, void *ctx, dvec *x, uint64_t below, uint64_t above,
                         bool periodic);

/* A loop of the program. The library calls the kernel once for every block (so with the same ranges
 * for any layout) with the global index `first` of the block's first element, the number of
 * elements, and pointers to these elements in out and in[0 ... nin - 1]. The kernel fills out. It
 * may keep state in ctx, which belongs to this task alone. It must not call Dome functions. */
typedef void (*dvec_kernel)(void *ctx, uint64_t first, size_t count, void *out, const void *const in[]);

/* out = kernel(in). The vectors agree in length, block size and distribution (inputs may be
 * DOME_WHOLE); types and widths may differ. out may be one of the inputs. At most DVEC_MAP_MAX
 * inputs. Collective in order. */
#define DVEC_MAP_MAX 16
dome_status dvec_map(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[]);

/* The same for kernels whose result for an element does not depend on the range it is computed in:
 * the library may call the kernel for several blocks at once. This saves calls and lets one BLAS
 * call cover the whole local part. Results of other kernels would depend on the layout. Load
 * balancing assumes that all elements cost the same here; use dvec_map where they do not. */
dome_status dvec_map_runs(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[]);

/* The same as dvec_map for kernels that any task may call for any block. A task that has begun all
 * its blocks computes blocks that other tasks have not begun: this shortens a long call in which
 * blocks differ in cost or tasks in speed, which load balancing between calls cannot. The values
 * of those blocks travel to the task and back; owners and results stay the same.
 *
 * The kernel computes its block from in, first and count, and from memory that has the same values
 * on all tasks, to which ctx may point. It must not rely on being called for this task's blocks,
 * nor keep state in ctx. Collective: a task waits until its neighbours have begun their last
 * blocks. */
dome_status dvec_map_anywhere(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[]);

/* ---- files ----
 *
 * The path says the format: "FILE.h5:/dataset" or "FILE.hdf5:/group/dataset" is a data set of an
 * HDF5 file, if the library was built with libhdf5; a path that ends in .zarr, or leads through such
 * a folder ("group.zarr/array"), is a Zarr array; any other path is a NumPy .npy file. Each task
 * reads and writes its own part. A task whose host cannot see rank 0's directory sends its part to
 * rank 0, or receives it from there. */

/* Writes x with its shape, in little-endian order. The file appears under its name complete or not
 * at all. A program that ends during the call leaves no file if all tasks are on one host and the
 * file system supports files without a name; otherwise it may leave a hidden file .dome-new-*, which
 * the next program that writes a vector to that directory removes. Collective. DOME_ERR_IO.
 * - .npy: version 1.0; struct types become structured dtypes.
 * - HDF5: a contiguous data set, as h5py makes them: struct types become compound types, complex
 *   values those of members r and i. Groups of the path are made. A file that has nothing but this
 *   data set is replaced. To any other file the data set is added in place; one that has the name
 *   already loses it, with its attributes, and its room in the file is used again only by h5repack.
 *   The new one gets the name when its values are on the disk: a program that ends before leaves the
 *   file as it was, but longer (files of h5py's libver="latest" then need h5clear). One that ends in
 *   the moment in which libhdf5 then writes its own few blocks may leave a damaged file.
 * - Zarr: as dvec_write_zarr without options. */
dome_status dvec_write(const dvec *x, const char *path);

/* Reads an array of any byte order into a new vector called `name`, which gets the array's shape
 * (dimensions beyond the eighth are multiplied into that). The width is the product of all
 * dimensions but the first, or options->width, if that is the product of some number of the last
 * dimensions: 1 makes every value an element. bool becomes DOME_U8. A structured dtype becomes the
 * struct type that the program has described with the same fields in the same order, or a new one
 * with the layout of C. Options may also set the distribution and block size. Collective. env owns
 * the vector. NULL on failure: DOME_ERR_IO, DOME_ERR_FORMAT (another format, truncated, object
 * dtype, strings, Fortran order, no such data set, ...), DOME_ERR_SHAPE, and those of dvec_new.
 * - HDF5: contiguous data sets are read in place; chunked, compressed and external ones by libhdf5,
 *   in a process beside each task. Enumerations become integers.
 * - Zarr, version 2 and 3: chunks of any shape, not compressed or by blosc (zarr-python 2's
 *   default), zstd, gzip, zlib or lz4, as far as Dome was built with these libraries, and with the
 *   checksum crc32c; a chunk that is not there has the fill value. Each task reads the chunks that
 *   hold its elements. An array that is replaced meanwhile is DOME_ERR_IO. More than 8 dimensions,
 *   groups, filters, sharding and other codecs are DOME_ERR_FORMAT. */
dvec *dvec_read(dome_env *env, const char *name, const char *path);
dvec *dvec_read_with(dome_env *env, const char *name, const char *path, const dvec_options *options);

/* Writes x as a Zarr array: a folder `path` with metadata and a file for each chunk. A Zarr array of
 * that name is replaced; another folder, or one that has more in it, is DOME_ERR_IO.
 *
 * The array has x's shape, row by row (C order), little-endian. A chunk consists of values that lie
 * one after the other in x, and is written by the task that owns the first of them; chunks at the end
 * of a dimension are filled up with 0. The files are the same for any number of tasks and any layout.
 * A task whose host cannot see rank 0's directory writes through rank 0. The folder appears under its
 * name complete or not at all, and the one before stays until then, if the file system can exchange
 * two folders (RENAME_EXCHANGE; otherwise it is called PATH.before-dome for a moment). A program that
 * is killed during the call leaves a hidden folder .dome-new-*, which the next program that writes a
 * vector to that directory removes.
 *
 * Version 2 is read by zarr-python of any version, also by that of Debian 12; version 3 by those
 * from 3.0 on, and it cannot hold structs (DOME_ERR_TYPE). Needs the library jansson, and for a level
 * zstd, when Dome is built (DOME_ERR_STATE). options may be NULL. Collective. DOME_ERR_IO,
 * DOME_ERR_ARGUMENT, DOME_ERR_MEMORY. */
typedef struct dvec_zarr_options {
    size_t size;    /* sizeof(dvec_zarr_options); DVEC_ZARR_OPTIONS sets it */
    int version;    /* of the format: 2 or 3; 0 means 2 */
    int level;      /* of compression by zstd, 1 to 22; 0: none */
    uint64_t chunk; /* elements of x in a chunk, at most; 0: some 8 MB, in whole blocks */
} dvec_zarr_options;

dome_status dvec_write_zarr(const dvec *x, const char *path, const dvec_zarr_options *options);

/* Options written inside a call, as DVEC_OPTIONS: DVEC_ZARR_OPTIONS(.version = 3, .level = 3). */
#ifndef __cplusplus
#define DVEC_ZARR_OPTIONS(...) (&(const dvec_zarr_options){.size = sizeof(dvec_zarr_options), __VA_ARGS__})
#else
#define DVEC_ZARR_OPTIONS(...)                                                                                                   \
    dvec_options_in_([&] {                                                                                                       \
        dvec_zarr_options o_ = {};                                                                                               \
        o_.size = sizeof o_;                                                                                                     \
        DVEC_OPTIONS_SET_(__VA_ARGS__);                                                                                          \
        return o_;                                                                                                               \
    }())
extern "C++" inline const dvec_zarr_options *dvec_options_in_(const dvec_zarr_options &options)
{
    return &options;
}
#endif

/* ---- columns of text files ----
 *
 *     dvec *v[2];
 *     const dvec_column columns[] = {DVEC_COLUMN(.name = "city", .width = 16), DVEC_COLUMN(.name = "price")};
 *     dvec_read_columns(env, "prices.csv", 2, columns, NULL, v);
 *
 * A line is a record of fields (RFC 4180): with a comma, or another separator, between them; a field in
 * double quotes may contain separators, ends of lines and, doubled, quotes. Blanks around fields, empty
 * lines, a byte order mark and carriage returns at ends of lines are ignored; the last line need not
 * have an end. All records have the same number of fields. Each task reads its part of the file; parts
 * may begin anywhere, and a record may be longer than a part. Tasks that do not see rank 0's file read
 * nothing. The results are the same for any number of tasks.
 *
 * Numbers are decimal, with a point whatever the locale is, and correctly rounded. A value is missing
 * where a field is empty or is NA, N/A, null, none or NaN in any letter case: NaN in floating-point
 * types, an error in others. DOME_ERR_FORMAT: something else than a number, one that an integer type
 * cannot hold, a text that is too long, another number of fields, a quote without end, no such column;
 * the line says where in the file: line, byte, column. Of several mistakes the first one counts.
 * Compressed files and UTF-16 are DOME_ERR_FORMAT, too. Types: real and integer (DOME_ERR_TYPE). */

typedef struct dvec_text_options {
    size_t size;    /* sizeof(dvec_text_options); DVEC_TEXT_OPTIONS sets it */
    char separator; /* 0: a comma; ' ': any number of blanks and tabs */
    char comment;   /* the rest of a line from this character on is ignored, outside of quotes; 0: none */
    bool complete;  /* a missing value is an error */
    uint64_t skip;  /* lines at the beginning to ignore */
    dome_type type; /* dvec_read_text: of the values; NULL: DOME_F64 */
    dome_distribution distribution;
    uint64_t block; /* both as in dvec_options */
} dvec_text_options;

typedef struct dvec_column {
    size_t size;        /* sizeof(dvec_column); DVEC_COLUMN sets it */
    const char *name;   /* in the first record; NULL: `number` says which column it is */
    size_t number;      /* 0, 1, ... */
    dome_type type;     /* NULL: DOME_F64, or for texts DOME_U8 */
    size_t width;       /* 0: numbers. Texts: an element is so many bytes, filled up with 0 (dvec_factorize numbers them) */
    const char *vector; /* the name of the vector, as in dvec_new */
} dvec_column;

/* Reads n columns into new vectors of one length, vectors[0 ... n - 1]. If a column has a name, the
 * first record consists of names. options may be NULL. Collective. env owns the vectors. On failure
 * all are NULL. DOME_ERR_IO, DOME_ERR_ARGUMENT, DOME_ERR_MEMORY, those named above and of dvec_new. */
dome_status dvec_read_columns(dome_env *env, const char *path, size_t n, const dvec_column columns[],
                              const dvec_text_options *options, dvec *vectors[]);

/* Reads a file of numbers alone into a new vector called `name`: a record is an element, and its width
 * is the number of columns (NumPy: loadtxt, with delimiter=","). Names in the first line are skipped by
 * .skip = 1. options may be NULL. Collective. env owns the vector. NULL on failure, as above. */
dvec *dvec_read_text(dome_env *env, const char *name, const char *path, const dvec_text_options *options);

/* Options and columns written inside a call or a list, as DVEC_OPTIONS. */
#ifndef __cplusplus
#define DVEC_TEXT_OPTIONS(...) (&(const dvec_text_options){.size = sizeof(dvec_text_options), __VA_ARGS__})
#define DVEC_COLUMN(...)       ((dvec_column){.size = sizeof(dvec_column), __VA_ARGS__})
#else
#define DVEC_TEXT_OPTIONS(...)                                                                                                   \
    dvec_options_in_([&] {                                                                                                       \
        dvec_text_options o_ = {};                                                                                               \
        o_.size = sizeof o_;                                                                                                     \
        DVEC_OPTIONS_SET_(__VA_ARGS__);                                                                                          \
        return o_;                                                                                                               \
    }())
#define DVEC_COLUMN(...)                                                                                                         \
    [&] {                                                                                                                        \
        dvec_column o_ = {};                                                                                                     \
        o_.size = sizeof o_;                                                                                                     \
        DVEC_OPTIONS_SET_(__VA_ARGS__);                                                                                          \
        return o_;                                                                                                               \
    }()
extern "C++" inline const dvec_text_options *dvec_options_in_(const dvec_text_options &options)
{
    return &options;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
