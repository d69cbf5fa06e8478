/* types STEPS: struct types with and without arithmetic, one in the other, in variables and as types of vectors. */
#include <dome/dome.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
    int8_t sign;
    double a;
    int32_t b[3];
};

struct both {
    struct pair pairs[2];
    int64_t k;
};

static dome_type both;

static void add(void *z, const void *x, const void *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct pair p = ((const struct pair *)x)[i];
        const struct pair *q = (const struct pair *)y + i;
        p.a += q->a;
        for (int k = 0; k < 3; k++)
            p.b[k] += q->b[k];
        ((struct pair *)z)[i] = p;
    }
}

static void fill(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)in;
    for (size_t i = 0; i < count; i++)
        ((struct pair *)out)[i] = (struct pair){1, (double)(first + i), {(int32_t)i, 2, 3}};
}

static void wrap(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)first;
    for (size_t i = 0; i < count; i++)
        ((struct both *)out)[i] =
            (struct both){{((const struct pair *)in[0])[i], ((const struct pair *)in[0])[i]}, (int64_t)i + *(int *)ctx};
}

static void unwrap(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)first;
    for (size_t i = 0; i < count; i++)
        ((struct pair *)out)[i] = ((const struct both *)in[0])[i].pairs[1];
}

static void step(dome_env *env, dvec *x, dvec *y, dome_type pair, int k)
{
    dvec_add(x, x, y);
    dome_checkpoint(env);
    dvec *z = dvec_new(env, NULL, both, dvec_length(x));
    dvec_map(z, wrap, &k, 1, &x);
    dome_checkpoint(env);
    dvec_map(x, unwrap, NULL, 1, &z);
    dvec_free(z);
    if (dvec_type(x) != pair)
        dome_abort(env, "the type is another one");
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const dome_field of_pair[] = {{"sign", DOME_I8, offsetof(struct pair, sign), 1},
                                  {"a", DOME_F64, offsetof(struct pair, a), 1},
                                  {"b", DOME_I32, offsetof(struct pair, b), 3}};
    dome_type pair = dome_type_struct(env, "pair", sizeof(struct pair), of_pair, 3, sizeof of_pair[0]);
    const dome_field of_both[] = {{"pairs", pair, offsetof(struct both, pairs), 2}, {"k", DOME_I64, offsetof(struct both, k), 1}};
    both = dome_type_struct(env, "a type of both", sizeof(struct both), of_both, 2, sizeof of_both[0]);
    const dome_type_ops ops = {.size = sizeof ops, .add = add};
    dome_type_set_ops(env, pair, &ops);
    dvec *x = dvec_new(env, NULL, pair, 1000), *y = dvec_new_like(x, "image");
    dvec_map(x, fill, NULL, 0, NULL);
    dvec_map(y, fill, NULL, 0, NULL);
    for (int k = 0, n = argc > 1 ? atoi(argv[1]) : 5; k < n; k++) {
        struct pair sum;
        step(env, x, y, pair, k);
        dvec_sum_struct(x, &sum);
        dome_print(env, "%d: %.17g %d %d %s\n", k, sum.a, sum.b[0], sum.b[2], dome_type_name(both));
    }
    return dome_finalize(env);
}
