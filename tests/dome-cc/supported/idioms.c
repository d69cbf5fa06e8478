/* Idioms: assignments in conditions, chains of else if, loops over results, macros that evaluate once, tables that are filled by
 * calls, parsers that call themselves. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree {
    char what;
    int value;
    struct tree *left, *right;
};
struct input {
    const char *text, *at;
    int line, errors;
};

static int calls;

static int next(struct input *in)
{
    while (isspace((unsigned char)*in->at))
        in->line += *in->at++ == '\n';
    calls++;
    return *in->at ? *in->at++ : EOF;
}

static int peek(struct input *in)
{
    const char *before = in->at;
    int c = next(in);
    in->at = before;
    return c;
}

static struct tree *leaf(char what, int value, struct tree *left, struct tree *right)
{
    struct tree *t = malloc(sizeof *t);
    return *t = (struct tree){what, value, left, right}, t;
}

static struct tree *sum(struct input *in);

static struct tree *factor(struct input *in)
{
    int c;
    if ((c = next(in)) == '(') {
        struct tree *t = sum(in);
        if ((c = next(in)) != ')')
            in->errors++;
        return t;
    } else if (c == '-')
        return leaf('n', 0, factor(in), NULL);
    else if (isdigit(c)) {
        int value = c - '0';
        while ((c = peek(in)) != EOF && isdigit(c))
            value = value * 10 + (next(in) - '0');
        return leaf('#', value, NULL, NULL);
    } else if (c != EOF && (calls % 2 || peek(in) == c))
        return leaf('?', c, NULL, NULL);
    else
        return in->errors++, leaf('?', 0, NULL, NULL);
}

static struct tree *product(struct input *in)
{
    struct tree *t = factor(in);
    for (int c; (c = peek(in)) == '*' || c == '/';)
        t = leaf((char)next(in), 0, t, factor(in));
    return t;
}

static struct tree *sum(struct input *in)
{
    struct tree *t = product(in);
    int c;
    while ((c = peek(in)) == '+' || c == '-')
        next(in), t = leaf((char)c, 0, t, product(in));
    return t;
}

#define MIN(a, b)                                                                                                                \
    ({                                                                                                                           \
        __typeof__(a) a_ = (a);                                                                                                  \
        __typeof__(b) b_ = (b);                                                                                                  \
        a_ < b_ ? a_ : b_;                                                                                                       \
    })
#define CHECK(x) ((x) ? (void)0 : (void)printf("%s\n", #x))

static int value_of(const struct tree *t)
{
    switch (t->what) {
    case '#':
        return t->value;
    case 'n':
        return -value_of(t->left);
    case '+':
        return value_of(t->left) + value_of(t->right);
    case '-':
        return value_of(t->left) - value_of(t->right);
    case '*':
        return value_of(t->left) * value_of(t->right);
    case '/': {
        int by;
        return (by = value_of(t->right)) ? value_of(t->left) / by : 0;
    }
    default:
        return 1;
    }
}

static int depth(const struct tree *t)
{
    int l, r;
    return !t ? 0 : (l = depth(t->left)) > (r = depth(t->right)) ? l + 1 : r + 1;
}

static char *print(char *to, const struct tree *t)
{
    if (!t || !(to = print(to, t->left)))
        return to;
    *to++ = t->what == '#' ? (char)('0' + t->value % 10) : t->what;
    return print(to, t->right);
}

static void release(struct tree *t)
{
    if (t && (release(t->left), release(t->right), 1))
        free(t);
}

int main(void)
{
    static const char *const texts[] = {"1 + 2 * (3 - 4) - -5", "7 *\n(8 + 9) / 4", "2 * ((3 +", "x", NULL};
    int values[4] = {0}, n = 0;
    char line[64], *end;
    for (const char *const *text = texts; *text; text++) {
        struct input in = {*text, *text, 1, 0};
        struct tree *t;
        if (!(t = sum(&in)) || (values[n++] = value_of(t)) > 1000)
            return 1;
        assert((end = print(line, t)) > line && end - line < 64);
        *print(line, t) = 0;
        printf("%s: %d, %d deep, line %d, %d errors\n", line, values[n - 1], depth(t), in.line, in.errors);
        int least = MIN(depth(t), MIN(value_of(t->left ? t->left : t), peek(&in))), k = 0, m = 0;
        if (({
                int d = depth(t);
                d > 1;
            }) &&
            ((k = value_of(t)) < 0 || (m = depth(t->left)) || (k = 9)))
            least += k + m;
        while (k = depth(t) - m, m++, depth(t) > m && k > 0)
            values[n - 1] += k;
        CHECK(value_of(t) == values[n - 1]);
        values[value_of(t) & 3] -= values[depth(t) & 3] += value_of(t);
        printf("%d %d\n", least, m);
        release(t);
    }
    for (int i = 0; i < n; i++)
        printf("%d ", values[i]);
    return printf("%d\n", calls) > 100;
}
