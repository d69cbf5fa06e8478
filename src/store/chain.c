/* Reading checkpoints of deltas: the chain of files, and the deltas of a block. */
#include "store/reader_private.h"

#include "delta/delta.h"
#include "store/format_private.h"

#include <inttypes.h>
#include <string.h>

/* ---- the chain ---- */

static bool same_earlier(const dome_ckpt_file *file, const dome_ckpt_file *other, guint count)
{
    return other->ckpt->earlier->len == count &&
           (count == 0 || memcmp(other->ckpt->earlier->data, file->ckpt->earlier->data, count * sizeof(dome_ckpt_earlier)) == 0);
}

/* Whether a file of deltas belongs behind another. `file`, the last of the chain, refers to `count` files up to the other. */
static bool follows(const dome_ckpt_file *deltas, const dome_ckpt_file *before, const dome_ckpt_file *file, guint count,
                    char **message)
{
    return (same_earlier(file, deltas, count) && same_earlier(file, before, count - 1) &&
            strcmp(deltas->ckpt->program, before->ckpt->program) == 0 && before->ckpt->pieces == 0 &&
            dome__ckpt_same_objects(deltas->ckpt, before->ckpt)) ||
           dome__ckpt_refuse(message, "checkpoint '%s' has deltas that do not belong to checkpoint '%s'", deltas->path,
                             before->path);
}

/* Finds the files of the chain. Returns the one with a table before them; NULL: there is none. */
static dome_ckpt_file *find_chain(dome_ckpt_file *file, char **message)
{
    dome_ckpt_file *of[DOME_CKPT_CHAIN_MAX], *at = file;
    unsigned count = 0;
    for (guint n = file->ckpt->earlier->len; at->ckpt->windows; n--) {
        if (n == 0 || count == DOME_CKPT_CHAIN_MAX) {
            dome__ckpt_refuse(message, "checkpoint '%s' has too long a chain of deltas", file->path);
            return NULL;
        }
        dome_ckpt_file *before = dome__ckpt_open_earlier(file, n - 1, message);
        if (!before || !follows(at, before, file, n, message))
            return NULL;
        of[count++] = at;
        at = before;
    }
    file->ckpt->chain = count;
    file->chain = g_new(dome_ckpt_file *, count);
    for (unsigned k = 0; k < count; k++)
        file->chain[k] = of[count - 1 - k];
    return at;
}

bool dome__ckpt_resolve(dome_ckpt_file *file, char **message)
{
    dome_ckpt *ckpt = file->ckpt;
    const dome_ckpt_file *first = find_chain(file, message);
    if (!first)
        return false;
    ckpt->table = g_try_new(dome_ckpt_entry, ckpt->entries);
    if (!ckpt->table && ckpt->entries > 0)
        return dome__ckpt_refuse(message, "checkpoint '%s' has a table of %" PRIu64 " blocks, more than there is memory for",
                                 file->path, ckpt->entries);
    if (ckpt->entries > 0)
        memcpy(ckpt->table, first->ckpt->table, (size_t)ckpt->entries * sizeof *ckpt->table);
    for (unsigned k = 0; k < ckpt->chain; k++)
        dome__ckpt_enter_windows(ckpt, file->chain[k]->ckpt);
    return true;
}

/* ---- blocks ---- */

void dome__ckpt_forget_window(dome_ckpt_file *file)
{
    g_clear_pointer(&file->read.bytes, g_free);
    g_clear_pointer(&file->read.changes, g_array_unref);
    file->read.window = NULL;
}

/* Reads a window of a checkpoint of deltas, unless it was read last. */
static bool read_changes(dome_ckpt_file *holder, const dome_ckpt_window *window, char **reason)
{
    const char *why = NULL;
    if (holder->read.window == window)
        return true;
    dome__ckpt_forget_window(holder);
    holder->read.bytes = g_try_malloc(window->bytes);
    if (!holder->read.bytes)
        return dome__ckpt_refuse(reason, "no memory for deltas of %" PRIu64 " bytes", window->bytes);
    if (!dome__ckpt_read_at(holder->fd, holder->read.bytes, window->bytes, window->offset, reason))
        return false;
    holder->read.changes = dome__ckpt_window_changes(holder->ckpt, window, holder->read.bytes, &why);
    if (!holder->read.changes)
        return dome__ckpt_refuse(reason, "%s", why);
    holder->read.window = window;
    return true;
}

