/* Movement of vectors compared with a sequential model, on random layouts: shift, halo, all-gather, gather, scatter, scan, map,
 * local, copies between distributions. Every task holds the whole model. Arguments: a seed and a number of rounds. */
#include "mixed_formats.h"
#include "reference_sum.h"
#include "rounds.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <stdlib.h>
#include <string.h>

/* ---- vectors with their models ---- */

typedef struct model {
    dvec *v;
    dome_type type;
    size_t n, width, size; /* size: of an element */
    char *data;
} model;

typedef struct cell {
    uint8_t tag;
    int32_t number[2];
} cell;

static dome_type cell_type(void)
{
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(cell, tag), 1}, {"number", DOME_I32, offsetof(cell, number), 2}};
    return dome_type_struct(env, "cell", sizeof(cell), fields, 2, sizeof(dome_field));
}

static void random_value(dome_type type, char *value)
{
    memset(value, 0, dome_type_size(type));
    if (type == DOME_F64) {
        double x = ((double)draw(2000001) - 1000000) * (draw(2) ? 1e-7 : 1e9) / 3;
        memcpy(value, &x, sizeof x);
    } else if (type == DOME_F32) {
        float x = ((float)draw(20001) - 10000) / 7;
        memcpy(value, &x, sizeof x);
    } else if (dome_type_kind_of(type) == DOME_KIND_STRUCT) {
        cell c;
        memset(&c, 0, sizeof c); /* padding too: the model is compared by bytes */
        c.tag = (uint8_t)draw(256);
        c.number[0] = (int32_t)draw(1000);
        c.number[1] = -(int32_t)draw(1000);
        memcpy(value, &c, sizeof c);
    } else {
        for (size_t i = 0; i < dome_type_size(type); i++)
            value[i] = (char)draw(256);
    }
}

static dome_type random_type(void)
{
    const dome_type types[] = {DOME_F64, DOME_F32, DOME_I8, DOME_U16, DOME_I32, DOME_I64, cell_type()};
    return types[draw(sizeof types / sizeof types[0])];
}

static size_t random_length(void)
{
    const size_t lengths[] = {0, 1, 2, 7, 255, 256, 257, 511, 512, 513, 1024, 3000};
    return draw(4) ? lengths[draw(sizeof lengths / sizeof lengths[0])] : draw(900);
}

static void put(model *m)
{
    dvec_span spans[2];
    EXPECT(dvec_local_spans(m->v, spans) == DOME_OK, "dvec_local_spans fails");
    for (int s = 0; s < 2; s++)
        memcpy(spans[s].data, m->data + spans[s].first * m->size, spans[s].count * m->size);
}

static model make(dome_type type, size_t n, size_t width, dome_distribution distribution, size_t block)
{
    model m = {.type = type, .n = n, .width = width, .size = width * dome_type_size(type)};
    m.v = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
    m.data = malloc(n * m.size + 1);
    for (size_t i = 0; i < n * width; i++)
        random_value(type, m.data + i * dome_type_size(type));
    put(&m);
    return m;
}

static void drop(model *m)
{
    dvec_free(m->v);
    free(m->data);
}

static void check(const model *m, const char *what)
{
    dvec_span spans[2];
    size_t mine = 0;
    EXPECT(dvec_local_spans_const(m->v, spans) == DOME_OK, "%s: dvec_local_spans_const fails", what);
    for (int s = 0; s < 2; s++) {
        mine += spans[s].count;
        for (size_t i = 0; i < spans[s].count; i++)
            EXPECT(memcmp((char *)spans[s].data + i * m->size, m->data + (spans[s].first + i) * m->size, m->size) == 0,
                   "%s: element %llu of %zu of type %s, width %zu, is wrong", what, (unsigned long long)(spans[s].first + i),
                   m->n, dome_type_name(m->type), m->width);
    }
    uint64_t total = mine;
    if (dvec_distribution(m->v) != DOME_WHOLE) {
        total = 0;
        for (int r = 0; r < dome_size(env); r++) {
            uint64_t part = mine;
            dome_bcast(env, r, DOME_U64, &part, 1);
            total += part;
        }
    }
    EXPECT(total == m->n, "%s: the tasks have %llu elements of %zu", what, (unsigned long long)total, m->n);
}

