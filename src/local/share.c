/* Small collectives: each task writes to its own slot, and all tasks read the slots in place. */
#include "local/share.h"

#include <string.h>

static shared_slot *slot_of(const dome_local *local, int place, uint32_t number)
{
    size_t index = (size_t)place * SLOTS + number % SLOTS;
    return (shared_slot *)(void *)(local->slots + index * SLOT_BYTES);
}

static bool given_by(const dome_local *local, int place, uint32_t number)
{
    return atomic_load_explicit(&slot_of(local, place, number)->number, memory_order_acquire) == number;
}

/* Whether all other tasks have finished reading a share. */
static bool all_done(dome_local *local, uint32_t number)
{
    while ((int32_t)(local->all_done - number) < 0) {
        uint32_t least = local->shares;
        for (int i = 0; i < local->tasks; i++) {
            uint32_t done = atomic_load_explicit(&local->peers[i].task->done, memory_order_acquire);
            if (i != local->place && (int32_t)(done - least) < 0)
                least = done;
        }
        if ((int32_t)(least - number) < 0)
            return false;
        local->all_done = least;
    }
    return true;
}

/* Waits until a task has given its data; returns false if it had done so already. */
static bool wait_for(dome_local *local, int place, uint32_t number)
{
    if (given_by(local, place, number))
        return false;
    dome__pause w = {0};
    for (; !given_by(local, place, number); dome__rest(local, &w, FOR_WORD))
        continue;
    dome__rested(local, &w);
    return true;
}

/* Writes this task's packet to its slot, once no task reads what was there before. */
static void give(dome_local *local, uint32_t number, const dome_packet *packet)
{
    dome__pause w = {0};
    for (; !all_done(local, number - SLOTS); dome__rest(local, &w, FOR_ROOM))
        continue;
    dome__rested(local, &w);
    shared_slot *slot = slot_of(local, local->place, number);
    slot->bytes = (uint32_t)packet->bytes;
    memcpy(slot->head, packet->head, packet->head_bytes);
    if (packet->bytes)
        memcpy(slot->data, packet->data, packet->bytes);
    atomic_store_explicit(&slot->number, number, memory_order_release);
}

int dome__local_share(dome_transport_provider *self, int from, const dome_packet *packet, dome_shared *given, int *last)
{
    dome_local *local = self->state;
    uint32_t number = ++local->shares;
    *last = self->transport->group.rank;
    int giver = from < 0 ? -1 : local->place_of[from];
    bool gives = giver < 0 || giver == local->place;
    if (packet->head_bytes > SLOT_HEAD || packet->bytes > SLOT_BYTES - sizeof(shared_slot))
        return dome__transport_error(self->transport, DOME_ERR_COMM, "a share of %" G_GUINT64_FORMAT " bytes is too long",
                                     packet->bytes);

    /* This task no longer reads the data of earlier shares, so their slots may be overwritten. */
    atomic_store_explicit(&local->own->done, number - 1, memory_order_release);
    if (gives)
        give(local, number, packet);
    dome__ring_all(local, gives ? FOR_WORD : FOR_ROOM);
    for (int i = 0; i < local->tasks; i++) {
        if (giver >= 0 && i != giver)
            continue;
        if (wait_for(local, i, number))
            *last = local->peers[i].rank;
        const shared_slot *slot = slot_of(local, i, number);
        given[i] = (dome_shared){slot->head, slot->data, slot->bytes};
    }
    /* Each task that has given data to this share has finished reading the one before. */
    if (giver < 0)
        local->all_done = number - 1;
    dome__account_progress(&self->transport->account);
    return DOME_OK;
}
