#include "eval/future.h"

#include "kernels/kernels_reduce.h"
#include "transport/agree.h"
#include "transport/ahead.h"

#include <math.h>
#include <string.h>

/* A message of so many is not sent before its receiver takes it. */
enum { MOST_WORDS = (16 << 10) / sizeof(int64_t) };

/* Operations that can be recorded one upon the other before their value is asked for. */
enum { DEEPEST = 64 };

/* The exchange of some reductions. Its words: for each reduction one that says whether a task has failed, then the part. */
typedef struct batch {
    unsigned refs;
    GArray *words;  /* int64_t */
    GArray *places; /* of its reductions */
    dome_ahead *ahead;
} batch;

typedef struct place {
    dome_future_kind kind;
    guint first, count; /* words */
} place;

struct dome_futures {
    batch *open;       /* its exchange has not begun; NULL: none */
    GQueue *under_way; /* batches whose exchange may not be complete */
};

struct dome_future {
    unsigned refs;
    dome_type type;
    bool asked;
    bool settled; /* on all tasks without a message, whether there is a value or not: no reduction that was not asked for stands
                     below */
    bool known;   /* value is set: the program has asked, or a checkpoint needed it before */
    _Alignas(double _Complex) char value[16];

    /* of a reduction, until known */
    dome_future_kind kind;
    dome_type from;
    batch *batch; /* own reference; NULL: `words` has the part of all tasks */
    int64_t *words;
    guint first; /* of its words in the batch */
    dome_failure *failure;

    /* of an operation, until known */
    dome_operation_code code; /* DOME_OP_NONE: a reduction */
    dome_future *in[2];
    double operand;
    unsigned depth;
    char *why; /* why peek found no value */
};

/* ---- batches ---- */

static void batch_unref(batch *b)
{
    if (--b->refs)
        return;
    dome__ahead_free(b->ahead);
    g_array_unref(b->words);
    g_array_unref(b->places);
    g_free(b);
}

static void combine(void *inout, const void *in, uint64_t count, void *ctx)
{
    const batch *b = ctx;
    int64_t *all = inout;
    const int64_t *other = in;
    (void)count;
    for (guint k = 0; k < b->places->len; k++) {
        const place *p = &g_array_index(b->places, place, k);
        int64_t *to = all + p->first;
        const int64_t *from = other + p->first;
        to[0] |= from[0];
        if (p->kind == DOME_FUTURE_EXTREME) {
            dome_extreme best, theirs;
            memcpy(&best, to + 1, sizeof best);
            memcpy(&theirs, from + 1, sizeof theirs);
            dome__extreme_merge(&best, &theirs);
            memcpy(to + 1, &best, sizeof best);
        } else {
            dome__combine_sum_i64(to + 1, from + 1, p->count - 1, NULL);
        }
    }
}

static dome_futures *futures_of(dome_env *env)
{
    if (!env->futures) {
        env->futures = g_new0(dome_futures, 1);
        env->futures->under_way = g_queue_new();
    }
    return env->futures;
}

static batch *open_batch(dome_env *env)
{
    dome_futures *f = futures_of(env);
    if (!f->open) {
        f->open = g_new0(batch, 1);
        f->open->refs = 1;
        f->open->words = g_array_new(FALSE, FALSE, sizeof(int64_t));
        f->open->places = g_array_new(FALSE, FALSE, sizeof(place));
    }
    return f->open;
}

/* Begins the exchange of the open batch. */
static void begin_exchange(dome_env *env)
{
    dome_futures *f = env->futures;
    batch *b = f ? g_steal_pointer(&f->open) : NULL;
    if (!b)
        return;
    b->ahead = dome__ahead_begin(env->transport, DOME_I64, b->words->data, b->words->len, combine, b);
    g_queue_push_tail(f->under_way, b);
}

static void drop_complete(dome_futures *f)
{
    while (f->under_way->length && dome__ahead_complete(((const batch *)g_queue_peek_head(f->under_way))->ahead))
        batch_unref(g_queue_pop_head(f->under_way));
}

