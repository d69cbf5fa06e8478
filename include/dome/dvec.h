/* Distributed vectors.
 *
 * A dvec is a vector of n elements spread over the tasks of a program in blocks (layout.h). An element is `width` values of
 * one type, so a matrix is a vector of rows. Values lie row by row: value k of element i is value i * width + k.
 *
 * Conventions
 * - "Collective in order": every task makes the same calls in the same order with equal arguments, but the call does
 *   not communicate. "Collective": it may also communicate and wait. Tasks that disagree are found at the next
 *   communication and told (DOME_ERR_MISMATCH). After dome_set_errors_return, both kinds may communicate, so that a failure
 *   that one task finds (memory, deferred work) is returned on all of them.
 * - The output comes first: dvec_add(z, x, y) is z = x + y. An output may be one of the inputs.
 * - Functions return a dome_status unless they return a value. How failures are reported: error.h.
 * - Element-wise functions may only record their work. It is done when a value is needed: by a reduction, a raw pointer, a
 *   file, the movement of data. A handle is never wrong to read, and the order of calls is the order of effects.
 * - Operands of an element-wise function agree in type, length, width, block size and distribution; inputs may
 *   instead be DOME_WHOLE whatever the output is. dvec_copy may also go from one distribution to another.
 * - Integers wrap around, as unsigned arithmetic does. Dividing an integer by zero is DOME_ERR_RANGE (see below). min and max of
 *   floating point give NaN when an operand is NaN. Struct elements have no arithmetic: they can be copied, filled, moved,
 *   mapped, read and written.
 * - The same bits: results do not depend on the number of tasks or on who owns what. + - * / and sqrt of real values are
 *   IEEE 754 operations rounded once, never contracted; complex * and / are made of them (x / y by Smith's method); fmod and
 *   those that make whole numbers are exact. All other functions (exp, sin, pow, ...; complex sqrt) are the C library's and are
 *   as equal as the hosts' C libraries are.
 *   docs/numerics.md has the formulas, and what happens to zeros of both signs.
 *
 * Values that cannot be computed
 * - An integer divided by zero and 0 raised to a negative power have no value. The whole output vector then has a failure, and so
 *   has every vector that is computed from it. Element-wise functions do not report it.
 * - The first call that needs the values of a failed vector reports it (DOME_ERR_RANGE; the line names the operation, its output
 *   and the element), and so does every later one, until all of the vector is written anew. These calls are the reductions,
 *   dvec_allgather, dvec_get, dvec_get_many, dvec_local, dvec_halo, dvec_write, dvec_copy to another distribution; dvec_scan,
 * dvec_roll, dvec_gather, dvec_scatter, dvec_scatter_add, dvec_map and the loops of map.h for their inputs, and dvec_scatter and
 * dvec_scatter_add for their output.
 * - No other call fails: neither those on other vectors, nor those that move, overwrite or free the vector. While a named vector
 *   has a failure, no checkpoint can be written, and a line says so.
 * - dome_finalize reports the failure of a vector that lives if no call has reported a failure of that operation.
 * - All this is the same for any number of tasks, any layout and any --dome-evaluator. Where several operations have failed, the
 *   line names the earliest, and of its elements the first.
 */
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

/* Options in the call they are for, in C and in C++: dvec_new_with(env, "a", DOME_F64, n, DVEC_OPTIONS(.width = 100)). Members
 * that are not named are 0. The value is a const dvec_options *, good until the call has returned. */
#ifndef __cplusplus
#define DVEC_OPTIONS(...) (&(const dvec_options){.size = sizeof(dvec_options), __VA_ARGS__})
#else
#define DVEC_OPTIONS(...)                                                                                                        \
    dvec_options_in_([&] {                                                                                                       \
        dvec_options o_ = {};                                                                                                    \
        o_.size = sizeof o_;                                                                                                     \
        DVEC_OPTIONS_COUNT_(__VA_ARGS__, DVEC_OPTIONS3_, DVEC_OPTIONS2_, DVEC_OPTIONS1_, )(__VA_ARGS__);                         \
        return o_;                                                                                                               \
    }())
/* One name for each number of members. */
#define DVEC_OPTIONS_COUNT_(a, b, c, name, ...) name
#define DVEC_OPTIONS1_(a)                       o_ a
#define DVEC_OPTIONS2_(a, b)                    o_ a, o_ b
#define DVEC_OPTIONS3_(a, b, c)                 o_ a, o_ b, o_ c
extern "C++" inline const dvec_options *dvec_options_in_(const dvec_options &options)
{
    return &options;
}
#endif

