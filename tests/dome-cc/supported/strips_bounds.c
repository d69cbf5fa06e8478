/* Bounds in memory that a loop changes: as another member of a union without a name, and by builtins that get their address; by
 * functions that are called, also ones that call each other, and not by those that write other kinds. */
#include <stdio.h>

static struct {
    int kind;
    union {
        float real;
        int count;
    };
} value, *at = &value;

static long left = 100000;
static int exponent = 100000;

struct row {
    int length;
    double *numbers;
};

static double taken(const struct row *r, int k)
{
    return r->numbers[k % 10];
}

static void put(struct row *r, int k, double x)
{
    r->numbers[k % 10] = x;
}

static void shorten(struct row *r, int k);

static void shorten_odd(struct row *r, int k)
{
    if (k > 2)
        shorten(r, k / 2);
    else
        r->length--;
}

static void shorten(struct row *r, int k)
{
    shorten_odd(r, k);
}

static void shorten_twice(int *length)
{
    *length -= 2;
}

int main(void)
{
    double numbers[10] = {0};
    struct row row = {100000, numbers}, *r = &row;
    long turns = 0;
    value.count = 100000;
    for (int i = 0; i < at->count; i++, turns++)
        at->real = 7e-44f;
    for (long i = 0; i < left; i++, turns++)
        turns += __builtin_sub_overflow(left, 1, &left);
    for (long i = 0; i < left; i++, turns++)
        __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < exponent; i++, turns++)
        turns += (long)__builtin_frexp(1024.0 + i, &exponent);
    for (int i = 0; i < r->length; i++, turns++)
        put(r, i, taken(r, i + 1) + 1);
    for (int i = 0; i < r->length; i++, turns++)
        shorten_twice(&r->length);
    r->length = 20;
    for (int i = 0; i < r->length; i++, turns++)
        shorten(r, i);
    printf("%ld %ld %d %d %.0f\n", turns, left, exponent, row.length, numbers[3]);
    return 0;
}
