/* Collectives and messages of programs, on random data, compared with what each task computes by itself: the values that a task
 * gives are known to all. Arguments: a seed and a number of rounds. */
#include "comm/comm_operations.h"
#include "core/clock.h"
#include "core/operation.h"
#include "mixed_formats.h"
#include "reference_sum.h"
#include "rounds.h"
#include "system/time.h"

#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* ---- data: the elements of a stream, which any task can make ---- */

typedef struct affine { /* x -> factor x + term; applied one after the other, in an order that matters */
    uint8_t mark;
    uint32_t factor;
    uint64_t term;
} affine;

static dome_type types[13];

static void make_types(void)
{
    for (int k = 0; k < 12; k++)
        types[k] = dome_type_basic((dome_type_kind)k);
    const dome_field fields[] = {{"mark", DOME_U8, offsetof(affine, mark), 1},
                                 {"factor", DOME_U32, offsetof(affine, factor), 1},
                                 {"term", DOME_U64, offsetof(affine, term), 1}};
    types[12] = dome_type_struct(env, "affine", sizeof(affine), fields, 3, sizeof(dome_field));
}

static bool is_floating(dome_type type)
{
    return type == DOME_F32 || type == DOME_F64 || type == DOME_C64 || type == DOME_C128;
}

static double real(uint64_t bits)
{
    switch (bits % 64) {
    case 0:
        return -0.0;
    case 1:
        return 0.0;
    case 2:
        return bits % 7 ? 0x1p60 : (double)INFINITY;
    case 3:
        return bits % 7 ? -0x1p60 : (double)NAN;
    default:
        return ((double)(bits >> 20) - 0x1p43) * (bits % 3 ? 1e-9 : 0x1p-80);
    }
}

static void element(dome_type type, uint64_t stream, uint64_t i, void *out)
{
    uint64_t bits = draw_mix(stream * 0x9e3779b97f4a7c15u + i * 0xd6e8feb86659fd93u + 1), more = draw_mix(bits + 1);
    double parts[2] = {real(bits), real(more)};
    float narrow[2] = {(float)parts[0], (float)parts[1]};
    affine a;
    memset(&a, 0, sizeof a);
    a.mark = (uint8_t)bits;
    a.factor = (uint32_t)more;
    a.term = bits;
    if (bits % 5 == 0) /* small numbers and 0, for the integers */
        bits = more % 3;
    if (type == DOME_F32 || type == DOME_C64)
        memcpy(out, narrow, dome_type_size(type));
    else if (type == DOME_F64 || type == DOME_C128)
        memcpy(out, parts, dome_type_size(type));
    else if (type == types[12])
        memcpy(out, &a, sizeof a);
    else if (dome_type_size(type) == 1)
        *(uint8_t *)out = (uint8_t)bits;
    else if (dome_type_size(type) == 2)
        *(uint16_t *)out = (uint16_t)bits;
    else if (dome_type_size(type) == 4)
        *(uint32_t *)out = (uint32_t)bits;
    else
        *(uint64_t *)out = bits;
}

static char *make(dome_type type, uint64_t stream, uint64_t count)
{
    char *data = g_malloc0(count * dome_type_size(type) + 1);
    for (uint64_t i = 0; i < count; i++)
        element(type, stream, i, data + i * dome_type_size(type));
    return data;
}

/* By the bits that travel: padding does not. */
static bool same(dome_type type, const void *a, const void *b, uint64_t count)
{
    size_t bytes = count * dome_type_portable_size(type);
    char *first = g_malloc(bytes + 1), *second = g_malloc(bytes + 1);
    dome_type_pack(type, DOME_PORTABLE, first, a, count);
    dome_type_pack(type, DOME_PORTABLE, second, b, count);
    bool equal = memcmp(first, second, bytes) == 0;
    g_free(first);
    g_free(second);
    return equal;
}

/* ---- reductions ---- */

/* One basic value of integer type, as 64 bits with its sign. */
static int64_t integer(dome_type type, const void *at)
{
    switch (dome_type_kind_of(type)) {
#define CASE(K, ctype)                                                                                                           \
    case DOME_KIND_##K:                                                                                                          \
        return (int64_t) * (const ctype *)at;
        CASE(I8, int8_t)
        CASE(I16, int16_t)
        CASE(I32, int32_t)
        CASE(I64, int64_t)
        CASE(U8, uint8_t)
        CASE(U16, uint16_t)
        CASE(U32, uint32_t)
        CASE(U64, uint64_t)
    default:
        return 0;
    }
}

