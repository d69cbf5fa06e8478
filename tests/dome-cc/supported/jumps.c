/* Duff's device in loops of each kind, goto into blocks, cases inside of loops, switches that begin with a declaration. */
#include <stdio.h>

static int total;

static int f(int y)
{
    while (y > 0)
        total += y--;
    return total % 7;
}

static void copy(char *to, const char *from, int count)
{
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0:
        do {
            *to++ = *from++;
        case 3:
            *to++ = *from++;
        case 2:
            total += f(n);
            *to++ = *from++;
        case 1:
            *to++ = *from++;
        } while (--n > 0);
    }
}

static long long into_for(int from, int n)
{
    long long s = 0;
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

static int blocks(int n)
{
    int s = 0;
    if (n & 1)
        goto inside;
    {
        int k;
        k = 5;
        s += f(k);
    inside:
        k = n;
        s += k + f(k);
    }
    switch (n) {
        int k;
    case 3:
        k = f(3);
        s += k;
        break;
    case 4 ... 6:
        k = 2;
        s += f(k) * k;
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

#define TWICE(x)                                                                                                                 \
    do {                                                                                                                         \
        total += f(x);                                                                                                           \
        total += f(x);                                                                                                           \
    } while (0)

int main(void)
{
    char to[20] = {0};
    copy(to, "abcdefghijklmno", 15);
    copy(to, "ABCDEF", 6);
    printf("%s %d\n", to, total);
    printf("%lld %lld %lld %lld\n", into_for(0, 9), into_for(1, 9), into_for(2, 9), into_for(2, 30));
    printf("%ld %ld\n", into_counted(1, 20), into_counted(0, 20));
    for (int i = 0; i < 8; i++)
        printf("%d ", blocks(i));
    TWICE(3);
    printf("%ld %ld %d\n", guarded(0, 5, 0), guarded(4, 50, 3), total);
    return 0;
}
