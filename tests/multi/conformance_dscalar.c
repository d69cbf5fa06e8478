/* The battery for distributed scalars: every type and a struct type. */
#include "conformance.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct pair {
    int8_t low;
    double high[2];
} pair;

static void set(dscalar *s, unsigned char seed)
{
    unsigned char portable[32], value[32] = {0};
    for (size_t i = 0; i < sizeof portable; i++)
        portable[i] = (unsigned char)(seed + i) & 0x3f;
    dome_type_unpack(dscalar_type(s), DOME_PORTABLE, value, portable, 1);
    dscalar_set(s, value);
}

static dome_object *make(dome_env *env, const char *name, void *ctx)
{
    dscalar *s = dscalar_new(env, name, ctx);
    if (!dome_is_restarting(env))
        set(s, 1);
    return dscalar_object(s);
}

/* The same with a value that is pending: a sum of ones, half of which another task may have. */
static dome_object *make_pending(dome_env *env, const char *name, void *ctx)
{
    dvec *x = dvec_new(env, NULL, ctx, 1000);
    dscalar *s = dscalar_new(env, name, ctx);
    dvec_fill(x, 1);
    if (!dome_is_restarting(env))
        dvec_sum_into(s, x);
    dvec_free(x);
    return dscalar_object(s);
}

static bool check_pending(dome_object *object, void *ctx)
{
    (void)ctx;
    return dscalar_get_f64(dome_object_content(object)) == 1000;
}

static void alter_pending(dome_object *object, void *ctx)
{
    dvec *x = dvec_new(dome_object_env(object), NULL, ctx, 300);
    dvec_fill(x, 1);
    dvec_sum_into(dome_object_content(object), x);
    dvec_free(x);
}

static bool check(dome_object *object, void *ctx)
{
    (void)ctx;
    dscalar *s = dome_object_content(object);
    unsigned char value[32], portable[32];
    dscalar_get(s, value);
    dome_type_pack(dscalar_type(s), DOME_PORTABLE, portable, value, 1);
    for (size_t i = 0; i < dome_type_portable_size(dscalar_type(s)); i++)
        if (portable[i] != 1 + i)
            return false;
    return true;
}

static void alter(dome_object *object, void *ctx)
{
    (void)ctx;
    set(dome_object_content(object), 2);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    const dome_field fields[] = {{"low", DOME_I8, offsetof(pair, low), 1}, {"high", DOME_F64, offsetof(pair, high), 2}};
    const dome_type types[] = {DOME_I8,
                               DOME_I16,
                               DOME_I32,
                               DOME_I64,
                               DOME_U8,
                               DOME_U16,
                               DOME_U32,
                               DOME_U64,
                               DOME_F32,
                               DOME_F64,
                               DOME_C64,
                               DOME_C128,
                               dome_type_struct(env, "pair", sizeof(pair), fields, 2, sizeof(dome_field))};
    size_t count = sizeof types / sizeof types[0];
    for (size_t t = 0; t < count; t++) {
        char what[64];
        snprintf(what, sizeof what, "dscalar, %s", dome_type_name(types[t]));
        conformance c = {.what = what, .make = make, .check = check, .alter = alter, .ctx = (void *)types[t]};
        conformance_test(env, &c, keep, t);
    }
    const dome_type pending[] = {DOME_I64, DOME_F64, DOME_C64};
    for (size_t t = 0; t < sizeof pending / sizeof pending[0]; t++) {
        char what[64];
        snprintf(what, sizeof what, "dscalar, pending, %s", dome_type_name(pending[t]));
        conformance c = {
            .what = what, .make = make_pending, .check = check_pending, .alter = alter_pending, .ctx = (void *)pending[t]};
        conformance_test(env, &c, keep, count + t);
    }
    if (keep)
        dome_checkpoint(env);
    dome_print(env, "ok conformance of dscalar: %zu types, %d tasks\n", count, dome_size(env));
    return dome_finalize(env);
}
