/* Signals by which this task learns that the program needs a page of another one: the program's own handlers of them get what is
 * no such page, and it cannot block them. */
#include "process/omp_names.h"

#include "process/omp_heap.h"
#include "process/omp_next.h"
#include "process/omp_touch.h"
#include "system/fault.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

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
