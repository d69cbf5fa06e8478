/* The loops of products for one type of values. dsparse_loops.c includes this file once for each type, with
 *
 *     VALUE                    the type
 *     NAME(f)                  a function's name for it
 *     SET_PRODUCT(z, v, x)     z = v x
 *     ADD(z, v)                z += v
 *
 * where every operation rounds by itself, so that all loops give the same bits. */

static inline __attribute__((always_inline)) void NAME(add_product)(VALUE *z, VALUE v, VALUE x)
{
    VALUE product;
    SET_PRODUCT(product, v, x);
    ADD(*z, product);
}

/* The values of a block: entry k has number k * step. */
static inline const VALUE *NAME(values)(const dsparse_block *b, size_t *step)
{
    *step = !b->uniform;
    return (const VALUE *)(const void *)(b->uniform ? b->same : b->value);
}

/* onward: the sums go on from what y has, and start[0] need not be 0. */
static inline __attribute__((always_inline)) void NAME(rows)(const dsparse_block *b, void *out, const void *in, bool ahead,
                                                             bool uniform, bool onward)
{
    VALUE *restrict y = out;
    const VALUE *restrict x = in, *restrict value = uniform ? (const void *)b->same : b->value;
    const uint32_t *restrict column = b->column, *restrict start = b->start;
    size_t k = onward ? start[0] : 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        VALUE sum = {0};
        if (onward)
            sum = y[i];
        for (size_t end = start[i + 1]; k < end; k++) {
            if (ahead)
                __builtin_prefetch(&x[column[k + DSPARSE_AHEAD]]);
            NAME(add_product)(&sum, value[uniform ? 0 : k], x[column[k]]);
        }
        y[i] = sum;
    }
}

/* y = rows of b times x, whose element for column 0 would lie at x. */
static void NAME(near)(const dsparse_block *b, void *y, const void *x)
{
    if (b->uniform && b->scattered)
        NAME(rows)(b, y, x, true, true, false);
    else if (b->uniform)
        NAME(rows)(b, y, x, false, true, false);
    else if (b->scattered)
        NAME(rows)(b, y, x, true, false, false);
    else
        NAME(rows)(b, y, x, false, false, false);
}

/* y += rows of b times x, for several vectors at once; start[0] need not be 0. */
static void NAME(more)(const dsparse_block *b, void *out, const void *in, uint64_t width)
{
    size_t step;
    const VALUE *value = NAME(values)(b, &step), *x = in;
    VALUE *y = out;
    if (width == 1 && b->uniform)
        NAME(rows)(b, y, x, true, true, true);
    else if (width == 1)
        NAME(rows)(b, y, x, true, false, true);
    for (uint32_t i = 0; width != 1 && i < b->rows; i++, y += width)
        for (uint32_t k = b->start[i]; k < b->start[i + 1]; k++)
            for (uint64_t j = 0; j < width; j++)
                NAME(add_product)(&y[j], value[k * step], x[b->column[k] * width + j]);
}

/* The same where entry k is x[at[k]], or, from `own` on, among the elements fetched. */
static void NAME(far)(const dsparse_block *b, void *out, const void *x, const void *fetched, const uint32_t *at, uint64_t own)
{
    VALUE *restrict y = out;
    size_t step;
    const VALUE *restrict value = NAME(values)(b, &step);
    const uint32_t *restrict start = b->start;
    const VALUE *const base[2] = {
        x, dsparse__column_zero(fetched, own, sizeof(VALUE))}; /* a table, as a branch could not be predicted */
    size_t k = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        VALUE sum = {0};
        for (size_t end = start[i + 1]; k < end; k++) {
            __builtin_prefetch(&base[at[k + DSPARSE_AHEAD] >= own][at[k + DSPARSE_AHEAD]]);
            NAME(add_product)(&sum, value[k * step], base[at[k] >= own][at[k]]);
        }
        y[i] = sum;
    }
}

/* The same for several vectors at once; at: NULL, or as above. */
static void NAME(wide)(const dsparse_block *b, void *out, const void *x, const void *fetched, const dsparse_block_plan *plan,
                       uint64_t own, uint64_t width)
{
    size_t step;
    const VALUE *value = NAME(values)(b, &step);
    VALUE *y = out;
    for (uint32_t i = 0; i < b->rows; i++, y += width) {
        memset(y, 0, (size_t)width * sizeof *y);
        for (uint32_t k = b->start[i]; k < b->start[i + 1]; k++) {
            const uint64_t place = plan->at ? plan->at[k] : b->column[k] - plan->shift;
            const VALUE *from = place < own ? (const VALUE *)x + place * width : (const VALUE *)fetched + (place - own) * width;
            for (uint64_t j = 0; j < width; j++)
                NAME(add_product)(&y[j], value[k * step], from[j]);
        }
    }
}

/* ---- transposed: row i of b has element i of x, and each entry an element of y ---- */

static inline __attribute__((always_inline)) void NAME(scatter_width)(const dsparse_block *b, void *out, const void *in,
                                                                      const dsparse_block_plan *plan, uint64_t own,
                                                                      uint64_t width)
{
    size_t step;
    const VALUE *value = NAME(values)(b, &step), *x = in;
    const uint32_t *at = plan->at, *start = b->start;
    VALUE *y = out;
    for (uint32_t i = 0; i < b->rows; i++, x += width)
        for (uint32_t k = start[i]; k < start[i + 1]; k++) {
            const uint64_t place = at ? at[k] : b->column[k] - plan->shift;
            if (at && place >= own)
                continue;
            for (uint64_t j = 0; j < width; j++)
                NAME(add_product)(&y[place * width + j], value[k * step], x[j]);
        }
}

/* y += the products of the entries whose elements this task owns. */
static void NAME(scatter)(const dsparse_block *b, void *y, const void *x, const dsparse_block_plan *plan, uint64_t own,
                          uint64_t width)
{
    if (width == 1)
        NAME(scatter_width)(b, y, x, plan, own, 1);
    else
        NAME(scatter_width)(b, y, x, plan, own, width);
}

/* Sets the products of the other entries, in the order in which they travel. */
static void NAME(products)(const dsparse_block *b, void *out, const void *in, const dsparse_block_plan *plan, uint64_t own,
                           uint64_t width)
{
    size_t step;
    const VALUE *value = NAME(values)(b, &step), *x = in;
    VALUE *to = out;
    for (uint32_t i = 0; i < b->rows; i++, x += width)
        for (uint32_t k = b->start[i]; k < b->start[i + 1]; k++)
            for (uint64_t j = 0; plan->at[k] >= own && j < width; j++)
                SET_PRODUCT(to[(plan->at[k] - own) * width + j], value[k * step], x[j]);
}

/* y += products from another task. */
static void NAME(add)(void *out, const void *in, const uint64_t *place, uint64_t count, uint64_t width)
{
    const VALUE *product = in;
    VALUE *y = out;
    for (uint64_t k = 0; k < count; k++)
        for (uint64_t j = 0; j < width; j++)
            ADD(y[place[k] * width + j], product[k * width + j]);
}

#undef VALUE
#undef NAME
#undef SET_PRODUCT
#undef ADD
