#include "ckpt/checkpoint_messages.h"

/* The longest text in a message: an error, in a line. */
enum { TEXT_MOST = 1 << 16 };

static void put_problem(GByteArray *to, const char *problem)
{
    dome__append_text(to, problem, TEXT_MOST);
}

static char *get_problem(dome_bytes *from)
{
    char *text = dome__read_text(from);
    if (!*text)
        g_clear_pointer(&text, g_free);
    return text;
}

static uint64_t left(const dome_bytes *from)
{
    return (uint64_t)(from->end - from->at);
}

/* Numbers preceded by their count. */
static void put_numbers(GByteArray *to, const GArray *numbers)
{
    guint count = numbers ? numbers->len : 0;
    dome__append_u64(to, count);
    for (guint i = 0; i < count; i++)
        dome__append_u64(to, g_array_index(numbers, uint64_t, i));
}

static GArray *get_numbers(dome_bytes *from)
{
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    uint64_t count = dome__read_u64(from);
    from->bad |= count > left(from) / sizeof(uint64_t);
    for (uint64_t i = 0; i < count && !from->bad; i++) {
        uint64_t number = dome__read_u64(from);
        g_array_append_val(numbers, number);
    }
    return numbers;
}

/* ---- the blocks of a task ---- */

void dome__ckpt_put_held(GByteArray *to, const dome_ckpt_snapshot *snapshot)
{
    guint runs = snapshot->problem ? 0 : snapshot->runs->len;
    put_problem(to, snapshot->problem);
    dome__append_u64(to, runs);
    for (guint i = 0; i < runs; i++) {
        const dome_ckpt_run *run = &g_array_index(snapshot->runs, dome_ckpt_run, i);
        dome__append_u64(to, run->object);
        dome__append_u64(to, run->first);
        dome__append_u64(to, run->count);
        for (uint64_t k = 0; k < run->count; k++)
            dome__append_u64(to, dome__ckpt_snapshot_portable_bytes(snapshot, run, k));
    }
}

bool dome__ckpt_get_held(dome_bytes *from, dome_ckpt_held *held)
{
    held->runs = g_array_new(FALSE, TRUE, sizeof(dome_ckpt_run));
    held->bytes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    held->problem = get_problem(from);
    uint64_t runs = dome__read_u64(from);
    for (uint64_t i = 0; i < runs && !from->bad; i++) {
        dome_ckpt_run run = {.blocks = held->bytes->len};
        run.object = dome__read_u64(from);
        run.first = dome__read_u64(from);
        run.count = dome__read_u64(from);
        from->bad |= run.count > left(from) / sizeof(uint64_t);
        for (uint64_t k = 0; k < run.count && !from->bad; k++) {
            uint64_t bytes = dome__read_u64(from);
            g_array_append_val(held->bytes, bytes);
        }
        g_array_append_val(held->runs, run);
    }
    return dome__read_all(from);
}

void dome__ckpt_held_clear(dome_ckpt_held *held)
{
    g_free(held->problem);
    g_array_unref(held->runs);
    g_array_unref(held->bytes);
}

void dome__ckpt_put_sums(GByteArray *to, const dome_ckpt_snapshot *snapshot, const char *problem)
{
    guint blocks = snapshot->problem ? 0 : snapshot->blocks->len;
    put_problem(to, problem);
    dome__append_u64(to, blocks);
    for (guint i = 0; i < blocks; i++)
        dome__append_bytes(to, g_array_index(snapshot->blocks, dome_ckpt_block, i).sum.bytes, sizeof(dome_checksum));
}

static bool get_checksums(dome_bytes *from, dome_checksum *sums, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        const void *sum = dome__read_bytes(from, sizeof *sums);
        if (sum)
            memcpy(&sums[k], sum, sizeof *sums);
    }
    return !from->bad;
}

bool dome__ckpt_get_sums(dome_bytes *from, dome_checksum *sums, uint64_t count, char **problem)
{
    *problem = get_problem(from);
    return dome__read_u64(from) == count && get_checksums(from, sums, count);
}

