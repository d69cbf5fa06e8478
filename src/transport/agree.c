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

/* On all tasks: task `from`'s text, of that length, which they know. g_free'd; NULL: *status. */
static char *share_text(dome_transport *t, int from, const char *text, uint64_t length, int *status)
{
    char *shared = g_malloc0((gsize)length + 1);
    if (t->group.rank == from && length)
        memcpy(shared, text, (size_t)length);
    *status = dome__bcast(t, from, DOME_U8, shared, length);
    if (*status)
        g_clear_pointer(&shared, g_free);
    return shared;
}

int dome__agree_text(dome_transport *t, char **text, int *from)
{
    /* The lowest rank is the greatest number; the length follows it. */
    uint64_t word = *text ? (uint64_t)(t->group.size - t->group.rank) << 32 | (uint32_t)strlen(*text) : 0;
    int status = dome__allreduce(t, DOME_U64, &word, 1, dome__combine_max_u64, NULL);
    if (status || !word)
        return status;
    const int rank = t->group.size - (int)(word >> 32);
    char *shared = share_text(t, rank, *text, (uint32_t)word, &status);
    if (status)
        return status;
    g_free(*text);
    *text = shared;
    if (from)
        *from = rank;
    return DOME_OK;
}

/* A failure as words: its order (two), its rank, its status, the length of its text. */
enum { FAILURE_RANK = 2, FAILURE_STATUS, FAILURE_LENGTH, FAILURE_WORDS };

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

/* Sets word to the failure to report: the least (order, rank) of all tasks' words; *found to its text, g_free'd. Called when some
 * task has failed. */
static int find_first(dome_transport *t, uint64_t word[FAILURE_WORDS], const char *text, char **found)
{
    if (!word[FAILURE_STATUS])
        word[0] = word[1] = word[FAILURE_RANK] = UINT64_MAX;
    int status = dome__allreduce(t, DOME_U64, word, FAILURE_WORDS, combine_failures, NULL);
    if (!status)
        *found = share_text(t, (int)word[FAILURE_RANK], text, word[FAILURE_LENGTH], &status);
    return status;
}

int dome__agree_first(dome_env *env, int status, const char *text, uint64_t order[2])
{
    dome_transport *t = env->transport;
    char *found = NULL;
    uint64_t word[FAILURE_WORDS] = {order[0], order[1], (uint64_t)t->group.rank, (uint64_t)status};
    word[FAILURE_LENGTH] = status && text ? strlen(text) : 0;
    if (t->group.size > 1) {
        uint64_t any = status != DOME_OK;
        int failed = dome__allreduce(t, DOME_U64, &any, 1, dome__combine_max_u64, NULL);
        if (!failed && any)
            failed = find_first(t, word, text, &found);
        if (failed)
            return dome__fail_transport(env, failed);
        text = found;
    }
    status = (int)word[FAILURE_STATUS];
    if (status) {
        memcpy(order, word, 2 * sizeof *order);
        status = dome__fail_at(env, status, (int)word[FAILURE_RANK], text && text[0] ? text : dome_status_text(status));
    }
    g_free(found);
    return status;
}

int dome__agree(dome_env *env, int status, const char *text)
{
    return dome__agree_first(env, status, text, (uint64_t[2]){0, 0});
}
