#include <stdatomic.h>
#include <stdlib.h>

union number {
    int i;
    double f;
};
struct packed {
    unsigned a : 3, b : 5;
};
struct holder {
    int n;
    union number value;
};

union number both;                 // REFUSED: the variable both cannot be saved: it contains a union (union number)
static long double precise;        // REFUSED: a long double
static struct packed bits[4];      // REFUSED: a bit-field (a of struct packed)
_Thread_local int mine;            // REFUSED: the variable mine belongs to a thread
int *anonymous = (int[]){1, 2};    // REFUSED: the address of an object without a name
int *part = &(struct holder){3}.n; // REFUSED: the address of an object without a name
int *element = &(int[]){1, 2}[1];  // REFUSED: the address of an object without a name
char *inside = (struct { char text[4]; }){"a"}.text; // REFUSED: the address of an object without a name

static int *spares;
static void *any(size_t n)
{
    if (spares)
        return spares;
    return malloc(n); // REFUSED: malloc: of which type is this block? If those who call any know it, write #pragma dome allocates
                      // before any
}

#pragma dome hold // REFUSED: no definition of a function follows
extern int elsewhere_too(int n);

struct tagged {
    int tag;
#pragma dome union tag : 1 = i, MACRO = f
    union number value;
};
static struct tagged by_macro; // REFUSED: MACRO is neither a number nor an enumerator
struct untagged {
    int n;
#pragma dome union kind : 1 = i
    union number value;
};
static struct untagged by_nothing; // REFUSED: the struct around the union has no member kind
struct wrong {
    int tag;
#pragma dome union tag : 1 = i, 2 = g
    union number value;
};
static struct wrong no_member; // REFUSED: the union has no member g
struct twice {
    int tag;
#pragma dome union tag : 1 = i, 1 = f
    union number value;
};
static struct twice two_values; // REFUSED: 1 is there twice
union bytes {
    int i;
    unsigned char bytes[4];
};
static union bytes by_bytes;   // REFUSED: a union (union bytes)
#pragma dome union tag : 1 = i // REFUSED: no union that is a member of a struct follows
static int plain;

#pragma dome allocates
static int *typed(size_t n) // REFUSED: typed does not return a void *
{
    return malloc(n);
}
#pragma dome allocates
void *elsewhere(size_t n); // REFUSED: elsewhere is in none of these files
#pragma dome allocates
static void *good(size_t n)
{
    return malloc(n);
}
static void *(*pointer)(size_t) = good;
static void *kept;
void argument(void *(*allocate)(size_t));
static void keep_it(size_t n)
{
    void *a = malloc(n), *b = malloc(n); // REFUSED: malloc: of which type is this block?
    *(int *)a = *(long *)a;
    kept = b;
    void *c = good(n); // REFUSED: good: of which type is this block?
    free(c);
    kept = pointer(n); // REFUSED: a call by a pointer that may lead to a function that allocates: of which type is this block?
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
    int *r = reallocarray(NULL, 4, 4);        // REFUSED: reallocarray: the block would have no type
    int *p = keep((int[]){1, 2});             // REFUSED: the address of an object without a name, and the function may poll
    int *q = keep(&(struct holder){3}.n);     // REFUSED: the address of an object without a name, and the function may poll
    argument(good);                           // REFUSED: good allocates, and what is not translated would call it
    return *r + h->n + bits[0].a + (int)precise + both.i + (a == any(1)) + *p + *q + by_macro.tag + by_nothing.n + no_member.tag +
           two_values.tag + by_bytes.i + plain + *typed(1) + (elsewhere(2) == kept) + (keep_it(3), 0) + *anonymous + *part +
           *element + *inside + mine;
}
