#include "files/array_text.h"

#include "core/type_private.h"
#include "files/decimal.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* NumPy's print options: an array of more values is shown in part, so many of each end; digits behind the point at most; the
 * length of a line; limits of numbers without an exponent. */
enum { THRESHOLD = 1000, EDGE = 3, PRECISION = 8, LINE = 75 };

/* Fields of structs that are longer are written as their first value alone demands. */
static const uint64_t MOST_BYTES = 1 << 28;

/* ---- which values are shown ---- */

dome_array_view dome__array_view(int ndim, const uint64_t shape[])
{
    dome_array_view view = {.ndim = ndim, .count = 1};
    uint64_t total = 1;
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(total, shape[d], &total))
            total = UINT64_MAX;
    for (int d = 0; d < ndim; d++) {
        view.shape[d] = shape[d];
        view.shown[d] = total > THRESHOLD ? MIN(shape[d], 2 * EDGE) : shape[d];
        view.count *= view.shown[d];
    }
    return view;
}

uint64_t dome__array_position(const dome_array_view *view, uint64_t k)
{
    uint64_t position = 0, stride = 1;
    for (int d = view->ndim - 1; d >= 0; d--) {
        uint64_t at = k % view->shown[d];
        k /= view->shown[d];
        if (view->shown[d] < view->shape[d] && at >= EDGE)
            at += view->shape[d] - view->shown[d];
        position += at * stride;
        stride *= view->shape[d];
    }
    return position;
}

/* ---- single numbers ---- */

/* The digits of a finite number. For the width of a column NumPy takes the fewest that stand for the number alone, or those that
 * are left when it is rounded to PRECISION behind the point. */
typedef struct digits {
    char whole[DOME_DECIMAL_LONGEST + 310], fraction[DOME_DECIMAL_LONGEST]; /* before the point, with the sign; behind it */
    char exponent[8];                                                       /* "+02" of a scientific one */
} digits;

static void drop_zeros(char *fraction)
{
    for (size_t n = strlen(fraction); n > 0 && fraction[n - 1] == '0';)
        fraction[--n] = 0;
}

/* Takes a text apart: "-12.50e+03". The fraction keeps its zeros. */
static void split(const char *text, digits *d)
{
    const char *point = strchr(text, '.'), *e = strchr(text, 'e'), *end = e ? e : text + strlen(text);
    const char *whole_end = point ? point : end;
    g_snprintf(d->whole, sizeof d->whole, "%.*s", (int)(whole_end - text), text);
    g_snprintf(d->fraction, sizeof d->fraction, "%.*s", point ? (int)(end - point - 1) : 0, point ? point + 1 : "");
    g_snprintf(d->exponent, sizeof d->exponent, "%s", e ? e + 1 : "");
}

/* With so many digits behind the point. */
static void rounded(double value, int precision, digits *d)
{
    char text[DOME_DECIMAL_LONGEST], format[8];
    g_snprintf(format, sizeof format, "%%.%de", precision);
    split(g_ascii_formatd(text, sizeof text, format, value), d);
}

static void scientific(double value, bool single, digits *d)
{
    char text[DOME_DECIMAL_LONGEST];
    dome__decimal_shortest(value, single, text);
    split(text, d);
    if (strlen(d->fraction) > PRECISION)
        rounded(value, PRECISION, d);
    drop_zeros(d->fraction);
}

static void positional(double value, bool single, digits *d)
{
    char text[DOME_DECIMAL_LONGEST + 310], format[8];
    dome__decimal_shortest(value, single, text);
    split(text, d);
    const int behind = (int)strlen(d->fraction) - atoi(d->exponent); /* digits behind the point */
    g_snprintf(format, sizeof format, "%%.%df", CLAMP(behind, 0, PRECISION));
    split(g_ascii_formatd(text, sizeof text, format, value), d);
    drop_zeros(d->fraction);
}

/* ---- how the numbers of an array are written, so that they stand below each other ---- */

