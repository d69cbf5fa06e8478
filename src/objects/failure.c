#include "objects/failure.h"

#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <string.h>

/* Later than any operation. */
#define NEVER UINT64_MAX

dome_failure *dome__failure_new(uint64_t operation, uint64_t position, char *text)
{
    dome_failure *failure = g_rc_box_new(dome_failure);
    *failure = (dome_failure){.order = {operation, position}, .text = text};
    return failure;
}

dome_failure *dome__failure_ref(dome_failure *failure)
{
    return failure ? g_rc_box_acquire(failure) : NULL;
}

static void clear(void *failure)
{
    g_free(((dome_failure *)failure)->text);
}

void dome__failure_unref(dome_failure *failure)
{
    if (failure)
        g_rc_box_release_full(failure, clear);
}

static bool comes_first(const uint64_t a[2], const uint64_t b[2])
{
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

dome_failure *dome__failure_first(dome_failure *a, dome_failure *b)
{
    return !a || (b && comes_first(b->order, a->order)) ? b : a;
}

int dome__failure_agree(dome_env *env, dome_failure *failure)
{
    uint64_t order[2] = {NEVER, NEVER};
    if (failure)
        memcpy(order, failure->order, sizeof order);
    int status = dome__agree_first(env, failure ? DOME_ERR_RANGE : DOME_OK, failure ? failure->text : NULL, order);
    if (failure && order[0] == failure->order[0])
        failure->told = true;
    return status;
}

int dome__failure_report(dome_env *env, dome_failure *failure)
{
    if (!failure)
        return DOME_OK;
    failure->told = true;
    return dome__fail(env, DOME_ERR_RANGE, "%s", failure->text);
}

/* By vector, the operation whose failure counts of all tasks'. */
static int find_operations(dome_env *env, const GPtrArray *vectors, uint64_t *operation)
{
    for (guint k = 0; k < vectors->len; k++) {
        const dvec *x = g_ptr_array_index(vectors, k);
        operation[k] = x->failure ? ~x->failure->order[0] : ~NEVER;
    }
    int status = dome__allreduce(env->transport, DOME_U64, operation, vectors->len, dome__combine_max_u64, NULL);
    for (guint k = 0; k < vectors->len; k++)
        operation[k] = ~operation[k];
    return status;
}

/* Failures of a vector other than the one that counts are not reported: with another number of tasks they would not be known. */
int dome__failure_finish(dome_env *env)
{
    GPtrArray *vectors = g_ptr_array_new();
    uint64_t any = 0;
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dvec__is(o)) {
            g_ptr_array_add(vectors, dome_object_content(o));
            any |= ((dvec *)dome_object_content(o))->failure != NULL;
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
            dome_failure *failure = ((dvec *)g_ptr_array_index(vectors, k))->failure;
            if (failure && !failure->told && failure->order[0] == operation[k])
                first = dome__failure_first(first, failure);
        }
        status = dome__failure_agree(env, first);
    }
    g_free(operation);
    g_ptr_array_unref(vectors);
    return status;
}