void dome__futures_begin(dome_env *env, dome_operation_code code)
{
    dome_futures *f = env->futures;
    const bool close = f->open && !dome__operation_has(code, DOME_OPERATION_BEGINS_LATER);
    if (!close && !f->under_way->length)
        return;
    if (close)
        begin_exchange(env);
    int status = dome__ahead_drive(env->transport);
    if (status != DOME_OK)
        dome__fail_transport(env, status);
    drop_complete(f);
}

static int complete(dome_env *env, const batch *b)
{
    if (b == env->futures->open)
        begin_exchange(env);
    int status = dome__ahead_finish(b->ahead);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    drop_complete(env->futures);
    return status;
}

int dome__futures_complete(dome_env *env)
{
    int status = DOME_OK;
    if (!env->futures)
        return status;
    begin_exchange(env);
    while (status == DOME_OK && env->futures->under_way->length)
        status = complete(env, g_queue_peek_head(env->futures->under_way));
    return status;
}

void dome__futures_free(dome_futures *f)
{
    if (!f)
        return;
    if (f->open)
        batch_unref(f->open);
    g_queue_free_full(f->under_way, (GDestroyNotify)batch_unref);
    g_free(f);
}

/* ---- values ---- */

bool dome__future_put_integer(dome_type type, uint64_t bits, bool is_unsigned, void *value)
{
    const bool negative = !is_unsigned && (int64_t)bits < 0;
    switch (dome_type_kind_of(type)) {
#define PUT_INTEGER(KIND, ctype, least, most)                                                                                    \
    case DOME_KIND_##KIND: {                                                                                                     \
        const ctype x = (ctype)bits;                                                                                             \
        memcpy(value, &x, sizeof x);                                                                                             \
        return negative ? (int64_t)bits >= (least) : bits <= (most);                                                             \
    }
        PUT_INTEGER(I8, int8_t, INT8_MIN, INT8_MAX)
        PUT_INTEGER(I16, int16_t, INT16_MIN, INT16_MAX)
        PUT_INTEGER(I32, int32_t, INT32_MIN, INT32_MAX)
        PUT_INTEGER(I64, int64_t, INT64_MIN, INT64_MAX)
        PUT_INTEGER(U8, uint8_t, 0, UINT8_MAX)
        PUT_INTEGER(U16, uint16_t, 0, UINT16_MAX)
        PUT_INTEGER(U32, uint32_t, 0, UINT32_MAX)
        PUT_INTEGER(U64, uint64_t, 0, UINT64_MAX)
    default:
        return false;
    }
}

void dome__future_put_real(dome_type type, double re, double im, void *value)
{
    const float single[2] = {(float)re, (float)im};
    const double parts[2] = {re, im};
    const bool is_single = dome_type_kind_of(type) == DOME_KIND_F32 || dome_type_kind_of(type) == DOME_KIND_C64;
    if (dome_type_kind_of(type) >= DOME_KIND_F32)
        memcpy(value, is_single ? (const void *)single : parts, dome_type_size(type));
    else
        memset(value, 0, dome_type_size(type));
}

static bool is_integer(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_U64;
}

/* Stores a sum as a value of an integer type; false if it is out of its range. */
static bool put_whole(const dome_exact_sum *sum, dome_type type, void *value)
{
    int64_t whole;
    if (dome__exact_i64(sum, &whole))
        return dome__future_put_integer(type, (uint64_t)whole, false, value);
    dome_exact_sum less = *sum; /* 2^63 ... 2^64 - 1: fits into U64 alone */
    dome__exact_add_i64(&less, INT64_MIN, 0);
    dome__exact_shorten(&less);
    return dome__exact_i64(&less, &whole) && whole >= 0 &&
           dome__future_put_integer(type, (uint64_t)whole + ((uint64_t)1 << 63), true, value);
}

