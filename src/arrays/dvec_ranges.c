#include "arrays/dvec_ranges.h"

#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

static int by_first(const void *a, const void *b)
{
    const dvec_segment *s = a, *t = b;
    return (s->first > t->first) - (s->first < t->first);
}

dvec_segment *dvec__segments(const dvec *x, uint64_t *count)
{
    const int size = x->env->size;
    dvec_segment *segments = g_new(dvec_segment, 2 * (gsize)size);
    *count = 0;
    for (int r = 0; r < size; r++) {
        dome_span spans[2];
        int nspans = dvec__spans_of(x, r, spans);
        for (int k = 0; k < nspans; k++)
            segments[(*count)++] = (dvec_segment){spans[k].first, spans[k].count, r, k};
    }
    qsort(segments, *count, sizeof *segments, by_first);
    return segments;
}

dome_span *dvec__new_ranges(const dome_env *env)
{
    return g_new0(dome_span, 2 * (gsize)env->size);
}

int dvec__number(const dvec *x, const uint64_t mine[2], dome_span *ranges, uint64_t *total)
{
    dome_transport *t = x->env->transport;
    if (x->distribution == DOME_WHOLE) {
        ranges[2 * t->group.rank] = (dome_span){0, mine[0]};
        *total = mine[0];
        return DOME_OK;
    }
    uint64_t nsegments, *counts = g_new(uint64_t, 2 * (gsize)t->group.size);
    dvec_segment *segments = dvec__segments(x, &nsegments);
    int status = dome__allgather(t, DOME_U64, mine, 2, counts);
    *total = 0;
    for (uint64_t k = 0; k < nsegments && status == DOME_OK; k++) {
        const uint64_t place = 2 * (uint64_t)segments[k].rank + (uint64_t)segments[k].number;
        ranges[place] = (dome_span){*total, counts[place]};
        *total += counts[place];
    }
    g_free(segments);
    g_free(counts);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(x->env, status);
}

/* ---- delivery ---- */

/* The part of a range that lies in a span. */
static dome_span common(dome_span range, dome_span span)
{
    const uint64_t begin = MAX(range.first, span.first), end = MIN(range.first + range.count, span.first + span.count);
    return begin < end ? (dome_span){begin, end - begin} : (dome_span){0, 0};
}

/* How many elements of a rank's ranges belong to another one's spans of z. */
static uint64_t shared(const dvec *z, const dome_span *ranges, int from, int to)
{
    dome_span spans[2];
    uint64_t count = 0;
    int nspans = dvec__spans_of(z, to, spans);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < nspans; b++)
            count += common(ranges[2 * from + a], spans[b]).count;
    return count;
}

/* Copies this task's elements for a rank to `out`. Returns the end of what it has written. */
static char *take_for(const dvec *z, const dome_span *ranges, int to, const char *elements, char *out)
{
    dome_span spans[2];
    int nspans = dvec__spans_of(z, to, spans);
    const uint64_t element = DVEC_ELEMENT(z);
    const dome_span *mine = ranges + 2 * z->env->rank;
    for (int a = 0; a < 2; elements += mine[a++].count * element)
        for (int b = 0; b < nspans; b++) {
            dome_span part = common(mine[a], spans[b]);
            if (part.count > 0)
                memcpy(out, elements + (part.first - mine[a].first) * element, (size_t)(part.count * element));
            out += part.count * element;
        }
    return out;
}

/* Puts the elements that a rank has sent into their places. */
static const char *put_from(dvec *z, const dome_span *ranges, int from, const char *in)
{
    dvec_span spans[2];
    const uint64_t element = DVEC_ELEMENT(z);
    dvec__spans(z, spans);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            dome_span part = common(ranges[2 * from + a], (dome_span){spans[b].first, spans[b].count});
            if (part.count > 0)
                memcpy((char *)spans[b].data + (part.first - spans[b].first) * element, in, (size_t)(part.count * element));
            in += part.count * element;
        }
    return in;
}

int dvec__deliver(dvec *z, const dome_span *ranges, const void *elements)
{
    dome_transport *t = z->env->transport;
    const uint64_t element = DVEC_ELEMENT(z), held = ranges[2 * t->group.rank].count + ranges[2 * t->group.rank + 1].count;
    uint64_t *counts = g_new(uint64_t, 2 * (gsize)t->group.size), *in_counts = counts + t->group.size;
    char *send = dome__storage_raw(held * element, NULL), *recv = dome__storage(z->local * element), *at = send;
    int status = dvec__agree_memory(z, (send || held == 0) && (recv || z->local == 0), "the elements");
    if (status == DOME_OK) {
        for (int r = 0; r < t->group.size; r++) {
            counts[r] = shared(z, ranges, t->group.rank, r) * z->width;
            in_counts[r] = shared(z, ranges, r, t->group.rank) * z->width;
            at = take_for(z, ranges, r, elements, at);
        }
        status = dome__alltoallv(t, z->type, send, counts, recv, in_counts);
        const char *from = recv;
        for (int r = 0; r < t->group.size && status == DOME_OK; r++)
            from = put_from(z, ranges, r, from);
        if (status != DOME_OK)
            status = dome__fail_transport(z->env, status);
    }
    dome__storage_free(send);
    dome__storage_free(recv);
    g_free(counts);
    return status;
}

dvec *dvec__assemble(const dvec *x, dome_type type, const char *name, uint64_t total, const dome_span *ranges,
                     const void *elements)
{
    const size_t width = type ? 1 : x->width;
    dvec *z =
        dvec_new_with(x->env, name, type ? type : x->type, total, DVEC_OPTIONS(.distribution = x->distribution, .width = width));
    if (!z)
        return NULL;
    dvec__complete(z);
    int status = DOME_OK;
    if (x->distribution != DOME_WHOLE)
        status = dvec__deliver(z, ranges, elements);
    else if (total > 0)
        memcpy(z->data, elements, (size_t)(total * DVEC_ELEMENT(z)));
    dvec__overwritten(z);
    if (status != DOME_OK) {
        dvec_free(z);
        return NULL;
    }
    return z;
}
