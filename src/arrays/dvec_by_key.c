/* Reductions by label: sums, numbers, smallest and largest values of the elements that have the same label; and histograms, which
 * count values by the bin they lie in.
 *
 * Sums are formed like dvec_sum's: in double precision and in order within a block, here for each label, and exactly over the
 * blocks. So the bits do not depend on the layout. */
#include "core/type_private.h"
#include "kernels/exact_sum.h"
#include "kernels/kernels.h"
#include "kernels/sort_keys.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A reduction by label. visit gets the labels and the values of each of this task's blocks. */
typedef struct by_label by_label;
typedef void (*visit_block)(by_label *b, const uint64_t *label, const void *values, uint64_t rows);

struct by_label {
    const dvec *x, *labels; /* x: the labels themselves where they are only counted */
    uint64_t k, width;      /* labels; results for each */
    uint64_t bad, is;       /* index of the first label that is not below k, UINT64_MAX: none; the label */
    uint64_t *counts;       /* by label: for counting */
    dome_exact_sum *sums;   /* by label and column: for sums */
    double *part;           /* of one block; of integers the sums of their lower and of their upper 32 bits */
    uint64_t *low;
    int64_t *high;
    uint64_t *stamp, *touched; /* by label: the last block that has it; the labels of this block, and room for one more */
    uint64_t block;
    uint64_t *best; /* by label and column: for extremes, how good the best value is, and what is known */
    bool largest;
};

static void to_doubles(dome_type type, const void *values, uint64_t count, double *to)
{
    const dome_kernel_args args = {.out = to, .in = {values}, .width = 1, .bytes = sizeof *to};
    if (type == DOME_F64)
        memcpy(to, values, (size_t)count * sizeof *to);
    else
        dome__kernel(DOME_OP_DVEC_CONVERT, DOME_F64, type)(&args, count);
}

/* ---- labels ---- */

static int check_labels(const dvec *x, const dvec *labels, uint64_t k, const void *result)
{
    if (!result)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "there is no place for the results");
    int status = dvec__conforms(x, labels, false, false);
    if (status == DOME_OK && dome_type_kind_of(labels->type) > DOME_KIND_U64)
        status = dome__fail(x->env, DOME_ERR_TYPE, "'%s' has type %s, but labels must be of integer type", dvec_name(labels),
                            dome_type_name(labels->type));
    if (status == DOME_OK && labels->width != 1)
        status = dome__fail(x->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but labels must have width 1",
                            dvec_name(labels), labels->width);
    if (status == DOME_OK && !dome__has_keys(x->type))
        status = dome__fail(x->env, DOME_ERR_TYPE, "not defined for values of type %s", dome_type_name(x->type));
    if (status == DOME_OK && k > PTRDIFF_MAX / sizeof(dome_exact_sum) / MAX(x->width, 1))
        status = dome__fail(x->env, DOME_ERR_MEMORY, "%" G_GUINT64_FORMAT " labels are too many", k);
    return status;
}

static uint64_t beyond(uint64_t number, uint64_t limit)
{
    return number > limit ? UINT64_MAX : number;
}

/* Loads labels as unsigned numbers: negative ones become larger than any k. Returns the largest. */
#define LOAD(S, U, LIMIT)                                                                                                        \
    {                                                                                                                            \
        const S *label = (const S *)(const void *)labels->data + at;                                                             \
        U most = 0;                                                                                                              \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            most = MAX(most, (U)label[i]);                                                                                       \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            to[i] = (uint64_t)(int64_t)label[i];                                                                                 \
        return beyond(most, LIMIT);                                                                                              \
    }

static uint64_t load_labels(const dvec *labels, uint64_t at, uint64_t count, uint64_t *restrict to)
{
    switch (dome_type_kind_of(labels->type)) {
    case DOME_KIND_I8:
        LOAD(int8_t, uint8_t, INT8_MAX)
    case DOME_KIND_I16:
        LOAD(int16_t, uint16_t, INT16_MAX)
    case DOME_KIND_I32:
        LOAD(int32_t, uint32_t, INT32_MAX)
    case DOME_KIND_I64:
        LOAD(int64_t, uint64_t, INT64_MAX)
    case DOME_KIND_U8:
        LOAD(uint8_t, uint8_t, UINT8_MAX)
    case DOME_KIND_U16:
        LOAD(uint16_t, uint16_t, UINT16_MAX)
    case DOME_KIND_U32:
        LOAD(uint32_t, uint32_t, UINT32_MAX)
    default:
        LOAD(uint64_t, uint64_t, UINT64_MAX)
    }
}