static const dome_ckpt_change *find_change(const GArray *changes, uint64_t block)
{
    guint first = 0, end = changes->len;
    while (first < end) {
        const guint middle = first + (end - first) / 2;
        const dome_ckpt_change *c = &g_array_index(changes, dome_ckpt_change, middle);
        if (c->block == block)
            return c;
        if (c->block < block)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* Applies the deltas that one checkpoint of the chain has for a block. */
static bool patch_by(dome_ckpt_file *holder, const dome_ckpt_object *object, uint64_t block, void *buffer, char **reason)
{
    const dome_ckpt_window *window = dome__ckpt_window_of(holder->ckpt, object, block);
    if (!window)
        return true;
    if (!read_changes(holder, window, reason))
        return false;
    const dome_ckpt_change *c = find_change(holder->read.changes, block);
    const uint64_t length = dome__ckpt_fixed_length(holder->ckpt, object, block);
    dome_delta *delta = c ? dome__delta_new(dome__ckpt_delta_unit(holder->ckpt, object)) : NULL;
    const bool good = !c || (dome__delta_set_records(delta, c->records, c->bytes, length) &&
                             dome__delta_apply(delta, buffer, (size_t)length, NULL));
    dome__delta_free(delta);
    return good || dome__ckpt_refuse(reason, "its delta makes no sense");
}

static bool patch(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, void *buffer, char **message)
{
    const guint number = (guint)(object - dome__ckpt_object(file->ckpt, 0));
    for (unsigned k = 0; k < file->ckpt->chain; k++) {
        char *reason = NULL;
        dome_ckpt_file *by = file->chain[k];
        if (!patch_by(by, dome__ckpt_object(by->ckpt, number), block, buffer, &reason)) {
            dome__ckpt_block_fails(file, by, object, block, reason, message);
            g_free(reason);
            return false;
        }
    }
    return true;
}

bool dome__ckpt_patch(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, void *buffer, char **message)
{
    if (!dome__ckpt_is_patched(file->ckpt, dome__ckpt_entry(file->ckpt, object, block)))
        return true;
    pthread_mutex_lock(&file->patching);
    const bool good = patch(file, object, block, buffer, message);
    pthread_mutex_unlock(&file->patching);
    return good;
}

static bool find_patched_by(dome_ckpt_file *file, dome_ckpt_file *by, char **message)
{
    bool good = true;
    for (guint i = 0; good && i < by->ckpt->windows->len; i++) {
        const dome_ckpt_window *w = &g_array_index(by->ckpt->windows, dome_ckpt_window, i);
        const dome_ckpt_object *object = dome__ckpt_object(file->ckpt, w->object);
        char *reason = NULL;
        good = !object->fixed || read_changes(by, w, &reason);
        for (guint k = 0; good && object->fixed && k < by->read.changes->len; k++)
            file->ckpt->patched[object->first_entry + g_array_index(by->read.changes, dome_ckpt_change, k).block] =
                DOME_CKPT_PATCHED_BEFORE;
        if (!good)
            dome__ckpt_block_fails(file, by, object, w->window * dome__ckpt_window_blocks(file->ckpt, object), reason, message);
        g_free(reason);
    }
    return good;
}

bool dome__ckpt_find_patched(dome_ckpt_file *file, char **message)
{
    bool good = true;
    if (file->ckpt->chain > 0)
        memset(file->ckpt->patched, DOME_CKPT_UNPATCHED, (size_t)file->ckpt->entries);
    for (unsigned k = 0; good && k < file->ckpt->chain; k++)
        good = find_patched_by(file, file->chain[k], message);
    return good;
}

/* ---- checking ---- */

/* Adds the checksum of a block. */
static bool add_block(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, dome_checksumming *summing,
                      char **message)
{
    const uint64_t length = dome__ckpt_entry(file->ckpt, object, block)->length;
    void *buffer = length <= G_MAXSIZE ? g_try_malloc((gsize)MAX(length, 1)) : NULL;
    const bool good = buffer ? dome__ckpt_read(file, object, block, buffer, message)
                             : dome__ckpt_block_fails(file, file, object, block, "there is no memory for it", message);
    if (good) {
        const dome_checksum sum = dome__checksum(buffer, (size_t)length);
        dome__checksum_add(summing, sum.bytes, sizeof sum.bytes);
    }
    g_free(buffer);
    return good;
}

/* Whether the blocks of a window are, with their deltas, what was written. */
static bool check_result(dome_ckpt_file *file, const dome_ckpt_window *window, char **message)
{
    const dome_ckpt_object *object = dome__ckpt_object(file->ckpt, window->object);
    char *reason = NULL;
    const uint64_t first = window->window * dome__ckpt_window_blocks(file->ckpt, object);
    if (!read_changes(file, window, &reason)) {
        dome__ckpt_block_fails(file, file, object, first, reason, message);
        g_free(reason);
        return false;
    }
    dome_checksumming *summing = dome__checksum_begin();
    bool good = true;
    for (guint i = 0; good && i < file->read.changes->len; i++) {
        const uint64_t block = g_array_index(file->read.changes, dome_ckpt_change, i).block;
        good = add_block(file, object, block, summing, message);
    }
    const dome_checksum sum = dome__checksum_end(summing);
    return good && (dome__checksum_equal(&sum, &window->result) ||
                    dome__ckpt_block_fails(file, file, object, first,
                                           "it and those behind it are not what they were with their deltas", message));
}

bool dome__ckpt_check_results(dome_ckpt_file *file, uint64_t part, uint64_t parts, char **message)
{
    bool good = true;
    for (guint i = 0; good && file->ckpt->windows && i < file->ckpt->windows->len; i++) {
        const dome_ckpt_window *w = &g_array_index(file->ckpt->windows, dome_ckpt_window, i);
        if (i % parts == part && dome__ckpt_object(file->ckpt, w->object)->fixed)
            good = check_result(file, w, message);
    }
    return good;
}
