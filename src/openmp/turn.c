#include "openmp/turn.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "openmp/icv.h"
#include "openmp/shared.h"
#include "openmp/spin.h"
#include "openmp/team.h"
#include "system/time.h"

/* How the turn goes between tasks. An *interval* lasts from one meeting of all to the next. Most have no action in turn: then
 * nobody says anything. The first task that needs the turn in such an interval and is not task 0, which has it from the start,
 * asks all to meet (a round): they come as soon as they have nothing else to do, so all know of it. From then on, and from the
 * start when the program comes to the same place again, each task that has arrived or cannot go on passes the turn, and says so
 * when it arrives. */
static struct {
    uint64_t interval, place;
    uint64_t deal;              /* the last one before this interval */
    bool in_order;              /* the turn is passed in this interval */
    bool round_is_over;         /* of this interval */
    bool owes;                  /* the next task is to have the turn, after the round */
    unsigned first, end, local; /* this task's threads; the one that has the turn when the task has */
    bool watches;               /* this task has said so (shared.h) */
    uint64_t looked;            /* told() when this task was last between enter and leave */
    uint64_t flush_left;        /* when a thread of this task has come from a flush last */
    uint64_t flushed, flush_ns; /* when that was (of those that were not deferred), and how long it took */
    bool defers;                /* there is a flush of which others have not been told */
} here;

static bool alone(const dome_omp_thread *t)
{
    return dome__omp_tasks.size == 1 || !t->team->active_level || t != dome__omp_running;
}

static bool needs_turn(dome_omp_order order)
{
    return order == DOME_OMP_IN_TURN && !dome__omp_tasks.any_order;
}

bool dome__omp_make(bool (*make)(void *), void *argument)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    bool done = make(argument);
    pthread_mutex_unlock(&lock);
    return done;
}

static void enter(void)
{
    dome__omp_tasks.enter();
    here.looked = dome__omp_tasks.told();
}

/* ---- who is told ---- */

/* Those that wait for more than the turn, and who has got the turn since it was `turn`. */
static void leave(bool all, bool if_written, uint64_t turn)
{
    const dome_omp_shared *s = dome__omp_shared();
    const bool passed = s->turn != turn && s->turn != (uint64_t)dome__omp_tasks.rank;
    dome__omp_tasks.leave(&(dome_omp_telling){all ? s->watches : NULL, if_written, passed ? (int)s->turn : -1});
    here.defers = here.defers && !all;
}

/* Whether this task waits for more than the turn. True: others did not know it, so something may have changed. */
static bool begin_to_watch(bool watches)
{
    const bool is_new = watches && !here.watches;
    if (here.watches != watches)
        dome__omp_shared()->watches[dome__omp_tasks.rank] = here.watches = watches;
    return is_new;
}

/* ---- the turn; between enter and leave ---- */

static bool has_turn(const dome_omp_thread *t)
{
    return dome__omp_shared()->turn == (uint64_t)dome__omp_tasks.rank && here.local == (unsigned)(t - dome__omp_threads) &&
           !here.owes;
}

static bool round_has_begun(void)
{
    return !here.round_is_over && dome__omp_shared()->round == here.interval;
}

/* Another task has it, and has not said that it passes it. */
static bool turn_is_elsewhere(void)
{
    return here.in_order && !round_has_begun() && dome__omp_shared()->turn != (uint64_t)dome__omp_tasks.rank &&
           dome__omp_tasks.told() == here.looked;
}

/* Attempts that have failed are made again when the turn comes back. Returns whether a thread has passed the turn that could have
 * kept it. */
static bool begin_again(void)
{
    bool passed = false;
    here.local = here.first;
    for (unsigned k = here.first; k < here.end; k++) {
        dome_omp_thread *t = &dome__omp_threads[k];
        passed |= t->passes;
        t->refused = t->passes = false;
    }
    return passed;
}

/* False: all have arrived. */
static bool pass_to_next_task(void)
{
    dome_omp_shared *s = dome__omp_shared();
    uint64_t tasks = (uint64_t)dome__omp_tasks.size, next = s->turn;
    do
        next = (next + 1) % tasks;
    while (next != s->turn && s->arrived[next] == here.interval);
    const bool any = s->arrived[next] != here.interval;
    s->turn = any ? next : 0;
    return any;
}

/* Whether the thread may keep the turn. */
static bool keeps(const dome_omp_thread *t)
{
    return t->state == DOME_OMP_READY ? !t->passes && t->spins < DOME_OMP_SPINS
                                      : t->state == DOME_OMP_BLOCKED && t->in_turn && !t->refused && !t->passes;
}

/* From threads that do not need the turn to the next that does. True: to one of this task. */
static bool pass(void)
{
    if (dome__omp_shared()->turn != (uint64_t)dome__omp_tasks.rank || (here.owes && !here.in_order))
        return false;
    if (here.owes) {
        here.owes = false;
        pass_to_next_task();
        return false;
    }
    unsigned before = here.local;
    while (here.local < here.end && !keeps(&dome__omp_threads[here.local]))
        here.local++;
    if (here.local < here.end)
        return here.local != before;
    here.owes = begin_again() && !here.in_order;
    if (here.in_order)
        pass_to_next_task();
    return false;
}

