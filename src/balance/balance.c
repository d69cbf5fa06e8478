#include "balance/balance_private.h"
#include "balance/migrate.h"
#include "core/object_private.h"
#include "trace/record.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <string.h>

/* The number of operations between two phases grows by at most this factor: later operations may take longer. */
enum { GROWTH = 4 };

/* Numbers that travel ahead have at most this part of the operations between two phases for their way. */
enum { WAY_PART = 4 };

/* A task looks for numbers that travel ahead no more often than this. */
enum { LOOK_NS = 20000 };

/* `late` of numbers that have not arrived. */
#define NOT_YET UINT64_MAX

/* Weight of a new measurement of the cost of a phase. */
static const double PHASE_WEIGHT = 0.2;

/* Seconds for which each task's speed is measured at the start; the measurement is repeated, for longer, if the fastest task is
 * LOOKS_DIFFERENT times as fast as the slowest. If they still differ, these speeds are used until the program's own are measured,
 * as if they had been measured for SECOND_LOOK seconds. */
static const double FIRST_LOOK = 0.02, SECOND_LOOK = 0.1, LOOKS_DIFFERENT = 1.4;

/* Seconds from one mark to the next. */
static const double MARK_SECONDS = 0.2;

/* A task asks for the next phase when its part of the processor has changed by so many times `alarm_share`, up or down. It knows
 * that before the others wait for it, so the data can move one collective sooner. */
static const double PART_SHARES = 2;

/* Assumed until the links or the first migration are measured. */
static const double FIRST_LATENCY = 0.0002, FIRST_BANDWIDTH = 100e6; /* s, bytes/s */

/* A task asks for the next phase when the share of its time spent waiting has grown by this much since the last phase. The
 * threshold grows by ALARM_BACKOFF with each phase that was requested in vain. */
static const double ALARM_SHARE = 0.1, ALARM_BACKOFF = 1.5, ALARM_WINDOW = 0.1;

static bool adaptive(const dome_balance *b)
{
    return b->when.every == 0 && (b->policy == DOME_BALANCE_GLOBAL || b->policy == DOME_BALANCE_RING);
}

/* Otherwise phases are held at operations that the user can predict. */
static bool may_go_ahead(const dome_balance *b)
{
    return adaptive(b) && !b->check_pointers;
}

dome_balance *dome__balance_new(const dome_options *options, dome_transport *transport)
{
    const dome_transport_group *group = &transport->group;
    bool moves = options->balance.policy != DOME_BALANCE_NONE && group->size > 1;
    if (!moves && !options->check_pointers)
        return NULL;
    dome_balance *b = g_new0(dome_balance, 1);
    *b = (dome_balance){
        .policy = moves ? options->balance.policy : DOME_BALANCE_NONE,
        .topology = options->balance.topology,
        .rank = group->rank,
        .size = group->size,
        .group = MIN(options->balance.policy == DOME_BALANCE_GLOBAL ? group->size : options->balance.group, group->size),
        .when.every = options->balance.every,
        .when.phases_left = options->balance.phases ? options->balance.phases : UINT64_MAX,
        .check_pointers = options->check_pointers,
        .when.next = UINT64_MAX,
        .moving = {.latency = FIRST_LATENCY},
        .alarm.usual_wait = -1,
        .alarm.share = ALARM_SHARE};
    static const char *const names[] = {[DOME_BALANCE_NONE] = "none",
                                        [DOME_BALANCE_GLOBAL] = "global",
                                        [DOME_BALANCE_RING] = "ring",
                                        [DOME_BALANCE_RANDOM] = "random"};
    b->report.policy = names[b->policy];
    b->domains = g_ptr_array_new_with_free_func(dome__domain_free);
    b->speeds = g_new0(dome_speed, b->size);
    if (b->policy == DOME_BALANCE_GLOBAL || b->policy == DOME_BALANCE_RING)
        b->relay = dome__relay_new(transport, b->policy == DOME_BALANCE_RING ? DOME_RELAY_NARROW : DOME_RELAY_BY_HOSTS);
    for (int k = 0; k < DOME_REACHES; k++)
        b->moving.each[k] = 1 / FIRST_BANDWIDTH;
    dome__schedule_init(&b->schedule);
    if (b->policy == DOME_BALANCE_RANDOM)
        b->when.next = 0;
    return b;
}

