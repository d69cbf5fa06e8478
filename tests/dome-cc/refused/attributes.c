#include <signal.h>
#include <stdlib.h>

static int spin(int n)
{
    while (n > 3)
        n -= 2;
    return n;
}

static int again(void) __attribute__((returns_twice)); // REFUSED: again has the attribute "returns_twice", and may poll
static int again(void)
{
    return spin(9);
}

__attribute__((const)) static int same(int n)
{
    return n < 2 ? n : same(n - 1) + same(n - 2);
}

__attribute__((__pure__)) static const char *skip(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

__attribute__((const)) static int twice(const int n)
{
    return n * 2;
}

int whole(int n)
{
    return spin(n);
}
int second(int) __attribute__((alias("whole"))); // REFUSED: whole, which may poll, gets a second name here

static void on_signal(int n)
{
    spin(n);
}

static int order(const void *a, const void *b)
{
    return spin(*(const int *)a - *(const int *)b);
}

static void through(void (*sort)(void *, size_t, size_t, int (*)(const void *, const void *)), int *a)
{
    sort(a, 2, sizeof *a, order); // REFUSED: that may lead to a function that is not translated
}

struct list {
    int n[3], m;
};
static struct list make(int n)
{
    struct list l = {.m = spin(n), .n = {1, spin(2)}}; // REFUSED: initial values in another order than the members
    return l;
}
static int sum(const int *p)
{
    return spin(*p);
}

int main(void)
{
    int s = sum(make(3).n) + make(4).n[1];                 // REFUSED: a pointer to an array in the result of a call
    struct sigaction one = {.sa_handler = on_signal}, two; // REFUSED: on_signal may poll, and the system would call it
    two.sa_handler = on_signal;                            // REFUSED: on_signal may poll, and the system would call it
    sigaction(SIGUSR1, &one, &two);
    int a[2] = {2, 1};
    through(qsort, a);
    double late(double), x = spin(3); // REFUSED: a function and a variable in one declaration
    if (same(3) + twice(2) + second(2) + *skip("  ") == x)
        again();
    return (int)late(2) + s;
}
double late(double x)
{
    return x;
}
