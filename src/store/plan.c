#include "store/windows.h"

#include "store/format_private.h"
#include "system/unconst.h"

#include <string.h>

/* The part of an earlier file that a checkpoint uses. */
typedef struct use {
    dome_ckpt_earlier file;
    uint64_t live; /* bytes that are referred to */
    bool given_up;
} use;

static use *find_use(GArray *uses, uint64_t number)
{
    guint at;
    for (at = 0; at < uses->len; at++)
        if (g_array_index(uses, use, at).file.number == number)
            return &g_array_index(uses, use, at);
    return NULL;
}

/* The files that may contain blocks: the previous checkpoint, and those to which it refers. In order of numbers. */
static GArray *candidates(const dome_ckpt *previous)
{
    GArray *uses = g_array_new(FALSE, TRUE, sizeof(use));
    for (guint i = 0; i < previous->earlier->len; i++) {
        use u = {.file = g_array_index(previous->earlier, dome_ckpt_earlier, i)};
        g_array_append_val(uses, u);
    }
    use u = {.file = {previous->number, previous->file_bytes, previous->sum}};
    g_array_append_val(uses, u);
    return uses;
}

static bool equal_entries(const dome_ckpt_entry *a, const dome_ckpt_entry *b)
{
    return a->source != 0 && b->source != 0 && a->length != 0 && a->length == b->length && dome__checksum_equal(&a->sum, &b->sum);
}

bool dome__ckpt_known_equal(const dome_ckpt *of_a, const dome_ckpt_entry *a, const dome_ckpt *of_b, const dome_ckpt_entry *b)
{
    return !dome__ckpt_is_patched(of_a, a) && !dome__ckpt_is_patched(of_b, b) && a->source != 0 && b->source != 0 &&
           a->length == b->length && dome__checksum_equal(&a->sum, &b->sum);
}

static void refer_to(dome_ckpt_entry *e, const dome_ckpt_entry *o, GArray *uses)
{
    e->source = o->source;
    e->offset = o->offset;
    find_use(uses, o->source)->live += e->length;
}

static guint hash_entry(gconstpointer key)
{
    guint hash;
    memcpy(&hash, ((const dome_ckpt_entry *)key)->sum.bytes, sizeof hash);
    return hash;
}

static gboolean same_entry(gconstpointer a, gconstpointer b)
{
    return equal_entries(a, b);
}

/* Of an object whose blocks have any length, others may have come before a block, or gone: the image of a captured program, whose
 * heap grows. The blocks that differ from the previous ones of their numbers are looked for among those that are left. */
static void find_moved(dome_ckpt *ckpt, const dome_ckpt_object *object, const dome_ckpt *previous, const dome_ckpt_object *old,
                       const GByteArray *taken, GArray *uses)
{
    GHashTable *left = g_hash_table_new(hash_entry, same_entry);
    for (uint64_t b = 0; b < old->blocks; b++)
        if ((b >= taken->len || !taken->data[b]) && dome__ckpt_entry(previous, old, b)->source != 0)
            g_hash_table_add(left, dome__unconst(dome__ckpt_entry(previous, old, b)));
    for (uint64_t b = 0; b < object->blocks; b++) {
        dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
        const dome_ckpt_entry *o = b < taken->len && taken->data[b] ? NULL : g_hash_table_lookup(left, e);
        if (!o)
            continue;
        g_hash_table_remove(left, e);
        refer_to(e, o, uses);
    }
    g_hash_table_destroy(left);
}

/* Lets an entry whose bytes equal those of an entry of the previous checkpoint refer to the same place. Entries of blocks in this
 * file have source 0 until they get their offsets. */
static void find_references(dome_ckpt *ckpt, const dome_ckpt *previous, GArray *uses)
{
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal); /* of objects that are only read */
    for (guint i = 0; i < previous->objects->len; i++)
        g_hash_table_insert(names, dome__ckpt_object(previous, i)->name, dome__unconst(dome__ckpt_object(previous, i)));
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i), *old = g_hash_table_lookup(names, object->name);
        GByteArray *taken = g_byte_array_new(); /* of a number: 1 if the block has not changed */
        for (uint64_t b = 0; old && b < MIN(object->blocks, old->blocks); b++) {
            dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
            const dome_ckpt_entry *o = dome__ckpt_entry(previous, old, b);
            const uint8_t same = e->length != 0 && dome__ckpt_known_equal(ckpt, e, previous, o);
            if (same)
                refer_to(e, o, uses);
            if (!object->fixed)
                g_byte_array_append(taken, &same, 1);
        }
        if (old && !object->fixed && !old->fixed)
            find_moved(ckpt, object, previous, old, taken, uses);
        g_byte_array_unref(taken);
    }
    g_hash_table_destroy(names);
}