static bool below(dome_type type, int64_t a, int64_t b)
{
    return type == DOME_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

static void put_integer(dome_type type, int64_t value, void *at)
{
    int64_t v = value;
    memcpy(at, (char *)&v + (G_BYTE_ORDER == G_BIG_ENDIAN ? 8 - dome_type_size(type) : 0), dome_type_size(type));
}

static int64_t integers(dome_type type, dome_reduction reduction, int64_t a, int64_t b)
{
    switch (reduction) {
    case DOME_SUM:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case DOME_PROD:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case DOME_MIN:
        return below(type, b, a) ? b : a;
    case DOME_MAX:
        return below(type, a, b) ? b : a;
    case DOME_AND:
        return a && b;
    case DOME_OR:
        return a || b;
    case DOME_BITAND:
        return a & b;
    case DOME_BITOR:
        return a | b;
    default:
        return a ^ b;
    }
}

static double reals(dome_reduction reduction, double a, double b)
{
    if (reduction == DOME_PROD)
        return a * b;
    if (isnan(a) || isnan(b))
        return (double)NAN;
    bool first = a < b || (a == b && signbit(a) > signbit(b));
    return (reduction == DOME_MIN) == first ? a : b;
}

static double part(dome_type type, const void *at, int k)
{
    return type == DOME_F32 || type == DOME_C64 ? (double)((const float *)at)[k] : ((const double *)at)[k];
}

static void put_part(dome_type type, double value, void *at, int k)
{
    if (type == DOME_F32 || type == DOME_C64)
        ((float *)at)[k] = (float)value;
    else
        ((double *)at)[k] = value;
}

static void fold_real(dome_type type, dome_reduction reduction, const char *const *given, int tasks, size_t at, void *out)
{
    const int parts = type == DOME_C64 || type == DOME_C128 ? 2 : 1;
    if (reduction == DOME_SUM) {
        for (int k = 0; k < parts; k++) {
            reference_sum sum = {0};
            for (int r = 0; r < tasks; r++)
                reference_add(&sum, part(type, given[r] + at, k));
            put_part(type, reference_round(&sum), out, k);
        }
        return;
    }
    memcpy(out, given[0] + at, dome_type_size(type));
    if (reduction != DOME_PROD)
        put_part(type, reals(reduction, part(type, out, 0), part(type, out, 0)), out, 0);
    for (int r = 1; r < tasks; r++) {
        double re = part(type, out, 0), x = part(type, given[r] + at, 0);
        if (parts == 1) {
            put_part(type, reals(reduction, re, x), out, 0);
            continue;
        }
        double im = part(type, out, 1), y = part(type, given[r] + at, 1);
        if (type == DOME_C64) {
            put_part(type, (double)((float)re * (float)x - (float)im * (float)y), out, 0);
            put_part(type, (double)((float)re * (float)y + (float)im * (float)x), out, 1);
        } else {
            put_part(type, re * x - im * y, out, 0);
            put_part(type, re * y + im * x, out, 1);
        }
    }
}

/* What the first `tasks` tasks' elements are together. */
static char *fold(dome_type type, dome_reduction reduction, char *const *given, int tasks, uint64_t count)
{
    size_t bytes = dome_type_size(type);
    char *out = g_malloc0(count * bytes + 1);
    for (uint64_t i = 0; i < count; i++) {
        if (is_floating(type)) {
            fold_real(type, reduction, (const char *const *)given, tasks, i * bytes, out + i * bytes);
            continue;
        }
        int64_t value = integer(type, given[0] + i * bytes);
        if (reduction == DOME_AND || reduction == DOME_OR)
            value = value != 0;
        for (int r = 1; r < tasks; r++)
            value = integers(type, reduction, value, integer(type, given[r] + i * bytes));
        put_integer(type, value, out + i * bytes);
    }
    return out;
}

/* NaNs of sums and products differ in their bits from machine to machine before they are combined. */
static bool same_values(dome_type type, const char *a, const char *b, uint64_t count)
{
    const uint64_t parts = type == DOME_C64 || type == DOME_C128 ? 2 : 1;
    if (!is_floating(type))
        return same(type, a, b, count);
    for (uint64_t i = 0; i < count * parts; i++) {
        double x = part(type, a, (int)i), y = part(type, b, (int)i);
        if (isnan(x) ? !isnan(y) : memcmp(&x, &y, sizeof x) != 0)
            return false;
    }
    return true;
}

static char **all_given(dome_type type, uint64_t stream, uint64_t count)
{
    char **given = g_new0(char *, size + 1);
    for (int r = 0; r < size; r++)
        given[r] = make(type, stream + (uint64_t)r, count);
    return given;
}

static void free_given(char **given)
{
    for (int r = 0; r < size; r++)
        g_free(given[r]);
    g_free(given);
}

/* Whether task 0's result of an exclusive scan is what leaves other elements as they are. */
static bool is_neutral(dome_type type, dome_reduction reduction, char *neutral, char *given, uint64_t count)
{
    if (type == DOME_C64 || type == DOME_C128) { /* a product with 1 + 0i is not the factor where that is infinite */
        for (uint64_t i = 0; i < count; i++)
            if (part(type, neutral, (int)(2 * i)) != (reduction == DOME_PROD) || part(type, neutral, (int)(2 * i + 1)) != 0)
                return false;
        return true;
    }
    char *both = fold(type, reduction, (char *[]){neutral, given}, 2, count), *one = fold(type, reduction, &given, 1, count);
    bool right = same_values(type, both, one, count);
    g_free(both);
    g_free(one);
    return right;
}

static void check_reduction(dome_type type, dome_reduction reduction, uint64_t count)
{
    uint64_t stream = draw(1 << 30) * 64;
    int root = (int)draw((uint64_t)size);
    char **given = all_given(type, stream, count), *mine = make(type, stream + (uint64_t)rank, count);
    char *whole = fold(type, reduction, given, size, count), *lower = fold(type, reduction, given, rank + 1, count);
    const char *name = dome_type_name(type);
    dome_allreduce(env, type, mine, count, reduction);
    EXPECT(same_values(type, mine, whole, count), "allreduce %d of %d %s", (int)reduction, (int)count, name);
    memcpy(mine, given[rank], count * dome_type_size(type));
    dome_reduce(env, root, type, mine, count, reduction);
    EXPECT(same_values(type, mine, rank == root ? whole : given[rank], count), "reduce %d of %d %s", (int)reduction, (int)count,
           name);
    memcpy(mine, given[rank], count * dome_type_size(type));
    dome_scan(env, type, mine, count, reduction);
    EXPECT(same_values(type, mine, lower, count), "scan %d of %d %s", (int)reduction, (int)count, name);
    memcpy(mine, given[rank], count * dome_type_size(type));
    dome_exscan(env, type, mine, count, reduction);
    char *below = rank > 0 ? fold(type, reduction, given, rank, count) : NULL;
    EXPECT(below ? same_values(type, mine, below, count) : is_neutral(type, reduction, mine, given[0], count),
           "exscan %d of %d %s", (int)reduction, (int)count, name);
    g_free(below);
    free_given(given);
    g_free(mine);
    g_free(whole);
    g_free(lower);
}

static bool has(dome_type type, dome_reduction reduction)
{
    if (type == types[12])
        return false;
    if (type == DOME_C64 || type == DOME_C128)
        return reduction == DOME_SUM || reduction == DOME_PROD;
    return !is_floating(type) || reduction <= DOME_MAX;
}

static void check_reductions(void)
{
    for (int k = 0; k < 12; k++)
        for (int reduction = 0; reduction < DOME_REDUCTIONS; reduction++)
            if (has(types[k], (dome_reduction)reduction))
                check_reduction(types[k], (dome_reduction)reduction, draw(8) ? draw(40) : 2000 + draw(9000));
}

static void compose(void *ctx, size_t count, void *inout, const void *in)
{
    affine *a = inout;
    const affine *b = in;
    (*(int *)ctx)++;
    for (size_t i = 0; i < count; i++)
        a[i] = (affine){.mark = b[i].mark, .factor = a[i].factor * b[i].factor, .term = a[i].term * b[i].factor + b[i].term};
}

static void check_own_function(uint64_t count)
{
    dome_type type = types[12];
    uint64_t stream = draw(1 << 30) * 64;
    int calls = 0, ignored = 0, root = (int)draw((uint64_t)size);
    char **given = all_given(type, stream, count), *mine = make(type, stream + (uint64_t)rank, count);
    char *whole = make(type, stream, count), *lower = make(type, stream, count), *below = make(type, stream, count);
    for (int r = 1; r < size; r++) {
        compose(&ignored, count, whole, given[r]);
        if (r < rank)
            compose(&ignored, count, below, given[r]);
        if (r <= rank)
            compose(&ignored, count, lower, given[r]);
    }
    dome_allreduce_with(env, type, mine, count, compose, &calls);
    EXPECT(same(type, mine, whole, count), "allreduce_with of %d", (int)count);
    memcpy(mine, given[rank], count * sizeof(affine));
    dome_reduce_with(env, root, type, mine, count, compose, &calls);
    EXPECT(same(type, mine, rank == root ? whole : given[rank], count), "reduce_with of %d", (int)count);
    memcpy(mine, given[rank], count * sizeof(affine));
    dome_scan_with(env, type, mine, count, compose, &calls);
    EXPECT(same(type, mine, lower, count), "scan_with of %d", (int)count);
    memcpy(mine, given[rank], count * sizeof(affine));
    dome_exscan_with(env, type, mine, count, compose, &calls);
    EXPECT(same(type, mine, below, count), "exscan_with of %d", (int)count); /* task 0 keeps its own */
    g_free(below);
    EXPECT(calls > 0 || size == 1 || count < (uint64_t)size, "the function has not been called");
    free_given(given);
    g_free(mine);
    g_free(whole);
    g_free(lower);
}

/* ---- gather, all to all ---- */

static void check_gather(dome_type type, uint64_t most)
{
    uint64_t stream = draw(1 << 30) * 64, count = draw(most);
    int root = (int)draw((uint64_t)size);
    size_t *counts = g_new0(size_t, size), bytes = dome_type_size(type);
    for (int r = 0; r < size; r++)
        counts[r] = draw(3) ? draw(most) : 0;
    char *mine = make(type, stream + (uint64_t)rank, most), *got = g_malloc0(((uint64_t)size * most + 1) * bytes);
    for (int way = 0; way < 4; way++) {
        const bool to_all = way & 1, varies = way & 2;
        memset(got, 0, ((uint64_t)size * most + 1) * bytes);
        if (varies)
            to_all ? dome_allgatherv(env, type, mine, counts, got)
                   : dome_gatherv(env, root, type, mine, counts, rank == root ? got : NULL);
        else
            to_all ? dome_allgather(env, type, mine, count, got)
                   : dome_gather(env, root, type, mine, count, rank == root ? got : NULL);
        const char *at = got;
        for (int r = 0; r < size && (to_all || rank == root); r++) {
            uint64_t n = varies ? counts[r] : count;
            char *theirs = make(type, stream + (uint64_t)r, n);
            EXPECT(same(type, at, theirs, n), "way %d: part of task %d, %d %s", way, r, (int)n, dome_type_name(type));
            at += n * bytes;
            g_free(theirs);
        }
    }
    g_free(counts);
    g_free(mine);
    g_free(got);
}

/* ---- scatter ---- */

static void check_scatter(dome_type type, uint64_t most)
{
    uint64_t stream = draw(1 << 30) * 64, count = draw(most), total = 0;
    int root = (int)draw((uint64_t)size);
    size_t *counts = g_new0(size_t, size), bytes = dome_type_size(type);
    for (int varies = 0; varies < 2; varies++) {
        for (int r = 0; r < size; r++)
            total += counts[r] = varies ? draw(3) ? draw(most) : 0 : count;
        char *all = g_malloc0((total + 1) * bytes), *at = all, *got = g_malloc0((counts[rank] + 1) * bytes);
        for (int r = 0; r < size; at += counts[r++] * bytes) {
            char *theirs = make(type, stream + (uint64_t)r, counts[r]);
            memcpy(at, theirs, counts[r] * bytes);
            g_free(theirs);
        }
        varies ? dome_scatterv(env, root, type, rank == root ? all : NULL, counts, got)
               : dome_scatter(env, root, type, rank == root ? all : NULL, count, got);
        char *wanted = make(type, stream + (uint64_t)rank, counts[rank]);
        EXPECT(same(type, got, wanted, counts[rank]), "scatter from task %d, %d %s", root, (int)counts[rank],
               dome_type_name(type));
        g_free(wanted);
        g_free(all);
        g_free(got);
    }
    g_free(counts);
}

static void check_alltoall(dome_type type, uint64_t most)
{
    uint64_t stream = draw(1 << 24) * 4096, out_total = 0, in_total = 0;
    size_t *out = g_new0(size_t, size), *in = g_new0(size_t, size), bytes = dome_type_size(type);
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            uint64_t n = draw(3) ? draw(most) : 0;
            if (from == rank)
                out_total += out[to] = n;
            if (to == rank)
                in_total += in[from] = n;
        }
    char *send = g_malloc0((out_total + 1) * bytes), *recv = g_malloc0((in_total + 1) * bytes), *at = send;
    for (int to = 0; to < size; to++) {
        char *part = make(type, stream + (uint64_t)(rank * size + to), out[to]);
        memcpy(at, part, out[to] * bytes);
        at += out[to] * bytes;
        g_free(part);
    }
    dome_alltoall(env, type, send, out, recv, in);
    at = recv;
    for (int from = 0; from < size; from++) {
        char *part = make(type, stream + (uint64_t)(from * size + rank), in[from]);
        EXPECT(same(type, at, part, in[from]), "alltoall: %d %s from task %d", (int)in[from], dome_type_name(type), from);
        at += in[from] * bytes;
        g_free(part);
    }
    g_free(out);
    g_free(in);
    g_free(send);
    g_free(recv);
}

