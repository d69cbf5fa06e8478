/* Assignments whose right side calls: x += f(y), to members, elements, through pointers; ++ beside calls. */
#include <stdio.h>

static int total, at;
static int cells[10];

static int f(int y)
{
    for (int i = 0; i <= y; i++)
        total += i;
    at = (at + 1) % 10;
    return y * y + 1;
}

struct pair {
    int a, b;
};

int main(void)
{
    int x = 3;
    x += f(2);
    x = x * f(x % 4) - x;
    total += f(3);
    cells[at] = f(4);
    cells[at] += f(5);
    cells[at++] -= f(1) + f(2);
    struct pair p = {1, 2}, *q = &p;
    p.a += f(1);
    q->b *= f(q->a % 5);
    *(q->a % 2 ? &x : &p.a) += f(3);
    int y = x = f(2);
    unsigned char small = 250;
    small += f(3);
    double d = 0.5;
    d /= f(1);
    long shift = 1;
    shift <<= f(2);
    shift |= f(1) ^ f(2);
    printf("%d %d %d %d %d %d %g %ld\n", x, y, total, p.a, p.b, small, d, shift);
    for (int i = 0; i < 10; i++)
        printf("%d ", cells[i]);
    puts("");
    return 0;
}
