#include "store/format_private.h"
#include "store/windows.h"

#include "system/bytes.h"
#include "system/unconst.h"

#include <inttypes.h>
#include <rpc/types.h>
#include <rpc/xdr.h>
#include <string.h>

static const uint8_t MAGIC[8] = {0x89, 'D', 'O', 'M', 'E', '\r', '\n', 0x1a};

/* Offsets in the header. The places of magic, version, the two lengths and the checksum are the same in all versions. */
enum {
    AT_VERSION = 8,
    AT_PIECE = 12,
    AT_PIECES = 16,
    AT_DIRECTORY_BYTES = 20,
    AT_HEAD_BYTES = 24,
    AT_FILE_BYTES = 32,
    AT_ENTRIES = 40,
    AT_SUM = 48
};

G_STATIC_ASSERT(AT_SUM + sizeof(dome_checksum) == DOME_CKPT_HEADER);

/* ---- the directory in XDR: one routine for reading and writing ---- */

/* The number of items that follow. When reading, allocates the items if the rest of the directory can hold so many. */
static bool xdr_items(XDR *xdrs, GArray *items, u_int least_bytes)
{
    u_int count = items->len;
    if (!xdr_u_int(xdrs, &count))
        return false;
    if (xdrs->x_op == XDR_DECODE) {
        if (count > xdrs->x_handy / least_bytes)
            return false;
        g_array_set_size(items, count);
    }
    return true;
}

static bool xdr_name(XDR *xdrs, char **name)
{
    u_int bytes = xdrs->x_op == XDR_ENCODE ? (u_int)strlen(*name) : 0;
    if (!xdr_u_int(xdrs, &bytes) || bytes > DOME_CKPT_NAME_MAX)
        return false;
    if (xdrs->x_op == XDR_DECODE) {
        if (bytes > xdrs->x_handy)
            return false;
        *name = g_malloc0((size_t)bytes + 1);
    }
    return xdr_opaque(xdrs, *name, bytes) && strlen(*name) == bytes;
}

static bool xdr_earlier(XDR *xdrs, dome_ckpt_earlier *e)
{
    return xdr_uint64_t(xdrs, &e->number) && xdr_uint64_t(xdrs, &e->file_bytes) &&
           xdr_opaque(xdrs, (char *)e->sum.bytes, sizeof e->sum.bytes);
}

static bool xdr_struct(XDR *xdrs, dome_ckpt_struct *s)
{
    if (!s->fields)
        s->fields = dome__ckpt_fields_new();
    if (!xdr_name(xdrs, &s->name) || !xdr_items(xdrs, s->fields, 16))
        return false;
    for (guint i = 0; i < s->fields->len; i++) {
        dome_ckpt_field *f = &g_array_index(s->fields, dome_ckpt_field, i);
        if (!xdr_name(xdrs, &f->name) || !xdr_uint32_t(xdrs, &f->type) || !xdr_uint64_t(xdrs, &f->count))
            return false;
    }
    return true;
}

static bool xdr_object(XDR *xdrs, dome_ckpt_object *o)
{
    uint32_t distribution = o->distribution;
    bool_t fixed = o->fixed;
    if (!xdr_name(xdrs, &o->name) || !xdr_name(xdrs, &o->kind) || !xdr_uint32_t(xdrs, &o->type) ||
        !xdr_uint64_t(xdrs, &o->length) || !xdr_uint64_t(xdrs, &o->width) || !xdr_uint32_t(xdrs, &distribution) ||
        !xdr_uint64_t(xdrs, &o->block_size) || !xdr_uint64_t(xdrs, &o->blocks) || !xdr_bool(xdrs, &fixed))
        return false;
    o->distribution = (dome_distribution)distribution;
    o->fixed = fixed;
    return true;
}

