#include "core/type_private.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <string.h>

/* Largest message for one range. */
#define MESSAGE_BYTES (UINT64_C(8) << 20)

int dvec__check_values(const dvec *z, const dvec *x)
{
    if (x->env != z->env)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(x));
    if (!dome_type_equal(x->type, z->type))
        return dome__fail(z->env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(x), dome_type_name(x->type),
                          dvec_name(z), dome_type_name(z->type));
    if (x->width != z->width)
        return dome__fail(z->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                          dvec_name(x), x->width, dvec_name(z), z->width);
    return DOME_OK;
}

/* ---- fetching ranges ---- */

typedef struct piece {
    uint64_t from, to, count; /* elements: position in the owner's memory, position in the output */
} piece;

enum { PIECES = 2 * DVEC_WANTS };

/* The parts of one task's wanted ranges that a task (another or itself) owns. */
static int pieces_of(const dvec_want *wants, int nwants, const dome_span *spans, int nspans, piece pieces[PIECES])
{
    int count = 0;
    for (int w = 0; w < nwants; w++) {
        uint64_t from = 0;
        for (int s = 0; s < nspans; s++) {
            uint64_t begin = MAX(wants[w].first, spans[s].first);
            uint64_t end = MIN(wants[w].first + wants[w].count, spans[s].first + spans[s].count);
            if (begin < end)
                pieces[count++] = (piece){from + begin - spans[s].first, wants[w].at + begin - wants[w].first, end - begin};
            from += spans[s].count;
        }
    }
    return count;
}

/* Takes up to `limit` elements from the first of the remaining pieces. */
static piece next_message(piece **pieces, int *left, uint64_t limit)
{
    piece message = **pieces;
    message.count = MIN(message.count, limit);
    (*pieces)->from += message.count;
    (*pieces)->to += message.count;
    (*pieces)->count -= message.count;
    if ((*pieces)->count == 0) {
        (*pieces)++;
        (*left)--;
    }
    return message;
}

/* The most elements of one message. */
static uint64_t message_elements(const dvec *x)
{
    return MAX(1, MESSAGE_BYTES / DVEC_ELEMENT(x));
}

/* The pieces that are sent to a task, or received from it. */
typedef struct half {
    int rank;
    piece *pieces;
    int count;
} half;

/* One round of the exchange. Sends and receives alternate, so that at most one message is under way between two tasks: a task
 * waits for the end of one that it has sent only after it has received one. After a failure it waits as well: the receiver may
 * still read the elements, which the program can change when the call has returned. */
static int trade(const dvec *x, half out, half in, char *to)
{
    dome_transport *t = x->env->transport;
    uint64_t element = DVEC_ELEMENT(x), limit = message_elements(x);
    int status = DOME_OK;
    const bool sends = out.count > 0;

    while (status == DOME_OK && (out.count > 0 || in.count > 0)) {
        if (out.count > 0) {
            piece m = next_message(&out.pieces, &out.count, limit);
            status = dome__begin_send(t, out.rank, DOME_CHANNEL_DATA, x->type, x->data + m.from * element, m.count * x->width);
        }
        if (status == DOME_OK && in.count > 0) {
            piece m = next_message(&in.pieces, &in.count, limit);
            status = dome__recv(t, in.rank, DOME_CHANNEL_DATA, x->type, to + m.to * element, m.count * x->width);
        }
    }
    if (sends)
        dome__end_send(t, out.rank);
    return status;
}

/* The number of ranks around the ring of tasks, in steps of `step`, among which are all that exchange anything with this task, if
 * each wants elements next to its own. Tasks without elements are passed. */
static int ranks_near(const dvec *x, dvec_wants wants, const void *ctx, int step)
{
    const dome_transport *t = x->env->transport;
    dvec_want mine[DVEC_WANTS], theirs[DVEC_WANTS];
    dome_span own[2], others[2];
    piece pieces[PIECES];
    int nmine = wants(ctx, t->group.rank, mine), nown = dvec__spans_of(x, t->group.rank, own), last = 0;
    for (int k = 1, r = t->group.rank; k < t->group.size; k++) {
        r = (r + step + t->group.size) % t->group.size;
        int nothers = dvec__spans_of(x, r, others);
        if (nothers == 0)
            continue;
        if (pieces_of(mine, nmine, others, nothers, pieces) == 0 &&
            pieces_of(theirs, wants(ctx, r, theirs), own, nown, pieces) == 0)
            break;
        last = k;
    }
    return last;
}

/* The ranges that one task exchanges with others. */
typedef struct fetching {
    const dvec *x;
    dvec_wants wants;
    const void *ctx;
    char *to;
    int nearest; /* tasks at larger distances around the ring exchange nothing */
    int nmine, nown;
    dvec_want mine[DVEC_WANTS];
    dome_span own[2];
} fetching;

