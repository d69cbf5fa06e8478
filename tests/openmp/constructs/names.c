/* Functions and variables of names that the C language leaves to programs: libraries call the C library's. */
#include <stdio.h>

double time[3];
int index_of_sleep;
float socket = 2;

int kill(void)
{
    return 3;
}

int read(const char *text, int n)
{
    return text[0] + n;
}

int write(void)
{
    return 8;
}

void sleep(int n)
{
    index_of_sleep += n;
}

int send(int x)
{
    return x + 1;
}

int mmap(void)
{
    return 5;
}

int sigaction(int a)
{
    return a * 2;
}

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum += read("a", 1) + write() + kill() + send(3) + mmap() + sigaction(4);
#pragma omp parallel for
    for (int i = 0; i < 3; i++)
        time[i] = i + socket;
    sleep(7);
    printf("%d %g %d\n", sum, time[0] + time[1] + time[2], index_of_sleep);
    return 0;
}
