/* Signals by which this task learns that the program needs a page of another one: the program's own handlers of them get what is
 * no such page, and it cannot block them. */
#include "process/omp_names.h"

#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_arena.h"
#include "process/omp_heap.h"
#include "process/omp_image.h"
#include "process/omp_next.h"
#include "process/omp_state.h"
#include "process/omp_symbol.h"
#include "process/omp_touch.h"
#include "system/checksum.h"
#include "system/fault.h"
#include "system/say.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef int mask_function(int, const sigset_t *, sigset_t *);

static action_function *next_action;
static mask_function *next_process_mask, *next_thread_mask;

__attribute__((constructor)) static void find(void)
{
    if (next_action)
        return;
    next_action = (action_function *)dome__omp_next("sigaction");
    next_process_mask = (mask_function *)dome__omp_next("sigprocmask");
    next_thread_mask = (mask_function *)dome__omp_next("pthread_sigmask");
}

/* Dome's own handlers run on the stacks of the program's threads, and must have what they ask for. */
#define IS_PROGRAMS() (dome__omp_touches() && dome__omp_is_programs(__builtin_return_address(0)))

/* The program's handlers run on the task's stack for signals: the system writes their first frame, and does not wait for pages of
 * the program's own stacks. */
static int set_action(int number, const struct sigaction *action, struct sigaction *before)
{
    if (action)
        dome__omp_state_action(number, action);
    if (dome__fault_hands_on(number, action, before))
        return 0;
    if (!action)
        return next_action(number, NULL, before);
    struct sigaction own = *action;
    own.sa_flags |= SA_ONSTACK;
    return next_action(number, &own, before);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    find();
    return IS_PROGRAMS() ? set_action(number, action, before) : next_action(number, action, before);
}

__sighandler_t signal(int number, __sighandler_t handler)
{
    typedef __sighandler_t function(int, __sighandler_t);
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    find();
    if (IS_PROGRAMS())
        return set_action(number, &action, &before) ? SIG_ERR : before.sa_handler;
    return ((function *)dome__omp_next("signal"))(number, handler);
}

/* ---- the program's handlers on other tasks, while they run its threads ---- */

static struct sigaction befores[DOME_OMP_STATE_SIGNALS];
static uint64_t taken;

static bool is_set(uint64_t set, int number)
{
    return set >> number & 1;
}

void dome__omp_signals_take(void)
{
    const dome_omp_state_page *s = dome__omp_state();
    for (int k = 1; k < DOME_OMP_STATE_SIGNALS && s->handled; k++) {
        const dome_omp_action *a = &s->actions[k];
        struct sigaction action = {.sa_handler = a->handler, .sa_flags = (int)a->flags | SA_ONSTACK};
        memcpy(&action.sa_mask, &a->mask, sizeof a->mask);
        if (is_set(s->handled, k) && !dome__fault_hands_on(k, &action, NULL) && next_action(k, &action, &befores[k]) == 0)
            taken |= UINT64_C(1) << k;
    }
}

void dome__omp_signals_leave(void)
{
    for (int k = 1; k < DOME_OMP_STATE_SIGNALS && taken; k++)
        if (is_set(taken, k) && next_action(k, &befores[k], NULL) == 0)
            taken &= ~(UINT64_C(1) << k);
}

/* The set without those signals. */
static const sigset_t *passing(const sigset_t *set, sigset_t *copy, bool is_programs)
{
    if (!set || !is_programs)
        return set;
    *copy = *set;
    sigdelset(copy, SIGSEGV);
    sigdelset(copy, SIGBUS);
    return copy;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t copy, was;
    find();
    const int result = next_process_mask(how, passing(set, &copy, IS_PROGRAMS()), &was);
    if (before && result == 0)
        *before = was;
    return result;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t copy, was;
    find();
    const int result = next_thread_mask(how, passing(set, &copy, IS_PROGRAMS()), &was);
    if (before && result == 0)
        *before = was;
    return result;
}

/* The task has a stack for signals that no other task shares: it stays. */
int sigaltstack(const stack_t *stack, stack_t *before)
{
    typedef int function(const stack_t *, stack_t *);
    if (!IS_PROGRAMS())
        return ((function *)dome__omp_next("sigaltstack"))(stack, before);
    if (before)
        memset(before, 0, sizeof *before);
    if (before)
        before->ss_flags = SS_DISABLE;
    return 0;
}

/* ---- pointers to what only another task has: the program ends, after one line that says so ---- */

/* Lower addresses are those of NULL's members. */
enum { LEAST = 1 << 16 };

static void say(const dome_fault *fault, const char *why)
{
    static bool said;
    const ucontext_t *context = fault->context;
    char *where = dome__omp_symbol((const void *)context->uc_mcontext.gregs[REG_RIP]); // NOLINT(performance-no-int-to-ptr)
    if (!said)
        dome__say_at_once("OpenMP: thread %u, on task %d, accesses %p in %s, %s", dome__omp_running->number, dome__omp_tasks.rank,
                          (void *)fault->address, where, why);
    said = true;
    g_free(where);
}

