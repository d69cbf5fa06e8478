/* What a function still needs where it is saved: variables that are read later on some way, over loops, cases, labels and early
 * ends; not those that get another value first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int spin(int n)
{
    int s = n;
    while (n-- > 0)
        s = s * 31 + n;
    return s & 63;
}

static int over_loops(int a, int b, int c)
{
    int first = spin(a), last = 0, kept = a * 3, each = 5;
    for (int i = 0; i < 3; i++) {
        int inner = kept + i;
        last = each + spin(inner & 3);
        each = last * 2; /* read in the next iteration */
        if (last > 1000)
            break;
        do {
            inner -= spin(1) + 1;
            if (inner == 7)
                continue;
            b++;
        } while (inner > 0 && b < 40);
    }
    return first + last + b + (c ? kept : spin(c));
}

static int cases(int n, const char *text)
{
    int a = 1, b = 2, c = 3, d = 4;
    switch (n % 5) {
    case 0:
        a = spin(2);
        /* falls through */
    case 1:
        b += a + spin(1);
        break;
    case 2:
        for (c = 0; c < 3; c++) {
        case 3:
            d += c + spin(c & 1);
        }
        break;
    default:
        return d + spin(3) + (int)strlen(text);
    }
    return a * 1000 + b * 100 + c * 10 + d;
}

static int labels(int n)
{
    int back = 0, forth = n, sum = 0;
again:
    sum += forth + spin(back & 1);
    if (back++ < n)
        goto again;
    forth = spin(2);
    if (sum & 1)
        goto out;
    sum += forth * back;
    spin(1);
out:
    return sum + back;
}

static int choices(int n, int *where)
{
    int x = n, y = n + 1, *p = where, *q = &where[1];
    x = n > 2 ? spin(x) + y : (y = spin(y), x + y);
    if ((n & 1 && spin(*p)) || (y > 3 && spin(*q) > 5))
        p = q;
    q = NULL;
    x += ({
        int z = spin(n) + y;
        for (int k = 0; k < 2; k++)
            z += spin(k);
        z;
    });
    return x + y + *p + !q;
}

static struct pair {
    int a, *p;
} both(int n)
{
    struct pair one = {n, NULL}, two = {spin(n), NULL};
    one.a += spin(two.a & 3);
    two = one;
    one.a = spin(1);
    return two.a & 1 ? two : one;
}

static long blocks(int n)
{
    char *text = malloc(10), *end = text + 9;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        char *other = malloc(20);
        sprintf(other, "%d", spin(i));
        sum += other[0];
        free(other); /* leads nowhere where the next iteration polls */
        sum += spin(2);
    }
    strcpy(text, "block");
    sum += end - text + spin(1) + text[0];
    free(text);
    for (int i = 0; i < n; i++)
        sum += spin(i);
    text = end = NULL;
    return sum + spin(3) + (text == end);
}

static int recursive(int n, int *own)
{
    int mine[3] = {n, n + 1, n + 2}, *at = mine + n % 3, sum = *own;
    if (n > 0) {
        int scoped[2] = {spin(n & 1), 2}, *in = scoped;
        sum += recursive(n - 1, in) + in[1];
    }
    {
        int later[2] = {sum, *at};
        sum += spin(1) + later[0] + later[1];
    }
    return sum + *at;
}

int main(void)
{
    int numbers[2] = {3, 4};
    for (int i = 0; i < 5; i++) {
        struct pair p = both(i);
        printf("%d %d %d %d %d %ld\n", over_loops(i, i * 2, i & 1), cases(i, "text"), labels(i), choices(i, numbers), p.a,
               blocks(i));
    }
    printf("%d\n", recursive(3, numbers));
    return 0;
}