/* Notes the first label that is not below k, if there is one. */
static void find_beyond(by_label *b, const uint64_t *label, uint64_t rows, uint64_t first)
{
    uint64_t i = 0;
    while (i < rows && label[i] < b->k)
        i++;
    if (i == rows)
        return;
    b->bad = first + i;
    b->is = label[i];
}

/* Calls visit for this task's blocks until one has a label that is too large. Uses room for one block. */
static void visit_blocks(by_label *b, visit_block visit, uint64_t *room)
{
    const dvec *x = b->x;
    const uint64_t block = dome_layout_block_size(x->layout);
    dvec_span spans[2];
    uint64_t at = 0;
    dvec__spans(x, spans);
    for (int s = 0; s < 2; at += spans[s++].count)
        for (uint64_t done = 0, rows; done < spans[s].count && spans[s].first + done < b->bad; done += rows) {
            uint64_t place = (b->labels->distribution == x->distribution ? at : spans[s].first) + done;
            rows = MIN(block, spans[s].count - done);
            if (load_labels(b->labels, place, rows, room) >= b->k)
                find_beyond(b, room, rows, spans[s].first + done);
            b->block++;
            if (b->bad == UINT64_MAX)
                visit(b, room, (const char *)spans[s].data + done * DVEC_ELEMENT(x), rows);
        }
}

/* Reports the first label that is not below k; all tasks know that there is one. */
static int fail_label(const by_label *b, bool alone)
{
    dome_env *env = b->x->env;
    char *text = NULL;
    uint64_t lowest = ~b->bad;
    int status = alone ? DOME_OK : dome__allreduce(env->transport, DOME_U64, &lowest, 1, dome__combine_max_u64, NULL);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    if (lowest == ~b->bad) {
        bool negative = dome_type_kind_of(b->labels->type) <= DOME_KIND_I64 && b->is > INT64_MAX;
        text = g_strdup_printf("label %s%" G_GUINT64_FORMAT " at position %" G_GUINT64_FORMAT
                               " of '%s' is outside 0 ... k - 1 for k = %" G_GUINT64_FORMAT,
                               negative ? "-" : "", negative ? -b->is : b->is, b->bad, dvec_name(b->labels), b->k);
    }
    if (alone)
        status = dome__fail(env, DOME_ERR_RANGE, "%s", text);
    else
        status = dome__agree(env, text ? DOME_ERR_RANGE : DOME_OK, text);
    g_free(text);
    return status;
}

/* Visits this task's blocks and combines the words of all tasks. One word behind the results says whether a label is bad. */
static int reduce_words(by_label *b, visit_block visit, dome_type type, void *words, uint64_t count, dome_combine combine)
{
    const dvec *x = b->x;
    const bool alone = x->distribution == DOME_WHOLE || x->env->size == 1;
    uint64_t *last = (uint64_t *)words + count;
    uint64_t *room = dome__storage_raw(MIN(dome_layout_block_size(x->layout), x->local) * sizeof *room, NULL);
    int status = dvec__agree_memory(x, room || x->local == 0, "the labels");
    if (status != DOME_OK)
        return status;
    b->bad = UINT64_MAX;
    visit_blocks(b, visit, room);
    dome__storage_free(room);
    *last = b->bad != UINT64_MAX;
    for (uint64_t k = 0; b->sums && k < b->k * b->width; k++)
        dome__exact_shorten(&b->sums[k]);
    if (!alone)
        status = dome__allreduce(x->env->transport, type, words, count + 1, combine, NULL);
    if (status != DOME_OK)
        return dome__fail_transport(x->env, status);
    return *last ? fail_label(b, alone) : DOME_OK;
}

/* ---- sums ---- */