static bool_t xdr_directory(XDR *xdrs, dome_ckpt *ckpt)
{
    if (!xdr_name(xdrs, &ckpt->program) || !xdr_uint64_t(xdrs, &ckpt->number) || !xdr_uint64_t(xdrs, &ckpt->loop))
        return FALSE;
    if (!xdr_items(xdrs, ckpt->earlier, 32))
        return FALSE;
    for (guint i = 0; i < ckpt->earlier->len; i++)
        if (!xdr_earlier(xdrs, &g_array_index(ckpt->earlier, dome_ckpt_earlier, i)))
            return FALSE;
    if (!xdr_items(xdrs, ckpt->counters, 12))
        return FALSE;
    for (guint i = 0; i < ckpt->counters->len; i++) {
        dome_ckpt_counter *c = &g_array_index(ckpt->counters, dome_ckpt_counter, i);
        if (!xdr_name(xdrs, &c->name) || !xdr_uint64_t(xdrs, &c->value))
            return FALSE;
    }
    if (!xdr_items(xdrs, ckpt->structs, 8))
        return FALSE;
    for (guint i = 0; i < ckpt->structs->len; i++)
        if (!xdr_struct(xdrs, &g_array_index(ckpt->structs, dome_ckpt_struct, i)))
            return FALSE;
    if (!xdr_items(xdrs, ckpt->objects, 52))
        return FALSE;
    for (guint i = 0; i < ckpt->objects->len; i++)
        if (!xdr_object(xdrs, &g_array_index(ckpt->objects, dome_ckpt_object, i)))
            return FALSE;
    return TRUE;
}

static uint64_t directory_bytes(dome_ckpt *ckpt)
{
    return xdr_sizeof((xdrproc_t)xdr_directory, ckpt);
}

static bool encode_directory(dome_ckpt *ckpt, void *to, uint64_t bytes)
{
    XDR xdrs;
    xdrmem_create(&xdrs, to, (u_int)bytes, XDR_ENCODE);
    bool good = xdr_directory(&xdrs, ckpt) && xdr_getpos(&xdrs) == bytes;
    xdr_destroy(&xdrs);
    return good;
}

dome_checksum dome__ckpt_directory_sum(dome_ckpt *ckpt)
{
    const uint64_t bytes = directory_bytes(ckpt), loop = ckpt->loop;
    void *directory = g_malloc0(bytes + 1);
    ckpt->loop = 0;
    encode_directory(ckpt, directory, bytes);
    ckpt->loop = loop;
    const dome_checksum sum = dome__checksum(directory, bytes);
    g_free(directory);
    return sum;
}

/* Of the table, or of the windows. */
static uint64_t rows(const dome_ckpt *ckpt)
{
    return ckpt->windows ? ckpt->windows->len : ckpt->entries;
}

static uint64_t rows_bytes(const dome_ckpt *ckpt)
{
    return rows(ckpt) * (ckpt->windows ? DOME_CKPT_WINDOW : DOME_CKPT_ENTRY);
}

uint64_t dome__ckpt_count_head(dome_ckpt *ckpt)
{
    uint64_t directory = directory_bytes(ckpt);
    return directory > 0 && directory < UINT32_MAX ? DOME_CKPT_HEADER + directory + rows_bytes(ckpt) : 0;
}

/* ---- encoding ---- */

static void encode_table(const dome_ckpt *ckpt, uint8_t *to)
{
    for (uint64_t i = 0; i < ckpt->entries; i++, to += DOME_CKPT_ENTRY) {
        const dome_ckpt_entry *e = &ckpt->table[i];
        dome__put_u64(to, e->source);
        dome__put_u64(to + 8, e->offset);
        dome__put_u64(to + 16, e->length);
        memcpy(to + 24, e->sum.bytes, sizeof e->sum.bytes);
    }
}

