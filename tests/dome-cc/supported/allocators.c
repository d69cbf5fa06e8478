/* Functions that allocate for their callers, who know the type: behind pointers, one inside of the other, with polls inside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *left, *right;
    int key;
};

/* As large on all machines: its size is a value that polls save. */
struct pair {
    double first, second;
};

struct hooks {
    void *(*allocate)(size_t);
    void *(*resize)(void *, size_t);
    void (*release)(void *);
    void *(*zeros)(size_t, size_t);
};

static struct hooks hooks = {malloc, realloc, free, calloc};
static int calls;

/* With a parameter that it does not need, as in many libraries. */
typedef void *(*allocator)(void *context, void *block, size_t old, size_t size);

static void *plain_allocator(void *context, void *block, size_t old, size_t size)
{
    (void)old;
    ++*(int *)context;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

struct state {
    allocator allocate;
    void *context;
    size_t used;
};

/* Polls, and only then allocates. */
static void *slow(struct state *s, size_t size)
{
    for (int k = 0; k < 3; k++)
        s->used += size;
    void *block = s->allocate(s->context, NULL, 0, size);
    if (!block) {
        for (int k = 0; k < 3; k++)
            s->used -= size;
        block = s->allocate(s->context, NULL, 0, size);
    }
    return block;
}

static int polls(int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += k;
    return sum;
}

void *checked(size_t n)
{
    void *block = hooks.allocate(n);
    if (block == NULL) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    calls++;
    return block;
}

static void *cleared(size_t n)
{
    return memset(checked(n), 0, n);
}

static void *(*choice)(size_t) = checked;

static void *maybe(int yes, size_t n)
{
    char *bytes = NULL;
    if (yes) {
        bytes = malloc(n);
        bytes[0] = 0;
    }
    return bytes;
}

static struct node *insert(struct node *tree, int key)
{
    if (!tree) {
        tree = (struct node *)hooks.allocate(sizeof(struct node));
        tree->left = tree->right = NULL;
        tree->key = key;
    } else if (key < tree->key) {
        tree->left = insert(tree->left, key);
    } else {
        tree->right = insert(tree->right, key);
    }
    return tree;
}

static long walk(const struct node *tree, int depth)
{
    return tree ? tree->key * depth + walk(tree->left, depth + 1) + walk(tree->right, depth + 1) : 0;
}

static void destroy(struct node *tree)
{
    if (tree) {
        destroy(tree->left);
        destroy(tree->right);
        hooks.release(tree);
    }
}

int main(void)
{
    struct node *tree = NULL;
    for (int k = 0; k < 5; k++)
        tree = insert(tree, k * 7 % 5);
    /* each of another type than the one around it */
    double *numbers = cleared(sizeof(double) * (size_t)polls(4));
    struct node **list = hooks.resize(NULL, (size_t) * (short *)memset(choice(sizeof(short)), 0, 2) + 2 * sizeof *list);
    struct state s = {plain_allocator, &calls, 0};
    struct pair *spare = slow(&s, sizeof *spare);
    char *text = (char *)hooks.zeros((size_t)polls(5), 1);
    struct node *all = maybe(polls(2), 2 * sizeof *all), *none = maybe(0, sizeof *none);
    memset(all, 0, 2 * sizeof *all);
    all[1].left = all[0].right = tree;
    long *grown = NULL;
    for (int k = 0; k < 4; k++) {
        grown = hooks.resize(grown, (size_t)(k + 1) * sizeof(long));
        grown[k] = k + polls(k);
        numbers[k] = k / 2.0;
    }
    list[0] = tree->left;
    list[1] = tree;
    spare->first = 2.5;
    spare->second = 2 * spare->first;
    strcpy(text, hooks.allocate == malloc && hooks.release == free ? "as usual" : "others");
    for (int k = 0; k < 4; k++)
        calls += polls(k);
    printf("%ld %s %g %g %ld %zu %d %p\n", walk(list[1], 1) + walk(all[1].left, 2), text, numbers[3], spare->second, grown[3],
           s.used, list[1]->key + calls, (void *)none);
    s.allocate(s.context, spare, sizeof *spare, 0);
    hooks.release(list);
    hooks.release(text);
    free(grown);
    free(all);
    free(numbers);
    destroy(tree);
    return calls;
}
