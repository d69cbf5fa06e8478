/* Entries on their way into a sparse matrix. Only what assembles and fills matrices includes this. */
#ifndef DOME_SRC_DSPARSE_ENTRIES_H
#define DOME_SRC_DSPARSE_ENTRIES_H

#include "sparse/dsparse_private.h"

/* Entries of the rows of one task, row by row. Each has 1 + parts words: its column, and its value as
 * doubles, which have been rounded to the matrix's type, or as an integer. */
typedef union word {
    uint64_t number;
    double value;
} word;

/* How values are added: as doubles, as floats, as integers modulo 2^64. */
typedef enum arithmetic { IN_DOUBLE, IN_FLOAT, IN_INTEGERS } arithmetic;

static inline arithmetic dsparse__arithmetic_of(const dsparse *a)
{
    return dsparse__integer(a) ? IN_INTEGERS : dsparse__single(a) ? IN_FLOAT : IN_DOUBLE;
}

/* The functions with this are compiled for each number of words. */
#define FOR_EACH_WIDTH static inline __attribute__((always_inline))

/* gcc drops a conversion to float and back where it vectorizes, but not one through memory. */
static inline double dsparse__rounded(double value, bool single)
{
    if (!single)
        return value;
    const volatile float narrow = (float)value;
    return narrow;
}

/* Sets the words of a value of the matrix's type. */
static inline void dsparse__put_words(word *to, dsparse_number value, unsigned parts, arithmetic in)
{
    if (in == IN_INTEGERS) {
        to[0].number = (uint64_t)value.integer;
        return;
    }
    to[0].value = dsparse__rounded(value.re, in == IN_FLOAT);
    if (parts > 1)
        to[1].value = dsparse__rounded(value.im, in == IN_FLOAT);
}

/* Whether an integer is of the matrix's type. */
static inline bool dsparse__fits(const dsparse *a, int64_t value)
{
    return a->kind != DOME_KIND_I32 || (value >= INT32_MIN && value <= INT32_MAX);
}

/* The text for an integer that is not (g_free). */
char *dsparse__does_not_fit(const dsparse *a, uint64_t row, int64_t value);

/* Sorts and adds the entries of a block's rows, and sets how many each row keeps. Returns how many that are in all. */
uint64_t dsparse__compress_block(const dsparse *a, const dsparse_block *b, const uint64_t *start, word *entries, uint32_t *kept);

/* Whether all values of a block have the same bits. */
bool dsparse__all_alike(const dsparse_block *b, const uint64_t *start, const word *entries, const uint32_t *kept, unsigned words);

/* Fills a block that has its arrays, and of which is known whether it is uniform. */
void dsparse__fill_block(const dsparse *a, dsparse_block *b, const uint64_t *start, const word *entries, const uint32_t *kept);

/* Gives blocks so many entries each, in these arrays, one block after the other. */
void dsparse__place_arrays(const dsparse *a, dsparse_block *block, const uint64_t *total, char *value, uint32_t *column,
                           uint32_t *start);

/* Sorts and adds the entries of each local row, and replaces a's content on all tasks or none. start: by local row, where its
 * entries begin, and the end. status: of what this task has done before. */
dome_status dsparse__take_entries(dsparse *a, const uint64_t *start, word *entries, dome_status status);

/* ---- rows by a function: dsparse_fill_rows.c ---- */

/* The entries that the function has added so far to the rows of a block. */
struct dsparse_row {
    const dsparse *a;
    uint64_t index;
    uint64_t count, room;
    unsigned words;
    arithmetic in;
    word *entries;
    dome_status status;
    char *text;
};

/* Adds an entry and returns it, or NULL after a failure. The caller sets the value. */
static inline word *dsparse__new_entry(dsparse_row *row, uint64_t column)
{
    if (row->status != DOME_OK)
        return NULL;
    if (column >= row->a->columns) {
        row->status = DOME_ERR_RANGE;
        row->text = g_strdup_printf("row %" G_GUINT64_FORMAT " has an entry in column %" G_GUINT64_FORMAT
                                    ", but '%s' has %" G_GUINT64_FORMAT " columns",
                                    row->index, column, dsparse_name(row->a), row->a->columns);
        return NULL;
    }
    if (row->count == row->room) {
        uint64_t room = row->room > 0 ? 2 * row->room : 1024;
        word *more = g_try_realloc_n(row->entries, (gsize)room, row->words * sizeof *more);
        if (!more) {
            row->status = DOME_ERR_MEMORY;
            return NULL;
        }
        row->entries = more;
        row->room = room;
    }
    word *e = row->entries + row->words * row->count++;
    e->number = column;
    return e;
}

/* Fills the matrix row by row: calls the function for each row of this task. op: of the function, if it is the program's. */
dome_status dsparse__fill_by_rows(dsparse *a, dsparse_row_function function, void *ctx, dome_operation *op);

#endif
