#include "region/member.h"

#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <string.h>

dome_status dome__member_check(dome_env *env, const char *what)
{
    for (int r = 1; r < env->size; r++) {
        const int *format = env->transport->group.data_format;
        if (strcmp(env->hosts[r], env->hosts[0]) != 0)
            return dome__fail(
                env, DOME_ERR_STATE,
                "task 0 is on host %s and task %d on host %s, and tasks of several hosts cannot share %s: start all "
                "tasks on one host, or use vectors (dvec)",
                env->hosts[0], r, env->hosts[r], what);
        if (format && format[r] != format[0])
            return dome__fail(env, DOME_ERR_STATE,
                              "task 0 and task %d have other byte orders or sizes of types, so they cannot share %s: start the "
                              "same program as all tasks, or use vectors (dvec)",
                              r, what);
    }
    return DOME_OK;
}

/* Task 0 makes the memory and offers it; the others map it. */
static dome_memory *take_part(dome_env *env, uint64_t bytes, const char **why, int *status)
{
    dome_memory *memory = env->rank == 0 ? dome__memory_new("dome-region", bytes, why) : NULL;
    dome_memory_offer offer = {0};
    if (memory)
        offer = dome__memory_offer(memory);
    int64_t words[] = {offer.process, offer.descriptor, offer.inode, offer.bytes};
    *status = dome__bcast(env->transport, 0, DOME_I64, words, G_N_ELEMENTS(words));
    offer = (dome_memory_offer){words[0], words[1], words[2], words[3]};
    if (!*status && env->rank > 0 && offer.bytes > 0)
        memory = dome__memory_attach(&offer, why);
    return memory;
}

dome_memory *dome__member_memory(dome_env *env, const char *what, uint64_t bytes, dome_status *status)
{
    const char *why = NULL;
    int failed;
    dome_memory *memory = take_part(env, bytes, &why, &failed);
    if (failed) {
        *status = (dome_status)dome__fail_transport(env, failed);
    } else {
        char *text = g_strdup_printf("memory of %" G_GUINT64_FORMAT " bytes for %s cannot be shared by the tasks of host %s: %s",
                                     bytes, what, env->hosts[env->rank], why ? why : "task 0 has none");
        *status = (dome_status)dome__agree(env, memory ? DOME_OK : DOME_ERR_MEMORY, text);
        g_free(text);
    }
    if (memory)
        dome__memory_taken(memory);
    if (*status != DOME_OK)
        g_clear_pointer(&memory, dome__memory_free);
    return memory;
}
