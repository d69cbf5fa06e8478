/* What the C library does for the program: functions at its end, a shell, a sort that calls back what may poll, the calendar. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int sum;
static volatile sig_atomic_t caught;

static int spin(int n)
{
    while (n > 3)
        n -= 2;
    return n;
}

static void first(void)
{
    printf("first %d\n", sum);
}

static void last(void)
{
    printf("last %d\n", sum);
    fflush(stdout);
}

static void on_signal(int number)
{
    caught += number == SIGUSR1 ? 1 : 100;
}

/* Never saved: a struct sigaction has other members on other machines (system_structs.c). */
static void handle(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(number, &action, NULL);
}

static int order(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return spin(1) * (x > y) - (x < y);
}

int main(void)
{
    int numbers[20], *found, key = 5;
    time_t day = 365 * 86400;
    const struct tm calendar = *gmtime(&day);
    char date[40];
    handle(SIGUSR1);
    signal(SIGUSR2, on_signal);
    atexit(last);
    for (int i = 0; i < 20; i++)
        numbers[i] = i * 7 % 20;
    atexit(first);
    for (int i = 0; i < 5; i++) {
        sum += spin(i) + system("exit 2") / 256;
        raise(i % 2 ? SIGUSR1 : SIGUSR2);
    }
    qsort(numbers, 20, sizeof *numbers, order);
    found = bsearch(&key, numbers, 20, sizeof *numbers, order);
    for (int i = 0; i < 20; i++)
        sum = sum * 3 % 10007 + spin(numbers[i]);
    strftime(date, sizeof date, "%Y-%m-%d", &calendar);
    printf("%d %s %d %d\n", (int)(found - numbers), date, sum, (int)caught);
    return 0;
}
