/* The handler of SIGSEGV and SIGBUS, with real faults. Each case runs in a process of its own, whose end is looked at: it exits
 * with 0, or it ends by a signal after "last" has told its number. */
#include "system/fault.h"

#include "watch/last_signal.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 65536, PAGES = 64 }; /* a multiple of every machine's */

#define NEED(condition) ((condition) ? (void)0 : not_met(__LINE__))

static void not_met(int line)
{
    fprintf(stderr, "test_fault.c:%d: not met\n", line);
    _exit(1);
}

static char *pages;
static atomic_int mended, told;
static int report; /* a pipe: what ends the process is told there */

static char *map(int protection)
{
    char *at = mmap(NULL, (size_t)PAGE * PAGES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(at != MAP_FAILED);
    return at;
}

/* Opens one page for an access to it, and spoils errno. */
static dome_fault_answer open_page(const dome_fault *fault, void *context)
{
    NEED(context == &mended);
    if (fault->address < pages || fault->address >= pages + (size_t)PAGE * PAGES)
        return DOME_FAULT_OTHERS;
    mprotect(pages + (fault->address - pages) / PAGE * PAGE, PAGE, PROT_READ | PROT_WRITE);
    mended++;
    errno = EXDEV;
    return DOME_FAULT_MENDED;
}

static void tell(int number)
{
    char byte = (char)number;
    told++;
    if (write(report, &byte, 1) != 1)
        _exit(1);
}

static void with_memory(void)
{
    pages = map(PROT_NONE);
    dome__fault_on(DOME_FAULT_OF_MEMORY, open_page, &mended);
}

/* Runs a case; returns the signal that was told (0: none), and how the process ended. */
static int run(void (*f)(void), int *status)
{
    int ends[2];
    char byte[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* not a sanitizer's */
        signal(SIGBUS, SIG_DFL);
        report = ends[1];
        f();
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], byte, sizeof byte);
    g_assert_cmpint(n, <=, 1); /* never twice */
    g_assert_cmpint(waitpid(pid, status, 0), ==, pid);
    close(ends[0]);
    return n == 1 ? byte[0] : 0;
}

static void expect_good(void (*f)(void))
{
    int status, said = run(f, &status);
    g_assert_cmpint(said, ==, 0);
    g_assert_cmpint(status, ==, 0);
}

static void expect_end(void (*f)(void), int number)
{
    int status, said = run(f, &status);
    g_assert_cmpint(said, ==, number);
    g_assert_true(WIFSIGNALED(status));
    g_assert_cmpint(WTERMSIG(status), ==, number);
}

static volatile int *volatile nowhere = (volatile int *)64; /* as of a null pointer's member; sanitizers look for NULL itself */

/* ---- mended ---- */

static dome_fault_answer note_kind(const dome_fault *fault, void *context)
{
    *(volatile int *)context = (int)fault->kind;
    mprotect(pages, PAGE, fault->kind == DOME_FAULT_READ ? PROT_READ : PROT_READ | PROT_WRITE);
    return DOME_FAULT_MENDED;
}

static void kinds(void)
{
    static volatile int kind = -1;
    pages = map(PROT_NONE);
    dome__fault_on(DOME_FAULT_OF_MEMORY, note_kind, (void *)(uintptr_t)&kind);
    volatile char *at = pages + 100;
    NEED(*at == 0);
    NEED(kind == DOME_FAULT_READ || kind == DOME_FAULT_UNKNOWN);
    mprotect(pages, PAGE, PROT_READ);
    *at = 1;
    NEED(kind == DOME_FAULT_WRITE || kind == DOME_FAULT_UNKNOWN);
#if defined(__x86_64__)
    NEED(kind != DOME_FAULT_UNKNOWN);
#endif
}

