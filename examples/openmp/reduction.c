/* The circle's number, the largest term, and a histogram that all threads add to.
 *
 *     dome-omp -O3 reduction.c -o reduction && OMP_NUM_THREADS=8 dome run -n 2 ./reduction 1000000 */
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 8 };

int main(int argc, char **argv)
{
    const long n = argc > 1 ? atol(argv[1]) : 100000;
    double sum = 0, largest = 0;
    long bins[BINS] = {0}, odd = 0;
#pragma omp parallel
    {
        long own[BINS] = {0};
#pragma omp for reduction(+ : sum, odd) reduction(max : largest)
        for (long i = 0; i < n; i++) {
            const double x = ((double)i + 0.5) / (double)n, term = 4 / (1 + x * x);
            sum += term;
            largest = term > largest ? term : largest;
            odd += i % 2;
            own[i * 7919 % BINS]++;
        }
#pragma omp critical
        for (int b = 0; b < BINS; b++)
            bins[b] += own[b];
    }
    printf("pi %.9f, largest %.17g, odd %ld\n", sum / (double)n, largest, odd);
    for (int b = 0; b < BINS; b++)
        printf("%ld%c", bins[b], b < BINS - 1 ? ' ' : '\n');
    return 0;
}
