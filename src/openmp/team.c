#include "openmp/team.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "openmp/icv.h"
#include "openmp/memory_openmp.h"
#include "openmp/shared.h"
#include "openmp/turn.h"
#include "system/say.h"

dome_omp_thread dome__omp_threads[DOME_OMP_MAX_THREADS];
dome_omp_thread *dome__omp_running;

static void none_left(dome_omp_thread *t, dome_omp_state state)
{
    (void)t, (void)state;
}

void (*dome__omp_tasks_left)(dome_omp_thread *t, dome_omp_state state) = none_left;

/* What the words of a fork mean. */
enum { FUNCTION, DATA, THREADS, FLOAT_MODES, SCHEDULE, STEP_START, STEP, COUNT, CHUNK, SERIAL, DEALS };
_Static_assert((int)DATA == (int)DOME_OMP_FORK_DATA && (int)THREADS == (int)DOME_OMP_FORK_THREADS &&
                   (int)DEALS < (int)DOME_OMP_FORK_BYTES,
               "tasks.h");

static struct {
    dome_omp_team first, team; /* of thread 0 alone; of the region */
    dome_omp_fibre scheduler;
    unsigned begin, end; /* this task's threads of the region */
    void (*function)(void *);
    void *data;
    uint64_t float_modes, serial;
    void (*main)(void *);
    void *main_argument;
    size_t main_bytes;
    bool main_ended, ready;
    bool is_alone;  /* nobody has called run_main */
    bool some_idle; /* a task has no thread of the region */
    bool first_ran; /* thread 0 has begun the region, and given way */
    void (*end_by_first)(void);
} here;

void dome__omp_die(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fflush(stdout);
    dome__say_at_once("%s", line);
    _Exit(1);
}

/* ---- threads ---- */

static void run_region_for_ever(void)
{
    for (;;) {
        dome__omp_float_modes_set(here.float_modes);
        here.function(here.data);
        dome__omp_tasks_left(dome__omp_running, DOME_OMP_ENDED);
        dome__omp_arrive(dome__omp_running, DOME_OMP_ENDED);
    }
}

static void run_main(void)
{
    here.main(here.main_argument);
    here.main_ended = true;
    dome__omp_give_way(&dome__omp_threads[0], DOME_OMP_ENDED);
}

void dome__omp_threads_make(unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        dome_omp_thread *t = &dome__omp_threads[k];
        if (t->made)
            continue;
        size_t bytes = k ? dome__omp_environment()->stack_bytes : here.main_bytes;
        int error = dome__omp_fibre_make(&t->fibre, dome__omp_stack_end(k), bytes, k ? run_region_for_ever : run_main);
        if (error)
            dome__omp_die("OpenMP: the stack of thread %u cannot be made: %s; %s", k, strerror(error),
                          k ? "try a smaller OMP_STACKSIZE or OMP_NUM_THREADS" : "raise the limits on memory (ulimit -d, -v)");
        t->made = true;
    }
}

static void set_up(void)
{
    const dome_omp_environment *e = dome__omp_environment();
    dome_omp_thread *t = &dome__omp_threads[0];
    here.first = (dome_omp_team){.size = 1};
    here.ready = true;
    t->team = &here.first;
    t->variables = e->variables;
}

/* The scheduler of a program that nobody has started: thread 0 has just given way for the first time. */
static void go_on_alone(void);

/* The thread that calls the runtime first is thread 0, on its own stack. */
static void start_alone(void)
{
    enum { BYTES = 1 << 18 };
    char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        dome__omp_die("OpenMP: no memory for the scheduler's stack");
    set_up();
    here.is_alone = true;
    dome__omp_threads[0].made = true;
    dome__omp_threads[0].fibre.thread_pointer = dome__omp_thread_pointer();
    dome__omp_fibre_beside(&here.scheduler, stack, BYTES, go_on_alone);
    dome__omp_running = &dome__omp_threads[0];
}

