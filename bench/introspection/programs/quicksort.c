/* Quicksort of integers. */
#include <stdio.h>
#include <stdlib.h>

static void sort(int *a, long low, long high)
{
    while (low < high) {
        int pivot = a[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                int t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        if (j - low < high - i) {
            sort(a, low, j);
            low = i;
        } else {
            sort(a, i, high);
            high = j;
        }
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1L << 23, wrong = 0;
    int *a = malloc(n * sizeof(int));
    unsigned r = 1;
    if (!a)
        return 1;
    for (long i = 0; i < n; i++) {
        r = r * 1664525u + 1013904223u;
        a[i] = (int)(r >> 3);
    }
    sort(a, 0, n - 1);
    for (long i = 1; i < n; i++)
        wrong += a[i - 1] > a[i];
    printf("%ld %d\n", wrong, a[n / 2]);
    return 0;
}
