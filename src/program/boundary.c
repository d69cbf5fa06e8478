#include "program/boundary.h"

#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "program/change.h"
#include "program/program_operations.h"
#include "program/start.h"
#include "program/transit.h"
#include "region/lock.h"
#include "transport/agree.h"
#include "watch/once.h"
#include "watch/watch.h"

/* A change of the tasks: the hub's order with its plan (0 and NULL: none), and what dome_resize has asked for (0: nothing). */
typedef struct wanted {
    uint64_t order;
    char *plan;
    int resize;
} wanted;

/* Of an order, or of a request of the program, that has been tried in vain. */
typedef struct tries {
    unsigned count;
    uint64_t left; /* boundaries until it is tried again */
} tries;

typedef struct view_call {
    dome_view_function function;
    void *data;
} view_call;

struct dome_boundary {
    bool passed;       /* the program has come to a boundary in this view */
    bool polls;        /* it polls after each operation */
    GArray *functions; /* view_call: what dome_on_view was given; NULL: nothing */
    wanted now;        /* at this boundary, until it is carried out */
    /* For another boundary: one at which values are equal on all tasks (dome__boundary_poll), or without messages in transit. */
    wanted late;
    tries order_tries, resize_tries;
    dome_transit transit;
    bool bound; /* no other number of tasks can go on from the newest checkpoint; the same on all tasks */
};

dome_boundary *dome__boundary_new(void)
{
    return g_new0(dome_boundary, 1);
}

void dome__boundary_free(dome_boundary *b)
{
    g_clear_pointer(&b->functions, g_array_unref);
    g_free(b->now.plan);
    g_free(b->late.plan);
    dome__transit_clear(&b->transit);
    g_free(b);
}

/* What an order for this boundary demands. If it changes nothing, it lets tasks meet here. */
typedef struct demanded {
    bool any, changes, other_size;
} demanded;

static demanded what_order(const dome_env *env)
{
    const char *text = env->change->boundary->now.plan;
    dome_view_plan plan;
    if (!text || !dome__view_plan_parse(text, env->size, &plan))
        return (demanded){0};
    const demanded what = {
        .any = true, .changes = dome__view_plan_changes(&plan, env->size), .other_size = plan.size != env->size};
    dome__view_plan_clear(&plan);
    return what;
}

/* ---- messages in transit ---- */

/* The order, or the request, of this boundary is tried again after so many boundaries. The hub learns that the order waits. */
static void put_off_order(const dome_env *env, uint64_t boundaries)
{
    dome_boundary *b = env->change->boundary;
    if (env->rank == 0)
        dome__watch_postpone(env->watch, b->now.order);
    b->late.plan = g_steal_pointer(&b->now.plan);
    b->late.order = b->now.order;
    b->now.order = 0;
    b->order_tries.left = boundaries;
}

static void put_off_resize(const dome_env *env, uint64_t boundaries)
{
    dome_boundary *b = env->change->boundary;
    b->late.resize = b->now.resize;
    b->now.resize = 0;
    b->resize_tries.left = boundaries;
}

static void put_off(dome_env *env, uint64_t boundaries)
{
    if (what_order(env).changes)
        put_off_order(env, boundaries);
    if (env->change->boundary->now.resize)
        put_off_resize(env, boundaries);
    dome__checkpoint_put_off(env, boundaries);
}

static void refuse_change(dome_env *env)
{
    dome_boundary *b = env->change->boundary;
    char *why = dome__transit_in_vain(&b->transit, "other view");
    const bool ordered = what_order(env).changes;
    dome__change_say_no(env, ordered ? b->now.order : 0, b->now.resize, why);
    if (ordered)
        g_clear_pointer(&b->now.plan, g_free);
    b->now.resize = 0;
    g_free(why);
}

static void leave_out_checkpoint(dome_env *env)
{
    char *why = dome__transit_in_vain(&env->change->boundary->transit, "checkpoint");
    dome__checkpoint_leave_out(env, why);
    g_free(why);
}

/* Whether what is due here may have messages that are under way: a checkpoint alone. */
static bool may_have(const dome_env *env)
{
    return env->options.checkpoint.protocol == DOME_CHECKPOINT_SNAPSHOT && dome__checkpoint_is_due(env) &&
           !env->change->boundary->now.resize && !what_order(env).changes;
}

/* At a boundary where something is due, before the program is captured for it (src/capture), and once more before it is done.
 * *due becomes false if messages are in transit: then only an order to meet is left to be answered. Collective. Fails by
 * dome__fail. */