void dome__balance_free(dome_balance *b)
{
    if (!b)
        return;
    g_ptr_array_unref(b->domains);
    dome__relay_free(b->relay);
    g_free(b->speeds);
    g_free(b);
}

void dome__balance_report(const dome_balance *b, dome_balance_report *report)
{
    *report = b->report;
}

/* ---- at the start ---- */

/* Measures the computing speed of every task; the results are by rank. */
static int look(dome_env *env, double seconds, double *speeds, double *most_over_least)
{
    double mine = dome__speed_now(seconds), least, most;
    int status = dome__allgather(env->transport, DOME_F64, &mine, 1, speeds);
    least = most = speeds[0];
    for (int r = 1; r < env->size && status == DOME_OK; r++) {
        least = MIN(least, speeds[r]);
        most = MAX(most, speeds[r]);
    }
    *most_over_least = status == DOME_OK && least > 0 ? most / least : 1;
    return status == DOME_OK ? status : dome__fail_transport(env, status);
}

/* The rate of each task if its processor were not shared, in the unit of the median one (learn.c). */
static int gather_processors(dome_env *env, dome_balance *b, double *processors)
{
    b->processor = dome__processor_speed();
    double mine = b->processor * 1e9;
    int status = dome__allgather(env->transport, DOME_F64, &mine, 1, processors);
    return status == DOME_OK ? status : dome__fail_transport(env, status);
}

int dome__balance_probe(dome_env *env)
{
    dome_balance *b = env->balance;
    if (!b || !adaptive(b) || dome__on_one_host(env)) /* tasks of one host share its processors */
        return DOME_OK;
    double *speeds = g_new0(double, b->size), *processors = g_new0(double, b->size), ratio;
    int status = look(env, FIRST_LOOK, speeds, &ratio);
    bool differ = status == DOME_OK && ratio > LOOKS_DIFFERENT;
    if (differ)
        status = look(env, SECOND_LOOK, speeds, &ratio);
    if (status == DOME_OK && differ && ratio > LOOKS_DIFFERENT)
        status = gather_processors(env, b, processors);
    double middle = dome__median(processors, b->size);
    if (status == DOME_OK && middle > 0) {
        for (int r = 0; r < b->size; r++)
            if (dome__speed_update(&b->speeds[r], speeds[r] / middle, SECOND_LOOK, 1))
                b->speeds[r].doubt = 0;
        b->skewed = true;
    }
    g_free(speeds);
    g_free(processors);
    return status;
}

/* ---- when ---- */

/* Checks how long this task has waited lately. In a balanced program no task waits long. */
static void watch_waiting(const dome_env *env, dome_balance *b)
{
    uint64_t now = dome__now_ns(), wait = dome__clock_away_ns(env);
    double seconds = (double)(now - b->alarm.window_ns) * 1e-9;
    if (seconds < ALARM_WINDOW)
        return;
    double share = (double)(wait - b->alarm.window_wait_ns) * 1e-9 / seconds;
    if (b->alarm.usual_wait < 0)
        b->alarm.usual_wait = share;
    else if (share > b->alarm.usual_wait + b->alarm.share)
        dome__group_ask(&env->transport->group);
    b->alarm.window_ns = now;
    b->alarm.window_wait_ns = wait;
}

/* Whether this task has another part of its processor than at the last phase, as the stretch up to the newest mark shows. */
static void watch_part(const dome_env *env, dome_balance *b)
{
    const moment *last[2];
    const double part = dome__marks_last(&b->marks, last) ? dome__balance_part(env, last[0], last[1]) : 0;
    const double had = b->given.part, factor = 1 + PART_SHARES * b->alarm.share;
    if (part > 0 && had > 0 && (part > had * factor || part * factor < had))
        dome__group_ask(&env->transport->group);
}

/* Measurements begin at `from`, which may be in the past. */
static void restart_clock(const dome_env *env, dome_balance *b, moment from)
{
    b->start = from;
    b->alarm.window_ns = dome__now_ns();
    b->alarm.window_wait_ns = dome__clock_away_ns(env);
    b->alarm.usual_wait = -1;
}

/* The first phase is due as soon as there is something to measure, except where the user has set both the interval and the number
 * of phases: then the user decides when it is due. */
static bool first_is_early(const dome_balance *b)
{
    return !b->when.every || b->when.phases_left == UINT64_MAX;
}

/* Work before the first operation in which data may move is preparation: files are read and vectors are filled, perhaps by a
 * single task. It says nothing about speeds. */
