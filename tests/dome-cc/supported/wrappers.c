/* Blocks whose type the caller of a function knows, and blocks whose type is given where they are first used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    double weight;
    int id;
};

#pragma dome allocates
void *checked_malloc(size_t n);
#pragma dome allocates
static void *zeros(size_t count, size_t size);
#pragma dome allocates
static void *grown(void *block, size_t n);

static int allocations;

void *checked_malloc(size_t n)
{
    void *block = malloc(n ? n : 1);
    if (!block) {
        fprintf(stderr, "no memory for %zu bytes\n", n);
        exit(1);
    }
    allocations++;
    return block;
}

static void *zeros(size_t count, size_t size)
{
    return memset(checked_malloc(count * size), 0, count * size);
}

static void *grown(void *block, size_t n)
{
    void *more = realloc(block, n);
    if (!more)
        abort();
    return more;
}

#pragma dome allocates
static void *spare(void)
{
    return calloc(1, 64);
}

static char *copied(const char *text)
{
    char *copy = checked_malloc(strlen(text) + 1);
    return strcpy(copy, text);
}

static struct node *push(struct node *list, int id)
{
    void *block = malloc(sizeof(struct node) * 2); /* and one that is not used */
    if (block == NULL)
        return NULL;
    memset(block, 0, 2 * sizeof(struct node));
    struct node *n = block;
    n->next = list;
    n->id = id;
    return n;
}

static double *numbers(int n)
{
    void *raw;
    raw = malloc((size_t)n * 8);
    for (int k = 0; k < n; k++)
        ((double *)raw)[k] = k / 4.0;
    double *all = raw;
    return all;
}

int main(void)
{
    struct node *list = NULL, *more = zeros(3, sizeof *more);
    for (int k = 0; k < 6; k++)
        list = push(list, k);
    char *text = copied("some text");
    struct node **index = checked_malloc(sizeof *index);
    int count = 0;
    double *values = numbers(9), total = 0;
    for (struct node *n = list; n; n = n->next) {
        index = grown(index, (size_t)(count + 1) * sizeof *index);
        index[count++] = n;
        n->weight = values[n->id];
    }
    long long *words = spare();
    struct node **again = (struct node **)checked_malloc((size_t)count * sizeof(struct node *));
    for (int k = 0; k < count; k++) {
        again[k] = index[count - 1 - k];
        words[k] = again[k]->id;
        total += again[k]->weight * (k + 1) + (double)words[k];
        more[k % 3].next = again[k];
    }
    printf("%g %s %d %d %d\n", total, text, allocations, again[0]->id, more[1].next->id);
    for (int k = 0; k < count; k++)
        free(index[k]);
    free(index);
    free(again);
    free(more);
    free(words);
    free(text);
    free(values);
    return 0;
}