static bool strangers;

bool dome__omp_strangers(void)
{
    return __atomic_load_n(&strangers, __ATOMIC_RELAXED);
}

dome_omp_thread *dome__omp_stranger(void)
{
    static __thread dome_omp_thread *own;
    static __thread dome_omp_team alone;
    if (!here.ready) {
        start_alone();
        return dome__omp_running;
    }
    if (!own) {
        own = calloc(1, sizeof *own);
        if (!own)
            dome__omp_die("OpenMP: no memory for a thread that the program has created");
        __atomic_store_n(&strangers, true, __ATOMIC_RELAXED);
        alone.size = 1;
        own->team = &alone;
        own->variables = dome__omp_environment()->variables;
        own->fibre.thread_pointer = dome__omp_thread_pointer();
    }
    return own;
}

void dome__omp_give_way(dome_omp_thread *t, dome_omp_state state)
{
    if (state == DOME_OMP_READY) /* it may wait for what a task does that is put off */
        dome__omp_tasks_left(t, state);
    t->state = state;
    dome__omp_fibre_switch(&t->fibre, &here.scheduler);
    if (__builtin_expect(here.end_by_first != NULL, 0))
        here.end_by_first();
}

void dome__omp_arrive(dome_omp_thread *t, dome_omp_state state)
{
    dome__omp_give_way(t, state);
    while (t->has_share) {
        t->has_share = false;
        dome__omp_share_run(t);
        dome__omp_give_way(t, state);
    }
}

void dome__omp_call_task(void (*call)(void *), void *argument)
{
    dome_omp_thread *t = dome__omp_self();
    if (here.is_alone || t != dome__omp_running) {
        call(argument);
        return;
    }
    t->call = call;
    t->argument = argument;
    dome__omp_fibre_switch(&t->fibre, &here.scheduler);
}

void dome__omp_on_task(void (*call)(void *), void *argument)
{
    if (dome__omp_tasks.size == 1)
        call(argument);
    else
        dome__omp_call_task(call, argument);
}

/* Until it gives way. */
static void run(dome_omp_thread *t)
{
    do {
        dome__omp_running = t;
        dome__omp_fibre_switch(&here.scheduler, &t->fibre);
        void (*call)(void *) = t->call;
        if (!call)
            break;
        t->call = NULL;
        call(t->argument);
    } while (true);
    if (dome__omp_watcher && t->team->active_level)
        dome__omp_watcher->stopped(dome__omp_thread_id(t));
}

void dome__omp_leave_region(dome_omp_thread *t)
{
    t->team = &here.first;
    t->variables.thread_limit = 1; /* regions of functions that are called at the end */
    t->number = 0;
    t->taskgroup = NULL;
}

void dome__omp_end_by_first(void (*end)(void))
{
    here.end_by_first = end;
    run(&dome__omp_threads[0]);
    abort();
}

/* ---- a region on this task ---- */

typedef struct counts {
    unsigned ran, ready, spinning, blocked, arrived, ended; /* spinning: of the ready ones */
    bool acted;                                             /* one of those that ran has done more than to look once more */
} counts;

static void count(counts *of, const dome_omp_thread *t)
{
    const dome_omp_state state = t->state;
    of->ready += state == DOME_OMP_READY;
    of->spinning += state == DOME_OMP_READY && t->spins >= DOME_OMP_SPINS;
    of->blocked += state == DOME_OMP_BLOCKED;
    of->arrived += state == DOME_OMP_ARRIVED;
    of->ended += state == DOME_OMP_ENDED;
}

