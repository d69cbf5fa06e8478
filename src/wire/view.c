#include "wire/view.h"

#include "wire/order.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

static const dome_view_act nothing = {.action = DOME_VIEW_NOTHING}, wrong = {.action = DOME_VIEW_WRONG};

void dome__view_init(dome_view *view)
{
    *view = (dome_view){.least = 1};
}

/* No view has been interrupted. */
static void forget_past(dome_view *v)
{
    for (guint k = 0; v->past && k < v->past->len; k++)
        g_free(g_array_index(v->past, dome_view_past, k).next);
    g_clear_pointer(&v->past, g_array_unref);
}

static void forget_late(dome_view *v)
{
    v->late_order = 0;
    dome__view_plan_clear(&v->late);
}

void dome__view_clear(dome_view *view)
{
    forget_past(view);
    forget_late(view);
    g_clear_pointer(&view->tasks, g_free);
    g_clear_pointer(&view->arrivals, g_free);
    dome__view_plan_clear(&view->wanted);
    dome__view_plan_clear(&view->next);
}

static bool is_rank(const dome_view *v, int rank)
{
    return rank >= 0 && rank < v->size;
}

/* No task of the present view has done anything yet. */
static void begin_tasks(dome_view *v)
{
    g_free(v->tasks);
    v->tasks = g_new0(dome_view_task, v->size);
}

/* The next view has this plan, which is taken over. No member has come yet. */
static void begin_arrivals(dome_view *v, dome_view_plan plan)
{
    dome__view_plan_clear(&v->next);
    v->next = plan;
    g_free(v->arrivals);
    v->arrivals = g_new0(dome_view_arrival, plan.size);
}

static void begin_entering(dome_view *v, uint32_t number, dome_view_plan plan)
{
    v->phase = DOME_VIEW_ENTERING;
    v->next_number = number;
    forget_late(v);
    begin_tasks(v);
    for (int r = 0; r < v->size; r++)
        v->tasks[r].next = dome__view_plan_next(&plan, r);
    begin_arrivals(v, plan);
}

/* Answers the user, if there is one. Takes ownership of text. */
static dome_view_act answer(dome_view *v, dome_view_action action, char *text)
{
    if (!v->asked) {
        g_free(text);
        return nothing;
    }
    v->asked = false;
    return (dome_view_act){.action = action, .text = text};
}

bool dome__view_is_free(const dome_view *v)
{
    return v->phase == DOME_VIEW_STEADY && !v->late_order;
}

bool dome__view_has_ordered(const dome_view *v, const dome_view_plan *plan)
{
    if (v->late_order)
        return dome__view_plan_equal(plan, &v->late);
    return v->phase == DOME_VIEW_ORDERED && dome__view_plan_equal(plan, &v->wanted);
}

/* Why a user's order cannot be followed: g_free'd; NULL: it can. */
static char *objection(const dome_view *v, const dome_view_plan *plan)
{
    const int tasks = plan->size;
    if (v->size == 0)
        return g_strdup(DOME_ORDER_STARTING);
    if (!dome__view_is_free(v))
        return g_strdup(DOME_ORDER_CHANGING);
    if (!dome__view_plan_changes(plan, v->size))
        return g_strdup_printf("the program has %d task%s " DOME_ORDER_HAS_THEM, v->size, v->size == 1 ? "" : "s");
    if (tasks < v->least)
        return g_strdup_printf("%d task%s would be fewer than its least number, %d", MAX(tasks, 0), tasks == 1 ? "" : "s",
                               v->least);
    if (v->most && tasks > v->most)
        return g_strdup_printf("%d tasks would be more than its greatest number, %d", tasks, v->most);
    return NULL;
}

/* Takes over the plan. */
static dome_view_act begin_asking(dome_view *v, dome_view_plan plan)
{
    v->phase = DOME_VIEW_ASKING;
    dome__view_plan_clear(&v->wanted);
    v->wanted = plan;
    begin_tasks(v);
    return (dome_view_act){.action = DOME_VIEW_HOLD, .order = ++v->order};
}

