/* The values in a text file of columns: each task's part of the file, its records and their fields. */
#include "core/type_private.h"
#include "files/decimal.h"
#include "io/dvec_csv.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- parts ---- */

/* Sets which bytes of the file this task reads: none if it does not see the file. */
static void choose_part(dvec_csv *r)
{
    dome_env *env = r->file.env;
    uint64_t seers = 0, before = 0, bytes = r->file.bytes - r->first_byte;
    for (int k = 0; k < env->size; k++) {
        before += k < env->rank && r->file.seen[k];
        seers += r->file.seen[k];
    }
    r->begin = r->first_byte + bytes / seers * before + bytes % seers * before / seers;
    before += r->file.seen[env->rank];
    r->end = r->first_byte + bytes / seers * before + bytes % seers * before / seers;
}

static void scan_part(dvec_csv *r, dome_csv_scan *scan)
{
    char *buffer = r->begin < r->end ? g_try_malloc(DVEC_CSV_PIECE) : NULL;
    dome__csv_scan_begin(scan);
    if (r->begin < r->end && !buffer)
        dome__shared_note(&r->file, DOME_ERR_MEMORY, "no memory to read '%s'", r->file.path);
    for (uint64_t at = r->begin, n; buffer && at < r->end; at += n) {
        n = MIN(DVEC_CSV_PIECE, r->end - at);
        if (!dome__shared_read(&r->file, at, buffer, n))
            break;
        dome__csv_scan(&r->format, scan, buffer, (size_t)n);
    }
    g_free(buffer);
}

/* Follows the scans of all tasks from the beginning of the file: states, numbers of records and lines. */
static int join_parts(dvec_csv *r, const dome_csv_scan *scan)
{
    enum { RECORDS = 0, STATES = DOME_CSV_STATES, LINES = 2 * DOME_CSV_STATES, WORDS };
    dome_env *env = r->file.env;
    uint64_t mine[WORDS], *all = g_new(uint64_t, WORDS * (gsize)env->size);
    for (int s = 0; s < DOME_CSV_STATES; s++) {
        mine[RECORDS + s] = scan->records[s];
        mine[STATES + s] = (uint64_t)scan->state[s];
    }
    mine[LINES] = scan->lines;
    int failed = dome__allgather(env->transport, DOME_U64, mine, WORDS, all);
    uint64_t state = DOME_CSV_LINE, lines = r->lines;
    r->total = 0;
    for (int k = 0; k < env->size && !failed; k++) {
        const uint64_t *of = all + WORDS * (gsize)k;
        if (k == env->rank) {
            r->state = (dome_csv_state)state;
            r->line = lines;
            r->records = of[RECORDS + state];
        }
        r->ranges[2 * k] = (dome_span){r->total, of[RECORDS + state]};
        r->total += of[RECORDS + state];
        lines += of[LINES];
        state = of[STATES + state];
    }
    g_free(all);
    return failed ? dome__fail_transport(env, failed) : DOME_OK;
}

/* ---- values ---- */

/* The bytes between the beginning of a record and that of its line: blanks. */
static uint64_t indent(dvec_csv *r)
{
    char buffer[256];
    uint64_t found = 0;
    for (uint64_t at = r->offset, n; at > r->first_byte; at -= n) {
        n = MIN(at - r->first_byte, sizeof buffer);
        if (!dome__shared_read(&r->file, at - n, buffer, n))
            return found;
        for (uint64_t k = n; k > 0; k--, found++)
            if (buffer[k - 1] == '\n')
                return found;
    }
    return found;
}

/* A mistake in a field: where it stands in the file, and what is wrong with it. */
static bool refuse_field(dvec_csv *r, const dvec_csv_wanted *w, const char *record, const dome_csv_field *field, const char *what)
{
    const size_t before = (size_t)(field->text - record);
    const uint64_t lines = dvec__csv_lines(record, before);
    const char *line = record + before;
    GString *text = g_string_new(NULL), *column = g_string_new(NULL);
    while (line > record && line[-1] != '\n')
        line--;
    const uint64_t byte = (uint64_t)(field->text - line) + (lines ? 0 : indent(r)) + 1;
    dvec__csv_show(text, field->text, field->length);
    if (w && w->name)
        g_string_append_printf(column, " (column '%s')", w->name);
    else if (w)
        g_string_append_printf(column, " (column %" PRIu64 ", from 0)", w->number);
    dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s', line %" PRIu64 ", byte %" PRIu64 "%s: '%s' %s", r->file.path,
                      r->line + 1 + lines, byte, column->str, text->str, what);
    g_string_free(text, TRUE);
    g_string_free(column, TRUE);
    return false;
}

