/* Sorts by merging: a task for each half.
 *
 *     dome-omp -O3 tasks.c -o tasks && OMP_NUM_THREADS=8 dome run -n 2 ./tasks 100000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void merge(const int *a, long na, const int *b, long nb, int *to)
{
    while (na > 0 && nb > 0) {
        if (*b < *a) {
            *to++ = *b++;
            nb--;
        } else {
            *to++ = *a++;
            na--;
        }
    }
    memcpy(to, a, (size_t)na * sizeof *a);
    memcpy(to + na, b, (size_t)nb * sizeof *b);
}

/* The result is in x; y is scratch. */
static void sort(int *x, int *y, long n)
{
    const long half = n / 2;
    if (n < 2)
        return;
#pragma omp task if (n > 1000)
    sort(x, y, half);
#pragma omp task if (n > 1000)
    sort(x + half, y + half, n - half);
#pragma omp taskwait
    merge(x, half, x + half, n - half, y);
    memcpy(x, y, (size_t)n * sizeof *x);
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? atol(argv[1]) : 20000;
    int *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    unsigned state = 1;
    long wrong = 0;
    if (!x || !y) {
        fputs("tasks: no memory\n", stderr);
        return 1;
    }
    for (long i = 0; i < n; i++)
        x[i] = (int)((state = state * 1664525 + 1013904223) >> 8);
#pragma omp parallel
#pragma omp single
    sort(x, y, n);
#pragma omp parallel for reduction(+ : wrong)
    for (long i = 1; i < n; i++)
        wrong += x[i - 1] > x[i];
    printf("%ld numbers, %ld in a wrong place: %d ... %d ... %d\n", n, wrong, x[0], x[n / 2], x[n - 1]);
    free(x);
    free(y);
    return wrong != 0;
}
