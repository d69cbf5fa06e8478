#include "store/store_inspect.h"

#include "store/format_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

static void free_column(void *data)
{
    g_free(((dome_ckpt_column *)data)->name);
    g_free(data);
}

static bool add_column(GPtrArray *columns, const dome_ckpt_column *at, const char *last, dome_type_kind kind, uint64_t offset)
{
    if (columns->len == DOME_CKPT_COLUMNS_MAX)
        return false;
    dome_ckpt_column *column = g_new(dome_ckpt_column, 1);
    *column = *at;
    column->name = g_strconcat(at->name, *at->name && *last ? "." : "", last, NULL);
    column->kind = kind;
    column->offset += offset;
    g_ptr_array_add(columns, column);
    return true;
}

static bool add_basic(GPtrArray *columns, const dome_ckpt_column *at, dome_type_kind kind)
{
    if (kind == DOME_KIND_C64)
        return add_column(columns, at, "re", DOME_KIND_F32, 0) && add_column(columns, at, "im", DOME_KIND_F32, 4);
    if (kind == DOME_KIND_C128)
        return add_column(columns, at, "re", DOME_KIND_F64, 0) && add_column(columns, at, "im", DOME_KIND_F64, 8);
    return add_column(columns, at, "", kind, 0);
}

/* `at`: the position in an element at which the value of this type begins. False once there are too many columns. */
static bool add_columns(const dome_ckpt *ckpt, uint32_t type, const dome_ckpt_column *at, unsigned nested, GPtrArray *columns)
{
    if (type < DOME_CKPT_FIRST_STRUCT)
        return add_basic(columns, at, (dome_type_kind)(type - 1));
    if (nested == DOME_CKPT_DEPTH_MAX)
        return false;
    const dome_ckpt_struct *s = &g_array_index(ckpt->structs, dome_ckpt_struct, type - DOME_CKPT_FIRST_STRUCT);
    uint64_t offset = at->offset;
    bool all = true;
    for (guint i = 0; all && i < s->fields->len; i++) {
        const dome_ckpt_field *f = &g_array_index(s->fields, dome_ckpt_field, i);
        dome_ckpt_column inner = *at;
        inner.name = g_strconcat(at->name, *at->name ? "." : "", f->name, NULL);
        inner.offset = offset;
        if (f->count > 1) {
            inner.arrays[inner.depth].count = f->count;
            inner.arrays[inner.depth++].stride = dome__ckpt_type_bytes(ckpt, f->type);
        }
        all = add_columns(ckpt, f->type, &inner, nested + 1, columns);
        g_free(inner.name);
        offset += f->count * dome__ckpt_type_bytes(ckpt, f->type);
    }
    return all;
}

GPtrArray *dome__ckpt_columns(const dome_ckpt *ckpt, uint32_t type, bool *all)
{
    GPtrArray *columns = g_ptr_array_new_with_free_func(free_column);
    dome_ckpt_column at = {.name = (char *)""};
    *all = type == DOME_CKPT_NO_TYPE || add_columns(ckpt, type, &at, 0, columns);
    return columns;
}

bool dome__ckpt_types_equal(const dome_ckpt *a, uint32_t of_a, const dome_ckpt *b, uint32_t of_b)
{
    if (of_a < DOME_CKPT_FIRST_STRUCT || of_b < DOME_CKPT_FIRST_STRUCT)
        return of_a == of_b;
    /* The structs that a type needs precede it, so the whole table up to them is compared, without recursion: a file may nest
     * them deeply, or use one many times. */
    guint last_a = of_a - DOME_CKPT_FIRST_STRUCT, last_b = of_b - DOME_CKPT_FIRST_STRUCT;
    GHashTable *same = g_hash_table_new(g_str_hash, g_str_equal); /* names of structs that are equal in both */
    GHashTable *by_name = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i <= last_b; i++) {
        dome_ckpt_struct *s = &g_array_index(b->structs, dome_ckpt_struct, i);
        g_hash_table_insert(by_name, s->name, s);
    }
    for (guint i = 0; i <= last_a; i++) {
        const dome_ckpt_struct *s = &g_array_index(a->structs, dome_ckpt_struct, i), *t = g_hash_table_lookup(by_name, s->name);
        bool equal = t && s->fields->len == t->fields->len;
        for (guint k = 0; equal && k < s->fields->len; k++) {
            const dome_ckpt_field *f = &g_array_index(s->fields, dome_ckpt_field, k),
                                  *g = &g_array_index(t->fields, dome_ckpt_field, k);
            const char *name = dome__ckpt_type_name(a, f->type);
            equal = strcmp(f->name, g->name) == 0 && f->count == g->count &&
                    strcmp(name, dome__ckpt_type_name(b, g->type)) == 0 &&
                    (f->type < DOME_CKPT_FIRST_STRUCT ? f->type == g->type : g_hash_table_contains(same, name));
        }
        if (equal)
            g_hash_table_add(same, s->name);
    }
    const char *name = dome__ckpt_type_name(a, of_a);
    bool equal = strcmp(name, dome__ckpt_type_name(b, of_b)) == 0 && g_hash_table_contains(same, name);
    g_hash_table_destroy(by_name);
    g_hash_table_destroy(same);
    return equal;
}

