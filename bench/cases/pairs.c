/* Reductions of a pair type of the program: the smallest value and its number, by dvec_reduce with the hand loop as the function
 * for blocks; and the sum of both members, by dvec_sum_struct, of a type with that loop as its `sum` and of one with `add` alone.
 *
 *     pairs [N [SECONDS]]
 *
 *     least.dome, least.hand     the smallest
 *     sum.dome, sum.add, sum.hand         the sum */
#include "case.h"

#include <dome/dome.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct pair {
    double value;
    int64_t number;
} pair;

static pair least(size_t n, const pair *x)
{
    pair best = x[0];
    for (size_t k = 1; k < n; k++)
        if (x[k].value < best.value)
            best = x[k];
    return best;
}

static pair sum(size_t n, const pair *x)
{
    pair total = {0, 0};
    for (size_t k = 0; k < n; k++) {
        total.value += x[k].value;
        total.number += x[k].number;
    }
    return total;
}

static void least_of_block(void *ctx, uint64_t first, size_t count, void *result, const void *x)
{
    (void)ctx, (void)first;
    *(pair *)result = least(count, x);
}

static void less_of_two(void *ctx, void *left, const void *right)
{
    (void)ctx;
    if (((const pair *)right)->value < ((pair *)left)->value)
        *(pair *)left = *(const pair *)right;
}

static void add(void *z, const void *x, const void *y, size_t n)
{
    const pair *a = x, *b = y;
    for (size_t k = 0; k < n; k++)
        ((pair *)z)[k] = (pair){a[k].value + b[k].value, a[k].number + b[k].number};
}

static void sum_into(void *z, const void *x, size_t n)
{
    *(pair *)z = sum(n, x);
}

static dome_type pair_type(dome_env *env, const char *name, bool sums)
{
    const dome_field fields[] = {{"value", DOME_F64, offsetof(pair, value), 1}, {"number", DOME_I64, offsetof(pair, number), 1}};
    dome_type type = dome_type_struct(env, name, sizeof(pair), fields, 2, sizeof(dome_field));
    dome_type_set_ops(env, type, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = add, .sum = sums ? sum_into : NULL});
    return type;
}

static void fill(dvec *x)
{
    dvec_span span[2];
    dvec_local_spans(x, span);
    pair *mine = span[0].data;
    for (size_t k = 0; k < span[0].count; k++)
        mine[k] = (pair){(double)((span[0].first + k) * 7919 % 1000003), (int64_t)k};
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)atof(argv[1]) : 10000000;
    dvec *x = dvec_new(env, "x", pair_type(env, "pair", true), n), *y = dvec_new(env, "y", pair_type(env, "added", false), n);
    dvec_span span[2];
    fill(x);
    fill(y);
    int turns = case_turns(5.0 * (double)n * 2e-9, argc > 2 ? atof(argv[2]) : 1);
    pair result, expected;
    for (int turn = 0; turn < turns; turn++) {
        double begin = case_now();
        dvec_reduce(x, NULL, least_of_block, less_of_two, NULL, &result);
        case_note(&times, "least.dome", turn, case_now() - begin);
        dvec_local_spans_const(x, span);
        begin = case_now();
        expected = least(span[0].count, span[0].data);
        case_note(&times, "least.hand", turn, case_now() - begin);
        if (dome_size(env) == 1 && (result.value != expected.value || result.number != expected.number))
            dome_abort(env, "the smallest is number %lld, not %lld", (long long)expected.number, (long long)result.number);
        begin = case_now();
        dvec_sum_struct(x, &result);
        case_note(&times, "sum.dome", turn, case_now() - begin);
        begin = case_now();
        dvec_sum_struct(y, &result);
        case_note(&times, "sum.add", turn, case_now() - begin);
        dvec_local_spans_const(x, span);
        begin = case_now();
        expected = sum(span[0].count, span[0].data);
        case_note(&times, "sum.hand", turn, case_now() - begin);
        if (dome_size(env) == 1 && (result.value != expected.value || result.number != expected.number))
            dome_abort(env, "the sum is %g, not %g", result.value, expected.value);
    }
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
