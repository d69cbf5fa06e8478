/* For test programs: vectors with a sequential model of their values that shares no code with the library, on random layouts.
 * Every task holds the whole model. */
#ifndef DOME_TESTS_MODELS_H
#define DOME_TESTS_MODELS_H

#include "rounds.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct model {
    dvec *v;
    dome_type type;
    size_t n, width, size; /* size: of an element */
    uint64_t block;
    char *data;
} model;

static inline bool is_real(dome_type type)
{
    return type == DOME_F32 || type == DOME_F64;
}

static inline bool is_complex(dome_type type)
{
    return type == DOME_C64 || type == DOME_C128;
}

/* A value of the model as the widest number of its kind: integers by their sign. */
typedef struct value {
    bool real, complex;
    double d, imaginary;
    int64_t i;
    uint64_t u;
    bool wide; /* u counts */
} value;

static inline value get(const model *m, size_t at)
{
    const void *p = m->data + at * dome_type_size(m->type);
    switch (dome_type_kind_of(m->type)) {
#define GET(KIND, T)                                                                                                             \
    case DOME_KIND_##KIND: {                                                                                                     \
        T t;                                                                                                                     \
        memcpy(&t, p, sizeof t);                                                                                                 \
        return (value){.i = (int64_t)t, .d = (double)t};                                                                         \
    }
        GET(I8, int8_t)
        GET(I16, int16_t)
        GET(I32, int32_t)
        GET(I64, int64_t)
        GET(U8, uint8_t)
        GET(U16, uint16_t)
        GET(U32, uint32_t)
#undef GET
    case DOME_KIND_U64: {
        uint64_t t;
        memcpy(&t, p, sizeof t);
        return (value){.u = t, .wide = true, .d = (double)t};
    }
    case DOME_KIND_F32: {
        float t;
        memcpy(&t, p, sizeof t);
        return (value){.real = true, .d = (double)t};
    }
    case DOME_KIND_C64: {
        float t[2];
        memcpy(t, p, sizeof t);
        return (value){.complex = true, .d = (double)t[0], .imaginary = (double)t[1]};
    }
    case DOME_KIND_C128: {
        double t[2];
        memcpy(t, p, sizeof t);
        return (value){.complex = true, .d = t[0], .imaginary = t[1]};
    }
    default: {
        double t;
        memcpy(&t, p, sizeof t);
        return (value){.real = true, .d = t};
    }
    }
}

/* NaN last. */
static inline int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b))
        return !!isnan(a) - !!isnan(b);
    return (a > b) - (a < b);
}

/* Complex values with a NaN in either part come behind all others. */
static inline int compare(value a, value b)
{
    if (a.complex) {
        const int first = 2 * !!isnan(a.d) + !!isnan(a.imaginary), second = 2 * !!isnan(b.d) + !!isnan(b.imaginary);
        const int by_real = compare_reals(a.d, b.d);
        return first != second ? first - second : by_real ? by_real : compare_reals(a.imaginary, b.imaginary);
    }
    if (a.real)
        return compare_reals(a.d, b.d);
    if (a.wide)
        return (a.u > b.u) - (a.u < b.u);
    return (a.i > b.i) - (a.i < b.i);
}

static inline void random_value(dome_type type, unsigned few, char *to)
{
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 5e-324, -1e300};
    memset(to, 0, dome_type_size(type));
    if (is_complex(type)) {
        const dome_type part = type == DOME_C64 ? DOME_F32 : DOME_F64;
        random_value(part, few ? few : (unsigned)draw(2) * 5, to); /* often equal, so that the other part counts */
        random_value(part, few, to + dome_type_size(part));
    } else if (is_real(type)) {
        double d = few ? (double)draw(few) - few / 2 : ((double)draw(2000001) - 1000000) * (draw(2) ? 1e-7 : 1e9) / 3;
        if (draw(12) == 0)
            d = special[draw(sizeof special / sizeof *special)];
        float f = (float)d;
        memcpy(to, type == DOME_F64 ? (void *)&d : (void *)&f, dome_type_size(type));
    } else if (few) {
        to[dome_type_size(type) > 2 ? draw(3) : 0] = (char)draw(few); /* in this or a higher byte */
    } else {
        for (size_t i = 0; i < dome_type_size(type); i++)
            to[i] = (char)draw(256);
    }
}

