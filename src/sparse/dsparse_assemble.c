/* Entries of sparse matrices: from triplets that any task gives, and from a program's function for a row. */
#include "arrays/dvec_exchange.h"
#include "sparse/dsparse_private.h"

#include "core/layout.h"
#include "core/storage.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* ---- from entries to blocks ---- */

/* Entries on their way into a matrix, of the rows of one task, row by row. Each has 1 + parts words: its column, and its value as
 * doubles, which have been rounded to the matrix's type, or as an integer. */
typedef union word {
    uint64_t number;
    double value;
} word;

/* How values are added: as doubles, as floats, as integers modulo 2^64. */
typedef enum arithmetic { IN_DOUBLE, IN_FLOAT, IN_INTEGERS } arithmetic;

static arithmetic arithmetic_of(const dsparse *a)
{
    return dsparse__integer(a) ? IN_INTEGERS : dsparse__single(a) ? IN_FLOAT : IN_DOUBLE;
}

/* The functions with this are compiled for each number of words. */
#define FOR_EACH_WIDTH static inline __attribute__((always_inline))

/* A number that ascends with the value: -NaN, ..., -0, +0, ..., NaN. */
static uint64_t order_of(word w)
{
    const uint64_t sign = UINT64_C(1) << 63;
    return w.number & sign ? ~w.number : w.number | sign;
}

FOR_EACH_WIDTH int compare(const word *a, const word *b, unsigned words)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    for (unsigned k = 1; k < words; k++) {
        uint64_t p = order_of(a[k]), q = order_of(b[k]);
        if (p != q)
            return p < q ? -1 : 1;
    }
    return 0;
}

static int compare_real(const void *x, const void *y)
{
    return compare(x, y, 2);
}

static int compare_complex(const void *x, const void *y)
{
    return compare(x, y, 3);
}

FOR_EACH_WIDTH void copy(word *to, const word *from, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        to[k] = from[k];
}

/* Sorts a few entries by columns alone, without a branch that could not be predicted: counts for each how many come before it. */
enum { VERY_FEW = 12 };

FOR_EACH_WIDTH void sort_by_column(word *entries, uint64_t count, unsigned words)
{
    uint32_t rank[VERY_FEW] = {0};
    word sorted[VERY_FEW * 3];
    for (uint64_t k = 1; k < count; k++)
        for (uint64_t j = 0; j < k; j++) {
            const bool after = entries[j * words].number > entries[k * words].number;
            rank[j] += after;
            rank[k] += !after;
        }
    for (uint64_t k = 0; k < count; k++)
        copy(sorted + rank[k] * words, entries + k * words, words);
    memcpy(entries, sorted, (size_t)count * words * sizeof *entries);
}

FOR_EACH_WIDTH void sort(word *entries, uint64_t count, unsigned words)
{
    enum { FEW = 24 };
    uint64_t ready = 1;
    if (count <= VERY_FEW)
        sort_by_column(entries, count, words);
    while (ready < count && compare(entries + (ready - 1) * words, entries + ready * words, words) <= 0)
        ready++;
    if (ready >= count)
        return;
    if (count > FEW) {
        qsort(entries, (size_t)count, words * sizeof *entries, words == 2 ? compare_real : compare_complex);
        return;
    }
    for (uint64_t k = ready; k < count; k++) {
        word e[3];
        uint64_t to = k;
        copy(e, entries + k * words, words);
        for (; to > 0 && compare(entries + (to - 1) * words, e, words) > 0; to--)
            copy(entries + to * words, entries + (to - 1) * words, words);
        copy(entries + to * words, e, words);
    }
}

/* gcc drops a conversion to float and back where it vectorizes, but not one through memory. */
static double rounded(double value, bool single)
{
    if (!single)
        return value;
    const volatile float narrow = (float)value;
    return narrow;
}

/* Sorts a row and adds what belongs to one place; a sum of two floats in double, rounded, is their sum in float. Returns the
 * number of entries that are left. */
FOR_EACH_WIDTH uint64_t compress(word *entries, uint64_t count, unsigned words, arithmetic in)
{
    word *last = entries;
    if (count == 0)
        return 0;
    sort(entries, count, words);
    for (uint64_t k = 1; k < count; k++) {
        const word *e = entries + k * words;
        if (e->number != last->number) {
            last += words;
            copy(last, e, words);
        } else if (in == IN_INTEGERS) {
            last[1].number += e[1].number;
        } else {
            for (unsigned part = 1; part < words; part++)
                last[part].value = rounded(last[part].value + e[part].value, in == IN_FLOAT);
        }
    }
    return (uint64_t)(last - entries) / words + 1;
}

