/* Unions: by a tag, with and without a name, in one another, in arrays of structs, in locals; those whose members have one form.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, REAL, TEXT, PAIR, NOTHING };

struct value {
    enum kind kind;
#pragma dome union kind : NUMBER = number, REAL = real, TEXT = text, PAIR = pair
    union {
        long number;
        double real;
        char *text;
        struct {
            struct value *first, *second;
            short weights[3];
        } pair;
    } is;
    struct value *next;
};

/* The union has no name, the tag has other bits, and stands behind it; a union in a union. */
struct shape {
#pragma dome union head.flags & 3 : 0 = radius, 1 = corners, 2 3 = other
    union {
        double radius;
        float corners[4][2];
        struct {
            char tag;
#pragma dome union tag : 'c' = code, default = inner
            union {
                short code;
                const struct shape *inner;
            };
        } other;
        void *never;
    };
    struct {
        unsigned char flags;
    } head;
};

/* These hold the same whichever member is written. */
union bits {
    float real;
    uint32_t word;
    enum kind kind;
};
union vector {
    double at[3];
    struct {
        double x, y, z;
    } named;
    double first;
};
union any {
    void *nothing;
    char *text;
    struct value *value;
};
struct mixed {
    int n;
    union bits bits[2];
    union {
        int64_t wide;
        double real;
    };
    union any any;
    union vector vector;
};

typedef union {
    int i;
    double d;
} number;

/* These begin alike, with a union and its tag. */
struct start {
    short tag;
#pragma dome union tag : 1 = i, 2 = text
    union {
        int i;
        const char *text;
    } is;
};
union node {
    struct start value;
    struct {
        struct start value;
        int next;
    } linked;
};
#define DO(...)    _Pragma(#__VA_ARGS__)
#define UNION(...) DO(dome union __VA_ARGS__)
#define INTEGER    'i'
#define FLOATING   100
struct tagged {
    char tag;
    UNION(tag : INTEGER = i, FLOATING = d)
    number n;
};

typedef struct {
    enum { WHOLE, PART } which;
#pragma dome union which : WHOLE = n, PART = f
    union {
        unsigned long n;
        float f;
    };
    unsigned char unused;
} amount;

static struct value *list;
static struct tagged table[3] = {{'i', {.i = 1}}, {'d', {.d = 2.5}}, {'x', {.i = 3}}};
static union vector center = {{1, 2, 3}};

static struct value *make(enum kind kind, int n)
{
    struct value *v = calloc(1, sizeof *v);
    v->kind = kind;
    v->next = list;
    list = v;
    switch (kind) {
    case NUMBER:
        v->is.number = -n;
        break;
    case REAL:
        v->is.real = n / 8.0;
        break;
    case TEXT:
        v->is.text = malloc(8);
        snprintf(v->is.text, 8, "%d", n * n);
        break;
    case PAIR:
        v->is.pair.first = v;
        v->is.pair.second = v->next;
        for (int k = 0; k < 3; k++)
            v->is.pair.weights[k] = (short)(n - k);
        break;
    default:
        break;
    }
    return v;
}

static double sum(const struct value *v)
{
    double s = 0;
    for (; v; v = v->next)
        switch (v->kind) {
        case NUMBER:
            s += (double)v->is.number;
            break;
        case REAL:
            s += v->is.real;
            break;
        case TEXT:
            s += atoi(v->is.text);
            break;
        case PAIR:
            s += v->is.pair.weights[0] * 100 + v->is.pair.weights[2] + (v->is.pair.first == v) +
                 (v->is.pair.second ? (double)v->is.pair.second->kind : 0.5);
            break;
        default:
            s += 1000;
        }
    return s;
}

static double area(const struct shape *s)
{
    double a = 0;
    switch (s->head.flags & 3) {
    case 0:
        return s->radius * s->radius;
    case 1:
        for (int k = 0; k < 4; k++)
            a += s->corners[k][0] * s->corners[k][1];
        return a;
    default:
        return s->other.tag == 'c' ? s->other.code : 1 + area(s->other.inner);
    }
}

static int follow(short *weight, int n)
{
    int s = 0;
    for (int k = 0; k < n; k++) {
        *weight = (short)(*weight + k); /* a pointer into a member of a union on the heap */
        s += *weight;
    }
    return s;
}

