/* Lists with pointers to members, tables of void *, matrices on the heap, ends of arrays, callbacks with contexts, arenas. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
    struct link *next, **from;
};
struct item {
    const char *name;
    struct link link;
    int weight;
};
#define ITEM(l) ((struct item *)((char *)(l)-offsetof(struct item, link)))

struct slot {
    char *key;
    void *value;
    struct slot *chain;
};
struct table {
    struct slot **slots, *last;
    size_t size, count;
    unsigned (*hash)(const char *);
};
struct arena {
    struct item items[10], *at, *end;
};

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h;
}

static struct slot *find(struct table *t, const char *key, int add)
{
    struct slot **at = &t->slots[t->hash(key) % t->size];
    for (; *at; at = &(*at)->chain)
        if (strcmp((*at)->key, key) == 0)
            return *at;
    if (!add)
        return NULL;
    *at = calloc(1, sizeof **at);
    (*at)->key = strdup(key);
    t->count++;
    return t->last = *at;
}

static void each(struct table *t, void (*visit)(struct slot *, void *), void *context)
{
    for (size_t i = 0; i < t->size; i++)
        for (struct slot *s = t->slots[i]; s; s = s->chain)
            visit(s, context);
}

static void weigh(struct slot *s, void *context)
{
    int *sum = context;
    struct item *i = s->value;
    for (const char *c = s->key; *c; c++)
        *sum += *c % 7 * i->weight;
}

static void push(struct link **list, struct link *l)
{
    while (*list && ITEM(*list)->weight < ITEM(l)->weight)
        list = &(*list)->next;
    l->next = *list;
    l->from = list;
    if (l->next)
        l->next->from = &l->next;
    *list = l;
}

static void drop(struct link *l)
{
    *l->from = l->next;
    if (l->next)
        l->next->from = l->from;
    memset(l, 0, sizeof *l);
}

static double **matrix(int rows, int columns)
{
    double **m = malloc((size_t)rows * sizeof *m);
    m[0] = calloc((size_t)(rows * columns), sizeof(double));
    for (int i = 1; i < rows; i++)
        m[i] = m[i - 1] + columns;
    return m;
}

static int by_weight(const void *a, const void *b)
{
    const struct item *const *x = a, *const *y = b;
    return (*x)->weight - (*y)->weight;
}

int main(void)
{
    static const char *const names[] = {"oak", "elm", "ash", "fir", "yew", "pine", "larch"};
    struct arena *arena = malloc(sizeof *arena);
    struct link *list = NULL;
    struct table t = {calloc(3, sizeof(struct slot *)), NULL, 3, 0, hash};
    arena->at = arena->items;
    arena->end = arena->items + sizeof arena->items / sizeof arena->items[0];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct item *item = arena->at++;
        *item = (struct item){.name = names[i], .weight = (int)(hash(names[i]) % 13)};
        push(&list, &item->link);
        find(&t, names[i], 1)->value = item;
    }
    drop(&((struct item *)find(&t, "ash", 0)->value)->link);
    int sum = 0, n = 0;
    each(&t, weigh, &sum);
    for (struct link **l = &list; *l; l = &(*l)->next)
        n = n * 3 + ITEM(*l)->weight + (*(*l)->from == *l);
    printf("%d %d %d %s %d\n", sum, n, (int)t.count, t.last->key, (int)(arena->end - arena->at));
    double **m = matrix(4, 3), *end = m[3] + 3, total = 0;
    for (double *p = m[0]; p < end; p++)
        *p = (double)(p - *m) / 4;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            total += m[i][k] * (i + k);
    struct item **sorted = malloc(arena->at - arena->items < 8 ? 8 * sizeof *sorted : sizeof *sorted);
    for (struct item *i = arena->items; i != arena->at; i++)
        sorted[i - arena->items] = i;
    qsort(sorted, 7, sizeof *sorted, by_weight);
    struct item *key = sorted[4], **found = bsearch(&key, sorted, 7, sizeof *sorted, by_weight);
    printf("%g %s %d %d\n", total, sorted[0]->name, (int)(found - sorted), find(&t, "none", 0) == NULL);
    char *text = malloc(4), *grown;
    strcpy(text, "abc");
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(text);
        grown = realloc(text, 2 * length + 1);
        for (size_t k = 0; k <= length; k++)
            grown[2 * length - k] = grown[length - k];
        text = grown;
    }
    printf("%s\n", text);
    free(text);
    free(m[0]);
    free(m);
    free(sorted);
    for (size_t i = 0; i < t.size; i++)
        for (struct slot *s = t.slots[i], *next; s; s = next) {
            next = s->chain;
            free(s->key);
            free(s);
        }
    free(t.slots);
    free(arena);
    return 0;
}