/* ---- life ---- */

/* A new vector of n elements, all 0. n may be 0 and may be smaller than the number of tasks. name is what messages,
 * checkpoints and traces call it, as in dome_object_new; options may be NULL. Collective in order. Owned by env until dvec_free
 * or dome_finalize. NULL on failure: DOME_ERR_ARGUMENT, DOME_ERR_NAME, DOME_ERR_MEMORY. */
dvec *dvec_new(dome_env *env, const char *name, dome_type type, uint64_t n);
dvec *dvec_new_with(dome_env *env, const char *name, dome_type type, uint64_t n, const dvec_options *options);

/* A new vector like x: of its type, length, width, block size and distribution, all 0 (PETSc: VecDuplicate). dvec_clone copies
 * x's values as well, as dvec_copy does. Collective in order. NULL on failure, as dvec_new. */
dvec *dvec_new_like(const dvec *x, const char *name);
dvec *dvec_clone(const dvec *x, const char *name);

/* Frees a vector. Work recorded for others that reads it is done first. NULL is allowed. Collective in order. */
void dvec_free(dvec *x);

dome_env *dvec_env(const dvec *x);
const char *dvec_name(const dvec *x);
dome_type dvec_type(const dvec *x);
uint64_t dvec_length(const dvec *x); /* elements */
size_t dvec_width(const dvec *x);    /* values per element */
dome_distribution dvec_distribution(const dvec *x);
dome_object *dvec_object(const dvec *x); /* its handle in the registry */

/* ---- element-wise: collective in order; may be deferred ---- */

/* All values become `value`, which must be exact in an integer type (DOME_ERR_RANGE) and becomes real + 0i in a complex one. */
dome_status dvec_fill(dvec *z, double value);

/* All values become *value, one value of the vector's own type, struct types included. Copied before the call returns. */
dome_status dvec_fill_value(dvec *z, const void *value);

/* z = x. Between different distributions or block sizes of one length, width and type it communicates (then it is collective). */
dome_status dvec_copy(dvec *z, const dvec *x);

/* z = x converted to z's type, value by value. To integers: rounded towards zero, held at the limits of the type, NaN becomes 0.
 * Complex to real is DOME_ERR_TYPE. */
dome_status dvec_convert(dvec *z, const dvec *x);