static void start(dome_env *env, dome_balance *b)
{
    b->when.started = true;
    b->when.together = b->when.together_before = env->transport->group.together;
    restart_clock(env, b, dome__balance_moment(env));
    if (b->policy == DOME_BALANCE_GLOBAL || b->policy == DOME_BALANCE_RING)
        b->when.next = env->position.sequence + (first_is_early(b) ? 1 : b->when.every);
}

/* Whether the program's own collectives make tasks wait for each other so often that a phase is better held right after one of
 * them, where nobody waits for it. It then waits for such a collective, until `most` operations after it was due. */
static bool is_coupled(const dome_balance *b, uint64_t collectives, uint64_t *most)
{
    uint64_t operations = b->when.next - b->start.sequence;
    *most = collectives > 1 ? 2 * operations / collectives : 0;
    return collectives > 1;
}

/* A phase is due: whether to begin it here, and whether its numbers travel ahead. */
static bool begins_here(const dome_env *env, dome_balance *b, bool just_waited)
{
    uint64_t most;
    if (!b->relay || !may_go_ahead(b) || just_waited)
        return true;
    if (is_coupled(b, env->transport->group.together - b->when.together, &most) && env->position.sequence < b->when.next + most)
        return false;
    b->ahead.give = true;
    return true;
}

static bool is_due(dome_env *env, dome_balance *b)
{
    dome_transport *t = env->transport;
    bool just_waited = t->group.together != b->when.together_before;
    b->when.together_before = t->group.together;
    b->ahead.give = false;
    if (b->when.phases_left == 0)
        return false;
    if (dome__marks_due(&b->marks, env->position.sequence)) {
        dome__marks_make(env, &b->marks);
        watch_part(env, b);
    }
    if (b->ahead.begun)
        return env->position.sequence >= b->when.next;
    if (env->position.sequence >= b->when.next && begins_here(env, b, just_waited))
        return true;
    if (!adaptive(b))
        return false;
    if (t->group.asked)
        return true;
    if (!t->group.asks)
        watch_waiting(env, b);
    return false;
}

/* While numbers travel: takes and passes on those that have arrived. Returns false on a failure, which the next step reports. */
static bool look_for_numbers(dome_env *env, dome_balance *b)
{
    uint64_t now = dome__now_ns();
    if (dome__relay_complete(b->relay) || now - b->ahead.looked_ns < LOOK_NS)
        return true;
    b->ahead.looked_ns = now;
    const uint64_t waited = *env->wait_ns;
    int status = dome__relay_advance(b->relay, false);
    dome__clock_waited(env, DOME_OP_BALANCE, *env->wait_ns - waited);
    if (dome__relay_complete(b->relay))
        b->ahead.late = env->position.sequence - b->given.at.sequence;
    return status == DOME_OK;
}

bool dome__balance_due(dome_env *env, dome_operation_code code)
{
    dome_balance *b = env->balance;
    if (!b || !dome__operation_has(code, DOME_OPERATION_MOVES))
        return false;
    if (!b->when.started)
        start(env, b);
    b->when.due = is_due(env, b) || (b->ahead.begun && !look_for_numbers(env, b));
    return b->when.due || b->check_pointers;
}

/* ---- what is moved ---- */

/* The new layouts of all domains that move; NULL when memory is out. */
static GPtrArray *new_layouts(const dome_balance *b)
{
    GPtrArray *layouts = g_ptr_array_new_with_free_func((GDestroyNotify)dome_layout_unref);
    for (guint k = 0; k < b->domains->len; k++) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d) || d->moves == 0)
            continue;
        dome_layout *layout = dome_layout_new(d->length, d->block_size, b->size, d->start, d->counts);
        if (!layout) {
            g_ptr_array_unref(layouts);
            return NULL;
        }
        g_ptr_array_add(layouts, layout);
    }
    return layouts;
}

static int move(dome_env *env, dome_balance *b)
{
    uint64_t begin = dome__now_ns(), decision = 0;
    int status = DOME_OK;
    dome__env_settle(env); /* the rest of the deferred work: all of it that can fail has been run */
    GPtrArray *layouts = new_layouts(b);
    if (!layouts)
        return dome__fail(env, DOME_ERR_MEMORY, "no memory for a layout");
    for (guint k = 0; k < layouts->len; k++)
        decision = dome__hash(decision, dome__layout_hash(g_ptr_array_index(layouts, k)));
    dome__begin_next(env, decision); /* should tasks ever reach different decisions, the check of their messages detects it */
    for (guint k = 0; status == DOME_OK && k < layouts->len; k++)
        status = dome__relayout(env, g_ptr_array_index(layouts, k));
    g_ptr_array_unref(layouts);
    b->last.move_seconds = (double)dome__since_ns(begin) * 1e-9;
    return status;
}