/* ---- messages ---- */

typedef struct planned {
    int from, to, tag, type;
    uint64_t stream, count;
    bool received;
    char *data; /* sent, or received */
    dome_request *request;
} planned;

static planned *plan(int n)
{
    planned *list = g_new0(planned, n);
    for (int k = 0; k < n; k++) {
        uint64_t length = draw(20), count = length < 4 ? length : length == 19 ? 20000 + draw(200000) : draw(3000);
        list[k] = (planned){.from = (int)draw((uint64_t)size),
                            .to = (int)draw((uint64_t)size),
                            .tag = (int)draw(3),
                            .type = (int)draw(13),
                            .stream = draw(1 << 30),
                            .count = count};
    }
    return list;
}

static void check_got(planned *m, const dome_received *got)
{
    dome_type type = types[m->type];
    char *expected = make(type, m->stream, m->count);
    EXPECT(got->rank == m->from && got->tag == m->tag && got->count == m->count, "received %d of task %d, tag %d",
           (int)got->count, got->rank, got->tag);
    EXPECT(same(type, m->data, expected, m->count), "%d %s from task %d with tag %d", (int)m->count, dome_type_name(type),
           m->from, m->tag);
    g_free(expected);
    g_free(m->data);
    m->data = NULL;
}

static void receive_one(planned *m)
{
    dome_received got;
    m->data = g_malloc0((m->count + 3) * dome_type_size(types[m->type]));
    dome_recv(env, m->from, m->tag, types[m->type], m->data, m->count + m->stream % 3, &got);
    check_got(m, &got);
}