/* The thread has acted in turn, or has been let go on: it keeps the turn from here on. */
static void began(dome_omp_thread *t)
{
    t->spins = 0;
    t->passes = false;
}

/* ---- attempts ---- */

typedef struct attempt {
    bool (*make)(void *);
    void *argument;
    dome_omp_thread *thread;
    dome_omp_order order;
    bool done;
} attempt;

static bool is_watched(const dome_omp_thread *t)
{
    return dome__omp_watcher && t->team->active_level && t == dome__omp_running;
}

void dome__omp_acted_on(const dome_omp_thread *t)
{
    if (dome__omp_watcher)
        dome__omp_watcher->acted(dome__omp_thread_id(t));
}

static void make_once(void *argument)
{
    attempt *a = argument;
    const bool in_turn = needs_turn(a->order);
    if (dome__omp_watcher)
        dome__omp_watcher->stopped(dome__omp_thread_id(a->thread));
    a->thread->refused = false;
    if (in_turn && turn_is_elsewhere())
        return;
    enter();
    const uint64_t turn = dome__omp_shared()->turn;
    if (in_turn)
        pass();
    bool may = !in_turn || has_turn(a->thread);
    a->done = may && a->make(a->argument);
    a->thread->refused = may && !a->done;
    if (in_turn && a->done)
        began(a->thread);
    if (a->done)
        dome__omp_acted_on(a->thread);
    leave(a->done && a->order != DOME_OMP_LOOK, false, turn);
}

/* Where there is one task. */
static void make_watched(void *argument)
{
    attempt *a = argument;
    dome__omp_watcher->stopped(dome__omp_thread_id(a->thread));
    a->done = dome__omp_make(a->make, a->argument);
    if (a->done)
        dome__omp_acted_on(a->thread);
}

static void make_alone(attempt *a)
{
    if (is_watched(a->thread))
        dome__omp_call_task(make_watched, a);
    else
        a->done = dome__omp_make(a->make, a->argument);
}

bool dome__omp_try(dome_omp_order order, bool (*make)(void *), void *argument)
{
    dome_omp_thread *t = dome__omp_self();
    attempt a = {make, argument, t, order, false};
    if (alone(t))
        make_alone(&a);
    else
        dome__omp_on_task(make_once, &a);
    return a.done;
}

void dome__omp_until(dome_omp_order order, bool (*make)(void *), void *argument, const char *what, const void *where)
{
    dome_omp_thread *t = dome__omp_self();
    attempt a = {make, argument, t, order, false};
    if (alone(t))
        make_alone(&a);
    else
        dome__omp_on_task(make_once, &a);
    if (a.done)
        return;
    if (!t->team->active_level && dome__omp_strangers()) {
        while (!dome__omp_make(make, argument))
            sched_yield();
        return;
    }
    if (!t->team->active_level)
        dome__omp_die("OpenMP: the only thread waits for %s at %p, which nobody will give it", what, where);
    t->in_turn = needs_turn(order);
    t->attempt = make;
    t->argument = argument;
    t->waiting = (dome_omp_waiting){what, where};
    dome__omp_give_way(t, DOME_OMP_BLOCKED);
}

/* A thread that computes little between flushes, of which few concern others, would spend its time on telling them: so it tells
 * them of all at once now and then, and when it waits itself. */
static bool may_defer(void)
{
    enum { PART = 2 }; /* so many times as long as a flush takes pass before the next one */
    return !dome__omp_watcher && dome__now_ns() - here.flushed < PART * here.flush_ns && dome__omp_tasks.defer();
}

/* looks: the thread wants to know what others have written. It gives way behind such flushes only. */
static void flush(void *looks)
{
    here.defers = !looks && may_defer();
    if (here.defers)
        return;
    const uint64_t begin = dome__now_ns();
    if (dome__omp_watcher)
        dome__omp_watcher->stopped(dome__omp_thread_id(dome__omp_running));
    enter();
    dome__omp_acted_on(dome__omp_running);
    leave(true, true, dome__omp_shared()->turn);
    here.flushed = dome__now_ns();
    here.flush_ns = here.flushed - begin;
}

/* A thread may come to one place again and again because it gets on. One that waits does nothing between its looks, unless it
 * loses the processor just there, which is rare. (The time that it has used would tell them apart, but asking for it is a system
 * call.) */
enum { LOOK_NS = 1000 };

void dome__omp_flush_from(const void *from)
{
    dome_omp_thread *t = dome__omp_self();
    const uint64_t between = t->seen_at == from && !alone(t) ? dome__now_ns() - here.flush_left : 0;
    if (between > LOOK_NS)
        dome__omp_acted(t);
    dome__omp_looked(t, from, 0); /* it may give way: what others have written is taken in behind that, before the next look */
    const bool looks = t->spins > 1;
    if (is_watched(t))
        dome__omp_call_task(flush, looks ? t : NULL);
    else if (!alone(t))
        dome__omp_on_task(flush, looks ? t : NULL);
    here.flush_left = dome__now_ns();
}

