#include "program/in_place.h"

#include "balance/balance.h"
#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "core/clock.h"
#include "core/object_private.h"
#include "eval/future.h"
#include "machine/bind.h"
#include "program/change.h"
#include "program/program_operations.h"
#include "sparse/dsparse_notes.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"
#include "watch/once.h"
#include "watch/watch.h"

#include <inttypes.h>
#include <string.h>

/* The number of the operation in which tasks meet: no newcomer has made so many calls before. */
static const uint64_t TOGETHER = UINT64_C(1) << 32;

/* ---- whether ---- */

static uint64_t hash_ids(const dome_env *env)
{
    uint64_t hash = 0;
    for (const dome_object *o = NULL; (o = dome_object_next(env, o));)
        hash = dome__hash(hash, dome_object_id(o));
    return hash;
}

bool dome__in_place_can(const dome_env *env)
{
    const dome_in_place *p = &env->change->in_place;
    bool can = p->function && !env->lazy.members && !env->lazy.locks && hash_ids(env) == p->objects;
    for (const dome_object *o = NULL; can && (o = dome_object_next(env, o));)
        can = dome__object_enters(o) && !dome__object_is_binding(o);
    return can;
}

/* ---- entering ---- */

/* What knows the tasks of the view before. */
static void drop_parts(dome_env *env)
{
    dome__balance_free(g_steal_pointer(&env->balance));
    dome__comm_free(g_steal_pointer(&env->comm));
    dome__futures_free(g_steal_pointer(&env->futures));
    dsparse__notes_free(g_steal_pointer(&env->lazy.sparse_notes));
    g_clear_pointer(&env->hosts, g_strfreev);
    env->call_log = NULL;
    env->trace = NULL; /* the watch's */
    env->recording.number = 0;
    env->recording.poll_at = 0;
    dome__watch_go_over(g_steal_pointer(&env->watch));
    dome__clock_free(env->clock); /* its figures are in the profile of earlier views */
    env->clock = dome__clock_new();
    dome__bind_undo();
}

static void take_view(dome_env *env)
{
    dome_change *c = env->change;
    dome__view_plan_clear(&c->view.plan);
    c->view.plan = c->in_place.plan;
    c->in_place.plan = (dome_view_plan){0};
    c->view.rank = dome__view_plan_next(&c->view.plan, env->rank);
    c->view.number++;
    c->view.back = c->view.in_place = true;
    c->times.told = false;
    c->healing.heals = false;
    c->exec.unblock = c->exec.requests;
    g_free(c->start.provider_name);
    c->start.provider_name = g_strdup(c->start.provider->transport->name);
    env->options.start.tasks = c->view.plan.size;
    env->position = (dome_position){0};
}

/* The objects follow into the view, and those with names take their values. */
static int take_objects(dome_env *env)
{
    int status = DOME_OK;
    for (dome_object *o = NULL; status == DOME_OK && (o = dome_object_next(env, o));) {
        status = dome__object_enter(o);
        if (status != DOME_OK)
            status =
                dome__fail(env, status, "'%s' cannot follow into view %" PRIu32, dome_object_name(o), env->change->view.number);
        else
            status = dome__checkpoint_restore(env, o);
    }
    return status;
}

/* ---- meeting ---- */

enum { COUNT, KINDS, TOLD };

/* What must be the same on all tasks. */
static void describe_objects(const dome_env *env, uint64_t told[TOLD])
{
    dome_object_info info = {.size = sizeof info};
    told[COUNT] = dome_object_count(env);
    told[KINDS] = 0;
    for (const dome_object *o = NULL; (o = dome_object_next(env, o));) {
        const char *kind = dome_object_operations(o)->kind, *name = dome__object_is_named(o) ? dome_object_name(o) : "";
        dome_object_describe(o, &info);
        told[KINDS] = dome__hash(told[KINDS], dome__hash_bytes(0, kind, strlen(kind)));
        told[KINDS] = dome__hash(told[KINDS], dome__hash_bytes(0, name, strlen(name)));
        told[KINDS] = dome__hash(dome__hash(told[KINDS], info.length), info.width);
    }
}

static int compare_objects(dome_env *env)
{
    uint64_t mine[TOLD], first[TOLD];
    describe_objects(env, mine);
    memcpy(first, mine, sizeof first);
    int status = dome__bcast(env->transport, 0, DOME_U64, first, TOLD);
    if (status)
        return dome__fail_transport(env, status);
    char *why = memcmp(first, mine, sizeof mine) == 0
                    ? NULL
                    : g_strdup_printf("this task, which is new, has made %" PRIu64
                                      " objects before it, and the others have %" PRIu64 ": make the same ones in the same order",
                                      mine[COUNT], first[COUNT]);
    status = dome__agree(env, why ? DOME_ERR_STATE : DOME_OK, why);
    g_free(why);
    return status;
}

/* Those of objects that are there: what newcomers have made and freed has left others. */
static void keep_layouts(dome_env *env)
{
    dome_object_info info = {.size = sizeof info};
    dome__registry_forget_layouts(env);
    for (const dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome_object_describe(o, &info) == DOME_OK && info.distribution == DOME_DYNAMIC)
            dome__env_set_layout(env, info.layout);
}

/* Objects without names are as new ones on all tasks, and ids are equal. */
static int make_equal(dome_env *env)
{
    uint64_t last = dome__registry_last_id(env);
    int status = dome__allreduce(env->transport, DOME_U64, &last, 1, dome__combine_max_u64, NULL);
    if (status)
        return dome__fail_transport(env, status);
    keep_layouts(env);
    dome__registry_renumber(env, last + 1);
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (!dome__object_is_named(o) && dome__object_enter(o) != DOME_OK)
            return dome__fail(env, DOME_ERR_MEMORY, "no memory for '%s'", dome_object_name(o));
    return DOME_OK;
}

static int meet(dome_env *env)
{
    dome_change *c = env->change;
    dome__begin_together(env, DOME_OP_ON_VIEW_IN_PLACE, TOGETHER, dome__hash(0, c->view.number));
    int status = compare_objects(env);
    if (status == DOME_OK)
        status = make_equal(env);
    if (status != DOME_OK)
        return status;
    dome__checkpoint_recovered(env);
    c->in_place.met = c->in_place.calls = true;
    c->in_place.objects = hash_ids(env);
    return DOME_OK;
}

void dome__in_place_leave(dome_env *env)
{
    dome_change *c = env->change;
    c->view.loops += dome__watch_passed(env->watch);
    c->in_place.enters = c->in_place.met = false;
    drop_parts(env);
    take_view(env);
}

int dome__in_place_join(dome_env *env)
{
    int status = take_objects(env);
    if (status != DOME_OK)
        return status;
    dome__once_pass(env); /* main has not been run up to here */
    return meet(env);
}

int dome__in_place_check(dome_env *env)
{
    if (!env->change->view.in_place || env->change->in_place.met)
        return DOME_OK;
    return dome__fail(env, DOME_ERR_STATE,
                      "the other tasks have entered this view in place, and wait for this one, which is new: call "
                      "dome_on_view_in_place in front of the main loop");
}

int dome__in_place_register(dome_env *env, dome_view_function function, void *data)
{
    dome_change *c = env->change;
    if (env->capture.keeps_all)
        return dome__fail(env, DOME_ERR_STATE, "a program that dome-cc saves inside its calls goes on there in each view");
    c->in_place.function = function;
    c->in_place.data = data;
    c->in_place.objects = hash_ids(env);
    return c->view.in_place && !c->in_place.met ? meet(env) : DOME_OK;
}