/* Each thread, in the order of their numbers, until it cannot go on. */
static counts run_threads(void)
{
    counts now = {0};
    if (dome__omp_tasks.pass_begins)
        dome__omp_tasks.pass_begins();
    if (here.first_ran) { /* so the others come next */
        now.ran = now.acted = true;
        count(&now, &dome__omp_threads[0]);
        if (dome__omp_tasks.ran)
            dome__omp_tasks.ran(0);
    }
    for (unsigned k = here.begin + here.first_ran; k < here.end; k++) {
        dome_omp_thread *t = &dome__omp_threads[k];
        if (t->state == DOME_OMP_BLOCKED && dome__omp_tasks.size == 1 && dome__omp_make(t->attempt, t->argument)) {
            t->state = DOME_OMP_READY;
            dome__omp_acted_on(t);
        }
        if (t->state == DOME_OMP_READY) {
            const uint64_t looks = t->spins;
            run(t);
            now.ran++;
            now.acted |= t->spins < looks || t->spins < DOME_OMP_SPINS || t->state != DOME_OMP_READY;
            if (dome__omp_tasks.ran)
                dome__omp_tasks.ran(k);
        }
        count(&now, t);
    }
    here.first_ran = false;
    if (dome__omp_tasks.pass_ends)
        dome__omp_tasks.pass_ends();
    return now;
}

static uint64_t place_of(uint64_t barrier)
{
    return (here.team.place ^ barrier * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93) >> 8;
}

/* Where a region may be cancelled, threads may be at its end while others are at a barrier; and a task without threads does not
 * know where they are. Then each task tells it, and all look. */
static bool ends_are_told(void)
{
    return dome__omp_tasks.size > 1 && (dome__omp_environment()->cancellation || here.some_idle);
}

static bool some_task_is_idle(unsigned threads)
{
    bool idle = false;
    for (int r = 0; r < dome__omp_tasks.size; r++)
        idle = idle || dome__omp_tasks.first(threads, r) == dome__omp_tasks.first(threads, r + 1);
    return idle;
}

/* A task that is at the next meeting already has told that in the other row. */
static uint8_t *ends_told_at(uint64_t barrier)
{
    return dome__omp_shared()->ended[barrier % 2];
}

static bool all_have_ended(bool ended, uint64_t barrier)
{
    if (!ends_are_told())
        return ended;
    for (int r = 0; r < dome__omp_tasks.size; r++)
        if (!ends_told_at(barrier)[r])
            return false;
    return true;
}

/* Threads that have tasks to run, which were dealt. */
static void begin_shares(void)
{
    for (unsigned k = here.begin; k < here.end; k++) {
        dome_omp_thread *t = &dome__omp_threads[k];
        t->has_share = k == 0 || dome__omp_has_share(t);
        if (t->has_share)
            t->state = DOME_OMP_READY;
    }
}

void dome__omp_go_on_dealing(dome_omp_met met)
{
    if (met == DOME_OMP_DEAL_BEGINS)
        begin_shares();
    else if (met != DOME_OMP_DEAL_AGAIN && here.begin == 0)
        dome__omp_threads[0].state = DOME_OMP_READY;
}

/* Meets the other tasks, again after a round (turn.h). */
static dome_omp_met meet_others(uint64_t place)
{
    if (dome__omp_tasks.size == 1) {
        dome__omp_deal_come(false);
        return dome__omp_deal_met();
    }
    bool round;
    do {
        dome__omp_order_arrive();
        dome__omp_deal_come(false);
        dome__omp_tasks.meet(place);
        round = dome__omp_order_in_round();
        if (round)
            dome__omp_order_met(place);
    } while (round);
    const dome_omp_met met = dome__omp_deal_met();
    if (met == DOME_OMP_NO_DEAL)
        dome__omp_order_met(place);
    else if (met == DOME_OMP_DEAL_BEGINS || met == DOME_OMP_DEAL_ENDS)
        dome__omp_order_met(dome__omp_deal_place() + met);
    return met;
}

