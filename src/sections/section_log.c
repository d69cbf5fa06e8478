#include "sections/section_log.h"

#include "delta/delta.h"
#include "system/bytes.h"

/* As bytes: the numbers of the section before and of the last one, the author and LATE, the bytes of the changes, the changes:
 * the key of a unit, the bytes of its records, the records. */
enum { HEAD = 8 + 8 + 4 + 8, PART = 8 + 4 };

/* SEVERAL: of sections that were merged. */
enum { SEVERAL = 0x7fffffff, LATE = 31 };

/* One, or some that were merged: those behind number `from`, up to `to`. */
typedef struct section {
    uint64_t from, to;
    uint32_t author;
    bool late;
    GByteArray *changes;
} section;

struct dome_section_log {
    GArray *sections; /* section, in order */
    uint64_t end, taken, version;
    uint64_t bytes, merged; /* merged: what was left by the last merge */
};

static void free_section(void *data)
{
    g_byte_array_unref(((section *)data)->changes);
}

dome_section_log *dome__section_log_new(void)
{
    dome_section_log *log = g_new0(dome_section_log, 1);
    log->sections = g_array_new(FALSE, FALSE, sizeof(section));
    g_array_set_clear_func(log->sections, free_section);
    return log;
}

void dome__section_log_free(dome_section_log *log)
{
    if (!log)
        return;
    g_array_unref(log->sections);
    g_free(log);
}

void dome__section_log_clear(dome_section_log *log)
{
    g_array_set_size(log->sections, 0);
    log->end = log->taken = log->bytes = log->merged = 0;
    log->version++;
}

uint64_t dome__section_log_end(const dome_section_log *log)
{
    return log->end;
}

uint64_t dome__section_log_taken(const dome_section_log *log)
{
    return log->taken;
}

uint64_t dome__section_log_version(const dome_section_log *log)
{
    return log->version;
}

uint64_t dome__section_log_bytes(const dome_section_log *log)
{
    return log->bytes;
}

static const section *at(const dome_section_log *log, guint k)
{
    return &g_array_index(log->sections, section, k);
}