static int look_for_messages(dome_env *env, bool *due)
{
    dome_boundary *b = env->change->boundary;
    dome_transit_found found;
    if (!b->now.resize && !what_order(env).changes && !dome__checkpoint_saves(env))
        return DOME_OK;
    bool has = false;
    int status = may_have(env) ? dome__comm_take_in(env, &has) : DOME_OK;
    if (status != DOME_OK || has)
        return status;
    status = dome__transit_find(env, &b->transit, &found);
    if (status != DOME_OK || !found.open)
        return status;
    *due = false;
    if (found.gap > 0) {
        put_off(env, found.gap);
    } else {
        refuse_change(env);
        leave_out_checkpoint(env);
    }
    return DOME_OK;
}

void dome__boundary_end(dome_env *env)
{
    dome_boundary *b = env->change->boundary;
    uint64_t number;
    double age;
    if (!dome__transit_waits(&b->transit))
        return;
    b->now = b->late;
    b->late = (wanted){0};
    refuse_change(env);
    if (!dome__checkpoint_last(env, &number, &age)) /* else the program has some, and needs no other at its end */
        leave_out_checkpoint(env);
    dome__transit_stop(&b->transit);
}

/* ---- at a boundary ---- */

/* Whether what waits is tried again at this boundary, but not where tasks meet, or an order has come: then at the next. */
static bool is_again(struct tries *tries, bool waits, bool other)
{
    if (!waits)
        *tries = (struct tries){0};
    else if (--tries->left == 0 && other)
        tries->left = 1;
    return waits && tries->left == 0;
}

/* The order of the hub for this boundary, or the one that was postponed to it; and the request that was. */
static void take_order(const dome_env *env)
{
    dome_boundary *b = env->change->boundary;
    b->now.order = 0;
    b->now.plan = env->watch ? dome__watch_loop(env->watch, &b->now.order) : NULL;
    const bool other = b->now.plan != NULL;
    if (is_again(&b->order_tries, b->late.plan != NULL, other)) {
        b->now.plan = g_steal_pointer(&b->late.plan);
        b->now.order = b->late.order;
    }
    if (is_again(&b->resize_tries, b->late.resize != 0, other)) {
        b->now.resize = b->late.resize;
        b->late.resize = 0;
    }
}

static void pass(dome_env *env)
{
    if (!env->change->boundary->passed)
        dome__once_pass(env);
    env->change->boundary->passed = true;
}

/* Whether something is due at this boundary: kept in the environment's parts until it is carried out. */
static int decide(dome_env *env, bool *due)
{
    dome_boundary *b = env->change->boundary;
    take_order(env);
    pass(env);
    dome__view_times_tell(env);
    int status = dome__checkpoint_decide(env, due);
    *due = *due || b->now.plan || b->now.resize;
    return status == DOME_OK && *due ? look_for_messages(env, due) : status;
}

/* The boundary, as a view that goes on from here knows it. */
static uint64_t place(const dome_env *env)
{
    return env->checkpoints ? dome__checkpoint_loop(env) : env->change->view.loops + dome__watch_passed(env->watch);
}

/* The messages need no place when they have been copied. */
static int write_checkpoint(dome_env *env)
{
    dvec *channel = NULL;
    int status = may_have(env) ? dome__channel_make(env, &channel) : DOME_OK;
    if (status == DOME_OK)
        status = dome__checkpoint_carry_out(env);
    if (channel)
        dvec_free(channel);
    return status;
}

void dome__boundary_begin(dome_env *env)
{
    uint64_t number, loop;
    dome__checkpoint_from(env, &number, &loop);
    dome__once_back(env, loop);
    dome__channel_restore(env);
}

static int carry_out(dome_env *env, int status, const char *bound)
{
    dome_boundary *b = env->change->boundary;
    char *plan = g_steal_pointer(&b->now.plan);
    const uint64_t order = b->now.order;
    if (status == DOME_OK && (dome__checkpoint_saves(env) || plan || b->now.resize))
        dome__once_mark(env, place(env));
    if (status == DOME_OK)
        status = write_checkpoint(env);
    if (status == DOME_OK) {
        const dome_change_demand demand = {.order = order, .plan = plan, .resize = b->now.resize, .bound = bound};
        b->now.resize = 0;
        status = dome__change_boundary(env, &demand);
        if (env->change->in_place.enters)
            status = dome__enter_in_place(env);
    } else if (order) {
        dome__change_refuse(env, order, dome_status_text((dome_status)status));
    }
    g_free(plan);
    return status;
}