/* All threads of this task have arrived or ended. True: the region has ended on all tasks. */
static bool meet(const counts *now, uint64_t *barriers)
{
    bool ended = !now->arrived;
    bool told = ends_are_told();
    const uint64_t barrier = *barriers + 1, place = place_of(ended && !told ? UINT64_MAX : barrier);
    if (told)
        ends_told_at(barrier)[dome__omp_tasks.rank] = ended;
    const dome_omp_met met = meet_others(place);
    if (dome__omp_watcher)
        dome__omp_watcher->met();
    if (met != DOME_OMP_NO_DEAL) {
        dome__omp_go_on_dealing(met);
        return false;
    }
    if (all_have_ended(ended, barrier))
        return true;
    *barriers = barrier;
    bool cancelled = dome__omp_shared()->cancelled_region == here.team.serial;
    for (unsigned k = here.begin; k < here.end; k++)
        if (dome__omp_threads[k].state == DOME_OMP_ARRIVED) {
            dome__omp_threads[k].cancelled = cancelled;
            dome__omp_threads[k].state = DOME_OMP_READY;
        }
    return false;
}

/* With one task: threads wait for what thread 0 does when tasks that it deals have run. It goes on, and runs them. */
static bool refuse_deal(const counts *now)
{
    if (now->acted || !(now->ready || now->blocked) || !dome__omp_deal_waits())
        return false;
    dome__omp_deal_give_up();
    dome__omp_go_on_dealing(DOME_OMP_DEAL_REFUSED);
    return true;
}

static void stuck(void) __attribute__((noreturn));
static void stuck(void)
{
    for (unsigned k = here.begin; k < here.end; k++) {
        const dome_omp_thread *t = &dome__omp_threads[k];
        char where[24] = "";
        if (t->waiting.where)
            snprintf(where, sizeof where, "%p", t->waiting.where);
        if (t->state == DOME_OMP_BLOCKED)
            dome__omp_die("OpenMP: all threads wait, so none goes on: thread %u of %u waits for %s%s%s", k, here.team.size,
                          t->waiting.what, where[0] ? " at " : "", where);
    }
    abort();
}

/* Until the region has ended. */
static void run_region(void)
{
    uint64_t barriers = 0;
    for (;;) {
        uint64_t seen = dome__omp_tasks.told();
        counts now = run_threads();
        if (now.acted)
            dome__omp_deal_moved();
        if (dome__omp_tasks.size == 1 && refuse_deal(&now))
            continue;
        if (now.ready > now.spinning || (now.ready && now.acted))
            continue; /* a thread that waits may wait for one of these */
        if (dome__omp_tasks.size == 1 && (now.ready || (now.blocked && now.ran)))
            continue; /* what one of them has done may be what others wait for */
        if (now.blocked && dome__omp_tasks.size == 1) {
            if (!dome__omp_strangers())
                stuck();
            sched_yield();
            continue;
        }
        if (now.blocked || now.ready)
            dome__omp_order_wait(seen);
        else if (meet(&now, &barriers))
            return;
    }
}

/* Thread 0 has given way: it is in a region, or main has returned. */
static void go_on(void)
{
    while (!here.main_ended) {
        here.first_ran = true;
        run_region();
        run(&dome__omp_threads[0]);
    }
}

static void go_on_alone(void)
{
    go_on();
    abort(); /* thread 0 of a program that runs alone never ends here */
}

/* ---- the beginning of a region ---- */

const dome_omp_team *dome__omp_active_team(void)
{
    return &here.team;
}

bool (*dome__omp_in_library)(const void *code);

unsigned dome__omp_team_size(dome_omp_thread *t, unsigned threads, const void *code)
{
    if (t->team->active_level || t != &dome__omp_threads[0] || dome__omp_is_library(code))
        return 1;
    unsigned size = threads ? threads : t->variables.threads;
    if (size > t->variables.thread_limit)
        size = t->variables.thread_limit;
    const unsigned tasks = (unsigned)dome__omp_tasks.size, most = DOME_OMP_MAX_THREADS - (tasks > 1 ? tasks : 0);
    static bool told;
    if (size > most) { /* the last places are the tasks' own */
        if (!told)
            dome__say_at_once("OpenMP: a region asks for %u threads and gets %u", size, most);
        told = true;
        size = most;
    }
    return size;
}

