/* overwritten STEPS [DIES]: writes objects of each kind, whole or in parts, calls dome_checkpoint, and overwrites at once what it
 * has just saved, or frees it. Where it goes on from a checkpoint it looks whether each element has the value of that loop
 * boundary. DIES: the task of rank 0, or the only other one, is killed behind the boundary of that step, once. */
#include <dome/dome.h>
#include <dome/region.h>
#include <dome/sparse.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 70000, PARTS = 7, PART = LENGTH / PARTS, PAIRS = 9000, ROWS = 900, JUNK = 1000000 };

typedef struct pair {
    uint8_t tag;
    int32_t values[3];
} pair;

typedef struct state {
    dome_env *env;
    dvec *all, *part, *pairs, *block, *whole, *freed;
    dvec_span block_at[2], whole_at[2]; /* pointers that are kept for longer than they are good for */
    dsparse *matrix;
    dome_region *region, *some;
    dscalar *step;
} state;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* What element i gets in a step. */
static int32_t value(uint64_t step, uint64_t i)
{
    return (int32_t)(mix(step * JUNK * 8 + i) >> 34);
}

/* What an element of which a step writes a part has behind it: the parts take turns. */
static int32_t value_in_parts(uint64_t step, uint64_t i)
{
    const uint64_t ago = (step + PARTS - i / PART % PARTS) % PARTS;
    return step > ago ? value(step - ago, i) : 0;
}

static pair pair_of(uint64_t step, uint64_t i)
{
    pair p = {.tag = (uint8_t)value(step, i)};
    for (int d = 0; d < 3; d++)
        p.values[d] = value(step, 3 * i + (uint64_t)d);
    return p;
}

/* ---- objects ---- */

static state make(dome_env *env)
{
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(pair, tag), 1}, {"values", DOME_I32, offsetof(pair, values), 3}};
    state s = {.env = env};
    s.all = dvec_new(env, "all", DOME_F64, LENGTH);
    s.part = dvec_new(env, "part", DOME_F64, LENGTH);
    s.pairs = dvec_new(env, "pairs", dome_type_struct(env, "pair", sizeof(pair), fields, 2, sizeof(dome_field)), PAIRS);
    s.block = dvec_new_with(env, "block", DOME_F64, LENGTH, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    s.whole = dvec_new_with(env, "whole", DOME_F64, LENGTH, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    s.freed = dvec_new(env, "freed", DOME_F64, LENGTH);
    dvec_local_spans(s.block, s.block_at);
    dvec_local_spans(s.whole, s.whole_at);
    s.matrix = dsparse_new(env, "matrix", ROWS, ROWS);
    s.region = dome_region_new(env, "region", DOME_I32, LENGTH, NULL);
    s.some = dome_region_new(env, "some", DOME_I32, LENGTH, NULL);
    s.step = dscalar_new(env, "step", DOME_I64);
    return s;
}

static void fill(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)in;
    for (size_t i = 0; i < count; i++)
        ((double *)out)[i] = value(*(const uint64_t *)ctx, first + i);
}

static void fill_pairs(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)in;
    for (size_t i = 0; i < count; i++)
        ((pair *)out)[i] = pair_of(*(const uint64_t *)ctx, first + i);
}

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    dsparse_row_add(row, index, value(*(const uint64_t *)ctx, index));
    if (index > 0)
        dsparse_row_add(row, index / 2, value(*(const uint64_t *)ctx, ROWS + index));
}

static void write_spans(const dvec_span spans[2], uint64_t step)
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count; i++)
            ((double *)spans[s].data)[i] = value(step, spans[s].first + i);
}

/* Each task writes elements that another task owns. */
static void write_region(const state *s, dome_region *region, uint64_t first, uint64_t count, uint64_t step)
{
    int32_t *data = dome_region_data(region);
    for (uint64_t i = first; i < first + count; i++)
        if (i / 256 % (uint64_t)dome_size(s->env) == (uint64_t)dome_rank(s->env))
            data[i] = value(step, i);
}

/* Of all elements: what belongs to a step, or junk. */
static void write_all(const state *s, uint64_t step)
{
    dvec_map(s->all, fill, &step, 0, NULL);
    dvec_map(s->pairs, fill_pairs, &step, 0, NULL);
    write_spans(s->block_at, step);
    write_spans(s->whole_at, step);
    dsparse_fill_rows(s->matrix, fill_row, &step);
    dome_barrier(s->env); /* another task may have written elements of the region before */
    write_region(s, s->region, 0, LENGTH, step);
}

