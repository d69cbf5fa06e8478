/* NAS IS, written anew: keys are ranked by counting, ten times. */
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 1 << 22, LARGEST = 1 << 15, TIMES = 20 }; /* TIMES at most */

static void rank_keys(const int *keys, int *counts, int *ranks, int n, int largest)
{
    for (int k = 0; k < largest; k++)
        counts[k] = 0;
    for (int i = 0; i < n; i++)
        counts[keys[i]]++;
    for (int k = 1; k < largest; k++)
        counts[k] += counts[k - 1];
    for (int i = n - 1; i >= 0; i--)
        ranks[i] = --counts[keys[i]];
}

int main(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : TIMES;
    int *keys = malloc(KEYS * sizeof(int)), *ranks = malloc(KEYS * sizeof(int)), *counts = malloc(LARGEST * sizeof(int));
    unsigned r = 314159265;
    long check = 0;
    if (!keys || !ranks || !counts)
        return 1;
    for (int i = 0; i < KEYS; i++) {
        int sum = 0;
        for (int k = 0; k < 4; k++) {
            r = r * 1664525u + 1013904223u;
            sum += (int)(r >> 19);
        }
        keys[i] = sum;
    }
    for (int t = 0; t < times; t++) {
        keys[t] = t;
        keys[t + TIMES] = LARGEST - 1 - t;
        rank_keys(keys, counts, ranks, KEYS, LARGEST);
        check += ranks[KEYS / 2] + ranks[t];
    }
    int *sorted = malloc(KEYS * sizeof(int)), wrong = 0;
    if (!sorted)
        return 1;
    for (int i = 0; i < KEYS; i++)
        sorted[ranks[i]] = keys[i];
    for (int i = 1; i < KEYS; i++)
        wrong += sorted[i - 1] > sorted[i];
    printf("%ld %d\n", check, wrong);
    return 0;
}
