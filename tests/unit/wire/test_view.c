/* The state machine of views: every order in which the messages of a small program can arrive, with users' orders, requests of
 * the program, and losses at any point, which end the program or are healed. */
#include "watch/hold.h"
#include "wire/order.h"
#include "wire/view.h"

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* ---- a program as a model ---- */

enum { TASKS = 3, LOOPS = 3, QUEUE = 6, NO_RESIZE = 99 };

typedef enum word { HOLD, TARGET, MEMBERS, BACK, HELD, CHANGE, GREET, STANDS, CLOSED } word;

typedef struct message {
    uint8_t word, view, size, from; /* from: tasks of the view before */
    uint8_t order, loop;
} message;

typedef struct queue {
    message messages[QUEUE];
    uint8_t count;
} queue;

/* ABSENT: not started. MEETS: at the boundary where all change. AWAY: between two views. */
typedef enum place { ABSENT, RUNS, MEETS, AWAY, COMES, WAITS, DONE, DEAD } place;

typedef struct task {
    uint8_t place, view, passed, before;  /* boundaries passed in this view, and in those before */
    uint8_t ordered, order, target, told; /* by an order: told tasks */
    uint8_t size;                         /* to which it changes */
    uint8_t welcomed;                     /* the hub knows that it is connected */
    uint8_t returns;                      /* AWAY: it comes back */
    uint8_t expected;                     /* the hub knows that it is between two views */
    queue in, out;                        /* from and to the hub */
} task;

typedef struct model {
    task tasks[TASKS];
    uint8_t asks, losses, resize_at, resize, resized; /* asks and losses still to come */
    uint8_t asked, answered, over, heals;             /* heals: losses do not end the program */
    uint8_t stray_rank, stray_view;                   /* a task that was given up and goes on: it may greet later; view 0: none */
    dome_view view;                                   /* its arrays are here while the model is kept */
    dome_view_task of_tasks[TASKS];
    dome_view_arrival of_arrivals[TASKS];
    dome_view_member of_wanted[TASKS], of_next[TASKS];
} model;

/* ---- keeping models ---- */

static void *unfold(const void *kept, size_t bytes)
{
    return g_memdup2(kept, bytes);
}

/* A model that was kept, for a step. */
static void take_up(model *m, const model *kept)
{
    memcpy(m, kept, sizeof *m);
    m->view.tasks = unfold(m->of_tasks, sizeof m->of_tasks);
    m->view.arrivals = unfold(m->of_arrivals, sizeof m->of_arrivals);
    m->view.wanted.members = unfold(m->of_wanted, sizeof m->of_wanted);
    m->view.next.members = unfold(m->of_next, sizeof m->of_next);
}

/* Member by member: models are compared by their bytes, also those between members. */
static void fold_plan(dome_view_member of_plan[TASKS], dome_view_plan *plan)
{
    const int size = plan->size;
    memset(of_plan, 0, TASKS * sizeof *of_plan);
    for (int r = 0; r < size; r++) {
        of_plan[r].before = plan->members[r].before;
        of_plan[r].host = plan->members[r].host;
    }
    dome__view_plan_clear(plan);
    memset(plan, 0, sizeof *plan);
    plan->size = size;
}

static void put_down(model *m)
{
    dome_view *v = &m->view;
    memset(m->of_tasks, 0, sizeof m->of_tasks);
    memset(m->of_arrivals, 0, sizeof m->of_arrivals);
    if (v->tasks)
        memcpy(m->of_tasks, v->tasks, (size_t)v->size * sizeof *v->tasks);
    for (int r = 0; v->phase == DOME_VIEW_ENTERING && r < v->next.size; r++) {
        m->of_arrivals[r].here = v->arrivals[r].here;
        m->of_arrivals[r].id = v->arrivals[r].id;
    }
    fold_plan(m->of_wanted, &v->wanted);
    fold_plan(m->of_next, &v->next);
    g_clear_pointer(&v->tasks, g_free);
    g_clear_pointer(&v->arrivals, g_free);
}

static uint64_t states, ends, changes, healings, agains, strays, late_strays;

static dome_view_act ask(dome_view *v, int tasks)
{
    dome_view_plan plan = dome__view_plan_resize(v->size, tasks);
    return dome__view_ask(v, &plan);
}

/* A task of `from` says that it goes over into a view of `to`. */
static dome_view_act announce(dome_view *v, int rank, uint32_t number, int from, int to)
{
    dome_view_plan plan = dome__view_plan_resize(from, to);
    dome_view_act a = dome__view_announce(v, rank, number, &plan);
    dome__view_plan_clear(&plan);
    return a;
}

static void put(queue *q, message l)
{
    g_assert_cmpint(q->count, <, QUEUE);
    q->messages[q->count++] = l;
}

static message take(queue *q)
{
    message l = q->messages[0];
    memmove(q->messages, q->messages + 1, (QUEUE - 1) * sizeof l);
    memset(&q->messages[--q->count], 0, sizeof l);
    return l;
}

static bool is_there(const task *t)
{
    return t->place == RUNS || t->place == MEETS || t->place == WAITS || t->place == COMES;
}

static void act(model *m, dome_view_act a)
{
    for (int r = 0; r < TASKS; r++) {
        task *t = &m->tasks[r];
        const bool hears = (is_there(t) || t->place == DONE) && t->view == m->view.number;
        if (a.action == DOME_VIEW_HOLD && hears)
            put(&t->in, (message){.word = HOLD, .order = (uint8_t)a.order});
        if (a.action == DOME_VIEW_TARGET && hears)
            put(&t->in,
                (message){
                    .word = TARGET, .order = (uint8_t)a.order, .loop = (uint8_t)a.loop, .size = (uint8_t)m->view.wanted.size});
    }
    if (a.action == DOME_VIEW_MEMBERS)
        put(&m->tasks[0].in, (message){.word = MEMBERS, .view = (uint8_t)m->view.next_number});
    if (a.action == DOME_VIEW_DONE || a.action == DOME_VIEW_REFUSED) {
        g_assert_nonnull(a.text);
        m->answered++;
    }
    g_free(a.text);
}

/* ---- healing ---- */

