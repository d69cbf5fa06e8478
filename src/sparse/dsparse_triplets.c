/* Triplets: checks them, sends them to the tasks that own their rows, and puts them in the order of rows. */
#include "sparse/dsparse_triplets.h"
#include "arrays/dvec_exchange.h"

#include "core/layout.h"
#include "core/storage.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

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

void dsparse__parcel_clear(parcel *p)
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

dome_status dsparse__check_triplets(const dsparse *a, const given *g)
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
        const dsparse_entry e = dsparse__entry_of(g, k);
        const uint64_t row = e.row, column = e.column;
        const bool by_row = row >= a->rows;
        if (by_row || column >= a->columns) {
            status = DOME_ERR_RANGE;
            text = g_strdup_printf("triplet %zu is in %s %" G_GUINT64_FORMAT ", but '%s' has %" G_GUINT64_FORMAT " %s", k,
                                   by_row ? "row" : "column", by_row ? row : column, dsparse_name(a),
                                   by_row ? a->rows : a->columns, by_row ? "rows" : "columns");
        } else if ((g->integers || g->whole) && !dsparse__fits(a, e.value.integer)) {
            status = DOME_ERR_RANGE;
            text = dsparse__does_not_fit(a, row, e.value.integer);
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
    const arithmetic in = dsparse__arithmetic_of(a);
    const size_t n = g->count, parts = a->parts;
    parcel_open(p, a);
    p->place = new_room(n, 2 * sizeof *p->place);
    p->value = new_room(n, parts * sizeof *p->value);
    dome_status status = dsparse__agree_memory(a, p->place && p->value);
    if (status != DOME_OK)
        return status;
    for (size_t k = 0; k < n; k++)
        p->counts[owner_of(a, dsparse__entry_of(g, k).row)]++;
    uint64_t *at = places_of(p->counts, a->env->size);
    for (size_t k = 0; k < n; k++) {
        const dsparse_entry e = dsparse__entry_of(g, k);
        uint64_t to = at[owner_of(a, e.row)]++;
        p->place[2 * to] = e.row;
        p->place[2 * to + 1] = e.column;
        dsparse__put_words(p->value + parts * to, e.value, (unsigned)parts, in);
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
    dsparse__parcel_clear(&p);
    return status;
}

/* The number of a row among this task's. */
static inline uint64_t local_row(const dome_span span[2], uint64_t row)
{
    return row >= span[0].first && row - span[0].first < span[0].count ? row - span[0].first
                                                                       : row - span[1].first + span[0].count;
}

dome_status dsparse__sort_by_row(parcel *p, const dsparse *a, const given *g)
{
    const uint64_t local = dome_layout_local(a->layout, a->env->rank);
    const unsigned parts = a->parts, words = 1 + parts;
    const arithmetic in = dsparse__arithmetic_of(a);
    dome_span span[2] = {{0}};
    dome_layout_spans(a->layout, a->env->rank, span);
    p->start = new_room(local + 1, sizeof *p->start);
    p->entries = new_room(g->count, words * sizeof *p->entries);
    if (!p->start || !p->entries)
        return DOME_ERR_MEMORY;
    memset(p->start, 0, (size_t)(local + 1) * sizeof *p->start);
    for (size_t k = 0; k < g->count; k++)
        p->start[local_row(span, dsparse__entry_of(g, k).row) + 1]++;
    for (uint64_t i = 0; i < local; i++)
        p->start[i + 1] += p->start[i];
    for (size_t k = 0; k < g->count; k++) {
        const dsparse_entry given = dsparse__entry_of(g, k);
        word *e = p->entries + words * p->start[local_row(span, given.row)]++;
        e[0].number = given.column;
        dsparse__put_words(e + 1, given.value, parts, in);
    }
    memmove(p->start + 1, p->start, (size_t)local * sizeof *p->start); /* placing has moved each to the end of its row */
    p->start[0] = 0;
    return DOME_OK;
}

dome_status dsparse__exchange_triplets(parcel *p, const dsparse *a, const given *g, given *arrived)
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

bool dsparse__in_order(const dsparse *a, const given *g)
{
    dome_span span[2] = {{0}};
    dome_layout_spans(a->layout, a->env->rank, span);
    uint64_t last = 0;
    for (size_t k = 0; k < g->count; k++) {
        const uint64_t row = local_row(span, dsparse__entry_of(g, k).row);
        if (row < last)
            return false;
        last = row;
    }
    return true;
}