static void encode_windows(const dome_ckpt *ckpt, uint8_t *to)
{
    for (guint i = 0; i < ckpt->windows->len; i++, to += DOME_CKPT_WINDOW) {
        const dome_ckpt_window *w = &g_array_index(ckpt->windows, dome_ckpt_window, i);
        dome__put_u64(to, w->object);
        dome__put_u64(to + 8, w->window);
        dome__put_u64(to + 16, w->bytes);
        memcpy(to + 24, w->sum.bytes, sizeof w->sum.bytes);
        memcpy(to + 40, w->result.bytes, sizeof w->result.bytes);
    }
}

void *dome__ckpt_encode(dome_ckpt *ckpt)
{
    uint8_t *head = g_malloc0(ckpt->head_bytes);
    uint64_t directory = ckpt->head_bytes - DOME_CKPT_HEADER - rows_bytes(ckpt);
    memcpy(head, MAGIC, sizeof MAGIC);
    dome__put_u32(head + AT_VERSION, ckpt->windows ? DOME_CKPT_VERSION_OF_DELTAS : DOME_CKPT_VERSION);
    dome__put_u32(head + AT_PIECE, ckpt->piece);
    dome__put_u32(head + AT_PIECES, ckpt->pieces);
    dome__put_u32(head + AT_DIRECTORY_BYTES, (uint32_t)directory);
    dome__put_u64(head + AT_HEAD_BYTES, ckpt->head_bytes);
    dome__put_u64(head + AT_FILE_BYTES, ckpt->file_bytes);
    dome__put_u64(head + AT_ENTRIES, rows(ckpt));
    if (!encode_directory(ckpt, head + DOME_CKPT_HEADER, directory))
        g_error("the directory of a checkpoint changed after it was planned");
    (ckpt->windows ? encode_windows : encode_table)(ckpt, head + DOME_CKPT_HEADER + directory);
    ckpt->sum = dome__checksum(head, ckpt->head_bytes);
    memcpy(head + AT_SUM, ckpt->sum.bytes, sizeof ckpt->sum.bytes);
    return head;
}

/* ---- decoding ---- */

bool dome__ckpt_head_bytes(const void *start, size_t bytes, uint64_t file_bytes, uint64_t *head_bytes, char **message)
{
    const uint8_t *p = start;
    if (bytes < sizeof MAGIC || memcmp(p, MAGIC, sizeof MAGIC) != 0)
        return dome__ckpt_refuse(message, file_bytes == 0 ? "is empty" : "is not a checkpoint, or its first bytes are damaged");
    if (bytes < DOME_CKPT_HEADER)
        return dome__ckpt_refuse(message, "is truncated: it ends within its header");
    uint64_t said = dome__get_u64(p + AT_FILE_BYTES);
    *head_bytes = dome__get_u64(p + AT_HEAD_BYTES);
    if (said != file_bytes)
        return dome__ckpt_refuse(message, "is %s: it has %" PRIu64 " bytes, its header says %" PRIu64,
                                 file_bytes < said ? "truncated or damaged" : "damaged", file_bytes, said);
    if (*head_bytes < DOME_CKPT_HEADER || *head_bytes > file_bytes)
        return dome__ckpt_refuse(message, "has a damaged header: it says that the head has %" PRIu64 " of %" PRIu64 " bytes",
                                 *head_bytes, file_bytes);
    return true;
}

bool dome__ckpt_read_sum(const void *header, uint64_t head_bytes, dome_ckpt_more more, void *ctx, dome_checksum *sum,
                         char **message)
{
    enum { CHUNK = 1 << 20 };
    uint8_t blank[DOME_CKPT_HEADER], *chunk = g_malloc(CHUNK);
    dome_checksumming *summing = dome__checksum_begin();
    bool good = true;
    memcpy(blank, header, sizeof blank);
    memset(blank + AT_SUM, 0, sizeof sum->bytes);
    dome__checksum_add(summing, blank, sizeof blank);
    for (uint64_t at = sizeof blank, n; good && at < head_bytes; at += n) {
        n = MIN(head_bytes - at, CHUNK);
        good = more(ctx, chunk, n, at, message);
        if (good)
            dome__checksum_add(summing, chunk, n);
    }
    *sum = dome__checksum_end(summing);
    g_free(chunk);
    if (!good)
        return false;
    return memcmp((const uint8_t *)header + AT_SUM, sum->bytes, sizeof sum->bytes) == 0 ||
           dome__ckpt_refuse(message, "is damaged in its header, directory or table (checksum differs)");
}