/* The next distance at which tasks exchange something, or the number of tasks. */
static int next_distance(const fetching *f, int k)
{
    int size = f->x->env->size;
    return k + 1 > f->nearest ? MAX(k + 1, size - f->nearest) : k + 1; /* from the other side of the ring */
}

static int rank_after(const dome_transport *t, int k)
{
    return (int)(((unsigned)t->group.rank + (unsigned)k) % (unsigned)t->group.size);
}

static int pieces_out(const fetching *f, int dest, piece pieces[PIECES])
{
    dvec_want theirs[DVEC_WANTS];
    return pieces_of(theirs, f->wants(f->ctx, dest, theirs), f->own, f->nown, pieces);
}

static int pieces_in(const fetching *f, int source, piece pieces[PIECES])
{
    dome_span others[2];
    return pieces_of(f->mine, f->nmine, others, dvec__spans_of(f->x, source, others), pieces);
}

/* At each distance this task sends in one direction and receives from the other. */
static int fetch_in_rounds(const fetching *f)
{
    const dome_transport *t = f->x->env->transport;
    piece incoming[PIECES], outgoing[PIECES];
    int status = DOME_OK;
    for (int k = next_distance(f, 0); k < t->group.size && status == DOME_OK; k = next_distance(f, k)) {
        int dest = rank_after(t, k), source = rank_after(t, t->group.size - k);
        int nout = pieces_out(f, dest, outgoing), nin = pieces_in(f, source, incoming);
        status = trade(f->x, (half){dest, outgoing, nout}, (half){source, incoming, nin}, f->to);
    }
    return status;
}

/* Whether what others want of this task is little enough to be on its way at once. Others may find that theirs is not: the
 * messages between two tasks are the same. */
static bool is_little(const fetching *f)
{
    const dome_transport *t = f->x->env->transport;
    uint64_t left = message_elements(f->x);
    piece pieces[PIECES];
    for (int k = next_distance(f, 0); k < t->group.size; k = next_distance(f, k))
        for (int i = 0, n = pieces_out(f, rank_after(t, k), pieces); i < n; left -= pieces[i++].count)
            if (pieces[i].count > left)
                return false;
    return true;
}

/* How many of some pieces can be sent to one task before anything is received: up to the first that may stay in its sender's
 * memory until it is read (src/local). A message after it would wait for that, and two tasks with more such pieces for each other
 * would both wait. */
static int group_of(const dvec *x, const piece *pieces, int n)
{
    enum { MAY_STAY = 16 << 10 };
    int k = 0;
    while (k < n && pieces[k].count * DVEC_ELEMENT(x) < MAY_STAY)
        k++;
    return MIN(k + 1, n);
}

static int begin_pieces(const dvec *x, int dest, const piece *pieces, int n)
{
    int status = DOME_OK;
    for (int i = 0; i < n && status == DOME_OK; i++)
        status = dome__begin_send(x->env->transport, dest, DOME_CHANNEL_DATA, x->type, x->data + pieces[i].from * DVEC_ELEMENT(x),
                                  pieces[i].count * x->width);
    return status;
}

/* This task sends the pieces that others want before it waits for its own first piece (except pieces behind a long one). So a
 * task that comes late finds everything there, and there are no chains of waiting tasks. */
static int fetch_at_once(const fetching *f)
{
    dome_transport *t = f->x->env->transport;
    const dvec *x = f->x;
    piece pieces[PIECES], incoming[PIECES];
    int status = DOME_OK;
    for (int k = next_distance(f, 0); k < t->group.size && status == DOME_OK; k = next_distance(f, k)) {
        int n = pieces_out(f, rank_after(t, k), pieces);
        status = begin_pieces(x, rank_after(t, k), pieces, group_of(x, pieces, n));
    }
    for (int k = next_distance(f, 0); k < t->group.size && status == DOME_OK; k = next_distance(f, k)) {
        int dest = rank_after(t, k), source = rank_after(t, t->group.size - k);
        int nout = pieces_out(f, dest, pieces), nin = pieces_in(f, source, incoming), sent = group_of(x, pieces, nout), got = 0;
        while (status == DOME_OK && (got < nin || sent < nout)) {
            int n = group_of(x, incoming + got, nin - got);
            status = trade(x, (half){.rank = -1}, (half){source, incoming + got, n}, f->to);
            got += n;
            if (status == DOME_OK) {
                n = group_of(x, pieces + sent, nout - sent);
                status = begin_pieces(x, dest, pieces + sent, n);
                sent += n;
            }
        }
    }
    for (int k = next_distance(f, 0); k < t->group.size; k = next_distance(f, k)) /* after a failure, too */
        if (pieces_out(f, rank_after(t, k), pieces) > 0)
            dome__end_send(t, rank_after(t, k));
    return status;
}

