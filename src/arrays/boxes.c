/* Boxes of values between tasks. The tasks know each other's parts of source and destination, so each finds by itself which
 * values of a box two tasks share, in the same order on both sides: no index is sent. */
#include "arrays/boxes.h"

#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <string.h>

void dvec__join_axes(dvec_box *b)
{
    int n = 0;
    for (int d = 0; d < b->ndim; d++) {
        const int64_t extent = (int64_t)b->extent[d];
        if (extent == 1)
            continue;
        const bool joins =
            n > 0 && b->to_stride[n - 1] == b->to_stride[d] * extent && b->from_stride[n - 1] == b->from_stride[d] * extent;
        const int at = joins ? n - 1 : n++;
        b->extent[at] = (joins ? b->extent[at] : 1) * b->extent[d];
        b->to_stride[at] = b->to_stride[d];
        b->from_stride[at] = b->from_stride[d];
    }
    b->ndim = n;
}

/* ---- in memory ---- */

#define RUN(bytes)                                                                                                               \
    for (uint64_t i = 0; i < count; i++)                                                                                         \
    memcpy(to + (int64_t)i * to_stride * (int64_t)(bytes), from + (int64_t)i * from_stride * (int64_t)(bytes), bytes)

static void copy_run(char *to, int64_t to_stride, const char *from, int64_t from_stride, uint64_t count, size_t size)
{
    if (to_stride == 1 && from_stride == 1) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    switch (size) {
    case 1:
        RUN(1);
        break;
    case 2:
        RUN(2);
        break;
    case 4:
        RUN(4);
        break;
    case 8:
        if (to_stride == 1)
            for (uint64_t i = 0; i < count; i++)
                memcpy(to + i * 8, from + (int64_t)i * from_stride * 8, 8);
        else
            RUN(8);
        break;
    case 16:
        RUN(16);
        break;
    default:
        RUN(size);
        break;
    }
}
#undef RUN

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

static void swap_axes(dvec_box *b, int i, int j)
{
    const uint64_t extent = b->extent[i];
    const int64_t to = b->to_stride[i], from = b->from_stride[i];
    b->extent[i] = b->extent[j];
    b->to_stride[i] = b->to_stride[j];
    b->from_stride[i] = b->from_stride[j];
    b->extent[j] = extent;
    b->to_stride[j] = to;
    b->from_stride[j] = from;
}

/* Two axes: one with neighbours at the destination, and one with neighbours in the source. Tiles of both stay in the cache. */
static void copy_tiles(const dvec_box *b, int rows, int columns, char *to, const char *from, size_t size)
{
    enum { TILE = 16 };
    const int64_t bytes = (int64_t)size;
    for (uint64_t i = 0; i < b->extent[rows]; i += TILE)
        for (uint64_t j = 0; j < b->extent[columns]; j += TILE) {
            const uint64_t most = MIN(i + TILE, b->extent[rows]), count = MIN(TILE, b->extent[columns] - j);
            for (uint64_t k = i; k < most; k++)
                copy_run(to + ((int64_t)k * b->to_stride[rows] + (int64_t)j * b->to_stride[columns]) * bytes,
                         b->to_stride[columns],
                         from + ((int64_t)k * b->from_stride[rows] + (int64_t)j * b->from_stride[columns]) * bytes,
                         b->from_stride[columns], count, size);
        }
}

void dvec__copy_box(const dvec_box *box, char *to, const char *from, size_t size)
{
    dvec_box b = *box;
    uint64_t index[DVEC_MAX_AXES] = {0};
    dvec__join_axes(&b);
    for (int i = 0; i < b.ndim; i++) /* the smallest distance at the destination last */
        for (int j = i + 1; j < b.ndim; j++)
            if (magnitude(b.to_stride[j]) > magnitude(b.to_stride[i]))
                swap_axes(&b, i, j);
    int inner = b.ndim - 1, near = inner;
    for (int d = 0; d < b.ndim; d++)
        if (b.from_stride[d] != 0 && magnitude(b.from_stride[d]) < magnitude(b.from_stride[near]))
            near = d;
    const bool tiles = inner >= 0 && near != inner && b.from_stride[inner] != 0;
    if (tiles && near != inner - 1)
        swap_axes(&b, near, inner - 1);
    const int outer = tiles ? b.ndim - 2 : MAX(inner, 0);
    to += b.to * (int64_t)size;
    from += b.from * (int64_t)size;
    for (int d = 0; d >= 0;) {
        if (tiles)
            copy_tiles(&b, inner - 1, inner, to, from, size);
        else
            copy_run(to, inner < 0 ? 1 : b.to_stride[inner], from, inner < 0 ? 1 : b.from_stride[inner],
                     inner < 0 ? 1 : b.extent[inner], size);
        for (d = outer - 1; d >= 0; d--) {
            to += b.to_stride[d] * (int64_t)size;
            from += b.from_stride[d] * (int64_t)size;
            if (++index[d] < b.extent[d])
                break;
            to -= b.to_stride[d] * (int64_t)b.extent[d] * (int64_t)size;
            from -= b.from_stride[d] * (int64_t)b.extent[d] * (int64_t)size;
            index[d] = 0;
        }
    }
}

