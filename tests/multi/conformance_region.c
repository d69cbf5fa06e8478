/* The battery for regions: several types and sizes, one element and none, structs that do not divide a page. */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

typedef struct place {
    double x, y;
    int32_t number;
} place;

typedef struct shape {
    uint64_t n;
    dome_type type;
    size_t width;
    uint64_t block, pitched;
} shape;

/* Value k of the region, as one byte of each of its fields. */
static unsigned char value(uint64_t k)
{
    return (unsigned char)(k % 251);
}

static void put_at(const shape *s, void *data, uint64_t k, unsigned char v)
{
    if (dome_type_kind_of(s->type) == DOME_KIND_STRUCT)
        ((place *)data)[k] = (place){.x = v, .y = -v, .number = v};
    else if (s->type == DOME_F64)
        ((double *)data)[k] = v / 3.0;
    else if (s->type == DOME_I16)
        ((int16_t *)data)[k] = (int16_t)(-3 * v);
    else
        ((unsigned char *)data)[k] = v;
}

static bool has_at(const shape *s, const void *data, uint64_t k, unsigned char v)
{
    const place *p = data;
    if (dome_type_kind_of(s->type) == DOME_KIND_STRUCT)
        return p[k].x == v && p[k].y == -v && p[k].number == v;
    if (s->type == DOME_F64)
        return ((const double *)data)[k] == v / 3.0;
    if (s->type == DOME_I16)
        return ((const int16_t *)data)[k] == (int16_t)(-3 * v);
    return ((const unsigned char *)data)[k] == v;
}

/* Where value k lies. */
static uint64_t place_of(const dome_region *r, uint64_t k)
{
    const size_t width = dome_region_width(r);
    return k / width * dome_region_pitch(r) + k % width;
}

static void put(const shape *s, const dome_region *r, uint64_t k, unsigned char v)
{
    put_at(s, dome_region_data(r), place_of(r, k), v);
}

static bool has(const shape *s, const dome_region *r, uint64_t k, unsigned char v)
{
    return has_at(s, dome_region_data(r), place_of(r, k), v);
}

static dome_object *make(dome_env *env, const char *name, void *ctx)
{
    const shape *s = ctx;
    dome_span spans[2];
    dome_region *r = dome_region_new(env, name, s->type, s->n,
                                     DOME_REGION_OPTIONS(.width = s->width, .block = s->block, .pitched = s->pitched));
    int nspans = dome_region_spans(r, spans);
    for (int p = 0; p < nspans && !dome_is_restarting(env); p++)
        for (uint64_t k = spans[p].first * s->width; k < (spans[p].first + spans[p].count) * s->width; k++)
            put(s, r, k, value(k));
    return dome_region_object(r);
}

static bool check(dome_object *object, void *ctx)
{
    const shape *s = ctx;
    const dome_region *r = dome_object_content(object);
    dome_span spans[2];
    int nspans = dome_region_spans(r, spans);
    for (int p = 0; p < nspans; p++)
        for (uint64_t k = spans[p].first * s->width; k < (spans[p].first + spans[p].count) * s->width; k++)
            if (!has(s, r, k, value(k)))
                return false;
    return true;
}

static void alter(dome_object *object, void *ctx)
{
    const shape *s = ctx;
    const dome_region *r = dome_object_content(object);
    dome_span spans[2];
    int nspans = dome_region_spans(r, spans);
    for (int p = 0; p < nspans; p++)
        for (uint64_t k = spans[p].first * s->width; k < (spans[p].first + spans[p].count) * s->width; k++)
            put(s, r, k, (unsigned char)(value(k) + 1));
}

enum { LAYOUTS = 200 };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    static const char *const names[] = {"x", "y", "number"};
    const dome_field fields[] = {{names[0], DOME_F64, offsetof(place, x), 1},
                                 {names[1], DOME_F64, offsetof(place, y), 1},
                                 {names[2], DOME_I32, offsetof(place, number), 1}};
    dome_type type = dome_type_struct(env, "place", sizeof(place), fields, 3, sizeof(dome_field));
    shape shapes[] = {{0, DOME_F64, 1, 0, 0},    {1, DOME_F64, 1, 0, 0},   {1, type, 1, 0, 0},        {5, DOME_U8, 1, 0, 0},
                      {999, type, 3, 0, 0},      {4096, DOME_U8, 1, 0, 0}, {3000, DOME_F64, 1, 0, 0}, {700, DOME_I16, 7, 32, 0},
                      {70, DOME_F64, 513, 4, 1}, {9, type, 2, 1, 1}};
    size_t count = sizeof shapes / sizeof shapes[0];
    for (size_t t = 0; t < count; t++) {
        char what[64];
        snprintf(what, sizeof what, "region of %d x %zu %s", (int)shapes[t].n, shapes[t].width, dome_type_name(shapes[t].type));
        conformance c = {.what = what, .make = make, .check = check, .alter = alter, .ctx = &shapes[t], .layouts = LAYOUTS};
        conformance_test(env, &c, keep, t);
    }
    if (keep)
        dome_checkpoint(env);
    dome_print(env, "ok conformance of regions: %zu shapes, %d tasks\n", count, dome_size(env));
    return dome_finalize(env);
}
