/* Nested calls, arguments with effects, the order from left to right, void calls. */
#include <stdio.h>

static int trace;

static int note(int x)
{
    for (int i = 0; i < x; i++)
        trace = trace * 3 % 1000003 + i + x;
    return x;
}

static void hush(int x)
{
    while (x-- > 0)
        trace += x;
}

static int add(int a, int b, int c)
{
    for (int i = 0; i < a + b; i++)
        note(c % 3);
    return a + 10 * b + 100 * c;
}

typedef int function(int);

/* a parameter that is written as a function, and is a pointer */
static int apply(function f, int by(int), int x)
{
    return f(x) + by(x + 1) * f(by(2));
}

int main(void)
{
    int i = 1, j = 2;
    int r = add(note(i++), note(j++) + note(i), add(1, note(j), 3)) + note(4) * note(5);
    printf("%d %d %d %d\n", r, i, j, trace);
    hush(5), hush(note(6));
    printf("%d %d\n", (note(2), note(3)), trace);
    int k = trace % 7 + note(trace % 5);
    printf("%d %d\n", k, trace);
    (void)note(3);
    printf("%d\n", note(note(note(2)) + 1));
    printf("%d\n", apply(note, note, 3));
    return note(0);
}