/* Sorts and adds the entries of a block's rows, and sets how many each row keeps. Returns how many that are in all. */
static uint64_t compress_block(const dsparse *a, const dsparse_block *b, const uint64_t *start, word *entries, uint32_t *kept)
{
    const unsigned words = 1 + a->parts;
    const arithmetic in = arithmetic_of(a);
    uint64_t total = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        word *row = entries + start[i] * words;
        const uint64_t given = start[i + 1] - start[i];
        uint64_t count = words == 2 ? compress(row, given, 2, in) : compress(row, given, 3, in);
        total += count;
        kept[i] = (uint32_t)count;
    }
    return total;
}

/* Whether all values of a block have the same bits. */
static bool all_alike(const dsparse_block *b, const uint64_t *start, const word *entries, const uint32_t *kept, unsigned words)
{
    const word *first = NULL;
    for (uint32_t i = 0; i < b->rows; i++) {
        const word *e = entries + start[i] * words;
        for (uint32_t k = 0; k < kept[i]; k++, e += words) {
            first = first ? first : e;
            if (e[1].number != first[1].number || (words > 2 && e[2].number != first[2].number))
                return false;
        }
    }
    return first != NULL;
}

/* Fills a block that has its arrays, and of which is known whether it is uniform. */
static void fill_block(const dsparse *a, dsparse_block *b, const uint64_t *start, const word *entries, const uint32_t *kept)
{
    const unsigned words = 1 + a->parts;
    const bool integers = dsparse__integer(a);
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        const word *e = entries + start[i] * words;
        b->start[i] = at;
        for (uint32_t k = 0; k < kept[i]; k++, at++, e += words) {
            b->column[at] = (uint32_t)e[0].number;
            if (b->uniform && at > 0)
                continue;
            void *values = b->uniform ? b->same : b->value;
            if (integers)
                dsparse__set_value(a, values, at, (dsparse_number){.integer = (int64_t)e[1].number});
            else
                dsparse__set_value(a, values, at, (dsparse_number){.re = e[1].value, .im = words > 2 ? e[2].value : 0});
        }
    }
    b->start[b->rows] = at;
    dsparse__block_ready(a, b);
}

static char *no_memory(const dsparse *a)
{
    return g_strdup_printf("no memory for the entries of '%s'", dsparse__label(a));
}

dome_status dsparse__agree_memory(const dsparse *a, bool have)
{
    char *text = have ? NULL : no_memory(a);
    dome_status status = dvec__agree(a->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

dome_status dsparse__worst(const dsparse *a, dome_status status)
{
    uint64_t worst = (uint64_t)status;
    int failed = dome__allreduce(a->env->transport, DOME_U64, &worst, 1, dome__combine_max_u64, NULL);
    return failed ? (dome_status)dome__fail_transport(a->env, failed) : (dome_status)worst;
}

/* Gives blocks so many entries each, in these arrays, one block after the other. */
static void place_arrays(const dsparse *a, dsparse_block *block, const uint64_t *total, char *value, uint32_t *column,
                         uint32_t *start)
{
    for (uint64_t k = 0; k < a->blocks; k++) {
        if (total[k] == 0)
            continue;
        block[k].stored = true;
        if (!block[k].separate)
            block[k].value = value;
        block[k].column = column;
        block[k].start = start;
        value += total[k] * dome_type_size(a->type);
        column += total[k];
        start += block[k].rows + 1;
    }
}

void *dsparse__place_blocks(const dsparse *a, dsparse_block *block, const uint64_t *total)
{
    uint64_t rows = 0, entries = 0;
    for (uint64_t k = 0; k < a->blocks; k++) {
        entries += total[k];
        rows += total[k] > 0 ? block[k].rows + UINT64_C(1) : 0;
    }
    const uint64_t bytes = dsparse__block_bytes(a, rows, entries);
    char *value = bytes <= PTRDIFF_MAX ? dome__storage_raw(bytes, NULL) : NULL;
    if (!value)
        return NULL;
    uint32_t *column = (uint32_t *)(void *)(value + entries * dome_type_size(a->type));
    place_arrays(a, block, total, value, column, column + entries);
    return value;
}

char *dsparse__too_many(const dsparse *a, uint64_t position)
{
    const dome_span rows = dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, position));
    return g_strdup_printf("rows %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", a block, have more than 2^32 - 1 entries",
                           rows.first, rows.first + rows.count - 1);
}

/* Blocks of this task's rows, in one store. start, entries: by local row, where its entries begin, and the end. *text: set where
 * a failure needs one. */