/* All tasks send first, then each receives, by sender and tag in any order. */
static void check_messages(int n)
{
    planned *list = plan(n);
    for (int k = 0; k < n; k++) {
        planned *m = &list[k];
        if (m->from != rank)
            continue;
        char *data = make(types[m->type], m->stream, m->count);
        dome_send(env, m->to, m->tag, types[m->type], data, m->count);
        g_free(data);
    }
    int first_tag = (int)draw(3);
    for (int t = 0; t < 3; t++)
        for (int from = size - 1; from >= 0; from--)
            for (int k = 0; k < n; k++)
                if (list[k].to == rank && list[k].from == from && list[k].tag == (first_tag + t) % 3)
                    receive_one(&list[k]);
    g_free(list);
}

static void check_requests(int n)
{
    planned *list = plan(n);
    bool early = draw(2);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < n; k++) {
            planned *m = &list[k];
            dome_type type = types[m->type];
            if ((pass == 0) == early && m->to == rank && m->from != rank) {
                m->data = g_malloc0((m->count + 1) * dome_type_size(type));
                m->request = dome_irecv(env, m->from, m->tag, type, m->data, m->count);
            } else if ((pass == 0) != early && m->from == rank && m->to != rank) {
                m->data = make(type, m->stream, m->count);
                m->request = dome_isend(env, m->to, m->tag, type, m->data, m->count);
            }
        }
    bool tests = draw(2), backwards = draw(2);
    for (int i = 0; i < n; i++) {
        planned *m = &list[backwards ? n - 1 - i : i];
        dome_received got;
        if (!m->request)
            continue;
        while (tests && !dome_test(m->request))
            continue;
        dome_wait(m->request, &got);
        if (m->to == rank)
            check_got(m, &got);
        g_free(m->data);
    }
    g_free(list);
}