/* Sets the sums of the block's labels to 0, and lists these labels: all, if there are few for so many rows. Returns how many that
 * are. */
static uint64_t begin_sums(by_label *b, const uint64_t *label, uint64_t rows)
{
    enum { FEW = 16 };
    uint64_t ntouched = 0;
    if (b->k <= rows / FEW) {
        for (; ntouched < b->k; ntouched++)
            b->touched[ntouched] = ntouched;
    } else {
        for (uint64_t i = 0; i < rows; i++) {
            b->touched[ntouched] = label[i];
            ntouched += b->stamp[label[i]] != b->block;
            b->stamp[label[i]] = b->block;
        }
    }
    for (uint64_t t = 0; t < ntouched; t++)
        for (uint64_t c = b->touched[t] * b->width; c < (b->touched[t] + 1) * b->width; c++) {
            if (b->part) {
                b->part[c] = 0;
            } else {
                b->low[c] = 0;
                b->high[c] = 0;
            }
        }
    return ntouched;
}

/* The functions with this are compiled for usual widths. */
#define FOR_EACH_WIDTH static inline __attribute__((always_inline))

#define BY_WIDTH(function, width, ...)                                                                                           \
    ((width) == 1   ? function(__VA_ARGS__, 1)                                                                                   \
     : (width) == 2 ? function(__VA_ARGS__, 2)                                                                                   \
     : (width) == 3 ? function(__VA_ARGS__, 3)                                                                                   \
     : (width) == 4 ? function(__VA_ARGS__, 4)                                                                                   \
     : (width) == 8 ? function(__VA_ARGS__, 8)                                                                                   \
                    : function(__VA_ARGS__, width))

