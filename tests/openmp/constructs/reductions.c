/* Reductions: operators, arrays, own ones, several together. Integers and sums that are exact, so the order does not matter. */
#include <stdio.h>

typedef struct pair {
    long a, b;
} pair;
#pragma omp declare reduction(add:pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b) initializer(omp_priv = (pair){0, 0})

enum { N = 500 };

int main(void)
{
    long sum = 0, most = -1, least = 1000, histogram[8] = {0};
    double product = 1, half = 0;
    int all = 1, any = 0, bits = 0;
    pair p = {1, 2};
#pragma omp parallel for num_threads(10) reduction(+ : sum, half, histogram) reduction(max : most) reduction(min : least)        \
    reduction(* : product) reduction(&& : all) reduction(|| : any) reduction(| : bits) reduction(add : p) schedule(dynamic, 7)
    for (int i = 0; i < N; i++) {
        sum += i;
        half += i * 0.5;
        histogram[i % 8] += i;
        most = i * 7 % 501 > most ? i * 7 % 501 : most;
        least = i * 7 % 501 < least ? i * 7 % 501 : least;
        product *= i % 2 ? 4 : 0.25;
        all = all && i < N;
        any = any || i == 77;
        bits |= 1 << i % 20;
        p.a += i;
        p.b -= i;
    }
    printf("%ld %g %ld %ld %g %d %d %d %ld %ld", sum, half, most, least, product, all, any, bits, p.a, p.b);
    for (int k = 0; k < 8; k++)
        printf(" %ld", histogram[k]);
    int scanned[N], x = 0;
#pragma omp parallel for reduction(inscan, + : x) num_threads(7)
    for (int i = 0; i < N; i++) {
        x += i;
#pragma omp scan inclusive(x)
        scanned[i] = x;
    }
    printf(" %d %d\n", scanned[10], scanned[N - 1]);
    return 0;
}
