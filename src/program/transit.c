#include "program/transit.h"

#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "program/change.h"
#include "system/time.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "watch/watch.h"

#include <inttypes.h>

/* How long something waits: so many seconds and boundaries. */
static const double WAIT_SECONDS = 10;
enum { WAIT_BOUNDARIES = 10 };

/* So many boundaries are looked at one after the other. Later there are so many seconds in between, to limit the cost; the gap
 * grows by at most this factor, since later loops may take longer. */
enum { ONE_BY_ONE = 32, GAP_GROWTH = 4 };
static const double GAP_SECONDS = 0.05;

/* Whether an order for this boundary changes the tasks: another one lets them meet here. */
static bool order_changes(const dome_env *env)
{
    dome_view_plan plan;
    if (!env->change->ordered || !dome__view_plan_parse(env->change->ordered, env->size, &plan))
        return false;
    const bool changes = dome__view_plan_changes(&plan, env->size);
    dome__view_plan_clear(&plan);
    return changes;
}

void dome__transit_put_off_order(const dome_env *env, uint64_t boundaries)
{
    dome_change *c = env->change;
    if (env->rank == 0)
        dome__watch_postpone(env->watch, c->order);
    c->late = g_steal_pointer(&c->ordered);
    c->late_order = c->order;
    c->order = 0;
    c->order_tries.left = boundaries;
}

void dome__transit_put_off_wish(const dome_env *env, uint64_t boundaries)
{
    dome_change *c = env->change;
    c->late_wish = c->wish;
    c->wish = 0;
    c->wish_tries.left = boundaries;
}

static void put_off(dome_env *env, uint64_t boundaries)
{
    const dome_change *c = env->change;
    if (order_changes(env))
        dome__transit_put_off_order(env, boundaries);
    if (c->wish)
        dome__transit_put_off_wish(env, boundaries);
    dome__checkpoint_put_off(env, boundaries);
}

/* The whole line but for its beginning; g_free'd. */
static char *in_vain(const dome_transit *t, const char *what)
{
    char *since = NULL;
    if (t->tries > 1)
        since = g_strdup_printf("; at each of %" PRIu64 " loop boundaries in %.2g s a message or a request was open", t->tries,
                                (double)(t->last_ns - t->began_ns) * 1e-9);
    char *text = g_strdup_printf("%s%s; no %s can have it: receive messages, and wait for requests, before dome_checkpoint",
                                 t->text, since ? since : "", what);
    g_free(since);
    return text;
}

static void refuse_change(dome_env *env)
{
    dome_change *c = env->change;
    char *why = in_vain(&c->transit, "other view");
    const bool ordered = order_changes(env);
    dome__change_say_no(env, ordered ? c->order : 0, c->wish, why);
    if (ordered)
        g_clear_pointer(&c->ordered, g_free);
    c->wish = 0;
    g_free(why);
}

static void leave_out_checkpoint(dome_env *env)
{
    char *why = in_vain(&env->change->transit, "checkpoint");
    dome__checkpoint_leave_out(env, why);
    g_free(why);
}

/* Task 0: boundaries until the next try; 0: there is none. */
static uint64_t next_gap(const dome_env *env, dome_transit *t)
{
    const uint64_t now = dome__now_ns(), passed = MAX(t->gap, 1), most = passed * GAP_GROWTH;
    const double each = (double)(now - t->last_ns) * 1e-9 / (double)passed;
    t->last_ns = now;
    if ((double)(now - t->began_ns) * 1e-9 >= WAIT_SECONDS && (t->tries > WAIT_BOUNDARIES || dome__checkpoint_ends(env)))
        return 0;
    t->gap = 1;
    if (t->tries >= ONE_BY_ONE && each < GAP_SECONDS)
        t->gap = MIN((uint64_t)(GAP_SECONDS / MAX(each, 1e-9)), most);
    if (t->gap > 1) /* messages of every other boundary must not meet each try */
        t->gap += t->tries % 2;
    return t->gap;
}

/* Takes over the text. */
static int wait_on(dome_env *env, char *text)
{
    dome_transit *t = &env->change->transit;
    uint64_t gap = 0;
    if (!t->waits)
        *t = (dome_transit){.waits = true, .text = t->text, .began_ns = dome__now_ns(), .last_ns = dome__now_ns()};
    g_free(t->text);
    t->text = text;
    t->tries++;
    if (env->rank == 0)
        gap = next_gap(env, t);
    int status = dome__bcast(env->transport, 0, DOME_U64, &gap, 1);
    if (status)
        return dome__fail_transport(env, status);
    t->waits = gap > 0;
    if (t->waits) {
        put_off(env, gap);
    } else {
        refuse_change(env);
        leave_out_checkpoint(env);
    }
    return DOME_OK;
}

int dome__transit_look(dome_env *env, bool *due)
{
    dome_transit *t = &env->change->transit;
    char *text = NULL;
    if (!env->change->wish && !order_changes(env) && !dome__checkpoint_saves(env))
        return DOME_OK;
    int status = dome__comm_open(env, &text);
    if (status == DOME_OK && text) {
        *due = false;
        return wait_on(env, text);
    }
    t->waits = false;
    return status;
}

void dome__transit_end(dome_env *env)
{
    dome_change *c = env->change;
    uint64_t number;
    double age;
    if (!c->transit.waits)
        return;
    c->ordered = g_steal_pointer(&c->late);
    c->order = c->late_order;
    c->wish = c->late_wish;
    refuse_change(env);
    if (!dome__checkpoint_last(env, &number, &age)) /* else the program has some, and needs no other at its end */
        leave_out_checkpoint(env);
    c->transit.waits = false;
}