/* Objects that balancing does not move follow the same rule for pointers. An object that cannot adopt its own layout again stays
 * where it is. */
static void refresh_fixed(dome_env *env)
{
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome_object_describe(o, &info) == DOME_OK && info.distribution != DOME_DYNAMIC && info.layout)
            dome_object_adopt(o, info.layout);
}

/* Moves every vector to new memory under its present layout, so that a program that keeps old pointers is detected. */
static int stay(dome_env *env, dome_balance *b)
{
    int status = DOME_OK;
    for (guint k = 0; status == DOME_OK && k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        dome_layout *layout = dome_layout_ref(dome_env_layout(env, d->length, d->block_size)); /* a migration may just have
                                                                                                * changed it */
        status = dome__relayout(env, layout);
        dome_layout_unref(layout);
    }
    if (status == DOME_OK)
        refresh_fixed(env);
    return status;
}

/* Structures may have deferred more work since the numbers were taken, and it may fail on one task alone: then nothing moves. */
static int agree_to_move(dome_env *env, bool *pays)
{
    bool any = false;
    for (dome_object *o = NULL; !any && (o = dome_object_next(env, o));)
        any = dome__object_syncs(o);
    if (!any)
        return DOME_OK;
    uint64_t failed = !dome__env_settle(env);
    int status = dome__allreduce(env->transport, DOME_U64, &failed, 1, dome__combine_max_u64, NULL);
    *pays = !failed;
    return status == DOME_OK ? status : dome__fail_transport(env, status);
}

/* ---- phases ---- */

static void note_imbalance(dome_balance *b, const hearing *h)
{
    if (!(h->busy_mean > 0))
        return;
    b->report.imbalance_last = h->busy_most / h->busy_mean;
    if (b->report.imbalance_first == 0)
        b->report.imbalance_first = b->report.imbalance_last;
}

/* Sets the next phase, as a number of operations; long operations may follow short ones. done: operations in `elapsed` seconds.
 */
static void set_next(const dome_env *env, dome_balance *b, uint64_t done, double elapsed)
{
    double operations = elapsed > 0 ? ceil(b->schedule.interval * (double)done / elapsed) : 1;
    b->when.next = b->start.sequence + (b->when.every ? b->when.every : (uint64_t)CLAMP(operations, 1, (double)(GROWTH * done)));
    b->when.next = MAX(b->when.next, env->position.sequence + 1);
    if (adaptive(b) && elapsed > 0)
        dome__marks_every(&b->marks, (uint64_t)MAX(round(MARK_SECONDS * (double)done / elapsed), 1));
}

/* Learns from the last migration what moving takes. */
static void learn_moving(dome_balance *b, const hearing *h)
{
    dome__moving_learn(&b->moving, b->planned, h->move);
    memset(b->planned, 0, sizeof b->planned);
    b->last.move_seconds = 0;
}

/* Operations that the numbers of a phase describe, at least 1. */
static uint64_t operations_done(const dome_balance *b)
{
    return MAX(b->given.at.sequence - b->start.sequence, 1);
}

/* Seconds between phases at the user's interval in operations; this phase may have been held earlier than that. */
static double time_of_every(const dome_balance *b, double elapsed)
{
    return elapsed * MAX((double)b->when.every / (double)operations_done(b), 1);
}

/* Whether this phase follows the previous one by the user's interval. */
static bool is_asked_for(const dome_balance *b)
{
    return b->when.every && b->given.at.sequence - b->start.sequence >= b->when.every;
}

/* Postpones a phase that had too little to measure by twice the operations done so far, but not beyond the user's interval. */
static void look_again(const dome_env *env, dome_balance *b)
{
    uint64_t done = MAX(env->position.sequence - b->start.sequence, 1);
    b->when.next = env->position.sequence + 2 * done;
    if (b->when.every && done < b->when.every)
        b->when.next = MIN(b->when.next, b->start.sequence + b->when.every);
}