uint64_t dome__ckpt_block_values(const dome_ckpt_object *object, uint64_t block)
{
    return dome__ckpt_block_elements(object, block) * object->width;
}

/* ---- values ---- */

static uint64_t big_endian(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | from[i];
    return value;
}

static unsigned kind_bytes(dome_type_kind kind)
{
    switch (kind) {
    case DOME_KIND_I8:
    case DOME_KIND_U8:
        return 1;
    case DOME_KIND_I16:
    case DOME_KIND_U16:
        return 2;
    case DOME_KIND_I32:
    case DOME_KIND_U32:
    case DOME_KIND_F32:
        return 4;
    default:
        return 8;
    }
}

static dome_ckpt_value decode(dome_type_kind kind, const uint8_t *from)
{
    uint64_t bits;
    float single;
    double f;
    switch (kind) {
    case DOME_KIND_I8:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = (int8_t)from[0]}};
    case DOME_KIND_I16:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = (int16_t)big_endian(from, 2)}};
    case DOME_KIND_I32:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = (int32_t)big_endian(from, 4)}};
    case DOME_KIND_I64:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = (int64_t)big_endian(from, 8)}};
    case DOME_KIND_U8:
    case DOME_KIND_U16:
    case DOME_KIND_U32:
    case DOME_KIND_U64:
        return (dome_ckpt_value){DOME_CKPT_UNSIGNED, {.u = big_endian(from, kind_bytes(kind))}};
    case DOME_KIND_F32: {
        uint32_t word = (uint32_t)big_endian(from, 4);
        memcpy(&single, &word, 4);
        return (dome_ckpt_value){DOME_CKPT_FLOAT, {.f = single}};
    }
    default:
        bits = big_endian(from, 8);
        memcpy(&f, &bits, 8);
        return (dome_ckpt_value){DOME_CKPT_FLOAT, {.f = f}};
    }
}

static bool less(dome_ckpt_value a, dome_ckpt_value b)
{
    return a.class == DOME_CKPT_SIGNED ? a.i < b.i : a.class == DOME_CKPT_UNSIGNED ? a.u < b.u : a.f < b.f;
}

static long double number(dome_ckpt_value v)
{
    return v.class == DOME_CKPT_SIGNED ? (long double)v.i : v.class == DOME_CKPT_UNSIGNED ? (long double)v.u : v.f;
}

void dome__ckpt_value_text(dome_ckpt_value value, dome_type_kind kind, char text[DOME_CKPT_TEXT])
{
    if (value.class == DOME_CKPT_SIGNED)
        snprintf(text, DOME_CKPT_TEXT, "%" PRId64, value.i);
    else if (value.class == DOME_CKPT_UNSIGNED)
        snprintf(text, DOME_CKPT_TEXT, "%" PRIu64, value.u);
    else if (isnan(value.f))
        strcpy(text, "nan");
    else if (isinf(value.f))
        strcpy(text, value.f < 0 ? "-inf" : "inf");
    else
        /* The shortest of the usual representations that converts back to the value. */
        for (int digits = kind == DOME_KIND_F32 ? 6 : 15; digits <= 17; digits++) {
            char dot[G_ASCII_DTOSTR_BUF_SIZE], format[16];
            snprintf(format, sizeof format, "%%.%dg", digits);
            g_ascii_formatd(dot, sizeof dot, format, value.f);
            g_strlcpy(text, dot, DOME_CKPT_TEXT);
            double again = g_ascii_strtod(text, NULL);
            if (kind == DOME_KIND_F32 ? (float)again == (float)value.f : again == value.f)
                break;
        }
}

