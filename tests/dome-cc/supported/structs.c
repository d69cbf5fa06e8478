/* Structs returned, passed and kept; members of results; nested and anonymous members; arrays of structs. */
#include <stdio.h>

typedef struct vec {
    double x, y;
} vec;

struct box {
    vec low, high;
    struct {
        int count;
        char tag[4];
    } inner;
    struct {
        short s;
    };
};

typedef size_t sizes[3];
struct sized {
    sizes first;
    size_t more[6];
    int n;
};

static int work;

static vec make(double x, double y)
{
    for (int i = 0; i < 3; i++)
        work += i;
    while (work > 100)
        work -= 7;
    vec v = {x, y};
    return v;
}

static vec sum(vec a, vec b)
{
    vec r = make(a.x, b.y);
    r.x += b.x;
    r.y += make(a.y, 0).x;
    return r;
}

static struct box wrap(vec a, vec b)
{
    struct box r = {.low = sum(a, b), .high = {make(1, 2).y, 3}, .inner = {.count = (int)make(4, 5).x, .tag = "ab"}};
    r.s = (short)make(6, 7).y;
    return r;
}

/* Elements of 4 bytes on some machines, which have 8 in the image. */
static struct sized measure(int n)
{
    struct sized r = {.first = {1, 2, 3}, .n = n};
    r.first[2] = (size_t)make(n, 8).y;
    r.more[5] = (size_t)make(n, 9).x;
    return r;
}

int main(void)
{
    struct sized z = measure(7);
    vec list[3] = {{1, 2}, {3, 4}};
    list[2] = sum(list[0], sum(list[1], make(5, 6)));
    struct box b = wrap(list[2], list[1]), *p = &b;
    p->low = make(p->low.x + 1, p->low.y);
    printf("%g %g %g %g %d %s %d\n", b.low.x, b.low.y, b.high.x, b.high.y, b.inner.count, b.inner.tag, b.s);
    double s = 0;
    for (int i = 0; i < 3; i++)
        s += sum(list[i], make(i, 1)).x * make(2, i).y;
    printf("%g %d %d %d %d\n", s, work, (int)z.first[2], (int)z.more[5], z.n);
    return 0;
}