void dome__ckpt_put_deltas(GByteArray *to, const dome_ckpt_snapshot *deltas)
{
    put_problem(to, deltas->problem);
    dome__append_u64(to, deltas->blocks->len);
    for (guint i = 0; i < deltas->blocks->len; i++)
        dome__append_u64(to, g_array_index(deltas->blocks, dome_ckpt_block, i).bytes);
    for (guint i = 0; i < deltas->blocks->len; i++)
        dome__append_bytes(to, g_array_index(deltas->blocks, dome_ckpt_block, i).sum.bytes, sizeof(dome_checksum));
}

bool dome__ckpt_get_deltas(dome_bytes *from, uint64_t *lengths, dome_checksum *sums, uint64_t count, bool *made, char **problem)
{
    *problem = get_problem(from);
    const uint64_t blocks = dome__read_u64(from);
    *made = blocks == count;
    if (blocks != 0 && blocks != count)
        return false;
    for (uint64_t k = 0; k < blocks; k++)
        lengths[k] = dome__read_u64(from);
    return get_checksums(from, sums, blocks) && dome__read_all(from);
}

/* ---- their offsets ---- */

void dome__ckpt_put_places(GByteArray *to, const dome_ckpt_places *places)
{
    dome__append_u64(to, places->number);
    dome__append_u64(to, places->deltas);
    dome__append_u32(to, places->known);
    put_numbers(to, places->offsets);
}

bool dome__ckpt_get_places(dome_bytes *from, dome_ckpt_places *places)
{
    places->number = dome__read_u64(from);
    places->deltas = dome__read_u64(from);
    places->known = dome__read_u32(from) != 0;
    places->offsets = get_numbers(from);
    return dome__read_all(from);
}

bool dome__ckpt_take_places(const dome_ckpt_places *places, dome_ckpt_snapshot *snapshot)
{
    const bool good = places->offsets->len == (places->known ? snapshot->blocks->len : 0);
    for (guint i = 0; good && i < places->offsets->len; i++)
        g_array_index(snapshot->blocks, dome_ckpt_block, i).offset = g_array_index(places->offsets, uint64_t, i);
    return good;
}

void dome__ckpt_put_order(GByteArray *to, const dome_ckpt_order *order)
{
    dome__append_u32(to, order->kind);
    dome__append_u64(to, order->number);
    put_numbers(to, order->offsets);
    dome__append_u64(to, order->file_bytes);
    dome__append_u64(to, order->head_bytes);
    dome__append_bytes(to, order->head, order->head_bytes);
}

bool dome__ckpt_get_order(dome_bytes *from, dome_ckpt_order *order)
{
    order->kind = (dome_ckpt_order_kind)dome__read_u32(from);
    order->number = dome__read_u64(from);
    order->offsets = get_numbers(from);
    order->file_bytes = dome__read_u64(from);
    order->head_bytes = dome__read_u64(from);
    order->head = dome__read_bytes(from, order->head_bytes);
    return dome__read_all(from) && order->kind <= DOME_CKPT_WRITE;
}

void dome__ckpt_put_copy(GByteArray *to, const dome_ckpt_copy *copy)
{
    dome__append_u64(to, copy->offset);
    dome__append_u64(to, copy->bytes);
    dome__append_bytes(to, copy->data, copy->bytes);
}

bool dome__ckpt_get_copy(dome_bytes *from, dome_ckpt_copy *copy)
{
    copy->offset = dome__read_u64(from);
    copy->bytes = dome__read_u64(from);
    copy->data = dome__read_bytes(from, copy->bytes);
    return dome__read_all(from);
}

/* ---- the result ---- */

void dome__ckpt_put_done(GByteArray *to, const char *problem, double seconds)
{
    put_problem(to, problem);
    dome__append_f64(to, seconds);
}

bool dome__ckpt_get_done(dome_bytes *from, char **problem, double *seconds)
{
    *problem = get_problem(from);
    *seconds = dome__read_f64(from);
    return dome__read_all(from);
}

void dome__ckpt_put_word(GByteArray *to, uint64_t word)
{
    dome__append_u64(to, word);
}

bool dome__ckpt_get_word(dome_bytes *from, uint64_t *word)
{
    *word = dome__read_u64(from);
    return dome__read_all(from);
}