static void relayout(size_t n, size_t block)
{
    const dome_layout *now = dome_env_layout(env, n, block);
    uint64_t blocks = dome_layout_blocks(now), left = blocks;
    uint64_t *counts = calloc((size_t)dome_size(env), sizeof *counts);
    for (int r = 0; r < dome_size(env); r++) {
        counts[r] = r == dome_size(env) - 1 ? left : draw(3) ? draw(2 * blocks / (uint64_t)dome_size(env) + 2) : 0;
        counts[r] = counts[r] > left ? left : counts[r];
        left -= counts[r];
    }
    dome_layout *layout =
        dome_layout_new(n, dome_layout_block_size(now), dome_size(env), blocks && draw(2) ? draw(blocks) : 0, counts);
    EXPECT(layout && dome_env_relayout(env, layout) == DOME_OK, "relayout fails");
    dome_layout_unref(layout);
    free(counts);
}

/* ---- the operations ---- */

static void test_shift(model *x)
{
    model z = make(x->type, x->n, x->width, dvec_distribution(x->v), dome_layout_block_size(dome_env_layout(env, x->n, 0)));
    const int64_t distances[] = {0,
                                 1,
                                 -1,
                                 (int64_t)x->n,
                                 -(int64_t)x->n,
                                 INT64_MAX,
                                 INT64_MIN,
                                 (int64_t)draw(x->n + 1),
                                 -(int64_t)draw(x->n + 1),
                                 (int64_t)draw(3 * x->n + 1)};
    int64_t k = distances[draw(sizeof distances / sizeof distances[0])];
    bool in_place = draw(2), fill = draw(2), zero = draw(2);
    model *out = in_place ? x : &z;
    char value[64], *old = malloc(x->n * x->size + 1);
    size_t size = x->size / x->width;
    memcpy(old, x->data, x->n * x->size);
    random_value(x->type, value);
    if (fill && zero)
        memset(value, 0, sizeof value);
    for (size_t i = 0; i < x->n; i++) {
        __int128 from = (__int128)i - k, n = (__int128)x->n;
        if (!fill)
            from = (from % n + n) % n;
        for (size_t c = 0; c < x->width; c++)
            memcpy(out->data + i * x->size + c * size, from >= 0 && from < n ? old + (size_t)from * x->size + c * size : value,
                   size);
    }
    int status = fill ? dvec_shift(out->v, x->v, k, zero ? NULL : value) : dvec_roll(out->v, x->v, k);
    EXPECT(status == DOME_OK, "shift fails");
    check(out, fill ? "shift" : "roll");
    check(x, "what was shifted");
    free(old);
    drop(&z);
}

static void test_whole(model *x)
{
    const char *all = dvec_allgather(x->v);
    EXPECT(all, "whole fails");
    EXPECT(memcmp(all, x->data, x->n * x->size) == 0, "whole is wrong");
    if (x->n > 0) { /* after a change of the vector the result changes */
        random_value(x->type, x->data + draw(x->n) * x->size);
        put(x);
        all = dvec_allgather(x->v);
        EXPECT(memcmp(all, x->data, x->n * x->size) == 0, "whole is old");
    }
}

static void check_beside(const model *x, const char *copies, size_t count, uint64_t first, const char *what)
{
    for (size_t i = 0; i < count; i++)
        EXPECT(memcmp(copies + i * x->size, x->data + (first + i) % x->n * x->size, x->size) == 0,
               "halo: element %llu %s is wrong", (unsigned long long)((first + i) % x->n), what);
}

