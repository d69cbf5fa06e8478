/* Distributed scalars: one value that every task holds. A scalar with a name is part of every
 * checkpoint.
 *
 * All tasks set a dscalar to the same value. The library checks this: the value enters the
 * program's history, and the next communication reports tasks whose histories differ
 * (DOME_ERR_MISMATCH). The set functions are collective in order (dvec.h). The get functions are
 * not collective: one task alone may call them, and they do not communicate - unless the value is
 * pending (see below). A scalar has any basic type or a struct type; values must be exact in the
 * type that they are converted to (DOME_ERR_RANGE).
 *
 * Pending values
 * - dvec_dot_into(s, x, y) and the other reductions into a scalar return before the tasks have
 *   exchanged their parts; s is then pending. Arithmetic with a pending scalar is recorded, and its
 *   result is pending, too. The value counts from the call on: x and y may change afterwards.
 * - The first call that needs the value asks for it: it is collective, waits for the exchange if
 *   that has not ended, and ends the pending state of the scalar. Such calls are the get functions,
 *   vector operations with the scalar as a coefficient (dvec_axpy_by, ...), and arithmetic that
 *   would be the 64th of a chain of recorded operations. So all tasks call dscalar_get_f64 of a
 *   pending scalar, not one alone; tasks that do not are found (DOME_ERR_MISMATCH). Setting a
 *   pending scalar forgets the value.
 * - The exchange begins with the next operation that is neither such a reduction nor scalar
 *   arithmetic nor an element-wise function: reductions that follow each other share one message
 *   (PETSc: VecDotBegin ... VecDotEnd, PetscCommSplitReductionBegin; MPI: MPI_Iallreduce). It runs
 *   while the program continues, in the library's operations: at their beginnings, between the
 *   blocks of vectors and matrices, and while they wait. It makes no progress while the program's
 *   own code runs between operations. Any number of exchanges may be under way.
 * - The bits are those of the functions that wait, for any number of tasks. dome_checkpoint, a
 *   movement of data and dome_finalize complete the exchanges first; a checkpoint holds the value.
 * - If an element has no value (dvec.h), or the value does not fit into the scalar's type, the first
 *   call that asks reports DOME_ERR_RANGE; the scalar is then NaN, or 0 in an integer type. */
#ifndef DOME_DSCALAR_H
#define DOME_DSCALAR_H

#include <dome/dvec.h>
#include <dome/error.h>
#include <dome/layout.h>
#include <dome/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dscalar dscalar;

/* A new scalar with value 0. `name` has the meaning that it has in dvec_new. Collective in order.
 * env owns the scalar until dscalar_free or dome_finalize. NULL on failure: DOME_ERR_ARGUMENT,
 * DOME_ERR_NAME. */
dscalar *dscalar_new(dome_env *env, const char *name, dome_type type);

/* Frees a scalar. NULL is allowed. Collective in order. */
void dscalar_free(dscalar *s);

/* Sets or reads the value as an integer or a double. On failure the get functions return 0 or
 * NaN. */
dome_status dscalar_set_i64(dscalar *s, int64_t value);
dome_status dscalar_set_f64(dscalar *s, double value);
int64_t dscalar_get_i64(const dscalar *s);
double dscalar_get_f64(const dscalar *s);

/* Sets or reads a complex value: value[0] is the real part, value[1] the imaginary part, which must
 * be 0 for a type that is not complex. */
dome_status dscalar_set_c128(dscalar *s, const double value[2]);
dome_status dscalar_get_c128(const dscalar *s, double value[2]);

/* Sets or reads the value as bytes in memory, in the scalar's own type (struct types included). */
dome_status dscalar_set(dscalar *s, const void *value);
dome_status dscalar_get(const dscalar *s, void *value);

/* ---- reductions into a scalar: collective in order ----
 *
 * s = the value of dvec_sum(x), dvec_dot(x, y), ..., pending. A sum of integers is exact in an
 * integer scalar; other values are rounded to double, then to the scalar's type. Complex elements
 * need a complex scalar, except for the norm; dot conjugates x, as dvec_dot_c128 does. The norm is
 * the square root of the sum of squares in double precision: dvec_norm2 scales values whose squares
 * over- or underflow, this one does not, and is then infinite or has fewer digits. DOME_ERR_TYPE:
 * the scalar's type cannot hold the result. DOME_ERR_ARGUMENT: the smallest or largest value of an
 * empty vector. */
dome_status dvec_sum_into(dscalar *s, const dvec *x);
dome_status dvec_dot_into(dscalar *s, const dvec *x, const dvec *y);
dome_status dvec_norm2_into(dscalar *s, const dvec *x);
dome_status dvec_min_value_into(dscalar *s, const dvec *x);
dome_status dvec_max_value_into(dscalar *s, const dvec *x);

/* ---- arithmetic: collective in order ----
 *
 * s = a op b, for scalars of one type, as the functions of dvec.h compute it for elements; s may be
 * an operand. Pending if an operand is pending; else computed at once. An integer divided by zero is
 * DOME_ERR_RANGE, in both cases reported by the first call that asks for the value, which is then 0.
 * `value` must be exact in an integer type (DOME_ERR_RANGE). DOME_ERR_TYPE: the types differ, or the
 * operation is not defined for them; structs can only be copied. */
dome_status dscalar_copy(dscalar *s, const dscalar *a);
dome_status dscalar_add(dscalar *s, const dscalar *a, const dscalar *b);
dome_status dscalar_sub(dscalar *s, const dscalar *a, const dscalar *b);
dome_status dscalar_mul(dscalar *s, const dscalar *a, const dscalar *b);
dome_status dscalar_div(dscalar *s, const dscalar *a, const dscalar *b);
dome_status dscalar_min(dscalar *s, const dscalar *a, const dscalar *b);
dome_status dscalar_max(dscalar *s, const dscalar *a, const dscalar *b);
dome_status dscalar_neg(dscalar *s, const dscalar *a);
dome_status dscalar_abs(dscalar *s, const dscalar *a);
dome_status dscalar_sqrt(dscalar *s, const dscalar *a);
dome_status dscalar_adds(dscalar *s, const dscalar *a, double value);  /* a + value */
dome_status dscalar_muls(dscalar *s, const dscalar *a, double value);  /* a * value */
dome_status dscalar_rdivs(dscalar *s, const dscalar *a, double value); /* value / a */

/* ---- scalars as coefficients of vectors: they ask for pending values ----
 *
 * As dvec_axpy, dvec_axpby and dvec_muls, with a coefficient of a floating-point or complex type
 * (complex: for complex vectors). DOME_ERR_TYPE: an integer or struct coefficient.
 * DOME_ERR_ARGUMENT: x is y in dvec_aypx_by or dvec_axpby_by, and a coefficient is complex. */
dome_status dvec_axpy_by(dvec *y, const dscalar *a, const dvec *x);                    /* y = y + a x */
dome_status dvec_aypx_by(dvec *y, const dscalar *a, const dvec *x);                    /* y = x + a y (PETSc: VecAYPX) */
dome_status dvec_axpby_by(dvec *y, const dscalar *a, const dvec *x, const dscalar *b); /* y = a x + b y */
dome_status dvec_muls_by(dvec *z, const dvec *x, const dscalar *a);                    /* z = a x */

/* Not collective. The name belongs to the scalar; dscalar_object is its handle for structure.h. */
dome_type dscalar_type(const dscalar *s);
const char *dscalar_name(const dscalar *s);
dome_object *dscalar_object(dscalar *s);

#ifdef __cplusplus
}
#endif
#endif