typedef struct real_format {
    bool scientific, sign, single;
    int left, right;    /* columns before and behind the point */
    int precision;      /* of scientific ones: digits behind the point */
    int exponent_width; /* digits */
} real_format;

/* Real numbers: value k is at the address `first` + k * `stride`. */
typedef struct reals {
    const char *first;
    size_t stride;
    uint64_t count;
    bool single;
} reals;

static double real_at(const reals *r, uint64_t k)
{
    const char *at = r->first + k * r->stride;
    double wide;
    float narrow;
    if (!r->single) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return (double)narrow;
}

static bool needs_exponent(const reals *r)
{
    double most = 0, least = INFINITY;
    for (uint64_t k = 0; k < r->count; k++) {
        const double size = fabs(real_at(r, k));
        if (isfinite(size) && size > 0) {
            most = fmax(most, size);
            least = fmin(least, size);
        }
    }
    const double ratio = r->single ? (double)((float)most / (float)least) : most / least;
    return most > 0 && (most >= 1e8 || least < 0.0001 || ratio > 1000);
}

static int width_of(const digits *d, const real_format *f)
{
    return (int)strlen(d->whole) + (f->sign && d->whole[0] != '-');
}

static real_format real_format_of(const reals *r, bool sign)
{
    real_format f = {.scientific = needs_exponent(r), .sign = sign, .single = r->single};
    bool any_special = false;
    int special = sign ? 4 : 3; /* columns of "nan" or "inf" */
    for (uint64_t k = 0; k < r->count; k++) {
        const double value = real_at(r, k);
        digits d;
        if (!isfinite(value)) {
            any_special = true;
            special = MAX(special, isinf(value) && value < 0 ? 4 : 3);
            continue;
        }
        (f.scientific ? scientific : positional)(value, r->single, &d);
        f.left = MAX(f.left, width_of(&d, &f));
        f.right = MAX(f.right, (int)strlen(d.fraction));
        f.exponent_width = MAX(f.exponent_width, (int)strlen(d.exponent) - 1);
    }
    f.precision = f.right;
    if (f.scientific)
        f.right += f.exponent_width + 2;
    if (any_special)
        f.left = MAX(f.left, special - (f.right + 1));
    return f;
}

static void put_special(GString *out, const real_format *f, double value)
{
    const char *text = isnan(value) ? (f->sign ? "+nan" : "nan") : value < 0 ? "-inf" : f->sign ? "+inf" : "inf";
    g_string_append_printf(out, "%*s", f->left + f->right + 1, text);
}

static void put_real(GString *out, const real_format *f, double value)
{
    digits d;
    if (!isfinite(value)) {
        put_special(out, f, value);
        return;
    }
    if (f->scientific)
        rounded(value, f->precision, &d);
    else
        positional(value, f->single, &d);
    const char *sign = f->sign && d.whole[0] != '-' ? "+" : "";
    g_string_append_printf(out, "%*s%s%s.", MAX(f->left - width_of(&d, f), 0), "", sign, d.whole);
    g_string_append_printf(out, "%-*s", f->scientific ? 0 : f->right, d.fraction);
    if (f->scientific)
        g_string_append_printf(out, "e%c%0*d", d.exponent[0], f->exponent_width, abs(atoi(d.exponent)));
}

/* ---- values of any type ---- */

/* How the values of a type are written. */
typedef struct value_format {
    dome_type type;
    real_format part[2];         /* of real numbers, or the parts of complex ones */
    int width;                   /* of integers */
    struct value_format *fields; /* of structs */
} value_format;

