/* Functions without loops that call themselves and each other; callbacks of the C library. */
#include <stdio.h>
#include <stdlib.h>

static long fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int odd(int n);

static int even(int n)
{
    return n == 0 || odd(n - 1);
}

static int odd(int n)
{
    return n != 0 && even(n - 1);
}

static unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static int digits(int n)
{
    int s = 0;
    while (n) {
        s += n % 10;
        n /= 10;
    }
    return s;
}

static int compare(const void *a, const void *b)
{
    int x = digits(*(const int *)a), y = digits(*(const int *)b);
    return x != y ? x - y : *(const int *)a - *(const int *)b;
}

static int queens(int *columns, int row, int n)
{
    if (row == n)
        return 1;
    int found = 0;
    for (int c = 0; c < n; c++) {
        int k;
        for (k = 0; k < row && columns[k] != c && abs(columns[k] - c) != row - k; k++)
            ;
        if (k == row) {
            columns[row] = c;
            found += queens(columns, row + 1, n);
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    int columns[8], list[12];
    int n = argc > 1 ? atoi(argv[1]) : 5;
    printf("%ld %d %d %u %d\n", fib(n + 2), even(n), odd(n), ackermann(2, 2), queens(columns, 0, n));
    for (int i = 0; i < 12; i++)
        list[i] = (i * 37 + 11) % 101;
    qsort(list, 12, sizeof list[0], compare);
    for (int i = 0; i < 12; i++)
        printf("%d ", list[i]);
    puts("");
    return digits(0);
}