/* What the thread goes on with after the region. */
static void keep_position(const dome_omp_thread *t, dome_omp_team *in)
{
    in->number = t->number;
    in->final = t->final;
    in->construct = t->construct;
    in->barrier = t->barrier;
    in->loop = t->loop;
    in->taskgroup = t->taskgroup;
    in->variables = t->variables;
}

static void leave_team(dome_omp_thread *t)
{
    const dome_omp_team *team = t->team;
    t->number = team->number;
    t->final = team->final;
    t->construct = team->construct;
    t->barrier = team->barrier;
    t->loop = team->loop;
    t->taskgroup = team->taskgroup;
    t->variables = team->variables;
    t->team = team->outer;
}

static void begin_thread(dome_omp_thread *t, unsigned number, const dome_omp_variables *variables, const dome_omp_loop *loop)
{
    t->number = number;
    t->state = DOME_OMP_READY;
    t->team = &here.team;
    t->variables = *variables;
    t->construct = here.serial << DOME_OMP_SERIAL_SHIFT;
    t->barrier = 0;
    t->ordered_row = t->doacross.row = (dome_omp_row){0};
    t->final = t->cancelled = t->passes = t->refused = false;
    t->taskgroup = NULL;
    t->spins = t->entries = 0;
    t->has_share = false;
    t->tasks = 0;
    if (loop)
        dome__omp_loop_begin(t, loop);
}

static bool elsewhere[DOME_OMP_MAX_THREADS];

bool dome__omp_is_elsewhere(unsigned thread)
{
    return elsewhere[thread];
}

/* The stack of a thread that another task runs has nothing here: who follows a pointer there must not find that. */
static void permit_stacks(void)
{
    for (unsigned k = 1; k < here.team.size; k++) {
        const dome_omp_thread *t = &dome__omp_threads[k];
        const bool other = k < here.begin || k >= here.end;
        if (elsewhere[k] == other)
            continue;
        int error = dome__omp_fibre_permit(&t->fibre, dome__omp_stack_end(k), dome__omp_environment()->stack_bytes, !other);
        if (error)
            dome__omp_die("OpenMP: the stack of thread %u cannot be used: %s", k, strerror(error));
        elsewhere[k] = other;
    }
}

static void begin_here(const dome_omp_fork *fork, const dome_omp_team *outer, const dome_omp_variables *variables)
{
    const uint64_t *w = fork->words;
    const unsigned size = w[THREADS] & 0xffffffff;
    here.begin = dome__omp_tasks.first(size, dome__omp_tasks.rank);
    here.end = dome__omp_tasks.first(size, dome__omp_tasks.rank + 1);
    here.some_idle = some_task_is_idle(size);
    here.function = (void (*)(void *))(uintptr_t)w[FUNCTION];
    here.data = (void *)(uintptr_t)w[DATA];
    here.float_modes = w[FLOAT_MODES];
    here.serial = w[SERIAL];
    here.team.size = size;
    here.team.level = (unsigned)(w[THREADS] >> 32);
    here.team.active_level = 1;
    here.team.serial = w[SERIAL];
    here.team.place = fork->place;
    here.team.outer = (dome_omp_team *)outer;
    dome_omp_loop loop = {.start = w[STEP_START],
                          .step = w[STEP],
                          .count = w[COUNT],
                          .chunk = w[CHUNK],
                          .schedule = (dome_omp_schedule)(w[SCHEDULE] & 0xff),
                          .sections = w[SCHEDULE] >> 8 & 1};
    for (unsigned k = here.begin; k < here.end; k++)
        begin_thread(&dome__omp_threads[k], k, variables, w[SCHEDULE] >> 9 & 1 ? &loop : NULL);
    permit_stacks();
    dome__omp_deals_begin(w[DEALS]);
    dome__omp_order_begin(fork->place, here.begin, here.end);
}

