#include <stdatomic.h>
#include <stdlib.h>

union number {
    int i;
    float f;
};
struct packed {
    unsigned a : 3, b : 5;
};
struct holder {
    int n;
    union number value;
};

union number both;              // REFUSED: the variable both cannot be saved: it contains a union (union number)
static long double precise;     // REFUSED: a long double
static struct packed bits[4];   // REFUSED: a bit-field (a of struct packed)
_Thread_local int mine;         // REFUSED: the variable mine belongs to a thread
int *anonymous = (int[]){1, 2}; // REFUSED: the address of an object without a name

static void *any(size_t n)
{
    return malloc(n); // REFUSED: malloc: of which type is this block?
}

static int *keep(int *p)
{
    while (*p > 10)
        --*p;
    return p;
}

int main(void)
{
    struct holder *h = malloc(3 * sizeof *h); // REFUSED: a block of the heap cannot be saved: it contains a union
    void *a = aligned_alloc(64, 640);         // REFUSED: aligned_alloc
    int *p = keep((int[]){1, 2});             // REFUSED: the address of an object without a name, and the function may poll
    void *(*get)(size_t) = malloc;            // REFUSED: the address of malloc
    return h->n + bits[0].a + (int)precise + both.i + (a == any(1)) + *p + (get != NULL) + *anonymous + mine;
}
