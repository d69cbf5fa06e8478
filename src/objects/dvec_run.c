/* The program's own loops over local runs (dome/map.h, dome/loop.h): dvec_map with the loop in the program instead of the
 * library. */
#include "objects/dvec_run_private.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which of two vectors' runs a loop without an output visits: a distributed vector, of the larger width. */
static const dvec *leads(const dvec *lead, const dvec *x)
{
    if (!lead || !x)
        return lead ? lead : x;
    if ((lead->distribution == DOME_WHOLE) != (x->distribution == DOME_WHOLE))
        return lead->distribution == DOME_WHOLE ? x : lead;
    if (lead->distribution == DOME_WHOLE && (lead->length == 1) != (x->length == 1))
        return lead->length == 1 ? x : lead;
    return x->width > lead->width ? x : lead;
}

static int check(run_state *s, dome_type type, int nin, dvec *const in[], bool *repeats)
{
    dome_env *env = s->lead->env;
    if (nin < 0 || nin > DVEC_MAP_MAX || (nin > 0 && !in))
        return dome__fail(env, DOME_ERR_ARGUMENT, "%d inputs: 0 to %d are possible", nin, DVEC_MAP_MAX);
    if (type && s->lead->type != type)
        return dome__fail(env, DOME_ERR_TYPE, "the loop is over values of type %s, but '%s' has elements of type %s",
                          dome_type_name(type), dvec_name(s->lead), dome_type_name(s->lead->type));
    for (int k = 0; k < nin; k++) {
        int status = dvec__conforms_repeated(s->lead, in[k], true, true);
        if (status == DOME_OK)
            status = dvec__settle_read(in[k]);
        if (status != DOME_OK)
            return status;
        s->in[k] = in[k];
        *repeats |= dvec__repeated(s->lead, in[k]);
    }
    s->nin = nin;
    if (s->out)
        dvec__complete(s->out);
    return DOME_OK;
}

/* Ends the operation; a sum is part of it. */
static void finish(run_state *s)
{
    if (!s->open)
        return;
    s->open = false;
    if (s->status == DOME_OK) {
        if (s->out)
            dvec__overwritten(s->out);
        for (uint32_t rest = s->written; rest; rest &= rest - 1) { /* dvec_run_over's caller gave them to be written */
            dvec *x = dome__unconst(s->in[__builtin_ctz(rest)]);
            if (s->overwritten & rest & -rest)
                dvec__overwritten(x);
            else
                dvec__written(x);
        }
        dome__count_bytes(&s->op, s->lead->local * s->bytes);
    }
    dvec__pieces_free(s);
    dome__end(&s->op, s->status);
}

/* The program knows its loop by the name of a macro of map.h. */
static dome_operation_code code_of_map(const dvec *out, unsigned flags)
{
    if (!(flags & DVEC_RUN_IN_MACRO_))
        return DOME_OP_DVEC_RUN_BEGIN;
    if (!(flags & DVEC_RUN_BLOCKS))
        return DOME_OP_LOOP_MAP;
    return out ? DOME_OP_LOOP_MAP_SUM : DOME_OP_LOOP_SUM;
}

/* Begins to visit the runs of the vectors, which have been checked. */
static bool visit(dvec_run *run, run_state *s, unsigned flags)
{
    s->bytes = s->out ? DVEC_ELEMENT(s->out) : 0;
    for (int k = 0; k < s->nin; k++)
        s->bytes += DVEC_ELEMENT(s->in[k]);
    s->waits = flags & DVEC_RUN_BLOCKS || s->sums;
    s->most = flags & DVEC_RUN_BLOCKS ? dome_layout_block_size(s->lead->layout) : UINT64_MAX;
    s->spans = dvec__spans(s->lead, s->at);
    s->op.program = true;
    run->width = (size_t)s->lead->width;
    run->skipped = 0;
    return dvec_run_next(run);
}

