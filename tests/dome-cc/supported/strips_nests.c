/* Nests of which the inner loops show how long they are when they begin: rows that are empty, short, long and of negative length;
 * several inner loops, one behind a condition, one inside another's row; left and continued; counters that are read afterwards.
 */
#include <stdio.h>
#include <stdlib.h>

struct rows {
    int n;
    int *begin, *end;
    unsigned *value;
};

enum { ROWS = 4000, VALUES = 300000 };

static void fill(struct rows *r)
{
    unsigned state = 11;
    r->n = ROWS;
    r->begin = malloc(ROWS * sizeof(int));
    r->end = malloc(ROWS * sizeof(int));
    r->value = malloc(VALUES * sizeof(unsigned));
    if (!r->begin || !r->end || !r->value)
        exit(1);
    for (int i = 0; i < VALUES; i++) {
        state = state * 1664525u + 1013904223u;
        r->value[i] = state >> 9;
    }
    for (int i = 0; i < ROWS; i++) {
        state = state * 1664525u + 1013904223u;
        int length = i % 7 == 3 ? 0 : i % 501 == 77 ? 150000 : i % 97 == 5 ? 2500 : i % 41 == 1 ? -3 : (int)(state >> 28);
        r->begin[i] = 3 + (int)(state >> 16) % 1000;
        r->end[i] = r->begin[i] + length;
    }
}

/* One inner loop, as a sparse matrix has. */
static void sums(const struct rows *r, unsigned *out)
{
    const int n = r->n;
    for (int i = 0; i < n; i++) {
        unsigned s = (unsigned)i;
        for (int k = r->begin[i]; k < r->end[i]; k++)
            s = s * 3 + r->value[k];
        out[i] = s;
    }
}

/* Two, of which one is behind a condition and counts down; what they count is read afterwards. */
static unsigned two(const struct rows *r, unsigned *out)
{
    unsigned seen = 0;
    int k, j = 5, n = r->n;
    for (int i = 0; i < n; i++) {
        if (i % 13 == 0)
            continue;
        const int begin = r->begin[i], end = r->end[i];
        for (k = begin; k < end; k += 2) {
            if (r->value[k] % 5 == 0)
                continue;
            out[i] += r->value[k];
        }
        seen = seen * 7 + (unsigned)k;
        if (out[i] & 1) {
            for (j = end - 1; j >= begin; --j)
                if (r->value[j] % 1013 == 1)
                    break;
        } else {
            unsigned x = out[i];
            for (int more = begin; more < end; more++)
                x ^= r->value[more] >> (more & 3);
            out[i] = x;
        }
        seen += (unsigned)j;
        if (seen % 3571 == 8)
            break;
    }
    return seen;
}

/* Rows of rows: the innermost pair is checked, what is around it polls as ever. */
static unsigned inside(const struct rows *r)
{
    static unsigned calls;
    unsigned s = 0;
    for (int g = 0; g < r->n; g += 400) {
        for (int i = g + r->begin[g] % 5; i < g + 40 + g % 7; i++) {
            calls++;
            for (int k = r->begin[i]; k < r->end[i]; k++)
                s = (s << 1 ^ r->value[k]) + (s >> 31);
        }
        s += calls;
    }
    return s;
}

/* Counted to INT_MAX, and from beyond its end: what is subtracted there wraps. */
static unsigned edges(int from, int to, const int *starts)
{
    unsigned s = 0;
    for (int i = from; i < to; i++) {
        const int start = starts[i & 3], top = 2147483647 - (i & 1);
        int k;
        for (k = start; k < top; k++)
            s = s * 5 + (unsigned)k;
        s ^= (unsigned)k;
        for (k = -start; k >= -2147483647; k--)
            s = s * 5 + (unsigned)k;
        s ^= (unsigned)k;
    }
    return s;
}

int main(void)
{
    struct rows r;
    unsigned *out = calloc(ROWS, sizeof *out), all = 0;
    const int starts[4] = {2147483640, 2147483647, 2147483000, 2147483600};
    if (!out)
        return 1;
    fill(&r);
    for (int round = 0; round < 2; round++) {
        sums(&r, out);
        all = all * 31 + two(&r, out);
        for (int i = 0; i < r.n; i++)
            all = all * 31 + out[i];
        printf("%u %u\n", all, inside(&r));
    }
    printf("%u\n", edges(0, 90, starts));
    return 0;
}