static bool from_memory(void *ctx, void *to, uint64_t bytes, uint64_t offset, char **message)
{
    const uint8_t *const *head = ctx;
    (void)message;
    memcpy(to, *head + offset, bytes);
    return true;
}

/* Checks that a name is not empty and does not repeat an earlier one. */
static bool new_name(GHashTable *names, char *name)
{
    return *name && g_hash_table_add(names, name);
}

static bool wrong(char **message, const char *what, guint index)
{
    return dome__ckpt_refuse(message, "has a wrong directory: %s %u makes no sense", what, index);
}

static bool check_program(const dome_ckpt *ckpt, char **message)
{
    bool pieces = ckpt->pieces == 0 ? ckpt->piece == 0 : ckpt->piece >= 1 && ckpt->piece <= ckpt->pieces;
    if (ckpt->number == 0 || !pieces)
        return dome__ckpt_refuse(message, "has a wrong directory: it is number %" PRIu64 ", piece %u of %u", ckpt->number,
                                 ckpt->piece, ckpt->pieces);
    const guint most = DOME_CKPT_EARLIER_MAX + (ckpt->windows ? DOME_CKPT_CHAIN_MAX : 0);
    uint64_t last = 0;
    for (guint i = 0; i < ckpt->earlier->len; i++) {
        const dome_ckpt_earlier *e = &g_array_index(ckpt->earlier, dome_ckpt_earlier, i);
        if (e->number <= last || e->number >= ckpt->number || i >= most)
            return wrong(message, "earlier checkpoint", i);
        last = e->number;
    }
    return true;
}

static bool check_struct(const dome_ckpt *ckpt, guint index)
{
    dome_ckpt_struct *s = &g_array_index(ckpt->structs, dome_ckpt_struct, index);
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = s->fields->len > 0;
    for (guint i = 0; good && i < s->fields->len; i++) {
        const dome_ckpt_field *f = &g_array_index(s->fields, dome_ckpt_field, i);
        good = new_name(names, f->name) && f->count > 0 && f->type != DOME_CKPT_NO_TYPE &&
               f->type < DOME_CKPT_FIRST_STRUCT + index; /* made of structs that precede it */
    }
    g_hash_table_destroy(names);
    return good && dome__ckpt_struct_bytes(ckpt, s->fields, &s->bytes);
}

static bool check_object(const dome_ckpt *ckpt, guint index)
{
    dome_ckpt_object *o = &g_array_index(ckpt->objects, dome_ckpt_object, index);
    uint64_t blocks = o->blocks;
    return *o->kind && dome__ckpt_type_exists(ckpt, o->type) && (unsigned)o->distribution <= DOME_WHOLE &&
           dome__ckpt_object_layout(ckpt, o) && o->blocks == blocks;
}

