#include "transport/board.h"

#include <string.h>

bool dome__board_put(dome_board *board, int place, const uint8_t *beat, size_t length)
{
    dome_board_place *p = &board->place[place];
    if (length > DOME_BOARD_MOST)
        return false;
    const unsigned turn = atomic_load_explicit(&p->turn, memory_order_relaxed);
    atomic_store_explicit(&p->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(p->beat, beat, length);
    p->length = (uint32_t)length;
    p->count++;
    atomic_store_explicit(&p->turn, turn + 2, memory_order_release);
    return true;
}

size_t dome__board_take(const dome_board *board, int place, uint32_t *count, uint8_t beat[DOME_BOARD_MOST])
{
    const dome_board_place *p = &board->place[place];
    const unsigned turn = atomic_load_explicit(&p->turn, memory_order_acquire);
    if (turn & 1)
        return 0;
    const uint32_t now = p->count, length = p->length;
    if (length > DOME_BOARD_MOST) /* it is just being written */
        return 0;
    memcpy(beat, p->beat, length);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&p->turn, memory_order_relaxed) != turn || now == *count)
        return 0;
    *count = now;
    return length;
}
