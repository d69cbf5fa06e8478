/* dome ckpt diff of two images of captured programs: active functions, globals and blocks of the heap, by their names. */
#include "dome_ckpt_image.h"

#include <inttypes.h>
#include <string.h>

enum { VALUES_SHOWN = 8, BLOCKS_SHOWN = 20 };

typedef struct comparison {
    dome_ckpt_image *a, *b;
    bool all;
    void (*tell)(void *ctx, const char *text);
    void *ctx;
    /* what differs in the variable that is being compared */
    uint64_t count;
    GString *first; /* "[5].next: NULL and heap 3" */
    /* blocks of the heap */
    uint64_t blocks, only_a, only_b, first_a, first_b;
} comparison;

static void tell(comparison *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(comparison *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    dome__ckpt_make_plain(text);
    c->tell(c->ctx, text);
    g_free(text);
}

/* ---- values ---- */

static void found(comparison *c, const GString *path, const dome_capture_shown_type *type, const uint8_t *a, const uint8_t *b)
{
    if (c->count++ > 0)
        return;
    g_string_printf(c->first, "%s: ", path->str);
    dome__ckpt_image_value(c->first, c->a, type, a, VALUES_SHOWN);
    g_string_append(c->first, " and ");
    dome__ckpt_image_value(c->first, c->b, type, b, VALUES_SHOWN);
}

static void compare_values(comparison *c, GString *path, const dome_capture_shown_type *type, const uint8_t *a, const uint8_t *b)
{
    const gsize length = path->len;
    if (memcmp(a, b, type->bytes) == 0)
        return;
    if (type->kind == DOME_CAPTURE_KIND_ARRAY) {
        for (uint64_t k = 0; k < type->count; k++) {
            const uint64_t at = k * type->element->bytes;
            g_string_append_printf(path, "[%" PRIu64 "]", k);
            compare_values(c, path, type->element, a + at, b + at);
            g_string_truncate(path, length);
        }
        return;
    }
    const dome_capture_shown_member *used = type->kind == DOME_CAPTURE_KIND_UNION ? dome__capture_shown_in_use(type, a) : NULL;
    if (type->kind == DOME_CAPTURE_KIND_STRUCT || (used && used == dome__capture_shown_in_use(type, b))) {
        for (uint64_t k = 0; k < type->count; k++) {
            const dome_capture_shown_member *m = &type->members[k];
            if (type->kind == DOME_CAPTURE_KIND_UNION && m != used)
                continue;
            g_string_append_printf(path, ".%s", m->name);
            compare_values(c, path, m->type, a + m->at, b + m->at);
            g_string_truncate(path, length);
        }
        return;
    }
    found(c, path, type, a, b);
}

/* Prints the differences that were gathered of a variable, and begins anew. */
static void end_variable(comparison *c, const char *name)
{
    if (c->count == 1)
        tell(c, "%s%s", name, c->first->str);
    else if (c->count > 1)
        tell(c, "%s: %" PRIu64 " values differ, the first is %s", name, c->count,
             *c->first->str == '.' ? c->first->str + 1 : c->first->str);
    c->count = 0;
}

/* ---- active functions ---- */

static void compare_variables(comparison *c, const char *name, const dome_capture_shown_type *a, const dome_capture_shown_type *b,
                              const uint8_t *of_a, const uint8_t *of_b)
{
    if (!dome__capture_shown_types_equal(a, b)) {
        tell(c, "%s: its variables are others", name);
        return;
    }
    for (uint64_t k = 0; a && k < a->count; k++) {
        const dome_capture_shown_member *m = &a->members[k];
        char *variable = g_strdup_printf("%s: %s", name, m->name);
        GString *path = g_string_new(NULL);
        compare_values(c, path, m->type, of_a + m->at, of_b + m->at);
        end_variable(c, variable);
        g_string_free(path, TRUE);
        g_free(variable);
    }
}

static void compare_frames(comparison *c)
{
    const GArray *a = c->a->inspection->frames, *b = c->b->inspection->frames;
    if (a->len != b->len)
        tell(c, "%u and %u active functions", a->len, b->len);
    for (guint k = 0; k < MIN(a->len, b->len); k++) {
        const dome_capture_shown_frame *x = &g_array_index(a, dome_capture_shown_frame, k),
                                       *y = &g_array_index(b, dome_capture_shown_frame, k);
        char *name = g_strdup_printf("#%u %s", k, x->function->name), *at = dome__ckpt_image_place(x),
             *other = dome__ckpt_image_place(y);
        const bool same = strcmp(x->function->name, y->function->name) == 0;
        if (!same) {
            tell(c, "%s is %s in the second", name, y->function->name);
        } else {
            if (x->point != y->point || strcmp(at, other) != 0)
                tell(c, "%s: at %s and at %s%s", name, at, other, strcmp(at, other) == 0 ? ", at another point" : "");
            compare_variables(c, name, x->function->saved, y->function->saved, x->saved, y->saved);
            compare_variables(c, name, x->function->memory, y->function->memory, x->memory, y->memory);
        }
        g_free(name);
        g_free(at);
        g_free(other);
        if (!same)
            break;
    }
}

static const dome_capture_shown_stream *find_stream(const dome_capture_inspection *i, uint64_t number)
{
    for (guint k = 0; k < i->streams->len; k++)
        if (g_array_index(i->streams, dome_capture_shown_stream, k).number == number)
            return &g_array_index(i->streams, dome_capture_shown_stream, k);
    return NULL;
}

static void compare_streams(comparison *c)
{
    const dome_capture_inspection *a = c->a->inspection, *b = c->b->inspection;
    for (guint k = 0; k < a->streams->len; k++) {
        const dome_capture_shown_stream *x = &g_array_index(a->streams, dome_capture_shown_stream, k),
                                        *y = find_stream(b, x->number);
        if (!y || strcmp(x->path, y->path) != 0)
            tell(c, "stream %" PRIu64 " (%s): only in the first", x->number, x->path);
        else if (x->position != y->position || x->length != y->length)
            tell(c, "stream %" PRIu64 " (%s): position %" PRId64 " and %" PRId64 ", length %" PRId64 " and %" PRId64, x->number,
                 x->path, (int64_t)x->position, (int64_t)y->position, (int64_t)x->length, (int64_t)y->length);
    }
    for (guint k = 0; k < b->streams->len; k++) {
        const dome_capture_shown_stream *y = &g_array_index(b->streams, dome_capture_shown_stream, k),
                                        *x = find_stream(a, y->number);
        if (!x || strcmp(x->path, y->path) != 0)
            tell(c, "stream %" PRIu64 " (%s): only in the second", y->number, y->path);
    }
}

/* ---- globals and heap ---- */

/* Pieces of both, in the order that they have in both: by name or serial, and by the first element. */
static int order(const dome_capture_piece *a, const dome_capture_piece *b)
{
    int by = 0;
    if (!a->global != !b->global)
        return a->global ? -1 : 1;
    if (a->global)
        by = strcmp(a->global->name, b->global->name);
    else
        by = a->serial < b->serial ? -1 : a->serial > b->serial;
    return by ? by : a->first < b->first ? -1 : a->first > b->first;
}

static bool same_shape(const dome_capture_piece *a, const dome_capture_piece *b)
{
    return a->elements == b->elements && a->tail == b->tail && a->count == b->count &&
           dome__capture_shown_types_equal(a->type, b->type);
}

static void compare_piece(comparison *c, const dome_capture_piece *a, const dome_capture_piece *b)
{
    GString *path = g_string_new(NULL);
    if (memcmp(a->bytes, b->bytes, a->length) != 0) {
        for (uint64_t k = 0; k < a->count; k++) {
            if (a->elements > 1)
                g_string_printf(path, "[%" PRIu64 "]", a->first + k);
            compare_values(c, path, a->type, a->bytes + k * a->type->bytes, b->bytes + k * a->type->bytes);
        }
        for (uint64_t k = 0; k < a->tail; k++) {
            const uint64_t at = a->type->bytes + k * a->type->tail->bytes;
            g_string_printf(path, ".%s[%" PRIu64 "]", a->type->members[a->type->count - 1].name, k);
            compare_values(c, path, a->type->tail, a->bytes + at, b->bytes + at);
        }
    }
    g_string_free(path, TRUE);
}

static char *piece_name(const dome_capture_piece *p)
{
    if (p->global)
        return g_strdup_printf("global %s", p->global->name);
    return p->elements == 1 && !p->tail ? g_strdup_printf("heap %" PRIu64 " (%s)", p->serial, p->type->name)
                                        : g_strdup_printf("heap %" PRIu64 " (%s [%" PRIu64 "])", p->serial, p->type->name,
                                                          p->tail ? p->tail : p->elements);
}

static void only_in(comparison *c, const dome_capture_piece *p, bool second)
{
    if (p->first > 0)
        return;
    if (p->global) {
        tell(c, "global %s: only in the %s", p->global->name, second ? "second" : "first");
        return;
    }
    uint64_t *count = second ? &c->only_b : &c->only_a;
    if (++*count == 1)
        *(second ? &c->first_b : &c->first_a) = p->serial;
    if (c->all) {
        char *name = piece_name(p);
        tell(c, "%s: only in the %s", name, second ? "second" : "first");
        g_free(name);
    }
}

/* The pieces of a large global or block are one variable. */
static void end_piece(comparison *c, const dome_capture_piece *p)
{
    if (c->count == 0 || p->first + p->count < p->elements)
        return;
    c->blocks += !p->global;
    if (p->global || c->all || c->blocks <= BLOCKS_SHOWN) {
        char *name = piece_name(p);
        end_variable(c, name);
        g_free(name);
    }
    c->count = 0;
}

static bool compare_pieces(comparison *c, char **message)
{
    dome_capture_piece a, b;
    char *of_b = NULL;
    bool more_a = dome__capture_inspect_next(c->a->inspection, &a, message),
         more_b = !*message && dome__capture_inspect_next(c->b->inspection, &b, &of_b);
    while ((more_a || more_b) && !*message && !of_b) {
        const int by = !more_b ? -1 : !more_a ? 1 : order(&a, &b);
        if (by < 0) {
            only_in(c, &a, false);
        } else if (by > 0) {
            only_in(c, &b, true);
        } else if (same_shape(&a, &b)) {
            compare_piece(c, &a, &b);
            end_piece(c, &a);
        } else if (a.first == 0) {
            char *name = piece_name(&a), *other = piece_name(&b);
            c->blocks += !a.global;
            if (a.global || c->all || c->blocks <= BLOCKS_SHOWN)
                tell(c, "%s: %s in the second%s", name, other, strcmp(name, other) == 0 ? ", of another form" : "");
            g_free(name);
            g_free(other);
        }
        if (by <= 0)
            more_a = dome__capture_inspect_next(c->a->inspection, &a, message);
        if (by >= 0 && !*message)
            more_b = dome__capture_inspect_next(c->b->inspection, &b, &of_b);
    }
    if (!c->all && c->blocks > BLOCKS_SHOWN)
        tell(c, "heap: %" PRIu64 " blocks differ; --all shows each", c->blocks);
    if (!c->all && c->only_a > 0)
        tell(c, "heap: %" PRIu64 " blocks only in the first, the first of them is %" PRIu64, c->only_a, c->first_a);
    if (!c->all && c->only_b > 0)
        tell(c, "heap: %" PRIu64 " blocks only in the second, the first of them is %" PRIu64, c->only_b, c->first_b);
    if (of_b)
        *message = of_b;
    return !*message;
}

bool dome__ckpt_image_compare(dome_ckpt_image *a, dome_ckpt_image *b, bool all, void (*function)(void *ctx, const char *text),
                              void *ctx, char **message)
{
    comparison c = {.a = a, .b = b, .all = all, .tell = function, .ctx = ctx, .first = g_string_new(NULL)};
    *message = NULL;
    if (a->inspection->polls != b->inspection->polls)
        tell(&c, "%" PRIu64 " and %" PRIu64 " polls counted", a->inspection->polls, b->inspection->polls);
    compare_frames(&c);
    compare_streams(&c);
    const bool good = compare_pieces(&c, message);
    g_string_free(c.first, TRUE);
    return good;
}
