/* A function that calls itself by way of one with "..." only: it polls at its beginning, and nothing inside of it does. */
#include <stdarg.h>
#include <stdio.h>

static int (*hook)(int, const char *);
static int count;

static void tell(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = va_arg(list, int);
    va_end(list);
    if (n > 0 && hook)
        count += hook(n - 1, format);
}

static int measured(int n, const char *format)
{
    int bytes[2] = {n, 2};
    long sum = bytes[0];
    const int *p = bytes;
    if (sum % 3 != 0) {
        int twice = *p * bytes[1];
        tell(format, twice > 4 ? n - 2 : 0);
        sum += twice;
    }
    tell("rest", n > 2 ? n - 2 : 0);
    return (int)sum + p[1];
}

int main(void)
{
    hook = measured;
    int sum = 0;
    for (int k = 0; k < 7; k++)
        sum += measured(k, "first") + count;
    printf("%d %d\n", sum, count);
    return 0;
}