/* The text of a field, with single quotes. NULL if there is no memory for it. */
static const char *plain_text(dvec_csv *r, const dome_csv_field *field, size_t *length)
{
    *length = field->length;
    if (!field->doubled)
        return field->text;
    if (r->scratch_bytes < field->length) {
        g_free(r->scratch);
        r->scratch = g_try_malloc(field->length);
        r->scratch_bytes = r->scratch ? field->length : 0;
    }
    if (!r->scratch)
        dome__shared_note(&r->file, DOME_ERR_MEMORY, "no memory for a field of '%s'", r->file.path);
    else
        *length = dome__csv_unquote(field, r->scratch);
    return r->scratch;
}

/* Stores a number. *wide: it is one, but not of this type. */
static bool store_number(dome_type_kind kind, const char *text, size_t length, void *to, bool *wide)
{
    int64_t i = 0;
    uint64_t u = 0;
    *wide = false;
    switch (kind) {
#define SIGNED(name, ctype, least, most)                                                                                         \
    case DOME_KIND_##name: {                                                                                                     \
        const bool good = dome__decimal_i64(text, length, least, most, &i, wide);                                                \
        *(ctype *)to = (ctype)i;                                                                                                 \
        return good;                                                                                                             \
    }
#define UNSIGNED(name, ctype, most)                                                                                              \
    case DOME_KIND_##name: {                                                                                                     \
        const bool good = dome__decimal_u64(text, length, most, &u, wide);                                                       \
        *(ctype *)to = (ctype)u;                                                                                                 \
        return good;                                                                                                             \
    }
        SIGNED(I8, int8_t, INT8_MIN, INT8_MAX)
        SIGNED(I16, int16_t, INT16_MIN, INT16_MAX)
        SIGNED(I32, int32_t, INT32_MIN, INT32_MAX)
        SIGNED(I64, int64_t, INT64_MIN, INT64_MAX)
        UNSIGNED(U8, uint8_t, UINT8_MAX)
        UNSIGNED(U16, uint16_t, UINT16_MAX)
        UNSIGNED(U32, uint32_t, UINT32_MAX)
        UNSIGNED(U64, uint64_t, UINT64_MAX)
#undef SIGNED
#undef UNSIGNED
    case DOME_KIND_F32:
        return dome__decimal_f32(text, length, to);
    default:
        return dome__decimal_f64(text, length, to);
    }
}

static void store_missing(dome_type_kind kind, void *to)
{
    if (kind == DOME_KIND_F32)
        *(float *)to = NAN;
    else
        *(double *)to = NAN;
}

static bool take_text(dvec_csv *r, const dvec_csv_wanted *w, const char *record, const dome_csv_field *field, char *to)
{
    const dvec_csv_output *o = &r->outputs[w->output];
    size_t length;
    const char *text = plain_text(r, field, &length);
    if (!text)
        return false;
    if (length > o->width)
        return refuse_field(r, w, record, field, "is longer than the elements of its vector");
    if (length == 0 && r->options.complete)
        return refuse_field(r, w, record, field, "is missing");
    memcpy(to, text, length);
    memset(to + length, 0, (size_t)o->width - length);
    return true;
}

static bool take_number(dvec_csv *r, const dvec_csv_wanted *w, const char *record, const dome_csv_field *field, char *to)
{
    const dome_type_kind kind = dome_type_kind_of(r->outputs[w->output].type);
    const bool real = kind >= DOME_KIND_F32;
    size_t length = field->length;
    const char *text = field->text;
    for (; length > 0 && g_ascii_isspace(*text); length--) /* within quotes */
        text++;
    while (length > 0 && g_ascii_isspace(text[length - 1]))
        length--;
    bool wide = false;
    if (dome__csv_is_missing(text, length)) {
        if (!real || r->options.complete)
            return refuse_field(r, w, record, field, "is missing");
        store_missing(kind, to);
        return true;
    }
    if (store_number(kind, text, length, to, &wide))
        return true;
    char *what = g_strdup_printf(wide   ? "is no value of type %s"
                                 : real ? "is not a number%.0s"
                                        : "is not a whole number%.0s",
                                 dome_type_name(r->outputs[w->output].type));
    refuse_field(r, w, record, field, what);
    g_free(what);
    return false;
}

