/* Distributed scalars: one value that every task holds, registered and part of every checkpoint.
 *
 * A dscalar is replicated: all tasks set it to the same value. That is checked: the value enters the program's history,
 * and tasks whose histories differ are told so at the next communication.
 * Setting is collective in order (dvec.h); getting is not, so one task alone may do it. Neither communicates. Any basic type;
 * conversions must be exact (DOME_ERR_RANGE otherwise).
 */
#ifndef DOME_DSCALAR_H
#define DOME_DSCALAR_H

#include <dome/error.h>
#include <dome/layout.h>
#include <dome/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dscalar dscalar;

/* A new scalar with value 0. name as in dome_object_new. Owned by env until dscalar_free. NULL on failure. */
dscalar *dscalar_new(dome_env *env, const char *name, dome_type type);
void dscalar_free(dscalar *s);

dome_status dscalar_set_i64(dscalar *s, int64_t value);
dome_status dscalar_set_f64(dscalar *s, double value);
int64_t dscalar_get_i64(const dscalar *s);
double dscalar_get_f64(const dscalar *s);

/* Complex values by parts: value[0] real, value[1] imaginary. A type that is not complex has no imaginary part but 0. */
dome_status dscalar_set_c128(dscalar *s, const double value[2]);
dome_status dscalar_get_c128(const dscalar *s, double value[2]);

/* The value as it lies in memory, of the scalar's own type (struct types included). */
dome_status dscalar_set(dscalar *s, const void *value);
dome_status dscalar_get(const dscalar *s, void *value);

dome_type dscalar_type(const dscalar *s);
const char *dscalar_name(const dscalar *s);
dome_object *dscalar_object(dscalar *s);

#ifdef __cplusplus
}
#endif
#endif
