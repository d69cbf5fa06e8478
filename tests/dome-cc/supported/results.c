/* Results that are structs and pointers: members, arrays in them, in conditions and in chains; large and small ones, with
 * constants, pointers, functions and complex numbers inside. */
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    short a, b;
} small;
typedef struct large {
    int n[40];
    small s;
    const struct large *from;
    int (*call)(int);
    bool yes;
    double complex z;
    char text[5];
} large;
struct list {
    int n, values[4];
    struct list *self;
};

static int calls;
static struct list all[3];

static int count(int n)
{
    while (n-- > 0)
        calls++;
    return calls;
}

static small make(int a)
{
    return (small){(short)count(a), (short)a};
}

static large grow(large l, small s, int by)
{
    for (int i = 0; i < by; i++)
        l.n[i] += count(i) + s.a;
    l.s = s;
    l.call = by % 2 ? count : l.call;
    l.z = l.z * I + by;
    l.text[by % 4] = (char)('a' + by);
    l.yes = !l.yes;
    return l;
}

static struct list *get(int n)
{
    count(n);
    all[n % 3].self = &all[(n + 1) % 3];
    return &all[n % 3];
}

static struct list copy(const struct list *l, int n)
{
    struct list c = *l;
    c.n += count(n);
    c.values[n % 4] = c.n;
    return c;
}

static int sum(const struct list l, large *to)
{
    int s = l.n;
    for (int i = 0; i < 4; i++)
        s += l.values[i] * (i + count(1) % 3);
    to->n[l.n % 40] += s;
    return s;
}

int main(void)
{
    large one = {.text = "abcd", .call = count}, two = grow(one, make(3), 7), *p = &one;
    small s = make(1), t = s.a > 3 ? make(2) : s, u;
    u = t = make(make(2).b);
    two.from = p;
    *p = grow(two, u, 4);
    p->s = t.a % 2 ? (count(1), make(4)) : t;
    two = one = grow(*p, (small){1, 2}, two.from == p ? 3 : 30);
    printf("%d %d %d %d %d\n", one.n[2], two.n[6], p->s.a, u.b, (count(1) % 2 ? one : two).n[5]);
    get(1)->n += get(2)->self->n + count(2);
    get(get(1)->n % 5)->values[count(1) % 4]++;
    ++get(0)->self->self->n;
    *get(2) = copy(get(0), 3);
    all[0] = copy(get(count(1) % 2)->self, get(1)->n % 3 + 1);
    int k = copy(get(1), 2).values[2] + copy(&all[2], 1).values[count(0) % 4] + (*get(2)).n;
    printf("%d %d %d\n", k, sum(copy(all, 2), p), sum(*get(1)->self, &two));
    if (make(1).b && copy(get(2), 1).self)
        k += make(2).a;
    for (small i = make(0); i.b < 3; i = make(i.b + 1))
        k += i.b;
    while (copy(get(1), 0).n > 400 + k)
        k += 50;
    struct list local = get(1) == &all[1] ? *get(1) : copy(get(2), 5), *q = local.self ? get(local.n % 3) : NULL;
    memcpy(&local.values[1], get(2)->values, sizeof local.values / 2);
    printf("%d %d %d %s %d %g\n", k, local.values[2], (int)(q - all), two.text, one.yes, cimag(p->z) + two.call(3) + p->call(1));
    return calls % 90;
}