static void test_halo(model *x)
{
    bool periodic = draw(2);
    size_t most = periodic ? x->n : x->n + 3, below = draw(most + 1), above = draw(most + 1);
    if (draw(2)) {
        below = below ? 1 : 0;
        above = above ? 1 : 0;
    }
    for (int again = 0; again < 2; again++) { /* the second time with the memory of the first */
        dvec_halo_span spans[2];
        EXPECT(dvec_halo_elements(x->v, below, above, periodic, spans) == DOME_OK, "halo fails");
        for (int s = 0; s < 2; s++) {
            dvec_span l = spans[s].local;
            EXPECT(l.data && (l.count > 0 || spans[s].nbelow + spans[s].nabove == 0), "halo: an empty span is not empty");
            if (l.count == 0)
                continue;
            size_t room = x->n - l.first - l.count;
            EXPECT(memcmp(l.data, x->data + l.first * x->size, l.count * x->size) == 0, "halo: local elements are wrong");
            EXPECT(spans[s].nbelow == (periodic || below < l.first ? below : l.first), "halo: %d below", (int)spans[s].nbelow);
            EXPECT(spans[s].nabove == (periodic || above < room ? above : room), "halo: %d above", (int)spans[s].nabove);
            EXPECT(!spans[s].below == !spans[s].nbelow && !spans[s].above == !spans[s].nabove,
                   "halo: pointers and numbers differ");
            check_beside(x, spans[s].below, spans[s].nbelow, l.first + x->n - spans[s].nbelow, "below");
            check_beside(x, spans[s].above, spans[s].nabove, l.first + l.count, "above");
        }
        if (x->n > 0) {
            random_value(x->type, x->data + draw(x->n) * x->size);
            put(x);
        }
    }
}

static model make_index(size_t n, uint64_t limit, dome_distribution distribution)
{
    model m = make(limit <= 127 ? (draw(2) ? DOME_I8 : DOME_U8)
                   : draw(2)    ? DOME_I32
                                : DOME_U64,
                   n, 1, distribution, dome_block_size(n));
    for (size_t i = 0; i < n; i++) {
        uint64_t value = draw(4) ? draw(limit) : limit / 2;
        int32_t narrow = (int32_t)value;
        if (m.size == 1)
            m.data[i] = (char)value;
        else if (m.size == 4)
            memcpy(m.data + 4 * i, &narrow, 4);
        else
            memcpy(m.data + 8 * i, &value, 8);
    }
    put(&m);
    return m;
}

static uint64_t index_at(const model *m, size_t i)
{
    uint64_t wide;
    uint32_t narrow;
    if (m->size == 1)
        return (uint8_t)m->data[i];
    if (m->size == 4) {
        memcpy(&narrow, m->data + 4 * i, 4);
        return narrow;
    }
    memcpy(&wide, m->data + 8 * i, 8);
    return wide;
}

static void test_gather(model *x)
{
    if (x->n == 0)
        return;
    bool in_place = draw(4) == 0;
    dome_distribution distribution = in_place ? dvec_distribution(x->v) : draw(3);
    size_t n = in_place ? x->n : random_length();
    model z = make(x->type, n, x->width, distribution, 0);
    if (draw(2))
        relayout(n, 0);
    model index = make_index(n, x->n, draw(4) ? distribution : DOME_WHOLE), *out = in_place ? x : &z;
    char *old = malloc(x->n * x->size);
    memcpy(old, x->data, x->n * x->size);
    for (size_t i = 0; i < n; i++)
        memcpy(out->data + i * x->size, old + index_at(&index, i) * x->size, x->size);
    EXPECT(dvec_gather(out->v, x->v, index.v) == DOME_OK, "gather fails");
    check(out, "gather");
    check(x, "what was gathered from");
    check(&index, "gather's index");
    free(old);
    drop(&z);
    drop(&index);
}

