/* Statement expressions, assert, typeof, _Generic, compound literals, K&R definitions, const parameters, bool, complex, enums. */
#include <assert.h>
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum color { GREEN = 3, BROWN };
typedef struct {
    enum color c;
    bool on;
    uint8_t bytes[3];
    int64_t wide;
} record;

static int spent;

static int old(a, b)
int a;
short b;
{
    while (a > b)
        a -= b, spent++;
    return a;
}

static record build(const int n, const record *const from)
{
    record r = *from;
    for (int i = 0; i < n; i++)
        r.bytes[i % 3] += (uint8_t)old(n + i, 2);
    r.wide += (int64_t)n << 33;
    r.on = !r.on;
    return r;
}

static double complex spin(double complex z, int n)
{
    do
        z = z * I + 1;
    while (--n > 0 && old(n, 3) >= 0);
    return z;
}

static int sum(const int *list, int n)
{
    int s = 0;
#pragma dome nopoll
    for (int i = 0; i < n; i++)
        s += list[i];
    return s;
}

#define MAX(a, b)                                                                                                                \
    ({                                                                                                                           \
        __typeof__(a) x_ = (a);                                                                                                  \
        __typeof__(b) y_ = (b);                                                                                                  \
        x_ > y_ ? x_ : y_;                                                                                                       \
    })
#define KIND(x) _Generic((x), int : "int", double : "double", default : "other")

int main(void)
{
    record base = {.c = BROWN, .wide = 5}, r = build(4, &base);
    assert(old(7, 2) == 1 || old(5, 5));
    int m = MAX(old(9, 4), old(8, 5));
    double complex z = spin(1 + 2 * I, 5);
    printf("%d %d %d %d %d %lld %d %g %g\n", r.c, r.on, r.bytes[0], r.bytes[1], r.bytes[2], (long long)r.wide, m, creal(z),
           cimag(z));
    printf("%s %s %d %d\n", KIND(m), KIND(1.0), sum((int[]){1, 2, old(9, 4)}, 3), spent);
    return 0;
}