bool dvec_run_begin(dvec_run *run, dome_type type, dvec *out, int nin, dvec *const in[], unsigned flags)
{
    DOME_NEEDS(run, "the run", false);
    run_state *s = dvec__run_state(run);
    memset(s, 0, sizeof *s);
    s->status = DOME_ERR_ARGUMENT;
    s->out = out;
    s->lead = out;
    for (int k = 0; !out && k < nin && k < DVEC_MAP_MAX && in; k++)
        s->lead = leads(s->lead, in[k]);
    if (!s->lead) {
        s->status = dome__null(__func__, "a vector");
        return false;
    }
    const dvec *lead = s->lead;
    uint64_t words[1 + DVEC_MAP_MAX];
    dome__begin_with(&s->op, lead->env, code_of_map(out, flags), lead->object, words, dvec__map_words(words, nin, in));
    s->open = true;
    dome__exact_init(&s->sum);
    bool repeats = false;
    s->status = check(s, type, nin, in, &repeats);
    if (s->status == DOME_OK && repeats)
        s->status = dvec__pieces_new(s, flags);
    if (s->status != DOME_OK) {
        finish(s);
        return false;
    }
    return visit(run, s, flags);
}

bool dvec_run_next(dvec_run *run)
{
    DOME_NEEDS(run, "the run", false);
    run_state *s = dvec__run_state(run);
    if (s->pieces) {
        const bool more = dvec__pieces_next(run);
        if (!more && !s->waits)
            finish(s);
        return more;
    }
    while (s->span < s->spans && s->done == s->at[s->span].count) {
        s->place += s->at[s->span].count;
        s->done = 0;
        s->span++;
    }
    if (s->span >= s->spans) {
        if (!s->waits)
            finish(s);
        return false;
    }
    uint64_t place = s->place + s->done, first = s->at[s->span].first + s->done;
    uint64_t count = MIN(s->most, s->at[s->span].count - s->done);
    run->first = first;
    run->count = (size_t)count;
    run->values = (size_t)(count * s->lead->width);
    run->out = s->out ? s->out->data + place * DVEC_ELEMENT(s->out) : NULL;
    for (int k = 0; k < s->nin; k++) {
        uint64_t at = s->in[k]->distribution == s->lead->distribution ? place : first;
        run->at[k] = s->in[k]->data + at * DVEC_ELEMENT(s->in[k]);
        run->in[k] = run->at[k];
    }
    s->done += count;
    return true;
}

void dvec_run_add(dvec_run *run, const double part[DVEC_RUN_PARTS])
{
    DOME_NEEDS(run, "the run", );
    DOME_NEEDS(part, "the list of partial sums", );
    dome__exact_add(&dvec__run_state(run)->sum, dome__fold_parts(part));
}

void dvec_run_add_integers(dvec_run *run, const uint64_t low[DVEC_RUN_PARTS], const int64_t high[DVEC_RUN_PARTS])
{
    DOME_NEEDS(run, "the run", );
    DOME_NEEDS(low && high, "a list of partial sums", );
    dome_exact_sum *sum = &dvec__run_state(run)->sum;
    for (int j = 0; j < DVEC_RUN_PARTS; j++) { /* short blocks leave most of the words 0 */
        if (low[j])
            dome__exact_add_u64(sum, low[j], 0);
        if (high[j])
            dome__exact_add_i64(sum, high[j], 1);
    }
}

/* Adds up the sums of all tasks and rounds them. */
static int combine(const run_state *s, size_t n, dome_exact_sum sum[])
{
    dome_env *env = s->lead->env;
    for (size_t k = 0; k < n; k++)
        dome__exact_shorten(&sum[k]);
    if (s->lead->distribution != DOME_WHOLE && env->size > 1) {
        _Static_assert(sizeof *sum == DOME_EXACT_WORDS * sizeof(int64_t), "a sum is its words");
        int status = dome__allreduce(env->transport, DOME_I64, sum, n * DOME_EXACT_WORDS, dome__combine_sum_i64, NULL);
        if (status != DOME_OK)
            return dome__fail_transport(env, status);
    }
    for (size_t k = 0; k < n; k++)
        dome__exact_normalize(&sum[k]);
    return DOME_OK;
}

