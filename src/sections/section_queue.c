#include "sections/section_queue.h"

#include <glib.h>
#include <string.h>

void dome__section_queue_begin(dome_section_queue *queue, int rank, int size)
{
    *queue = (dome_section_queue){.rank = rank, .size = size};
    queue->asked = g_new0(uint64_t, size);
    queue->served = g_new0(uint64_t, size);
    queue->knows = g_new0(uint64_t, size);
}

void dome__section_queue_end(dome_section_queue *queue)
{
    g_free(queue->asked);
    g_free(queue->served);
    g_free(queue->knows);
}

void dome__section_queue_clear(dome_section_queue *queue)
{
    const size_t bytes = (size_t)queue->size * sizeof(uint64_t);
    memset(queue->asked, 0, bytes);
    memset(queue->served, 0, bytes);
    memset(queue->knows, 0, bytes);
}

uint64_t dome__section_queue_ask(dome_section_queue *queue)
{
    return ++queue->asked[queue->rank];
}

void dome__section_queue_asked(dome_section_queue *queue, int rank, uint64_t number)
{
    queue->asked[rank] = MAX(queue->asked[rank], number);
}

void dome__section_queue_got(dome_section_queue *queue)
{
    queue->served[queue->rank] = queue->asked[queue->rank];
}

int dome__section_queue_next(const dome_section_queue *queue)
{
    for (int k = 1; k < queue->size; k++) {
        const int rank = (queue->rank + k) % queue->size;
        if (queue->asked[rank] > queue->served[rank])
            return rank;
    }
    return -1;
}

uint64_t dome__section_queue_all_know(const dome_section_queue *queue)
{
    uint64_t least = UINT64_MAX;
    for (int rank = 0; rank < queue->size; rank++)
        least = MIN(least, queue->knows[rank]);
    return least;
}