dome_status dvec_add(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_sub(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_mul(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_div(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_min(dvec *z, const dvec *x, const dvec *y); /* not for complex; of two zeros y's, as in max */
dome_status dvec_max(dvec *z, const dvec *x, const dvec *y); /* not for complex */
dome_status dvec_pow(dvec *z, const dvec *x,
                     const dvec *y); /* integers: x to a negative y is 0 but for x = 1, -1; x = 0: DOME_ERR_RANGE */

/* The same with a scalar second operand, which must be exact in an integer type (DOME_ERR_RANGE) and is rounded to float for
 * F32 and C64. Complex: a is real; x + a and x - a leave the imaginary part as it is. */
dome_status dvec_adds(dvec *z, const dvec *x, double a);
dome_status dvec_subs(dvec *z, const dvec *x, double a);
dome_status dvec_muls(dvec *z, const dvec *x, double a);
dome_status dvec_divs(dvec *z, const dvec *x, double a);
dome_status dvec_mins(dvec *z, const dvec *x, double a);
dome_status dvec_maxs(dvec *z, const dvec *x, double a);
dome_status dvec_pows(dvec *z, const dvec *x, double a);

/* The scalar first: a - x, a / x, a to the power of x. Complex: a - x is a - xr and -xi. Integers: x = 0 is DOME_ERR_RANGE in
 * rdivs, and so is a = 0 to a negative power. */
dome_status dvec_rsubs(dvec *z, const dvec *x, double a);
dome_status dvec_rdivs(dvec *z, const dvec *x, double a);
dome_status dvec_rpows(dvec *z, const dvec *x, double a);

/* The remainder of x / y truncated towards 0: its sign is x's (C's fmod and %; NumPy's fmod, not its %). Real and integer types.
 * Exact. Integers: y = 0 is DOME_ERR_RANGE; the smallest signed number by -1 leaves 0. Floating point: y = 0 or x infinite gives
 * NaN. */
dome_status dvec_fmod(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_fmods(dvec *z, const dvec *x, double a);

/* The angle of the point (y, x), in -pi ... pi, as C's atan2 (signed zeros included): z = atan2(y, x). And sqrt(x^2 + y^2)
 * without overflow on the way. Real floating point. */
dome_status dvec_atan2(dvec *z, const dvec *y, const dvec *x);
dome_status dvec_hypot(dvec *z, const dvec *x, const dvec *y);

/* y = y + a * x, the product rounded before the sum (BLAS axpy without contraction). */
dome_status dvec_axpy(dvec *y, double a, const dvec *x);

/* y = a * x + b * y (PETSc: VecAXPBY): both products rounded, then their sum. As dvec_muls of y, then dvec_axpy. */
dome_status dvec_axpby(dvec *y, double a, const dvec *x, double b);

/* z = c[0] * x[0] + ... + c[n - 1] * x[n - 1] (SUNDIALS: N_VLinearCombination; n = 2: N_VLinearSum, PETSc's VecWAXPBY), from left
 * to right: each product rounded, then each sum. z may be among the x, at any place. n at least 1. Reads each vector once. */
dome_status dvec_linear_combination(dvec *z, size_t n, const double c[], const dvec *const x[]);

/* The same with a complex scalar, a[0] + a[1] i, for complex vectors (DOME_ERR_TYPE): the bits are those of dvec_add, ... with a
 * vector filled with a; axpy adds the product of dvec_mul. Both parts are rounded to float for C64. */
dome_status dvec_fill_c128(dvec *z, const double value[2]);
dome_status dvec_adds_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_subs_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_muls_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_divs_c128(dvec *z, const dvec *x, const double a[2]);
dome_status dvec_axpy_c128(dvec *y, const double a[2], const dvec *x);

dome_status dvec_neg(dvec *z, const dvec *x);
dome_status dvec_abs(dvec *z, const dvec *x);  /* complex: the modulus as real + 0i */
dome_status dvec_sqrt(dvec *z, const dvec *x); /* sqrt, exp, log, sin, cos: floating point and complex types */
dome_status dvec_exp(dvec *z, const dvec *x);
dome_status dvec_log(dvec *z, const dvec *x);
dome_status dvec_sin(dvec *z, const dvec *x);
dome_status dvec_cos(dvec *z, const dvec *x);
dome_status dvec_tan(dvec *z, const dvec *x); /* tan ... tanh: floating point and complex types */
dome_status dvec_asin(dvec *z, const dvec *x);
dome_status dvec_acos(dvec *z, const dvec *x);
dome_status dvec_atan(dvec *z, const dvec *x);
dome_status dvec_sinh(dvec *z, const dvec *x);
dome_status dvec_cosh(dvec *z, const dvec *x);
dome_status dvec_tanh(dvec *z, const dvec *x);
dome_status dvec_exp2(dvec *z, const dvec *x);  /* 2^x; from here on: real floating point only */
dome_status dvec_expm1(dvec *z, const dvec *x); /* exp(x) - 1, also right for small x */
dome_status dvec_log2(dvec *z, const dvec *x);
dome_status dvec_log10(dvec *z, const dvec *x);
dome_status dvec_log1p(dvec *z, const dvec *x); /* log(1 + x), also right for small x */
dome_status dvec_cbrt(dvec *z, const dvec *x);
dome_status dvec_erf(dvec *z, const dvec *x);
dome_status dvec_erfc(dvec *z, const dvec *x); /* 1 - erf(x) */

/* Rounding to whole numbers: down, up, towards 0, and to the nearest, halves to the even one (NumPy's round and rint; C's round
 * goes away from 0). Exact; a zero keeps the sign of x. Real floating point. */
dome_status dvec_floor(dvec *z, const dvec *x);
dome_status dvec_ceil(dvec *z, const dvec *x);
dome_status dvec_trunc(dvec *z, const dvec *x);
dome_status dvec_round(dvec *z, const dvec *x);

/* Of complex x. The output of conj is complex; that of real, imag and arg is real, of the type of x's parts (F32 for C64, F64 for
 * C128). arg is the angle in -pi ... pi, atan2 of the parts. dvec_convert makes complex values of real ones. */
dome_status dvec_conj(dvec *z, const dvec *x);
dome_status dvec_real(dvec *z, const dvec *x);
dome_status dvec_imag(dvec *z, const dvec *x);
dome_status dvec_arg(dvec *z, const dvec *x);

/* Comparisons: mask is a DOME_U8 vector that gets 1 where the relation holds and 0 elsewhere; x and y agree in type. With NaN all
 * but ne are 0; zeros of both signs are equal. Complex values can be compared by eq and ne only. The scalar is one as in
 * dvec_adds: a value of x's integer type (DOME_ERR_RANGE), rounded to float for F32 and C64, a + 0i for complex ones. */
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

/* Logic on DOME_U8 masks: anything but 0 is true; results are 0 or 1. */
dome_status dvec_and(dvec *mask, const dvec *a, const dvec *b);
dome_status dvec_or(dvec *mask, const dvec *a, const dvec *b);
dome_status dvec_xor(dvec *mask, const dvec *a, const dvec *b);
dome_status dvec_not(dvec *mask, const dvec *a);

/* Bits, of integer types. (For masks in which anything but 0 is true: dvec_and.) */
dome_status dvec_bitand(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_bitor(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_bitxor(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_bitands(dvec *z, const dvec *x, double a);
dome_status dvec_bitors(dvec *z, const dvec *x, double a);
dome_status dvec_bitxors(dvec *z, const dvec *x, double a);
dome_status dvec_bitnot(dvec *z, const dvec *x);

/* x shifted by y bits, of integer types: to the left, 0 coming in; to the right, the sign coming in for signed types (x / 2^y
 * rounded downwards), else 0. Where y is negative or not below the number of bits, nothing is left of x: the result is 0, or -1
 * for a negative x shifted to the right (as in NumPy). */
dome_status dvec_lshift(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_rshift(dvec *z, const dvec *x, const dvec *y);
dome_status dvec_lshifts(dvec *z, const dvec *x, double a);
dome_status dvec_rshifts(dvec *z, const dvec *x, double a);

/* z = mask ? x : y, value by value. Any type, struct types included; z, x, y agree. */
dome_status dvec_select(dvec *z, const dvec *mask, const dvec *x, const dvec *y);

/* Every value becomes the global index of its element, as dvec_convert would convert it from DOME_U64. */
dome_status dvec_iota(dvec *z);

/* Uniform random numbers that depend on seed and position alone: value p = i * width + k is the same for any layout and on any
 * machine, and calls with different seeds give independent sequences. Floating point: in [0, 1), 53 bits (F32: 24);
 * complex: both parts so; integers: all bits. Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1,
 * 2, 3; SC 2011), key = seed, counter = p. */
dome_status dvec_random(dvec *z, uint64_t seed);

/* ---- reductions: collective; over all values ----
 *
 * Each block is summed in a fixed order (16 interleaved partial sums over its values, then added in pairs) in double
 * precision, and block sums are added exactly and rounded once, so the bits depend neither on tasks nor on layout. Integer
 * sums are exact. Products are taken block by block the same way and combined along a fixed binary tree. On failure they
 * return NaN or 0. An empty vector: sum, dot and norms are 0, prod is 1; it has no smallest or largest value, and no place of
 * one: DOME_ERR_ARGUMENT. */

double dvec_sum(const dvec *x);
double dvec_prod(const dvec *x);      /* integers are multiplied as doubles */
double dvec_min_value(const dvec *x); /* NaN if any value is; of zeros the first */
double dvec_max_value(const dvec *x);
double dvec_dot(const dvec *x, const dvec *y); /* sum of x * y; x may be y; not for complex */
double dvec_norm2(const dvec *x);              /* sqrt of the sum of |x|^2, without overflow or underflow on the way */
double dvec_norm1(const dvec *x);              /* sum of |x|, exact as dvec_sum (BLAS asum, NumPy norm(x, 1), PETSc NORM_1) */
double dvec_norm_inf(const dvec *x);           /* largest |x| (NumPy norm(x, inf), PETSc NORM_INFINITY); NaN if any value is */
/* n dot products with one exchange between the tasks in place of n: result[k] = sum of x[k] * y[k], or of x[k] where y[k] is
 * NULL. The bits are those of dvec_dot and dvec_sum. x[k] and y[k] conform; lengths and types may differ between them. n at
 * least 1. */
dome_status dvec_dots(size_t n, const dvec *const x[], const dvec *const y[], double result[]);
dome_status dvec_argmin(const dvec *x,
                        uint64_t *position); /* position i * width + k of the first smallest value; the first NaN if any */
dome_status dvec_argmax(const dvec *x, uint64_t *position);

/* The same for types that a double does not hold. _i64: integer types; DOME_ERR_RANGE if the result does not fit. _c128: complex
 * and real types; dot conjugates x (BLAS zdotc). C99 complex by parts: result[0] real, result[1] imaginary. */
int64_t dvec_sum_i64(const dvec *x);
int64_t dvec_min_value_i64(const dvec *x);
int64_t dvec_max_value_i64(const dvec *x);
int64_t dvec_dot_i64(const dvec *x, const dvec *y);
dome_status dvec_sum_c128(const dvec *x, double result[2]);
dome_status dvec_prod_c128(const dvec *x, double result[2]);
dome_status dvec_dot_c128(const dvec *x, const dvec *y, double result[2]);

/* Reductions of each column apart: result[k] is the sum, the smallest or the largest of value k of all elements, to the bit that
 * of the column as a vector of its own (NumPy: x.sum(axis=0), PETSc: VecStrideMin, ...). result has room for width numbers. For
 * vectors of structs, field names the field, "a.b" one of a struct in a field; it is NULL otherwise. A field that is an array of
 * m has m columns, so there are width * m results. Real and integer types; integer sums are exact and then rounded.
 * DOME_ERR_ARGUMENT: there is no such field, or the vector is empty and has no smallest value. All columns take one exchange. */
dome_status dvec_column_sums(const dvec *x, const char *field, double result[]);
dome_status dvec_column_min_values(const dvec *x, const char *field, double result[]);
dome_status dvec_column_max_values(const dvec *x, const char *field, double result[]);

/* ---- movement along the vector: collective ---- */

/* z[i] = x[0] + ... + x[i], for each of the width values apart. Real and integer types; integers wrap around. Floating point:
 * z[i] = P + s. s is the sum from the start of i's block up to i, added in order, in double precision (for F32 too). P is the
 * exact sum of the last s of all blocks before, rounded once. The result is rounded to the type. z may be x. */
dome_status dvec_scan(dvec *z, const dvec *x);

/* z[i] = x[i - k], around the ends (circular; Fortran's cshift by -k). Any k. z may be x. */
dome_status dvec_roll(dvec *z, const dvec *x, int64_t k);

/* The same, but what comes in at the end is *value, of the vector's own type (Fortran's eoshift); NULL means 0. */
dome_status dvec_shift(dvec *z, const dvec *x, int64_t k, const void *value);

/* z[i] = x[index[i]]. index: integer type, width 1, same length and layout as z; x any length, same type and width as z. An index
 * outside 0 ... length(x) - 1 is DOME_ERR_RANGE. */
dome_status dvec_gather(dvec *z, const dvec *x, const dvec *index);

/* z[index[i]] = x[i]; elements of z that no index names keep their values. Where several i name one element, the largest i
 * wins. index as in dvec_gather, with x's layout. */
dome_status dvec_scatter(dvec *z, const dvec *x, const dvec *index);

/* z[index[i]] += x[i] for all i in order, to the bit what a loop over i gives (NumPy: add.at, PETSc: ADD_VALUES), on any number
 * of tasks; z's other elements keep their values. Integers wrap around; not for structs. index as in dvec_scatter. A task keeps
 * what others add to its elements until all of it is there: memory for so many elements and their indices. */
dome_status dvec_scatter_add(dvec *z, const dvec *x, const dvec *index);

/* All elements, on every task, read-only, as n * width values. Valid until x is written or freed, or dvec_allgather(x) is called
 * again; also while data moves. NULL on failure. */
const void *dvec_allgather(const dvec *x);

/* ---- single elements ---- */

/* Copies element `index`, its width values of the vector's own type, to `element` on every task; the task that owns it sends it
 * to the others. Collective: one broadcast, so for more than a few elements take dvec_get_many.
 * DOME_ERR_RANGE for an index beyond the end. */
dome_status dvec_get(const dvec *x, uint64_t index, void *element);

/* Copies elements index[0 ... n - 1] of x to elements, one after the other, in one exchange between the tasks (PETSc:
 * VecGetValues, Global Arrays: gather). Each task asks for elements of its own choice; n may be 0. Collective. DOME_ERR_RANGE on
 * all tasks if one asks for an element beyond the end. */
dome_status dvec_get_many(const dvec *x, size_t n, const uint64_t index[], void *elements);

/* Element `index` becomes *element, width values of the vector's own type, which must be the same on all tasks; the task that
 * owns it writes it. Collective in order. DOME_ERR_RANGE as in dvec_get. */
dome_status dvec_set(dvec *x, uint64_t index, const void *element);

/* ---- the local part ---- */

/* A contiguous range of elements in this task's memory: element first + j lies at data + j * width values. */
typedef struct dvec_span {
    void *data;
    uint64_t first;
    uint64_t count;
} dvec_span;

/* This task's elements, to read and write. Fills 0, 1 or 2 spans (two when the task's run passes the end of the vector) and
 * returns their number; negative on failure (-status). Collective in order.
 *
 * Pointers are valid until x is used by another Dome call, or until the next call in which data may move from task to task. These
 * are the reductions, dvec_map and dvec_map_runs, the macros of map.h, dvec_scan, dvec_roll, dvec_shift, dvec_gather,
 * dvec_scatter, dvec_scatter_add, dome_checkpoint, dome_barrier and dome_env_relayout. Calls that give out pointers never move
 * data, so pointers to several vectors can be held together. The rule is the same for all distributions, though what is
 * DOME_BLOCK or DOME_WHOLE does not move: a program that keeps it can change the distribution. --dome-check-pointers finds a
 * program that holds a pointer for too long, whatever the distribution.
 *
 * A checkpoint holds what was written through a pointer to a DOME_BLOCK or DOME_WHOLE vector even if the pointer was no longer
 * valid: after the first call of dvec_local, each checkpoint compares the vector's values with those of the checkpoint before,
 * which takes about as long as copying them. What is written through such a pointer to a DOME_DYNAMIC vector is lost. */
dome_status dvec_local(dvec *x, dvec_span spans[2]);

/* The same to read only: x does not count as written, and checkpoints do not compare it. */
dome_status dvec_local_const(const dvec *x, dvec_span spans[2]);

/* A local span with copies of the elements next to it. */
typedef struct dvec_halo_span {
    dvec_span local;
    const void *below; /* the nbelow elements before local.first, in order; NULL if none */
    uint64_t nbelow;
    const void *above; /* the nabove elements after the span's last */
    uint64_t nabove;
} dvec_halo_span;

/* Fetches up to `below` elements before and `above` elements after each local span. At the ends of the vector there are fewer,
 * unless periodic: then indices go around, and below and above must not exceed the length. Collective. Returns and lives
 * as dvec_local does; the copies live until the next dvec_halo of x. */
dome_status dvec_halo(dvec *x, uint64_t below, uint64_t above, bool periodic, dvec_halo_span spans[2]);

/* The user's own loop. The kernel is called once for every block (and so with the same ranges whatever the layout) with the
 * global index of its first element, the number of elements, and pointers to them in out and in[0 ... nin - 1]. It fills
 * out; it may keep state in ctx, which is this task's alone. It must not call Dome functions. */
typedef void (*dvec_kernel)(void *ctx, uint64_t first, size_t count, void *out, const void *const in[]);

/* out = kernel(in). The vectors agree in length, block size and distribution (inputs may be DOME_WHOLE); types and widths are
 * free. out may be among the inputs. At most DVEC_MAP_MAX inputs. Collective in order. */
#define DVEC_MAP_MAX 16
dome_status dvec_map(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[]);

/* The same for kernels whose result for an element does not depend on the range in which it is computed: the kernel may be called
 * for several blocks at once, as many as the library finds good. It saves calls, and lets one BLAS call cover the whole local
 * part. A kernel that does not keep this promise gives results that depend on the layout. Load balancing takes the elements to
 * cost the same here: where they do not, dvec_map tells it so. */
dome_status dvec_map_runs(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[]);

/* ---- files ---- */

/* Writes x as a NumPy .npy file, version 1.0, shape (n,) or (n, width), little-endian; struct types as structured dtypes. Each
 * task writes its own part. The file appears under its name whole or not at all. A task whose host does not see rank 0's
 * directory sends its part to rank 0. A program that is ended meanwhile leaves nothing where all tasks are on one host and the
 * file system can make files without a name; elsewhere a hidden file, .dome-new-*, which the next program that writes a vector
 * into that directory removes. Collective. DOME_ERR_IO. */
dome_status dvec_write(const dvec *x, const char *path);

/* A new vector called name from a .npy file of any byte order: one dimension gives width 1, more give the product of the others
 * as width. bool becomes DOME_U8. A structured dtype becomes the struct type that was described before with the same fields in
 * the same order, or else a new one that is laid out as C does. Each task reads its own part, or gets it from rank 0 where it
 * cannot see the file. Collective. NULL on failure: DOME_ERR_IO, DOME_ERR_FORMAT (not .npy, truncated, object dtype,
 * Fortran order, ...). */
dvec *dvec_read(dome_env *env, const char *name, const char *path);
dvec *dvec_read_with(dome_env *env, const char *name, const char *path, const dvec_options *options);

#ifdef __cplusplus
}
#endif
#endif
