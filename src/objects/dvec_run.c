/* The program's own loops over local runs (dome/map.h): dvec_map with the loop in the program instead of the library. */
#include "kernels/kernels_reduce.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/map.h>

#include <math.h>
#include <string.h>

/* The state of a dvec_run between calls; stored in its state_. */
typedef struct run_state {
    dome_operation op;
    const dvec *lead; /* the output, or without one an input; its runs are visited */
    dvec *out;
    const dvec *in[DVEC_MAP_MAX];
    int nin, spans, span;
    uint64_t most;  /* elements in a run */
    uint64_t bytes; /* of an element of all vectors together */
    uint64_t place; /* elements of earlier spans */
    uint64_t done;  /* elements of this span visited, including the current run */
    dvec_span at[2];
    dome_exact_sum sum;
    int status;
    bool open; /* the operation has begun and not ended */
} run_state;

static run_state *state_of(dvec_run *run)
{
    _Static_assert(sizeof(run_state) <= sizeof run->state_, "there is room for the state");
    return (run_state *)(void *)run->state_;
}

static int check(run_state *s, dome_type type, int nin, dvec *const in[])
{
    dome_env *env = s->lead->env;
    if (nin < 0 || nin > DVEC_MAP_MAX || (nin > 0 && !in))
        return dome__fail(env, DOME_ERR_ARGUMENT, "%d inputs: 0 to %d are possible", nin, DVEC_MAP_MAX);
    if (type && s->lead->type != type)
        return dome__fail(env, DOME_ERR_TYPE, "the loop is over values of type %s, but '%s' has elements of type %s",
                          dome_type_name(type), dvec_name(s->lead), dome_type_name(s->lead->type));
    for (int k = 0; k < nin; k++) {
        int status = dvec__conforms(s->lead, in[k], true, true);
        if (status == DOME_OK)
            status = dvec__settle_read(in[k]);
        if (status != DOME_OK)
            return status;
        s->in[k] = in[k];
    }
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
        dome__count_bytes(&s->op, s->lead->local * s->bytes);
    }
    dome__end(&s->op, s->status);
}

/* The program knows its loop by the name of a macro of map.h. */
static dome_operation_code code_of(const dvec *out, unsigned flags)
{
    if (!(flags & DVEC_RUN_IN_MACRO_))
        return DOME_OP_DVEC_RUN_BEGIN;
    if (!(flags & DVEC_RUN_BLOCKS))
        return DOME_OP_LOOP_MAP;
    return out ? DOME_OP_LOOP_MAP_SUM : DOME_OP_LOOP_SUM;
}

bool dvec_run_begin(dvec_run *run, dome_type type, dvec *out, int nin, dvec *const in[], unsigned flags)
{
    DOME_NEEDS(run, "the run", false);
    run_state *s = state_of(run);
    memset(s, 0, sizeof *s);
    s->status = DOME_ERR_ARGUMENT;
    s->out = out;
    s->lead = out;
    for (int k = 0; !s->lead && k < nin && k < DVEC_MAP_MAX && in; k++) /* a distributed vector leads, if there is one */
        if (in[k] && (k == nin - 1 || in[k]->distribution != DOME_WHOLE))
            s->lead = in[k];
    if (!s->lead) {
        s->status = dome__null(__func__, "a vector");
        return false;
    }
    const dvec *lead = s->lead;
    uint64_t words[1 + DVEC_MAP_MAX];
    dome__begin_with(&s->op, lead->env, code_of(out, flags), lead->object, words, dvec__map_words(words, nin, in));
    s->open = true;
    dome__exact_init(&s->sum);
    s->status = check(s, type, nin, in);
    if (s->status != DOME_OK) {
        finish(s);
        return false;
    }
    s->nin = nin;
    s->bytes = out ? DVEC_ELEMENT(out) : 0;
    for (int k = 0; k < nin; k++)
        s->bytes += DVEC_ELEMENT(in[k]);
    s->most = flags & DVEC_RUN_BLOCKS ? dome_layout_block_size(lead->layout) : UINT64_MAX;
    s->spans = dvec__spans(lead, s->at);
    s->op.program = true;
    return dvec_run_next(run);
}

bool dvec_run_next(dvec_run *run)
{
    DOME_NEEDS(run, "the run", false);
    run_state *s = state_of(run);
    while (s->span < s->spans && s->done == s->at[s->span].count) {
        s->place += s->at[s->span].count;
        s->done = 0;
        s->span++;
    }
    if (s->span >= s->spans) {
        if (s->most == UINT64_MAX) /* with a sum the operation has not ended yet */
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
        run->in[k] = s->in[k]->data + at * DVEC_ELEMENT(s->in[k]);
    }
    s->done += count;
    return true;
}

void dvec_run_add(dvec_run *run, const double part[DVEC_RUN_PARTS])
{
    DOME_NEEDS(run, "the run", );
    DOME_NEEDS(part, "the list of partial sums", );
    dome__exact_add(&state_of(run)->sum, dome__fold_parts(part));
}

void dvec_run_add_integers(dvec_run *run, const uint64_t low[DVEC_RUN_PARTS], const int64_t high[DVEC_RUN_PARTS])
{
    DOME_NEEDS(run, "the run", );
    DOME_NEEDS(low && high, "a list of partial sums", );
    dome_exact_sum *sum = &state_of(run)->sum;
    for (int j = 0; j < DVEC_RUN_PARTS; j++) { /* short blocks leave most of the words 0 */
        if (low[j])
            dome__exact_add_u64(sum, low[j], 0);
        if (high[j])
            dome__exact_add_i64(sum, high[j], 1);
    }
}

double dvec_run_sum(dvec_run *run)
{
    DOME_NEEDS(run, "the run", NAN);
    run_state *s = state_of(run);
    if (s->status == DOME_OK) {
        dome_env *env = s->lead->env;
        dome__exact_shorten(&s->sum);
        if (s->lead->distribution != DOME_WHOLE && env->transport->size > 1) {
            int64_t word[DOME_EXACT_WORDS];
            memcpy(word, &s->sum, sizeof word);
            int status = dome__allreduce(env->transport, DOME_I64, word, DOME_EXACT_WORDS, dome__combine_sum_i64, NULL);
            if (status != DOME_OK)
                s->status = dome__fail_transport(env, status);
            memcpy(&s->sum, word, sizeof word);
        }
        dome__exact_normalize(&s->sum);
    }
    finish(s);
    return s->status == DOME_OK ? dome__exact_round(&s->sum) : NAN;
}