/* Checks everything in the directory, and that it describes as many blocks as the table has. */
static bool check_directory(dome_ckpt *ckpt, uint64_t entries, GHashTable *names, char **message)
{
    if (!check_program(ckpt, message))
        return false;
    for (guint i = 0; i < ckpt->counters->len; i++)
        if (!new_name(names, g_array_index(ckpt->counters, dome_ckpt_counter, i).name))
            return wrong(message, "counter", i);
    g_hash_table_remove_all(names);
    for (guint i = 0; i < ckpt->structs->len; i++)
        if (!new_name(names, g_array_index(ckpt->structs, dome_ckpt_struct, i).name) || !check_struct(ckpt, i))
            return wrong(message, "struct type", i);
    g_hash_table_remove_all(names);
    for (guint i = 0; i < ckpt->objects->len; i++) {
        dome_ckpt_object *o = &g_array_index(ckpt->objects, dome_ckpt_object, i);
        o->first_entry = ckpt->entries;
        if (!new_name(names, o->name) || !check_object(ckpt, i) || o->blocks > entries - ckpt->entries)
            return wrong(message, "object", i);
        ckpt->entries += o->blocks;
    }
    if (!dome__ckpt_check_shapes(ckpt, message))
        return false;
    return ckpt->windows || ckpt->entries == entries ||
           dome__ckpt_refuse(message, "has a wrong directory: its objects have %" PRIu64 " blocks, the table %" PRIu64,
                             ckpt->entries, entries);
}

static bool decode_directory(dome_ckpt *ckpt, const uint8_t *from, uint32_t bytes, uint64_t entries, char **message)
{
    XDR xdrs;
    xdrmem_create(&xdrs, dome__unconst(from), bytes, XDR_DECODE);
    bool good = xdr_directory(&xdrs, ckpt) && xdr_getpos(&xdrs) == bytes;
    xdr_destroy(&xdrs);
    if (!good)
        return dome__ckpt_refuse(message, "has a directory that cannot be read");
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    good = check_directory(ckpt, entries, names, message);
    g_hash_table_destroy(names);
    if (!good)
        return false;

    /* A directory has exactly one encoding. */
    uint8_t *again = g_malloc(bytes);
    good = encode_directory(ckpt, again, bytes) && memcmp(again, from, bytes) == 0;
    g_free(again);
    return good || dome__ckpt_refuse(message, "has a directory that is not in canonical form");
}

static bool wrong_block(const dome_ckpt_object *object, uint64_t block, const char *what, char **message)
{
    char *name = dome__ckpt_shown(object->name);
    dome__ckpt_refuse(message, "has a wrong table: object %s, block %" PRIu64 ": %s", name, block, what);
    g_free(name);
    return false;
}

static dome_ckpt_earlier *find_earlier(const dome_ckpt *ckpt, uint64_t number, bool used[])
{
    for (guint i = 0; i < ckpt->earlier->len; i++) {
        dome_ckpt_earlier *e = &g_array_index(ckpt->earlier, dome_ckpt_earlier, i);
        if (e->number == number) {
            used[i] = true;
            return e;
        }
    }
    return NULL;
}

/* Checks an entry; *end: the end of the data of the entries before, moved past this block if it is in this file. */
static bool check_entry(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block, bool used[], uint64_t *end,
                        char **message)
{
    static const dome_checksum none;
    const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, block);
    if (e->source == 0) {
        bool empty = e->offset == 0 && e->length == 0 && dome__checksum_equal(&e->sum, &none);
        return (ckpt->pieces > 0 && empty) || wrong_block(object, block, "is in no file", message);
    }
    if (object->fixed && e->length != dome__ckpt_fixed_length(ckpt, object, block))
        return wrong_block(object, block, "has another length than its elements", message);
    if (e->source == ckpt->number) {
        if (e->offset != *end || e->length > ckpt->file_bytes - *end)
            return wrong_block(object, block, "is not where it should be", message);
        *end += e->length;
        return true;
    }
    const dome_ckpt_earlier *earlier = find_earlier(ckpt, e->source, used);
    return (earlier && e->length > 0 && e->offset >= DOME_CKPT_HEADER && e->offset <= earlier->file_bytes &&
            e->length <= earlier->file_bytes - e->offset) ||
           wrong_block(object, block, "has a position outside the blocks of an earlier file", message);
}

