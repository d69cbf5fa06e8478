/* What compilers hand over in different ways: many variables, types of loops, bounds near the ends of types, variables of a
 * thread. */
#include <limits.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int own, others[8];
#pragma omp threadprivate(own, others)

static void many(void)
{
    long a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, b1 = 1, b2 = 2, b3 = 3, b4 = 4, b5 = 5, b6 = 6;
    long b7 = 7, b8 = 8, b9 = 9, sum = 0, c[40];
    for (int k = 0; k < 40; k++)
        c[k] = k;
#pragma omp parallel reduction(+ : sum)
#pragma omp single
    sum += a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9 + c[39];
    printf("18 variables: %ld\n", sum);
#pragma omp parallel num_threads(2)
#pragma omp masked
    a1 = b9 = omp_get_num_threads();
    printf("two threads: %ld %ld\n", a1, b9);
}

#define PRAGMA(text) _Pragma(#text)

/* Each iteration once, whatever the type: by the sum of their squares and the last one's number. */
#define LOOP(name, type, from, condition, step, ...)                                                                               \
    static void name(void)                                                                                                         \
    {                                                                                                                              \
        unsigned long sum = 0, count = 0;                                                                                          \
        type i, last = 0;                                                                                                          \
        PRAGMA(omp parallel for lastprivate(last) reduction(+ : sum, count) schedule(__VA_ARGS__)) for (i = from; condition; step) \
        {                                                                                                                          \
            sum += (unsigned long)i * (unsigned long)i;                                                                            \
            count++;                                                                                                               \
            last = i;                                                                                                              \
        }                                                                                                                          \
        printf(#name ": %lu iterations, %lu, %lld\n", count, sum, count ? (long long)last : 0);                                    \
    }

LOOP(of_char, signed char, -60, i < 60, i += 7, static)
LOOP(of_unsigned, unsigned, UINT_MAX - 50, i < UINT_MAX - 3, i += 3, static, 4)
LOOP(down, int, 50, i > 3, i -= 3, dynamic, 2)
LOOP(of_long, long, LONG_MIN, i < LONG_MIN + 1000, i += 9, guided)
LOOP(down_long, long, LONG_MAX - 1, i > LONG_MAX - 1000, i -= 11, static, 3)
LOOP(of_unsigned_long, unsigned long, ULONG_MAX - 99, i < ULONG_MAX - 9, i += 10, dynamic)
LOOP(large_chunks, int, 0, i < 1000, i++, static, 100000000)
LOOP(runtime, int, 5, i < 500, i += 5, runtime)
LOOP(of_one, int, 7, i < 8, i++, static)
LOOP(of_none, int, 7, i < 7, i++, static)
LOOP(of_none_long, long, 7, i < 7, i++, dynamic, 5)
LOOP(with_simd, int, 0, i < 999, i++, simd : static, 8)

static void of_thread(void)
{
    int wrong = 0;
    own = 1;
#pragma omp parallel copyin(own) reduction(+ : wrong)
    {
        wrong += own != 1;
        own = omp_get_thread_num();
#pragma omp barrier
#pragma omp single copyprivate(own, others)
        {
            own = 55;
            for (int k = 0; k < 8; k++)
                others[k] = k * k;
        }
        wrong += own != 55 || others[7] != 49;
    }
    printf("variables of threads: %d wrong\n", wrong);
}

static void collapsed(void)
{
    enum { N = 12, M = 9 };
    static int x[N + 1][M + 1];
    memset(x, 0, sizeof x);
#pragma omp parallel for collapse(2) ordered(2) schedule(static, 2)
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= M; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            x[i][j] = (x[i - 1][j] + x[i][j - 1] + i + j) % 1000;
#pragma omp ordered depend(source)
        }
    printf("collapsed: %d\n", x[N][M]);
}

static void by_c11(void)
{
    static _Atomic long sum;
    static atomic_int highest, flags;
    sum = 0;
#pragma omp parallel for
    for (int k = 0; k < 100; k++) {
        sum += k;
        atomic_fetch_or(&flags, 1 << k % 20);
        int h = atomic_load(&highest);
        while (h < k && !atomic_compare_exchange_weak(&highest, &h, k))
            continue;
    }
    printf("C11: %ld %d %x\n", sum, highest, flags);
}

int main(void)
{
    many();
    of_char(), of_unsigned(), down(), of_long(), down_long(), of_unsigned_long();
    large_chunks(), runtime(), of_one(), of_none(), of_none_long(), with_simd();
    of_thread();
    collapsed();
    by_c11();
    return 0;
}
