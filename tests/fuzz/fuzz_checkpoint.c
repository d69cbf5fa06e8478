/* The head of a checkpoint: whatever the bytes are, it is refused in words or means what it says. The first byte chooses whether
 * the checksum is put right, so that the parts behind it are reached. */
#include "ckpt/format.h"

#include <stdlib.h>
#include <string.h>

static void require(bool so)
{
    if (!so)
        abort();
}

static void seal(uint8_t *head, size_t bytes)
{
    memset(head + 48, 0, 16);
    dome_ckpt_sum sum = dome__ckpt_sum(head, bytes);
    memcpy(head + 48, sum.bytes, 16);
}

/* Makes the lengths in the header those of the bytes, so that most inputs get past it. The data would be 1000 bytes long. */
static uint64_t set_lengths(uint8_t *head, size_t bytes)
{
    uint64_t lengths[2] = {GUINT64_TO_BE(bytes), GUINT64_TO_BE(bytes + 1000)};
    memcpy(head + 24, lengths, sizeof lengths);
    return bytes + 1000;
}

static void check_read(dome_ckpt *ckpt, const uint8_t *head)
{
    uint64_t entries = 0;
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        require(object->first_entry == entries && *object->name && *object->kind);
        require(*dome__ckpt_type_name(ckpt, object->type) != 0);
        entries += object->blocks;
        char *shown = dome__ckpt_shown(object->name);
        require(g_utf8_validate(shown, -1, NULL) && !strchr(shown, '\n'));
        g_free(shown);
        for (uint64_t b = 0; b < object->blocks; b++) {
            const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
            require(e->source <= ckpt->number && (e->source != ckpt->number || e->offset + e->length <= ckpt->file_bytes));
        }
    }
    require(entries == ckpt->entries && dome__ckpt_same(ckpt, ckpt));
    void *again = dome__ckpt_encode(ckpt);
    require(memcmp(again, head, ckpt->head_bytes) == 0);
    g_free(again);

    /* What was read can be the one before another. */
    char *message = NULL;
    dome_ckpt *next = dome__ckpt_whole_of(ckpt);
    next->number = ckpt->number + 1;
    if (next->number > 0 && ckpt->pieces == 0) {
        for (uint64_t i = 0; i < ckpt->entries; i++)
            next->table[i] = ckpt->table[i];
        if (dome__ckpt_plan(next, ckpt, &message))
            require(next->file_bytes >= next->head_bytes);
        g_free(message);
    }
    dome__ckpt_free(next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t bytes = size - 1;
    uint64_t file_bytes = bytes, head_bytes;
    uint8_t *head = malloc(bytes + 1); /* exactly as long as it is said to be, for the sanitizer */
    memcpy(head, data + 1, bytes);
    head = realloc(head, bytes ? bytes : 1);
    if (bytes >= DOME_CKPT_HEADER && data[0] & 1)
        file_bytes = set_lengths(head, bytes);
    if (bytes >= DOME_CKPT_HEADER && data[0] & 2)
        seal(head, bytes);

    char *message = NULL;
    bool started = dome__ckpt_head_bytes(head, bytes, file_bytes, &head_bytes, &message);
    require(started == (message == NULL) && (!started || head_bytes <= file_bytes));
    g_clear_pointer(&message, g_free);
    dome_ckpt *ckpt = dome__ckpt_decode(head, bytes, file_bytes, &message);
    require((ckpt == NULL) == (message != NULL));
    if (ckpt)
        check_read(ckpt, head);
    else
        require(*message && !strchr(message, '\n') && g_utf8_validate(message, -1, NULL));
    g_free(message);
    dome__ckpt_free(ckpt);
    free(head);
    return 0;
}