static dome_status make_blocks(const dsparse *a, const uint64_t *start, word *entries, dsparse_block **made, void **store,
                               char **text)
{
    uint64_t *total = dvec__try_array(a->blocks, sizeof *total), in_all = 0, row = 0;
    uint32_t *kept = dvec__try_array(dome_layout_local(a->layout, a->env->rank), sizeof *kept);
    dsparse_block *block = *made = dsparse__blocks_new(a);
    dome_status status = total && kept && block ? DOME_OK : DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < a->blocks && status == DOME_OK; row += block[k++].rows) {
        total[k] = compress_block(a, &block[k], start + row, entries, kept + row);
        in_all += total[k];
        if (total[k] > UINT32_MAX) {
            status = DOME_ERR_RANGE;
            *text = dsparse__too_many(a, k);
        }
    }
    if (status == DOME_OK && in_all > 0) {
        *store = dsparse__place_blocks(a, block, total);
        status = *store ? DOME_OK : DOME_ERR_MEMORY;
        row = 0;
        for (uint64_t k = 0; k < a->blocks && status == DOME_OK; row += block[k++].rows) {
            if (total[k] == 0)
                continue;
            block[k].uniform = all_alike(&block[k], start + row, entries, kept + row, 1 + a->parts);
            fill_block(a, &block[k], start + row, entries, kept + row);
        }
    }
    g_free(total);
    g_free(kept);
    return status;
}

dome_status dsparse__take(dsparse *a, dsparse_block *block, void *store, dome_status status, char *text)
{
    if (status == DOME_ERR_MEMORY && !text)
        text = no_memory(a);
    status = dvec__agree(a->env, status, text);
    g_free(text);
    if (status == DOME_OK) {
        dsparse__replace(a, block, store);
    } else {
        dsparse__blocks_free(block, block ? a->blocks : 0);
        dome__storage_free(store);
    }
    return status;
}

/* Sorts and adds the entries of each local row, and replaces a's content on all tasks or none. start: by local row, where its
 * entries begin, and the end. status: of what this task has done before. */
static dome_status take(dsparse *a, const uint64_t *start, word *entries, dome_status status)
{
    dsparse_block *block = NULL;
    void *store = NULL;
    char *text = NULL;
    if (status == DOME_OK)
        status = make_blocks(a, start, entries, &block, &store, &text);
    return dsparse__take(a, block, store, status, text);
}

/* ---- triplets ---- */

/* The triplets that a task is given, of one kind: structs, the parts of three vectors, or those that have arrived. */
typedef struct given {
    size_t count;
    const dsparse_triplet *real;
    const dsparse_triplet_c128 *parts;
    const dsparse_triplet_i64 *integers;
    const dsparse_entry *entries;
    const uint64_t *row, *column; /* vectors; `value` has `words` words for each */
    const uint64_t *place;        /* arrived: row and column of each; `value` as for vectors */
    const word *value;
    unsigned words;
    bool whole; /* the values are integers */
} given;

FOR_EACH_WIDTH dsparse_number number_of(const given *g, size_t k)
{
    if (g->whole)
        return (dsparse_number){.integer = (int64_t)g->value[k].number};
    return (dsparse_number){.re = g->value[g->words * k].value, .im = g->words > 1 ? g->value[g->words * k + 1].value : 0};
}

FOR_EACH_WIDTH dsparse_entry entry_of(const given *g, size_t k)
{
    if (g->row)
        return (dsparse_entry){g->row[k], g->column[k], number_of(g, k)};
    if (g->place)
        return (dsparse_entry){g->place[2 * k], g->place[2 * k + 1], number_of(g, k)};
    if (g->real)
        return (dsparse_entry){g->real[k].row, g->real[k].column, {.re = g->real[k].value}};
    if (g->parts)
        return (dsparse_entry){g->parts[k].row, g->parts[k].column, {.re = g->parts[k].value[0], .im = g->parts[k].value[1]}};
    if (g->integers)
        return (dsparse_entry){g->integers[k].row, g->integers[k].column, {.integer = g->integers[k].value}};
    return g->entries[k];
}

/* Sets the words of a value of the matrix's type. */
static inline void put_words(word *to, dsparse_number value, unsigned parts, arithmetic in)
{
    if (in == IN_INTEGERS) {
        to[0].number = (uint64_t)value.integer;
        return;
    }
    to[0].value = rounded(value.re, in == IN_FLOAT);
    if (parts > 1)
        to[1].value = rounded(value.im, in == IN_FLOAT);
}

/* Whether an integer is of the matrix's type. */
static inline bool fits(const dsparse *a, int64_t value)
{
    return a->kind != DOME_KIND_I32 || (value >= INT32_MIN && value <= INT32_MAX);
}

static char *does_not_fit(const dsparse *a, uint64_t row, int64_t value)
{
    return g_strdup_printf("row %" G_GUINT64_FORMAT " has the value %" G_GINT64_FORMAT ", but '%s' has values of type %s", row,
                           value, dsparse_name(a), dome_type_name(a->type));
}