static double convert(amount *amounts, int n)
{
    struct step {
        int to;
#pragma dome union to : 1 = from, 2 = at
        union {
            amount *from;
            double at;
        } where;
    } step = {1, {.from = amounts}}, last = step;
    double sum = 0;
    for (int k = 0; k < n; k++) {
        amount *a = step.to == 1 ? step.where.from : last.where.from;
        sum += a->which == WHOLE ? (double)a->n : (double)a->f;
        a->which = a->which == WHOLE ? PART : WHOLE;
        if (a->which == WHOLE)
            a->n = (unsigned long)k << 20;
        else
            a->f = (float)k / 8;
        last.where.from = amounts + k % 3;
        step.to = 3 - step.to;
        if (step.to == 1)
            step.where.from = amounts + (k + 1) % 3;
        else
            step.where.at = sum;
    }
    return sum + (step.to == 2 ? step.where.at : 0.5);
}

static int walk(int n)
{
    union node *nodes = malloc((size_t)n * sizeof *nodes), first = {{2, {.text = "first"}}};
    int found = 0;
    for (int k = 0; k < n; k++) {
        nodes[k].linked.next = k - 1;
        nodes[k].value.tag = (short)(1 + k % 2);
        if (k % 2)
            nodes[k].value.is.text = k % 3 ? first.value.is.text : "other";
        else
            nodes[k].value.is.i = k * k;
    }
    for (int k = n - 1; k >= 0; k = nodes[k].linked.next)
        found = found * 3 + (nodes[k].value.tag == 1 ? nodes[k].value.is.i : nodes[k].value.is.text[0]) + first.value.tag;
    free(nodes);
    return found;
}

int main(void)
{
    struct shape shapes[5] = {{.radius = 3, .head = {4}}, {.corners = {{1, 2}, {3, 4}}, .head = {1}}};
    struct tagged one = {'d', {.d = 0.125}};
    union bits bits = {.real = 1.5f};
    struct value *pair = NULL;
    for (int n = 0; n < 11; n++) {
        struct value *v = make((enum kind)(n % 5), n);
        if (v->kind == PAIR)
            pair = v;
    }
    shapes[2].head.flags = 2;
    shapes[2].other.tag = 'c';
    shapes[2].other.code = -7;
    shapes[3].head.flags = 3;
    shapes[3].other.tag = '-';
    shapes[3].other.inner = &shapes[1];
    shapes[4].head.flags = 7;
    shapes[4].other.inner = &shapes[3];
    struct mixed *m = malloc(2 * sizeof *m);
    memset(m, 0, 2 * sizeof *m);
    m[1].bits[0].real = -0.75f;
    m[1].bits[1].kind = PAIR;
    m[1].real = 1e300;
    m[0].wide = -5;
    m[1].any.value = pair;
    m[0].any.text = (char *)&m[1].vector;
    m[1].vector.named.z = 6;
    double *z = &m[1].vector.at[2], total = 0;
    for (int k = 0; k < 5; k++) {
        total += area(&shapes[k]) + sum(list);
        *z += k;
        one.n.d *= 2;
        bits.real *= 2;
        center.named.y += center.first;
        table[k % 3].tag = k % 2 ? 'i' : 'd';
        if (k % 2)
            table[k % 3].n.i = k;
        else
            table[k % 3].n.d = k / 2.0;
    }
    printf("%g %d %g %x %g\n", total, follow(&pair->is.pair.weights[1], 5), one.n.d, bits.word, center.at[1]);
    printf("%d %g %g %x %u\n", table[0].n.i, table[1].n.d, table[2].n.d, m[1].bits[0].word, (unsigned)m[1].bits[1].kind);
    printf("%g %lld %d %d %g\n", m[1].real, (long long)m[0].wide, m[1].any.value == pair, m[0].any.text == (char *)m[1].vector.at,
           m[1].vector.named.z);
    amount amounts[3] = {{WHOLE, {7}, 0}, {PART, {.f = 2.5f}, 0}, {WHOLE, {9}, 1}};
    printf("%g %d\n", convert(amounts, 13), amounts[2].unused);
    printf("%d\n", walk(7));
    return 0;
}
