#include "files/matrix_market.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct word {
    const char *start;
    size_t length;
} word;

/* For messages: a word cut to a length that fits a line. */
#define SHOWN(w) (int)MIN((w).length, 40), (w).start

static bool fail(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char **message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Splits a line into at most `most` words and returns their number, most + 1 if there are more. */
static int split(const char *line, size_t bytes, word *words, int most)
{
    const char *end = line + bytes;
    int n = 0;
    for (const char *p = line; n <= most; n++) {
        while (p < end && is_space(*p))
            p++;
        if (p == end)
            break;
        const char *start = p;
        while (p < end && !is_space(*p))
            p++;
        if (n < most)
            words[n] = (word){start, (size_t)(p - start)};
    }
    return n;
}

static bool word_is(word w, const char *text)
{
    return w.length == strlen(text) && g_ascii_strncasecmp(w.start, text, w.length) == 0;
}

/* ---- numbers ---- */

static bool read_count(word w, const char *what, uint64_t *count, char **message)
{
    uint64_t value = 0;
    for (size_t i = 0; i < w.length; i++) {
        if (!g_ascii_isdigit(w.start[i]))
            return fail(message, "%s is not a whole number: %.*s", what, SHOWN(w));
        unsigned digit = (unsigned)(w.start[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return fail(message, "%s is too large: %.*s", what, SHOWN(w));
        value = value * 10 + digit;
    }
    *count = value;
    return true;
}

static bool read_index(word w, const char *what, uint64_t n, uint64_t *index, char **message)
{
    if (!read_count(w, what, index, message))
        return false;
    if (*index < 1 || *index > n)
        return fail(message, "%s %" PRIu64 " is outside 1 ... %" PRIu64, what, *index, n);
    --*index;
    return true;
}

static const char *skip_sign(const char *p, const char *end)
{
    return p < end && (*p == '+' || *p == '-') ? p + 1 : p;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && g_ascii_isdigit(*p))
        p++;
    return p;
}

/* Whether the word is a decimal number: strtod also takes hexadecimal ones. */
static bool is_decimal(word w, bool integer)
{
    const char *end = w.start + w.length, *start = skip_sign(w.start, end), *p = skip_digits(start, end);
    size_t digits = (size_t)(p - start);
    if (!integer && p < end && *p == '.') {
        const char *fraction = ++p;
        p = skip_digits(p, end);
        digits += (size_t)(p - fraction);
    }
    if (!integer && digits > 0 && p < end && (*p == 'e' || *p == 'E')) {
        const char *exponent = skip_sign(p + 1, end);
        p = skip_digits(exponent, end);
        if (p == exponent)
            return false;
    }
    return digits > 0 && p == end;
}

/* NaN and infinities, which the format does not mention, have the names that C's printf and NumPy write. */
static bool read_name(word w, double *value)
{
    const char *unsigned_start = skip_sign(w.start, w.start + w.length);
    word rest = {unsigned_start, w.length - (size_t)(unsigned_start - w.start)};
    if (word_is(rest, "nan"))
        *value = NAN;
    else if (word_is(rest, "inf") || word_is(rest, "infinity"))
        *value = w.start[0] == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static bool read_value(word w, bool integer, double *value, char **message)
{
    enum { DIGITS = 800 }; /* the longest decimal number that a double needs has 767 */
    char copy[DIGITS];
    if (!integer && read_name(w, value))
        return true;
    if (!is_decimal(w, integer))
        return fail(message, "the value is not %s number: %.*s", integer ? "a whole" : "a", SHOWN(w));
    if (w.length >= sizeof copy)
        return fail(message, "the value has more than %d characters", DIGITS - 1);
    memcpy(copy, w.start, w.length);
    copy[w.length] = 0;
    *value = g_ascii_strtod(copy, NULL);
    if (isinf(*value) || (integer && fabs(*value) >= 0x1p53)) /* 2^53 may have been 2^53 + 1 */
        return fail(message, "the value is too large for a double: %.*s", SHOWN(w));
    return true;
}

/* ---- header ---- */

static bool read_field(dome_mm_header *h, word field, word symmetry, char **message)
{
    if (word_is(field, "real"))
        h->field = DOME_MM_REAL;
    else if (word_is(field, "integer"))
        h->field = DOME_MM_INTEGER;
    else if (word_is(field, "pattern"))
        h->field = DOME_MM_PATTERN;
    else if (word_is(field, "complex"))
        h->field = DOME_MM_COMPLEX;
    else
        return fail(message, "has %.*s values; a dsparse has real or complex ones", SHOWN(field));
    if (word_is(symmetry, "general"))
        h->symmetry = DOME_MM_GENERAL;
    else if (word_is(symmetry, "symmetric"))
        h->symmetry = DOME_MM_SYMMETRIC;
    else if (word_is(symmetry, "skew-symmetric") && h->field != DOME_MM_PATTERN)
        h->symmetry = DOME_MM_SKEW;
    else if (word_is(symmetry, "hermitian") && h->field == DOME_MM_COMPLEX)
        h->symmetry = DOME_MM_HERMITIAN;
    else
        return fail(message, "is stored as %.*s; %.*s matrices are %s", SHOWN(symmetry), SHOWN(field),
                    h->field == DOME_MM_COMPLEX   ? "general, symmetric, skew-symmetric or hermitian"
                    : h->field == DOME_MM_PATTERN ? "general or symmetric, because entries without values have no sign"
                                                  : "general, symmetric or skew-symmetric");
    return true;
}

static bool read_banner(dome_mm_header *h, const char *line, size_t bytes, char **message)
{
    word w[5];
    int n = split(line, bytes, w, 5);
    if (n == 0 || !word_is(w[0], "%%MatrixMarket"))
        return fail(message, "is not a Matrix Market file: it does not begin with %%%%MatrixMarket");
    if (n != 5)
        return fail(message, "has a damaged first line; it is %%%%MatrixMarket matrix coordinate FIELD SYMMETRY");
    if (!word_is(w[1], "matrix"))
        return fail(message, "holds a %.*s and not a matrix", SHOWN(w[1]));
    if (!word_is(w[2], "coordinate"))
        return fail(message, "holds a matrix in %.*s format; sparse ones are in coordinate format", SHOWN(w[2]));
    return read_field(h, w[3], w[4], message);
}

/* Numbers in the line of an entry. */
static int words_of(const dome_mm_header *h)
{
    return h->field == DOME_MM_PATTERN ? 2 : h->field == DOME_MM_COMPLEX ? 4 : 3;
}

/* The shortest line of an entry: "1 1 1 1", "1 1 1" or "1 1", and a newline that the last line may lack. */
static uint64_t most_entries(const dome_mm_header *h, uint64_t bytes)
{
    return (bytes + 1) / (2 * (uint64_t)words_of(h));
}

static bool read_sizes(dome_mm_header *h, const char *line, size_t bytes, uint64_t rest, char **message)
{
    word w[3];
    if (split(line, bytes, w, 3) != 3)
        return fail(message, "has no line of sizes; it has 3 numbers: rows, columns, entries");
    if (!read_count(w[0], "has a damaged line of sizes: the number of rows", &h->rows, message) ||
        !read_count(w[1], "has a damaged line of sizes: the number of columns", &h->columns, message) ||
        !read_count(w[2], "has a damaged line of sizes: the number of entries", &h->entries, message))
        return false;
    if (h->symmetry != DOME_MM_GENERAL && h->rows != h->columns)
        return fail(message, "is stored as symmetric, but has %" PRIu64 " rows and %" PRIu64 " columns", h->rows, h->columns);
    if (h->entries > most_entries(h, rest))
        return fail(message, "promises %" PRIu64 " entries, more than the rest of the file can hold", h->entries);
    return true;
}

static bool is_comment(const char *line, size_t bytes)
{
    word w;
    return bytes == 0 || *line == '%' || split(line, bytes, &w, 1) == 0;
}

bool dome__mm_header(dome_mm_header *h, const char *text, size_t bytes, uint64_t file_bytes, char **message)
{
    *h = (dome_mm_header){0};
    *message = NULL;
    for (size_t at = 0;;) {
        const char *newline = at < bytes ? memchr(text + at, '\n', bytes - at) : NULL;
        if (!newline && bytes < file_bytes && bytes - at < DOME_MM_LONGEST)
            return false;
        size_t length = newline ? (size_t)(newline - text) - at : bytes - at;
        if (length >= DOME_MM_LONGEST)
            return fail(message, "has a line of more than %d bytes before its entries", DOME_MM_LONGEST);
        if (length == 0 && !newline)
            return h->lines ? fail(message, "ends before the line of sizes") : fail(message, "is empty");
        const char *line = text + at;
        at += length + (newline != NULL);
        if (h->lines++ == 0) {
            if (!read_banner(h, line, length, message))
                return false;
        } else if (!is_comment(line, length)) {
            h->bytes = at;
            return read_sizes(h, line, length, file_bytes - at, message);
        }
    }
}

/* ---- entries ---- */

/* Storage of one half only: what it says of an entry, and the mirrored one. */
static bool mirror(const dome_mm_header *h, const dsparse_triplet_c128 *t, dsparse_triplet_c128 *other, char **message)
{
    const bool diagonal = t->row == t->column;
    const bool skew = h->symmetry == DOME_MM_SKEW;
    if (t->row < t->column)
        return fail(message, "row %" PRIu64 ", column %" PRIu64 " lies above the diagonal of a symmetric matrix", t->row + 1,
                    t->column + 1);
    if (skew && diagonal)
        return fail(message, "row %" PRIu64 ", column %" PRIu64 " lies on the diagonal of a skew-symmetric matrix", t->row + 1,
                    t->column + 1);
    if (h->symmetry == DOME_MM_HERMITIAN && diagonal && t->value[1] != 0)
        return fail(message, "row %" PRIu64 ", column %" PRIu64 " of a hermitian matrix is not real", t->row + 1, t->column + 1);
    *other = (dsparse_triplet_c128){t->column, t->row, {skew ? -t->value[0] : t->value[0], t->value[1]}};
    if (h->symmetry != DOME_MM_SYMMETRIC)
        other->value[1] = -t->value[1];
    return true;
}

bool dome__mm_line(const dome_mm_header *h, const char *line, size_t bytes, dsparse_triplet_c128 out[2], int *count,
                   char **message)
{
    static const char *const values[] = {"", ", value", ", real part, imaginary part"};
    word w[4];
    dsparse_triplet_c128 t = {.value = {1, 0}};
    int wanted = words_of(h);
    *count = 0;
    if (is_comment(line, bytes))
        return true;
    if (split(line, bytes, w, 4) != wanted)
        return fail(message, "an entry has %d numbers: row, column%s", wanted, values[wanted - 2]);
    if (!read_index(w[0], "row", h->rows, &t.row, message) || !read_index(w[1], "column", h->columns, &t.column, message))
        return false;
    for (int k = 2; k < wanted; k++)
        if (!read_value(w[k], h->field == DOME_MM_INTEGER, &t.value[k - 2], message))
            return false;
    if (h->symmetry != DOME_MM_GENERAL && !mirror(h, &t, &out[1], message))
        return false;
    out[(*count)++] = t;
    *count += h->symmetry != DOME_MM_GENERAL && t.row != t.column;
    return true;
}

/* ---- writing ---- */

char *dome__mm_banner(dome_mm_field field, uint64_t rows, uint64_t columns, uint64_t entries)
{
    return g_strdup_printf("%%%%MatrixMarket matrix coordinate %s general\n%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                           field == DOME_MM_COMPLEX   ? "complex"
                           : field == DOME_MM_INTEGER ? "integer"
                                                      : "real",
                           rows, columns, entries);
}

size_t dome__mm_print_integer(char line[DOME_MM_LINE], uint64_t row, uint64_t column, int64_t value)
{
    return (size_t)g_snprintf(line, DOME_MM_LINE, "%" PRIu64 " %" PRIu64 " %" PRId64 "\n", row + 1, column + 1, value);
}

size_t dome__mm_print(char line[DOME_MM_LINE], uint64_t row, uint64_t column, const double value[], unsigned parts)
{
    size_t bytes = (size_t)g_snprintf(line, DOME_MM_LINE, "%" PRIu64 " %" PRIu64, row + 1, column + 1);
    for (unsigned part = 0; part < parts; part++) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        if (isnan(value[part]))
            memcpy(text, "nan", 4);
        else
            g_ascii_formatd(text, sizeof text, "%.17g", value[part]);
        bytes += (size_t)g_snprintf(line + bytes, DOME_MM_LINE - bytes, " %s", text);
    }
    line[bytes++] = '\n';
    return bytes;
}