static void integer_text(dome_type_kind kind, const char *at, char text[24])
{
    switch (kind) {
#define INTEGER(name, ctype, wide, format)                                                                                       \
    case DOME_KIND_##name: {                                                                                                     \
        ctype value;                                                                                                             \
        memcpy(&value, at, sizeof value);                                                                                        \
        g_snprintf(text, 24, "%" format, (wide)value);                                                                           \
        return;                                                                                                                  \
    }
        INTEGER(I8, int8_t, int64_t, PRId64)
        INTEGER(I16, int16_t, int64_t, PRId64)
        INTEGER(I32, int32_t, int64_t, PRId64)
        INTEGER(I64, int64_t, int64_t, PRId64)
        INTEGER(U8, uint8_t, uint64_t, PRIu64)
        INTEGER(U16, uint16_t, uint64_t, PRIu64)
        INTEGER(U32, uint32_t, uint64_t, PRIu64)
        INTEGER(U64, uint64_t, uint64_t, PRIu64)
#undef INTEGER
    default:
        text[0] = 0;
    }
}

static void format_clear(value_format *f)
{
    for (size_t k = 0; f->fields && k < f->type->nfields; k++)
        format_clear(&f->fields[k]);
    g_free(f->fields);
}

/* For `count` values, `stride` bytes apart, of which each is `items` values of the type. */
static value_format format_of(dome_type type, const char *first, uint64_t count, size_t stride, size_t items)
{
    value_format f = {.type = type};
    const dome_type_kind kind = dome_type_kind_of(type);
    char text[24];
    if (items != 1) { /* as an array of its own: the items lie one after the other in each value */
        const size_t bytes = items * type->size;
        char *all = count < MOST_BYTES / bytes ? g_try_malloc((gsize)(count * bytes)) : NULL;
        for (uint64_t k = 0; all && k < count; k++)
            memcpy(all + k * bytes, first + k * stride, bytes);
        f = all ? format_of(type, all, count * items, type->size, 1) : format_of(type, first, items, type->size, 1);
        g_free(all);
    } else if (kind == DOME_KIND_STRUCT) {
        f.fields = g_new0(value_format, type->nfields);
        for (size_t k = 0; k < type->nfields; k++)
            f.fields[k] = format_of(type->fields[k].type, first + type->fields[k].offset, count, stride, type->fields[k].count);
    } else if (kind < DOME_KIND_F32) {
        for (uint64_t k = 0; k < count; k++) {
            integer_text(kind, first + k * stride, text);
            f.width = MAX(f.width, (int)strlen(text));
        }
    } else {
        const bool single = kind == DOME_KIND_F32 || kind == DOME_KIND_C64, complex = kind >= DOME_KIND_C64;
        const size_t part = single ? sizeof(float) : sizeof(double);
        for (int p = 0; p <= complex; p++)
            f.part[p] = real_format_of(&(reals){first + (size_t)p * part, stride, count, single}, p > 0);
    }
    return f;
}

/* A complex number's j stands before the blanks behind its imaginary part. */
static void put_complex(GString *out, const value_format *f, const char *at)
{
    const bool single = f->part[0].single;
    const reals parts = {at, single ? sizeof(float) : sizeof(double), 2, single};
    put_real(out, &f->part[0], real_at(&parts, 0));
    put_real(out, &f->part[1], real_at(&parts, 1));
    size_t end = out->len;
    while (end > 0 && out->str[end - 1] == ' ')
        end--;
    g_string_insert_c(out, (gssize)end, 'j');
}

static void put_value(GString *out, const value_format *f, const char *at);

static void put_field(GString *out, const value_format *f, const dome_field *field, const char *at)
{
    if (field->count == 1) {
        put_value(out, f, at);
        return;
    }
    g_string_append_c(out, '[');
    for (size_t k = 0; k < field->count; k++) {
        g_string_append(out, k ? ", " : "");
        put_value(out, f, at + k * field->type->size);
    }
    g_string_append_c(out, ']');
}

