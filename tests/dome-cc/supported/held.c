/* Functions that are not saved while they are active: with a variable number of arguments, with a va_list, and by #pragma dome
 * hold. What they call polls elsewhere, and not from there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

static int work(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i ^ n;
    calls++;
    return s;
}

static void note(int n)
{
    while (n-- > 0)
        calls += n;
}

static int list(int n, va_list arguments)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += work(va_arg(arguments, int)) * (i + 1);
    note(2);
    return s;
}

static int many(int n, ...)
{
    va_list arguments;
    va_start(arguments, n);
    int s = list(n, arguments);
    va_end(arguments);
    return s + work(n);
}

#pragma dome hold
static int lengths(int n)
{
    int a[n], s = 0;
    for (int i = 0; i < n; i++)
        a[i] = work(i) + (i ? a[i - 1] : 0);
    for (int i = 0; i < n; i++)
        s = s * 3 + a[i];
    return s;
}

#pragma dome hold
static double matrix(int n, double a[n][n])
{
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            s += a[i][k] * work(k);
    return s;
}

#pragma dome hold
static int machine(const char *program)
{
    static void *const steps[] = {&&add, &&twice, &&stop};
    int x = 1;
    goto *steps[*program++ - '0'];
add:
    x += work(x);
    goto *steps[*program++ - '0'];
twice:
    x *= 2;
    goto *steps[*program++ - '0'];
stop:
    return x;
}

int main(void)
{
    double a[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    int total = 0;
    for (int i = 1; i < 6; i++) {
        total += many(3, i, i + 1, i + 2) + work(i);
        total += lengths(i) + (int)matrix(3, a);
        printf("%d %d\n", total, calls);
    }
    printf("%d %d\n", machine("0101102"), many(1, 7));
    return 0;
}
