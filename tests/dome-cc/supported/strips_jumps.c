/* Cases inside of counted loops, which cannot be cut into strips; bounds that must not be computed before their loop. */
#include <stdio.h>

static long into_for(int from, int n)
{
    long s = 0;
    int i = from;
    switch (from) {
        for (; i < n; i++) {
        case 1:
            s = s * 3 + i;
        case 2:
            s++;
        }
    default:
        s += 1000;
    }
    return s;
}

static long into_counted(int from, int n)
{
    long s = 0;
    int i = from;
    switch (from) {
        for (i = 0; i < n; i++) {
        case 1:
            s = s * 3 + i;
        }
    }
    return s;
}

static long guarded(int m, int n, int k)
{
    long s = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n / k; j++)
            s += i * j;
    return s;
}

int main(void)
{
    for (int i = 0; i < 60; i++) {
        printf("%ld %ld %ld %ld ", into_for(0, 9), into_for(1, i), into_for(2, 9 + i), into_for(2, 30));
        printf("%ld %ld ", into_counted(1, i), into_counted(0, 20));
        printf("%ld %ld\n", guarded(0, 5, 0), guarded(4, 50 + i, 3));
    }
    return 0;
}