static bool decode_table(dome_ckpt *ckpt, const uint8_t *from, char **message)
{
    bool used[DOME_CKPT_EARLIER_MAX] = {false};
    uint64_t end = ckpt->head_bytes;
    ckpt->table = g_try_new(dome_ckpt_entry, ckpt->entries);
    if (!ckpt->table && ckpt->entries > 0)
        return dome__ckpt_refuse(message, "has a table of %" PRIu64 " blocks, more than there is memory for", ckpt->entries);
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        for (uint64_t b = 0; b < object->blocks; b++, from += DOME_CKPT_ENTRY) {
            dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
            *e = (dome_ckpt_entry){
                .source = dome__get_u64(from), .offset = dome__get_u64(from + 8), .length = dome__get_u64(from + 16)};
            memcpy(e->sum.bytes, from + 24, sizeof e->sum.bytes);
            if (!check_entry(ckpt, object, b, used, &end, message))
                return false;
        }
    }
    for (guint i = 0; i < ckpt->earlier->len; i++)
        if (!used[i])
            return wrong(message, "earlier checkpoint", i);
    return end == ckpt->file_bytes ||
           dome__ckpt_refuse(message, "has %" PRIu64 " bytes that belong to no block", ckpt->file_bytes - end);
}

static bool wrong_window(guint index, char **message)
{
    return wrong(message, "window", index);
}

/* Checks a window; *end: the end of the data of those before. */
static bool check_window(const dome_ckpt *ckpt, guint index, uint64_t *end)
{
    dome_ckpt_window *w = &g_array_index(ckpt->windows, dome_ckpt_window, index);
    const dome_ckpt_window *before = w - 1;
    const dome_ckpt_object *object = dome__ckpt_object(ckpt, w->object);
    if (!object || w->window >= dome__ckpt_windows(ckpt, object) || w->bytes > ckpt->file_bytes - *end ||
        (object->fixed && w->bytes == 0))
        return false;
    w->offset = *end;
    *end += w->bytes;
    return index == 0 || before->object < w->object || (before->object == w->object && before->window < w->window);
}

static bool decode_windows(dome_ckpt *ckpt, const uint8_t *from, char **message)
{
    uint64_t end = ckpt->head_bytes;
    for (guint i = 0; i < ckpt->windows->len; i++, from += DOME_CKPT_WINDOW) {
        dome_ckpt_window *w = &g_array_index(ckpt->windows, dome_ckpt_window, i);
        w->object = dome__get_u64(from);
        w->window = dome__get_u64(from + 8);
        w->bytes = dome__get_u64(from + 16);
        memcpy(w->sum.bytes, from + 24, sizeof w->sum.bytes);
        memcpy(w->result.bytes, from + 40, sizeof w->result.bytes);
        if (!check_window(ckpt, i, &end))
            return wrong_window(i, message);
    }
    if (ckpt->earlier->len == 0 || ckpt->pieces > 0)
        return dome__ckpt_refuse(message, "has deltas, and %s", ckpt->pieces ? "is a piece" : "names no checkpoint before");
    return end == ckpt->file_bytes ||
           dome__ckpt_refuse(message, "has %" PRIu64 " bytes that belong to no block", ckpt->file_bytes - end);
}