static void mend_and_keep_errno(void)
{
    with_memory();
    for (int k = 0; k < PAGES; k++) {
        errno = E2BIG;
        pages[(size_t)k * PAGE + 7] = (char)k;
        NEED(errno == E2BIG && mended == k + 1);
    }
    for (int k = 0; k < PAGES; k++)
        NEED(pages[(size_t)k * PAGE + 7] == k);
}

static void bus(void)
{
    FILE *file = tmpfile(); /* a file without contents */
    NEED(file);
    pages = mmap(NULL, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    NEED(pages != MAP_FAILED);
    dome__last_signal_catch(tell, false);
    pages[5] = 1;
}

static void *touch_all(void *seed)
{
    GRand *r = g_rand_new_with_seed((guint32)(uintptr_t)seed);
    for (int k = 0; k < 2000; k++) {
        char *page = pages + (size_t)g_rand_int_range(r, 0, PAGES) * PAGE;
        *(volatile char *)(page + (uintptr_t)seed) = 1;
        if (k % 3 == 0)
            mprotect(page, PAGE, PROT_NONE);
    }
    g_rand_free(r);
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    with_memory();
    for (uintptr_t k = 0; k < THREADS; k++)
        NEED(pthread_create(&thread[k], NULL, touch_all, (void *)(k + 1)) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    NEED(mended >= PAGES);
}

static atomic_int alarms;

static void alarm_came(int number)
{
    (void)number;
    alarms++;
}

static dome_fault_answer raise_alarm(const dome_fault *fault, void *context)
{
    raise(SIGALRM);
    NEED(alarms == 0); /* it waits until the page is there */
    return open_page(fault, context);
}

static void other_signals_wait(void)
{
    signal(SIGALRM, alarm_came);
    with_memory();
    dome__fault_on(DOME_FAULT_OF_MEMORY, raise_alarm, &mended);
    *(volatile char *)pages = 1;
    NEED(alarms == 1 && mended == 1);
}

static void test_mended(void)
{
    expect_good(kinds);
    expect_good(mend_and_keep_errno);
    expect_good(threads);
    expect_good(other_signals_wait);
}

/* ---- nobody's ---- */

static void null_pointer(void)
{
    dome__last_signal_catch(tell, false);
    with_memory();
    *nowhere = 1;
}

static int overflow(int depth) /* not a tail call: the compiler must not make it a loop */
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void stack_overflow(void)
{
    dome__last_signal_catch(tell, false);
    with_memory();
    overflow(0);
}

static void sent(void)
{
    dome__last_signal_catch(tell, false);
    with_memory();
    raise(SIGSEGV);
}

static void bus_sent(void)
{
    dome__last_signal_catch(tell, false);
    raise(SIGBUS);
}

static void *fault_at_once(void *barrier)
{
    pthread_barrier_wait(barrier);
    *nowhere = 1;
    return NULL;
}

static void threads_at_once(void)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    pthread_barrier_t barrier;
    dome__last_signal_catch(tell, false);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int k = 0; k < THREADS; k++)
        NEED(pthread_create(&thread[k], NULL, fault_at_once, &barrier) == 0);
    pthread_join(thread[0], NULL);
}

static void test_last(void)
{
    expect_end(null_pointer, SIGSEGV);
    expect_end(stack_overflow, SIGSEGV);
    expect_end(sent, SIGSEGV);
    expect_end(bus, SIGBUS);
    expect_end(bus_sent, SIGBUS);
    for (int k = 0; k < 20; k++)
        expect_end(threads_at_once, SIGSEGV);
}

static void nobody_is_told(void)
{
    with_memory();
    *nowhere = 1;
}

static void nobody_is_told_of_one_sent(void)
{
    with_memory();
    raise(SIGSEGV);
}

static void test_nobody(void)
{
    int status;
    g_assert_cmpint(run(nobody_is_told, &status), ==, 0);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    g_assert_cmpint(run(nobody_is_told_of_one_sent, &status), ==, 0);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* ---- the program's own handlers ---- */

static sigjmp_buf back;
static volatile int calls;

static void own(int number)
{
    sigset_t now;
    calls++;
    NEED(number == SIGSEGV);
    NEED(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGSEGV) && !sigismember(&now, SIGALRM));
    siglongjmp(back, 1);
}