/* Threads are made here, not on thread 0's stack: pthread_create blocks signals, and a page of that stack may have to be fetched.
 * Other tasks get thread 0's variables by words that are written when they have changed. */
static void fork_call(void *argument)
{
    const dome_omp_fork *fork = argument;
    dome_omp_shared *s = dome__omp_shared();
    dome__omp_threads_make((unsigned)fork->words[THREADS]);
    const dome_omp_league *league = &dome__omp_environment()->league;
    if (memcmp(&s->variables, &here.team.variables, sizeof s->variables))
        s->variables = here.team.variables;
    if (memcmp(&s->league, league, sizeof *league))
        s->league = *league;
    dome__omp_tasks.fork(fork);
}

static void tell_watcher(void *unused)
{
    (void)unused;
    if (dome__omp_watcher)
        dome__omp_watcher->region((const void *)(uintptr_t)here.team.place); /* the program's function */
}

/* The program's function that the compiler has made of the region. */
static uint64_t code_of(const dome_omp_region *region)
{
    return region->place ? region->place : (uint64_t)(uintptr_t)region->function;
}

static unsigned size_of(dome_omp_thread *t, const dome_omp_region *region)
{
    return dome__omp_team_size(t, region->threads, (const void *)(uintptr_t)code_of(region));
}

static void begin_team(dome_omp_thread *t, const dome_omp_region *region, unsigned size)
{
    dome_omp_fork fork = {.place = code_of(region)};
    uint64_t *w = fork.words;
    w[FUNCTION] = (uint64_t)(uintptr_t)region->function;
    w[DATA] = (uint64_t)(uintptr_t)region->data;
    w[THREADS] = size | (uint64_t)(t->team->level + 1) << 32;
    w[FLOAT_MODES] = dome__omp_float_modes();
    if (region->loop) {
        const dome_omp_loop *l = region->loop;
        w[SCHEDULE] = (uint64_t)l->schedule | (uint64_t)l->sections << 8 | 1 << 9;
        w[STEP_START] = l->start, w[STEP] = l->step, w[COUNT] = l->count, w[CHUNK] = l->chunk;
    }
    w[SERIAL] = here.serial + 1;
    w[DEALS] = dome__omp_shared()->deal.serial;
    keep_position(t, &here.team);
    if (dome__omp_tasks.size > 1 || dome__omp_tasks.saves || dome__omp_watcher)
        dome__omp_call_task(fork_call, &fork);
    else
        dome__omp_threads_make(size);
    begin_here(&fork, t->team, &here.team.variables);
    if (dome__omp_watcher)
        dome__omp_call_task(tell_watcher, NULL);
}

static void end_team(dome_omp_thread *t)
{
    dome__omp_tasks_left(t, DOME_OMP_ENDED);
    dome__omp_arrive(t, DOME_OMP_ENDED);
    leave_team(t);
}

static void begin_alone(dome_omp_thread *t, const dome_omp_region *region, dome_omp_team *alone)
{
    *alone = (dome_omp_team){.outer = t->team,
                             .size = 1,
                             .level = t->team->level + 1,
                             .active_level = t->team->active_level,
                             .serial = t->team->serial,
                             .place = t->team->place};
    keep_position(t, alone);
    t->team = alone;
    t->number = 0;
    t->final = false;
    t->taskgroup = NULL;
    if (region->loop)
        dome__omp_loop_begin(t, region->loop);
}

/* ---- regions ---- */

/* longjmp out of a region leaves the other threads inside. */
static void check_left(const dome_omp_thread *t)
{
    if (t->team == &here.team && t == &dome__omp_threads[0] && (char *)__builtin_frame_address(0) >= here.team.frame)
        dome__omp_die("OpenMP: thread 0 has left a parallel region without its end (longjmp); regions must be left at their end");
}

