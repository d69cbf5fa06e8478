#include "matrix_market.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct entry {
    uint64_t row, column, line;
    double value;
} entry;

typedef struct word {
    const char *start;
    size_t length;
} word;

typedef struct reader {
    const char *at, *end;
    uint64_t line;
    char *error;
} reader;

static bool fail(reader *in, const char *format, ...)
{
    va_list arguments;
    int n = snprintf(in->error, MM_ERROR, "line %" PRIu64 ": ", in->line);
    va_start(arguments, format);
    vsnprintf(in->error + n, MM_ERROR - (size_t)n, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Splits the next line into at most max words and returns their number, max + 1 if there are more, -1 at the end of the text. */
static int next_line(reader *in, word *words, int max)
{
    if (in->at == in->end)
        return -1;
    const char *stop = memchr(in->at, '\n', (size_t)(in->end - in->at));
    const char *next = stop ? stop + 1 : in->end;
    if (!stop)
        stop = in->end;
    int n = 0;
    for (const char *p = in->at; n <= max;) {
        while (p < stop && is_space(*p))
            p++;
        if (p == stop)
            break;
        const char *start = p;
        while (p < stop && !is_space(*p))
            p++;
        if (n < max)
            words[n] = (word){start, (size_t)(p - start)};
        n++;
    }
    in->at = next;
    in->line++;
    return n;
}

/* The same, past comments and empty lines. */
static int next_data_line(reader *in, word *words, int max)
{
    for (;;) {
        while (in->at < in->end && *in->at == '%')
            next_line(in, words, max);
        int n = next_line(in, words, max);
        if (n != 0)
            return n;
    }
}

static bool word_is(word w, const char *text)
{
    return w.length == strlen(text) && strncasecmp(w.start, text, w.length) == 0;
}

/* For messages: a word cut to a length that fits the line. */
#define SHOWN(w) (int)((w).length < 40 ? (w).length : 40), (w).start

static bool read_count(reader *in, word w, const char *what, uint64_t *count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < w.length; i++) {
        if (!is_digit(w.start[i]))
            return fail(in, "%s is not a whole number: %.*s", what, SHOWN(w));
        unsigned digit = (unsigned)(w.start[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return fail(in, "%s is too large: %.*s", what, SHOWN(w));
        value = value * 10 + digit;
    }
    *count = value;
    return true;
}

static bool read_index(reader *in, word w, const char *what, uint64_t n, uint64_t *index)
{
    if (!read_count(in, w, what, index))
        return false;
    if (*index < 1 || *index > n)
        return fail(in, "%s %" PRIu64 " is outside 1 ... %" PRIu64, what, *index, n);
    --*index;
    return true;
}

/* Whether the word is a decimal number, so that strtod gets neither hexadecimal numbers nor names. */
static bool is_number(word w, bool integer)
{
    const char *p = w.start, *end = p + w.length;
    int digits = 0;
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    for (; p < end && is_digit(*p); p++)
        digits++;
    if (!integer && p < end && *p == '.')
        for (p++; p < end && is_digit(*p); p++)
            digits++;
    if (digits && !integer && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        if (p == end)
            return false;
        while (p < end && is_digit(*p))
            p++;
    }
    return digits && p == end;
}

static bool read_value(reader *in, word w, bool integer, double *value)
{
    char copy[512];
    if (word_is(w, "nan") || word_is(w, "inf") || word_is(w, "-inf") || word_is(w, "+inf") || word_is(w, "infinity"))
        return fail(in, "value is not finite: %.*s", SHOWN(w));
    if (!is_number(w, integer))
        return fail(in, "value is not %s number: %.*s", integer ? "a whole" : "a", SHOWN(w));
    if (w.length >= sizeof copy)
        return fail(in, "value has more than %zu characters", sizeof copy - 1);
    memcpy(copy, w.start, w.length);
    copy[w.length] = 0;
    *value = strtod(copy, NULL);
    if (!isfinite(*value) || (integer && fabs(*value) >= 0x1p53))
        return fail(in, "value is too large: %.*s", SHOWN(w));
    return true;
}

/* Sorts n entries by row, keeping the order within a row; counts has rows + 1 numbers and becomes where each row starts. */
static void sort_by_row(entry *to, const entry *from, uint64_t n, uint64_t *counts, uint64_t rows)
{
    memset(counts, 0, (rows + 1) * sizeof *counts);
    for (uint64_t k = 0; k < n; k++)
        counts[from[k].row + 1]++;
    for (uint64_t i = 0; i < rows; i++)
        counts[i + 1] += counts[i];
    for (uint64_t k = 0; k < n; k++)
        to[counts[from[k].row]++] = from[k];
    memmove(counts + 1, counts, rows * sizeof *counts);
    counts[0] = 0;
}

static void transpose(entry *entries, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        uint64_t row = entries[k].row;
        entries[k].row = entries[k].column;
        entries[k].column = row;
    }
}

bool mm_alloc(mm_matrix *matrix)
{
    /* In double, so that numbers too large for size_t are seen. */
    if ((double)matrix->n + (double)matrix->entries >= (double)(SIZE_MAX / 16))
        return false;
    matrix->row = malloc((size_t)(matrix->n + 1) * sizeof *matrix->row);
    matrix->column = malloc((size_t)matrix->entries * sizeof *matrix->column);
    matrix->value = malloc((size_t)matrix->entries * sizeof *matrix->value);
    return matrix->row && matrix->column && matrix->value;
}

/* Takes the entries into rows with ascending columns. `other` is room for as many entries. */
static bool build(reader *in, mm_matrix *matrix, entry *entries, entry *other)
{
    uint64_t n = matrix->entries;
    if (!mm_alloc(matrix))
        return fail(in, "not enough memory for %" PRIu64 " entries", n);
    transpose(entries, n);
    sort_by_row(other, entries, n, matrix->row, matrix->n);
    transpose(other, n);
    sort_by_row(entries, other, n, matrix->row, matrix->n);
    for (uint64_t k = 0; k < n; k++) {
        const entry *e = &entries[k];
        if (k > 0 && e->row == e[-1].row && e->column == e[-1].column) {
            in->line = e->line;
            return fail(in, "row %" PRIu64 ", column %" PRIu64 " was given before, in line %" PRIu64, e->row + 1, e->column + 1,
                        e[-1].line);
        }
        matrix->column[k] = e->column;
        matrix->value[k] = e->value;
    }
    return true;
}

static bool read_banner(reader *in, bool *integer, bool *symmetric)
{
    word w[5];
    int n = next_line(in, w, 5);
    if (n < 0)
        return fail(in, "the file is empty");
    if (n == 0 || !word_is(w[0], "%%MatrixMarket"))
        return fail(in, "not a Matrix Market file: it does not start with %%%%MatrixMarket");
    if (n != 5)
        return fail(in, "a header has 5 words: %%%%MatrixMarket matrix coordinate FIELD SYMMETRY");
    if (!word_is(w[1], "matrix"))
        return fail(in, "holds a %.*s; this program reads matrices", SHOWN(w[1]));
    if (!word_is(w[2], "coordinate"))
        return fail(in, "the format is %.*s; this program reads coordinate (sparse) matrices", SHOWN(w[2]));
    *integer = word_is(w[3], "integer");
    if (!*integer && !word_is(w[3], "real"))
        return fail(in, "the values are %.*s; this program reads real and integer ones", SHOWN(w[3]));
    *symmetric = word_is(w[4], "symmetric");
    if (!*symmetric && !word_is(w[4], "general"))
        return fail(in, "the storage is %.*s; this program reads general and symmetric ones", SHOWN(w[4]));
    return true;
}

static bool read_sizes(reader *in, bool symmetric, uint64_t *n, uint64_t *promised)
{
    word w[3];
    uint64_t columns = 0;
    int words = next_data_line(in, w, 3);
    if (words < 0)
        return fail(in, "the file ends before the line of sizes");
    if (words != 3)
        return fail(in, "the line of sizes has 3 numbers: rows, columns, entries");
    if (!read_count(in, w[0], "the number of rows", n) || !read_count(in, w[1], "the number of columns", &columns) ||
        !read_count(in, w[2], "the number of entries", promised))
        return false;
    if (*n != columns)
        return fail(in, "the matrix is not square: %" PRIu64 " x %" PRIu64, *n, columns);
    if (*n == 0)
        return fail(in, "the matrix has no rows");
    /* An entry has at least 6 characters ("1 1 1" and the end of its line, which may be missing in the last line). */
    if (*promised > ((uint64_t)(in->end - in->at) + 1) / 6)
        return fail(in, "promises %" PRIu64 " entries, more than the rest of the file can hold", *promised);
    if (*n > (symmetric ? 2 : 1) * *promised)
        return fail(in, "%" PRIu64 " entries leave some of the %" PRIu64 " rows empty: the matrix is singular", *promised, *n);
    return true;
}

static bool read_entries(reader *in, mm_matrix *matrix, bool integer, bool symmetric, uint64_t promised, entry *entries)
{
    word w[3];
    uint64_t filled = 0;
    for (uint64_t k = 0; k < promised; k++) {
        entry e = {0};
        int words = next_data_line(in, w, 3);
        if (words < 0)
            return fail(in, "the file ends after %" PRIu64 " of %" PRIu64 " entries", k, promised);
        if (words != 3)
            return fail(in, "an entry has 3 numbers: row, column, value");
        if (!read_index(in, w[0], "row", matrix->n, &e.row) || !read_index(in, w[1], "column", matrix->n, &e.column) ||
            !read_value(in, w[2], integer, &e.value))
            return false;
        e.line = in->line;
        if (symmetric && e.row < e.column)
            return fail(in, "row %" PRIu64 ", column %" PRIu64 " lies above the diagonal of a symmetric matrix", e.row + 1,
                        e.column + 1);
        entries[filled++] = e;
        if (symmetric && e.row != e.column)
            entries[filled++] = (entry){e.column, e.row, e.line, e.value};
    }
    if (next_data_line(in, w, 3) >= 0)
        return fail(in, "the file goes on after the %" PRIu64 " entries promised", promised);
    matrix->entries = filled;
    return true;
}

bool mm_parse(mm_matrix *matrix, const char *text, size_t bytes, char error[MM_ERROR])
{
    reader in = {text, bytes ? text + bytes : text, 0, error};
    bool integer = false, symmetric = false;
    uint64_t promised = 0;
    memset(matrix, 0, sizeof *matrix);
    if (!read_banner(&in, &integer, &symmetric) || !read_sizes(&in, symmetric, &matrix->n, &promised))
        return false;
    size_t room = (size_t)promised * (symmetric ? 2 : 1);
    entry *entries = room <= SIZE_MAX / sizeof(entry) ? malloc(room * sizeof(entry)) : NULL;
    entry *other = entries ? malloc(room * sizeof(entry)) : NULL;
    bool done = other ? read_entries(&in, matrix, integer, symmetric, promised, entries) && build(&in, matrix, entries, other)
                      : fail(&in, "not enough memory for %" PRIu64 " entries", promised);
    free(entries);
    free(other);
    if (!done)
        mm_clear(matrix);
    return done;
}

bool mm_load(const char *path, char **text, size_t *bytes, char error[MM_ERROR])
{
    char *data = NULL;
    size_t room = 0, filled = 0;
    bool done = false;
    FILE *file = fopen(path, "rb");
    while (file && !done && !ferror(file)) {
        if (filled == room) {
            char *more = realloc(data, room = room ? 2 * room : 65536);
            if (!more)
                break;
            data = more;
        }
        filled += fread(data + filled, 1, room - filled, file);
        done = feof(file);
    }
    if (!done) {
        snprintf(error, MM_ERROR, "%.150s: %s", path, strerror(errno));
        free(data);
    }
    if (file)
        fclose(file);
    *text = done ? data : NULL;
    *bytes = filled;
    return done;
}

bool mm_read(mm_matrix *matrix, const char *path, char error[MM_ERROR])
{
    char *text, reason[MM_ERROR];
    size_t bytes;
    if (!mm_load(path, &text, &bytes, error))
        return false;
    bool done = mm_parse(matrix, text, bytes, reason);
    if (!done)
        snprintf(error, MM_ERROR, "%.100s: %.150s", path, reason);
    free(text);
    return done;
}

void mm_clear(mm_matrix *matrix)
{
    free(matrix->row);
    free(matrix->column);
    free(matrix->value);
    memset(matrix, 0, sizeof *matrix);
}

double mm_at(const mm_matrix *matrix, uint64_t i, uint64_t j)
{
    uint64_t low = matrix->row[i], high = matrix->row[i + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matrix->row[i + 1] && matrix->column[low] == j ? matrix->value[low] : 0;
}

static bool check_row(const mm_matrix *matrix, uint64_t i, char error[MM_ERROR])
{
    double d = mm_at(matrix, i, i);
    if (!(d > 0)) {
        snprintf(error, MM_ERROR, "the matrix is not positive definite: entry (%" PRIu64 ", %" PRIu64 ") is %g", i + 1, i + 1, d);
        return false;
    }
    if (isinf(1 / d)) {
        snprintf(error, MM_ERROR,
                 "entry (%" PRIu64 ", %" PRIu64 ") is %g, too small to divide by in double precision; scale the matrix", i + 1,
                 i + 1, d);
        return false;
    }
    for (uint64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
        uint64_t j = matrix->column[k];
        double other = mm_at(matrix, j, i);
        if (matrix->value[k] != other) {
            snprintf(error, MM_ERROR,
                     "the matrix is not symmetric: entry (%" PRIu64 ", %" PRIu64 ") is %.17g, entry (%" PRIu64 ", %" PRIu64
                     ") is %.17g",
                     i + 1, j + 1, matrix->value[k], j + 1, i + 1, other);
            return false;
        }
    }
    return true;
}

bool mm_check_cg(const mm_matrix *matrix, char error[MM_ERROR])
{
    for (uint64_t i = 0; i < matrix->n; i++)
        if (!check_row(matrix, i, error))
            return false;
    return true;
}
