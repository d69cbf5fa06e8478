/* Functions in tables and structs, functions that return functions, pointers to arrays and to pointers, typedefs of functions. */
#include <stdio.h>
#include <stdlib.h>

typedef int operation(int, int);
typedef operation *chooser(const char *);

static int steps;

static int add(int a, int b)
{
    for (int i = 0; i < b; i += 2)
        a += 1 + (i + 1 < b), steps++;
    return a;
}
static int times(int a, int b)
{
    int s = 0;
    while (b-- > 0)
        s = add(s, a);
    return s;
}
static int minus(int a, int b)
{
    return a - b;
}
static operation *find(const char *name);
static operation *next(const char *name)
{
    return find(name + 1);
}

static const struct entry {
    const char *name;
    operation *function;
    chooser *other;
    int (*more[2])(int, int);
} table[] = {
    {"+", add, find, {add, times}}, {"*", times, next, {minus, NULL}}, {.name = "-", .function = minus, .more = {[1] = add}}};

static operation *find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (*table[i].name == *name)
            return table[i].function;
    return NULL;
}

static int (*other_of(int k))(int, int)
{
    while (k > 2)
        k -= 3;
    return table[k].more[k % 2];
}

static int (*row_of(int (*matrix)[3], int k))[3]
{
    for (int i = 0; i < k; i++)
        matrix++;
    return matrix;
}

static void swap(int ***a, int ***b)
{
    for (int i = 0; i < 1; i++) {
        int **t = *a;
        *a = *b;
        *b = t;
    }
}

static int each(const int *list, int n, int (*const functions[])(int, int), int start)
{
    for (int i = 0; i < n; i++)
        start = functions[i % 2] ? functions[i % 2](start, list[i]) : (*functions[0])(start, 1);
    return start;
}

int main(void)
{
    int matrix[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}, (*rows)[3] = matrix, *(*columns[2])[3];
    int x = 1, y = 2, *px = &x, *py = &y, **ppx = &px, **ppy = &py, *pointers[3] = {px, py, &matrix[1][1]};
    int (*list[])(int, int) = {add, minus, times}, (**at)(int, int) = list + 2;
    columns[0] = columns[1] = &pointers;
    swap(&ppx, &ppy);
    for (int k = 0; k < 3; k++) {
        operation *f = table[k].function, *g = other_of(k);
        x = f(x, k + 2) + (g ? g(y, k) : (*f)(1, 2)) + (**at)(k, 2);
        y += (*row_of(rows, k))[1] + **(*columns[k % 2] + k);
        rows[k][0] = table[k].other ? table[k].other(k ? "a+" : "*")(k, 3) : list[k](5, k);
        **ppx += times(2, k);
        ++**ppy;
    }
    printf("%d %d %d %d %d\n", x, y, **ppx, **ppy, steps);
    static const int few[] = {2, 3, 1};
    printf("%d %d\n", each(few, 3, table[0].more, 1), each(few, 3, table[1].more, 100));
    int(*heap)[3] = malloc(2 * sizeof *heap), ***deep = malloc(2 * sizeof(int **));
    for (int i = 0; i < 6; i++)
        heap[i / 3][i % 3] = find("*")(i % 3, i);
    deep[0] = ppx;
    deep[1] = &pointers[2];
    printf("%d %d %d %d\n", heap[1][2], ***deep, **deep[1], (find("-") == minus) + (*find("+") == add));
    free(heap);
    free(deep);
    return 0;
}