static void comes(task *t, uint32_t view)
{
    *t = (task){.place = COMES, .view = (uint8_t)view};
    put(&t->out, (message){.word = GREET, .view = (uint8_t)view});
}

/* A process that nobody has told where to go: it is turned away. */
static void turn_away(model *m, int rank)
{
    const task *t = &m->tasks[rank];
    if (t->place == COMES && !t->welcomed) {
        g_assert_cmpint(dome__view_greet(&m->view, rank, t->view, 1).action, ==, DOME_VIEW_WRONG);
        strays++;
    }
    if ((t->place == COMES && !t->welcomed) || (t->place == AWAY && t->returns)) {
        m->stray_rank = (uint8_t)rank;
        m->stray_view = t->view;
    }
    m->tasks[rank] = (task){.place = ABSENT};
}

/* Whether the hub believes that there is a process: it is connected, or expected. */
static bool seems_there(const task *t, bool noticed)
{
    if (noticed || t->place == ABSENT)
        return false;
    return t->expected || t->welcomed;
}

static void heal(model *m, int noticed)
{
    bool lost[TASKS] = {0};
    const int size = dome__view_healed_size(&m->view);
    for (int r = 0; r < size; r++)
        lost[r] = !seems_there(&m->tasks[r], r == noticed);
    act(m, dome__view_heal(&m->view, lost, NULL));
    healings++;
    for (int r = 0; r < TASKS; r++) {
        task *t = &m->tasks[r];
        if (r >= size || lost[r]) {
            turn_away(m, r);
            if (r == 0)
                comes(t, m->view.next_number);
        } else if (!t->expected) {
            t->expected = 1;
            put(&t->in, (message){.word = BACK, .view = (uint8_t)m->view.next_number});
        } else if (t->welcomed) { /* told before, and has not gone yet */
            put(&t->in, (message){.word = BACK, .view = (uint8_t)m->view.next_number});
        }
    }
}

/* The task that was given up greets: it is no member unless it is told to go back once more. */
static bool stray_greets(model *m)
{
    if (m->stray_view == 0)
        return false;
    const dome_view_act a = dome__view_greet(&m->view, m->stray_rank, m->stray_view, 9);
    g_assert_true(a.action == DOME_VIEW_WRONG || a.action == DOME_VIEW_AGAIN);
    m->stray_view = m->stray_rank = 0;
    late_strays++;
    return true;
}

static void is_lost(model *m, int rank)
{
    if (m->heals) {
        heal(m, rank);
        return;
    }
    m->over = 1;
    act(m, dome__view_end(&m->view));
}

/* ---- what a task does ---- */

static void pass(model *m, task *t)
{
    t->passed++;
    const bool resizes = t->before + t->passed == m->resize_at && !m->resized;
    if (resizes)
        t->size = m->resize;
    if (resizes) {
        t->place = MEETS;
    } else if (t->ordered && t->target > 0 && t->passed >= t->target) {
        t->place = MEETS;
        t->size = t->told;
        t->ordered = 0;
    } else if (t->before + t->passed == LOOPS) {
        t->place = DONE;
    }
}

/* Whether it is at a boundary and waits there for the target of an order: it has counted this boundary before it saw the order,
 * or will count it. */
static bool holds(const model *m, const task *t)
{
    const bool resizes = t->before + t->passed + 1 == m->resize_at && !m->resized;
    return t->ordered && t->target == 0 && !resizes;
}

static void hear(task *t)
{
    message l = take(&t->in);
    if (l.word == HOLD) {
        t->ordered = 1;
        t->order = l.order;
        t->target = 0;
        put(&t->out, (message){.word = HELD, .order = l.order, .loop = t->passed});
    } else if (l.word == TARGET && l.order == t->order) {
        t->target = l.loop;
        t->told = l.size;
    } else if (l.word == MEMBERS && l.view == t->view) {
        t->place = WAITS;
    } else if (l.word == BACK && l.view > t->view) { /* to the beginning: there are no checkpoints here */
        const task before = *t;
        *t = (task){.place = AWAY,
                    .view = l.view,
                    .returns = 1,
                    .welcomed = before.welcomed,
                    .expected = before.expected,
                    .out = before.out};
        put(&t->out, (message){.word = CLOSED});
    }
}

/* All have met: they go over into the next view together. */
static void go_over(model *m)
{
    int size = 0, passed = -1, view = -1, from = 0;
    for (int r = 0; r < TASKS; r++) {
        const task *t = &m->tasks[r];
        if (t->place == ABSENT)
            continue;
        g_assert_cmpint(t->place, ==, MEETS);
        g_assert_true(size == 0 || (size == t->size && passed == t->passed && view == t->view)); /* at one boundary */
        size = t->size;
        passed = t->passed;
        view = t->view;
        from++;
    }
    g_assert_cmpint(size, >, 0);
    changes++;
    m->resized = m->resized || m->tasks[0].before + m->tasks[0].passed == m->resize_at;
    for (int r = 0; r < TASKS; r++) {
        task *t = &m->tasks[r];
        if (t->place == ABSENT)
            continue;
        put(&t->out, (message){.word = CHANGE, .view = (uint8_t)(view + 1), .size = (uint8_t)size, .from = (uint8_t)from});
        t->place = AWAY;
        t->in = (queue){0};
        put(&t->out, (message){.word = CLOSED});
        t->returns = r < size;
        if (r < size) { /* its next connection */
            t->view = (uint8_t)(view + 1);
            t->before = (uint8_t)(t->before + t->passed);
            t->passed = t->ordered = t->order = t->target = t->told = t->size = 0;
        }
    }
}

/* The newcomers begin when task 0 knows who has come back. */
static void start_others(model *m)
{
    const task *first = &m->tasks[0];
    for (int r = 0; r < m->view.next.size; r++) {
        task *t = &m->tasks[r];
        const bool there = t->place == COMES || t->place == DEAD;
        if (there && t->view < first->view && !t->expected && !t->welcomed) /* started for a view that was interrupted */
            turn_away(m, r);
        if (t->place == ABSENT) {
            comes(t, first->view);
            t->before = first->before;
        }
    }
}

/* ---- what the hub does ---- */

