/* What the C library and the system keep for the process: the locale, umask, the mask of signals, handlers of real-time signals.
 */
#define _GNU_SOURCE
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = caught * 3 + number % 5;
}

static int spin(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static int is_blocked(int number)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, number);
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int main(void)
{
    long sum = spin(3);
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    sum += spin(4) + (long)MB_CUR_MAX;
    umask(027);
    sum += spin(5);
    block(SIGUSR2);
    sum += spin(6) * 10 + is_blocked(SIGUSR2) * 2 + is_blocked(SIGHUP);
    signal(SIGRTMAX, on_signal);
    for (int k = 0; k < 4; k++) {
        sum += spin(k);
        raise(SIGRTMAX);
    }
    const mode_t mask = umask(022);
    printf("%ld %s %d %o %d %d\n", sum, setlocale(LC_ALL, NULL), (int)MB_CUR_MAX, (unsigned)mask, is_blocked(SIGUSR2),
           (int)caught);
    return 0;
}
