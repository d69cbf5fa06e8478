/* Definitions in the old form, declarations of many kinds in one, in loops and in blocks; names that mean several things. */
#include <stdio.h>

int tentative, counted[3], *where;
int tentative;
extern int late;
static int calls;
static int forward(int);
typedef int number, row[3], transform(number);
typedef struct node node;
struct node {
    node *next;
    number n;
};

static int forward(int n)
{
    while (n-- > 0)
        calls += n;
    return calls % 7;
}

static double promoted(c, s, f, list, call)
char c;
short s;
float f;
int list[];
int (*call)();
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += c * s + f * list[i] + call(i);
    return sum;
}

int old();
int old(n)
register int n;
{
    int forward(int), calls_of_all();
    int next = n > 0 ? old(n - 1) : 5;
    return next + forward(n);
}

static int shadows(int forward)
{
    int calls = forward, s = 0;
    {
        extern int calls_of_all(void);
        typedef double number;
        number old = calls / 2.0;
        struct node {
            double x;
        } n = {old + 0.5};
        enum { late = 4, row };
        for (int calls = late; calls > 0; calls--)
            s += (int)n.x + row + calls_of_all();
    }
    for (
        struct { int i, k; } at = {0, 9}; at.i < at.k; at.i += 2, at.k--)
        s += at.k;
    for (int i = 0, *p = &i, list[2] = {1, 2}; i < 4; ++*p)
        s += list[i % 2] + late;
s:
    if (s++ % 4)
        goto s;
    return s + calls;
}
int calls_of_all(void)
{
    return forward(3);
}

static int unnamed(int, int n, struct node *);
static int unnamed(int a, int n, node *list)
{
    int sum = a, *p = &sum, **pp = &p, values[2] = {n, a}, (*f)(int) = forward, (*rows)[2] = &values, m;
    for (; list; list = list->next)
        **pp += list->n * f((*rows)[1]) + (*rows)[0];
    m = sum;
    return m;
}

static void nothing(void)
{
    return (void)forward(2);
}

static int falls(int n)
{
    if (n > 0)
        return forward(n);
    calls++;
    return 0;
}

int late = 3;

int main(int argc, char *argv[])
{
    row list = {1, 2, 3};
    transform *t = forward;
    node c = {NULL, 4}, b = {&c, 5}, a = {&b, 6};
    where = &counted[late % 3];
    for (number i = 0; i < argc + 1; i++) {
        tentative += t(i + late);
        *where++ += tentative;
    }
    nothing();
    printf("%g %d %d\n", promoted('a', 7, 2.5f, list, forward), old(4), shadows(3));
    printf("%d %d %d %d\n", unnamed(1, 2, &a), falls(0) + falls(3), tentative, argv[argc] == NULL);
    printf("%d %d %d\n", counted[0], counted[1], calls);
    if (argc > 5)
        return main(1, argv);
}