/* Stores the values of record number `index` of this task's. */
static bool take_record(dvec_csv *r, const char *record, size_t bytes, uint64_t index)
{
    const size_t fields = dome__csv_split(&r->format, record, bytes, r->field, (size_t)r->fields);
    for (size_t k = 0; k < MIN(fields, r->fields); k++)
        if (r->field[k].open || r->field[k].extra)
            return refuse_field(r, NULL, record, &r->field[k],
                                r->field[k].open ? "is a quoted field without an end" : "goes on behind its quote");
    if (fields != r->fields) {
        dome__shared_note(&r->file, DOME_ERR_FORMAT, "'%s', line %" PRIu64 " has %zu fields, and the first one %" PRIu64,
                          r->file.path, r->line + 1, fields, r->fields);
        return false;
    }
    for (uint64_t k = 0; k < r->nwanted; k++) {
        const dvec_csv_wanted *w = &r->wanted[k];
        const dvec_csv_output *o = &r->outputs[w->output];
        char *to = o->values + (index * o->width + w->place) * o->type->size;
        if (!(o->text ? take_text : take_number)(r, w, record, &r->field[w->number], to))
            return false;
    }
    return true;
}

/* ---- records ---- */

/* A piece of the file, from byte `offset` on. */
typedef struct window {
    char *text;
    size_t bytes, room, at; /* at: what is done */
    uint64_t offset;
} window;

/* Drops what is done, and reads more. False if there is no more, or after a failure. */
static bool read_more(dvec_csv *r, window *w)
{
    if (w->at > 0)
        memmove(w->text, w->text + w->at, w->bytes - w->at);
    w->offset += w->at;
    w->bytes -= w->at;
    w->at = 0;
    const uint64_t left = r->file.bytes - w->offset - w->bytes;
    if (w->bytes + DVEC_CSV_PIECE > w->room) {
        char *more = g_try_realloc(w->text, 2 * (w->bytes + DVEC_CSV_PIECE));
        if (!more)
            dome__shared_note(&r->file, DOME_ERR_MEMORY, "no memory for a record of '%s'", r->file.path);
        if (!more)
            return false;
        w->text = more;
        w->room = 2 * (w->bytes + DVEC_CSV_PIECE);
    }
    const size_t bytes = (size_t)MIN(left, w->room - w->bytes);
    if (bytes == 0 || !dome__shared_read(&r->file, w->offset + w->bytes, w->text + w->bytes, bytes))
        return false;
    w->bytes += bytes;
    return true;
}

/* Goes to the beginning of the next record, and makes it stand in the window as a whole. Returns its bytes, 0 after a failure. */
static size_t next_record(dvec_csv *r, window *w, bool *complete)
{
    for (;;) {
        const size_t skip = dome__csv_first(&r->format, &r->state, w->text + w->at, w->bytes - w->at);
        r->line += dvec__csv_lines(w->text + w->at, skip);
        w->at += skip;
        if (w->at < w->bytes) {
            const size_t bytes = dome__csv_record(&r->format, w->text + w->at, w->bytes - w->at, complete);
            if (*complete || w->offset + w->bytes == r->file.bytes)
                return bytes;
            r->state = DOME_CSV_LINE;
        }
        if (!read_more(r, w)) {
            dome__shared_note(&r->file, DOME_ERR_IO, "'%s' changes while it is read", r->file.path);
            return 0;
        }
    }
}

static void parse_part(dvec_csv *r)
{
    window w = {.offset = r->begin};
    bool complete = false, good = true;
    for (uint64_t k = 0; k < r->records && good; k++) {
        const size_t bytes = next_record(r, &w, &complete);
        r->offset = w.offset + w.at;
        good = bytes > 0 && take_record(r, w.text + w.at, bytes, k);
        if (good) {
            r->line += dvec__csv_lines(w.text + w.at, bytes) + complete;
            w.at += bytes + complete;
            r->state = DOME_CSV_LINE;
        }
    }
    g_free(w.text);
}

static void make_room(dvec_csv *r)
{
    bool good = r->fields <= r->file.bytes;
    r->field = good ? g_try_new(dome_csv_field, MAX(r->fields, 1)) : NULL;
    good = r->field != NULL;
    for (uint64_t k = 0; k < r->noutputs && good; k++) {
        dvec_csv_output *o = &r->outputs[k];
        uint64_t bytes;
        good = !__builtin_mul_overflow(r->records * o->type->size, o->width, &bytes) && bytes < SIZE_MAX;
        o->values = good ? dome__storage_raw(MAX(bytes, 1), NULL) : NULL;
        good = o->values != NULL;
    }
    if (!good)
        dome__shared_note(&r->file, DOME_ERR_MEMORY, "no memory for the values of '%s'", r->file.path);
}

int dvec__csv_read(dvec_csv *r)
{
    dome_csv_scan scan;
    int status = dome__shared_find(&r->file);
    if (status)
        return status;
    choose_part(r);
    scan_part(r, &scan);
    status = join_parts(r, &scan);
    if (status)
        return status;
    make_room(r);
    if (!r->file.status)
        parse_part(r);
    if (r->file.env->rank == 0 && !r->file.status)
        dome__shared_unchanged(&r->file);
    return dome__shared_finish(&r->file);
}
