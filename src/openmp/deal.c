#include "openmp/deal.h"
#include "openmp/team.h"

uint64_t dome__omp_loop_count(long start, long end, long step)
{
    if (step > 0)
        return start < end ? ((uint64_t)end - (uint64_t)start - 1) / (uint64_t)step + 1 : 0;
    return start > end ? ((uint64_t)start - (uint64_t)end - 1) / -(uint64_t)step + 1 : 0;
}

/* step: of a loop that goes down, the negative one as an unsigned number. */
uint64_t dome__omp_loop_count_ull(bool up, uint64_t start, uint64_t end, uint64_t step)
{
    if (up)
        return start < end ? (end - start - 1) / step + 1 : 0;
    return start > end ? (start - end - 1) / -step + 1 : 0;
}

/* The share of thread `number`: as equal as can be, the larger ones first. */
static void share(uint64_t count, unsigned number, unsigned threads, uint64_t *from, uint64_t *to)
{
    uint64_t least = count / threads, larger = count % threads;
    *from = least * number + (number < larger ? number : larger);
    *to = *from + least + (number < larger);
}

static uint64_t guided_chunk(const dome_omp_loop *loop, uint64_t from, unsigned threads)
{
    uint64_t left = loop->count - from, size = left / threads + (left % threads != 0);
    if (size < loop->chunk)
        size = loop->chunk;
    return size < left ? size : left;
}

static bool next_guided(dome_omp_loop *loop, unsigned number, unsigned threads, uint64_t *from, uint64_t *to)
{
    while (loop->from < loop->count) {
        uint64_t size = guided_chunk(loop, loop->from, threads);
        *from = loop->from;
        *to = loop->from += size;
        loop->mine = loop->next++;
        if (loop->mine % threads == number)
            return true;
    }
    return false;
}

bool dome__omp_loop_next(dome_omp_loop *loop, unsigned number, unsigned threads, uint64_t *from, uint64_t *to)
{
    loop->has_chunk = false;
    if (loop->schedule == DOME_OMP_GUIDED)
        return loop->has_chunk = next_guided(loop, number, threads, from, to);
    if (!loop->chunk) {
        if (loop->next++)
            return false;
        share(loop->count, number, threads, from, to);
        loop->mine = number;
        return loop->has_chunk = *from < *to;
    }
    loop->mine = loop->next++ * threads + number;
    if (!loop->count || loop->mine > (loop->count - 1) / loop->chunk)
        return false;
    *from = loop->mine * loop->chunk;
    *to = loop->count - *from > loop->chunk ? *from + loop->chunk : loop->count;
    return loop->has_chunk = true;
}

static unsigned guided_owner(const dome_omp_loop *loop, uint64_t iteration, unsigned threads)
{
    uint64_t chunk = 0, from = 0;
    while ((from += guided_chunk(loop, from, threads)) <= iteration)
        chunk++;
    return (unsigned)(chunk % threads);
}

unsigned dome__omp_loop_owner(const dome_omp_loop *loop, uint64_t iteration, unsigned threads)
{
    if (loop->schedule == DOME_OMP_GUIDED)
        return guided_owner(loop, iteration, threads);
    if (loop->chunk)
        return (unsigned)(iteration / loop->chunk % threads);
    uint64_t least = loop->count / threads, larger = loop->count % threads, of_larger = larger * (least + 1);
    return (unsigned)(iteration < of_larger ? iteration / (least + 1) : larger + (iteration - of_larger) / least);
}

void dome__omp_loop_runtime(dome_omp_loop *loop, const dome_omp_thread *thread)
{
    loop->schedule = (dome_omp_schedule)(thread->variables.schedule & 7);
    loop->chunk = (uint64_t)(thread->variables.chunk > 0 ? thread->variables.chunk : 0);
    if (loop->schedule == DOME_OMP_AUTO) {
        loop->schedule = DOME_OMP_STATIC;
        loop->chunk = 0;
    }
}

void dome__omp_loop_begin(dome_omp_thread *thread, const dome_omp_loop *loop)
{
    dome_omp_loop *l = &thread->loop;
    *l = *loop;
    if (l->schedule == DOME_OMP_RUNTIME)
        dome__omp_loop_runtime(l, thread);
    if (l->schedule != DOME_OMP_STATIC && !l->chunk)
        l->chunk = 1;
    l->next = l->from = 0;
    l->has_chunk = false;
    l->construct = ++thread->construct;
}
