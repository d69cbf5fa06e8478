/* Names and forms that the translation must not take for its own: typedefs of a letter, functions that are declared in a block,
 * attributes in brackets, functions of gcc's that libclang does not have. */
#include <stdio.h>
#include <stdlib.h>

typedef struct n {
    struct n *next;
    double v[12];
    char *s;
    long k;
} n;
typedef int i, u, to, from, argc, argv, dome;
typedef unsigned long s;
typedef struct t {
    n v;
    s t;
    i o[9];
} t;
typedef short v;

static n *list;

static void push(void)
{
    n *x = calloc(1, sizeof *x);
    x->next = list;
    x->s = "text";
    for (x->k = 0; x->k < 3; x->k++)
        x->v[x->k] = (double)x->k;
    list = x;
}

static i spin([[maybe_unused]] i const unused, i times)
{
    s sum = 0;
    while (times-- > 0)
        sum += (s)times;
    return (i)sum;
}

static i in_blocks(i times)
{
    i sum = 0;
    for (u k = 0; k < times; k++) {
        i later(i), last();
        void nothing(void);
        sum += later(k) + last(k, 2);
        nothing();
    }
    return sum;
}

i later(i times)
{
    to sum = 0;
    while (times-- > 0)
        sum += times + 1;
    return sum;
}

static __attribute__((const)) i power(i base, const i to_what) /* the compiler must not leave out its calls */
{
    return to_what > 0 ? base * power(base, to_what - 1) : 1;
}

i steps(const char *text) __attribute__((__pure__, __noinline__));
i steps(const char *text)
{
    i sum = 0;
    while (*text)
        sum += *text++;
    return sum;
}

i last(i a, i b)
{
    return a > 0 ? last(a - 1, b) + later(b) : b;
}

void nothing(void)
{
    push();
}

int main(void)
{
    t *block = calloc(2, sizeof *block), own = {{NULL, {1}, "own", 2}, 3, {4}};
    push();
    n n = own.v; /* hides the type */
    for (int i = 0; i < 4; i++) {
        v small = (v)spin(0, i);
        from number = in_blocks(i);
        block[i & 1].o[i] = small;
        printf("%d %d %d %g %lu\n", small, number, __builtin_add_overflow_p(i, number, (argc)0), n.v[0] + list->v[2] * (i > 0),
               own.t);
    }
    printf("%d %d\n", power(2, 5) + power(2, 5), steps("text") + steps("text"));
    dome count = 0;
    while (list) {
        list = list->next;
        count++;
    }
    printf("%d %d %s\n", count, block[1].o[3], own.v.s);
    return 0;
}
