#include "watch/watch_place.h"

void dome__watch_place_set(watch_place *place, const watch_position *at)
{
    const uint64_t turn = atomic_load_explicit(&place->turn, memory_order_relaxed);
    atomic_store_explicit(&place->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&place->at.sequence, at->sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&place->at.history, at->history, __ATOMIC_RELAXED);
    __atomic_store_n(&place->at.operation, at->operation, __ATOMIC_RELAXED);
    __atomic_store_n(&place->at.object, at->object, __ATOMIC_RELAXED);
    atomic_store_explicit(&place->turn, turn + 2, memory_order_release);
}

watch_position dome__watch_place_read(watch_place *place)
{
    watch_position p;
    uint64_t turn;
    do {
        turn = atomic_load_explicit(&place->turn, memory_order_acquire);
        p.sequence = __atomic_load_n(&place->at.sequence, __ATOMIC_RELAXED);
        p.history = __atomic_load_n(&place->at.history, __ATOMIC_RELAXED);
        p.operation = __atomic_load_n(&place->at.operation, __ATOMIC_RELAXED);
        p.object = __atomic_load_n(&place->at.object, __ATOMIC_RELAXED);
        atomic_thread_fence(memory_order_acquire);
    } while ((turn & 1) || turn != atomic_load_explicit(&place->turn, memory_order_relaxed));
    return p;
}
