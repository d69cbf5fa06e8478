#include "transport/board.h"

#include <string.h>

void dome__board_put(dome_board *board, int place, const dome_board_beat *beat)
{
    dome_board_place *p = &board->place[place];
    const unsigned turn = atomic_load_explicit(&p->turn, memory_order_relaxed);
    atomic_store_explicit(&p->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    p->beat = *beat;
    p->count++;
    atomic_store_explicit(&p->turn, turn + 2, memory_order_release);
}

bool dome__board_take(const dome_board *board, int place, uint32_t *count, dome_board_beat *beat)
{
    const dome_board_place *p = &board->place[place];
    const unsigned turn = atomic_load_explicit(&p->turn, memory_order_acquire);
    if (turn & 1)
        return false;
    const uint32_t now = p->count;
    *beat = p->beat;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&p->turn, memory_order_relaxed) != turn || now == *count)
        return false;
    beat->operation[DOME_BOARD_OPERATION - 1] = beat->object[DOME_BOARD_OBJECT - 1] = '\0';
    *count = now;
    return true;
}