/* To oneself, and from anybody. */
static void check_special(void)
{
    double x[2] = {rank + 0.5, 7}, y[2] = {0};
    dome_received got;
    dome_send(env, rank, 5, DOME_F64, x, 2);
    dome_recv(env, rank, DOME_ANY_TAG, DOME_F64, y, 2, &got);
    EXPECT(y[0] == x[0] && got.tag == 5 && got.rank == rank, "a message to oneself");
    dome_request *receive = dome_irecv(env, rank, 6, DOME_F64, y, 2), *send = dome_isend(env, rank, 6, DOME_F64, x + 1, 1);
    EXPECT(dome_test(receive) && dome_test(send), "a message to oneself is complete at once");
    dome_wait(send, NULL);
    dome_wait(receive, &got);
    EXPECT(y[0] == 7 && got.count == 1, "a request of oneself");
    if (rank > 0) {
        g_usleep(2000); /* the other waits */
        dome_send(env, 0, rank, DOME_F64, x, 2);
    }
    bool *seen = g_new0(bool, size);
    const dome_clock_entry *clock = dome__clock_entry_of(env, DOME_OP_RECV);
    const uint64_t waited = clock->wait_ns, began = dome__now_ns();
    for (int r = 1; r < size && rank == 0; r++) {
        dome_recv(env, DOME_ANY_RANK, DOME_ANY_TAG, DOME_F64, y, 2, &got);
        EXPECT(y[0] == got.rank + 0.5 && got.tag == got.rank && !seen[got.rank], "from any task: %d", got.rank);
        seen[got.rank] = true;
    }
    g_free(seen);
    EXPECT(clock->wait_ns - waited <= dome__now_ns() - began, "it waited for longer than it took");
    dome_barrier(env); /* a message from any task may be one of the next round */
}