static void hub_hears(model *m, int rank)
{
    task *t = &m->tasks[rank];
    message l = take(&t->out);
    dome_view_act a = {0};
    switch (l.word) {
    case HELD:
        a = dome__view_held(&m->view, rank, l.order, l.loop);
        break;
    case CHANGE:
        a = announce(&m->view, rank, l.view, l.from, l.size);
        g_assert_cmpint(a.action, !=, DOME_VIEW_WRONG);
        if (!m->view.healing)
            t->expected = dome__view_away(&m->view, rank);
        break;
    case GREET:
        a = dome__view_greet(&m->view, rank, l.view, rank + 1);
        if (a.action == DOME_VIEW_WRONG) {
            g_assert_true(m->heals && l.view < m->view.next_number); /* it was started for a view that was interrupted */
            strays++;
            *t = (task){.place = ABSENT};
            break;
        }
        t->welcomed = 1;
        t->expected = a.action == DOME_VIEW_AGAIN;
        if (a.action == DOME_VIEW_AGAIN) {
            agains++;
            put(&t->in, (message){.word = BACK, .view = (uint8_t)m->view.next_number});
        }
        break;
    case STANDS:
        a = dome__view_stands(&m->view, l.view, l.size, 1, TASKS);
        g_assert_true(a.action != DOME_VIEW_WRONG || (m->view.healing && l.view < m->view.next_number));
        break;
    case CLOSED:
        if (t->place == AWAY && !t->returns) {
            m->over = m->over || (m->view.healing && t->expected); /* it has come to its end, and cannot go back */
            if (m->over)
                act(m, dome__view_end(&m->view));
            *t = (task){.place = ABSENT}; /* it leaves */
        } else if (t->place == DEAD && t->view < m->view.number) {
            *t = (task){.place = ABSENT}; /* it is not needed any more */
        } else if (t->place == DEAD && !t->expected) {
            is_lost(m, rank);
        } else if (t->place == AWAY) {
            t->place = COMES;
            t->welcomed = 0;
            t->in = (queue){0}; /* what was sent by the old connection */
            put(&t->out, (message){.word = GREET, .view = t->view});
        }
        break;
    default:
        g_assert_not_reached();
    }
    act(m, a);
}

/* ---- all orders ---- */

static bool all_welcomed(const model *m)
{
    for (int r = 0; r < m->view.next.size; r++)
        if (!m->tasks[r].welcomed || m->tasks[r].view != m->tasks[0].view)
            return false;
    return true;
}

static bool all_meet(const model *m)
{
    int there = 0;
    for (int r = 0; r < TASKS; r++) {
        const task *t = &m->tasks[r];
        if (t->place != ABSENT && t->place != MEETS)
            return false;
        there += t->place == MEETS;
    }
    return there > 0;
}

static bool is_finished(const model *m)
{
    for (int r = 0; r < TASKS; r++)
        if (m->tasks[r].place != DONE && m->tasks[r].place != ABSENT)
            return false;
    return true;
}

enum { EVENTS_OF_TASK = 7, EVENTS = TASKS * EVENTS_OF_TASK + 4 };

/* Does event `number` if it can happen now. */
static bool step(model *m, int number)
{
    const int rank = number / EVENTS_OF_TASK;
    if (m->over)
        return false;
    if (rank >= TASKS) {
        switch (number - TASKS * EVENTS_OF_TASK) {
        case 0:
        case 1: /* a user asks for one task more or less */
            if (m->asks == 0)
                return false;
            m->asks--;
            m->asked++;
            act(m, ask(&m->view, m->view.size + (number % 2 ? 1 : -1)));
            return true;
        case 2:
            if (!all_meet(m))
                return false;
            go_over(m);
            return true;
        case 3:
            return stray_greets(m);
        default:
            return false;
        }
    }
    task *t = &m->tasks[rank];
    switch (number % EVENTS_OF_TASK) {
    case 0:
        if (t->place != RUNS || holds(m, t))
            return false;
        pass(m, t);
        return true;
    case 1:
        if (t->in.count == 0 || t->place == DEAD || t->place == AWAY) /* in dome_finalize its watcher still hears */
            return false;
        hear(t);
        if (t->place == WAITS)
            start_others(m);
        return true;
    case 2:
        if (t->out.count == 0)
            return false;
        hub_hears(m, rank);
        return true;
    case 3: /* a loss */
        if (m->losses == 0 || (!is_there(t) && t->place != AWAY))
            return false;
        m->losses--;
        if (t->place != AWAY) /* else its connection is closing already */
            put(&t->out, (message){.word = CLOSED});
        else if (!t->returns)
            return false; /* it was leaving */
        t->place = DEAD;
        t->in = (queue){0};
        return true;
    case 4: /* the hub finds that a process has ended between two views */
        if (t->place != DEAD || t->out.count > 0 || !t->expected)
            return false;
        is_lost(m, rank);
        return true;
    case 5: /* task 0 knows that all have joined */
        if (rank != 0 || t->place != WAITS || !all_welcomed(m))
            return false;
        put(&t->out, (message){.word = STANDS, .view = t->view, .size = (uint8_t)m->view.next.size});
        for (int r = 0; r < m->view.next.size; r++)
            if (m->tasks[r].place != DEAD)
                m->tasks[r].place = m->tasks[r].before == LOOPS ? DONE : RUNS;
        return true;
    case 6: /* the hub gives up a task that lives on: its host has been cut off, or it takes too long to come back */
        if (m->losses == 0 || !m->heals || !(t->expected || t->welcomed) || !(is_there(t) || (t->place == AWAY && t->returns)))
            return false;
        m->losses--;
        is_lost(m, rank);
        return true;
    default:
        return false;
    }
}

static void check_end(model *m)
{
    ends++;
    if (!m->over && !is_finished(m)) {
        for (int r = 0; r < TASKS; r++) {
            const task *t = &m->tasks[r];
            g_test_message("task %d: place %d view %d passed %d before %d ordered %d target %d size %d in %d out %d", r, t->place,
                           t->view, t->passed, t->before, t->ordered, t->target, t->size, t->in.count, t->out.count);
        }
        g_test_message("phase %d next %d size %d", m->view.phase, m->view.next.size, m->view.size);
    }
    if (!m->over) {
        g_assert_true(is_finished(m)); /* else it hangs */
        g_assert_cmpint(m->view.phase, !=, DOME_VIEW_ENTERING);
        act(m, dome__view_end(&m->view));
    }
    g_assert_cmpint(m->answered, ==, m->asked); /* each user once */
}

