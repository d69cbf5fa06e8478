extern void *malloc(unsigned long);
struct item {
    struct item *next;
    int n;
};
static int calls;

static double dot(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

static int length(const struct item *list)
{
    static int seen;
    int n = 0, counts[3];
    for (; list; list = list->next)
        counts[n++ % 3] = ++seen;
    return n ? n : counts[0];
}

int both(struct item *a, struct item *b)
{
    if (length(a) && !length(b))
        calls += length(a) * 2;
    const char *name = "both";
    do {
        struct item *n = malloc(sizeof *n);
        n->next = a;
        a = n;
        if (length(a) == 3)
            continue;
    } while (length(a) < 4);
    return (int)dot(0, 0, 0) + *name;
}