/* Longer than the parts in which data between unlike machines travels; received at once, and after it has been stored. */
static void check_long(void)
{
    enum { LONG = 1200000 };
    int last = size - 1;
    uint64_t stream = draw(1 << 30);
    char *data = make(DOME_F64, stream, LONG), *got = g_malloc0(LONG * sizeof(double));
    if (rank == 0 && size > 1) {
        dome_send(env, last, 1, DOME_F64, data, LONG);
        dome_send(env, last, 2, DOME_F64, data, LONG);
        dome_send(env, last, 3, DOME_F64, data, 1);
    }
    for (int tag = 1; tag <= 3 && rank == last && size > 1; tag++) {
        const int order[] = {1, 3, 2};
        memset(got, 0, LONG * sizeof(double));
        dome_received received;
        dome_recv(env, 0, order[tag - 1], DOME_F64, got, LONG, &received);
        EXPECT(received.count == (tag == 2 ? 1 : LONG) && same(DOME_F64, got, data, received.count), "long: tag %d",
               order[tag - 1]);
    }
    g_free(data);
    g_free(got);
}

/* Long messages to tasks that stand in a barrier: their memory is read while they wait, whenever the message comes. */
static void check_long_to_waiting(int rounds)
{
    enum { LONG = 5000 };
    double *data = g_new(double, LONG);
    for (int i = 0; i < LONG; i++)
        data[i] = rank + i;
    for (int round = 0; round < rounds; round++) {
        int sender = (int)draw((uint64_t)size), to = (sender + 1) % size;
        uint64_t pause = draw(50000), begin = dome__now_ns();
        while (rank == sender && dome__now_ns() - begin < pause)
            continue;
        if (rank == sender && size > 1)
            dome_send(env, to, round, DOME_F64, data, LONG);
        dome_barrier(env);
        if (rank != to || size == 1)
            continue;
        double *got = g_new0(double, LONG);
        dome_recv(env, sender, round, DOME_F64, got, LONG, NULL);
        EXPECT(got[0] == sender && got[LONG - 1] == sender + LONG - 1, "the message that arrived in a barrier, round %d", round);
        g_free(got);
    }
    g_free(data);
}

/* ---- errors ---- */

#define FAILS(call, expected, text)                                                                                              \
    do {                                                                                                                         \
        (void)(call);                                                                                                            \
        EXPECT(dome_error_status(env) == expected && strstr(dome_error_message(env), text), "%s: %s: %s", #call,                 \
               dome_status_name(dome_error_status(env)), dome_error_message(env));                                               \
        dome_error_clear(env);                                                                                                   \
    } while (0)