/* Gives the vector the model's values. */
static inline void put(model *m)
{
    dvec_span spans[2];
    EXPECT(dvec_local_spans(m->v, spans) == DOME_OK, "dvec_local_spans fails");
    for (int s = 0; s < 2; s++)
        memcpy(spans[s].data, m->data + spans[s].first * m->size, spans[s].count * m->size);
}

static inline model make(dome_type type, size_t n, size_t width, dome_distribution distribution, unsigned few, uint64_t block)
{
    model m = {.type = type, .n = n, .width = width, .size = width * dome_type_size(type), .block = block};
    m.v = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
    m.data = malloc(n * m.size + 1);
    for (size_t i = 0; i < n * width; i++)
        random_value(type, few, m.data + i * dome_type_size(type));
    put(&m);
    return m;
}

static inline void drop(model *m)
{
    dvec_free(m->v);
    free(m->data);
}

static inline void relayout(uint64_t n, uint64_t block)
{
    uint64_t blocks = (n + block - 1) / block, left = blocks, counts[16];
    int tasks = dome_size(env);
    for (int r = 0; r < tasks; r++)
        left -= counts[r] = r + 1 < tasks ? draw(2) ? draw(left + 1) : MIN(left, blocks / (uint64_t)tasks) : left;
    dome_layout *layout = dome_layout_new(n, block, tasks, blocks ? draw(blocks) : 0, counts);
    EXPECT(layout && dome_env_relayout(env, layout) == DOME_OK, "no other layout");
    dome_layout_unref(layout);
}

/* A vector for results of x's length. */
static inline dvec *output(const model *x, dome_type type)
{
    dome_distribution distribution = dvec_distribution(x->v);
    if (distribution == DOME_WHOLE)
        distribution = (dome_distribution)draw(3);
    dvec *z =
        dvec_new_with(env, NULL, type, x->n, DVEC_OPTIONS(.distribution = distribution, .width = x->width, .block = x->block));
    if (draw(3) == 0)
        relayout(x->n, x->block);
    return z;
}

/* Checks that a vector has n elements with these bytes. */
static inline void check(const dvec *v, size_t n, size_t size, const char *data, const char *what)
{
    dvec_span spans[2];
    EXPECT(v, "%s: no vector", what);
    EXPECT(dvec_length(v) == n, "%s: %zu elements instead of %zu", what, (size_t)dvec_length(v), n);
    EXPECT(dvec_local_spans_const(v, spans) == DOME_OK, "%s: dvec_local_spans_const fails", what);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count; i++)
            EXPECT(memcmp((char *)spans[s].data + i * size, data + (spans[s].first + i) * size, size) == 0,
                   "%s: element %zu of %zu is wrong", what, (size_t)spans[s].first + i, n);
}

/* Checks that the last call has failed with this status, in a line with this word. */
static inline void expect_failure(dome_status expected, const char *word)
{
    EXPECT(dome_error_status(env) == expected && strstr(dome_error_message(env), word), "no failure with '%s'", word);
    dome_error_clear(env);
}

/* A vector of one of the types, with any length, block size, distribution and layout. */
static inline model any_vector(const dome_type types[], size_t ntypes, size_t width)
{
    const size_t lengths[] = {0, 1, 2, 7, 255, 256, 257, 511, 512, 1024, 2500};
    size_t n = draw(3) ? lengths[draw(sizeof lengths / sizeof *lengths)] : draw(900);
    uint64_t block = draw(3) ? dome_block_size(n) : UINT64_C(1) << draw(9);
    model x = make(types[draw(ntypes)], n, width, draw(2) ? DOME_DYNAMIC : (dome_distribution)draw(3),
                   draw(2) ? (unsigned)(1 + draw(40)) : 0, block);
    if (draw(3))
        relayout(n, block);
    return x;
}

#endif