/* Sets the value from the words of all tasks. Returns NULL, or why there is none. */
static char *value_of_words(dome_future *f, const int64_t *words)
{
    dome_exact_sum sums[2];
    dome_extreme best;
    const bool is_complex = dome_type_kind_of(f->from) == DOME_KIND_C64 || dome_type_kind_of(f->from) == DOME_KIND_C128;
    const bool is_unsigned = dome_type_kind_of(f->from) >= DOME_KIND_U8 && dome_type_kind_of(f->from) <= DOME_KIND_U64;
    if (f->kind == DOME_FUTURE_EXTREME) {
        double value;
        memcpy(&best, words, sizeof best);
        memcpy(&value, &best.bits, sizeof value);
        if (is_integer(f->from) && is_integer(f->type))
            return dome__future_put_integer(f->type, best.bits, is_unsigned, f->value)
                       ? NULL
                       : g_strdup_printf("the result does not fit into type %s", dome_type_name(f->type));
        if (is_integer(f->from))
            value = is_unsigned ? (double)best.bits : (double)(int64_t)best.bits;
        dome__future_put_real(f->type, value, 0, f->value);
        return NULL;
    }
    memcpy(sums, words, (is_complex && f->kind == DOME_FUTURE_SUM ? 2 : 1) * sizeof *sums);
    dome__exact_shorten(&sums[0]);
    const double re = dome__exact_round(&sums[0]);
    if (f->kind == DOME_FUTURE_NORM) {
        dome__future_put_real(f->type, sqrt(re), 0, f->value);
    } else if (is_integer(f->type)) {
        if (!put_whole(&sums[0], f->type, f->value))
            return g_strdup_printf("the result, about %.17g, does not fit into type %s", re, dome_type_name(f->type));
    } else {
        if (is_complex)
            dome__exact_shorten(&sums[1]);
        dome__future_put_real(f->type, re, is_complex ? dome__exact_round(&sums[1]) : 0, f->value);
    }
    return NULL;
}

/* ---- futures ---- */

static dome_future *future_new(dome_type type)
{
    dome_future *f = g_new0(dome_future, 1);
    f->refs = 1;
    f->type = type;
    f->code = DOME_OP_NONE;
    return f;
}

/* Frees all but the value. */
static void let_go(dome_future *f)
{
    g_clear_pointer(&f->batch, batch_unref);
    g_clear_pointer(&f->words, g_free);
    g_clear_pointer(&f->why, g_free);
    dome__failure_unref(g_steal_pointer(&f->failure));
    dome__future_unref(g_steal_pointer(&f->in[0]));
    dome__future_unref(g_steal_pointer(&f->in[1]));
    f->depth = 0;
}

dome_future *dome__future_ref(dome_future *f)
{
    f->refs++;
    return f;
}

void dome__future_unref(dome_future *f)
{
    if (!f || --f->refs)
        return;
    let_go(f);
    g_free(f);
}

bool dome__future_is_settled(const dome_future *f)
{
    return f->settled;
}

bool dome__future_is_due(const dome_future *f)
{
    return f->asked || f->depth >= DEEPEST;
}

dome_future *dome__future_of(dome_type type, const void *value)
{
    dome_future *f = future_new(type);
    memcpy(f->value, value, dome_type_size(type));
    f->known = f->asked = f->settled = true;
    return f;
}

dome_future *dome__future_reduce(dome_env *env, const dome_future_part *part)
{
    dome_future *f = future_new(part->type);
    const int64_t failed = part->failure != NULL;
    f->kind = part->kind;
    f->from = part->from;
    f->failure = dome__failure_ref(part->failure);
    if (part->alone) {
        f->words = g_memdup2(part->words, part->count * sizeof *part->words);
        return f;
    }
    if (env->futures && env->futures->open && env->futures->open->words->len + 1 + part->count >= MOST_WORDS)
        begin_exchange(env);
    f->batch = open_batch(env);
    f->batch->refs++;
    f->first = f->batch->words->len;
    const place p = {part->kind, f->first, (guint)part->count + 1};
    g_array_append_val(f->batch->places, p);
    g_array_append_val(f->batch->words, failed);
    g_array_append_vals(f->batch->words, part->words, (guint)part->count);
    return f;
}