static void leave(void *ctx, size_t count, void *inout, const void *in)
{
    (void)ctx, (void)count, (void)inout, (void)in;
}

/* More elements than memory can have, as a count below 0 is: before anything is touched or sent. */
static void check_too_many(void)
{
    static const size_t counts[] = {SIZE_MAX / 16 + 1, SIZE_MAX / 8 + 2, SIZE_MAX / 2, SIZE_MAX};
    double x[3] = {1, 2, 3}, y[3] = {0};
    size_t *most = g_new0(size_t, size);
    for (size_t k = 0; k < G_N_ELEMENTS(counts); k++) {
        const size_t n = counts[k];
        char *number = g_strdup_printf("%zu elements of 8 bytes", n);
        FAILS(dome_bcast(env, 0, DOME_F64, x, n), DOME_ERR_ARGUMENT, number);
        FAILS(dome_allreduce(env, DOME_F64, x, n, DOME_SUM), DOME_ERR_ARGUMENT, number);
        FAILS(dome_reduce(env, 0, DOME_F64, x, n, DOME_MIN), DOME_ERR_ARGUMENT, number);
        FAILS(dome_scan(env, DOME_F64, x, n, DOME_PROD), DOME_ERR_ARGUMENT, number);
        FAILS(dome_exscan(env, DOME_F64, x, n, DOME_SUM), DOME_ERR_ARGUMENT, number);
        FAILS(dome_scan_with(env, DOME_F64, x, n, leave, NULL), DOME_ERR_ARGUMENT, number);
        FAILS(dome_gather(env, 0, DOME_F64, x, n, y), DOME_ERR_ARGUMENT, number);
        FAILS(dome_allgather(env, DOME_F64, x, n, y), DOME_ERR_ARGUMENT, number);
        FAILS(dome_scatter(env, 0, DOME_F64, x, n, y), DOME_ERR_ARGUMENT, number);
        FAILS(dome_send(env, rank, 0, DOME_F64, x, n), DOME_ERR_ARGUMENT, number);
        FAILS(dome_recv(env, rank, 0, DOME_F64, x, n, NULL), DOME_ERR_ARGUMENT, number);
        FAILS(dome_isend(env, rank, 0, DOME_F64, x, n), DOME_ERR_ARGUMENT, number);
        FAILS(dome_irecv(env, rank, 0, DOME_F64, x, n), DOME_ERR_ARGUMENT, number);
        most[0] = n;
        FAILS(dome_gatherv(env, 0, DOME_F64, x, most, y), DOME_ERR_ARGUMENT, "the counts add up to more than memory");
        FAILS(dome_scatterv(env, 0, DOME_F64, x, most, y), DOME_ERR_ARGUMENT, "the counts add up to more than memory");
        FAILS(dome_alltoall(env, DOME_F64, x, most, y, most), DOME_ERR_ARGUMENT, "the counts add up to more than memory");
        g_free(number);
    }
    g_free(most);
}