#define SUM_REAL(T)                                                                                                              \
    FOR_EACH_WIDTH void sum_wide_##T(double *restrict part, const uint64_t *restrict label, const T *restrict v, uint64_t rows,  \
                                     uint64_t width)                                                                             \
    {                                                                                                                            \
        for (uint64_t i = 0; i < rows; i++)                                                                                      \
            for (uint64_t c = 0; c < width; c++)                                                                                 \
                part[label[i] * width + c] += (double)v[i * width + c];                                                          \
    }                                                                                                                            \
    static void sum_##T(const by_label *b, const uint64_t *label, const void *values, uint64_t rows)                             \
    {                                                                                                                            \
        BY_WIDTH(sum_wide_##T, b->width, b->part, label, values, rows);                                                          \
    }

#define SUM_INTEGER(T, wide)                                                                                                     \
    static void sum_##T(const by_label *b, const uint64_t *label, const void *values, uint64_t rows)                             \
    {                                                                                                                            \
        const T *v = values;                                                                                                     \
        for (uint64_t i = 0; i < rows; i++, v += b->width)                                                                       \
            for (uint64_t c = 0; c < b->width; c++) {                                                                            \
                b->low[label[i] * b->width + c] += (uint32_t)v[c];                                                               \
                b->high[label[i] * b->width + c] += (int64_t)((wide)v[c] >> 32);                                                 \
            }                                                                                                                    \
    }

SUM_INTEGER(int8_t, int64_t)
SUM_INTEGER(int16_t, int64_t)
SUM_INTEGER(int32_t, int64_t)
SUM_INTEGER(int64_t, int64_t)
SUM_INTEGER(uint8_t, uint64_t)
SUM_INTEGER(uint16_t, uint64_t)
SUM_INTEGER(uint32_t, uint64_t)
SUM_INTEGER(uint64_t, uint64_t)
SUM_REAL(float)
SUM_REAL(double)

static void sum_block(by_label *b, const uint64_t *label, const void *values, uint64_t rows)
{
    static void (*const sum[])(const by_label *b, const uint64_t *label, const void *values, uint64_t rows) = {
        [DOME_KIND_I8] = sum_int8_t,    [DOME_KIND_I16] = sum_int16_t,  [DOME_KIND_I32] = sum_int32_t,
        [DOME_KIND_I64] = sum_int64_t,  [DOME_KIND_U8] = sum_uint8_t,   [DOME_KIND_U16] = sum_uint16_t,
        [DOME_KIND_U32] = sum_uint32_t, [DOME_KIND_U64] = sum_uint64_t, [DOME_KIND_F32] = sum_float,
        [DOME_KIND_F64] = sum_double};
    const uint64_t ntouched = begin_sums(b, label, rows);
    sum[dome_type_kind_of(b->x->type)](b, label, values, rows);
    for (uint64_t t = 0; t < ntouched; t++)
        for (uint64_t c = b->touched[t] * b->width; c < (b->touched[t] + 1) * b->width; c++) {
            if (b->part) {
                dome__exact_add(&b->sums[c], b->part[c]);
            } else {
                dome__exact_add_u64(&b->sums[c], b->low[c], 0);
                dome__exact_add_i64(&b->sums[c], b->high[c], 1);
            }
        }
}

static int sum_by(by_label *b, double sums[])
{
    const uint64_t results = b->k * b->width, count = results * DOME_EXACT_WORDS;
    const bool real = dome_type_kind_of(b->x->type) >= DOME_KIND_F32;
    int64_t *words = g_try_new(int64_t, count + 1);
    b->part = real ? g_try_new(double, MAX(results, 1)) : NULL;
    b->low = real ? NULL : g_try_new(uint64_t, MAX(results, 1));
    b->high = real ? NULL : g_try_new(int64_t, MAX(results, 1));
    b->stamp = g_try_new0(uint64_t, MAX(b->k, 1));
    b->touched = g_try_new(uint64_t, b->k + 1);
    b->sums = (dome_exact_sum *)(void *)words;
    int status =
        dvec__agree_memory(b->x, words && (b->part || (b->low && b->high)) && b->stamp && b->touched, "the sums by label");
    if (status == DOME_OK) {
        for (uint64_t k = 0; k < results; k++)
            dome__exact_init(&b->sums[k]);
        status = reduce_words(b, sum_block, DOME_I64, words, count, dome__combine_sum_i64);
    }
    for (uint64_t k = 0; k < results && status == DOME_OK; k++) {
        dome__exact_normalize(&b->sums[k]);
        sums[k] = dome__exact_round(&b->sums[k]);
    }
    g_free(words);
    g_free(b->part);
    g_free(b->low);
    g_free(b->high);
    g_free(b->stamp);
    g_free(b->touched);
    return status;
}

/* ---- smallest and largest values ---- */

enum { NO_VALUE, SOME_VALUE, NAN_VALUE }; /* what is known of a label: the larger, the stronger */
enum { BEST, KNOWN, EXTREME_WORDS };

static void best_of_block(by_label *b, const uint64_t *label, const void *values, uint64_t rows)
{
    enum { PIECE = 512 };
    uint64_t keys[PIECE];
    const uint64_t first_nan = dome__nan_key(b->x->type), nvalues = rows * b->width;
    for (uint64_t done = 0, count; done < nvalues; done += count) {
        count = MIN(PIECE, nvalues - done);
        dome__to_keys(b->x->type, (const char *)values + done * DVEC_VALUE(b->x), count, DOME_KEYS_EACH, keys, 1);
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t row = (done + i) / b->width, column = (done + i) % b->width;
            uint64_t *best = b->best + (label[row] * b->width + column) * EXTREME_WORDS;
            best[BEST] = MAX(best[BEST], b->largest ? keys[i] : ~keys[i]);
            best[KNOWN] = MAX(best[KNOWN], first_nan && keys[i] >= first_nan ? NAN_VALUE : SOME_VALUE);
        }
    }
}

static double value_of_key(dome_type type, uint64_t key)
{
    _Alignas(uint64_t) char bits[sizeof(uint64_t)];
    double value;
    dome__from_keys(type, &key, 1, 1, bits);
    to_doubles(type, bits, 1, &value);
    return value;
}

static int extremes_by(by_label *b, double result[])
{
    const uint64_t results = b->k * b->width, count = results * EXTREME_WORDS;
    b->best = g_try_new0(uint64_t, count + 1);
    int status = dvec__agree_memory(b->x, b->best != NULL, "the values by label");
    if (status == DOME_OK)
        status = reduce_words(b, best_of_block, DOME_U64, b->best, count, dome__combine_max_u64);
    for (uint64_t k = 0; k < results && status == DOME_OK; k++) {
        const uint64_t *best = b->best + k * EXTREME_WORDS;
        result[k] = best[KNOWN] == SOME_VALUE ? value_of_key(b->x->type, b->largest ? best[BEST] : ~best[BEST]) : NAN;
    }
    g_free(b->best);
    return status;
}

