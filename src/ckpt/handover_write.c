/* Writing a handover. From here there is no way back. */
#include "ckpt/handover_private.h"
#include "core/object_private.h"
#include "core/operation.h"
#include "core/storage.h"
#include "system/bytes.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Values are given back in steps of so many bytes: a large page is free only when all of it has been given back. */
static const uint64_t GIVE_BYTES = (uint64_t)4 << 20;

/* Puts a block into its portable form, and notes its checksum and piece. */
static void take_block(dome_handover *h, const dome_object *object, const dome_ckpt_object *there, uint64_t block, int piece,
                       char *to)
{
    const dome_ckpt_entry *e = dome__ckpt_entry(h->ckpt, there, block);
    dome_checksum sum;
    const int status = dome__state_block(object, block, to, e->length, &sum);
    if (status != DOME_OK && !h->why) {
        char *why = dome__state_cannot(there->name, status);
        h->why = g_strdup_printf("block %" PRIu64 " of %s", block, why);
        g_free(why);
    }
    uint64_t *words = h->words + (there->first_entry + block) * DOME_HANDOVER_WORDS;
    for (int k = 0; k < DOME_HANDOVER_SUM; k++)
        words[k] = dome__get_u64(sum.bytes + (size_t)k * sizeof *words);
    words[DOME_HANDOVER_PIECE] = (uint64_t)piece;
}

/* ---- into this host's piece ---- */

static void write_block(dome_handover *h, const dome_object *object, const dome_ckpt_object *there, uint64_t block)
{
    char *to = dome__state_file_place(&h->file, dome__ckpt_entry(h->ckpt, there, block), &h->why);
    if (to)
        take_block(h, object, there, block, h->piece_of[h->env->rank], to);
}

/* Gives back whole pages of [from, to), whose values have been written. Returns from where on they are still there. advice: of
 * madvise; other tasks have pages of shared memory mapped, too. */
static uintptr_t give_back(uintptr_t from, uintptr_t to, int advice)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (from + page - 1) / page * page, end = to / page * page;
    if (end <= first)
        return from;
    madvise((void *)first, end - first, advice);
    return end;
}

static void write_run(dome_handover *h, const dome_handover_run *run)
{
    const uintptr_t begin = (uintptr_t)run->values, end = begin + run->bytes;
    uintptr_t there = begin, written = begin; /* values from `there` on have not been given back */
    dome_object_info info = {.size = sizeof info};
    dome_object_describe(run->object, &info);
    const uint64_t element = info.width * dome_type_size(info.type);
    const int advice = dome__object_is_shared(run->object) ? MADV_REMOVE : MADV_DONTNEED;
    for (uint64_t b = run->blocks.first; !h->why && b < run->blocks.first + run->blocks.count; b++) {
        write_block(h, run->object, run->there, b);
        written += (info.layout ? dome_layout_block(info.layout, b).count : info.length) * element;
        if (run->alone && written - there >= GIVE_BYTES)
            there = give_back(there, MIN(written, end), advice);
    }
    if (run->alone)
        give_back(there, end, advice);
}

static bool is_run(const dome_handover *h, const dome_object *object, dome_span blocks)
{
    for (guint k = 0; k < h->runs->len; k++) {
        const dome_handover_run *run = &g_array_index(h->runs, dome_handover_run, k);
        if (run->object == object && run->blocks.first == blocks.first)
            return true;
    }
    return false;
}

static char *write_unshown(void *ctx, const dome_state_item *item, dome_span blocks)
{
    dome_handover *h = ctx;
    const uint64_t end = is_run(h, item->object, blocks) ? 0 : blocks.first + blocks.count;
    for (uint64_t b = blocks.first; !h->why && b < end; b++)
        write_block(h, item->object, item->there, b);
    return g_steal_pointer(&h->why);
}

/* Objects that do not show where their values are come first: these may lie in what is given back afterwards. */
static void write_objects(dome_handover *h)
{
    dome__handover_walk(h, &(dome_state_sink){.run = write_unshown});
    for (guint k = 0; k < h->runs->len; k++)
        write_run(h, &g_array_index(h->runs, dome_handover_run, k));
    if (!h->why)
        dome__state_file_flush(&h->file, &h->why);
}

/* ---- from a host on which no task stays ---- */

static const dome_ckpt_object *object_of(const dome_handover *h, uint64_t entry)
{
    for (guint k = 0; k < h->ckpt->objects->len; k++) {
        const dome_ckpt_object *object = dome__ckpt_object(h->ckpt, k);
        if (entry >= object->first_entry && entry < object->first_entry + object->blocks)
            return object;
    }
    return NULL;
}

typedef struct part {
    int piece, pieces;
    GArray *entries;
} part;

/* Of each object a part of about equal length, in order. */
static char *add_part(void *ctx, const dome_state_item *item)
{
    part *p = ctx;
    uint64_t all = 0, at = 0;
    for (int r = 0; r < item->nruns; r++)
        all += item->runs[r].count;
    for (int r = 0; r < item->nruns; r++)
        for (uint64_t b = item->runs[r].first; b < item->runs[r].first + item->runs[r].count; b++, at++) {
            const uint64_t entry = item->there->first_entry + b;
            if ((int)(at * (uint64_t)p->pieces / all) == p->piece)
                g_array_append_val(p->entries, entry);
        }
    return NULL;
}

