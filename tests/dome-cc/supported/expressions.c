/* Statement expressions, typeof, _Generic, designated initialisers with calls, members of results, bit-fields, compound
 * assignment through pointers with side effects, comma, void conditionals, pointers to foreign and own functions, qsort with a
 * callback that polls, literals, volatile and register variables, _Bool and narrow results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int total, at, cells[8];
static volatile int noisy = 3;

static int f(int y)
{
    for (int i = 0; i <= y % 5; i++)
        total += i;
    at = (at + 1) % 8;
    noisy++;
    return y * 3 + total % 11;
}

struct three {
    int a, b, c;
    double d;
};
struct rows {
    int n[4]; /* one past its end must not be the next member on some machines alone */
    struct three t;
};
struct bits {
    unsigned low : 3, high : 13;
    int sign : 4;
};
struct holder {
    struct holder *next;
    int (*call)(int);
    int n;
};

static struct three make(int a)
{
    return (struct three){.a = f(a), .c = f(a + 1), .d = f(2) / 2.0};
}

static struct rows rows(int a)
{
    struct rows r = {.n = {[0] = f(a), [2] = f(1)}, .t = make(a)};
    return r;
}

/* never saved */
static int mixed(int x, int y)
{
    struct bits b = {1, 2, 3};
    b.low += (unsigned)x;
    b.high ^= (unsigned)(y << b.low);
    b.sign = y - b.sign;
    return b.low + b.high * 8 - b.sign;
}

static _Bool truth(int x)
{
    return f(x);
}

static unsigned char narrow(int x)
{
    return f(x) * 100;
}

static int order(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    f(a);
    return a < b ? -1 : a > b;
}

static const char *text(int k)
{
    f(k);
    return k ? "one" : "none";
}

static int third(int n, double x, const char *s, struct three t)
{
    return n + (int)x + (int)strlen(s) + t.a + f(n);
}

static int sum(int n, const int a[])
{
    int s = 0;
    while (n-- > 0)
        s += *a++ * (n + 1);
    return s;
}

#define KIND(x) _Generic((x), int : 1, double : 2, default : 3)

int main(void)
{
    const int fixed = f(1);
    register int r = f(2);
    volatile int local = f(3);
    __typeof__(f(0) + 0.5) half = f(4) + 0.5;
    int block = ({
        int k = f(2);
        while (k > 5)
            k -= f(k) % 3 + 1;
        k + 1;
    });
    struct three t = {f(1), .c = f(2), f(3)};
    printf("%d %d %d %g %d %d %d %g\n", fixed, r, local, half, block, t.a, t.c, t.d);
    struct rows all[2] = {[0].t.b = f(9), [1] = rows(2)};
    printf("%d %d %d %g %d\n", all[1].n[0], all[1].n[1], all[1].t.a, all[1].t.d, all[0].t.b);
    printf("%d %g %d %d\n", make(3).a, make(4).d, rows(5).t.c, rows(1).n[1] + total);
    printf("%d %d %d\n", KIND(f), KIND(t.d), KIND(t.a) + f(1));
    printf("%d\n", mixed(f(3), f(4)));
    int *p = cells, **pp = &p;
    *p++ = f(1);
    *(*pp)++ += f(2) * 2;
    *++p = f(at);
    cells[f(1) % 8] |= f(6);
    p[-1] = p[-2]-- + f(1);
    (f(1) % 2 ? cells : p)[1] += f(2);
    for (int i = 0, j = 9; i < j; i += f(0) % 2 + 1, j--)
        total += (f(i), i ? f(j) : (total++, f(1)));
    f(2) % 2 ? (void)f(3) : f(3) % 3 ? (void)(total += f(4)) : (void)0;
    int logic = (f(1) && total++ && f(2)) + (f(0) % 2 || total++ || f(1)) * 2 + !f(9);
    int before = noisy, x = before + f(noisy) * 3, y = before - f(1) * before;
    x -= y -= f(3);
    printf("%d %d %d\n", logic, x, y);
    printf("%d %d %d\n", truth(1), truth(3) + narrow(2), narrow(7) >> 1);
    printf("%d\n", third(f(1), f(2), text(f(3) % 2), make(1)) + sum(3, all[1].n));
    struct holder h = {&h, f, 3}, g = {&h, abs, -4};
    printf("%d %d %d\n", h.next->next->call(h.n), g.call(g.n), (total % 2 ? f : abs)(5) + g.next->call(g.n + 9));
    (*g.next->call)(1);
    int list[9] = {5, 3, 8, 1, 9, 2, 7, 4, 6};
    qsort(list, f(2) ? 9 : 3, sizeof *list, order);
    for (int i = 0; i < 9; i++)
        printf("%d ", list[i]);
    for (int i = 0; i < 8; i++)
        printf("%d ", cells[i]);
    const char *one = text(1), *other = text(1);
    printf("%d %s %d\n", one == other, one + f(1) % 2, total);
    char words[][6] = {"ab", "cdefg"}, line[] = {'x', (char)('a' + f(1) % 26), 0};
    printf("%s %s %d\n", words[f(1) % 2], line, noisy);
    return total % 100;
}