/* ---- numbers ---- */

static void count_block(by_label *b, const uint64_t *label, const void *values, uint64_t rows)
{
    (void)values;
    for (uint64_t i = 0; i < rows; i++)
        b->counts[label[i]]++;
}

static int count_by(by_label *b, uint64_t counts[])
{
    b->counts = g_try_new0(uint64_t, b->k + 1);
    int status = dvec__agree_memory(b->x, b->counts != NULL, "the numbers by label");
    if (status == DOME_OK)
        status = reduce_words(b, count_block, DOME_I64, b->counts, b->k, dome__combine_sum_i64);
    if (status == DOME_OK && b->k > 0)
        memcpy(counts, b->counts, (size_t)b->k * sizeof *counts);
    g_free(b->counts);
    return status;
}

/* ---- public functions ---- */

static dome_status by_key(dome_operation_code code, const dvec *x, const dvec *labels, uint64_t k, double result[])
{
    if (!x)
        return dvec__null(code, "a vector");
    dome_operation op;
    dome__begin_with(&op, x->env, code, x->object, (uint64_t[]){dvec__id(labels), k}, 2);
    by_label b = {.x = x, .labels = labels, .k = k, .width = x->width, .largest = code == DOME_OP_DVEC_MAX_BY};
    int status = check_labels(x, labels, k, result);
    for (uint64_t j = 0; j < k * x->width && status == DOME_OK; j++)
        result[j] = NAN;
    if (status == DOME_OK)
        status = dvec__settle(x, labels);
    if (status == DOME_OK)
        status = code == DOME_OP_DVEC_SUM_BY ? sum_by(&b, result) : extremes_by(&b, result);
    dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    return dome__end(&op, status);
}

dome_status dvec_sum_by(const dvec *x, const dvec *labels, uint64_t k, double sums[])
{
    return by_key(DOME_OP_DVEC_SUM_BY, x, labels, k, sums);
}

dome_status dvec_min_by(const dvec *x, const dvec *labels, uint64_t k, double smallest[])
{
    return by_key(DOME_OP_DVEC_MIN_BY, x, labels, k, smallest);
}

dome_status dvec_max_by(const dvec *x, const dvec *labels, uint64_t k, double largest[])
{
    return by_key(DOME_OP_DVEC_MAX_BY, x, labels, k, largest);
}

dome_status dvec_count_by(const dvec *labels, uint64_t k, uint64_t counts[])
{
    DOME_NEEDS(labels, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, labels->env, DOME_OP_DVEC_COUNT_BY, labels->object, k);
    by_label b = {.x = labels, .labels = labels, .k = k, .width = 1};
    int status = check_labels(labels, labels, k, counts);
    if (status == DOME_OK)
        status = dvec__settle(labels, NULL);
    if (status == DOME_OK)
        status = count_by(&b, counts);
    dome__count_bytes(&op, labels->local * DVEC_ELEMENT(labels));
    return dome__end(&op, status);
}

/* ---- histograms ---- */

typedef struct histogram {
    const double *edge;
    uint64_t bins, *counts;
    double per_unit; /* bins per unit of the values, for edges at equal distances that are not too close; else 0 */
} histogram;