static void explore(const model *from, GHashTable *seen)
{
    bool any = false;
    for (int number = 0; number < EVENTS; number++) {
        model m;
        take_up(&m, from);
        const bool done = step(&m, number);
        put_down(&m);
        if (!done)
            continue;
        any = true;
        GBytes *key = g_bytes_new(&m, sizeof m);
        if (g_hash_table_add(seen, key)) {
            states++;
            explore(&m, seen);
        }
    }
    if (!any) {
        model m;
        take_up(&m, from);
        check_end(&m);
        put_down(&m);
    }
}

static void run_model(int size, int asks, int losses, int resize_at, int resize, bool heals)
{
    model m;
    memset(&m, 0, sizeof m);
    dome__view_init(&m.view);
    act(&m, dome__view_stands(&m.view, 0, size, 1, TASKS));
    m.asks = (uint8_t)asks;
    m.losses = (uint8_t)losses;
    m.heals = heals;
    m.resize_at = (uint8_t)resize_at;
    m.resize = (uint8_t)resize;
    for (int r = 0; r < size; r++) {
        m.tasks[r].place = RUNS;
        m.tasks[r].welcomed = 1;
    }
    GHashTable *seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    states = ends = changes = healings = agains = strays = late_strays = 0;
    explore(&m, seen);
    g_hash_table_unref(seen);
    g_test_message("%d tasks, %d orders, %d losses: %" G_GUINT64_FORMAT " states, %" G_GUINT64_FORMAT " ends", size, asks, losses,
                   states, ends);
    g_assert_cmpuint(ends, >, 0);
    if (asks > 0 || resize_at != NO_RESIZE)
        g_assert_cmpuint(changes, >, 0);
    g_assert_true(!heals || healings > 0);
}

static void run(int size, int asks, int losses, int resize_at, int resize)
{
    run_model(size, asks, losses, resize_at, resize, false);
}

static void test_orders(void)
{
    run(1, 1, 0, NO_RESIZE, 0);
    run(2, 1, 0, NO_RESIZE, 0);
    run(1, 2, 0, NO_RESIZE, 0);
    run(3, 1, 0, NO_RESIZE, 0);
}

static void test_resizes(void)
{
    run(2, 0, 0, 2, 3);
    run(2, 0, 0, 1, 1);
    run(2, 1, 0, 2, 3);
    run(2, 1, 0, 1, 1);
}

static void test_losses(void)
{
    run(2, 1, 1, NO_RESIZE, 0);
    run(2, 1, 2, NO_RESIZE, 0);
    run(2, 0, 2, 1, 3);
    run(1, 1, 2, NO_RESIZE, 0);
}

static void test_healing(void)
{
    run_model(1, 0, 1, NO_RESIZE, 0, true);
    run_model(2, 0, 1, NO_RESIZE, 0, true);
    run_model(2, 0, 2, NO_RESIZE, 0, true);
    run_model(3, 0, 1, NO_RESIZE, 0, true);
    run_model(3, 0, 2, NO_RESIZE, 0, true);
}

/* Losses while the number of tasks changes. */
static void test_healing_changes(void)
{
    run_model(2, 1, 1, NO_RESIZE, 0, true);
    g_assert_cmpuint(agains, >, 0);
    run_model(2, 0, 1, 1, 3, true);
    g_assert_cmpuint(agains, >, 0);
    run_model(1, 1, 1, NO_RESIZE, 0, true);
    run_model(2, 0, 2, 1, 1, true);
    run_model(2, 0, 2, 1, 3, true);
    g_assert_cmpuint(strays, >, 0);
    g_assert_cmpuint(late_strays, >, 0);
}

/* ---- answers to users ---- */

static void expect(dome_view *v, int tasks, const char *text)
{
    dome_view_act a = ask(v, tasks);
    g_assert_cmpint(a.action, ==, DOME_VIEW_REFUSED);
    g_assert_cmpstr(a.text, ==, text);
    /* What a number of tasks cannot be, it can never be. */
    g_assert_true(dome__order_is_for_now(a.text) != (strstr(text, "least number") || strstr(text, "greatest number")));
    g_free(a.text);
}

static void test_refusals(void)
{
    dome_view v;
    dome__view_init(&v);
    expect(&v, 2, "the program is still starting");
    dome__view_stands(&v, 0, 3, 2, 4);
    expect(&v, 3, "the program has 3 tasks already");
    expect(&v, 1, "1 task would be fewer than its least number, 2");
    expect(&v, -5, "0 tasks would be fewer than its least number, 2");
    expect(&v, 5, "5 tasks would be more than its greatest number, 4");
    dome_view_act a = ask(&v, 4);
    g_assert_cmpint(a.action, ==, DOME_VIEW_HOLD);
    expect(&v, 2, "the program is about to change already");
    for (int r = 0; r < 3; r++)
        a = dome__view_held(&v, r, 1, (uint64_t)(10 + r));
    g_assert_cmpint(a.action, ==, DOME_VIEW_TARGET);
    g_assert_cmpuint(a.loop, ==, 13);
    g_assert_cmpint(v.wanted.size, ==, 4);
    a = dome__view_refuse(&v, 1, "no memory");
    g_assert_cmpint(a.action, ==, DOME_VIEW_REFUSED);
    g_assert_cmpstr(a.text, ==, "no memory");
    g_assert_false(dome__order_is_for_now(a.text));
    g_free(a.text);
    g_assert_cmpint(ask(&v, 2).action, ==, DOME_VIEW_HOLD); /* it goes on as it was */
    dome__view_clear(&v);
}

