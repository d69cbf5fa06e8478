/* Bounds in memory that a loop changes: as another member of a union without a name, and by builtins that get their address. */
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

int main(void)
{
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
    printf("%ld %ld %d\n", turns, left, exponent);
    return 0;
}
