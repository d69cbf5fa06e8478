/* Structs of the system's headers in variables that are saved. Their members are others on other machines, to which this program
 * cannot go. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static volatile sig_atomic_t caught;

static int spin(int n)
{
    while (n > 3)
        n -= 2;
    return n;
}

static void on_signal(int number)
{
    caught += number == SIGUSR1 ? 1 : 100;
}

int main(void)
{
    struct sigaction action;
    struct stat about;
    int sum = 0;
    memset(&action, 0, sizeof action);
    memset(&about, 0, sizeof about);
    action.sa_handler = on_signal;
    sigaddset(&action.sa_mask, SIGUSR2);
    stat("/", &about);
    for (int i = 0; i < 5; i++) {
        sigaction(SIGUSR1, &action, NULL);
        sum = sum * 3 + spin(i) + S_ISDIR(about.st_mode);
        raise(SIGUSR1);
        sum += spin(8) * (action.sa_handler == on_signal);
    }
    printf("%d %d %d\n", sum, (int)caught, sigismember(&action.sa_mask, SIGUSR2) * 2 + sigismember(&action.sa_mask, SIGUSR1));
    return 0;
}