/* near: each task wants elements next to its own, so not all tasks have to be looked at. */
static int fetch(const dvec *x, dvec_wants wants, const void *ctx, bool near, void *out)
{
    enum { FEW = 4 }; /* so few are looked at in any case */
    const dome_transport *t = x->env->transport;
    uint64_t element = DVEC_ELEMENT(x);
    piece pieces[PIECES];
    fetching f = {.x = x, .wants = wants, .ctx = ctx, .to = out, .nearest = t->group.size};
    f.nmine = wants(ctx, t->group.rank, f.mine);
    f.nown = dvec__spans_of(x, t->group.rank, f.own);
    int here = pieces_of(f.mine, f.nmine, f.own, f.nown, pieces);
    for (int i = 0; i < here; i++)
        memcpy(f.to + pieces[i].to * element, x->data + pieces[i].from * element, (size_t)(pieces[i].count * element));
    if (x->distribution == DOME_WHOLE)
        return DOME_OK;

    if (near && t->group.size > FEW)
        f.nearest = MAX(ranks_near(x, wants, ctx, 1), ranks_near(x, wants, ctx, -1));
    int status = is_little(&f) ? fetch_at_once(&f) : fetch_in_rounds(&f);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(x->env, status);
}

int dvec__fetch(const dvec *x, dvec_wants wants, const void *ctx, void *out)
{
    return fetch(x, wants, ctx, false, out);
}

int dvec__fetch_near(const dvec *x, dvec_wants wants, const void *ctx, void *out)
{
    return fetch(x, wants, ctx, true, out);
}

/* ctx: a vector whose own elements are wanted. */
static int wants_own(const void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    dome_span spans[2];
    uint64_t at = 0;
    int count = dvec__spans_of(ctx, rank, spans);
    for (int s = 0; s < count; s++) {
        wants[s] = (dvec_want){spans[s].first, spans[s].count, at};
        at += spans[s].count;
    }
    return count;
}

int dvec__redistribute(dvec *z, const dvec *x)
{
    int status = dvec__check_values(z, x);
    if (status == DOME_OK && x->length != z->length)
        status = dome__fail(z->env, DOME_ERR_SHAPE, "'%s' has %" G_GUINT64_FORMAT " elements, but '%s' %" G_GUINT64_FORMAT,
                            dvec_name(x), x->length, dvec_name(z), z->length);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status != DOME_OK)
        return status;
    dvec__complete(z);
    status = dvec__fetch(x, wants_own, z, z->data);
    if (status == DOME_OK)
        dvec__overwritten(z);
    return status;
}

/* ---- shift ---- */

typedef struct shift {
    const dvec *z;
    uint64_t distance;
    bool upwards, circular;
} shift;

/* The elements begin ... end - 1 of a span that a shift without wrapping fills from other elements. */
static void shift_inside(const shift *s, const dome_span *span, uint64_t *begin, uint64_t *end)
{
    uint64_t n = s->z->length, low = s->upwards ? MIN(s->distance, n) : 0;
    uint64_t high = s->upwards ? n : n - MIN(s->distance, n);
    *begin = CLAMP(low, span->first, span->first + span->count);
    *end = CLAMP(high, *begin, MAX(*begin, span->first + span->count));
}

static int wants_shift(const void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const shift *s = ctx;
    uint64_t n = s->z->length, at = 0;
    dome_span spans[2];
    int count = 0, nspans = dvec__spans_of(s->z, rank, spans);

    for (int i = 0; i < nspans; at += spans[i++].count) {
        if (s->circular) {
            uint64_t first = spans[i].first;
            first = first >= s->distance ? first - s->distance : n - (s->distance - first);
            uint64_t head = MIN(spans[i].count, n - first);
            wants[count++] = (dvec_want){first, head, at};
            if (head < spans[i].count)
                wants[count++] = (dvec_want){0, spans[i].count - head, at + head};
        } else {
            uint64_t begin, end;
            shift_inside(s, &spans[i], &begin, &end);
            if (begin < end)
                wants[count++] =
                    (dvec_want){s->upwards ? begin - s->distance : begin + s->distance, end - begin, at + begin - spans[i].first};
        }
    }
    return count;
}

static void fill_values(char *to, uint64_t values, const void *value, size_t size)
{
    if (!value && values > 0)
        memset(to, 0, (size_t)(values * size));
    for (uint64_t i = 0; value && i < values; i++)
        memcpy(to + i * size, value, size);
}