/* Triplets on their way to the tasks that own their rows. */
typedef struct parcel {
    uint64_t *counts, *in_counts; /* by rank: triplets to send and to receive */
    uint64_t *scaled, *in_scaled; /* the same in values */
    uint64_t *place, *in_place;   /* row and column of each */
    word *value, *in_value;       /* a->parts of each */
    uint64_t in_total;
    uint64_t *start; /* by local row */
    word *entries;
} parcel;

/* Room for so many things of a size, in huge pages if it is large; NULL without memory. */
static void *new_room(uint64_t count, uint64_t size)
{
    uint64_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : dome__storage_raw(MAX(bytes, 1), NULL);
}

static void clear_room(void *place)
{
    void **room = place;
    dome__storage_free(*room);
    *room = NULL;
}

static void parcel_clear(parcel *p)
{
    g_free(p->counts);
    g_free(p->in_counts);
    g_free(p->scaled);
    g_free(p->in_scaled);
    clear_room(&p->place);
    clear_room(&p->in_place);
    clear_room(&p->value);
    clear_room(&p->in_value);
    clear_room(&p->start);
    clear_room(&p->entries);
}

static void parcel_open(parcel *p, const dsparse *a)
{
    gsize size = (gsize)a->env->size;
    p->counts = g_new0(uint64_t, size);
    p->in_counts = g_new0(uint64_t, size);
    p->scaled = g_new0(uint64_t, size);
    p->in_scaled = g_new0(uint64_t, size);
}

static int owner_of(const dsparse *a, uint64_t row)
{
    return dome_layout_owner(a->layout, row / dome_layout_block_size(a->layout));
}

/* All tasks agree on whether all triplets lie in the matrix. */
static dome_status check_triplets(const dsparse *a, const given *g)
{
    char *text = NULL;
    dome_status status = DOME_OK;
    if (g->count > 0 && !g->real && !g->parts && !g->integers && !g->entries && !g->row) {
        status = DOME_ERR_ARGUMENT;
        text = g_strdup_printf("there are no triplets, but %zu are to be taken", g->count);
    } else if (g->count > dome__array_most(sizeof(dsparse_triplet))) {
        status = DOME_ERR_ARGUMENT;
        text = g_strdup_printf("%zu triplets are more than memory can have", g->count);
    }
    for (size_t k = 0; k < g->count && status == DOME_OK; k++) {
        const dsparse_entry e = entry_of(g, k);
        const uint64_t row = e.row, column = e.column;
        const bool by_row = row >= a->rows;
        if (by_row || column >= a->columns) {
            status = DOME_ERR_RANGE;
            text = g_strdup_printf("triplet %zu is in %s %" G_GUINT64_FORMAT ", but '%s' has %" G_GUINT64_FORMAT " %s", k,
                                   by_row ? "row" : "column", by_row ? row : column, dsparse_name(a),
                                   by_row ? a->rows : a->columns, by_row ? "rows" : "columns");
        } else if ((g->integers || g->whole) && !fits(a, e.value.integer)) {
            status = DOME_ERR_RANGE;
            text = does_not_fit(a, row, e.value.integer);
        }
    }
    status = dvec__agree(a->env, status, text);
    g_free(text);
    return status;
}

/* Where each rank's part begins. */
static uint64_t *places_of(const uint64_t *counts, int size)
{
    uint64_t *at = g_new0(uint64_t, (gsize)size);
    for (int r = 1; r < size; r++)
        at[r] = at[r - 1] + counts[r - 1];
    return at;
}

/* Puts the triplets in the order of the tasks that own their rows. */
static dome_status sort_by_owner(parcel *p, const dsparse *a, const given *g)
{
    const arithmetic in = arithmetic_of(a);
    const size_t n = g->count, parts = a->parts;
    parcel_open(p, a);
    p->place = new_room(n, 2 * sizeof *p->place);
    p->value = new_room(n, parts * sizeof *p->value);
    dome_status status = dsparse__agree_memory(a, p->place && p->value);
    if (status != DOME_OK)
        return status;
    for (size_t k = 0; k < n; k++)
        p->counts[owner_of(a, entry_of(g, k).row)]++;
    uint64_t *at = places_of(p->counts, a->env->size);
    for (size_t k = 0; k < n; k++) {
        const dsparse_entry e = entry_of(g, k);
        uint64_t to = at[owner_of(a, e.row)]++;
        p->place[2 * to] = e.row;
        p->place[2 * to + 1] = e.column;
        put_words(p->value + parts * to, e.value, (unsigned)parts, in);
    }
    g_free(at);
    return DOME_OK;
}

/* Tells the owners how many triplets come. */
static int send_counts(parcel *p, dome_transport *t)
{
    int failed = dome__alltoall(t, DOME_U64, p->counts, 1, p->in_counts);
    for (int r = 0; r < t->group.size; r++)
        p->in_total += p->in_counts[r];
    return failed;
}

