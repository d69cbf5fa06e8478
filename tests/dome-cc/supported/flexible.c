/* Flexible array members: of numbers, structs and pointers; grown; of length 0; what points into them. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    short length;
    char bytes[];
};
struct point {
    double x;
    struct text *label;
};
struct cloud {
    int n, room;
    struct point points[];
};
struct old {
    struct old *next;
    long long values[0];
};

/* As it was before flexible members. */
struct hack {
    int n;
    struct hack *next;
    struct point points[1];
};
struct name {
    short length;
    char bytes[1];
};

static struct text *text_new(const char *s)
{
    struct text *t = malloc(sizeof *t + strlen(s) + 1);
    t->length = (short)strlen(s);
    for (int i = 0; i <= t->length; i++)
        t->bytes[i] = s[i];
    return t;
}

static struct cloud *add(struct cloud *c, double x, const char *label)
{
    if (c->n == c->room) {
        c->room = 2 * c->room + 1;
        c = realloc(c, sizeof(struct cloud) + (size_t)c->room * sizeof(struct point));
    }
    c->points[c->n++] = (struct point){x, text_new(label)};
    return c;
}

static double sum(const struct point *from, const struct point *end)
{
    double s = 0;
    for (; from != end; from++)
        s = s * 2 + from->x + from->label->length;
    return s;
}

static struct old *push(struct old *next, int n)
{
    struct old *o = malloc(sizeof(struct old) + (size_t)n * sizeof(long long));
    o->next = next;
    for (int i = 0; i < n; i++)
        o->values[i] = (long long)i << 33 | n;
    return o;
}

/* Blocks of no bytes, and realloc as a free. */
static int none(int n)
{
    struct cloud *empty = malloc((size_t)(n - n)), *gone = malloc(sizeof *gone);
    struct text *freed = text_new("freed");
    int *numbers = malloc((size_t)n * sizeof *numbers), given = empty != NULL;
    for (int i = 0; i < n; i++)
        numbers[i] = i * i;
    numbers = realloc(numbers, (size_t)n / 2 * sizeof *numbers);
    given += numbers[n / 2 - 1];
    gone = realloc(gone, 0);
    numbers = realloc(numbers, 0);
    (void)realloc(freed, 0);
    for (int i = 0; i < n; i++)
        given += gone == NULL && numbers == NULL;
    free(empty);
    return given;
}

/* 0: too long. */
static size_t room_for(size_t bytes)
{
    if (bytes > 1000)
        return 0;
    const int room = (int)(offsetof(struct name, bytes) + bytes);
    return (size_t)room;
}

static struct name *name_new(const char *s)
{
    size_t bytes = strlen(s), all;
    all = offsetof(struct name, bytes) + bytes + 1;
    struct name *n = malloc(all);
    n->length = (short)bytes;
    for (size_t i = 0; i <= bytes; i++)
        n->bytes[i] = s[i];
    return n;
}

static struct name *name_longer(struct name *n, char more)
{
    size_t all;
    all = room_for((size_t)n->length + 2);
    struct name *longer = malloc(all);
    for (longer->length = 0; longer->length < n->length; longer->length++)
        longer->bytes[longer->length] = n->bytes[longer->length];
    longer->bytes[longer->length++] = more;
    longer->bytes[longer->length] = 0;
    free(n);
    return longer;
}

static double hacks(int n)
{
    struct hack *list = NULL, *array = calloc((size_t)n + 1, sizeof(struct hack)), one = {.n = 1};
    struct name *name = name_new("a longer name"), *none = name_new("");
    struct point *last = &one.points[0];
    double total = 0;
    for (int k = 0; k < n; k++)
        name = name_longer(name, (char)('0' + k));
    for (int k = 0; k < n; k++) {
        struct hack *h = malloc(sizeof *h + (size_t)k * sizeof(struct point));
        h->n = k + 1;
        h->next = list;
        list = h;
        for (int i = 0; i <= k; i++)
            h->points[i] = (struct point){i / 2.0, text_new(name->bytes + i)};
        array[k].points[0] = h->points[k];
        array[k].next = k ? &array[k - 1] : NULL;
        last->x += h->points[k].x;
        last = &h->points[k];
    }
    for (struct hack *h = list; h; h = h->next)
        for (int i = 0; i < h->n; i++)
            total += h->points[i].x * h->points[i].label->length + h->points[i].label->bytes[0];
    for (struct hack *h = &array[n - 1]; h; h = h->next)
        total = total / 2 + h->points[0].x + name->bytes[h->points[0].label->length] + none->bytes[0];
    return total + last->x + one.points[0].x;
}

/* A block of no bytes and no type gets the type of its content. */
static struct text **content_new(void)
{
    void *nothing = malloc(0);
    struct text **content = realloc(nothing, 2 * sizeof *content);
    content[0] = content[1] = text_new("late");
    return content;
}

int main(void)
{
    struct text **content = content_new();
    printf("%g\n", hacks(6));
    printf("%d\n", none(8));
    struct cloud *c = calloc(1, sizeof *c);
    const char *names[] = {"one", "", "three", "four"};
    for (int i = 0; i < 7; i++)
        c = add(c, i / 4.0, names[i % 4]);
    struct point *middle = &c->points[3], *end = c->points + c->n;
    const char *inside = &middle->label->bytes[2];
    struct old *list = NULL;
    for (int i = 0; i < 5; i++)
        list = push(list, i + 1);
    long long *third = list->next->values + 1, total = 0;
    printf("%g %g\n", sum(c->points, middle), sum(middle, end));
    for (struct old *o = list; o; o = o->next)
        total += o->next ? o->next->values[0] + *third : 7;
    printf("%lld %s %d\n", total % 1000003, inside, c->room);
    while (list) {
        struct old *next = list->next;
        free(list);
        list = next;
    }
    for (int i = 0; i < c->n; i++)
        free(c->points[i].label);
    free(c);
    printf("%s\n", content[1]->bytes);
    free(content[0]);
    free(content);
    return 0;
}
