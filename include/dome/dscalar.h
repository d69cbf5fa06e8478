/* Distributed scalars: one value that every task holds. A scalar with a name is part of every
 * checkpoint.
 *
 * All tasks set a dscalar to the same value. The library checks this: the value enters the
 * program's history, and the next communication reports tasks whose histories differ
 * (DOME_ERR_MISMATCH). The set functions are collective in order (dvec.h). The get functions are
 * not collective: one task alone may call them. None of them communicates. A scalar has any basic
 * type or a struct type; values must be exact in the type that they are converted to
 * (DOME_ERR_RANGE). */
#ifndef DOME_DSCALAR_H
#define DOME_DSCALAR_H

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

/* Not collective. The name belongs to the scalar; dscalar_object is its handle for structure.h. */
dome_type dscalar_type(const dscalar *s);
const char *dscalar_name(const dscalar *s);
dome_object *dscalar_object(dscalar *s);

#ifdef __cplusplus
}
#endif
#endif