dome_view_act dome__view_meet(dome_view *v)
{
    if (v->size == 0 || v->phase != DOME_VIEW_STEADY)
        return nothing;
    return begin_asking(v, dome__view_plan_resize(v->size, v->size));
}

bool dome__view_meets(const dome_view *v)
{
    return (v->phase == DOME_VIEW_ASKING || v->phase == DOME_VIEW_ORDERED) && !dome__view_plan_changes(&v->wanted, v->size);
}

dome_view_act dome__view_ask(dome_view *v, dome_view_plan *plan)
{
    char *why = objection(v, plan);
    if (why) {
        dome__view_plan_clear(plan);
        return (dome_view_act){.action = DOME_VIEW_REFUSED, .text = why};
    }
    const dome_view_plan wanted = *plan;
    *plan = (dome_view_plan){0};
    v->asked = true;
    return begin_asking(v, wanted);
}

dome_view_act dome__view_held(dome_view *v, int rank, uint64_t order, uint64_t loop)
{
    if (v->phase != DOME_VIEW_ASKING || order != v->order || !is_rank(v, rank))
        return nothing; /* the program has changed at its own request meanwhile */
    v->tasks[rank].answered = true;
    v->tasks[rank].loop = loop;
    uint64_t most = 0;
    for (int r = 0; r < v->size; r++) {
        if (!v->tasks[r].answered)
            return nothing;
        most = MAX(most, v->tasks[r].loop);
    }
    v->phase = DOME_VIEW_ORDERED;
    return (dome_view_act){.action = DOME_VIEW_TARGET, .order = order, .loop = most + 1};
}

dome_view_act dome__view_postpone(dome_view *v, uint64_t order)
{
    if (v->phase != DOME_VIEW_ORDERED || order != v->order)
        return nothing; /* it has gone over already */
    v->phase = DOME_VIEW_STEADY;
    v->late_order = order;
    dome__view_plan_clear(&v->late);
    v->late = v->wanted;
    v->wanted = (dome_view_plan){0};
    return nothing;
}

dome_view_act dome__view_refuse(dome_view *v, uint64_t order, const char *why)
{
    const bool late = order && order == v->late_order;
    if (late)
        forget_late(v);
    else if (v->phase != DOME_VIEW_ORDERED || order != v->order)
        return nothing;
    else
        v->phase = DOME_VIEW_STEADY;
    return v->late_order ? nothing : answer(v, DOME_VIEW_REFUSED, g_strdup(why)); /* its user waits on */
}

static bool all_here(const dome_view *v)
{
    for (int r = 0; r < v->next.size; r++)
        if (!v->arrivals[r].here)
            return false;
    return true;
}

/* Whether a member comes before task 0 starts the newcomers. If task 0 itself is a newcomer, the hub starts it. */
static bool comes_first(const dome_view *v, int rank)
{
    return rank == 0 || v->next.members[rank].before != DOME_VIEW_NEWCOMER;
}

static bool all_back(const dome_view *v)
{
    for (int r = 0; r < v->next.size; r++)
        if (comes_first(v, r) && !v->arrivals[r].here)
            return false;
    return true;
}

/* The change is complete. */
static dome_view_act enter(dome_view *v)
{
    v->number = v->next_number;
    v->size = v->next.size;
    v->phase = DOME_VIEW_STEADY;
    v->healing = v->returns = false;
    forget_past(v);
    g_clear_pointer(&v->tasks, g_free); /* of the view before */
    return answer(v, DOME_VIEW_DONE, g_strdup_printf("%d task%s, view %" PRIu32, v->size, v->size == 1 ? "" : "s", v->number));
}

