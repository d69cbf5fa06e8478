#include "system/fault.h"

#include "system/own_signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS};

/* Other signals wait while a fault is mended: their handlers could fault themselves, while this signal is blocked. */
static const int not_blocked[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

typedef struct entry {
    _Atomic(dome_fault_handler *) handler; /* NULL: none */
    void *context;                         /* written before the handler */
} entry;

static entry entries[DOME_FAULT_PLACES];
static struct sigaction previous[SIGNALS]; /* what was there when the signals were taken over */

/* Stands in si_errno, which the kernel sets to 0, while a previous handler has the signal. If that handler was installed over
 * this one, it may call this one for what it does not know. */
enum { WAS_GIVEN = 0x646f6d65 };

/* ---- what the machine tells of an access ---- */

#if defined(__aarch64__)
static int kind_of(const ucontext_t *context)
{
    const uint32_t esr_magic = 0x45535201, lower_level = 0x24, same_level = 0x25;
    const unsigned char *at = context->uc_mcontext.__reserved, *end = at + sizeof context->uc_mcontext.__reserved;
    while (at + 16 <= end) {
        uint32_t head[2]; /* magic, bytes */
        memcpy(head, at, sizeof head);
        if (head[0] == esr_magic) {
            uint64_t syndrome;
            memcpy(&syndrome, at + sizeof head, sizeof syndrome);
            uint32_t class = (uint32_t)(syndrome >> 26) & 0x3f;
            if (class != lower_level && class != same_level)
                return DOME_FAULT_UNKNOWN;
            return syndrome >> 6 & 1 ? DOME_FAULT_WRITE : DOME_FAULT_READ;
        }
        if (!head[0] || head[1] < sizeof head || head[1] > (size_t)(end - at))
            break;
        at += head[1];
    }
    return DOME_FAULT_UNKNOWN;
}
#elif defined(__x86_64__) || defined(__i386__)
static int kind_of(const ucontext_t *context)
{
    const int page_fault = 14, write = 2;
    if (context->uc_mcontext.gregs[REG_TRAPNO] != page_fault)
        return DOME_FAULT_UNKNOWN;
    return context->uc_mcontext.gregs[REG_ERR] & write ? DOME_FAULT_WRITE : DOME_FAULT_READ;
}
#else
static int kind_of(const ucontext_t *context)
{
    (void)context;
    return DOME_FAULT_UNKNOWN;
}
#endif

/* ---- dispatching ---- */

static int index_of(int number)
{
    return number == signals[0] ? 0 : 1;
}

static bool is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static bool is_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static bool mended(dome_fault_place place, const dome_fault *fault)
{
    dome_fault_handler *handler = atomic_load_explicit(&entries[place].handler, memory_order_acquire);
    return handler && handler(fault, entries[place].context) == DOME_FAULT_MENDED;
}

/* Calls the handler as the kernel would: with its mask, and with SA_RESETHAND once. */
static void give_to(struct sigaction *own, int number, siginfo_t *info, void *context)
{
    struct sigaction action = *own;
    sigset_t mask;
    sigorset(&mask, &((const ucontext_t *)context)->uc_sigmask, &action.sa_mask);
    if (!(action.sa_flags & SA_NODEFER))
        sigaddset(&mask, number);
    if (action.sa_flags & (int)SA_RESETHAND)
        *own = (struct sigaction){.sa_handler = SIG_DFL};
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    const int number_of_error = info->si_errno;
    info->si_errno = WAS_GIVEN;
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(number, info, context);
    else
        action.sa_handler(number);
    info->si_errno = number_of_error;
}

/* The default action: on return the processor repeats the access at the same place, which a core dump then shows; a signal that
 * was sent must be raised again. */
static void end_by(int number, bool access)
{
    signal(number, SIG_DFL);
    if (!access)
        raise(number);
}

static void dispatch(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    const bool access = info->si_code > 0;
    struct sigaction *own = &previous[index_of(number)];
    const dome_fault fault = {.signal = number,
                              .access = access,
                              .kind = access ? kind_of(context) : DOME_FAULT_UNKNOWN,
                              .address = access ? info->si_addr : NULL,
                              .info = info,
                              .context = context};
    if (access && (mended(DOME_FAULT_OF_MEMORY, &fault) || mended(DOME_FAULT_OF_POINTER, &fault) ||
                   mended(DOME_FAULT_OF_PROCESS, &fault))) {
        errno = error;
        return;
    }
    if (is_handler(own) && info->si_errno != WAS_GIVEN) {
        errno = error;
        give_to(own, number, info, context);
        return;
    }
    if (is_default(own) || access) { /* one who ignores signals can ignore those that are sent */
        if (is_default(own))
            mended(DOME_FAULT_IS_LAST, &fault);
        end_by(number, access);
    }
    errno = error;
}

/* ---- the table ---- */

static bool is_dispatch(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == dispatch;
}

static void take_over(int k, bool from_anybody)
{
    struct sigaction action = {.sa_sigaction = dispatch, .sa_flags = SA_SIGINFO | SA_ONSTACK}, was;
    if (sigaction(signals[k], NULL, &was) != 0 || is_dispatch(&was) || (!from_anybody && !is_default(&was)))
        return;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof not_blocked / sizeof *not_blocked; i++)
        sigdelset(&action.sa_mask, not_blocked[i]);
    previous[k] = was;
    dome__signal_catch(signals[k], &action);
}

void dome__fault_on(dome_fault_place place, dome_fault_handler *handler, void *context)
{
    entries[place].context = context;
    atomic_store_explicit(&entries[place].handler, handler, memory_order_release);
    for (int k = 0; k < SIGNALS; k++)
        take_over(k, place != DOME_FAULT_IS_LAST);
}

bool dome__fault_hands_on(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction now;
    if ((number != signals[0] && number != signals[1]) || sigaction(number, NULL, &now) != 0 || !is_dispatch(&now))
        return false;
    struct sigaction *own = &previous[index_of(number)];
    const struct sigaction was = *own;
    if (action)
        *own = *action;
    if (before)
        *before = was;
    return true;
}

void dome__fault_off(dome_fault_place place)
{
    struct sigaction now;
    atomic_store_explicit(&entries[place].handler, NULL, memory_order_release);
    for (int p = 0; p < DOME_FAULT_PLACES; p++)
        if (entries[p].handler)
            return;
    for (int k = 0; k < SIGNALS; k++)
        if (sigaction(signals[k], NULL, &now) == 0 && is_dispatch(&now))
            sigaction(signals[k], &previous[k], NULL);
}

/* ---- alternate stacks ---- */

enum { STACK_BYTES = 1 << 18 };

const char *dome__fault_stack_begin(void **stack)
{
    stack_t now, own = {.ss_size = STACK_BYTES};
    *stack = NULL;
    if (sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE) && now.ss_size >= STACK_BYTES)
        return NULL;
    own.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (own.ss_sp == MAP_FAILED)
        return strerror(errno);
    *stack = own.ss_sp;
    return sigaltstack(&own, NULL) == 0 ? NULL : strerror(errno);
}

void dome__fault_stack_end(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (stack && sigaltstack(&none, NULL) == 0)
        munmap(stack, STACK_BYTES);
}