static void test_scatter(model *x)
{
    bool in_place = draw(4) == 0 && x->n > 0;
    dome_distribution distribution = dvec_distribution(x->v);
    size_t n = in_place ? x->n : 1 + random_length();
    model z = make(x->type, n, x->width, distribution == DOME_WHOLE ? draw(3) : draw(2), 0), *out = in_place ? x : &z;
    if (draw(2))
        relayout(n, 0);
    bool to_whole = dvec_distribution(out->v) == DOME_WHOLE;
    model index = make_index(x->n, n, to_whole || draw(4) == 0 ? DOME_WHOLE : distribution);
    char *old = malloc(x->n * x->size + 1);
    memcpy(old, x->data, x->n * x->size);
    for (size_t i = 0; i < x->n; i++)
        memcpy(out->data + index_at(&index, i) * x->size, old + i * x->size, x->size);
    EXPECT(dvec_scatter(out->v, x->v, index.v) == DOME_OK, "scatter fails");
    check(out, "scatter");
    check(x, "what was scattered");
    free(old);
    drop(&z);
    drop(&index);
}

static void add_value(dome_type type, char *to, const char *from)
{
    uint64_t a = 0, b = 0;
    size_t size = dome_type_size(type);
    if (type == DOME_F64) {
        double x, y;
        memcpy(&x, to, sizeof x);
        memcpy(&y, from, sizeof y);
        x += y;
        memcpy(to, &x, sizeof x);
    } else if (type == DOME_F32) {
        float x, y;
        memcpy(&x, to, sizeof x);
        memcpy(&y, from, sizeof y);
        x += y;
        memcpy(to, &x, sizeof x);
    } else { /* of integers the lowest bytes of a sum are those of the lowest bytes */
        for (size_t k = 0; k < size; k++) {
            a |= (uint64_t)(uint8_t)to[k] << 8 * k;
            b |= (uint64_t)(uint8_t)from[k] << 8 * k;
        }
        a += b;
        for (size_t k = 0; k < size; k++)
            to[k] = (char)(a >> 8 * k);
    }
}

/* Sums in the order of the sources: doubles of all sizes, many of which go to the same target. */
static void test_scatter_add(model *x)
{
    bool in_place = draw(4) == 0 && x->n > 0;
    dome_distribution distribution = dvec_distribution(x->v);
    size_t n = in_place ? x->n : 1 + random_length(), size = x->size / x->width;
    model z = make(x->type, n, x->width, distribution == DOME_WHOLE ? draw(3) : draw(2), 0), *out = in_place ? x : &z;
    if (dome_type_kind_of(x->type) == DOME_KIND_STRUCT) {
        drop(&z);
        return;
    }
    if (draw(2))
        relayout(n, 0);
    bool to_whole = dvec_distribution(out->v) == DOME_WHOLE;
    model index = make_index(x->n, n, to_whole || draw(4) == 0 ? DOME_WHOLE : distribution);
    if (draw(2))
        relayout(x->n, 0);
    char *old = malloc(x->n * x->size + 1);
    memcpy(old, x->data, x->n * x->size);
    for (size_t i = 0; i < x->n; i++)
        for (size_t c = 0; c < x->width; c++)
            add_value(x->type, out->data + index_at(&index, i) * x->size + c * size, old + i * x->size + c * size);
    EXPECT(dvec_scatter_add(out->v, x->v, index.v) == DOME_OK, "scatter_add fails");
    check(out, "scatter_add");
    check(x, "what was added");
    check(&index, "scatter_add's index");
    free(old);
    drop(&z);
    drop(&index);
}

/* Each task requests different elements, and some none. */
static void test_get_many(model *x)
{
    uint64_t most = x->n ? draw(2000) : 0, step = 1 + draw(5000);
    size_t rank = (size_t)dome_rank(env), n = (most + rank * 700) % (most + 1);
    uint64_t *index = malloc((n + 1) * sizeof *index);
    char *elements = calloc(n + 1, x->size);
    for (size_t i = 0; i < n; i++)
        index[i] = (i * step + 31 * rank) % x->n;
    EXPECT(dvec_get_many(x->v, n, n ? index : NULL, elements) == DOME_OK, "get_many fails");
    for (size_t i = 0; i < n; i++)
        EXPECT(memcmp(elements + i * x->size, x->data + index[i] * x->size, x->size) == 0,
               "get_many: element %zu is not number %zu", i, (size_t)index[i]);
    free(index);
    free(elements);
}