static void check_errors(void)
{
    double x[3] = {1, 2, 3}, y[3] = {0};
    int32_t i[3];
    affine a = {0};
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    dome_set_errors_return(env);
    FAILS(dome_allreduce(env, DOME_F64, x, 3, DOME_BITOR), DOME_ERR_TYPE, "f64 has no DOME_BITOR");
    FAILS(dome_allreduce(env, types[12], &a, 1, DOME_SUM), DOME_ERR_TYPE, "dome_allreduce_with");
    FAILS(dome_allreduce(env, DOME_F64, x, 3, (dome_reduction)77), DOME_ERR_ARGUMENT, "no reduction 77");
    FAILS(dome_reduce(env, size, DOME_F64, x, 3, DOME_SUM), DOME_ERR_ARGUMENT, "there is no task");
    FAILS(dome_gather(env, -1, DOME_F64, x, 3, y), DOME_ERR_ARGUMENT, "there is no task -1");
    FAILS(dome_scan(env, DOME_F64, x, SIZE_MAX / 2, DOME_SUM), DOME_ERR_ARGUMENT, "more than memory");
    FAILS(dome_exscan(env, types[12], &a, 1, DOME_MIN), DOME_ERR_TYPE, "(dome_exscan_with)");
    FAILS(dome_scatter(env, size, DOME_F64, x, 1, y), DOME_ERR_ARGUMENT, "there is no task");
    FAILS(dome_scatter(env, 0, DOME_F64, x, SIZE_MAX / 2, y), DOME_ERR_ARGUMENT, "more than memory");
    FAILS(dome_send(env, size, 0, DOME_F64, x, 1), DOME_ERR_ARGUMENT, "there is no task");
    FAILS(dome_send(env, DOME_ANY_RANK, 0, DOME_F64, x, 1), DOME_ERR_ARGUMENT, "there is no task -1");
    FAILS(dome_recv(env, -2, 0, DOME_F64, x, 1, NULL), DOME_ERR_ARGUMENT, "there is no task -2");
    FAILS(dome_isend(env, next, -1, DOME_F64, x, 1), DOME_ERR_ARGUMENT, "the tag -1 is below 0");
    FAILS(dome_recv(env, rank, 3, DOME_F64, x, 1, NULL), DOME_ERR_STATE, "from itself with tag 3");
    dome_send(env, next, 1, DOME_F64, x, 3);
    FAILS(dome_recv(env, before, 1, DOME_I32, i, 3, NULL), DOME_ERR_TYPE, "elements of f64, and elements of i32");
    FAILS(dome_recv(env, before, 1, DOME_F64, y, 2, NULL), DOME_ERR_SHAPE, "has 3 elements, and there is room for 2");
    FAILS(dome_recv(env, before, 1, types[12], &a, 1, NULL), DOME_ERR_TYPE, "elements of f64, and elements of affine");
    EXPECT(y[0] == 0, "a message that does not fit has been received");
    dome_recv(env, before, 1, DOME_F64, y, 3, NULL); /* it is still there */
    EXPECT(y[0] == 1 && y[2] == 3 && !dome_error_status(env), "the message after two wrong calls");
    dome_request *send = dome_isend(env, next, 2, DOME_F64, x, 3), *receive = dome_irecv(env, before, 2, DOME_F64, y, 1);
    FAILS(dome_wait(receive, NULL), DOME_ERR_SHAPE, "room for 1");
    dome_wait(send, NULL);
    FAILS(dome_wait(send, NULL), DOME_ERR_STATE, "waited for already");
    FAILS(dome_test(receive), DOME_ERR_STATE, "waited for already");
    dome_recv(env, before, 2, DOME_F64, y, 3, NULL);
    dome_request *small = dome_irecv(env, before, 2, DOME_F64, y, 1), *large = dome_irecv(env, before, 2, DOME_F64, y, 3);
    dome_send(env, next, 2, DOME_F64, x, 2);
    dome_send(env, next, 2, DOME_F64, x, 3);
    dome_received got;
    dome_wait(large, &got); /* it gets the message that does not fit the other */
    EXPECT(got.count == 2 && !dome_error_status(env), "the second request got %d elements", (int)got.count);
    FAILS(dome_wait(small, NULL), DOME_ERR_SHAPE, "room for 1");
    dome_recv(env, before, 2, DOME_F64, y, 3, NULL);
    size_t *counts = g_new0(size_t, size), *wrong = g_new0(size_t, size);
    wrong[size - 1] = rank == 0;
    FAILS(dome_alltoall(env, DOME_F64, x, wrong, y, counts), DOME_ERR_MISMATCH, "task 0 sends 1 elements to task");
    g_free(counts);
    g_free(wrong);
    check_too_many();
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    draw_state = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 1995;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    rank = dome_rank(env);
    size = dome_size(env);
    make_types();
    for (round_number = 0; round_number < rounds; round_number++) {
        if (round_number == 1 && size > 1)
            pretend_mixed_formats(env);
        check_reductions();
        check_own_function(draw(60));
        check_own_function(3000 + draw(3000));
        for (int k = 0; k < 13; k++) {
            check_gather(types[k], draw(2) ? 40 : 4000);
            check_scatter(types[k], draw(2) ? 40 : 4000);
            check_alltoall(types[k], draw(2) ? 40 : 4000);
        }
        check_messages(60);
        check_requests(60);
        check_special();
        if (round_number < 2) /* the formats are the same, and are not */
            check_long();
        check_long_to_waiting(200);
    }
    check_errors();
    dome_print(env, "ok comm on %d tasks\n", size);
    int status = dome_finalize(env);
    return status ? 1 : 0;
}
