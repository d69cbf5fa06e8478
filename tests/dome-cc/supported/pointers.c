/* Pointers to locals of callers, into arrays, to functions, to literals; a list and a tree on the heap; recursion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int key;
    struct node *left, *right, *up;
    const char *name;
};

static const char *names[] = {"zero", "one", "two", "three"};
static struct node *root;
static int inserted;

static struct node *insert(struct node **where, struct node *up, int key)
{
    if (!*where) {
        struct node *n = malloc(sizeof *n);
        n->key = key;
        n->left = n->right = NULL;
        n->up = up;
        n->name = key % 5 == 0 ? "five" : names[key % 4];
        inserted++;
        return *where = n;
    }
    return insert(key < (*where)->key ? &(*where)->left : &(*where)->right, *where, key);
}

static int walk(const struct node *n, int (*visit)(const struct node *, void *), void *data)
{
    if (!n)
        return 0;
    return walk(n->left, visit, data) + visit(n, data) + walk(n->right, visit, data);
}

static int count(const struct node *n, void *data)
{
    int *sum = data;
    for (const char *c = n->name; *c; c++)
        *sum += *c;
    return 1;
}

static int depth(const struct node *n, void *data)
{
    int d = 0;
    for (; n->up; n = n->up)
        d++;
    if (d > *(int *)data)
        *(int *)data = d;
    return d;
}

static void fill(double *a, double *end, double *best)
{
    for (double *p = a; p != end; p++) {
        *p = (double)((p - a) * 7 % 5);
        if (*p > *best)
            *best = *p;
    }
}

static void release(struct node *n)
{
    if (n) {
        release(n->left);
        release(n->right);
        free(n);
    }
}

int main(void)
{
    unsigned r = 12345;
    for (int i = 0; i < 20; i++) {
        r = r * 1103515245u + 12345u;
        insert(&root, NULL, (int)(r >> 16) % 100);
    }
    int sum = 0, deep = 0;
    int (*visits[2])(const struct node *, void *) = {count, depth};
    int n = walk(root, visits[0], &sum);
    int all = walk(root, visits[1], &deep);
    printf("%d %d %d %d %d\n", n, sum, all, deep, inserted);
    double a[17], best = -1, *heap = calloc(5, sizeof(double));
    fill(a, a + 17, &best);
    fill(heap, heap + 5, &a[3]);
    heap = realloc(heap, 9 * sizeof *heap);
    fill(heap + 5, heap + 9, &best);
    char *text = strdup("text"), *more = malloc(strlen(text) + 2);
    strcpy(more, text);
    for (char *c = more; *c; c++)
        ++*c;
    printf("%g %g %g %s %s\n", best, a[3], heap[8], text, more);
    free(text);
    free(more);
    free(heap);
    release(root);
    return 0;
}