/* Single elements: reading them, and writing them between deferred operations. */
static void test_element(model *x)
{
    char *element = calloc(1, x->size);
    model old = make(x->type, x->n, x->width, dvec_distribution(x->v), 0);
    memcpy(old.data, x->data, x->n * x->size);
    EXPECT(dvec_copy(old.v, x->v) == DOME_OK, "copy fails"); /* deferred: must be computed before x is written to */
    for (int k = 0; x->n > 0 && k < 3; k++) {
        uint64_t i = draw(3) ? draw(x->n) : x->n - 1;
        for (size_t c = 0; c < x->width; c++)
            random_value(x->type, x->data + i * x->size + c * (x->size / x->width));
        EXPECT(dvec_set(x->v, i, x->data + i * x->size) == DOME_OK, "set fails");
        i = draw(x->n);
        memset(element, 0, x->size);
        EXPECT(dvec_get(x->v, i, element) == DOME_OK, "get fails");
        EXPECT(memcmp(element, x->data + i * x->size, x->size) == 0, "get gives another element than %llu",
               (unsigned long long)i);
    }
    check(x, "a vector with elements that were set");
    check(&old, "a copy of the vector before");
    free(element);
    drop(&old);
}

static void test_clone(model *x)
{
    dvec *like = dvec_new_like(x->v, NULL), *clone = dvec_clone(x->v, NULL);
    EXPECT(like && clone, "a clone fails");
    model m = *x;
    m.v = clone;
    check(&m, "a clone");
    EXPECT(dvec_copy(like, clone) == DOME_OK, "a vector does not conform with one like it");
    EXPECT(dvec_distribution(like) == dvec_distribution(x->v), "a vector like another is distributed in another way");
    m.v = like;
    check(&m, "a vector like another");
    dvec_free(like);
    dvec_free(clone);
}

static void scan_model(model *z, const model *x)
{
    size_t block = dome_block_size(x->n);
    for (size_t c = 0; c < x->width; c++) {
        reference_sum before;
        memset(&before, 0, sizeof before);
        double in_block = 0, start = 0;
        uint64_t whole = 0;
        for (size_t i = 0; i < x->n; i++) {
            size_t at = i * x->width + c;
            if (i % block == 0 && i > 0)
                reference_add(&before, in_block);
            if (i % block == 0) {
                start = reference_round(&before);
                in_block = 0;
            }
#define SCAN_REAL(TYPE, ctype)                                                                                                   \
    if (x->type == TYPE) {                                                                                                       \
        in_block += ((ctype *)(void *)x->data)[at];                                                                              \
        ((ctype *)(void *)z->data)[at] = (ctype)(start + in_block);                                                              \
    }
#define SCAN_WHOLE(TYPE, ctype)                                                                                                  \
    if (x->type == TYPE) {                                                                                                       \
        whole += (uint64_t)((ctype *)(void *)x->data)[at];                                                                       \
        ((ctype *)(void *)z->data)[at] = (ctype)whole;                                                                           \
    }
            SCAN_REAL(DOME_F64, double)
            SCAN_REAL(DOME_F32, float)
            SCAN_WHOLE(DOME_I8, int8_t)
            SCAN_WHOLE(DOME_U16, uint16_t)
            SCAN_WHOLE(DOME_I32, int32_t)
            SCAN_WHOLE(DOME_I64, int64_t)
        }
    }
}