/* ---- what two tasks share ---- */

/* The least and the largest number of a box's values at one of its ends. */
typedef struct limits {
    int64_t least, most;
} limits;

static limits reach(int64_t stride, uint64_t extent)
{
    const int64_t far = stride * (int64_t)(extent - 1);
    return (limits){MIN(far, 0), MAX(far, 0)};
}

static limits limits_of(const dvec_box *b, bool source)
{
    const int64_t first = source ? b->from : b->to, *stride = source ? b->from_stride : b->to_stride;
    limits all = {first, first};
    for (int d = 0; d < b->ndim; d++) {
        const limits own = reach(stride[d], b->extent[d]);
        all.least += own.least;
        all.most += own.most;
    }
    return all;
}

/* a / b rounded up, for b > 0. */
static int64_t quotient_up(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/* Shrinks each axis to the indices of which some value may have a number in the span. False: there is none. */
static bool confine(dvec_box *b, bool source, dome_span span)
{
    const int64_t begin = (int64_t)span.first, last = begin + (int64_t)span.count - 1;
    limits all = limits_of(b, source);
    if (span.count == 0 || all.most < begin || all.least > last)
        return false;
    for (int d = 0; d < b->ndim; d++) {
        const int64_t stride = source ? b->from_stride[d] : b->to_stride[d];
        if (stride == 0 || b->extent[d] == 1)
            continue;
        const limits own = reach(stride, b->extent[d]);
        /* index * distance must be at least low, and at most high */
        const int64_t distance = (int64_t)magnitude(stride), rest_least = all.least - own.least, rest_most = all.most - own.most;
        const int64_t low = stride > 0 ? begin - rest_most : rest_least - last;
        const int64_t high = stride > 0 ? last - rest_least : rest_most - begin;
        const int64_t first = MAX(0, quotient_up(low, distance));
        const int64_t end = high < 0 ? 0 : MIN((int64_t)b->extent[d], high / distance + 1);
        if (first >= end)
            return false;
        b->to += first * b->to_stride[d];
        b->from += first * b->from_stride[d];
        b->extent[d] = (uint64_t)(end - first);
        all = limits_of(b, source);
    }
    return true;
}

static bool lies_in(limits all, dome_span span)
{
    return all.least >= (int64_t)span.first && all.most < (int64_t)(span.first + span.count);
}

/* The axis along which a box is cut: that of the largest steps. */
static int widest(const dvec_box *b, bool source)
{
    int best = -1;
    const int64_t *stride = source ? b->from_stride : b->to_stride;
    for (int d = 0; d < b->ndim; d++)
        if (b->extent[d] > 1 && stride[d] != 0 && (best < 0 || magnitude(stride[d]) > magnitude(stride[best])))
            best = d;
    return best;
}

/* A part of the destination and one of the source, and what is done with the values that they share. */
typedef struct sharing {
    dome_span to, from;
    void (*each)(const dvec_box *box, void *ctx);
    void *ctx;
} sharing;

/* Calls `each` for boxes that lie in both parts entirely: what does not is cut in halves. Cuts follow the ends of the parts, so
 * their number is that of the axes times the logarithm of the extents. */
static void share(const sharing *s, const dvec_box *box)
{
    dvec_box b = *box, half;
    if (!confine(&b, false, s->to) || !confine(&b, true, s->from))
        return;
    const bool to_inside = lies_in(limits_of(&b, false), s->to);
    if (to_inside && lies_in(limits_of(&b, true), s->from)) {
        s->each(&b, s->ctx);
        return;
    }
    const int axis = widest(&b, to_inside);
    if (axis < 0) /* one number, outside: the second part has left others than the first */
        return;
    const uint64_t first = b.extent[axis] / 2;
    half = b;
    half.extent[axis] = first;
    share(s, &half);
    half.extent[axis] = b.extent[axis] - first;
    half.to += (int64_t)first * b.to_stride[axis];
    half.from += (int64_t)first * b.from_stride[axis];
    share(s, &half);
}

static uint64_t volume(const dvec_box *b)
{
    uint64_t count = 1;
    for (int d = 0; d < b->ndim; d++)
        count *= b->extent[d];
    return count;
}

/* ---- between tasks ---- */

typedef struct mover {
    const dvec_box_move *move;
    const dome_span *sources; /* by rank, two of each */
    size_t size;              /* of a value */
    uint64_t count;
    char *to;                     /* of this task's values, or of a message */
    const char *from;             /* likewise */
    int64_t to_shift, from_shift; /* from a value's number to its place in this task's memory */
} mover;

static void count_box(const dvec_box *b, void *ctx)
{
    ((mover *)ctx)->count += volume(b);
}

/* From this task's memory, or a message, to the other. */
static void copy_own(const dvec_box *box, void *ctx)
{
    mover *m = ctx;
    dvec_box b = *box;
    b.to += m->to_shift;
    b.from += m->from_shift;
    dvec__copy_box(&b, m->to, m->from, m->size);
}

static void in_order(uint64_t stride[DVEC_MAX_AXES], const dvec_box *b)
{
    uint64_t next = 1;
    for (int d = b->ndim; d-- > 0; next *= b->extent[d])
        stride[d] = next;
}

static void pack(const dvec_box *box, void *ctx)
{
    mover *m = ctx;
    dvec_box b = *box;
    b.to = 0;
    b.from += m->from_shift;
    in_order((uint64_t *)b.to_stride, &b);
    dvec__copy_box(&b, m->to, m->from, m->size);
    m->to += volume(&b) * m->size;
}

static void unpack(const dvec_box *box, void *ctx)
{
    mover *m = ctx;
    dvec_box b = *box;
    b.from = 0;
    b.to += m->to_shift;
    in_order((uint64_t *)b.from_stride, &b);
    dvec__copy_box(&b, m->to, m->from, m->size);
    m->from += volume(&b) * m->size;
}

/* Calls `each` for what one rank's part of the destination takes from another's of the source. */
static void for_pair(mover *m, int to, int from, void (*each)(const dvec_box *box, void *ctx))
{
    const dome_span *parts = m->move->parts + 2 * to, *sources = m->sources + 2 * from;
    for (int k = 0; k < 4; k++) {
        const sharing s = {parts[k / 2], sources[k % 2], each, m};
        m->to_shift = (k / 2 ? (int64_t)parts[0].count : 0) - (int64_t)s.to.first;
        m->from_shift = (k % 2 ? (int64_t)sources[0].count : 0) - (int64_t)s.from.first;
        for (size_t j = 0; j < m->move->nboxes; j++)
            share(&s, &m->move->box[j]);
    }
}

static uint64_t count_pair(mover *m, int to, int from)
{
    m->count = 0;
    for_pair(m, to, from, count_box);
    return m->count;
}

dome_span *dvec__parts_of(const dvec *x, uint64_t each)
{
    dome_span *parts = g_new0(dome_span, 2 * (gsize)x->env->size);
    for (int r = 0; r < x->env->size; r++) {
        dvec__spans_of(x, r, parts + 2 * r);
        for (int k = 0; k < 2; k++)
            parts[2 * r + k] = (dome_span){parts[2 * r + k].first * x->width * each, parts[2 * r + k].count * x->width * each};
    }
    return parts;
}

/* Sends all other tasks what they need of this one's values, and takes theirs. */
static int exchange(mover *m)
{
    const dvec *x = m->move->x;
    const int size = x->env->size, rank = x->env->rank;
    uint64_t *counts = g_new0(uint64_t, 2 * (gsize)size), *in_counts = counts + size, out = 0, in = 0;
    for (int r = 0; r < size; r++)
        if (r != rank) {
            out += counts[r] = count_pair(m, r, rank);
            in += in_counts[r] = count_pair(m, rank, r);
        }
    char *send = dome__storage_raw(out * m->size, NULL), *recv = dome__storage_raw(in * m->size, NULL);
    int status = dvec__agree_memory(x, (send || out == 0) && (recv || in == 0), "values that move");
    if (status == DOME_OK) {
        m->to = send;
        m->from = m->move->from;
        for (int r = 0; r < size; r++)
            if (counts[r] > 0)
                for_pair(m, r, rank, pack);
        status = dome__alltoallv(x->env->transport, x->type, send, counts, recv, in_counts);
        if (status != DOME_OK)
            status = dome__fail_transport(x->env, status);
    }
    m->to = m->move->to;
    m->from = recv;
    for (int r = 0; r < size && status == DOME_OK; r++)
        if (in_counts[r] > 0)
            for_pair(m, rank, r, unpack);
    dome__storage_free(send);
    dome__storage_free(recv);
    g_free(counts);
    return status;
}

int dvec__move_boxes(const dvec_box_move *move)
{
    const dvec *x = move->x;
    const bool every = move->every_value || x->distribution == DOME_WHOLE;
    const int rank = x->env->rank, size = x->env->size;
    dome_span *own = move->sources ? NULL : dvec__parts_of(x, 1);
    if (every && own)
        for (int r = 0; r < size; r++) {
            own[2 * r] = (dome_span){0, x->length * x->width};
            own[2 * r + 1] = (dome_span){0, 0};
        }
    mover m = {.move = move, .sources = own ? own : move->sources, .size = DVEC_VALUE(x), .to = move->to, .from = move->from};
    for_pair(&m, rank, rank, copy_own);
    const int status = every || size == 1 ? DOME_OK : exchange(&m);
    g_free(own);
    return status;
}