/* All tasks meet at a boundary, and stay what they are. */
static void test_meeting(void)
{
    dome_view v;
    dome__view_init(&v);
    g_assert_cmpint(dome__view_meet(&v).action, ==, DOME_VIEW_NOTHING); /* it is still starting */
    dome__view_stands(&v, 0, 3, 1, 0);
    g_assert_false(dome__view_meets(&v));
    dome_view_act a = dome__view_meet(&v);
    g_assert_cmpint(a.action, ==, DOME_VIEW_HOLD);
    g_assert_true(dome__view_meets(&v));
    g_assert_cmpint(dome__view_meet(&v).action, ==, DOME_VIEW_NOTHING); /* they are about to */
    for (int r = 0; r < 3; r++)
        a = dome__view_held(&v, r, a.order ? a.order : 1, (uint64_t)(7 - r));
    g_assert_cmpint(a.action, ==, DOME_VIEW_TARGET);
    g_assert_cmpuint(a.loop, ==, 8);
    g_assert_false(dome__view_plan_changes(&v.wanted, 3));
    g_assert_true(dome__view_meets(&v));
    g_assert_cmpint(dome__view_refuse(&v, 1, "nothing changes").action, ==, DOME_VIEW_NOTHING); /* no user waits */
    g_assert_false(dome__view_meets(&v));
    g_assert_cmpint(ask(&v, 2).action, ==, DOME_VIEW_HOLD);
    g_assert_false(dome__view_meets(&v));
    g_assert_cmpint(dome__view_meet(&v).action, ==, DOME_VIEW_NOTHING); /* the program changes */
    dome__view_clear(&v);
}

/* A user's order finds no place at its boundary. Tasks meet before it does, and its user gets an answer. */
static void test_postponed(void)
{
    dome_view v;
    dome__view_init(&v);
    dome__view_stands(&v, 0, 2, 1, 0);
    ask(&v, 3);
    for (int r = 0; r < 2; r++)
        dome__view_held(&v, r, 1, 4);
    g_assert_false(dome__view_is_free(&v));
    g_assert_cmpint(dome__view_meet(&v).action, ==, DOME_VIEW_NOTHING);
    g_assert_cmpint(dome__view_postpone(&v, 1).action, ==, DOME_VIEW_NOTHING);
    g_assert_false(dome__view_is_free(&v));
    expect(&v, 4, "the program is about to change already");
    dome_view_act a = dome__view_meet(&v);
    g_assert_cmpint(a.action, ==, DOME_VIEW_HOLD);
    g_assert_cmpuint(a.order, ==, 2);
    g_assert_cmpint(dome__view_postpone(&v, 1).action, ==, DOME_VIEW_NOTHING); /* again, at a later boundary */
    for (int r = 0; r < 2; r++)
        a = dome__view_held(&v, r, 2, 9);
    g_assert_cmpint(a.action, ==, DOME_VIEW_TARGET);
    g_assert_true(dome__view_meets(&v));
    g_assert_cmpint(dome__view_refuse(&v, 2, "nothing changes").action, ==, DOME_VIEW_NOTHING); /* its user waits on */
    g_assert_false(dome__view_is_free(&v));
    a = dome__view_refuse(&v, 1, "values differ");
    g_assert_cmpint(a.action, ==, DOME_VIEW_REFUSED);
    g_assert_cmpstr(a.text, ==, "values differ");
    g_free(a.text);
    g_assert_true(dome__view_is_free(&v));
    /* The same, but it finds one, while tasks are about to meet. */
    ask(&v, 3);
    for (int r = 0; r < 2; r++)
        dome__view_held(&v, r, 3, 20);
    dome__view_postpone(&v, 3);
    g_assert_cmpint(dome__view_meet(&v).action, ==, DOME_VIEW_HOLD);
    dome_view_plan plan = dome__view_plan_resize(2, 3);
    g_assert_true(dome__view_has_ordered(&v, &plan));
    for (int r = 0; r < 2; r++)
        g_assert_cmpint(dome__view_announce(&v, r, 1, &plan).action, ==, DOME_VIEW_NOTHING);
    dome__view_plan_clear(&plan);
    for (int r = 0; r < 3; r++)
        dome__view_greet(&v, r, 1, r + 1);
    a = dome__view_stands(&v, 1, 3, 1, 0);
    g_assert_cmpint(a.action, ==, DOME_VIEW_DONE);
    g_free(a.text);
    g_assert_true(dome__view_is_free(&v));
    dome__view_clear(&v);
}

/* A task that was thought dead and wakes up belongs to no view. */
static void test_fenced(void)
{
    dome_view v;
    dome__view_init(&v);
    dome__view_stands(&v, 0, 2, 1, 0);
    g_assert_cmpint(dome__view_greet(&v, 1, 1, 7).action, ==, DOME_VIEW_WRONG);
    g_assert_cmpint(announce(&v, 0, 2, 2, 3).action, ==, DOME_VIEW_WRONG);
    g_assert_cmpint(announce(&v, 0, 0, 2, 3).action, ==, DOME_VIEW_NOTHING);
    g_assert_cmpint(announce(&v, 5, 1, 2, 3).action, ==, DOME_VIEW_WRONG);
    announce(&v, 0, 1, 2, 3);
    g_assert_cmpint(announce(&v, 1, 1, 2, 2).action, ==, DOME_VIEW_WRONG);      /* tasks that disagree */
    g_assert_cmpint(dome__view_greet(&v, 1, 1, 7).action, ==, DOME_VIEW_WRONG); /* it has not announced */
    g_assert_cmpint(dome__view_greet(&v, 0, 0, 7).action, ==, DOME_VIEW_WRONG);
    g_assert_true(dome__view_away(&v, 0));
    g_assert_cmpint(dome__view_greet(&v, 0, 1, 7).action, ==, DOME_VIEW_NOTHING);
    g_assert_cmpint(dome__view_greet(&v, 0, 1, 7).action, ==, DOME_VIEW_WRONG); /* it is there already */
    g_assert_cmpint(dome__view_stands(&v, 1, 2, 1, 0).action, ==, DOME_VIEW_WRONG);
    dome__view_clear(&v);
}

/* ---- plans ---- */

static void expect_plan(dome_view_plan plan, const char *text, int from)
{
    char *is = dome__view_plan_text(&plan);
    g_assert_cmpstr(is, ==, text);
    dome_view_plan again, copy = dome__view_plan_copy(&plan);
    g_assert_true(dome__view_plan_parse(text, from, &again));
    g_assert_true(dome__view_plan_equal(&again, &plan) && dome__view_plan_equal(&copy, &plan));
    g_free(is);
    dome__view_plan_clear(&again);
    dome__view_plan_clear(&copy);
    dome__view_plan_clear(&plan);
}