/* ---- for the scheduler ---- */

void dome__omp_order_begin(uint64_t place, unsigned first, unsigned end)
{
    here.first = here.local = first;
    here.end = end;
    if (dome__omp_tasks.size == 1)
        return;
    begin_again();
    here.owes = false;
    begin_to_watch(false);
    here.interval++;
    here.place = place;
    here.deal = dome__omp_shared()->deal.serial;
    here.in_order = dome__omp_shared()->in_order[place % DOME_OMP_USED];
    here.round_is_over = false;
}

void dome__omp_order_arrive(void)
{
    if (here.defers)
        flush(&here);
    if (!here.in_order)
        return;
    dome_omp_shared *s = dome__omp_shared();
    enter();
    const uint64_t turn = s->turn;
    s->arrived[dome__omp_tasks.rank] = here.interval;
    const bool passes = turn == (uint64_t)dome__omp_tasks.rank, last = passes && !pass_to_next_task();
    if (last && s->deal.serial == here.deal) /* nobody waits for the turn: the meeting brings it to task 0 */
        leave(false, false, s->turn);
    else
        leave(false, false, turn);
}

bool dome__omp_order_in_round(void)
{
    return round_has_begun();
}

bool dome__omp_order_met(uint64_t place)
{
    if (round_has_begun()) {
        here.round_is_over = here.in_order = true;
        return false;
    }
    dome__omp_order_begin(place, here.first, here.end);
    return true;
}

/* Makes the attempts of those that may, in the order of the threads; *wants: one needs the turn and does not have it. */
static bool make_attempts(bool *wants)
{
    bool any = false;
    *wants = false;
    for (unsigned k = here.first; k < here.end; k++) {
        dome_omp_thread *t = &dome__omp_threads[k];
        if (t->state != DOME_OMP_BLOCKED)
            continue;
        bool may = !t->in_turn || has_turn(t);
        *wants |= !may && !t->refused;
        if (!may)
            continue;
        t->refused = !t->attempt(t->argument);
        if (!t->refused) {
            t->state = DOME_OMP_READY;
            began(t);
            dome__omp_acted_on(t);
            any = true;
        }
    }
    return any;
}

/* Whether a thread waits for what another one does in some other way than by passing the turn. */
static bool waits_for_more(void)
{
    for (unsigned k = here.first; k < here.end; k++) {
        const dome_omp_thread *t = &dome__omp_threads[k];
        if (t->state == DOME_OMP_READY || (t->state == DOME_OMP_BLOCKED && (!t->in_turn || t->refused)))
            return true;
    }
    return false;
}

/* Whether all threads are such as wait for what is changed between enter and leave alone: plain memory may be looked at by one
 * that is READY. */
static bool all_are_blocked(void)
{
    for (unsigned k = here.first; k < here.end; k++)
        if (dome__omp_threads[k].state == DOME_OMP_READY)
            return false;
    return true;
}

/* All tasks are to come to a round. */
static void leave_for_round(void)
{
    static uint8_t all[DOME_OMP_MAX_TASKS];
    memset(all, 1, sizeof all);
    dome__omp_tasks.leave(&(dome_omp_telling){all, false, -1});
}

/* In a round, or because thread 0 deals tasks: not all threads of this task have arrived. */
static void meet_before_end(bool deal)
{
    dome__omp_deal_come(deal);
    dome__omp_tasks.meet(here.place);
    if (round_has_begun())
        dome__omp_order_met(here.place);
    else
        dome__omp_go_on_dealing(dome__omp_deal_met());
}

void dome__omp_order_wait(uint64_t seen)
{
    dome_omp_shared *s = dome__omp_shared();
    bool wants, any;
    if (turn_is_elsewhere() && !waits_for_more() && !here.defers && !dome__omp_deal_waits()) {
        dome__omp_tasks.await(here.looked);
        return;
    }
    enter();
    uint64_t turn = s->turn;
    pass();
    do
        any = make_attempts(&wants);
    while (!any && pass());
    if (!any && wants && !here.in_order) {
        s->round = here.interval;
        s->in_order[here.place % DOME_OMP_USED] = 1;
    }
    if (any || turn != s->turn)
        dome__omp_deal_moved();
    const bool round = !any && round_has_begun(), deal = !any && !round && dome__omp_deal_waits();
    const bool looks_again = begin_to_watch(!any && !round && !deal && waits_for_more());
    if (all_are_blocked()) /* they have just looked, and nobody can change anything before this task leaves */
        seen = here.looked;
    if (round || deal)
        leave_for_round();
    else
        leave(any || here.defers, false, turn);
    if (round || deal)
        meet_before_end(deal);
    else if (!any && !looks_again)
        dome__omp_tasks.await(seen);
}
