/* The battery for the structure that docs/adding-a-structure.md explains: lists, of several numbers of lists. */
#include "conformance.h"
#include "structure_lists.h"

#include <stdio.h>
#include <string.h>

/* List i has i % 5 values; the first lists are longer, so that blocks differ. */
static size_t length(size_t i)
{
    return i < 8 ? 40 - i : i % 5;
}

static double value(size_t i, size_t k)
{
    return (double)i + 1 / (double)(k + 1);
}

static void push(dome_env *env, lists *l, size_t i, double x)
{
    if (lists_push(l, i, x) != DOME_OK)
        dome_abort(env, "no value can be put into list %zu", i);
}

static dome_object *make(dome_env *env, const char *name, void *ctx)
{
    lists *l = lists_new(env, name, *(const size_t *)ctx);
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    for (int s = 0; s < nspans && !dome_is_restarting(env); s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            for (size_t k = 0; k < length(i); k++)
                push(env, l, i, value(i, k));
    return lists_object(l);
}

static bool check(dome_object *object, void *ctx)
{
    const lists *l = dome_object_content(object);
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    (void)ctx;
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            size_t count;
            const double *values = lists_values(l, i, &count);
            if (count != length(i))
                return false;
            for (size_t k = 0; k < count; k++)
                if (values[k] != value(i, k))
                    return false;
        }
    return true;
}

/* One more value for every list. */
static void alter(dome_object *object, void *ctx)
{
    lists *l = dome_object_content(object);
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    (void)ctx;
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            push(dome_object_env(object), l, i, 0.5);
}

/* For each of the lengths: ten thousand. */
enum { LAYOUTS = 1250 };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    size_t lengths[] = {0, 1, 2, 7, 255, 256, 1000, 3000}, count = sizeof lengths / sizeof lengths[0];
    for (size_t t = 0; t < count; t++) {
        char what[64];
        snprintf(what, sizeof what, "%zu lists", lengths[t]);
        conformance c = {.what = what, .make = make, .check = check, .alter = alter, .ctx = &lengths[t], .layouts = LAYOUTS};
        if (keep)
            conformance_keep(env, &c);
        else
            conformance_run(env, &c, t);
    }
    if (keep)
        dome_checkpoint(env);
    dome_print(env, "ok conformance of lists: %zu lengths, %d tasks\n", count, dome_size(env));
    return dome_finalize(env);
}
