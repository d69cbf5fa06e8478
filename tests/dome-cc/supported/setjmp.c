/* setjmp and longjmp: over functions with memory, in loops, one inside of the other, out of callbacks and functions with "...".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf top;
static int order[64], steps;

static void step(int n)
{
    if (steps < 64)
        order[steps++] = n;
}

/* As an interpreter has it: a chain of handlers, each in its function's memory. */
struct handler {
    struct handler *previous;
    jmp_buf buffer;
    volatile int status;
};

struct state {
    struct handler *handler;
    int depth;
};

_Noreturn static void throw(struct state * s, int status)
{
    s->handler->status = status;
    longjmp(s->handler->buffer, 1);
}

static void fail(struct state *s, const char *format, ...)
{
    char text[32];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    step((int)strlen(text));
    throw(s, 7);
}

static int run_protected(struct state *s, void (*function)(struct state *, int *), int *data)
{
    const int depth = s->depth;
    struct handler h;
    h.status = 0;
    h.previous = s->handler;
    s->handler = &h;
    if (setjmp(h.buffer) == 0)
        function(s, data);
    s->handler = h.previous;
    s->depth = depth;
    return h.status;
}

/* Polls with memory of its own, and then goes deeper or fails. */
static int deep(struct state *s, int n, int *above)
{
    int here[3] = {n, n + 1, *above};
    s->depth++;
    for (int k = 0; k < 3; k++)
        here[k] += k;
    if (n == 0)
        throw(s, here[2] % 5 + 1);
    if (n == 7)
        fail(s, "at %d", here[0]);
    return deep(s, n - 1, &here[1]) + here[0];
}

/* Does not return, but while it is saved it does. */
static void slowly(struct state *s, int n) __attribute__((__noreturn__, cold));
static void slowly(struct state *s, int n)
{
    int sum[2] = {n, 1};
    for (int k = 0; k < 3; k++)
        sum[0] += k * sum[1];
    throw(s, sum[0] % 3 + 1);
}

__attribute__((noreturn)) extern void always(struct state *s);
void always(struct state *s)
{
    for (;;)
        slowly(s, s->depth);
}

static void failing(struct state *s, int *data)
{
    if (*data % 2)
        slowly(s, *data);
    always(s);
}

static void leaf(struct state *s, int *data)
{
    step(deep(s, *data, data));
}

static void nested(struct state *s, int *data)
{
    int inner = *data + 1, status = run_protected(s, leaf, &inner);
    step(100 + status);
    for (int k = 0; k < 2; k++)
        step(k);
    if (status == 7)
        throw(s, 20);
    deep(s, *data, data);
}

static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    int sum = 0;
    for (int k = 0; k < 2; k++)
        sum += k;
    if (x == 13 || y == 13)
        longjmp(top, sum + 1);
    return x < y ? -1 : x > y;
}

static int sorted(void)
{
    int values[6] = {5, 3, 13, 8, 1, 2};
    volatile int tries = 0;
    switch (setjmp(top)) {
    case 0:
        qsort(values, 6, sizeof values[0], compare);
        return -1;
    case 2:
        tries++;
        for (int k = 0; k < 6; k++)
            if (values[k] == 13)
                values[k] = 4;
        qsort(values, 6, sizeof values[0], compare);
        break;
    default:
        return -2;
    }
    return values[0] * 10 + values[3] + tries;
}

/* Tries again until it has been enough. */
static int retried(struct state *s)
{
    struct handler all[2];
    volatile int tries = 0;
    int limit = 4;
    for (int round = 0; round < 2; round++) {
        all[round].previous = s->handler;
        s->handler = &all[round];
        while (sigsetjmp(all[round].buffer, 0) != 0 && tries < limit * (round + 1))
            step(200 + tries);
        tries++;
        if (tries < limit * (round + 1))
            deep(s, 2 + tries % 2, &limit);
        s->handler = all[round].previous;
    }
    return tries;
}

static jmp_buf other;

static void jumps_at(int n)
{
    if (n > 1)
        longjmp(other, n);
}

/* Does not poll. */
static int plain(int n)
{
    const int result = setjmp(other);
    if (result)
        return result * 2;
    jumps_at(n);
    return -n;
}

int main(void)
{
    struct state s = {NULL, 0};
    for (int k = 0; k < 9; k++) {
        int data = k;
        const int status = run_protected(&s, nested, &data);
        step(status);
        s.depth += status + 10 * run_protected(&s, failing, &data);
    }
    int found = sorted();
    printf("%d %d %d\n", found, retried(&s), s.depth);
    for (int k = 0; k < steps; k++)
        printf("%d ", order[k]);
    printf("%d %d\n", plain(1), plain(5));
    return 0;
}
