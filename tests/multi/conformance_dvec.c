/* The battery for distributed vectors: every type, struct types included, all distributions, widths, lengths. */
#include "conformance.h"
#include "mixed_formats.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct inner {
    int16_t a;
    float b[3];
} inner;

typedef struct outer {
    uint8_t tag;
    inner in[2];
    double _Complex z;
    int64_t big;
} outer;

static dome_type outer_type(dome_env *env)
{
    const dome_field inner_fields[] = {{"a", DOME_I16, offsetof(inner, a), 1}, {"b", DOME_F32, offsetof(inner, b), 3}};
    dome_type in = dome_type_struct(env, "inner", sizeof(inner), inner_fields, 2, sizeof(dome_field));
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(outer, tag), 1},
                                 {"in", in, offsetof(outer, in), 2},
                                 {"z", DOME_C128, offsetof(outer, z), 1},
                                 {"big", DOME_I64, offsetof(outer, big), 1}};
    return dome_type_struct(env, "outer", sizeof(outer), fields, 4, sizeof(dome_field));
}

/* A type that computes. */
typedef struct counted {
    int32_t count;
    double total;
} counted;

static void add_counted(void *z, const void *x, const void *y, size_t n)
{
    const counted *a = x, *b = y;
    for (size_t k = 0; k < n; k++)
        ((counted *)z)[k] = (counted){a[k].count + b[k].count, a[k].total + b[k].total};
}

static dome_type counted_type(dome_env *env)
{
    const dome_field fields[] = {{"count", DOME_I32, offsetof(counted, count), 1},
                                 {"total", DOME_F64, offsetof(counted, total), 1}};
    dome_type type = dome_type_struct(env, "counted", sizeof(counted), fields, 2, sizeof(dome_field));
    dome_type_set_ops(env, type, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = add_counted});
    return type;
}

typedef struct shape {
    dome_type type;
    size_t n;
    dvec_options options;
} shape;

/* Value number p, by its portable bytes: those are the same on every machine. Floating point must not become a NaN, whose
 * payload a register may change. */
static void value_at(dome_type type, uint64_t p, void *value)
{
    unsigned char portable[256];
    size_t bytes = dome_type_portable_size(type);
    for (size_t i = 0; i < bytes; i++)
        portable[i] = (unsigned char)((p * 2654435761u >> (8 * (i % 4))) + i * 37 + 1) & 0x3f;
    dome_type_unpack(type, DOME_PORTABLE, value, portable, 1);
}

static void fill(dvec *x)
{
    dvec_span spans[2];
    size_t size = dome_type_size(dvec_type(x)), width = dvec_width(x);
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++)
        for (size_t v = 0; v < spans[s].count * width; v++)
            value_at(dvec_type(x), spans[s].first * width + v, (char *)spans[s].data + v * size);
}

static dome_object *make(dome_env *env, const char *name, void *ctx)
{
    const shape *shape = ctx;
    dvec *x = dvec_new_with(env, name, shape->type, shape->n, &shape->options);
    if (!dome_is_restarting(env))
        fill(x);
    return dvec_object(x);
}

/* By portable bytes, since padding is not content. */
static bool check(dome_object *object, void *ctx)
{
    (void)ctx;
    dvec *x = dome_object_content(object);
    dvec_span spans[2];
    dome_type type = dvec_type(x);
    size_t size = dome_type_size(type), bytes = dome_type_portable_size(type), width = dvec_width(x);
    dvec_local_spans_const(x, spans);
    for (int s = 0; s < 2; s++) {
        for (size_t v = 0; v < spans[s].count * width; v++) {
            unsigned char is[256], expected[256], value[256] = {0};
            value_at(type, spans[s].first * width + v, value);
            dome_type_pack(type, DOME_PORTABLE, expected, value, 1);
            dome_type_pack(type, DOME_PORTABLE, is, (char *)spans[s].data + v * size, 1);
            if (memcmp(is, expected, bytes) != 0)
                return false;
        }
    }
    return true;
}

/* Changes every value to the next one of the pattern. */
static void alter(dome_object *object, void *ctx)
{
    (void)ctx;
    dvec *x = dome_object_content(object);
    dvec_span spans[2];
    size_t size = dome_type_size(dvec_type(x)), width = dvec_width(x);
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++)
        for (size_t v = 0; v < spans[s].count * width; v++)
            value_at(dvec_type(x), spans[s].first * width + v + 1, (char *)spans[s].data + v * size);
}

/* The same, but by an operation that is only recorded until sync. */
static void alter_deferred(dome_object *object, void *ctx)
{
    (void)ctx;
    dvec *x = dome_object_content(object);
    if (dome_type_kind_of(dvec_type(x)) == DOME_KIND_STRUCT)
        dvec_add(x, x, x);
    else
        dvec_adds(x, x, 1);
}

static const char *const distributions[] = {"dynamic", "block", "whole"};

/* For each of some ninety dynamic kinds: ten thousand. */
enum { LAYOUTS = 110 };

static void run(dome_env *env, const shape *shape, bool deferred, bool keep, uint64_t seed)
{
    char what[160];
    snprintf(what, sizeof what, "dvec, %s, length %zu, width %zu, block %zu, %s%s", dome_type_name(shape->type), shape->n,
             shape->options.width, shape->options.block, distributions[shape->options.distribution],
             deferred ? ", altered by deferred work" : "");
    conformance c = {.what = what,
                     .make = make,
                     .check = check,
                     .alter = deferred ? alter_deferred : alter,
                     .ctx = (void *)shape,
                     .layouts = LAYOUTS};
    conformance_test(env, &c, keep, seed);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8,   DOME_U16,       DOME_U32,
                               DOME_U64, DOME_F32, DOME_F64, DOME_C64, DOME_C128, outer_type(env)};
    const size_t lengths[] = {0, 1, 3, 100, 1000, 2049};
    size_t ntypes = sizeof types / sizeof types[0], nlengths = sizeof lengths / sizeof lengths[0], runs = 0;

    for (size_t t = 0; t < ntypes; t++) {
        for (int d = DOME_DYNAMIC; d <= DOME_WHOLE; d++) {
            for (size_t l = 0; l < nlengths; l++) {
                /* Each type meets every length; widths and block sizes take turns. */
                size_t turn = t + l + (size_t)d;
                if (d != DOME_DYNAMIC && turn % 3 != 0)
                    continue;
                shape kind = {
                    types[t],
                    lengths[l],
                    {.size = sizeof(dvec_options), .distribution = d, .width = 1 + turn % 3, .block = turn % 4 == 3 ? 64 : 0}};
                run(env, &kind, false, keep, ++runs);
            }
        }
    }
    shape deferred = {DOME_F64, 700, {.size = sizeof(dvec_options), .width = 2}};
    run(env, &deferred, true, keep, ++runs);
    shape computes = {counted_type(env), 700, {.size = sizeof(dvec_options), .width = 2}};
    run(env, &computes, true, keep, ++runs);

    if (!keep)
        pretend_mixed_formats(env);
    for (size_t t = 0; t < ntypes; t++) {
        shape mixed = {types[t], 300 + t, {.size = sizeof(dvec_options), .width = 1 + t % 2}};
        run(env, &mixed, false, keep, ++runs);
    }
    if (keep)
        dome_checkpoint(env);
    dome_print(env, "ok conformance of dvec: %zu kinds, %d tasks\n", runs, dome_size(env));
    return dome_finalize(env);
}
