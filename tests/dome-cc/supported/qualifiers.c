/* const, volatile, restrict, register, inline in its forms, parameters of arrays with qualifiers, structs that are const. */
#include <stdio.h>

static int total;

inline int outer(int n);
static inline int inner(int n)
{
    while (n > 9)
        n -= total++ % 3 + 1;
    return n;
}
static inline __attribute__((always_inline)) int forced(int n)
{
    return inner(n + 20) + 1;
}
inline int outer(int n)
{
    return inner(n) * 2 + forced(n);
}
extern int outer(int n);
__attribute__((noinline, unused)) static int never(const int n)
{
    return outer(n);
}

static double add(int n, double *restrict to, const double *restrict from)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += to[i] += from[i] * outer(i);
    return s;
}

static int params(const int a[static 3], int b[const], int *const restrict c, volatile int *v, const volatile int cv,
                  register int r)
{
    for (int i = 0; i < 3; i++) {
        b[i] += a[i] * r;
        *c += b[i] + *v + cv;
        ++*v;
    }
    return *c + outer(r);
}

struct fixed {
    const int id;
    const char *const name;
    int n;
};
typedef const struct fixed *const view;

static struct fixed fixed(int id)
{
    const struct fixed f = {inner(id), "name", outer(id)};
    return f;
}

static int look(view v, view *list)
{
    int s = 0;
    for (int i = 0; i < 2; i++)
        s += v->id + list[i]->n;
    return s;
}

int main(void)
{
    const double from[4] = {1, 2, 3, 4};
    double to[4] = {0.5};
    printf("%g %g\n", add(4, to, from), to[3]);
    const int a[] = {outer(1), 2, outer(3)};
    int b[3] = {0}, c = 1;
    volatile int v = outer(12), w[2] = {1, inner(30)};
    volatile const int *vp = &v;
    int *volatile pointer = b;
    for (register unsigned i = 0; i < 3; i++)
        pointer++, w[i % 2] += *vp;
    printf("%d %d %d %d\n", params(a, b, &c, &v, inner(40), 3), b[2], (int)(pointer - b), w[0] + w[1]);
    const struct fixed one = fixed(5), two[2] = {fixed(11), {7, "x", inner(50)}};
    view list[] = {two, &one};
    struct fixed three = {1, "y", 2};
    auto int last = look(&one, list) + look(list[0], list);
    const struct fixed *pf = &three;
    while (pf->n < 30)
        three.n += inner(13) + 1;
    printf("%d %d %d %s\n", last, total, three.n, pf->name);
    return 0;
}
