#include "objects/dvec_struct.h"

#include "core/type_private.h"
#include "objects/dvec_fold.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, LANES = 64 };

static dome_status lacks(const dvec *x, const char *function)
{
    if (x->type->kind != DOME_KIND_STRUCT)
        return dome__fail(x->env, DOME_ERR_TYPE, "not defined for elements of type %s, which is no struct", x->type->name);
    return dome__fail(x->env, DOME_ERR_TYPE, "type %s has no function '%s' (dome_type_set_ops)", x->type->name, function);
}

static void *values_new(size_t bytes)
{
    void *memory = NULL;
    return posix_memalign(&memory, ALIGNMENT, bytes) ? NULL : memory;
}

/* ---- sums ---- */

typedef struct sums {
    const dome_type_ops *ops;
    uint64_t width;
    size_t bytes;
    char *lanes;
} sums;

static void sum_block(void *ctx, uint64_t first, size_t count, void *result, const void *x)
{
    const sums *s = ctx;
    const uint64_t values = count * s->width;
    uint64_t lanes = MIN(values, LANES), done = lanes;
    (void)first;
    if (s->ops->sum) {
        s->ops->sum(result, x, values);
        return;
    }
    if (values >= 2 * LANES) {
        s->ops->add(s->lanes, x, (const char *)x + lanes * s->bytes, LANES);
        done = 2 * LANES;
    } else {
        memcpy(s->lanes, x, lanes * s->bytes);
    }
    for (uint64_t n; done < values; done += n) {
        n = MIN(values - done, LANES);
        s->ops->add(s->lanes, s->lanes, (const char *)x + done * s->bytes, n);
    }
    for (uint64_t half; lanes > 1; lanes = half) {
        half = (lanes + 1) / 2;
        s->ops->add(s->lanes, s->lanes, s->lanes + half * s->bytes, lanes - half);
    }
    memcpy(result, s->lanes, s->bytes);
}

static void add_one(void *ctx, void *left, const void *right)
{
    const sums *s = ctx;
    s->ops->add(left, left, right, 1);
}

dome_status dvec_sum_struct(const dvec *x, void *result)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    DOME_NEEDS(result, "the place for the result", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_SUM_STRUCT, x->object, 0);
    sums s = {x->type->ops, x->width, DVEC_VALUE(x), NULL};
    const dvec_fold fold = {x, x->type, sum_block, add_one, &s, "add", x->env->options.check_reductions};
    int status = s.ops && s.ops->add ? DOME_OK : lacks(x, "add");
    if (status == DOME_OK) {
        s.lanes = values_new(LANES * s.bytes);
        status = dvec__agree_memory(x, s.lanes, "partial sums");
    }
    if (status == DOME_OK && x->length == 0)
        memset(result, 0, s.bytes);
    if (status == DOME_OK)
        status = dvec__fold(&fold, result);
    free(s.lanes);
    dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    return dome__end(&op, status);
}

/* ---- smallest and largest ---- */

/* A result is a position and, at VALUE_AT, the value. */
enum { VALUE_AT = ALIGNMENT };

typedef struct extremes {
    const dome_type_ops *ops;
    bool largest;
    uint64_t width;
    size_t bytes, result_bytes;
    char *best;               /* the best value in each lane, */
    uint64_t position[LANES]; /* and where it is */
} extremes;

/* Sets take[k] where x[k] comes before best[k]. */
static void compare(const extremes *e, uint8_t *take, const void *x, const void *best, uint64_t n)
{
    e->ops->less(take, e->largest ? best : x, e->largest ? x : best, n);
}

/* Whether a value, which stands at `position`, is better than the one at `than`. */
static bool is_better(const extremes *e, const char *x, uint64_t position, const char *best, uint64_t than)
{
    uint8_t take;
    compare(e, &take, x, best, 1);
    if (take || position > than)
        return take;
    compare(e, &take, best, x, 1);
    return !take;
}

static void set_extreme(const extremes *e, void *result, uint64_t position, const char *value)
{
    memcpy(result, &position, sizeof position);
    memcpy((char *)result + VALUE_AT, value, e->bytes);
}

static void find_in_block(void *ctx, uint64_t first, size_t count, void *result, const void *x)
{
    extremes *e = ctx;
    const uint64_t values = count * e->width, lanes = MIN(values, LANES), at = first * e->width;
    memcpy(e->best, x, lanes * e->bytes);
    for (uint64_t k = 0; k < lanes; k++)
        e->position[k] = at + k;
    for (uint64_t done = lanes, n; done < values; done += n) {
        uint8_t take[LANES];
        const char *from = (const char *)x + done * e->bytes;
        n = MIN(values - done, LANES);
        compare(e, take, from, e->best, n);
        for (uint64_t k = 0; k < n; k++)
            if (take[k]) {
                memcpy(e->best + k * e->bytes, from + k * e->bytes, e->bytes);
                e->position[k] = at + done + k;
            }
    }
    uint64_t best = 0;
    for (uint64_t k = 1; k < lanes; k++)
        if (is_better(e, e->best + k * e->bytes, e->position[k], e->best + best * e->bytes, e->position[best]))
            best = k;
    set_extreme(e, result, e->position[best], e->best + best * e->bytes);
}

/* The left one comes first in the vector. */
static void take_better(void *ctx, void *left, const void *right)
{
    const extremes *e = ctx;
    uint8_t take;
    compare(e, &take, (const char *)right + VALUE_AT, (char *)left + VALUE_AT, 1);
    if (take)
        memcpy(left, right, e->result_bytes);
}