double dvec_run_sum(dvec_run *run)
{
    DOME_NEEDS(run, "the run", NAN);
    run_state *s = dvec__run_state(run);
    if (s->status == DOME_OK)
        s->status = combine(s, 1, &s->sum);
    finish(s);
    return s->status == DOME_OK ? dome__exact_round(&s->sum) : NAN;
}

/* ---- loops with operands of several types (dome/loop.h) ---- */

static int check_operand_type(const dvec *x, const dvec_operand *operand)
{
    const dome_type_kind kind = dome_type_kind_of(x->type);
    if (operand->type && x->type != operand->type)
        return dome__fail(x->env, DOME_ERR_TYPE, "the loop takes the values of '%s' for %s, but they are of type %s",
                          dvec_name(x), dome_type_name(operand->type), dome_type_name(x->type));
    if (!operand->type && kind != DOME_KIND_STRUCT && kind != DOME_KIND_C64 && kind != DOME_KIND_C128)
        return dome__fail(x->env, DOME_ERR_TYPE, "the loop takes the values of '%s' for structs, but they are of type %s",
                          dvec_name(x), dome_type_name(x->type));
    if (operand->bytes != DVEC_VALUE(x))
        return dome__fail(x->env, DOME_ERR_TYPE, "the loop takes the values of '%s' for %zu bytes each, but type %s has %zu",
                          dvec_name(x), operand->bytes, dome_type_name(x->type), (size_t)DVEC_VALUE(x));
    return DOME_OK;
}

static int check_operand(const run_state *s, const dvec_operand *operand, bool rows)
{
    const dvec *x = operand->vector;
    int status = operand->access != DVEC_READ ? dvec__conforms(s->lead, x, false, !rows)
                                              : dvec__conforms_repeated(s->lead, x, false, !rows);
    return status == DOME_OK ? check_operand_type(x, operand) : status;
}

/* Checks the operands and notes them; *repeats: some are repeated. */
static int take_operands(run_state *s, size_t n, const dvec_operand operands[], bool rows, bool *repeats)
{
    if (n > DVEC_MAP_MAX)
        return dome__fail(s->lead->env, DOME_ERR_ARGUMENT, "%zu operands: 1 to %d are possible", n, DVEC_MAP_MAX);
    for (size_t k = 0; k < n; k++) {
        int status = check_operand(s, &operands[k], rows);
        if (status != DOME_OK)
            return status;
        s->in[k] = operands[k].vector;
        for (size_t j = 0; j < k; j++)
            if (operands[k].access && operands[j].access && s->in[j] == s->in[k])
                return dome__fail(s->lead->env, DOME_ERR_ARGUMENT, "the loop writes '%s' under two names", dvec_name(s->in[k]));
        s->written |= operands[k].access != DVEC_READ ? 1u << k : 0;
        s->overwritten |= operands[k].access == DVEC_OVERWRITE ? 1u << k : 0;
        *repeats |= dvec__repeated(s->lead, s->in[k]);
    }
    s->nin = (int)n;
    return DOME_OK;
}

/* Values that the loop may write count as read, too, unless it overwrites all of them. */
static int settle_operands(const run_state *s)
{
    int status = DOME_OK;
    for (int k = 0; k < s->nin && status == DOME_OK; k++) {
        if (s->overwritten >> k & 1)
            dvec__complete(s->in[k]);
        else
            status = s->written >> k & 1 ? dvec__settle(s->in[k], NULL) : dvec__settle_read(s->in[k]);
    }
    return status;
}

