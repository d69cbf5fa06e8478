/* Failures of vectors whose values the program has not requested by its end. */
#include "eval/failure.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"

/* Agrees, for each vector, on the operation whose failure all tasks report. Operations are sent as complements, so that the
 * maximum is the first operation. */
static int find_operations(dome_env *env, const GPtrArray *vectors, uint64_t *operation)
{
    for (guint k = 0; k < vectors->len; k++) {
        const dvec *x = g_ptr_array_index(vectors, k);
        operation[k] = x->lazy->failure ? ~x->lazy->failure->order[0] : 0;
    }
    int status = dome__allreduce(env->transport, DOME_U64, operation, vectors->len, dome__combine_max_u64, NULL);
    for (guint k = 0; k < vectors->len; k++)
        operation[k] = ~operation[k];
    return status;
}

/* Only the failure that counts is reported for a vector: on another number of tasks its other failures would not be known. */
int dome__failure_finish(dome_env *env)
{
    GPtrArray *vectors = g_ptr_array_new();
    uint64_t any = 0;
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dvec__is(o)) {
            g_ptr_array_add(vectors, dome_object_content(o));
            any |= ((const dvec *)dome_object_content(o))->lazy->failure != NULL;
        }
    uint64_t *operation = g_new(uint64_t, vectors->len);
    int status = dome__allreduce(env->transport, DOME_U64, &any, 1, dome__combine_max_u64, NULL);
    if (status == DOME_OK && any)
        status = find_operations(env, vectors, operation);
    if (status != DOME_OK) {
        status = dome__fail_transport(env, status);
    } else if (any) {
        dome_failure *first = NULL;
        for (guint k = 0; k < vectors->len; k++) {
            dome_failure *failure = ((const dvec *)g_ptr_array_index(vectors, k))->lazy->failure;
            if (failure && !failure->told && failure->order[0] == operation[k])
                first = dome__failure_first(first, failure);
        }
        status = dome__failure_agree(env, first);
    }
    g_free(operation);
    g_ptr_array_unref(vectors);
    return status;
}
