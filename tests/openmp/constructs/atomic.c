/* atomic updates of all sizes, captured and compared. */
#include <stdio.h>

static signed char c;
static short s = 1;
static int i, ors, xors, ands = -1, most;
static long long l;
static float f;
static double d, product = 1;
static long double x;
static unsigned captured;

int main(void)
{
    long long seen = 0;
#pragma omp parallel for num_threads(9) reduction(+ : seen)
    for (int k = 0; k < 120; k++) {
        unsigned before;
#pragma omp atomic
        c += 1;
#pragma omp atomic
        s -= 2;
#pragma omp atomic
        i += k;
#pragma omp atomic
        ors |= 1 << k % 31;
#pragma omp atomic
        xors ^= k * 77;
#pragma omp atomic
        ands &= ~(1 << k % 7);
#pragma omp atomic
        l -= k * 1000000007LL;
#pragma omp atomic
        f += 0.5f;
#pragma omp atomic
        d += k;
#pragma omp atomic
        product *= k % 2 ? 2 : 0.5;
#pragma omp atomic
        x += 0.25L;
#pragma omp atomic capture
        before = captured++;
        seen += before;
#pragma omp critical
        most = k > most ? k : most;
    }
    int read;
#pragma omp atomic read
    read = i;
#pragma omp atomic write
    i = 3;
    printf("%d %d %d %d %d %d %lld %g %g %g %Lg %u %lld %d %d\n", c, s, read, ors, xors, ands, l, f, d, product, x, captured,
           seen, most, i);
    return 0;
}