static void test_plans(void)
{
    static const char *const hosts[] = {"a", "b", "a", "c"};
    expect_plan(dome__view_plan_grow(2, 2, NULL), "0 1 - -", 2);
    expect_plan(dome__view_plan_grow(1, 1, "h7"), "0 -@h7", 1);
    expect_plan(dome__view_plan_shrink(4, 2), "0 1", 4);
    expect_plan(dome__view_plan_resize(3, 3), "0 1 2", 3);
    expect_plan(dome__view_plan_replace(3, (bool[]){true, false, true}, NULL), "- 1 -", 3);
    expect_plan(dome__view_plan_replace(4, (bool[]){false, true, false, false}, hosts), "0 -@b 2 3", 4);
    expect_plan(dome__view_plan_move(4, hosts, "b", "d"), "0 -@d 2 3", 4);
    g_assert_cmpint(dome__view_plan_move(4, hosts, "d", "a").size, ==, 0);
    g_assert_cmpint(dome__view_plan_grow(2, -2, NULL).size, ==, 0);
    dome_view_plan plan;
    g_assert_true(dome__view_plan_parse("0 2 - -@h", 4, &plan)); /* any order, though no plan above has made this one */
    g_assert_cmpint(dome__view_plan_next(&plan, 0), ==, 0);
    g_assert_cmpint(dome__view_plan_next(&plan, 1), ==, -1);
    g_assert_cmpint(dome__view_plan_next(&plan, 2), ==, 1);
    g_assert_cmpint(dome__view_plan_next(&plan, -1), ==, -1);
    g_assert_cmpint(dome__view_plan_newcomers(&plan), ==, 2);
    g_assert_true(dome__view_plan_changes(&plan, 4));
    dome__view_plan_clear(&plan);
    static const char *const bad[] = {"",   " ",    "0 ",   "0 0",  "0 4", "x",
                                      "-1", "0 -@", "0 --", "0  1", "+1",  "99999999999999999999"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(dome__view_plan_parse(bad[i], 4, &plan));
}

/* ---- the tasks' side, with real threads ---- */

typedef struct walker {
    dome_hold *hold;
    uint64_t met; /* the boundary at which it was told to change */
    char *plan;
} walker;

static void *walk(void *argument)
{
    walker *w = argument;
    uint64_t order = 0;
    while (!(w->plan = dome__hold_pass(w->hold, &order)))
        ;
    w->met = dome__hold_passed(w->hold);
    return NULL;
}

/* Tasks that run as fast as they can change at one boundary, whenever the order comes. */
static void test_hold(void)
{
    enum { WALKERS = 3, ROUNDS = 300 };
    for (int round = 0; round < ROUNDS; round++) {
        walker w[WALKERS] = {0};
        pthread_t thread[WALKERS];
        uint64_t most = 0;
        for (int i = 0; i < WALKERS; i++)
            w[i].hold = dome__hold_new();
        for (int i = 0; i < WALKERS; i++)
            g_assert_cmpint(pthread_create(&thread[i], NULL, walk, &w[i]), ==, 0);
        for (int i = 0; i < WALKERS; i++)
            most = MAX(most, dome__hold_order(w[i].hold, 1));
        for (int i = 0; i < WALKERS; i++)
            dome__hold_target(w[i].hold, 1, most + 1, "0 1 2 - -");
        for (int i = 0; i < WALKERS; i++) {
            pthread_join(thread[i], NULL);
            g_assert_cmpuint(w[i].met, ==, most + 1);
            g_assert_cmpstr(w[i].plan, ==, "0 1 2 - -");
            g_free(w[i].plan);
            dome__hold_free(w[i].hold);
        }
    }
}

static void expect_order(dome_hold *h, uint64_t expected)
{
    uint64_t order = 0;
    char *plan = dome__hold_pass(h, &order);
    g_assert_cmpint(plan != NULL, ==, expected > 0);
    g_assert_cmpuint(order, ==, expected);
    g_free(plan);
}

/* Task 0 is ahead: it has answered an order at a boundary to which this task has not come, and there is the next one. */
static void test_hold_two(void)
{
    dome_hold *h = dome__hold_new();
    expect_order(h, 0);
    g_assert_cmpuint(dome__hold_order(h, 1), ==, 1);
    g_assert_cmpuint(dome__hold_order(h, 2), ==, 1); /* in the place of the first, which the hub has given up */
    dome__hold_target(h, 1, 2, "0 1 -");
    dome__hold_target(h, 2, 3, "0 1 -");
    g_assert_cmpuint(dome__hold_order(h, 3), ==, 1);
    expect_order(h, 0);
    expect_order(h, 2);
    dome__hold_target(h, 3, 5, "0 1 2");
    expect_order(h, 0);
    g_assert_cmpuint(dome__hold_order(h, 4), ==, 4);
    expect_order(h, 3);
    dome__hold_target(h, 4, 6, "0 1 2");
    expect_order(h, 4);
    expect_order(h, 0);
    dome__hold_free(h);
}

static void test_members(void)
{
    dome_hold *h = dome__hold_new();
    int ids[3];
    g_assert_false(dome__hold_wait_members(h, ids, 3, 0));
    dome__hold_members(h, "4 5 -6");
    g_assert_true(dome__hold_wait_members(h, ids, 3, 0));
    g_assert_cmpint(ids[0], ==, 4);
    g_assert_cmpint(ids[2], ==, -6);
    g_assert_false(dome__hold_wait_members(h, ids, 2, 0));
    dome__hold_standby(h, "=1");
    dome__hold_standby(h, "=2"); /* of the next change */
    char *line = dome__hold_wait_standby(h, 0);
    g_assert_cmpstr(line, ==, "=2");
    g_free(line);
    g_assert_null(dome__hold_wait_standby(h, 0));
    g_assert_false(dome__hold_wait_stands(h, 0));
    dome__hold_stands(h);
    g_assert_true(dome__hold_wait_stands(h, 0));
    dome__hold_free(h);
}

/* ---- going on without the lost ---- */

enum { CREW = 5 };

/* A process that a rank was given to, and what it was told last. */
typedef struct survivor {
    bool lives, returns, here;
    uint32_t view;
    int rank;
} survivor;

/* Loses some; those that are left have the ranks of a smaller view in their old order. Task 0 is started anew. */
static void lose(dome_view *v, survivor *all, const bool *victims)
{
    bool lost[CREW];
    const int size = dome__view_healed_size(v);
    int left = 0, last = -1;
    for (int r = 0; r < size; r++)
        lost[r] = true;
    for (int k = 0; k < CREW; k++) {
        all[k].lives &= !victims[k];
        if (all[k].lives)
            lost[dome__view_place(v, all[k].view, all[k].rank)] = false;
    }
    dome_view_act a = dome__view_go_on(v, lost);
    g_free(a.text);
    for (int k = 0; k < CREW; k++) {
        survivor *x = &all[k];
        const int place = dome__view_place(v, x->view, x->rank);
        if (!x->lives) {
            g_assert_cmpint(place, ==, -1);
            continue;
        }
        g_assert_cmpint(place, >, last);
        g_assert_cmpint(v->next.members[place].before, !=, DOME_VIEW_NEWCOMER);
        last = place;
        left++;
        x->here = false;
        if (!x->returns) { /* it is told at once; one that is on its way, when it greets */
            x->returns = true;
            x->view = v->next_number;
            x->rank = place;
        }
    }
    g_assert_cmpint(v->next.size, ==, left + lost[0]);
    g_assert_cmpint(last, <, v->next.size);
}

static void greet(dome_view *v, survivor *x)
{
    dome_view_act a = dome__view_greet(v, x->rank, x->view, 1);
    g_assert_cmpint(a.action, !=, DOME_VIEW_WRONG);
    x->here = a.action != DOME_VIEW_AGAIN;
    x->returns = !x->here;
    if (x->here)
        return;
    x->rank = dome__view_place(v, x->view, x->rank);
    x->view = v->next_number;
    x->returns = true;
}

/* Any tasks are lost at any time while the others go back. */
static void test_going_on(void)
{
    for (unsigned seed = 0; seed < 2000; seed++) {
        GRand *draw = g_rand_new_with_seed(seed);
        survivor all[CREW];
        dome_view v;
        int left = CREW;
        dome__view_init(&v);
        dome__view_stands(&v, 0, CREW, 1, 0);
        for (int k = 0; k < CREW; k++)
            all[k] = (survivor){.lives = true, .rank = k};
        while (left > 1) {
            bool victims[CREW] = {0};
            victims[g_rand_int_range(draw, 0, CREW)] = victims[g_rand_int_range(draw, 0, CREW)] = true;
            int stay = 0;
            for (int k = 0; k < CREW; k++)
                stay += all[k].lives && !victims[k];
            if (stay == 0 || stay == left)
                continue;
            left = stay;
            lose(&v, all, victims);
            for (int steps = g_rand_int_range(draw, 0, 3 * CREW); steps > 0; steps--) {
                survivor *x = &all[g_rand_int_range(draw, 0, CREW)];
                if (x->lives && x->returns)
                    greet(&v, x);
            }
        }
        for (int k = 0; k < CREW; k++)
            while (all[k].lives && !all[k].here)
                greet(&v, &all[k]);
        g_assert_cmpint(v.phase, ==, DOME_VIEW_ENTERING);
        g_assert_cmpint(dome__view_stands(&v, v.next_number, v.next.size, 1, 0).action, ==, DOME_VIEW_NOTHING);
        g_assert_cmpint(v.phase, ==, DOME_VIEW_STEADY);
        g_assert_null(v.past);
        dome__view_clear(&v);
        g_rand_free(draw);
    }
}

/* A task that has begun a change of its own before it is told keeps its place. */
static void test_going_on_meanwhile(void)
{
    dome_view v;
    const bool lost[3] = {false, true, false};
    dome__view_init(&v);
    dome__view_stands(&v, 0, 3, 1, 0);
    g_free(dome__view_go_on(&v, lost).text);
    g_assert_cmpint(dome__view_place(&v, 1, 2), ==, 1);
    g_assert_cmpint(dome__view_place(&v, 1, 1), ==, -1);
    g_assert_cmpint(dome__view_place(&v, 1, 3), ==, -1);
    g_assert_cmpint(dome__view_greet(&v, 2, 1, 7).action, ==, DOME_VIEW_AGAIN);
    g_assert_cmpint(dome__view_greet(&v, 1, 2, 7).action, ==, DOME_VIEW_NOTHING);
    g_assert_cmpint(dome__view_greet(&v, 0, 2, 7).action, ==, DOME_VIEW_MEMBERS);
    dome__view_clear(&v);
}

/* ---- taking a change back ---- */

/* A task of the view before: what it has done of the change. */
typedef enum stage { HANDS_OVER, ON_ITS_WAY, HAS_COME, TOLD, BACK_AGAIN } stage;

static dome_view_plan draw_plan(GRand *draw, int size, const char *const *hosts)
{
    if (size > 1 && g_rand_boolean(draw))
        return dome__view_plan_move(size, hosts, hosts[size - 1], "elsewhere");
    return dome__view_plan_grow(size, g_rand_int_range(draw, 1, 3), NULL);
}

/* The task does its next step, of the change or of taking it back. number: of the view that was begun. */
static void do_step(dome_view *v, int rank, stage *s, const dome_view_plan *plan, uint32_t number)
{
    const int in_next = dome__view_plan_next(plan, rank);
    dome_view_act act = {0};
    switch (*s) {
    case HANDS_OVER:
        act = dome__view_announce(v, rank, number, plan);
        *s = ON_ITS_WAY;
        break;
    case ON_ITS_WAY:
        act = dome__view_greet(v, in_next, number, rank + 1);
        *s = v->returns ? TOLD : HAS_COME;
        g_assert_cmpint(act.action == DOME_VIEW_AGAIN, ==, v->returns);
        break;
    case HAS_COME:
        if (v->returns)
            *s = TOLD;
        break;
    case TOLD:
        act = dome__view_greet(v, rank, v->next_number, rank + 1);
        *s = BACK_AGAIN;
        break;
    case BACK_AGAIN:
        break;
    }
    g_assert_cmpint(act.action, !=, DOME_VIEW_WRONG);
    g_free(act.text);
}

/* A newcomer is lost at any time of the change: every task has the rank that it had, and the user is told once. */
static void test_taking_back(void)
{
    static const char *const hosts[] = {"h1", "h2", "h3", "h3"};
    for (unsigned seed = 0; seed < 3000; seed++) {
        GRand *draw = g_rand_new_with_seed(seed);
        const int size = g_rand_int_range(draw, 1, 5);
        const char *own[4];
        stage stages[4] = {HANDS_OVER};
        bool lost[6] = {0};
        for (int r = 0; r < size; r++)
            own[r] = hosts[r];
        dome_view v;
        dome__view_init(&v);
        dome__view_stands(&v, 0, size, 1, 0);
        dome_view_plan plan = draw_plan(draw, size, own), wanted = dome__view_plan_copy(&plan);
        g_assert_cmpint(dome__view_ask(&v, &wanted).action, ==, DOME_VIEW_HOLD);
        for (int r = 0; r < size; r++)
            dome__view_held(&v, r, 1, 3);
        const int first = g_rand_int_range(draw, 0, size);
        do_step(&v, first, &stages[first], &plan, 1);
        for (int steps = g_rand_int_range(draw, 0, 3 * size); steps > 0; steps--) {
            const int r = g_rand_int_range(draw, 0, size);
            if (dome__view_plan_next(&plan, r) >= 0 && stages[r] < HAS_COME)
                do_step(&v, r, &stages[r], &plan, 1);
        }
        for (int k = 0; k < v.next.size; k++)
            lost[k] = v.next.members[k].before == DOME_VIEW_NEWCOMER;
        g_assert_true(dome__view_can_take_back(&v, lost));
        lost[0] = true;
        g_assert_false(dome__view_can_take_back(&v, lost));
        dome_view_act act = dome__view_take_back(&v, own, "a host is lost");
        g_assert_cmpint(act.action, ==, DOME_VIEW_REFUSED);
        g_assert_cmpstr(act.text, ==, "a host is lost");
        g_free(act.text);
        g_assert_false(dome__view_can_take_back(&v, lost)); /* the next loss is one */
        g_assert_cmpint(dome__view_stands(&v, 1, plan.size, 1, 0).action, ==, DOME_VIEW_WRONG);
        g_assert_cmpint(v.next.size, ==, size);
        for (int r = 0; r < size; r++) {
            const int in_next = dome__view_plan_next(&plan, r);
            g_assert_cmpint(v.next.members[r].before, ==, in_next < 0 ? DOME_VIEW_NEWCOMER : in_next);
            g_assert_cmpstr(v.next.members[r].host, ==, in_next < 0 ? own[r] : NULL);
            if (in_next >= 0)
                g_assert_cmpint(dome__view_place(&v, 1, in_next), ==, r);
            while (in_next >= 0 && stages[r] != BACK_AGAIN)
                do_step(&v, r, &stages[r], &plan, 1);
            if (in_next < 0)
                g_assert_cmpint(dome__view_greet(&v, r, v.next_number, 9).action, !=, DOME_VIEW_WRONG);
        }
        for (int k = 0; k < plan.size; k++) /* a newcomer that comes late */
            if (plan.members[k].before == DOME_VIEW_NEWCOMER)
                g_assert_cmpint(dome__view_greet(&v, k, 1, 9).action, ==, DOME_VIEW_WRONG);
        g_assert_cmpint(dome__view_stands(&v, v.next_number, size, 1, 0).action, ==, DOME_VIEW_NOTHING);
        g_assert_cmpint(v.phase, ==, DOME_VIEW_STEADY);
        g_assert_cmpint(v.size, ==, size);
        g_assert_false(v.returns);
        dome__view_plan_clear(&plan);
        dome__view_clear(&v);
        g_rand_free(draw);
    }
}

/* A task that is lost while the change is taken back is healed as any other. */
static void test_lost_while_taking_back(void)
{
    dome_view v;
    dome__view_init(&v);
    dome__view_stands(&v, 0, 2, 1, 0);
    for (int r = 0; r < 2; r++)
        g_assert_cmpint(announce(&v, r, 1, 2, 3).action, ==, DOME_VIEW_NOTHING);
    dome__view_greet(&v, 0, 1, 5);
    g_free(dome__view_take_back(&v, NULL, "").text);
    const uint32_t back = v.next_number;
    g_assert_cmpint(dome__view_greet(&v, 0, back, 6).action, ==, DOME_VIEW_NOTHING);
    const bool lost[2] = {false, true};
    g_free(dome__view_heal(&v, lost, NULL).text);
    g_assert_false(v.returns);
    g_assert_cmpint(dome__view_place(&v, back, 0), ==, 0);
    g_assert_cmpint(dome__view_place(&v, 1, 0), ==, 0);
    g_assert_cmpint(dome__view_greet(&v, 1, 1, 7).action, ==, DOME_VIEW_WRONG); /* it was given up */
    g_assert_cmpint(dome__view_greet(&v, 0, v.next_number, 8).action, ==, DOME_VIEW_MEMBERS);
    dome__view_clear(&v);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/view/orders", test_orders);
    g_test_add_func("/view/resizes", test_resizes);
    g_test_add_func("/view/losses", test_losses);
    g_test_add_func("/view/healing", test_healing);
    g_test_add_func("/view/healing_changes", test_healing_changes);
    g_test_add_func("/view/refusals", test_refusals);
    g_test_add_func("/view/meeting", test_meeting);
    g_test_add_func("/view/postponed", test_postponed);
    g_test_add_func("/view/fenced", test_fenced);
    g_test_add_func("/view/plans", test_plans);
    g_test_add_func("/view/hold", test_hold);
    g_test_add_func("/view/hold_two", test_hold_two);
    g_test_add_func("/view/members", test_members);
    g_test_add_func("/view/going_on", test_going_on);
    g_test_add_func("/view/going_on_meanwhile", test_going_on_meanwhile);
    g_test_add_func("/view/taking_back", test_taking_back);
    g_test_add_func("/view/lost_while_taking_back", test_lost_while_taking_back);
    return g_test_run();
}