static bool decode(dome_ckpt *ckpt, const uint8_t *head, char **message)
{
    uint32_t version = dome__get_u32(head + AT_VERSION), directory = dome__get_u32(head + AT_DIRECTORY_BYTES);
    uint64_t entries = dome__get_u64(head + AT_ENTRIES), rest = ckpt->head_bytes - DOME_CKPT_HEADER;
    if (!dome__ckpt_read_sum(head, ckpt->head_bytes, from_memory, &head, &ckpt->sum, message))
        return false;
    if (version != DOME_CKPT_VERSION && version != DOME_CKPT_VERSION_OF_DELTAS)
        return dome__ckpt_refuse(message, "has version %u of the format, this library reads versions %d and %d", version,
                                 DOME_CKPT_VERSION, DOME_CKPT_VERSION_OF_DELTAS);
    const bool deltas = version == DOME_CKPT_VERSION_OF_DELTAS;
    const uint64_t row = deltas ? DOME_CKPT_WINDOW : DOME_CKPT_ENTRY;
    if (directory > rest || (rest - directory) % row != 0 || (rest - directory) / row != entries)
        return dome__ckpt_refuse(message, "has a wrong header: directory and table do not fill the head");
    ckpt->piece = dome__get_u32(head + AT_PIECE);
    ckpt->pieces = dome__get_u32(head + AT_PIECES);
    if (deltas && entries > DOME_CKPT_WINDOWS_MAX)
        return dome__ckpt_refuse(message, "has %" PRIu64 " windows, too many", entries);
    if (deltas) {
        ckpt->windows = g_array_sized_new(FALSE, TRUE, sizeof(dome_ckpt_window), (guint)entries);
        g_array_set_size(ckpt->windows, (guint)entries);
    }
    return decode_directory(ckpt, head + DOME_CKPT_HEADER, directory, deltas ? DOME_CKPT_ENTRIES_MAX : entries, message) &&
           (deltas ? decode_windows : decode_table)(ckpt, head + DOME_CKPT_HEADER + directory, message);
}

dome_ckpt *dome__ckpt_decode(const void *head, size_t bytes, uint64_t file_bytes, char **message)
{
    uint64_t head_bytes;
    if (!dome__ckpt_head_bytes(head, bytes, file_bytes, &head_bytes, message))
        return NULL;
    if (head_bytes != bytes) {
        dome__ckpt_refuse(message, "has a head of %" PRIu64 " bytes, of which %zu were read", head_bytes, bytes);
        return NULL;
    }
    dome_ckpt *ckpt = dome__ckpt_new(NULL, 0, 0);
    ckpt->head_bytes = head_bytes;
    ckpt->file_bytes = file_bytes;
    if (decode(ckpt, head, message))
        return ckpt;
    dome__ckpt_free(ckpt);
    return NULL;
}

/* ---- comparing ---- */

static void *common_part(const dome_ckpt *ckpt, uint64_t *bytes)
{
    dome_ckpt copy = *ckpt;
    copy.earlier = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_earlier));
    *bytes = directory_bytes(&copy);
    void *directory = g_malloc(*bytes);
    if (!encode_directory(&copy, directory, *bytes))
        *bytes = 0;
    g_array_unref(copy.earlier);
    return directory;
}

/* The types and objects of a directory: what checkpoints of one chain have in common. */
static void *objects_part(const dome_ckpt *ckpt, uint64_t *bytes)
{
    dome_ckpt copy = *ckpt;
    copy.counters = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_counter));
    copy.number = copy.loop = 0;
    void *directory = common_part(&copy, bytes);
    g_array_unref(copy.counters);
    return directory;
}

bool dome__ckpt_same_objects(const dome_ckpt *a, const dome_ckpt *b)
{
    uint64_t na, nb;
    void *first = objects_part(a, &na), *second = objects_part(b, &nb);
    const bool same = na == nb && na > 0 && memcmp(first, second, na) == 0;
    g_free(first);
    g_free(second);
    return same;
}

bool dome__ckpt_same(const dome_ckpt *a, const dome_ckpt *b)
{
    uint64_t na, nb;
    void *first = common_part(a, &na), *second = common_part(b, &nb);
    bool same = na == nb && na > 0 && memcmp(first, second, na) == 0;
    g_free(first);
    g_free(second);
    return same;
}

dome_ckpt *dome__ckpt_whole_of(const dome_ckpt *piece)
{
    uint64_t bytes;
    char *message = NULL;
    void *directory = common_part(piece, &bytes);
    dome_ckpt *whole = dome__ckpt_new(NULL, 0, 0);
    if (!decode_directory(whole, directory, (uint32_t)bytes, piece->entries, &message))
        g_error("a directory that was read cannot be read again: %s", message);
    whole->table = g_new0(dome_ckpt_entry, whole->entries);
    g_free(directory);
    return whole;
}