dome_view_act dome__view_announce(dome_view *v, int rank, uint32_t number, const dome_view_plan *plan)
{
    const bool entering = v->phase == DOME_VIEW_ENTERING;
    if (number <= v->number || (v->healing && number < v->next_number))
        return nothing; /* it leaves, and the others have gone on without it; or it does not know yet that it goes back */
    dome_view_act act = nothing;
    /* The next change has begun already, so all have joined: the word of task 0 comes by another connection. */
    if (entering && number == v->next_number + 1 && all_here(v))
        act = enter(v);
    if (number != v->number + 1 || !is_rank(v, rank) || plan->size < 1 || plan->members[0].before != 0)
        return wrong;
    if (v->phase != DOME_VIEW_ENTERING) {
        if (v->asked && !dome__view_plan_equal(plan, v->late_order ? &v->late : &v->wanted))
            act = answer(v, DOME_VIEW_REFUSED,
                         g_strdup_printf("the program changes to %d tasks " DOME_ORDER_OWN_REQUEST, plan->size));
        begin_entering(v, number, dome__view_plan_copy(plan));
    } else if (!dome__view_plan_equal(plan, &v->next)) {
        return wrong;
    }
    v->tasks[rank].announced = true;
    return act;
}

int dome__view_healed_size(const dome_view *v)
{
    return v->phase == DOME_VIEW_ENTERING ? v->next.size : v->size;
}

/* The view that was interrupted last, of those up to this number: tasks may have begun a change of their own after it. */
static const dome_view_past *past_of(const dome_view *v, uint32_t number)
{
    const dome_view_past *found = NULL;
    for (guint k = 0; v->past && k < v->past->len; k++)
        if (g_array_index(v->past, dome_view_past, k).number <= number)
            found = &g_array_index(v->past, dome_view_past, k);
    return found;
}

/* Adds a view whose ranks are those of the next one. */
static void add_past(dome_view *v, uint32_t number, int size)
{
    const dome_view_past p = {number, size, g_new(int, size)};
    for (int r = 0; r < size; r++)
        p.next[r] = r;
    if (!v->past)
        v->past = g_array_new(FALSE, FALSE, sizeof p);
    g_array_append_val(v->past, p);
}

/* The ranks of the next view change by this plan. */
static void follow(dome_view *v, const dome_view_plan *plan)
{
    for (guint k = 0; k < v->past->len; k++) {
        const dome_view_past *of = &g_array_index(v->past, dome_view_past, k);
        for (int r = 0; r < of->size; r++)
            of->next[r] = dome__view_plan_next(plan, of->next[r]);
    }
}

int dome__view_place(const dome_view *v, uint32_t number, int rank)
{
    const bool entering = v->phase == DOME_VIEW_ENTERING;
    if (number == v->number)
        return !is_rank(v, rank) ? -1 : entering ? v->tasks[rank].next : rank;
    const bool of_next = entering && number > v->number && number <= v->next_number;
    const dome_view_past *past = of_next && number < v->next_number ? past_of(v, number) : NULL;
    if (past)
        return rank >= 0 && rank < past->size ? past->next[rank] : -1;
    /* Views that were interrupted have the ranks of the one that heals them. */
    return of_next && rank >= 0 && rank < v->next.size ? rank : -1;
}

/* After a loss, all that are left go back into the view of this plan, which is taken over. */
static dome_view_act go_back(dome_view *v, dome_view_plan plan)
{
    dome_view_act act = nothing;
    if (v->phase == DOME_VIEW_ENTERING) {
        v->next_number += 2;
        begin_arrivals(v, plan);
    } else {
        act = answer(v, DOME_VIEW_REFUSED, g_strdup(DOME_ORDER_GOES_BACK));
        begin_entering(v, v->number + 2, plan);
    }
    v->healing = true;
    v->returns = false;
    return act;
}

dome_view_act dome__view_heal(dome_view *v, const bool *lost, const char *const *hosts)
{
    if (v->past) /* tasks that go on from here keep their ranks, but tasks on their way from an earlier view may not */
        add_past(v, v->next_number, v->next.size);
    return go_back(v, dome__view_plan_replace(dome__view_healed_size(v), lost, hosts));
}