/* The messages need no place when they are written. */
static int write_own(dome_env *env)
{
    GByteArray *state = dome__comm_log_state(env);
    dvec *channel = NULL;
    if (!state)
        return DOME_ERR_MEMORY;
    dome__once_mark(env, place(env));
    int status = dome__channel_put(env, state, &channel);
    g_byte_array_unref(state);
    GArray *used = status == DOME_OK ? dome__copy_messages(env) : NULL;
    bool written = false;
    if (status == DOME_OK)
        status = dome__own_write(env, used, &written);
    if (used && !written)
        dome__comm_log_uncopied(env);
    if (used)
        g_array_unref(used);
    if (channel)
        dvec_free(channel);
    return written ? dome__comm_log_covered(env) : status;
}

/* Tasks come to their boundaries at different times, and none waits for another: so no order is taken. */
static int pass_own(dome_env *env)
{
    const int status = dome__comm_leave(env);
    if (status != DOME_OK)
        return status;
    pass(env);
    dome__view_times_tell(env);
    return dome__own_pass(env, dome__comm_log_owed(env)) ? write_own(env) : DOME_OK;
}

/* Why the present view began. */
static dome_view_news news_of(const dome_env *env)
{
    const dome_change *c = env->change;
    return (dome_view_news){.size = sizeof(dome_view_news),
                            .reason = !c->healing.heals                            ? DOME_VIEW_CHANGED
                                      : env->options.loss.action == DOME_LOSS_TELL ? DOME_VIEW_LOST
                                                                                   : DOME_VIEW_HEALED,
                            .epoch = c->view.number,
                            .before = c->healing.before,
                            .tasks = env->size};
}

/* The tasks have met in a view that was entered in place: the program's functions are called outside of operations. */
static void call_functions(dome_env *env)
{
    dome_in_place *p = &env->change->in_place;
    const GArray *functions = env->change->boundary->functions;
    if (!p->calls)
        return;
    p->calls = false;
    const dome_view_news news = news_of(env);
    for (guint k = 0; functions && k < functions->len; k++) {
        const view_call *call = &g_array_index(functions, view_call, k);
        call->function(env, &news, call->data);
    }
    p->function(env, &news, p->data);
}

dome_status dome_checkpoint(dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    bool due;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    int status = env->lazy.locks ? dome__locks_check(env) : DOME_OK;
    if (status == DOME_OK)
        status = dome__in_place_check(env);
    if (status != DOME_OK)
        return dome__end(&op, status);
    if (dome__comm_logs(env))
        return dome__end(&op, pass_own(env));
    status = decide(env, &due);
    status = dome__end(&op, carry_out(env, status, NULL));
    call_functions(env);
    return status;
}

dome_status dome__boundary_reach(dome_env *env, bool *due)
{
    dome_operation op;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    int status = decide(env, due);
    if (status != DOME_OK || !*due) {
        *due = false;
        status = carry_out(env, status, NULL);
    }
    return dome__end(&op, status);
}

/* An order or a request that no other number of tasks can follow here is tried again behind later operations: the 1st, the 2nd
 * from there, the 4th, and so on. Each has its own tries: a program may ask for another number all the time. In between tasks may
 * meet for a checkpoint. */
enum { LATE_TRIES = 10 };

static bool may_wait(struct tries *tries)
{
    if (tries->count == LATE_TRIES)
        return false;
    tries->left = (uint64_t)1 << tries->count++;
    return true;
}

static void postpone(const dome_env *env)
{
    dome_boundary *b = env->change->boundary;
    if (!b->polls)
        return;
    if (what_order(env).other_size && may_wait(&b->order_tries))
        put_off_order(env, b->order_tries.left);
    if (b->now.resize && may_wait(&b->resize_tries))
        put_off_resize(env, b->resize_tries.left);
}

static int look(dome_env *env, bool asked, bool *due)
{
    const dome_boundary *b = env->change->boundary;
    const demanded what = what_order(env);
    const bool met = what.any && !what.changes, writes = env->checkpoints && env->options.checkpoint.directory;
    int status = dome__checkpoint_consult(env, asked || met, due);
    *due = *due || b->now.resize || (b->now.plan && !met) || ((asked || met) && !writes);
    return status == DOME_OK && *due ? look_for_messages(env, due) : status;
}

dome_status dome__boundary_poll(dome_env *env, bool asked, bool *due)
{
    dome_boundary *b = env->change->boundary;
    b->polls = true;
    take_order(env);
    dome__view_times_tell(env);
    const bool consults = dome__checkpoint_pass(env);
    *due = false;
    if (!b->now.plan && !asked && !consults && !b->now.resize)
        return DOME_OK;
    dome_operation op;
    pass(env);
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, env->watch ? dome__watch_passed(env->watch) : 0);
    int status = look(env, asked, due);
    if (status != DOME_OK || !*due) {
        *due = false;
        status = carry_out(env, status, NULL);
    }
    return dome__end(&op, status);
}

