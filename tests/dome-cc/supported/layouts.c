/* Packed structs, complex numbers, _Generic with strings, statement expressions, bit-fields that are never saved. */
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME(x) _Generic((x), int : "int", double : "double", default : "other")

struct __attribute__((packed)) packed {
    char c;
    int32_t n;
    double d;
    uint16_t h;
    struct packed *next;
};
#pragma pack(push, 1)
struct pair {
    char c;
    long long n;
};
#pragma pack(pop)
struct waves {
    double complex a[2];
    float complex f;
};
struct bits {
    unsigned a : 3;
    int n;
};

static int spin(int n)
{
    while (n > 3)
        n -= 2;
    return n;
}

static int quiet(int n)
{
    struct bits b = {(unsigned)n & 7, n};
    return (int)b.a + b.n;
}

#pragma dome hold
static int held(int n)
{
    int a[n];
    for (int i = 0; i < n; i++)
        a[i] = spin(i);
    return a[n - 1];
}

int main(void)
{
    struct packed a = {'a', 1, 2.5, 3, NULL}, *list = NULL;
    struct pair pairs[3] = {{'x', 1}};
    double complex z = 1 + 2 * I;
    struct waves waves = {{1, I}, 3};
    const char *name = NAME(2.5), *other = NAME(pairs[0].c);
    int total = 0;
    for (int i = 0; i < 6; i++) {
        struct packed *b = malloc(sizeof *b);
        *b = a;
        b->next = list;
        list = b;
        a.n += spin(i);
        a.d /= 2;
        pairs[i % 3].n += i;
        z = z * (1 + I) / 2 + spin(i);
        waves.a[i % 2] += z;
        waves.f *= I;
        total += ({
            int k = spin(i) + quiet(i);
            k + held(i + 1);
        });
    }
    for (struct packed *b = list; b; b = b->next)
        printf("%c %d %g %d\n", b->c, (int)b->n, b->d, b->h);
    printf("%lld %lld %g %g %g %g\n", pairs[0].n, pairs[2].n, creal(z), cimag(z), creal(waves.a[0]), (double)crealf(waves.f));
    printf("%s %s %d\n", name, other, total);
    return 0;
}