static const dvec *lead_of(size_t n, const dvec_operand operands[])
{
    const dvec *lead = NULL;
    for (size_t k = 0; operands && k < n; k++)
        if (operands[k].access && operands[k].vector)
            return operands[k].vector;
    for (size_t k = 0; operands && k < n; k++)
        lead = leads(lead, operands[k].vector);
    return lead;
}

/* The name by which the program knows the loop. */
static dome_operation_code code_of(size_t n, const dvec_operand operands[], size_t sums, unsigned flags)
{
    const unsigned kind = (flags & DVEC_RUN_ROWS ? 2 : 0) + (sums > 0);
    if (flags & DVEC_RUN_IN_LOOP_)
        return DOME_OP_LOOP_FOR + kind;
    if (!(flags & DVEC_RUN_IN_FUNCTION_))
        return DOME_OP_DVEC_RUN_OVER;
    return n > 0 && operands && operands[0].access == DVEC_OVERWRITE ? DOME_OP_CXX_MAP + (sums > 0) : DOME_OP_CXX_FOR_EACH + kind;
}

/* Words of a loop on which tasks must agree. */
static size_t words_of(uint64_t words[2 + DVEC_MAP_MAX], size_t n, const dvec_operand operands[], size_t sums, unsigned flags)
{
    size_t count = 2;
    words[0] = flags + ((uint64_t)sums << 40);
    words[1] = n;
    for (size_t k = 0; k < n && k < DVEC_MAP_MAX; k++) {
        words[0] |= (uint64_t)operands[k].access << (8 + 2 * k);
        words[count++] = dvec__id(operands[k].vector);
    }
    return count;
}

bool dvec_run_over(dvec_run *run, size_t n, const dvec_operand operands[], size_t sums, unsigned flags)
{
    DOME_NEEDS(run, "the run", false);
    run_state *s = dvec__run_state(run);
    memset(run, 0, sizeof *run);
    s->status = DOME_ERR_ARGUMENT;
    s->sums = sums;
    s->lead = lead_of(n, operands);
    const dome_operation_code code = code_of(n, operands, sums, flags);
    if (!s->lead) {
        s->status = dvec__null(code, "a vector");
        return false;
    }
    const dvec *lead = s->lead;
    uint64_t words[2 + DVEC_MAP_MAX];
    dome__begin_with(&s->op, lead->env, code, lead->object, words, words_of(words, n, operands, sums, flags));
    s->open = true;
    bool pieces = flags & DVEC_RUN_ROWS || sums > 0;
    s->status = take_operands(s, n, operands, flags & DVEC_RUN_ROWS, &pieces);
    if (s->status == DOME_OK)
        s->status = settle_operands(s);
    if (s->status == DOME_OK && pieces)
        s->status = dvec__pieces_new(s, flags & DVEC_RUN_ROWS);
    if (s->status != DOME_OK) {
        finish(s);
        return false;
    }
    return visit(run, s, flags & DVEC_RUN_ROWS);
}

void dvec_run_sums(dvec_run *run, double sums[])
{
    DOME_NEEDS(run, "the run", );
    DOME_NEEDS(sums, "the place for the sums", );
    run_state *s = dvec__run_state(run);
    dome_exact_sum *sum = s->pieces ? dvec__pieces_sums(s) : NULL;
    if (s->status == DOME_OK)
        s->status = combine(s, s->sums, sum);
    for (size_t k = 0; k < s->sums; k++)
        sums[k] = s->status == DOME_OK ? dome__exact_round(&sum[k]) : NAN;
    finish(s);
}

void dvec_run_end(dvec_run *run)
{
    DOME_NEEDS(run, "the run", );
    const run_state *s = dvec__run_state(run);
    if (!s->open)
        return;
    dome__errors_end(s->lead->env);
    dome__fail(s->lead->env, DOME_ERR_STATE,
               "the program has left the loop before its end: no break, return, goto or exception may lead out of it");
    abort();
}