/* ---- walking ---- */

typedef void (*at_value)(void *context, uint64_t element, const uint8_t *data);

static void walk_arrays(const dome_ckpt_column *column, unsigned level, const uint8_t *at, uint64_t element, at_value visit,
                        void *context)
{
    if (level == column->depth) {
        visit(context, element, at);
        return;
    }
    for (uint64_t i = 0; i < column->arrays[level].count; i++)
        walk_arrays(column, level + 1, at + i * column->arrays[level].stride, element, visit, context);
}

static inline void walk(const dome_ckpt_column *column, const void *data, uint64_t elements, uint64_t element_bytes,
                        at_value visit, void *context)
{
    const uint8_t *at = (const uint8_t *)data + column->offset;
    for (uint64_t e = 0; e < elements; e++, at += element_bytes)
        walk_arrays(column, 0, at, e, visit, context);
}

typedef struct visiting {
    dome_type_kind kind;
    dome_ckpt_visit visit;
    void *context;
} visiting;

static void visit_value(void *context, uint64_t element, const uint8_t *data)
{
    const visiting *v = context;
    v->visit(v->context, element, decode(v->kind, data));
}

void dome__ckpt_each_value(const dome_ckpt_column *column, const void *data, uint64_t elements, uint64_t element_bytes,
                           dome_ckpt_visit visit, void *context)
{
    visiting v = {column->kind, visit, context};
    walk(column, data, elements, element_bytes, visit_value, &v);
}

/* ---- statistics ---- */

static void add_value(void *context, uint64_t element, dome_ckpt_value v)
{
    dome_ckpt_statistics *s = context;
    (void)element;
    s->count++;
    if (v.class == DOME_CKPT_FLOAT && isnan(v.f)) {
        s->nan++;
        return;
    }
    bool first = s->count - s->nan == 1;
    if (first || less(v, s->min))
        s->min = v;
    if (first || less(s->max, v))
        s->max = v;
    if (v.class == DOME_CKPT_FLOAT && isinf(v.f)) {
        s->infinite++;
        return;
    }
    /* Neumaier's sum: keeps the rounding error of each addition. */
    long double x = number(v), sum = s->sum + x;
    s->lost += fabsl(s->sum) >= fabsl(x) ? (s->sum - sum) + x : (x - sum) + s->sum;
    s->sum = sum;
}

void dome__ckpt_statistics_add(dome_ckpt_statistics *statistics, const dome_ckpt_column *column, const void *data,
                               uint64_t elements, uint64_t element_bytes)
{
    dome__ckpt_each_value(column, data, elements, element_bytes, add_value, statistics);
}

double dome__ckpt_mean(const dome_ckpt_statistics *s)
{
    uint64_t finite = s->count - s->nan - s->infinite;
    return finite ? (double)((s->sum + s->lost) / (long double)finite) : (double)NAN;
}

/* ---- differences ---- */

typedef struct comparing {
    dome_ckpt_difference *difference;
    dome_type_kind kind;
    const uint8_t *a, *b;
    uint64_t before;
} comparing;

static void compare_value(void *context, uint64_t element, const uint8_t *at)
{
    comparing *c = context;
    dome_ckpt_difference *d = c->difference;
    const uint8_t *of_b = c->b + (at - c->a);
    if (memcmp(at, of_b, kind_bytes(c->kind)) == 0)
        return;
    dome_ckpt_value a = decode(c->kind, at), b = decode(c->kind, of_b);
    if (d->count++ == 0) {
        d->first = c->before + element;
        d->a = a;
        d->b = b;
    }
    double distance = (double)fabsl(number(a) - number(b));
    if (distance > d->largest) /* false if one is NaN */
        d->largest = distance;
}

void dome__ckpt_difference_add(dome_ckpt_difference *difference, const dome_ckpt_column *column, const dome_ckpt_pair *pair)
{
    comparing c = {difference, column->kind, pair->a, pair->b, pair->before};
    walk(column, pair->a, pair->elements, pair->element_bytes, compare_value, &c);
}