static void fill_outside(const shift *s, char *data, const void *value)
{
    const dvec *z = s->z;
    uint64_t element = DVEC_ELEMENT(z);
    dome_span spans[2];
    int nspans = dvec__spans_of(z, z->env->rank, spans);
    for (int i = 0; i < nspans; data += spans[i++].count * element) {
        uint64_t begin, end, first = spans[i].first;
        shift_inside(s, &spans[i], &begin, &end);
        fill_values(data, (begin - first) * z->width, value, DVEC_VALUE(z));
        fill_values(data + (end - first) * element, (first + spans[i].count - end) * z->width, value, DVEC_VALUE(z));
    }
}

static int shift_checked(dvec *z, const dvec *x, const shift *s, const void *value)
{
    int status = dvec__conforms(z, x, true, true);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status != DOME_OK)
        return status;
    dvec__complete(z);

    char *data = z->data;
    if (z == x) {
        data = dome__storage_raw(z->local * DVEC_ELEMENT(z), NULL);
        status = dvec__agree_memory(z, data || z->local == 0, "the shifted elements");
        if (status != DOME_OK) {
            dome__storage_free(data);
            return status;
        }
    }
    status = dvec__fetch(x, wants_shift, s, data);
    if (status == DOME_OK && !s->circular)
        fill_outside(s, data, value);
    if (z == x) {
        if (status == DOME_OK)
            dvec__replace(z, data);
        else
            dome__storage_free(data);
    }
    dvec__overwritten(z);
    return status;
}

dome_status dvec_roll(dvec *z, const dvec *x, int64_t k)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome__begin_with(&op, z->env, DOME_OP_DVEC_ROLL, z->object, (uint64_t[]){dvec__id(x), (uint64_t)k}, 2);
    uint64_t n = z->length, distance = 0;
    if (n > 0) {
        distance = (k < 0 ? -(uint64_t)k : (uint64_t)k) % n;
        if (k < 0 && distance > 0)
            distance = n - distance;
    }
    shift s = {.z = z, .distance = distance, .upwards = true, .circular = true};
    return dome__end(&op, shift_checked(z, x, &s, NULL));
}

dome_status dvec_shift(dvec *z, const dvec *x, int64_t k, const void *value)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    uint64_t words[] = {dvec__id(x), (uint64_t)k, dome__value_word(z->type, value)};
    dome__begin_with(&op, z->env, DOME_OP_DVEC_SHIFT, z->object, words, G_N_ELEMENTS(words));
    shift s = {.z = z, .distance = k < 0 ? -(uint64_t)k : (uint64_t)k, .upwards = k >= 0};
    return dome__end(&op, shift_checked(z, x, &s, value));
}

/* ---- whole ---- */

/* Everything. */
static int wants_whole(const void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const dvec *x = ctx;
    (void)rank;
    wants[0] = (dvec_want){0, x->length, 0};
    return x->length > 0;
}

static int fetch_whole(const dvec *x, void *out)
{
    dome_transport *t = x->env->transport;
    uint64_t start;
    if (x->distribution == DOME_WHOLE) {
        memcpy(out, x->data, (size_t)(x->length * DVEC_ELEMENT(x)));
        return DOME_OK;
    }
    dome_layout_run(x->layout, 0, &start);
    if (start != 0) /* the parts in rank order are not the vector in index order */
        return dvec__fetch(x, wants_whole, x, out);

    uint64_t *counts = g_new(uint64_t, t->group.size);
    for (int r = 0; r < t->group.size; r++)
        counts[r] = dome_layout_local(x->layout, r) * x->width;
    int status = dome__allgatherv(t, x->type, x->data, counts, out);
    g_free(counts);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(x->env, status);
}

const void *dvec_allgather(const dvec *x)
{
    if (!x)
        return dome__null(__func__, "a vector"), NULL;
    static const char nothing[16];
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_ALLGATHER, x->object, 0);

    const void *result = nothing;
    int status = dvec__settle(x, NULL);
    if (status == DOME_OK && x->length > 0) {
        /* With --dome-check-pointers the vector's storage would be replaced before this pointer goes out of date. */
        if (x->distribution == DOME_WHOLE && !x->env->options.check_pointers) {
            result = x->data;
        } else {
            dvec_lazy *cache = x->lazy;
            uint64_t bytes;
            if (!cache->whole) {
                if (!__builtin_mul_overflow(x->length, (uint64_t)DVEC_ELEMENT(x), &bytes))
                    cache->whole = dome__storage_raw(bytes, NULL);
                status = dvec__agree_memory(x, cache->whole != NULL, "all elements");
            }
            if (status == DOME_OK)
                status = fetch_whole(x, cache->whole);
            else
                g_clear_pointer(&cache->whole, dome__storage_free);
            result = cache->whole;
        }
    }
    return dome__end(&op, status) == DOME_OK ? result : NULL;
}