typedef struct product {
    uint64_t high, low;
} product;

/* The product of 64 and 64 bits; 32-bit machines have no 128-bit integers. */
static product multiply(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = (uint32_t)a, b1 = b >> 32, b0 = (uint32_t)b;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    return (product){a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

/* Whether a uses a smaller part of its file than b of its own. */
static bool less_used(const use *a, const use *b)
{
    product x = multiply(a->live, b->file.file_bytes), y = multiply(b->live, a->file.file_bytes);
    return x.high != y.high ? x.high < y.high : x.low < y.low;
}

/* Gives up the least used files until the files kept on disk for this checkpoint are at most twice as large as one that held all
 * of its data. */
static void give_up(GArray *uses, uint64_t full)
{
    for (;;) {
        use *least = NULL;
        guint count = 0;
        uint64_t kept = 0;
        for (guint i = 0; i < uses->len; i++) {
            use *u = &g_array_index(uses, use, i);
            if (u->live == 0)
                u->given_up = true;
            if (u->given_up)
                continue;
            count++;
            kept += u->file.file_bytes;
            if (!least || less_used(u, least))
                least = u;
        }
        if (!least || (count <= DOME_CKPT_EARLIER_MAX && kept / 2 <= full))
            return;
        least->given_up = true;
    }
}

static bool refers(const dome_ckpt *ckpt, const dome_ckpt_entry *e)
{
    return e->source != 0 && e->source != ckpt->number;
}

static void choose_references(dome_ckpt *ckpt, const dome_ckpt *previous)
{
    GArray *uses = candidates(previous);
    uint64_t full = dome__ckpt_count_head(ckpt);
    find_references(ckpt, previous, uses);
    for (uint64_t i = 0; i < ckpt->entries; i++)
        full += ckpt->table[i].length;
    give_up(uses, full);
    for (uint64_t i = 0; i < ckpt->entries; i++)
        if (refers(ckpt, &ckpt->table[i]) && find_use(uses, ckpt->table[i].source)->given_up)
            ckpt->table[i].source = ckpt->number;
    for (guint i = 0; i < uses->len; i++)
        if (!g_array_index(uses, use, i).given_up)
            g_array_append_val(ckpt->earlier, g_array_index(uses, use, i).file);
    g_array_unref(uses);
}

static bool assign_offsets(dome_ckpt *ckpt, char **message)
{
    ckpt->head_bytes = dome__ckpt_count_head(ckpt);
    if (ckpt->head_bytes == 0)
        return dome__ckpt_refuse(message, "cannot hold a directory of more than 2^32 bytes");
    uint64_t offset = ckpt->head_bytes;
    for (uint64_t i = 0; i < ckpt->entries; i++) {
        dome_ckpt_entry *e = &ckpt->table[i];
        if (e->source != ckpt->number)
            continue;
        e->offset = offset;
        if (__builtin_add_overflow(offset, e->length, &offset) || offset > INT64_MAX)
            return dome__ckpt_refuse(message, "cannot hold more than 2^63 bytes");
    }
    ckpt->file_bytes = offset;
    return true;
}

bool dome__ckpt_plan(dome_ckpt *ckpt, const dome_ckpt *previous, char **message)
{
    for (uint64_t i = 0; i < ckpt->entries; i++) {
        dome_ckpt_entry *e = &ckpt->table[i];
        if (ckpt->pieces == 0 || e->source != 0)
            e->source = ckpt->number;
        else
            *e = (dome_ckpt_entry){0};
    }
    g_array_set_size(ckpt->earlier, 0);
    dome__ckpt_drop_windows(ckpt);
    /* Pieces of another division are in other files. */
    bool usable = previous && strcmp(previous->program, ckpt->program) == 0 && previous->number < ckpt->number &&
                  previous->piece == ckpt->piece && previous->pieces == ckpt->pieces;
    if (usable)
        choose_references(ckpt, previous);
    return assign_offsets(ckpt, message);
}

uint64_t dome__ckpt_data_bytes(const dome_ckpt *ckpt)
{
    return ckpt->file_bytes - ckpt->head_bytes;
}