/* Sends so many values of each triplet. */
static int send_values(parcel *p, dome_transport *t, dome_type type, uint64_t values, const void *send, void *recv)
{
    for (int r = 0; r < t->group.size; r++) {
        p->scaled[r] = values * p->counts[r];
        p->in_scaled[r] = values * p->in_counts[r];
    }
    return dome__alltoallv(t, type, send, p->scaled, recv, p->in_scaled);
}

static dome_status send_triplets(parcel *p, const dsparse *a)
{
    dome_transport *t = a->env->transport;
    int failed = send_counts(p, t);
    p->in_place = new_room(p->in_total, 2 * sizeof *p->in_place);
    p->in_value = new_room(p->in_total, a->parts * sizeof *p->in_value);
    dome_status status = failed ? DOME_OK : dsparse__agree_memory(a, p->in_place && p->in_value);
    if (status != DOME_OK)
        return status;
    if (!failed)
        failed = send_values(p, t, dsparse__integer(a) ? DOME_U64 : DOME_F64, a->parts, p->value, p->in_value);
    if (!failed)
        failed = send_values(p, t, DOME_U64, 2, p->place, p->in_place);
    return failed ? dome__fail_transport(a->env, failed) : DOME_OK;
}

dome_status dsparse__send_to_owners(const dsparse *a, uint64_t n, const uint64_t pairs[], uint64_t *in_total, uint64_t **received)
{
    dome_transport *t = a->env->transport;
    parcel p = {0};
    parcel_open(&p, a);
    *received = NULL;
    p.place = new_room(n, 2 * sizeof *p.place);
    dome_status status = dsparse__agree_memory(a, p.place != NULL);
    if (status == DOME_OK) {
        for (uint64_t k = 0; k < n; k++)
            p.counts[owner_of(a, pairs[2 * k])]++;
        uint64_t *at = places_of(p.counts, t->group.size);
        for (uint64_t k = 0; k < n; k++) {
            uint64_t to = at[owner_of(a, pairs[2 * k])]++;
            p.place[2 * to] = pairs[2 * k];
            p.place[2 * to + 1] = pairs[2 * k + 1];
        }
        g_free(at);
        int failed = send_counts(&p, t);
        p.in_place = new_room(p.in_total, 2 * sizeof *p.in_place);
        status = failed ? (dome_status)dome__fail_transport(a->env, failed) : dsparse__agree_memory(a, p.in_place != NULL);
    }
    if (status == DOME_OK) {
        int failed = send_values(&p, t, DOME_U64, 2, p.place, p.in_place);
        status = failed ? dome__fail_transport(a->env, failed) : DOME_OK;
    }
    if (status == DOME_OK) {
        *in_total = p.in_total;
        *received = g_steal_pointer(&p.in_place);
    }
    parcel_clear(&p);
    return status;
}

/* The number of a row among this task's. */
static inline uint64_t local_row(const dome_span span[2], uint64_t row)
{
    return row >= span[0].first && row - span[0].first < span[0].count ? row - span[0].first
                                                                       : row - span[1].first + span[0].count;
}

/* Puts triplets of this task's rows in the order of these. */
static dome_status sort_by_row(parcel *p, const dsparse *a, const given *g)
{
    const uint64_t local = dome_layout_local(a->layout, a->env->rank);
    const unsigned parts = a->parts, words = 1 + parts;
    const arithmetic in = arithmetic_of(a);
    dome_span span[2] = {{0}};
    dome_layout_spans(a->layout, a->env->rank, span);
    p->start = new_room(local + 1, sizeof *p->start);
    p->entries = new_room(g->count, words * sizeof *p->entries);
    if (!p->start || !p->entries)
        return DOME_ERR_MEMORY;
    memset(p->start, 0, (size_t)(local + 1) * sizeof *p->start);
    for (size_t k = 0; k < g->count; k++)
        p->start[local_row(span, entry_of(g, k).row) + 1]++;
    for (uint64_t i = 0; i < local; i++)
        p->start[i + 1] += p->start[i];
    for (size_t k = 0; k < g->count; k++) {
        const dsparse_entry given = entry_of(g, k);
        word *e = p->entries + words * p->start[local_row(span, given.row)]++;
        e[0].number = given.column;
        put_words(e + 1, given.value, parts, in);
    }
    memmove(p->start + 1, p->start, (size_t)local * sizeof *p->start); /* placing has moved each to the end of its row */
    p->start[0] = 0;
    return DOME_OK;
}

/* Sends triplets to the owners of their rows; *arrived: those of this task's rows. */
static dome_status exchange_triplets(parcel *p, const dsparse *a, const given *g, given *arrived)
{
    dome_status status = sort_by_owner(p, a, g);
    if (status == DOME_OK)
        status = send_triplets(p, a);
    clear_room(&p->place);
    clear_room(&p->value);
    *arrived = (given){.count = p->in_total, .place = p->in_place, .value = p->in_value, .words = a->parts};
    arrived->whole = dsparse__integer(a);
    return status;
}

