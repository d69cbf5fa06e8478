/* Numbers of all sizes across calls: conversions, chains of assignments, conditions of all types, bits, complex numbers. */
#include <complex.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum small { A = -3, B, C = 7 };
enum large { L = 1, H = 0xffffffffu };

static int calls;

static int64_t wide(int n)
{
    while (n-- > 0)
        calls++;
    return (int64_t)calls << 33 | 5;
}
static uint64_t unsigned_wide(int n)
{
    return (uint64_t)wide(n) * 0x9e3779b97f4a7c15u;
}
static signed char narrow(int n)
{
    return (signed char)wide(n + 2);
}
static unsigned short half(int n)
{
    return (unsigned short)(unsigned_wide(n) >> 7);
}
static bool truth(int n)
{
    return wide(n) & 1 ? n : calls;
}
static float single(int n)
{
    return (float)narrow(n) / 3;
}
static double twice(int n)
{
    return single(n) * 2.0;
}
static enum small kind(int n)
{
    return narrow(n) % 2 ? A : n > 3 ? B : C;
}
static float complex turn(float complex z, int n)
{
    while (n-- > 0)
        z = z * (0.5f + I) + (float)narrow(n);
    return z;
}
static double complex wider(double complex z)
{
    return conj(turn((float complex)z, 2)) + 1.0;
}

int main(void)
{
    char c;
    signed char s;
    int i;
    long long l;
    float f;
    double d;
    unsigned char bits = 0x81;
    d = f = i = c = (char)(narrow(3) & 63);
    l = s = narrow(200);
    printf("%d %d %d %g %g %lld\n", c, s, i, f, d, l);
    unsigned u = (unsigned)narrow(5) + half(1), v = (unsigned)half(2) << 31 >> narrow(1) % 8;
    u -= half(3);
    u = -u ^ ~half(2);
    bits <<= narrow(1) % 4;
    bits ^= (unsigned char)unsigned_wide(1);
    s += (signed char)(narrow(2) * 100);
    l %= wide(1) | 1;
    l = l < wide(2) ? -l : l >> (narrow(1) & 7);
    printf("%u %u %d %d %lld\n", u, v, bits, s, l);
    i = narrow(1) ? half(2) : narrow(1);
    d = truth(1) ? single(2) : twice(3);
    uint64_t mixed = truth(0) ? (uint64_t)half(1) : unsigned_wide(1);
    printf("%d %g %" PRIu64 "\n", i, d, mixed);
    if (single(1) && twice(2) && !single(3) + truth(1))
        calls++;
    while (twice(1) > 1e9 || unsigned_wide(1) < 5)
        calls += 2;
    bool b = single(4), not = !twice(1), both = (b = truth(2)) && (d = twice(2)) > 0.5;
    enum small e = kind(1), g = kind(5);
    enum large h = truth(1) ? H : L;
    printf("%d %d %d %d %d %d %d\n", b, not, both, e, g, h == H, (kind(2) == A) + (kind(9) < 0));
    float complex z = turn(1 + 2 * I, 3);
    double complex y = wider(z) * turn(z, 1);
    z += turn(z, 1) * 2;
    printf("%g %g %g %g\n", crealf(z), cimagf(z), creal(y), cimag(wider(y) / 4));
    int negative = narrow(1) - 200, shifted = negative >> (narrow(0) & 3), most = INT_MAX - narrow(1);
    unsigned char wraps = 250;
    for (short k = 0; k < narrow(0) % 4 + 7; k++, wraps += (unsigned char)(truth(k) + k))
        ;
    printf("%d %d %d %.9g %a\n", shifted, most, wraps, 1e-3 * narrow(2), twice(4));
    return calls % 50;
}