static void test_scan(model *x)
{
    if (dome_type_kind_of(x->type) == DOME_KIND_STRUCT)
        return;
    model z = make(x->type, x->n, x->width, draw(4) || dvec_distribution(x->v) != DOME_WHOLE ? dvec_distribution(x->v) : draw(2),
                   dome_block_size(x->n));
    scan_model(&z, x);
    EXPECT(dvec_scan(z.v, x->v) == DOME_OK, "scan fails");
    check(&z, "scan");
    check(x, "what was scanned");
    if (draw(2)) {
        memcpy(x->data, z.data, x->n * x->size);
        EXPECT(dvec_scan(x->v, x->v) == DOME_OK, "scan in place fails");
        check(x, "scan in place");
    }
    drop(&z);
}

static void test_copy(model *x)
{
    dome_distribution distribution = draw(3);
    bool other = distribution != dvec_distribution(x->v) && dvec_distribution(x->v) != DOME_WHOLE && draw(3) == 0;
    model z = make(x->type, x->n, x->width, distribution, other ? 32 : 0);
    memcpy(z.data, x->data, x->n * x->size);
    EXPECT(dvec_copy(z.v, x->v) == DOME_OK, "copy fails");
    check(&z, "copy");
    drop(&z);
}

/* Notes the ranges for which the kernel was called, and computes out from the inputs' bytes. */
typedef struct calls {
    const model *in[2];
    size_t out_size, block, n, elements;
    bool good;
} calls;

static unsigned char mix(const calls *c, const unsigned char *a, const unsigned char *b, size_t index, size_t byte)
{
    return (unsigned char)(a[byte % c->in[0]->size] + 3 * b[byte % c->in[1]->size] + index + byte);
}

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    calls *c = ctx;
    size_t rest = c->n - first;
    c->good = c->good && first % c->block == 0 && count == (rest < c->block ? rest : c->block);
    c->elements += count;
    for (size_t i = 0; i < count; i++) {
        unsigned char made[256];
        for (size_t k = 0; k < c->out_size; k++)
            made[k] = mix(c, (const unsigned char *)in[0] + i * c->in[0]->size, (const unsigned char *)in[1] + i * c->in[1]->size,
                          first + i, k);
        memcpy((char *)out + i * c->out_size, made, c->out_size);
    }
}

static void test_map(model *x)
{
    dome_distribution distribution = dvec_distribution(x->v);
    if (dome_type_kind_of(x->type) == DOME_KIND_STRUCT)
        return;
    model y = make(DOME_I16, x->n, 1 + draw(3), draw(2) ? DOME_WHOLE : distribution, dome_block_size(x->n));
    model z = make(DOME_U8, x->n, 1 + draw(7), distribution, dome_block_size(x->n)),
          *out = dome_type_kind_of(x->type) <= DOME_KIND_U64 && draw(2) ? x : &z;
    calls c = {.in = {x, &y}, .out_size = out->size, .block = dome_block_size(x->n), .n = x->n, .good = true};
    char *made = malloc(x->n * out->size + 1);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < out->size; k++)
            made[i * out->size + k] =
                (char)mix(&c, (unsigned char *)x->data + i * x->size, (unsigned char *)y.data + i * y.size, i, k);
    memcpy(out->data, made, x->n * out->size);
    free(made);
    EXPECT(dvec_map(out->v, kernel, &c, 2, (dvec *const[]){x->v, y.v}) == DOME_OK, "map fails");
    EXPECT(c.good, "map calls its kernel for something that is not a block");
    check(out, "map");
    drop(&y);
    drop(&z);
}

static void test_deferred(model *x)
{
    if (x->type != DOME_I64)
        return;
    for (size_t i = 0; i < x->n * x->width; i++)
        ((uint64_t *)(void *)x->data)[i] += 5;
    dvec_adds(x->v, x->v, 5);
    const char *all = dvec_allgather(x->v);
    EXPECT(memcmp(all, x->data, x->n * x->size) == 0, "deferred work is not seen");
}

/* ---- failures: on every task, with the same message ---- */