static void put_value(GString *out, const value_format *f, const char *at)
{
    const dome_type_kind kind = dome_type_kind_of(f->type);
    char text[24];
    if (kind == DOME_KIND_STRUCT) {
        g_string_append_c(out, '(');
        for (size_t k = 0; k < f->type->nfields; k++) {
            g_string_append(out, k ? ", " : "");
            put_field(out, &f->fields[k], &f->type->fields[k], at + f->type->fields[k].offset);
        }
        g_string_append(out, f->type->nfields == 1 ? ",)" : ")");
    } else if (kind < DOME_KIND_F32) {
        integer_text(kind, at, text);
        g_string_append_printf(out, "%*s", f->width, text);
    } else if (kind >= DOME_KIND_C64) {
        put_complex(out, f, at);
    } else {
        put_real(out, &f->part[0], real_at(&(reals){at, 0, 1, kind == DOME_KIND_F32}, 0));
    }
}

/* ---- rows ---- */

typedef struct writer {
    const dome_array_view *view;
    value_format format;
    const char *next; /* the value that is written next */
    GString *out;
} writer;

/* Adds a word to the line, or begins another one. */
static void add_word(writer *w, GString *line, const char *word, size_t indent, size_t width)
{
    if (line->len + strlen(word) > width && line->len > indent) {
        while (line->len > 0 && line->str[line->len - 1] == ' ')
            g_string_truncate(line, line->len - 1);
        g_string_append(w->out, line->str);
        g_string_append_c(w->out, '\n');
        g_string_truncate(line, 0);
        for (size_t k = 0; k < indent; k++)
            g_string_append_c(line, ' ');
    }
    g_string_append(line, word);
}

/* The values along the last dimension, in lines of `width` columns; the first line is indented already. */
static void put_row(writer *w, size_t indent, size_t width)
{
    const int d = w->view->ndim - 1;
    const uint64_t shown = w->view->shown[d];
    const bool cut = shown < w->view->shape[d];
    GString *line = g_string_new(NULL), *word = g_string_new(NULL);
    const gsize begin = w->out->len;
    for (size_t k = 0; k < indent; k++)
        g_string_append_c(line, ' ');
    for (uint64_t k = 0; k < shown; k++) {
        if (cut && k == EDGE) {
            add_word(w, line, "...", indent, width);
            g_string_append_c(line, ' ');
        }
        g_string_truncate(word, 0);
        put_value(word, &w->format, w->next);
        w->next += w->format.type->size;
        add_word(w, line, word->str, indent, width);
        if (k + 1 < shown)
            g_string_append_c(line, ' ');
    }
    g_string_append(w->out, line->str);
    g_string_erase(w->out, (gssize)begin, (gssize)indent);
    g_string_free(line, TRUE);
    g_string_free(word, TRUE);
}

static void put_gap(writer *w, size_t indent, int newlines)
{
    for (int k = 0; k < newlines; k++)
        g_string_append_c(w->out, '\n');
    for (size_t k = 0; k < indent; k++)
        g_string_append_c(w->out, ' ');
}

static void put_dimension(writer *w, int d, size_t indent, size_t width)
{
    const dome_array_view *view = w->view;
    g_string_append_c(w->out, '[');
    if (d == view->ndim - 1) {
        put_row(w, indent, width - 1);
    } else {
        for (uint64_t k = 0; k < view->shown[d]; k++) {
            if (k > 0)
                put_gap(w, indent, view->ndim - 1 - d);
            if (k == EDGE && view->shown[d] < view->shape[d]) {
                g_string_append(w->out, "...");
                put_gap(w, indent, view->ndim - 1 - d);
            }
            put_dimension(w, d + 1, indent + 1, width - 1);
        }
    }
    g_string_append_c(w->out, ']');
}

char *dome__array_text(const dome_array_view *view, dome_type type, const void *values)
{
    writer w = {.view = view, .next = values, .out = g_string_new(NULL)};
    if (view->count == 0)
        return g_string_free(g_string_append(w.out, "[]"), FALSE);
    w.format = format_of(type, values, view->count, type->size, 1);
    put_dimension(&w, 0, 1, LINE);
    format_clear(&w.format);
    return g_string_free(w.out, FALSE);
}