dome_view_act dome__view_go_on(dome_view *v, const bool *lost)
{
    const bool entering = v->phase == DOME_VIEW_ENTERING;
    dome_view_plan plan = dome__view_plan_without(dome__view_healed_size(v), lost);
    /* In a view that stands, tasks may have begun a change of their own. */
    add_past(v, entering ? v->next_number : v->number + 1, entering ? v->next.size : v->size);
    follow(v, &plan);
    for (int r = 0; entering && r < v->size; r++)
        v->tasks[r].next = dome__view_plan_next(&plan, v->tasks[r].next);
    return go_back(v, plan);
}

bool dome__view_can_take_back(const dome_view *v, const bool *lost)
{
    bool can = v->phase == DOME_VIEW_ENTERING && !v->healing && dome__view_plan_newcomers(&v->next) > 0;
    for (int r = 0; can && r < v->next.size; r++)
        can = !lost[r] || v->next.members[r].before == DOME_VIEW_NEWCOMER;
    return can;
}

/* The members of the present view, by their ranks in the interrupted one. */
static dome_view_plan plan_of_present(const dome_view *v, const char *const *hosts)
{
    bool *left = g_new(bool, v->size);
    for (int r = 0; r < v->size; r++)
        left[r] = v->tasks[r].next < 0;
    dome_view_plan plan = dome__view_plan_replace(v->size, left, hosts);
    for (int r = 0; r < v->size; r++)
        if (!left[r])
            plan.members[r].before = v->tasks[r].next;
    g_free(left);
    return plan;
}

dome_view_act dome__view_take_back(dome_view *v, const char *const *hosts, const char *why)
{
    dome_view_plan plan = plan_of_present(v, hosts);
    add_past(v, v->next_number, v->next.size);
    follow(v, &plan);
    for (int r = 0; r < v->size; r++)
        v->tasks[r].next = dome__view_plan_next(&plan, v->tasks[r].next);
    dome_view_act act = answer(v, DOME_VIEW_REFUSED, g_strdup(why));
    go_back(v, plan);
    v->returns = true;
    return act;
}

bool dome__view_away(const dome_view *v, int rank)
{
    if (v->phase != DOME_VIEW_ENTERING || !is_rank(v, rank) || !v->tasks[rank].announced)
        return false;
    const int next = v->tasks[rank].next;
    return next >= 0 && !v->arrivals[next].here;
}

/* Whether a task that greets from this view is a member of the next one that must be told so. */
static bool is_on_its_way(const dome_view *v, int rank, uint32_t number)
{
    const int place = v->healing && number > v->number && number < v->next_number ? dome__view_place(v, number, rank) : -1;
    return place >= 0 && v->next.members[place].before != DOME_VIEW_NEWCOMER && !v->arrivals[place].here;
}

dome_view_act dome__view_greet(dome_view *v, int rank, uint32_t number, int id)
{
    if (number == v->number && v->phase != DOME_VIEW_ENTERING)
        return nothing; /* the program starts */
    if (is_on_its_way(v, rank, number))
        return (dome_view_act){.action = DOME_VIEW_AGAIN};
    if (v->phase != DOME_VIEW_ENTERING || number != v->next_number || rank < 0 || rank >= v->next.size || v->arrivals[rank].here)
        return wrong;
    const int before = v->next.members[rank].before;
    if (!v->healing && before != DOME_VIEW_NEWCOMER && (!is_rank(v, before) || !v->tasks[before].announced))
        return wrong;
    v->arrivals[rank].here = true;
    v->arrivals[rank].id = id;
    return comes_first(v, rank) && all_back(v) ? (dome_view_act){.action = DOME_VIEW_MEMBERS} : nothing;
}

dome_view_act dome__view_stands(dome_view *v, uint32_t number, int size, int least, int most)
{
    if (size < 1)
        return wrong;
    if (v->size == 0 && number == v->number) {
        v->size = size;
        v->least = MAX(least, 1);
        v->most = most;
        return nothing;
    }
    if (number <= v->number)
        return nothing; /* an announcement of the next change has told so already */
    if (v->phase != DOME_VIEW_ENTERING || number != v->next_number || size != v->next.size)
        return wrong;
    return enter(v);
}

dome_view_act dome__view_end(dome_view *v)
{
    return answer(v, DOME_VIEW_REFUSED, g_strdup("the program has ended"));
}
