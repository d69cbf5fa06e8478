/* Sums of struct types by a function of their own for many values (dome_type_ops.sum), and large elements that need alignment. */
#include "checked.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pair {
    double value;
    int64_t number;
} pair;

static uint64_t calls, summed;

static void pair_add(void *z, const void *x, const void *y, size_t n)
{
    const pair *a = x, *b = y;
    for (size_t k = 0; k < n; k++)
        ((pair *)z)[k] = (pair){a[k].value + b[k].value, a[k].number + b[k].number};
}

static void pair_sum(void *z, const void *x, size_t n)
{
    const pair *a = x;
    pair total = a[0];
    for (size_t k = 1; k < n; k++)
        pair_add(&total, &total, &a[k], 1);
    *(pair *)z = total;
    calls++;
    summed += n;
}

static pair pair_at(uint64_t k)
{
    return (pair){1.0 / (double)(k + 1) * (k % 3 ? 1 : -1e5), (int64_t)k};
}

static dome_type pair_type(const char *name)
{
    const dome_field fields[] = {{"value", DOME_F64, offsetof(pair, value), 1}, {"number", DOME_I64, offsetof(pair, number), 1}};
    return dome_type_struct(env, name, sizeof(pair), fields, 2, sizeof(dome_field));
}

/* Blocks in order, and along the tree: node i of a level is its left half and its right half, if there is one. */
static pair tree(uint64_t n, uint64_t width, uint64_t block, int level, uint64_t i)
{
    const uint64_t begin = (i << level) * block, middle = begin + ((uint64_t)1 << level) / 2 * block;
    pair total = pair_at(begin * width);
    if (level == 0) {
        for (uint64_t k = begin * width + 1; k < n * width && k < (begin + block) * width; k++)
            total = (pair){total.value + pair_at(k).value, total.number + pair_at(k).number};
        return total;
    }
    total = tree(n, width, block, level - 1, 2 * i);
    if (middle < n) {
        const pair right = tree(n, width, block, level - 1, 2 * i + 1);
        pair_add(&total, &total, &right, 1);
    }
    return total;
}

static void test_sums(dome_type type, uint64_t n, uint64_t width)
{
    const dvec_options options = {.size = sizeof options, .width = width};
    dvec *x = dvec_new_with(env, NULL, type, n, &options);
    const uint64_t block = dome_block_size(n);
    int top = 0;
    while (block << top < n)
        top++;
    const pair wanted = tree(n, width, block, top, 0);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        dvec_span spans[2];
        uint64_t blocks = 0, elements = 0;
        relayout(n, block, layout);
        CHECK(dvec_local_spans(x, spans) == DOME_OK);
        for (int s = 0; s < 2; s++) {
            for (uint64_t k = 0; k < spans[s].count * width; k++)
                ((pair *)spans[s].data)[k] = pair_at(spans[s].first * width + k);
            blocks += (spans[s].count + block - 1) / block;
            elements += spans[s].count;
        }
        pair got = {0, 0};
        calls = summed = 0;
        CHECK(dvec_sum_struct(x, &got) == DOME_OK);
        CHECK(got.value == wanted.value && got.number == wanted.number);
        CHECK(calls == blocks && summed == elements * width);
    }
    dvec_free(x);
}

/* ---- large elements ---- */

typedef struct large {
    _Alignas(64) double v[1200];
} large;

static unsigned misaligned;

static void look(const void *p)
{
    misaligned += (uintptr_t)p % 64 != 0;
}

static void large_add(void *z, const void *x, const void *y, size_t n)
{
    look(z), look(x), look(y);
    for (size_t k = 0; k < n * 1200; k++)
        ((double *)z)[k] = ((const double *)x)[k] + ((const double *)y)[k];
}

static void large_scale(void *z, const void *x, double a, size_t n)
{
    look(z), look(x);
    for (size_t k = 0; k < n * 1200; k++)
        ((double *)z)[k] = a * ((const double *)x)[k];
}

static void test_large(void)
{
    const dome_field field = {"v", DOME_F64, 0, 1200};
    dome_type type = dome_type_struct(env, "large", sizeof(large), &field, 1, sizeof(dome_field));
    CHECK(dome_type_set_ops(env, type, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = large_add, .scale = large_scale}) ==
          DOME_OK);
    dvec *x = dvec_new(env, "large x", type, 12), *y = dvec_new_like(x, "large y");
    dvec_span spans[2];
    for (int k = 0; k < 2; k++) {
        CHECK(dvec_local_spans(k ? x : y, spans) == DOME_OK);
        for (int s = 0; s < 2; s++)
            for (uint64_t i = 0; i < spans[s].count * 1200; i++)
                ((double *)spans[s].data)[i] = k + 1;
    }
    large total;
    CHECK(dvec_axpy(y, 2.5, x) == DOME_OK && dvec_sum_struct(y, &total) == DOME_OK);
    CHECK(total.v[0] == 72 && total.v[1199] == 72);
    CHECK(misaligned == 0);
}

int main(int argc, char **argv)
{
    init_unbalanced(argc, argv); /* blocks are counted */
    dome_set_errors_return(env);
    dome_type type = pair_type("pair"), other = pair_type("other pair");
    const dome_type_ops alone = {.size = sizeof alone, .sum = pair_sum},
                        both = {.size = sizeof both, .add = pair_add, .sum = pair_sum};
    CHECK(dome_type_set_ops(env, other, &alone) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "'sum'");
    CHECK(dome_type_set_ops(env, type, &both) == DOME_OK);
    const uint64_t lengths[] = {1, 2, 255, 1000, 3000};
    for (int k = 0; k < 5; k++)
        for (uint64_t width = 1; width < 4; width += 2)
            test_sums(type, lengths[k], width);
    test_large();
    dome_print(env, "struct_sums: %u checks\n", checks);
    return dome_finalize(env);
}