static void own_with_information(int number, siginfo_t *info, void *context)
{
    sigset_t now;
    calls++;
    NEED(number == SIGSEGV && info->si_addr == (void *)(uintptr_t)nowhere && context);
    NEED(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGUSR2) && !sigismember(&now, SIGALRM));
    siglongjmp(back, 1);
}

/* Many probes, as of programs that look where they may read, with faults of the memory between them. */
static void probe_often(void)
{
    with_memory();
    dome__last_signal_catch(tell, false);
    for (int k = 0; k < PAGES; k++) {
        if (sigsetjmp(back, 1) == 0)
            *nowhere = 1;
        *(volatile char *)(pages + (size_t)k * PAGE) = 1;
        NEED(calls == k + 1 && mended == k + 1);
    }
}

static void own_before(void)
{
    signal(SIGSEGV, own);
    probe_often();
}

static void own_before_with_information(void)
{
    struct sigaction action = {.sa_sigaction = own_with_information, .sa_flags = SA_SIGINFO};
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGSEGV, &action, NULL);
    probe_often();
}

static void own_once(void)
{
    struct sigaction action = {.sa_handler = own, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGSEGV, &action, NULL);
    dome__last_signal_catch(tell, false);
    with_memory();
    if (sigsetjmp(back, 1) == 0)
        *nowhere = 1;
    NEED(calls == 1);
    *nowhere = 1;
}

static void ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    with_memory();
    raise(SIGSEGV);
    *(volatile char *)pages = 1;
    NEED(mended == 1);
}

/* Installed before and never over it: without memory, the library does not touch the signal. */
static void own_alone(void)
{
    struct sigaction now;
    signal(SIGSEGV, own);
    dome__last_signal_catch(tell, false);
    NEED(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == own);
    dome__last_signal_leave();
    NEED(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == own);
}

static struct sigaction under;

static void chained(int number, siginfo_t *info, void *context)
{
    calls++;
    NEED(calls < 3);
    under.sa_sigaction(number, info, context); /* what I do not know is yours */
}

static void own_over(void)
{
    struct sigaction action = {.sa_sigaction = chained, .sa_flags = SA_SIGINFO};
    dome__last_signal_catch(tell, false);
    with_memory();
    sigaction(SIGSEGV, &action, &under);
    *(volatile char *)pages = 1;
    NEED(calls == 1 && mended == 1);
    dome__fault_on(DOME_FAULT_OF_MEMORY, open_page, &mended); /* as for another region: in front of it again */
    *(volatile char *)(pages + PAGE) = 1;
    NEED(calls == 1 && mended == 2);
    dome__fault_on(DOME_FAULT_IS_LAST, NULL, NULL);
    *nowhere = 1; /* it is asked, asks back, and the process ends */
}

static void gives_back(void)
{
    struct sigaction now;
    signal(SIGSEGV, own);
    signal(SIGBUS, SIG_IGN);
    with_memory();
    dome__last_signal_catch(tell, false);
    dome__fault_off(DOME_FAULT_OF_MEMORY);
    NEED(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler != own);
    dome__last_signal_leave();
    NEED(sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == own);
    NEED(sigaction(SIGBUS, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
}

static void test_own_handlers(void)
{
    int status;
    expect_good(own_before);
    expect_good(own_before_with_information);
    expect_good(ignored);
    expect_good(own_alone);
    expect_good(gives_back);
    expect_end(own_once, SIGSEGV);
    g_assert_cmpint(run(own_over, &status), ==, 0);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fault/mended", test_mended);
    g_test_add_func("/fault/last", test_last);
    g_test_add_func("/fault/nobody", test_nobody);
    g_test_add_func("/fault/own-handlers", test_own_handlers);
    return g_test_run();
}
