/* Loops whose end is not known before, and nests of counted loops, which poll now and then; left and continued in all ways. */
#include <stdio.h>
#include <stdlib.h>

struct row {
    int begin, end;
};

static unsigned state = 3;

static unsigned draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static int cube(int n)
{
    int s = 0;
    for (int i = 0; i < 3; i++)
        s += n * n * i;
    return s % 1000;
}

/* while, for and do, with break, continue, a side effect in the condition, and a return */
static long ends(const unsigned char *text, long n)
{
    const unsigned char *p = text;
    long s = 0, i = 0, k;
    while (*p++)
        s++;
    s += p - text;
    while (i < n && text[i] != 250) {
        i++;
        if (i % 3 == 0)
            continue;
        if (text[i] == 251)
            break;
        s += cube(text[i]);
    }
    for (k = 0, p = text; *p; k++, p++) {
        if (*p == 7)
            continue;
        switch (*p % 5) {
        case 0:
            s += 2;
            break;
        case 1:
            continue;
        default:
            s ^= k;
        }
        if (s < -1)
            break;
    }
    do {
        s += text[--k] & 3;
        if (k < 5)
            break;
    } while (k > 2);
    do {
        k++;
        if (text[k] & 1)
            continue;
        s++;
    } while (k < n / 2);
    for (;;) {
        if (++k >= n)
            return s + k;
        s += text[k];
    }
}

/* bounds in memory, a nest whose work grows, one that calls */
static double nests(const struct row *rows, const double *x, int n, int wide)
{
    double all = 0;
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = rows[i].begin; k < rows[i].end; k++)
            s += x[k];
        all += s;
    }
    for (int i = 0; i < wide; i++)
        for (int j = i; j < wide; j++) {
            double t = 0;
            for (int k = 0; k < 12; k++)
                t += x[(i * j + k) % n];
            if (t < 0)
                break;
            all += t;
        }
    for (int i = wide; i > 1; i -= 2)
        for (int j = 0; j < wide; j++)
            all += cube(i ^ j);
    for (int i = 0; i < wide; i++) {
        if (i % 5 == 4)
            continue;
        for (int j = 0; j < wide; j++)
            for (int k = 0; k < wide / 4; k++)
                all += x[(i + j * k) % n];
        if (all > 1e12)
            break;
    }
    return all;
}

static int scans(int *a, int n, int pivot)
{
    int i = 0, j = n - 1, moves = 0;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
            moves++;
        }
    }
    return moves;
}

int main(void)
{
    enum { N = 12000, WIDE = 150 };
    unsigned char *text = malloc(N + 1);
    struct row *rows = malloc(N * sizeof(struct row));
    double *x = malloc(N * sizeof(double));
    int *a = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++) {
        text[i] = (unsigned char)(1 + draw() % 200);
        x[i] = draw() % 100;
        int begin = (int)(draw() % (N - 9000)), length = i % 1000 == 0 ? 9000 : (int)(draw() % 20);
        rows[i] = (struct row){begin, begin + length};
        a[i] = i < N / 2 ? i : (int)(draw() % N);
    }
    text[N] = 0;
    printf("%ld\n", ends(text, N));
    printf("%.0f\n", nests(rows, x, N, WIDE));
    printf("%d %d\n", scans(a, N, N / 2), a[N / 3]);
    return 0;
}