dome_status dvec__struct_extreme(dome_operation_code code, const dvec *x, bool largest, uint64_t *position, void *value)
{
    dome_operation op;
    dome__begin(&op, x->env, code, x->object, 0);
    const size_t bytes = DVEC_VALUE(x), rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    extremes e = {.ops = x->type->ops, .largest = largest, .width = x->width, .bytes = bytes, .result_bytes = VALUE_AT + rounded};
    dome_field fields[] = {{"position", DOME_U64, 0, 1}, {"value", x->type, VALUE_AT, 1}};
    const struct dome_type_desc type = {.name = "position and value",
                                        .kind = DOME_KIND_STRUCT,
                                        .size = e.result_bytes,
                                        .portable = sizeof(uint64_t) + x->type->portable,
                                        .nfields = G_N_ELEMENTS(fields),
                                        .fields = fields};
    const dvec_fold fold = {x, &type, find_in_block, take_better, &e, "less", x->env->options.check_reductions};
    int status = e.ops && e.ops->less ? DOME_OK : lacks(x, "less");
    if (status == DOME_OK && x->length == 0)
        status = dome__fail(x->env, DOME_ERR_ARGUMENT, "the vector is empty");
    char *result = NULL;
    if (status == DOME_OK) {
        e.best = values_new(LANES * bytes);
        result = values_new(e.result_bytes);
        status = dvec__agree_memory(x, e.best && result, "the smallest values");
    }
    if (status == DOME_OK)
        status = dvec__fold(&fold, result);
    if (status == DOME_OK && position)
        memcpy(position, result, sizeof *position);
    if (status == DOME_OK && value)
        memcpy(value, result + VALUE_AT, bytes);
    free(e.best);
    free(result);
    dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    return dome__end(&op, status);
}

dome_status dvec_min_value_struct(const dvec *x, void *result)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    DOME_NEEDS(result, "the place for the result", DOME_ERR_ARGUMENT);
    return dvec__struct_extreme(DOME_OP_DVEC_MIN_VALUE_STRUCT, x, false, NULL, result);
}

dome_status dvec_max_value_struct(const dvec *x, void *result)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    DOME_NEEDS(result, "the place for the result", DOME_ERR_ARGUMENT);
    return dvec__struct_extreme(DOME_OP_DVEC_MAX_VALUE_STRUCT, x, true, NULL, result);
}

/* ---- prefix sums ---- */

typedef struct scan {
    dvec *z;
    const dome_type_ops *ops;
    char *before; /* room for PIECE copies of what stands before a block */
    uint64_t piece;
} scan;

/* Scans each block of this task's on its own. */
static void scan_blocks(const scan *s, const dvec *x)
{
    const dvec *z = s->z;
    const uint64_t block = dome_layout_block_size(z->layout), element = DVEC_ELEMENT(z);
    dome_span span[2];
    const int spans = dvec__spans_of(z, z->env->rank, span);
    uint64_t place = 0;
    for (int k = 0; k < spans; place += span[k++].count) {
        const char *from = x->data + (x->distribution == z->distribution ? place : span[k].first) * element;
        char *to = z->data + place * element;
        for (uint64_t i = 0; i < span[k].count; i++, from += element, to += element) {
            if (i % block)
                s->ops->add(to, to - element, from, z->width);
            else if (to != from)
                memcpy(to, from, element);
        }
    }
}

static void take_last(void *ctx, uint64_t first, size_t count, void *result, const void *z)
{
    const scan *s = ctx;
    (void)first;
    memcpy(result, (const char *)z + (count - 1) * DVEC_ELEMENT(s->z), DVEC_ELEMENT(s->z));
}

static void add_elements(void *ctx, void *left, const void *right)
{
    const scan *s = ctx;
    s->ops->add(left, left, right, s->z->width);
}

static void add_before(void *ctx, uint64_t block, const void *prefix)
{
    const scan *s = ctx;
    const dvec *z = s->z;
    const dome_span span = dome_layout_block(z->layout, block);
    const uint64_t element = DVEC_ELEMENT(z);
    const uint64_t place = dome_layout_position(z->layout, z->layout_rank, span.first);
    if (!prefix || place == UINT64_MAX)
        return;
    char *to = z->data + place * element;
    for (uint64_t k = 0; k < s->piece; k++)
        memcpy(s->before + k * element, prefix, element);
    for (uint64_t done = 0, n; done < span.count; done += n) {
        n = MIN(s->piece, span.count - done);
        s->ops->add(to + done * element, s->before, to + done * element, n * z->width);
    }
}

/* The operands have been checked and are up to date. */
static int scan_struct(dvec *z, const dvec *x)
{
    scan s = {.z = z, .ops = z->type->ops, .piece = MAX(LANES / z->width, 1)};
    dome_field values = {"values", z->type, 0, z->width};
    const struct dome_type_desc element = {.name = "element",
                                           .kind = DOME_KIND_STRUCT,
                                           .size = DVEC_ELEMENT(z),
                                           .portable = z->type->portable * z->width,
                                           .nfields = 1,
                                           .fields = &values};
    const dvec_fold fold = {z, &element, take_last, add_elements, &s, "add", false};
    s.before = values_new(s.piece * DVEC_ELEMENT(z));
    int status = dvec__agree_memory(z, s.before, "the sums before blocks");
    if (status == DOME_OK) {
        scan_blocks(&s, x);
        dvec__overwritten(z);
        status = dvec__fold_prefixes(&fold, add_before, &s);
    }
    free(s.before);
    return status;
}

dome_status dvec__struct_scan(dvec *z, const dvec *x)
{
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SCAN, z->object, dvec__id(x));
    int status = dvec__conforms(z, x, true, true);
    if (status == DOME_OK && !(z->type->ops && z->type->ops->add))
        status = lacks(z, "add");
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        dvec__complete(z);
        status = scan_struct(z, x);
        dvec__overwritten(z);
    }
    return dome__end(&op, status);
}
