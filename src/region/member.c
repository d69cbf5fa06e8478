#include "region/member.h"

#include "peer/peer_start.h"
#include "region/unit_set.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <string.h>

static bool together(const dome_env *env, int a, int b)
{
    const int *format = env->transport->group.data_format;
    return a == b || (env->options.start.road != DOME_ROAD_PROVIDER && strcmp(env->hosts[a], env->hosts[b]) == 0 &&
                      (!format || format[a] == format[b]));
}

/* Returns the number of tasks of the largest member. */
static unsigned divide(dome_member_table *t, const dome_env *env)
{
    unsigned *tasks = g_new0(unsigned, env->size), most = 0;
    t->firsts = g_new(int, env->size);
    t->ranks = g_new(int, env->size);
    t->of = g_new(uint16_t, env->size);
    for (int r = 0; r < env->size; r++) {
        unsigned m = 0;
        while (m < t->count && !together(env, t->firsts[m], r))
            m++;
        if (m == t->count)
            t->firsts[t->count++] = r;
        t->of[r] = (uint16_t)m;
        most = MAX(most, ++tasks[m]);
    }
    t->member = t->of[env->rank];
    for (int r = 0; r < env->size; r++) {
        if (t->of[r] != t->member)
            continue;
        t->task = r == env->rank ? t->tasks : t->task;
        t->ranks[t->tasks++] = r;
    }
    t->most = most;
    g_free(tasks);
    return most;
}

static int check(dome_env *env, const dome_member_table *t, unsigned most, const char *what)
{
    if (t->count <= DOME_UNIT_MOST && most <= DOME_UNIT_MOST)
        return DOME_OK;
    return dome__fail(env, DOME_ERR_STATE,
                      "%s can be shared by at most %d tasks of a host, on at most %d hosts: start fewer, or use vectors (dvec)",
                      what, DOME_UNIT_MOST, DOME_UNIT_MOST);
}

static int connect_members(dome_member_table *t, dome_env *env, const char *what)
{
    const int status = dome__peer_start(env, what);
    if (status != DOME_OK)
        return status;
    env->transport->is_ruled = dome__memory_is_ruled;
    t->units = dome__unit_service_new(env->peer, env->transport);
    t->locks = dome__lock_service_new(env->peer, env->transport);
    return dome__agree(env, DOME_OK, NULL); /* all are ready before the first message */
}

int dome__member_start(dome_env *env, const char *what)
{
    if (env->lazy.members)
        return DOME_OK;
    dome_member_table *t = g_new0(dome_member_table, 1);
    const unsigned most = divide(t, env);
    int status = check(env, t, most, what);
    if (status == DOME_OK && t->count > 1)
        status = connect_members(t, env, what);
    if (status == DOME_OK)
        env->lazy.members = t;
    else
        dome__member_free(t);
    return status;
}

void dome__member_free(dome_member_table *table)
{
    if (!table)
        return;
    g_clear_pointer(&table->buried, g_ptr_array_unref);
    g_clear_pointer(&table->figures, g_ptr_array_unref);
    dome__unit_service_free(table->units);
    dome__lock_service_free(table->locks);
    dome__release_free(table->release);
    g_free(table->firsts);
    g_free(table->ranks);
    g_free(table->of);
    g_free(table);
}

/* ---- memory ---- */

/* The first task of each member makes the memory and offers it; the others map it. */
static dome_memory *take_part(dome_env *env, uint64_t bytes, const char **why, int *status)
{
    const dome_member_table *t = env->lazy.members;
    dome_memory *memory = t->task == 0 ? dome__memory_new("dome-region", bytes, why) : NULL;
    dome_memory_offer offer = {0};
    if (memory)
        offer = dome__memory_offer(memory);
    enum { WORDS = 4 };
    const int64_t words[WORDS] = {offer.process, offer.descriptor, offer.inode, offer.bytes};
    int64_t *all = g_new0(int64_t, WORDS * (size_t)env->size);
    *status = dome__allgather(env->transport, DOME_I64, words, WORDS, all);
    const int64_t *of = all + WORDS * t->ranks[0];
    offer = (dome_memory_offer){of[0], of[1], of[2], of[3]};
    if (!*status && t->task > 0 && offer.bytes > 0)
        memory = dome__memory_attach(&offer, why);
    g_free(all);
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
                                     bytes, what, env->hosts[env->rank], why ? why : "the first of them has none");
        *status = (dome_status)dome__agree(env, memory ? DOME_OK : DOME_ERR_MEMORY, text);
        g_free(text);
    }
    if (memory)
        dome__memory_taken(memory);
    if (*status != DOME_OK)
        g_clear_pointer(&memory, dome__memory_free);
    return memory;
}

dome_memory *dome__member_memory_if(dome_env *env, uint64_t bytes, int *status)
{
    const char *why;
    dome_memory *memory = take_part(env, bytes, &why, status);
    uint64_t lacks = memory ? 0 : 1;
    if (!*status)
        *status = dome__allreduce(env->transport, DOME_U64, &lacks, 1, dome__combine_max_u64, NULL);
    if (memory)
        dome__memory_taken(memory);
    if (*status || lacks)
        g_clear_pointer(&memory, dome__memory_free);
    if (*status)
        dome__fail_transport(env, *status);
    return memory;
}