static void expect_failure(dome_status is, dome_status expected, const char *word)
{
    EXPECT(is == expected && dome_error_status(env) == expected, "%s instead of %s", dome_status_name(is),
           dome_status_name(expected));
    EXPECT(strstr(dome_error_message(env), word), "'%s' is not in: %s", word, dome_error_message(env));
    dome_error_clear(env);
}

static void test_failures(void)
{
    model x = make(DOME_F64, 100, 1, DOME_DYNAMIC, 0), z = make(DOME_F64, 50, 1, DOME_DYNAMIC, 0);
    model index = make(DOME_I64, 50, 1, DOME_DYNAMIC, 0);
    int64_t *i = (int64_t *)(void *)index.data;
    dome_set_errors_return(env);
    for (int k = 0; k < 50; k++)
        i[k] = k;
    i[20] = -7;
    i[45] = 1000;
    relayout(50, 0);
    put(&index);
    expect_failure(dvec_gather(z.v, x.v, index.v), DOME_ERR_RANGE, "index -7 at position 20 of");
    check(&z, "a refused gather's output");
    i[20] = 99;
    put(&index);
    expect_failure(dvec_scatter(x.v, z.v, index.v), DOME_ERR_RANGE, "index 1000 at position 45 of");
    check(&x, "a refused scatter's output");
    i[45] = 100;
    put(&index);
    expect_failure(dvec_gather(z.v, x.v, index.v), DOME_ERR_RANGE, "index 100 at position 45 of");

    double element = 0;
    expect_failure(dvec_get(x.v, 100, &element), DOME_ERR_RANGE, "index 100 is outside the 100 elements");
    expect_failure(dvec_set(x.v, UINT64_MAX, &element), DOME_ERR_RANGE, "is outside the 100 elements");

    const uint64_t some[2] = {99, dome_rank(env) == dome_size(env) - 1 ? 100 : 0};
    double pair[2];
    expect_failure(dvec_get_many(x.v, 2, some, pair), DOME_ERR_RANGE,
                   "index 100, number 1 of those asked for, is outside the 100 elements");
    expect_failure(dvec_scatter_add(x.v, z.v, index.v), DOME_ERR_RANGE, "index 100 at position 45 of");
    check(&x, "a refused scatter_add's output");
    model cells = make(cell_type(), 50, 1, DOME_DYNAMIC, 0);
    expect_failure(dvec_scatter_add(cells.v, cells.v, index.v), DOME_ERR_TYPE, "cell");
    drop(&cells);

    /* A single task finds that deferred work fails; all are told. */
    model one = make(DOME_I32, 50, 1, DOME_DYNAMIC, 0), zero = make(DOME_I32, 50, 1, DOME_DYNAMIC, 0);
    for (int k = 0; k < 50; k++)
        ((int32_t *)(void *)zero.data)[k] = k == 33 ? 0 : 1;
    put(&zero);
    dvec_div(one.v, one.v, zero.v);
    EXPECT(!dvec_allgather(one.v), "a division by zero is not found");
    expect_failure(dome_error_status(env), DOME_ERR_RANGE, "33");
    /* An operation that only moves the vector does not need its values; one that computes others from them does, and one that
     * replaces them does not. */
    relayout(50, 0);
    expect_failure(dvec_roll(zero.v, one.v, 1), DOME_ERR_RANGE, "dvec_div into");
    check(&zero, "the output of a shift that failed");
    expect_failure(dvec_scatter(one.v, zero.v, zero.v), DOME_ERR_RANGE, "33");
    int32_t number = 5;
    expect_failure(dvec_get(one.v, 0, &number), DOME_ERR_RANGE, "33");
    EXPECT(dvec_set(one.v, 33, &number) == DOME_OK, "an element of a failed vector cannot be written");
    expect_failure(dvec_get(one.v, 33, &number), DOME_ERR_RANGE, "33");
    EXPECT(number == 5, "a refused get writes");
    EXPECT(dvec_roll(one.v, zero.v, 0) == DOME_OK, "a failed vector cannot be replaced");
    memcpy(one.data, zero.data, 50 * sizeof(int32_t));
    check(&one, "a vector that had failed");

    EXPECT(!dvec_new(env, "huge", DOME_F64, SIZE_MAX / 16), "2^60 elements are created");
    expect_failure(dome_error_status(env), DOME_ERR_MEMORY, "huge");
    drop(&x);
    drop(&z);
    drop(&index);
    drop(&one);
    drop(&zero);
}

