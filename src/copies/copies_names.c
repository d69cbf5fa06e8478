/* Which files are a task's. */
#include "copies/copies.h"

#include <string.h>

char *dome__copies_stem(const char *directory, const char *program, int rank, int size)
{
    enum { DIGITS = 8 };
    char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, program, -1);
    char *stem = g_strdup_printf("%s/messages-%.*s-%d-of-%d", directory, DIGITS, sum, rank, size);
    g_free(sum);
    return stem;
}

bool dome__copies_is_own(const dome_store_item *item, const char *program, int size)
{
    const dome_ckpt *head = item->file ? dome__ckpt_head(item->file) : NULL;
    bool own = false;
    for (guint k = 0; head && k < head->counters->len; k++)
        own |= strcmp(g_array_index(head->counters, dome_ckpt_counter, k).name, DOME_COPIES_OWN) == 0;
    return own && item->piece >= 1 && item->piece <= (uint32_t)size && (int)item->pieces == size &&
           dome__ckpt_is_of(head, program);
}
