#include "watch/last_signal.h"

#include "system/fault.h"
#include "system/own_signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

/* Beside SIGSEGV and SIGBUS (system/fault.h). */
static const int faults[] = {SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
static const int sent[] = {SIGTERM, SIGHUP,  SIGINT,    SIGQUIT, SIGUSR1, SIGUSR2,
                           SIGALRM, SIGPIPE, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ};

enum { FAULTS = sizeof faults / sizeof *faults, SENT = sizeof sent / sizeof *sent };

static void (*tell_signal)(int number);

/* An alternate stack: after a stack overflow the handler cannot run on the normal one. */
static char spare_stack[1 << 18];

/* Several threads may fault at once. The first one tells; the others let it, for a second at most, because the first one that
 * returns ends the process. */
static dome_fault_answer last_fault(const dome_fault *fault, void *context)
{
    static atomic_bool telling, told;
    (void)context;
    if (!atomic_exchange(&telling, true)) {
        tell_signal(fault->signal);
        atomic_store(&told, true);
    }
    for (int ms = 0; ms < 1000 && !atomic_load(&told); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return DOME_FAULT_OTHERS;
}

static void last_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int error = errno;
    tell_signal(number);
    errno = error;
    /* The default action has been restored (SA_RESETHAND). On return the processor repeats a fault at the same place, which a
     * core dump then shows; any other signal must be raised again. */
    bool comes_again = info->si_code > 0 && (number == SIGFPE || number == SIGILL);
    if (!comes_again)
        raise(number);
}

static void catch_all(const int *numbers, int count)
{
    struct sigaction last = {.sa_sigaction = last_signal, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK}, was;
    for (int k = 0; k < count; k++)
        if (sigaction(numbers[k], NULL, &was) == 0 && !(was.sa_flags & SA_SIGINFO) && was.sa_handler == SIG_DFL)
            dome__signal_catch(numbers[k], &last);
}

static void leave_all(const int *numbers, int count)
{
    struct sigaction now;
    for (int k = 0; k < count; k++)
        if (sigaction(numbers[k], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == last_signal)
            signal(numbers[k], SIG_DFL);
}

void dome__last_signal_catch(void (*tell)(int number), bool all)
{
    stack_t stack = {.ss_sp = spare_stack, .ss_size = sizeof spare_stack}, was;
    tell_signal = tell;
    if (sigaltstack(NULL, &was) == 0 && (was.ss_flags & SS_DISABLE))
        sigaltstack(&stack, NULL);
    dome__fault_on(DOME_FAULT_IS_LAST, last_fault, NULL);
    catch_all(faults, FAULTS);
    if (all)
        catch_all(sent, SENT);
}

void dome__last_signal_leave(void)
{
    stack_t none = {.ss_flags = SS_DISABLE}, now;
    dome__fault_off(DOME_FAULT_IS_LAST);
    leave_all(faults, FAULTS);
    leave_all(sent, SENT);
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == spare_stack && !(now.ss_flags & SS_ONSTACK))
        sigaltstack(&none, NULL);
}