/* ---- rows by a function ---- */

struct dsparse_row {
    const dsparse *a;
    uint64_t index;
    uint64_t count, room; /* entries of the block's rows so far */
    unsigned words;
    arithmetic in;
    word *entries;
    dome_status status;
    char *text;
};

/* Adds an entry and returns it, or NULL after a failure. The caller sets the value. */
static inline word *new_entry(dsparse_row *row, uint64_t column)
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

static void refuse(dsparse_row *row, const char *what)
{
    if (row->status != DOME_OK)
        return;
    row->status = DOME_ERR_TYPE;
    row->text = g_strdup_printf("row %" G_GUINT64_FORMAT " has %s, but '%s' has values of type %s", row->index, what,
                                dsparse_name(row->a), dome_type_name(row->a->type));
}

void dsparse_row_add(dsparse_row *row, uint64_t column, double value)
{
    DOME_NEEDS(row, "the row");
    if (row->in == IN_INTEGERS) {
        refuse(row, "an entry that is not an integer");
        return;
    }
    word *e = new_entry(row, column);
    if (e)
        put_words(e + 1, (dsparse_number){.re = value}, row->words - 1, row->in);
}

void dsparse_row_add_i64(dsparse_row *row, uint64_t column, int64_t value)
{
    DOME_NEEDS(row, "the row");
    if (row->in != IN_INTEGERS)
        refuse(row, "an integer entry");
    if (row->status == DOME_OK && !fits(row->a, value)) {
        row->status = DOME_ERR_RANGE;
        row->text = does_not_fit(row->a, row->index, value);
    }
    word *e = new_entry(row, column);
    if (e)
        e[1].number = (uint64_t)value;
}

void dsparse_row_add_c128(dsparse_row *row, uint64_t column, const double value[2])
{
    DOME_NEEDS(row, "the row");
    DOME_NEEDS(value, "the value");
    if (row->a->parts < 2)
        refuse(row, "a complex entry");
    word *e = new_entry(row, column);
    if (e)
        put_words(e + 1, (dsparse_number){.re = value[0], .im = value[1]}, 2, row->in);
}

/* The matrix's arrays while its blocks are filled one after the other: they have room for so many entries. */
typedef struct filling {
    void *store;
    uint64_t room, entries; /* entries: so far */
    uint64_t starts, rows;  /* numbers in `start`, rows done */
    uint64_t alike, unlike; /* entries of uniform blocks, and of others */
    bool differ;            /* a block is not uniform: there are values in the store */
} filling;

static char *values_of(const filling *f)
{
    return f->store;
}

static uint32_t *columns_of(const filling *f, const dsparse *a)
{
    return (uint32_t *)(void *)(values_of(f) + f->room * dome_type_size(a->type));
}

static uint32_t *starts_of(const filling *f, const dsparse *a)
{
    return columns_of(f, a) + f->room;
}

/* Moves the arrays to a store with room for so many entries. */
static bool move_arrays(filling *f, const dsparse *a, uint64_t room)
{
    const uint64_t starts = dome_layout_local(a->layout, a->env->rank) + a->blocks, size = dome_type_size(a->type);
    filling to = *f;
    to.room = room;
    to.store = room < PTRDIFF_MAX / 32 ? dome__storage_raw(dsparse__block_bytes(a, starts, room), NULL) : NULL;
    if (!to.store)
        return false;
    if (f->store) {
        if (f->differ)
            memcpy(values_of(&to), values_of(f), (size_t)(f->entries * size));
        memcpy(columns_of(&to, a), columns_of(f, a), (size_t)f->entries * sizeof(uint32_t));
        memcpy(starts_of(&to, a), starts_of(f, a), (size_t)f->starts * sizeof(uint32_t));
    }
    dome__storage_free(f->store);
    *f = to;
    return true;
}

/* Makes room for a block's entries, and for those of the rows to come: as many for each as the rows so far have, but not much
 * more than there are. Pages that stay unused cost nothing. */
static bool make_room(filling *f, const dsparse *a, const dsparse_block *b, uint64_t count)
{
    enum { MOST = 32 };
    const uint64_t needed = f->entries + count;
    if (needed <= f->room)
        return true;
    const double per_row = (double)needed / (double)(f->rows + b->rows);
    const double likely = 1.1 * per_row * (double)dome_layout_local(a->layout, a->env->rank);
    const uint64_t room = MAX(needed, (uint64_t)MIN(likely, MOST * (double)needed));
    return move_arrays(f, a, room) || move_arrays(f, a, needed);
}

/* The program's function, what it gets, and room for a number for each row of a block (start: and one more). */
typedef struct row_source {
    dsparse_row_function function;
    void *ctx;
    dsparse_row *row;
    uint64_t *start;
    uint32_t *kept;
} row_source;

