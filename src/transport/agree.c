#include "transport/agree.h"

#include "core/object_private.h"
#include "transport/collective.h"

#include <string.h>

int dome__env_sync(dome_env *env)
{
    int status;
    const dome_object *failed = dome__env_unsettled(env, &status);
    char *text =
        failed ? g_strdup_printf("'%s' cannot complete its deferred work: %s", dome_object_name(failed), dome_status_text(status))
               : NULL;
    status = dome__agree(env, status, text);
    g_free(text);
    return status;
}

int dome__fail_transport(dome_env *env, int status)
{
    return dome__fail_at(env, status, env->rank, env->transport->reason);
}

/* A failure as words: its order, its rank, its status. */
enum { FAILURE_WORDS = 4 };

static void combine_failures(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    uint64_t *a = inout;
    const uint64_t *b = in;
    for (uint64_t k = 0; k < count; k++)
        if (a[k] != b[k]) {
            if (b[k] < a[k])
                memcpy(a, b, count * sizeof *a);
            return;
        }
}

/* Sets word to the failure to report: the least (order, rank, status) of all tasks' words. Called when some task has failed. */
static int find_first(dome_transport *t, uint64_t word[FAILURE_WORDS])
{
    if (!word[3])
        word[0] = word[1] = word[2] = UINT64_MAX;
    return dome__allreduce(t, DOME_U64, word, FAILURE_WORDS, combine_failures, NULL);
}

int dome__agree_first(dome_env *env, int status, const char *text, uint64_t order[2])
{
    enum { TEXT = 480 };
    dome_transport *t = env->transport;
    char buffer[TEXT] = "";
    uint64_t word[FAILURE_WORDS] = {order[0], order[1], (uint64_t)t->group.rank, (uint64_t)status};
    if (t->group.size > 1) {
        uint64_t any = status != DOME_OK;
        int failed = dome__allreduce(t, DOME_U64, &any, 1, dome__combine_max_u64, NULL);
        if (failed)
            return dome__fail_transport(env, failed);
        if (!any)
            return DOME_OK;
        failed = find_first(t, word);
        if (!failed && (int)word[2] == t->group.rank && text)
            g_strlcpy(buffer, text, sizeof buffer);
        if (!failed)
            failed = dome__bcast(t, (int)word[2], DOME_U8, buffer, TEXT);
        if (failed)
            return dome__fail_transport(env, failed);
    } else if (status && text) {
        g_strlcpy(buffer, text, sizeof buffer);
    }
    if (!word[3])
        return DOME_OK;
    memcpy(order, word, 2 * sizeof *order);
    status = (int)word[3];
    return dome__fail_at(env, status, (int)word[2], buffer[0] ? buffer : dome_status_text(status));
}

int dome__agree(dome_env *env, int status, const char *text)
{
    return dome__agree_first(env, status, text, (uint64_t[2]){0, 0});
}
