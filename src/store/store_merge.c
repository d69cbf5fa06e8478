/* Merges the pieces of a checkpoint into the whole. */
#include "store/store.h"

#include <inttypes.h>

/* The first piece that has a block, from the one with this index on. */
static size_t having(dome_ckpt_file *const pieces[], size_t npieces, size_t from, const dome_ckpt_object *object, uint64_t block)
{
    for (size_t i = from; i < npieces; i++)
        if (dome__ckpt_entry(dome__ckpt_head(pieces[i]), object, block)->source != 0)
            return i;
    return npieces;
}

static bool fill_table(dome_ckpt *whole, dome_ckpt_file *const pieces[], size_t npieces, char **message)
{
    for (guint i = 0; i < whole->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(whole, i);
        for (uint64_t b = 0; b < object->blocks; b++) {
            size_t at = having(pieces, npieces, 0, object, b);
            if (at == npieces) {
                char *name = dome__ckpt_shown(object->name);
                dome__ckpt_refuse(message, "checkpoint %" PRIu64 ": object %s, block %" PRIu64 ": is in none of the pieces",
                                  whole->number, name, b);
                g_free(name);
                return false;
            }
            *dome__ckpt_entry(whole, object, b) = *dome__ckpt_entry(dome__ckpt_head(pieces[at]), object, b);
        }
    }
    return true;
}

typedef struct wanted_block {
    const dome_ckpt_object *object;
    uint64_t number;
    const dome_ckpt_entry *entry;
} wanted_block;

/* Reads a block from the first piece in which it is undamaged. */
static bool read_any(dome_ckpt_file *const pieces[], size_t npieces, const wanted_block *wanted, void *buffer, char **message)
{
    const dome_ckpt_object *object = wanted->object;
    const uint64_t block = wanted->number;
    g_autofree char *first = NULL;
    for (size_t i = having(pieces, npieces, 0, object, block); i < npieces; i = having(pieces, npieces, i + 1, object, block)) {
        const dome_ckpt_entry *e = dome__ckpt_entry(dome__ckpt_head(pieces[i]), object, block);
        char *reason = NULL;
        if (e->length != wanted->entry->length || !dome__checksum_equal(&e->sum, &wanted->entry->sum))
            return dome__ckpt_refuse(message, "checkpoint '%s' disagrees with another piece about block %" PRIu64 " of '%s'",
                                     dome__ckpt_path(pieces[i]), block, object->name);
        if (dome__ckpt_read(pieces[i], object, block, buffer, &reason))
            return true;
        if (first)
            g_free(reason);
        else
            first = reason;
    }
    *message = g_steal_pointer(&first);
    return false;
}

static bool copy_blocks(const dome_ckpt *whole, dome_ckpt_file *const pieces[], size_t npieces, int fd, char **message)
{
    for (guint i = 0; i < whole->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(whole, i);
        for (uint64_t b = 0; b < object->blocks; b++) {
            const dome_ckpt_entry *e = dome__ckpt_entry(whole, object, b);
            if (e->source != whole->number)
                continue;
            g_autofree char *buffer = g_try_malloc(MAX(e->length, 1));
            if (!buffer)
                return dome__ckpt_refuse(message, "no memory for a block of %" PRIu64 " bytes", e->length);
            if (!read_any(pieces, npieces, &(wanted_block){object, b, e}, buffer, message) ||
                !dome__store_write(fd, buffer, e->length, e->offset, message))
                return false;
        }
    }
    return true;
}

static bool check_pieces(dome_ckpt_file *const pieces[], size_t npieces, char **message)
{
    for (size_t i = 0; i < npieces; i++) {
        if (dome__ckpt_head(pieces[i])->pieces == 0)
            return dome__ckpt_refuse(message, "checkpoint '%s' is not a piece", dome__ckpt_path(pieces[i]));
        if (!dome__ckpt_same(dome__ckpt_head(pieces[0]), dome__ckpt_head(pieces[i])))
            return dome__ckpt_refuse(message, "checkpoints '%s' and '%s' are not of one whole", dome__ckpt_path(pieces[0]),
                                     dome__ckpt_path(pieces[i]));
    }
    return npieces > 0 || dome__ckpt_refuse(message, "there are no pieces to merge");
}

bool dome__store_merge(dome_ckpt_file *const pieces[], size_t npieces, const dome_ckpt *previous, const char *directory,
                       char **message)
{
    if (!check_pieces(pieces, npieces, message))
        return false;
    int fd = -1;
    dome_ckpt *whole = dome__ckpt_whole_of(dome__ckpt_head(pieces[0]));
    bool good = fill_table(whole, pieces, npieces, message) && dome__ckpt_plan(whole, previous, message);
    if (good && (fd = dome__store_create(directory, whole, message)) >= 0) {
        good = copy_blocks(whole, pieces, npieces, fd, message);
        if (good)
            good = dome__store_commit(directory, whole, fd, message);
        else
            dome__store_abandon(directory, whole, fd);
    }
    dome__ckpt_free(whole);
    return good && fd >= 0;
}