/* Calls the program's function for each row of a block and appends the entries. *total: the number of entries so far. */
static void fill_rows_of(const row_source *from, filling *f, uint64_t position, dsparse_block *b, uint64_t *total)
{
    dsparse_row *row = from->row;
    uint64_t *start = from->start;
    uint32_t *kept = from->kept;
    const dsparse *a = row->a;
    const uint64_t first = dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, position)).first;
    row->count = 0;
    start[0] = 0;
    for (uint32_t i = 0; i < b->rows && row->status == DOME_OK; i++) {
        row->index = first + i;
        from->function(from->ctx, row->index, row);
        start[i + 1] = row->count;
    }
    if (row->status != DOME_OK)
        return;
    *total = compress_block(a, b, start, row->entries, kept);
    if (*total > UINT32_MAX) {
        row->status = DOME_ERR_RANGE;
        row->text = dsparse__too_many(a, position);
    } else if (!make_room(f, a, b, *total)) {
        row->status = DOME_ERR_MEMORY;
    } else if (*total > 0) {
        b->value = values_of(f) + f->entries * dome_type_size(a->type);
        b->column = columns_of(f, a) + f->entries;
        b->start = starts_of(f, a) + f->starts;
        b->stored = true;
        b->uniform = all_alike(b, start, row->entries, kept, row->words);
        *(b->uniform ? &f->alike : &f->unlike) += *total;
        if (!b->uniform && f->alike > 2 * f->unlike)
            dsparse__block_separate(a, b, *total);
        fill_block(a, b, start, row->entries, kept);
        f->differ = f->differ || !(b->uniform || b->separate);
        f->entries += *total;
        f->starts += b->rows + UINT64_C(1);
    }
    f->rows += b->rows;
}

/* Calls the function for all rows of this task, block by block, and makes blocks of their entries. */
static void call_for_rows(row_source *from, filling *f, dsparse_block *block)
{
    dsparse_row *row = from->row;
    const dsparse *a = row->a;
    const uint64_t most = dome_layout_block_size(a->layout);
    uint64_t *total = dvec__try_array(a->blocks, sizeof *total);
    from->start = dvec__try_array(most + 1, sizeof *from->start);
    from->kept = dvec__try_array(most, sizeof *from->kept);
    if (!from->start || !total || !from->kept || !block)
        row->status = DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < a->blocks && row->status == DOME_OK; k++)
        fill_rows_of(from, f, k, &block[k], &total[k]);
    if (row->status == DOME_OK && f->room - f->entries > f->entries / 4 && !move_arrays(f, a, f->entries))
        row->status = DOME_ERR_MEMORY;
    if (row->status == DOME_OK && f->store)
        place_arrays(a, block, total, values_of(f), columns_of(f, a), starts_of(f, a));
    g_free(from->start);
    g_free(total);
    g_free(from->kept);
}

/* Fills the matrix row by row: calls the function for each row of this task. op: of the function, if it is the program's. */
static dome_status fill_by_rows(dsparse *a, dsparse_row_function function, void *ctx, dome_operation *op)
{
    dsparse_row row = {.a = a, .words = 1 + a->parts, .in = arithmetic_of(a)};
    dsparse_block *block = dsparse__blocks_new(a);
    filling f = {0};
    row_source from = {.function = function, .ctx = ctx, .row = &row};
    if (op)
        op->program = true;
    call_for_rows(&from, &f, block);
    if (op)
        op->program = false;
    dome_status status = dsparse__take(a, block, f.store, row.status, row.text);
    g_free(row.entries);
    return status;
}

dome_status dsparse_fill_rows(dsparse *a, dsparse_row_function function, void *ctx)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(function, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_FILL_ROWS, a->object, NULL, 0);
    return dome__end(&op, fill_by_rows(a, function, ctx, &op));
}

/* ---- from triplets to rows ---- */

/* Triplets in the order of this task's rows, and the next one. */
typedef struct ordered {
    const given *given;
    size_t next;
} ordered;

/* Adds the triplets of a row. */
static void take_row(void *ctx, uint64_t index, dsparse_row *row)
{
    ordered *o = ctx;
    for (; o->next < o->given->count; o->next++) {
        const dsparse_entry given = entry_of(o->given, o->next);
        word *e = given.row == index ? new_entry(row, given.column) : NULL;
        if (!e)
            return;
        put_words(e + 1, given.value, row->words - 1, row->in);
    }
}

static bool in_order(const dsparse *a, const given *g)
{
    dome_span span[2] = {{0}};
    dome_layout_spans(a->layout, a->env->rank, span);
    uint64_t last = 0;
    for (size_t k = 0; k < g->count; k++) {
        const uint64_t row = local_row(span, entry_of(g, k).row);
        if (row < last)
            return false;
        last = row;
    }
    return true;
}