/* Parts that are longer than one message. */
static void test_long(void)
{
    enum { N = 3000000 };
    model x = make(DOME_F64, N, 1, DOME_DYNAMIC, 0);
    relayout(N, 0);
    check(&x, "a long vector on another layout");
    EXPECT(dvec_roll(x.v, x.v, N / 3) == DOME_OK, "a long shift fails");
    char *turned = malloc(N * sizeof(double));
    memcpy(turned + N / 3 * sizeof(double), x.data, (N - N / 3) * sizeof(double));
    memcpy(turned, x.data + (N - N / 3) * sizeof(double), N / 3 * sizeof(double));
    free(x.data);
    x.data = turned;
    check(&x, "a long shift");
    EXPECT(memcmp(dvec_allgather(x.v), x.data, N * sizeof(double)) == 0, "a long whole is wrong");
    relayout(N, 0);
    check(&x, "a long vector on yet another layout");
    drop(&x);
}

/* More than one batch of an exchange by index: two elements for each target, far from their source. */
static void test_batches(void)
{
    enum { N = 2000000 };
    model x = make(DOME_F64, N, 1, DOME_DYNAMIC, 0), z = make(DOME_F64, N, 1, DOME_DYNAMIC, 0);
    model index = make(DOME_U64, N, 1, DOME_DYNAMIC, 0);
    uint64_t *at = (uint64_t *)(void *)index.data;
    double *sums = (double *)(void *)z.data;
    const double *added = (const double *)(const void *)x.data;
    relayout(N, 0);
    for (uint64_t i = 0; i < N; i++) {
        at[i] = (N - 1 - i) / 2;
        sums[at[i]] += added[i];
    }
    put(&index);
    EXPECT(dvec_scatter_add(z.v, x.v, index.v) == DOME_OK, "scatter_add of many fails");
    check(&z, "scatter_add of many");
    size_t n = dome_rank(env) == 0 ? N : 0;
    double *elements = malloc(N * sizeof *elements);
    EXPECT(dvec_get_many(z.v, n, at, elements) == DOME_OK, "get_many of many fails");
    for (size_t i = 0; i < n; i++)
        EXPECT(elements[i] == sums[at[i]], "get_many of many: element %zu is wrong", i);
    free(elements);
    drop(&x);
    drop(&z);
    drop(&index);
}

/* A request for too much memory must return NULL here, not end the test. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 250;
    static void (*const tests[])(model *) = {test_shift,       test_whole,    test_halo,    test_gather, test_scatter,
                                             test_scatter_add, test_get_many, test_element, test_clone,  test_scan,
                                             test_copy,        test_map,      test_deferred};
    enum { TESTS = sizeof tests / sizeof tests[0] };

    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model x = make(random_type(), random_length(), 1 + draw(3), draw(2) ? DOME_DYNAMIC : draw(3), 0);
        for (int k = 0; k < 4; k++) {
            if (draw(2)) {
                relayout(x.n, 0);
                check(&x, "a vector on another layout");
            }
            tests[draw(TESTS)](&x);
        }
        check(&x, "a vector at the end");
        drop(&x);
        EXPECT(dome_object_count(env) == 0, "%zu objects are left", dome_object_count(env));
    }
    test_long();
    test_batches();
    test_failures();
    dome_print(env, "ok movement: seed %llu, %d rounds, %d tasks\n", (unsigned long long)seed, rounds, dome_size(env));
    return dome_finalize(env);
}