bool dome__boundary_ask(dome_env *env)
{
    if (env->watch)
        dome__watch_meet(env->watch);
    return !env->watch;
}

/* Before the number of tasks changes: if the newest checkpoint needs the number before, another one is written here. Else a loss
 * soon after the change could not be healed. */
static int write_first(dome_env *env, bool bound)
{
    dome_boundary *b = env->change->boundary;
    bool due;
    int status = DOME_OK;
    if (b->bound && !bound && (b->now.resize || b->now.plan) && !dome__checkpoint_is_due(env)) {
        dome__checkpoint_finish(env);
        status = dome__checkpoint_consult(env, true, &due);
    }
    if (dome__checkpoint_is_due(env))
        b->bound = bound;
    return status;
}

dome_status dome__boundary_pass(dome_env *env, dome_status status, const char *bound)
{
    dome_operation op;
    bool due = true;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    if (status == DOME_OK) /* a function of the program may have sent something before it was captured (dome_capture_on) */
        status = look_for_messages(env, &due);
    if (status == DOME_OK && bound)
        postpone(env);
    if (status == DOME_OK)
        status = write_first(env, bound != NULL);
    return dome__end(&op, carry_out(env, status, bound));
}

void dome__boundary_restored(dome_env *env, bool bound)
{
    env->change->boundary->bound = bound;
    dome__once_pass(env); /* main has not been run up to here */
}

/* ---- for programs ---- */

/* Why --dome-min and --dome-max do not allow so many tasks: g_free'd; NULL: they do. */
static char *beyond(const dome_options *o, int tasks)
{
    const int least = MAX(o->size.least, 1);
    if (tasks < least)
        return g_strdup_printf("%d would be fewer than the least number of tasks, %d", tasks, least);
    if (o->size.most && tasks > o->size.most)
        return g_strdup_printf("%d would be more than the greatest number of tasks, %d", tasks, o->size.most);
    return NULL;
}

dome_status dome_resize(dome_env *env, int tasks)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_RESIZE, NULL, (uint64_t)tasks);
    const char *other = dome__change_objection(env, tasks);
    char *why = dome__change_never(env), *range = beyond(&env->options, tasks);
    int status = dome__agree(env, why ? DOME_ERR_STATE : DOME_OK, why);
    if (status == DOME_OK && range)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "%s", range);
    else if (status == DOME_OK && other)
        status = dome__fail(env, DOME_ERR_STATE, "the program keeps its %d tasks: %s", env->size, other);
    if (status == DOME_OK) {
        env->change->boundary->now.resize = tasks == env->size ? 0 : tasks;
        env->change->boundary->late.resize = 0;
    }
    g_free(why);
    g_free(range);
    return dome__end(&op, status);
}

dome_status dome_on_view(dome_env *env, dome_view_function function, void *data)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(function, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_ON_VIEW, NULL, NULL, 0);
    const dome_change *c = env->change;
    dome_boundary *b = c->boundary;
    if (b->passed)
        return dome__end(&op, dome__fail(env, DOME_ERR_STATE,
                                         "the program has passed a loop boundary (dome_checkpoint) in this "
                                         "view: give the function right after dome_init"));
    const dome_view_news news = news_of(env);
    const view_call call = {function, data};
    if (!b->functions)
        b->functions = g_array_new(FALSE, FALSE, sizeof call);
    g_array_append_val(b->functions, call);
    dome__end(&op, DOME_OK);
    if (c->view.number > 0 && !c->view.in_place) /* else it is called where all tasks meet */
        function(env, &news, data);
    return DOME_OK;
}

dome_view_function dome__boundary_function(const dome_env *env, size_t k, void **data)
{
    const GArray *functions = env->change->boundary->functions;
    if (!functions || k >= functions->len)
        return NULL;
    const view_call *call = &g_array_index(functions, view_call, k);
    *data = call->data;
    return call->function;
}

dome_status dome_on_view_in_place(dome_env *env, dome_view_function function, void *data)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(function, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_ON_VIEW_IN_PLACE, NULL, NULL, 0);
    const dome_change *c = env->change;
    const bool anew = c->view.number > 0 && !c->view.in_place && !c->in_place.function && !c->boundary->passed;
    const dome_status status = dome__end(&op, (dome_status)dome__in_place_register(env, function, data));
    if (status == DOME_OK && anew) {
        const dome_view_news news = news_of(env);
        function(env, &news, data);
    } else if (status == DOME_OK) {
        call_functions(env);
    }
    return status;
}