/* The entries of this task's blocks that piece p gets. */
static GArray *part_for(const dome_handover *h, int p)
{
    static const dome_state_sink sink = {.begin = add_part};
    part part = {p, h->pieces, g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    g_free(dome__state_walk(&(dome_state_walk){.env = h->env, .ckpt = h->ckpt, .sink = &sink, .ctx = &part}));
    return part.entries;
}

static int send_part(dome_handover *h, int p)
{
    dome_transport *t = h->env->transport;
    GArray *entries = part_for(h, p);
    const uint64_t count = entries->len;
    int status = dome__send(t, h->leader[p], DOME_CHANNEL_CONTROL, DOME_U64, &count, 1);
    if (status == DOME_OK && count > 0)
        status = dome__send(t, h->leader[p], DOME_CHANNEL_CONTROL, DOME_U64, entries->data, count);
    uint64_t bytes;
    guint some;
    const dome_ckpt_object *there = NULL;
    const dome_object *object = NULL;
    for (guint at = 0; status == DOME_OK && (some = dome__handover_message(h->ckpt, entries, at, &bytes)) > 0; at += some) {
        char *to = h->file.buffer;
        for (guint k = at; k < at + some; k++) {
            const uint64_t entry = g_array_index(entries, uint64_t, k);
            if (!there || entry < there->first_entry || entry >= there->first_entry + there->blocks) {
                there = object_of(h, entry);
                object = dome_object_find(h->env, there->name);
            }
            take_block(h, object, there, entry - there->first_entry, p, to);
            to += h->ckpt->table[entry].length;
        }
        if (bytes > 0)
            status = dome__send(t, h->leader[p], DOME_CHANNEL_CONTROL, DOME_U8, h->file.buffer, bytes);
    }
    g_array_unref(entries);
    return status;
}

static int receive_part(dome_handover *h, int from)
{
    dome_transport *t = h->env->transport;
    uint64_t count = 0, bytes;
    int status = dome__recv(t, from, DOME_CHANNEL_CONTROL, DOME_U64, &count, 1);
    GArray *entries = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    g_array_set_size(entries, (guint)count);
    if (status == DOME_OK && count > 0)
        status = dome__recv(t, from, DOME_CHANNEL_CONTROL, DOME_U64, entries->data, count);
    guint some;
    for (guint at = 0; status == DOME_OK && (some = dome__handover_message(h->ckpt, entries, at, &bytes)) > 0; at += some) {
        if (bytes > 0)
            status = dome__recv(t, from, DOME_CHANNEL_CONTROL, DOME_U8, h->file.buffer, bytes);
        const char *data = h->file.buffer;
        for (guint k = at; status == DOME_OK && k < at + some; k++) {
            const dome_ckpt_entry *e = &h->ckpt->table[g_array_index(entries, uint64_t, k)];
            if (e->length > 0 && !h->why)
                dome__store_write(h->file.fd, data, e->length, e->offset, &h->why);
            data += e->length;
        }
    }
    g_array_unref(entries);
    return status;
}

/* Each task that goes sends to one host after the other; each host receives from one such task after the other: in this order
 * none waits for a task that waits for it. */
static int bring_together(dome_handover *h)
{
    const dome_env *env = h->env;
    const int own = h->piece_of[env->rank];
    int status = DOME_OK;
    for (int p = 0; own < 0 && p < h->pieces && status == DOME_OK; p++)
        status = send_part(h, p);
    for (int r = 0; own >= 0 && h->leader[own] == env->rank && r < env->size && status == DOME_OK; r++)
        if (h->piece_of[r] < 0)
            status = receive_part(h, r);
    return status;
}

/* ---- the end ---- */

/* Task 0 fills in what all tasks have computed, and completes its piece. */
static int conclude(dome_handover *h)
{
    dome_transport *t = h->env->transport;
    const uint64_t entries = h->ckpt->entries;
    const uint64_t words = (entries + 1) * DOME_HANDOVER_WORDS;
    int status = dome__reduce(t, 0, &(dome_combining){DOME_I64, h->words, words, dome__combine_sum_i64, NULL});
    if (status || t->group.rank != 0 || h->why)
        return status;
    uint32_t *pieces = g_new0(uint32_t, entries + 1);
    for (uint64_t e = 0; e < entries; e++) {
        const uint64_t *words = h->words + e * DOME_HANDOVER_WORDS;
        for (int k = 0; k < DOME_HANDOVER_SUM; k++)
            dome__put_u64(h->ckpt->table[e].sum.bytes + (size_t)k * sizeof *words, words[k]);
        pieces[e] = (uint32_t)words[DOME_HANDOVER_PIECE];
    }
    void *head = dome__ckpt_encode(h->ckpt);
    const dome_handover_tail tail = {h->ckpt->head_bytes, h->ckpt->file_bytes, entries};
    if (dome__store_write(h->file.fd, head, h->ckpt->head_bytes, 0, &h->why) &&
        dome__store_write(h->file.fd, pieces, entries * sizeof *pieces, h->ckpt->file_bytes, &h->why))
        dome__store_write(h->file.fd, &tail, sizeof tail, h->ckpt->file_bytes + entries * sizeof *pieces, &h->why);
    g_free(head);
    g_free(pieces);
    return DOME_OK;
}

dome_handover_piece dome__handover_write(dome_handover *h)
{
    dome_env *env = h->env;
    const int own = h->piece_of[env->rank];
    dome__errors_end(env); /* the program has no values any more with which it could go on */
    dome__storage_trim();
    if (own >= 0)
        write_objects(h);
    int status = bring_together(h);
    if (status == DOME_OK)
        status = conclude(h);
    if (status != DOME_OK)
        dome__fail_transport(env, status);
    dome__handover_common(h);
    if (h->why) /* what has been computed since the last checkpoint is lost, as with a task */
        dome__fail(env, DOME_ERR_LOST, "the program cannot enter its next view: %s", h->why);
    dome_handover_piece piece = {-1, own};
    if (own >= 0 && h->leader[own] == env->rank) {
        piece.fd = h->file.fd;
        h->file.fd = -1;
    }
    dome__handover_free(h);
    return piece;
}
