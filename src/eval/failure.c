#include "eval/failure.h"

#include "transport/agree.h"

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