/* Learns and decides, from the numbers of all tasks. Returns whether moving data pays. */
static int judge(dome_env *env, dome_balance *b, hearing *h, bool *pays)
{
    int status = dome__balance_learn(env, b, h);
    if (status != DOME_OK)
        return status;
    if (b->ahead.begun) /* the program may have made, freed and moved objects since */
        dome__domains_survey(env, b);
    else
        dome__domains_restart(env, b);
    if (b->when.every) /* a division made now stays until the next phase of the user's interval, or for good */
        b->schedule.interval = b->when.phases_left == 1 ? INFINITY : time_of_every(b, h->elapsed);
    *pays = dome__balance_decide(env, b);
    return b->ahead.begun && *pays ? agree_to_move(env, pays) : DOME_OK;
}

/* Moves data if that pays; begin: of the phase. */
static int conclude(dome_env *env, dome_balance *b, hearing *h, uint64_t begin)
{
    bool pays;
    uint64_t done = operations_done(b);
    b->report.phases++;
    b->report.phases_ahead += b->ahead.begun;
    if (b->last.was_calm) /* otherwise some tasks waited for others in it, as they would have elsewhere */
        b->schedule.phase += (b->schedule.phase > 0 ? PHASE_WEIGHT : 1) * (h->phase - b->schedule.phase);
    note_imbalance(b, h);
    double imbalance = h->busy_mean > 0 ? h->busy_most / h->busy_mean : 0;
    int status = judge(env, b, h, &pays);
    if (status != DOME_OK)
        return status;
    b->last.phase_seconds = (double)dome__since_ns(begin) * 1e-9 + (b->ahead.begun ? b->ahead.give_seconds : 0);
    if (pays) {
        b->skewed = true;
        b->report.moving_phases++;
        status = move(env, b);
        dome__domains_restart(env, b);
        dome__marks_forget(&b->marks); /* what was done before is not comparable */
    }
    dome__trace_phase(env->trace, begin, pays, imbalance, h->elapsed);
    b->alarm.share = pays ? ALARM_SHARE : b->alarm.raised ? MIN(b->alarm.share * ALARM_BACKOFF, 0.9) : b->alarm.share;
    /* The mean over a long time hides what made a task ask, so the next phase is soon. */
    b->last.was_calm = !pays && !h->doubt && !b->alarm.raised;
    dome__schedule_next(&b->schedule, pays, h->doubt || b->alarm.raised);
    restart_clock(env, b, b->ahead.begun && !pays ? b->given.at : dome__balance_moment(env));
    b->when.together = env->transport->group.together;
    set_next(env, b, done, h->elapsed);
    return status;
}

/* A phase from the numbers of all tasks. */
static int measured_phase(dome_env *env, dome_balance *b, hearing *h, uint64_t begin)
{
    learn_moving(b, h);
    bool enough = h->busy_most >= b->schedule.shortest; /* less says nothing */
    if (!h->failed && (enough || is_asked_for(b)))
        return conclude(env, b, h, begin);
    look_again(env, b); /* measurements so far still count */
    dome__balance_take_back(b, h);
    return DOME_OK;
}

static int phase_at_once(dome_env *env, dome_balance *b)
{
    hearing h = {0};
    uint64_t begin = dome__now_ns();
    int status = dome__balance_exchange(env, b, &h);
    if (status == DOME_OK)
        status = measured_phase(env, b, &h, begin);
    g_free(h.said);
    return status;
}

/* ---- phases whose numbers travel ahead ---- */

/* The numbers should reach all tasks before the operation for which the phase is set: until then the tasks compute. It must not
 * be far, though, since the data moves only then; a task that gets there first waits. */
static int give_numbers(dome_env *env, dome_balance *b)
{
    uint64_t begin = dome__now_ns(), done = env->position.sequence - b->start.sequence;
    int status = dome__balance_give(env, b);
    dome__domains_restart(env, b);
    b->ahead.begun = true;
    b->ahead.late = NOT_YET;
    b->ahead.looked_ns = begin;
    b->when.next = env->position.sequence + CLAMP(done / WAY_PART, 1, b->ahead.delay);
    b->ahead.give_seconds = (double)dome__since_ns(begin) * 1e-9;
    return status;
}

/* Operations after which this task would have had the numbers, had it not waited for them. */
static uint64_t lateness(const dome_env *env, const dome_balance *b, uint64_t waited_ns)
{
    uint64_t operations = env->position.sequence - b->given.at.sequence, passed = dome__since_ns(b->given.at.ns);
    if (b->ahead.late != NOT_YET)
        return b->ahead.late;
    return passed > waited_ns ? (uint64_t)ceil((double)operations * ((double)passed / (double)(passed - waited_ns))) : operations;
}