void dome__omp_region(const dome_omp_region *region)
{
    dome_omp_thread *t = dome__omp_self();
    check_left(t);
    unsigned size = size_of(t, region);
    if (size > 1) {
        begin_team(t, region, size);
        here.team.frame = __builtin_frame_address(0);
        region->function(region->data);
        end_team(t);
        return;
    }
    dome_omp_team alone; /* a team of one */
    begin_alone(t, region, &alone);
    region->function(region->data);
    leave_team(t);
}

void dome__omp_region_start(const dome_omp_region *region)
{
    dome_omp_thread *t = dome__omp_self();
    unsigned size = size_of(t, region);
    if (size > 1) {
        begin_team(t, region, size);
        here.team.frame = (char *)UINTPTR_MAX; /* the caller may go up to where it ends it */
        return;
    }
    begin_alone(t, region, dome__omp_allocate(sizeof(dome_omp_team), _Alignof(dome_omp_team)));
}

void dome__omp_region_end(void)
{
    dome_omp_thread *t = dome__omp_self();
    if (t->team == &here.team) {
        end_team(t);
        return;
    }
    void *begun = t->team;
    leave_team(t);
    dome__omp_release(begun);
}

/* ---- the program ---- */

void dome__omp_first_make(size_t stack_bytes)
{
    here.main_bytes = stack_bytes;
    dome__omp_threads_make(1);
}

void dome__omp_run_main(void (*function)(void *), void *argument)
{
    here.scheduler.thread_pointer = dome__omp_thread_pointer();
    here.main = function;
    here.main_argument = argument;
    set_up();
    run(&dome__omp_threads[0]);
    go_on();
}

/* ---- the program's state ---- */

/* Of the thread control block: with it functions recognise a stack that was overwritten. */
enum { STACK_GUARD = 0x28 };

typedef struct state {
    dome_omp_team first, team;
    dome_omp_thread thread;
    uint64_t serial, guard;
    dome_omp_league league;
} state;

static uint64_t *stack_guard(void)
{
    return (uint64_t *)(void *)((char *)dome__omp_threads[0].fibre.thread_pointer + STACK_GUARD);
}

void dome__omp_team_save(GByteArray *to)
{
    const state s = {here.first, here.team, dome__omp_threads[0], here.serial, *stack_guard(), dome__omp_environment()->league};
    g_byte_array_append(to, (const guint8 *)&s, sizeof s);
}

bool dome__omp_team_restore(dome_bytes *from)
{
    const void *bytes = dome__read_bytes(from, sizeof(state));
    state s;
    if (!bytes)
        return false;
    memcpy(&s, bytes, sizeof s);
    if (s.thread.fibre.thread_pointer != dome__omp_threads[0].fibre.thread_pointer)
        return false;
    set_up();
    here.first = s.first;
    here.team = s.team;
    here.serial = s.serial;
    dome__omp_threads[0] = s.thread;
    *stack_guard() = s.guard;
    dome__omp_environment()->league = s.league;
    return true;
}

void dome__omp_run_on(void)
{
    here.scheduler.thread_pointer = dome__omp_thread_pointer();
    dome_omp_fork *fork = dome__omp_threads[0].argument;
    fork->words[DEALS] = dome__omp_shared()->deal.serial; /* the block is as it is at first */
    dome__omp_running = &dome__omp_threads[0];
    fork_call(fork);
    run(&dome__omp_threads[0]);
    go_on();
}

void dome__omp_serve(void)
{
    here.scheduler.thread_pointer = dome__omp_thread_pointer();
    set_up();
    dome_omp_fork fork;
    while (dome__omp_tasks.await_fork(&fork)) {
        const dome_omp_variables v = dome__omp_shared()->variables;
        dome__omp_environment()->league = dome__omp_shared()->league;
        dome__omp_threads_make((unsigned)fork.words[THREADS]);
        begin_here(&fork, NULL, &v);
        tell_watcher(NULL);
        run_region();
    }
}