/* The first section that ends behind the number. */
static guint first_behind(const dome_section_log *log, uint64_t number)
{
    guint low = 0, high = log->sections->len;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if (at(log, middle)->to <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void append(dome_section_log *log, section s)
{
    g_array_append_val(log->sections, s);
    log->end = s.to;
    log->bytes += s.changes->len + HEAD;
}

/* ---- this task publishes ---- */

void dome__section_put(GByteArray *changes, uint64_t key, const void *records, size_t bytes)
{
    uint8_t head[PART];
    dome__put_u64(head, key);
    dome__put_u32(head + 8, (uint32_t)bytes);
    g_byte_array_append(changes, head, PART);
    g_byte_array_append(changes, records, (guint)bytes);
}

void dome__section_log_add(dome_section_log *log, int author, bool late, const GByteArray *changes)
{
    GByteArray *copy = g_byte_array_sized_new(changes->len);
    g_byte_array_append(copy, changes->data, changes->len);
    append(log, (section){log->end, log->end + 1, (uint32_t)author, late, copy});
    if (log->taken + 1 == log->end)
        log->taken = log->end;
}

/* ---- what others have published ---- */

/* Bytes that lie at a place of a sequence of which a part is wanted. */
static void copy_part(GByteArray *to, const dome_section_range *range, uint64_t place, const void *bytes, uint64_t count)
{
    const uint64_t end = range->skip + range->most, first = MAX(place, range->skip), last = MIN(place + count, end);
    if (first < last)
        g_byte_array_append(to, (const guint8 *)bytes + (first - place), (guint)(last - first));
}

uint64_t dome__section_log_since(const dome_section_log *log, const dome_section_range *range, GByteArray *to)
{
    uint64_t place = 0;
    for (guint k = first_behind(log, range->have); k < log->sections->len && at(log, k)->to <= range->upto; k++) {
        const section *s = at(log, k);
        uint8_t head[HEAD];
        dome__put_u64(head, s->from);
        dome__put_u64(head + 8, s->to);
        dome__put_u32(head + 16, s->author | (uint32_t)s->late << LATE);
        dome__put_u64(head + 20, s->changes->len);
        copy_part(to, range, place, head, HEAD);
        copy_part(to, range, place + HEAD, s->changes->data, s->changes->len);
        place += HEAD + s->changes->len;
    }
    return place;
}

/* The next part; false: there is none, or it makes no sense. */
static bool next_part(const uint8_t **from, const uint8_t *end, uint64_t *key, const uint8_t **records, uint32_t *bytes)
{
    if (end - *from < PART)
        return false;
    *key = dome__get_u64(*from);
    *bytes = dome__get_u32(*from + 8);
    *records = *from + PART;
    if (*bytes > (size_t)(end - *records))
        return false;
    *from = *records + *bytes;
    return true;
}

static bool is_whole(const uint8_t *changes, uint64_t count)
{
    const uint8_t *end = changes + count, *records;
    uint64_t key;
    uint32_t bytes;
    while (next_part(&changes, end, &key, &records, &bytes))
        continue;
    return changes == end;
}

bool dome__section_log_hear(dome_section_log *log, const void *bytes, size_t count)
{
    const uint8_t *from = bytes, *end = from + count;
    while (end - from >= HEAD) {
        const uint32_t word = dome__get_u32(from + 16);
        const uint64_t changes = dome__get_u64(from + 20);
        section s = {dome__get_u64(from), dome__get_u64(from + 8), word & SEVERAL, word >> LATE, NULL};
        from += HEAD;
        if (changes > (size_t)(end - from) || s.to <= s.from || !is_whole(from, changes))
            return false;
        if (s.to > log->end && s.from > log->end)
            return false;
        if (s.to > log->end) {
            s.changes = g_byte_array_sized_new((guint)changes);
            g_byte_array_append(s.changes, from, (guint)changes);
            append(log, s);
        }
        from += changes;
    }
    return from == end;
}

static void visit_parts(const section *s, const uint64_t *only, dome_section_visit *visit, void *ctx)
{
    const uint8_t *from = s->changes->data, *end = from + s->changes->len, *records;
    uint64_t key;
    uint32_t bytes;
    while (next_part(&from, end, &key, &records, &bytes))
        if (!only || *only == key)
            visit(ctx, key, records, bytes);
}

void dome__section_log_take(dome_section_log *log, int self, dome_section_visit *visit, void *ctx)
{
    for (guint k = first_behind(log, log->taken); k < log->sections->len; k++)
        if (at(log, k)->author != (uint32_t)self)
            visit_parts(at(log, k), NULL, visit, ctx);
    log->taken = log->end;
}

void dome__section_log_behind(const dome_section_log *log, uint64_t key, uint64_t has, dome_section_visit *visit, void *ctx)
{
    for (guint k = first_behind(log, has); k < log->sections->len; k++)
        visit_parts(at(log, k), &key, visit, ctx);
}

bool dome__section_log_has_late(const dome_section_log *log, int author)
{
    for (guint k = first_behind(log, log->taken); k-- > 0;)
        if (at(log, k)->late && at(log, k)->author == (uint32_t)author)
            return true;
    return false;
}

/* ---- its size ---- */

static void merge_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    GHashTable *units = ctx;
    const gint64 name = (gint64)key;
    dome_delta *more = dome__delta_new(1), *before = g_hash_table_lookup(units, &name);
    if (!dome__delta_set_records(more, records, bytes, INT64_MAX)) {
        dome__delta_free(more);
        return;
    }
    if (before) {
        dome_delta *both = dome__delta_new(1);
        dome__delta_merge(both, before, more, NULL, NULL);
        dome__delta_free(more);
        more = both;
    }
    g_hash_table_insert(units, g_memdup2(&name, sizeof name), more);
}

static void free_delta(void *delta)
{
    dome__delta_free(delta);
}

/* The first sections become one. */
static void merge_first(dome_section_log *log, guint count)
{
    GHashTable *units = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_delta);
    section *first = &g_array_index(log->sections, section, 0);
    GHashTableIter each;
    gpointer key, delta;
    for (guint k = 0; k < count; k++) {
        visit_parts(at(log, k), NULL, merge_part, units);
        log->bytes -= at(log, k)->changes->len + HEAD;
    }
    g_byte_array_set_size(first->changes, 0);
    g_hash_table_iter_init(&each, units);
    while (g_hash_table_iter_next(&each, &key, &delta)) {
        size_t bytes;
        const void *records = dome__delta_records(delta, &bytes);
        dome__section_put(first->changes, (uint64_t) * (const gint64 *)key, records, bytes);
    }
    first->to = at(log, count - 1)->to;
    first->author = SEVERAL;
    log->bytes += first->changes->len + HEAD;
    log->merged = first->changes->len;
    g_array_remove_range(log->sections, 1, count - 1);
    g_hash_table_unref(units);
    log->version++;
}

void dome__section_log_merge(dome_section_log *log, uint64_t all_have, uint64_t much)
{
    const uint64_t most = MIN(all_have, log->taken);
    guint count = 0;
    if (log->bytes <= much || log->bytes < 2 * log->merged)
        return;
    while (count < log->sections->len && at(log, count)->to <= most && !at(log, count)->late)
        count++;
    if (count > 1)
        merge_first(log, count);
}
