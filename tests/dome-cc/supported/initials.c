/* Initial values: nested designators, ranges, the old form, empty braces, strings in structs, compound literals with calls. */
#include <stdio.h>
#include <string.h>

struct inner {
    int a, b[3];
    struct {
        double x, y;
    } at;
};
struct outer {
    struct inner in[2], *link;
    char name[6];
    struct {
        short low, high;
    };
    const char *text;
};

static int calls;
static struct outer global = {.in[1].b[2] = 5, .in = {[0].at.y = 1.5}, .low = 3, .name = "ab", .text = &"cde"[1]};
static int spread[8] = {[1 ... 3] = 7, 8, [7] = 9}, *middle = &spread[3], *ends[2] = {spread, spread + 8};

static int f(int n)
{
    for (int i = 0; i <= n; i++)
        calls += i;
    return calls % 11;
}

static struct inner take(struct inner i, int n)
{
    while (n-- > 0)
        i.b[n % 3] += i.a + f(n);
    return i;
}

static int weigh(const struct outer *o, struct inner i)
{
    int s = 0;
    for (int k = 0; k < 3; k++)
        s = s * 3 + o->in[1].b[k] + i.b[k];
    return s + o->low + (int)strlen(o->name) + (int)(o->in[0].at.y + i.at.x);
}

int main(void)
{
    struct outer o = {
        .in = {{f(1), {f(2), [2] = f(3)}, .at = {f(4), .y = f(5)}}, {.b = {[1] = f(6)}}}, .name = "xyz", .high = (short)f(7)};
    struct outer none = {}, other = {0}, copy = o;
    struct inner old = {a : f(2), at : {y : 2.5}};
    int list[] = {f(1), [4 ... 6] = 3, f(2)}, table[][2] = {{f(1)}, {2, f(3)}, {[1] = f(4)}}, zeros[3] = {0};
    char text[] = {'a', (char)('a' + f(5)), 0}, more[8] = {"more"};
    other.link = &copy.in[f(1) % 2];
    none = (struct outer){.in[0] = take((struct inner){f(1), {1, f(2)}, {0}}, 2), .text = "literal"};
    struct inner last = (struct inner){.a = f(9)};
    last.b[0] = ((struct inner){.a = f(3), .b = {f(2)}}).a;
    for (int i = 0; i < 2; i++)
        o.in[i] = i ? take(last, f(i)) : (struct inner){.b = {[1] = i + f(i)}};
    printf("%d %d %d %d\n", weigh(&o, old), weigh(&copy, last), weigh(&none, o.in[1]), weigh(&global, global.in[1]));
    printf("%d %d %d %d %d\n", list[0] + list[5] + list[7], table[0][0] + table[1][1] + table[2][1], zeros[f(1) % 3], *middle,
           global.low);
    printf("%s %s %s %d %d\n", text, more, none.text, other.link->b[1], (int)(ends[1] - ends[0]));
    return calls % 100;
}