/* The bin of a value between the first and the last edge. */
static uint64_t bin_of(const histogram *h, double value)
{
    uint64_t low = 0, high = h->bins; /* the bin is one of low ... high - 1 */
    if (h->per_unit > 0) {            /* rounding makes this guess wrong by one at most */
        const double guess = (value - h->edge[0]) * h->per_unit;
        low = guess < (double)h->bins ? (uint64_t)guess : h->bins - 1;
        if (value < h->edge[low])
            low--;
        else if (low + 1 < h->bins && value >= h->edge[low + 1])
            low++;
        return low;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (value < h->edge[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void count_values(histogram *h, const dvec *x)
{
    enum { PIECE = 512 };
    double piece[PIECE];
    const uint64_t nvalues = x->local * x->width;
    for (uint64_t done = 0, count; done < nvalues; done += count) {
        count = MIN(PIECE, nvalues - done);
        to_doubles(x->type, x->data + done * DVEC_VALUE(x), count, piece);
        for (uint64_t i = 0; i < count; i++)
            if (piece[i] >= h->edge[0] && piece[i] <= h->edge[h->bins])
                h->counts[bin_of(h, piece[i])]++;
    }
}

static int check_edges(const dvec *x, const histogram *h, const void *counts)
{
    dome_env *env = x->env;
    if (!h->edge || !counts)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there are no edges, or there is no place for the results");
    if (h->bins == 0)
        return dome__fail(env, DOME_ERR_ARGUMENT, "a histogram needs at least one bin");
    for (uint64_t k = 0; k < h->bins; k++)
        if (!(h->edge[k] <= h->edge[k + 1]))
            return dome__fail(env, DOME_ERR_ARGUMENT, "edge %" G_GUINT64_FORMAT ", %g, is not at least the one before it, %g",
                              k + 1, h->edge[k + 1], h->edge[k]);
    if (!dome__has_keys(x->type))
        return dome__fail(env, DOME_ERR_TYPE, "not defined for values of type %s", dome_type_name(x->type));
    return DOME_OK;
}

static int histogram_of(const dvec *x, histogram *h, uint64_t counts[])
{
    int status = check_edges(x, h, counts);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        h->counts = g_try_new0(uint64_t, h->bins);
        status = dvec__agree_memory(x, h->counts != NULL, "the histogram");
    }
    if (status == DOME_OK) {
        count_values(h, x);
        if (x->distribution != DOME_WHOLE)
            status = dome__allreduce(x->env->transport, DOME_I64, h->counts, h->bins, dome__combine_sum_i64, NULL);
        if (status != DOME_OK)
            status = dome__fail_transport(x->env, status);
        else
            memcpy(counts, h->counts, (size_t)h->bins * sizeof *counts);
    }
    g_free(h->counts);
    return status;
}

dome_status dvec_histogram_edges(const dvec *x, uint64_t bins, const double edges[], uint64_t counts[])
{
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t hash = 0;
    for (uint64_t k = 0; edges && bins > 0 && k <= bins; k++)
        hash = dome__hash_double(hash, edges[k]);
    dome__begin_with(&op, x->env, DOME_OP_DVEC_HISTOGRAM_EDGES, x->object, (uint64_t[]){bins, hash}, 2);
    histogram h = {.edge = edges, .bins = bins};
    return dome__end(&op, histogram_of(x, &h, counts));
}

dome_status dvec_histogram(const dvec *x, uint64_t bins, double low, double high, uint64_t counts[])
{
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_HISTOGRAM, x->object,
                     (uint64_t[]){bins, dome__hash_double(dome__hash_double(0, low), high)}, 2);
    int status = DOME_OK;
    double *edge = NULL;
    if (!(isfinite(low) && isfinite(high) && low < high && isfinite(high - low)))
        status = dome__fail(x->env, DOME_ERR_ARGUMENT,
                            "a histogram from %g to %g: the limits must ascend, and they and their difference must be finite",
                            low, high);
    if (status == DOME_OK) {
        edge = bins < PTRDIFF_MAX / sizeof *edge - 1 ? g_try_new(double, bins + 1) : NULL;
        status = dvec__agree_memory(x, edge != NULL, "the edges");
    }
    if (status == DOME_OK) {
        /* steps of at least this length are much longer than what rounding moves the edges by */
        const double step = (high - low) / (double)bins,
                     long_enough = fmax(DBL_MIN, 64 * DBL_EPSILON * fmax(fabs(low), fabs(high)));
        for (uint64_t k = 0; k < bins; k++)
            edge[k] = fmin(low + (double)k * step, high);
        edge[bins] = high;
        histogram h = {.edge = edge, .bins = bins, .per_unit = step > long_enough ? (double)bins / (high - low) : 0};
        status = histogram_of(x, &h, counts);
    }
    g_free(edge);
    return dome__end(&op, status);
}