static int take_numbers(dome_env *env, dome_balance *b)
{
    hearing h = {0};
    uint64_t begin = dome__now_ns(), waited = b->waited_ns;
    int status = dome__balance_take(env, b, &h);
    if (status == DOME_OK) {
        b->ahead.late = lateness(env, b, b->waited_ns - waited);
        b->ahead.delay = (uint64_t)(1.25 * h.late) + 1;
        status = measured_phase(env, b, &h, begin);
    }
    b->ahead.begun = false;
    g_free(h.said);
    return status;
}

static int random_phase(dome_env *env, dome_balance *b)
{
    uint64_t failed = !dome__env_settle(env);
    uint64_t waited = dome__clock_away_ns(env);
    int status = dome__allreduce(env->transport, DOME_U64, &failed, 1, dome__combine_max_u64, NULL);
    b->waited_ns += dome__clock_away_ns(env) - waited;
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    if (failed)
        return DOME_OK;
    b->report.phases++;
    b->report.moving_phases++;
    uint64_t begin = dome__now_ns();
    dome__balance_decide_randomly(b, env->position.sequence);
    status = move(env, b);
    dome__trace_phase(env->trace, begin, true, 0, 0);
    return status;
}

void dome__balance(dome_env *env, dome_operation_code code, const dome_object *object)
{
    dome_balance *b = env->balance;
    dome_operation op;
    uint64_t begin = dome__now_ns();
    uint64_t phases = b->report.phases, waited = b->waited_ns;
    uint64_t together = env->transport->group.together;
    dome__begin_with(&op, env, DOME_OP_BALANCE, object, (uint64_t[]){code, b->when.next}, 2);
    /* The user knows the operation that waits here, not this internal one. */
    op.code = code;
    op.object = object;
    if (env->watch)
        env->hooks->at(env, (uint32_t)code, object ? dome_object_id(object) : 0);
    b->alarm.raised = env->transport->group.asked;
    dome__group_answer(&env->transport->group);
    if (!b->ahead.begun)
        dome__domains_survey(env, b);
    int status = DOME_OK;
    if (b->when.due && b->policy == DOME_BALANCE_RANDOM)
        status = random_phase(env, b);
    else if (b->when.due && b->ahead.begun)
        status = take_numbers(env, b);
    else if (b->when.due && b->ahead.give)
        status = give_numbers(env, b);
    else if (b->when.due)
        status = phase_at_once(env, b);
    if (b->report.phases > phases && b->when.phases_left != UINT64_MAX)
        b->when.phases_left--;
    if (status == DOME_OK && b->check_pointers && dome__env_settle(env))
        status = stay(env, b);
    const uint64_t now = env->transport->group.together;
    b->when.together = MIN(b->when.together + now - together, now); /* not the program's own */
    b->when.together_before = now;
    waited = b->waited_ns - waited;
    uint64_t took = dome__since_ns(begin);
    b->report.waited += (double)waited * 1e-9;
    b->report.seconds += took > waited ? (double)(took - waited) * 1e-9 : 0;
    op.code = DOME_OP_BALANCE;
    op.object = NULL;
    dome__end(&op, status);
}

dome_layout *dome__balance_first_layout(const dome_env *env, uint64_t length, uint64_t block_size)
{
    const dome_balance *b = env->balance;
    int size = env->size;
    dome_layout *even = dome_layout_even(length, block_size, size);
    if (!even || !b || !b->skewed)
        return even;
    double *rates = g_new(double, size);
    uint64_t *was = g_new(uint64_t, size), *counts = g_new(uint64_t, size);
    for (int r = 0; r < size; r++) {
        rates[r] = b->speeds[r].rate;
        was[r] = dome_layout_run(even, r, NULL);
    }
    dome_load load = {.ranks = size, .blocks = dome_layout_blocks(even), .counts = was, .rates = rates, .topology = DOME_LINEAR};
    dome_division division = {0, counts};
    dome__policy_global(&load, &division);
    dome_layout *layout = dome_layout_new(length, block_size, size, division.start, counts);
    dome_layout_unref(even);
    g_free(rates);
    g_free(was);
    g_free(counts);
    return layout;
}