static dome_fault_answer explain(const dome_fault *fault, void *unused)
{
    const uint64_t at = (uintptr_t)fault->address, thread = (at - DOME_OMP_STACKS) / DOME_OMP_STACK_STRIDE;
    (void)unused;
    if (!fault->access || !dome__omp_touches())
        return DOME_FAULT_OTHERS;
    if (at - DOME_OMP_ARENA_OWNS < DOME_OMP_ARENA_OWN * (unsigned)dome__omp_tasks.size) {
        char *why = g_strdup_printf("which the C library has got for a call on task %d, as for an open folder: it is that task's "
                                    "alone; make the calls in one thread",
                                    (int)((at - DOME_OMP_ARENA_OWNS) / DOME_OMP_ARENA_OWN));
        say(fault, why);
        g_free(why);
        return DOME_FAULT_OTHERS;
    }
    if (dome__omp_running->team->active_level == 0 || at < LEAST)
        return DOME_FAULT_OTHERS;
    if (at >= DOME_OMP_STACKS && thread < DOME_OMP_MAX_THREADS && dome__omp_is_elsewhere((unsigned)thread)) {
        char *why = g_strdup_printf("on the stack of thread %u, which another task runs: local variables of threads other than 0 "
                                    "are not shared between tasks; use a global variable, one of main's, or malloc",
                                    (unsigned)thread);
        say(fault, why);
        g_free(why);
    } else if (fault->info->si_code == SEGV_MAPERR) {
        say(fault, "where this task has no memory: what a library has got on one task, as an open stream, is that task's alone");
    }
    return DOME_FAULT_OTHERS;
}

/* ---- threads that wait for a plain variable: no construct lets them see what another thread has written ---- */

enum { LOOKS = 10, LOOP = 64, FRAME = 256, RED_ZONE = 128 };

/* What the thread computes with, but for the place in its loop. */
static uint64_t state_of(const ucontext_t *context)
{
    greg_t registers[NGREG];
    memcpy(registers, context->uc_mcontext.gregs, sizeof registers);
    const char *stack = (const char *)registers[REG_RSP] - RED_ZONE; // NOLINT(performance-no-int-to-ptr)
    registers[REG_RIP] = registers[REG_EFL] = 0;
    for (int k = REG_EFL + 1; k < NGREG; k++)
        registers[k] = 0;
    return dome__checksum64(registers, sizeof registers) ^
           dome__checksum64(context->uc_mcontext.fpregs->_xmm, sizeof context->uc_mcontext.fpregs->_xmm) * 3 ^
           dome__checksum64(stack, FRAME) * 5;
}

/* The variable that an instruction near the place names: relative to the next instruction, which ends 0, 1 or 4 bytes behind the
 * displacement, or by its address. g_free'd; NULL: none is found. */
static char *variable_near(const char *place)
{
    const dome_omp_image *image = dome__omp_image();
    for (const char *at = place - LOOP / 4; at < place + LOOP / 4; at++) {
        int32_t displacement;
        memcpy(&displacement, at, sizeof displacement);
        const uintptr_t next = (uintptr_t)at + sizeof displacement, all[] = {next, next + 1, next + 4, 0};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const char *variable =
                (const char *)(all[k] + (uintptr_t)(intptr_t)displacement); // NOLINT(performance-no-int-to-ptr)
            for (int part = 0; part < image->parts; part++) {
                if (variable < image->variables[part].begin || variable >= image->variables[part].end)
                    continue;
                char *name = dome__omp_symbol(variable);
                if (name[0] != '0')
                    return name;
                g_free(name);
            }
        }
    }
    return NULL;
}

static void end_by_spin(const char *place) __attribute__((noreturn));
static void end_by_spin(const char *place)
{
    char *function = dome__omp_symbol(place), *variable = variable_near(place);
    dome__omp_die(
        "OpenMP: thread %u has waited for %d seconds in %s%s%s, and nothing lets it see what another thread has written: "
        "read the variable by `atomic read`, or call `flush` in the loop",
        dome__omp_running->number, LOOKS, function, variable ? " for the variable " : "", variable ? variable : "");
}

/* Each second of the processor's time. */
static void look_at_thread(int number, siginfo_t *info, void *argument)
{
    static uint64_t state;
    static const char *first;
    static int looks;
    const ucontext_t *context = argument;
    const char *place = (const char *)context->uc_mcontext.gregs[REG_RIP]; // NOLINT(performance-no-int-to-ptr)
    const dome_omp_part program = dome__omp_image()->code;
    const int error = errno;
    (void)number, (void)info;
    if (!dome__omp_by_thread() || !dome__omp_running || dome__omp_running->team->active_level == 0 || place < program.begin ||
        place >= program.end) {
        looks = 0;
        return;
    }
    const uint64_t now = state_of(context);
    const bool same = looks > 0 && now == state && place > first - LOOP && place < first + LOOP;
    looks = same ? looks + 1 : 1;
    first = same ? first : place;
    state = now;
    if (looks > LOOKS)
        end_by_spin(place);
    errno = error;
}

/* By a signal that programs do not use, to the thread that runs the program's. */
static void watch_spins(void)
{
    const int number = SIGRTMAX - 2;
    struct sigaction action = {.sa_sigaction = look_at_thread, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    const struct itimerspec second = {{1, 0}, {1, 0}};
    timer_t timer;
    event._sigev_un._tid = gettid();
    find();
    if (next_action(number, &action, NULL) || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) ||
        timer_settime(timer, 0, &second, NULL))
        dome__say("threads that wait for plain variables are not noticed: %s", strerror(errno));
}

void dome__omp_signals_begin(void)
{
    if (dome__omp_tasks.size > 1)
        dome__fault_on(DOME_FAULT_OF_PROCESS, explain, NULL);
    watch_spins();
}
