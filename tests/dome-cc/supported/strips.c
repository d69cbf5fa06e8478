/* Loops that are cut into strips: up, down, steps, unsigned, long; a bound that is a constant; #pragma dome. */
#include <stdio.h>
#include <stdlib.h>

static double dot(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

/* Long enough to be cut: more than ten million operations each. */
static unsigned long_loops(int n, long m)
{
    unsigned s = 1;
    for (int i = 0; i < n; i++)
        s = s * 5 + (unsigned)i;
    for (int i = n; i >= 3; i -= 2) {
        if (i % 3 == 0)
            continue;
        s ^= (unsigned)i << (s & 7);
    }
    for (unsigned long k = 7; k <= (unsigned long)n; k += 3)
        s += (unsigned)k % 11;
    for (long i = m; i > -m; --i)
        s = s * 3 + 1;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < n / 2; j++)
            s += (unsigned)(i ^ j) / 3;
    return s;
}

int main(void)
{
    printf("%u %u\n", long_loops(2500000, 1000000), long_loops(10, 3));
    int n = 30000;
    double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        a[i] = i % 17;
        b[i] = i % 5;
    }
    printf("%.0f\n", dot(a, b, n));
    double s = 0;
    for (int i = n - 1; i >= 0; i--)
        s = s / 2 + a[i];
    for (long i = 0; i <= n - 7; i += 7)
        s += b[i];
    for (unsigned k = 5; k < 25000u; k++) {
        if (k % 3)
            continue;
        s += a[k];
    }
    for (int i = n; i > 20000; i -= 3)
        s -= b[i - 1];
    unsigned char small[200];
    for (int i = 0; i < 200; i++)
        small[i] = (unsigned char)(i * i);
    int t = 0;
#pragma dome poll
    for (int i = 0; i < 200; i++)
        t += small[i];
#pragma dome nopoll
    while (t > 100)
        t -= 99;
    int i = 0;
    for (i = 3; i < n; ++i)
        if (a[i] < 0)
            return 1;
    printf("%.6f %d %d\n", s, t, i);
    free(a);
    free(b);
    return 0;
}