/* Sets the value of a reduction. report: a failure is reported; else `why` is set. */
static int know_reduction(dome_env *env, dome_future *f, bool report)
{
    const int64_t *words = f->words;
    bool failed = f->failure != NULL;
    if (f->batch) {
        int status = complete(env, f->batch);
        if (status != DOME_OK)
            return status;
        words = (const int64_t *)dome__ahead_data(f->batch->ahead) + f->first;
        failed = *words++ != 0;
    }
    if (failed && report)
        return f->batch ? dome__failure_agree(env, f->failure) : dome__failure_report(env, f->failure);
    char *why = failed ? g_strdup(f->failure ? f->failure->text : "a value of another task cannot be computed")
                       : value_of_words(f, words);
    if (!why)
        return DOME_OK;
    int status = report ? dome__fail(env, DOME_ERR_RANGE, "%s", why) : DOME_ERR_RANGE;
    g_free(f->why);
    f->why = why;
    return status;
}

static int know(dome_env *env, dome_future *f, bool report);

static int know_operation(dome_env *env, dome_future *f, bool report)
{
    dome_kernel_args args = {.out = f->value, .a = f->operand, .width = 1, .bytes = dome_type_size(f->type)};
    for (int k = 0; k < 2 && f->in[k]; k++) {
        int status = know(env, f->in[k], report);
        if (status != DOME_OK) {
            g_free(f->why);
            f->why = g_strdup(f->in[k]->why);
            return status;
        }
        args.in[k] = f->in[k]->value;
    }
    if (dome__kernel(f->code, f->type, f->type)(&args, 1) == 1)
        return DOME_OK;
    g_free(f->why);
    f->why = g_strdup("an integer is divided by zero");
    return report ? dome__fail(env, DOME_ERR_RANGE, "%s", f->why) : DOME_ERR_RANGE;
}

static int know(dome_env *env, dome_future *f, bool report)
{
    if (f->asked || (f->known && !report))
        return DOME_OK;
    int status = DOME_OK;
    if (!f->known)
        status = f->code == DOME_OP_NONE ? know_reduction(env, f, report) : know_operation(env, f, report);
    f->known = status == DOME_OK;
    if (report) {
        if (status != DOME_OK)
            dome__future_put_real(f->type, NAN, 0, f->value);
        for (int k = 0; k < 2 && f->in[k] && f->known; k++) /* not yet done if the value was known before */
            know(env, f->in[k], true);
        f->known = f->asked = f->settled = true;
        let_go(f);
    }
    return status;
}

int dome__future_ask(dome_env *env, dome_future *f, void *value)
{
    int status = know(env, f, true);
    memcpy(value, f->value, dome_type_size(f->type));
    return status;
}

const char *dome__future_peek(dome_env *env, dome_future *f, void *value)
{
    if (know(env, f, false) != DOME_OK)
        return f->why ? f->why : "it is the result of an exchange that has failed";
    memcpy(value, f->value, dome_type_size(f->type));
    return NULL;
}

dome_future *dome__future_compute(dome_env *env, dome_operation_code code, dome_type type, dome_future *a, dome_future *b,
                                  double value)
{
    dome_future *in[2] = {a, b}, *f = future_new(type);
    f->code = code;
    f->operand = value;
    f->settled = true;
    for (int k = 0; k < 2 && in[k]; k++) {
        f->in[k] = dome__future_ref(in[k]);
        f->depth = MAX(f->depth, in[k]->depth + 1);
        f->settled = f->settled && in[k]->settled;
    }
    if (f->settled && know(env, f, false) == DOME_OK)
        know(env, f, true); /* it reports nothing */
    return f;
}
