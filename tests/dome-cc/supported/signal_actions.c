/* What a program is told of the actions of signals is its own: the default one where Dome has a handler (SIGUSR1, SIGTERM), what
 * it has set, and so behind a restart; and old actions are set again. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = caught * 3 + number % 5;
}

static void on_other(int number)
{
    caught = caught * 7 + number % 5;
}

static int spin(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

static int which(void (*handler)(int))
{
    return handler == SIG_DFL ? 0 : handler == SIG_IGN ? 1 : handler == on_signal ? 2 : handler == on_other ? 3 : 9;
}

static int action_of(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return which(now.sa_handler) * 10 + (now.sa_flags & SA_NODEFER ? 1 : 0) + sigismember(&now.sa_mask, SIGHUP) * 2;
}

int main(void)
{
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGUSR2, SIGSEGV, SIGCHLD};
    struct sigaction old[5];
    long sum = 0;
    printf("bad: %d %d\n", sigaction(0, NULL, &old[0]), signal(1000, SIG_DFL) == SIG_ERR);
    for (int k = 0; k < 5; k++) {
        struct sigaction new;
        memset(&new, 0, sizeof new);
        sigemptyset(&new.sa_mask);
        sigaddset(&new.sa_mask, SIGHUP);
        new.sa_handler = k % 2 ? on_other : on_signal;
        new.sa_flags = SA_NODEFER;
        sum += spin(k);
        printf("%d: %d", k, action_of(numbers[k]));
        sigaction(numbers[k], &new, &old[k]);
        sum += spin(k + 1);
        printf(" %d %d", which(old[k].sa_handler), action_of(numbers[k]));
        raise(numbers[k]);
        printf(" %d\n", (int)caught);
        fflush(stdout);
    }
    for (int k = 0; k < 5; k++) {
        struct sigaction was;
        sum += spin(2);
        sigaction(numbers[k], &old[k], &was);
        printf("%d: %d %d", k, which(was.sa_handler), action_of(numbers[k]));
        sum += spin(3);
        printf(" %d", which(signal(numbers[k], SIG_IGN)));
        sum += spin(4);
        raise(numbers[k]);
        printf(" %d", which(signal(numbers[k], on_other)));
        sum += spin(2);
        raise(numbers[k]);
        printf(" %d %d\n", which(signal(numbers[k], SIG_DFL)), action_of(numbers[k]));
        fflush(stdout);
    }
    printf("%ld %d\n", sum, (int)caught);
    return 0;
}