/* Makes the matrix of triplets of this task's rows: row by row on all tasks, or on none. */
static dome_status make_rows(dsparse *a, const given *g, parcel *p)
{
    if (in_order(a, g)) /* they need not be copied */
        return fill_by_rows(a, take_row, &(ordered){.given = g}, NULL);
    const dome_status sorted = sort_by_row(p, a, g); /* apart: compilers read arguments in any order */
    return take(a, p->start, p->entries, sorted);
}

static dome_status assemble(dsparse *a, const given *g)
{
    parcel p = {0};
    given arrived = *g;
    dome_status status = check_triplets(a, g);
    if (status == DOME_OK && a->env->size > 1)
        status = exchange_triplets(&p, a, g, &arrived);
    if (status == DOME_OK)
        status = make_rows(a, &arrived, &p);
    parcel_clear(&p);
    return status;
}

dome_status dsparse__assemble(dsparse *a, size_t n, const dsparse_entry entries[])
{
    return assemble(a, &(given){.count = n, .entries = entries});
}

dome_status dsparse__assemble_parts(dsparse *a, size_t n, const dsparse_triplet_c128 triplets[])
{
    return assemble(a, &(given){.count = n, .parts = triplets});
}

dome_status dsparse_assemble(dsparse *a, size_t n, const dsparse_triplet triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE, a->object, NULL, 0);
    dome_status status = dsparse__check_not_integer(a, "dsparse_assemble_i64");
    if (status == DOME_OK)
        status = assemble(a, &(given){.count = n, .real = triplets});
    return dome__end(&op, status);
}

dome_status dsparse_assemble_i64(dsparse *a, size_t n, const dsparse_triplet_i64 triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE_I64, a->object, NULL, 0);
    dome_status status = dsparse__check_integer(a);
    if (status == DOME_OK)
        status = assemble(a, &(given){.count = n, .integers = triplets});
    return dome__end(&op, status);
}

dome_status dsparse_assemble_c128(dsparse *a, size_t n, const dsparse_triplet_c128 triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE_C128, a->object, NULL, 0);
    dome_status status = dsparse__check_complex(a);
    if (status == DOME_OK)
        status = dsparse__assemble_parts(a, n, triplets);
    return dome__end(&op, status);
}

/* The type of vectors whose values become entries. */
static dome_type values_type(const dsparse *a)
{
    return dsparse__integer(a) ? DOME_I64 : a->parts > 1 ? DOME_C128 : DOME_F64;
}

static dome_status check_vectors(const dsparse *a, const dvec *rows, const dvec *columns, const dvec *values)
{
    const dvec *all[] = {rows, columns, values};
    if (!rows || !columns || !values)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "a vector is NULL");
    for (int k = 0; k < 3; k++) {
        const dvec *v = all[k];
        if (v->length != rows->length || v->width != 1)
            return dome__fail(a->env, DOME_ERR_SHAPE,
                              "'%s' has the length %" G_GUINT64_FORMAT " and the width %" G_GUINT64_FORMAT
                              ", but '%s' has the length %" G_GUINT64_FORMAT "; all have the width 1",
                              dvec_name(v), v->length, v->width, dvec_name(rows), rows->length);
        if (v->distribution == DOME_WHOLE || !dome_layout_equal(v->layout, rows->layout))
            return dome__fail(a->env, DOME_ERR_LAYOUT, "'%s' is whole on each task, or not distributed as '%s' is", dvec_name(v),
                              dvec_name(rows));
        const bool fits = k == 2 ? v->type == values_type(a) : v->type == DOME_I64 || v->type == DOME_U64;
        if (!fits)
            return dome__fail(a->env, DOME_ERR_TYPE, "'%s' has values of type %s instead of %s", dvec_name(v),
                              dome_type_name(v->type), k == 2 ? dome_type_name(values_type(a)) : "i64 or u64");
    }
    return DOME_OK;
}

dome_status dsparse_assemble_vectors(dsparse *a, const dvec *rows, const dvec *columns, const dvec *values)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE_VECTORS, a->object,
                     (uint64_t[]){dvec__id(rows), dvec__id(columns), dvec__id(values)}, 3);
    dome_status status = check_vectors(a, rows, columns, values);
    for (int k = 0; k < 3 && status == DOME_OK; k++)
        status = dvec__settle_read((const dvec *[]){rows, columns, values}[k]);
    if (status == DOME_OK)
        status = assemble(a, &(given){.count = rows->local,
                                      .row = (const uint64_t *)(const void *)rows->data,
                                      .column = (const uint64_t *)(const void *)columns->data,
                                      .value = (const word *)(const void *)values->data,
                                      .words = a->parts,
                                      .whole = dsparse__integer(a)});
    return dome__end(&op, status);
}