static void write_part(const state *s, uint64_t step)
{
    const uint64_t first = step % PARTS * PART;
    dvec *at = dvec_new(s->env, NULL, DOME_I64, PART), *values = dvec_new(s->env, NULL, DOME_F64, PART);
    dvec_iota(at);
    dvec_adds(at, at, (double)first);
    dvec_map(values, fill, &(uint64_t){step}, 0, NULL);
    dvec_scatter(s->part, values, at);
    dvec_free(values);
    dvec_free(at);
    write_region(s, s->some, first, PART, step);
}

/* ---- what a checkpoint has ---- */

static int wrong;

static void expect(const char *what, uint64_t i, double is, double wanted)
{
    if (is != wanted && wrong++ < 5)
        fprintf(stderr, "%s: element %" PRIu64 " is %g, not %g\n", what, i, is, wanted);
}

static void check_vector(dvec *x, uint64_t step)
{
    dvec_span spans[2];
    dvec_local_spans_const(x, spans);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count; i++)
            expect(dvec_name(x), spans[s].first + i, ((const double *)spans[s].data)[i], value(step, spans[s].first + i));
}

static void check_part(const state *s, uint64_t step)
{
    dvec_span spans[2];
    dvec_local_spans_const(s->part, spans);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < spans[k].count; i++) {
            const uint64_t e = spans[k].first + i, ago = (step + PARTS - e / PART) % PARTS;
            const double wanted = step > ago ? value(step - ago, e % PART) : 0;
            expect("part", e, ((const double *)spans[k].data)[i], wanted);
        }
}

static void check_pairs(const state *s, uint64_t step)
{
    dvec_span spans[2];
    dvec_local_spans_const(s->pairs, spans);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < spans[k].count; i++) {
            const pair wanted = pair_of(step, spans[k].first + i), *is = (const pair *)spans[k].data + i;
            expect("pairs: tag", spans[k].first + i, is->tag, wanted.tag);
            for (int d = 0; d < 3; d++)
                expect("pairs: values", spans[k].first + i, is->values[d], wanted.values[d]);
        }
}

static void check_matrix(const state *s, uint64_t step)
{
    dvec *ones = dvec_new(s->env, NULL, DOME_F64, ROWS), *sums = dvec_new(s->env, NULL, DOME_F64, ROWS);
    dvec_fill(ones, 1);
    dsparse_multiply(sums, s->matrix, ones);
    const double *sum = dvec_allgather(sums);
    for (uint64_t i = 0; i < ROWS; i++)
        expect("matrix: row", i, sum[i], (double)value(step, i) + (i > 0 ? value(step, ROWS + i) : 0));
    dvec_free(sums);
    dvec_free(ones);
}

static void check(const state *s, uint64_t step)
{
    dvec *const whole[] = {s->all, s->block, s->whole, s->freed};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        check_vector(whole[k], step);
    check_part(s, step);
    check_pairs(s, step);
    check_matrix(s, step);
    const int32_t *region = dome_region_data(s->region), *some = dome_region_data(s->some);
    for (uint64_t i = 0; i < LENGTH; i++) {
        expect("region", i, region[i], value(step, i));
        expect("some", i, some[i], value_in_parts(step, i));
    }
    dome_barrier(s->env);
}

/* ---- the program ---- */

/* A new vector probably gets the memory of the freed one. */
static void free_and_reuse(state *s)
{
    dvec_free(s->freed);
    dvec *junk = dvec_new(s->env, NULL, DOME_F64, LENGTH);
    dvec_fill(junk, -1);
    dvec_sum(junk);
    dvec_free(junk);
}

static void do_step(state *s, uint64_t step, uint64_t dies)
{
    write_all(s, step);
    write_part(s, step);
    if (!s->freed)
        s->freed = dvec_new(s->env, "freed", DOME_F64, LENGTH);
    dvec_map(s->freed, fill, &step, 0, NULL);
    dscalar_set_i64(s->step, (int64_t)step);
    dome_checkpoint(s->env);
    write_all(s, step + JUNK);
    dscalar_set_i64(s->step, -1);
    free_and_reuse(s);
    s->freed = NULL;
    if (step == dies && dome_rank(s->env) == dome_size(s->env) - 1)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 3;
    uint64_t dies = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    state s = make(env);
    const uint64_t from = (uint64_t)dscalar_get_i64(s.step);
    if (dome_is_restarting(env))
        check(&s, from);
    dies = dome_is_restarting(env) ? 0 : dies;
    dome_print(env, "from %s\n", dome_is_restarting(env) ? "a checkpoint" : "the beginning");
    for (uint64_t step = from + 1; step <= steps; step++)
        do_step(&s, step, dies);
    const int status = dome_finalize(env);
    return wrong ? 1 : status;
}
