/* Prefix sums and products. */
#include "kernels/exact_sum.h"
#include "kernels/running.h"
#include "objects/dvec_struct.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <string.h>

/* Combines the rows of one block in order, for `columns` columns, with what is in `sums`; if z is given, each row of it is set to
 * `before` and sums combined. Combined means added, or multiplied. Floating point is computed in double, integers modulo 2^64. */
typedef void (*scan_kernel)(void *z, const void *x, uint64_t rows, uint64_t width, uint64_t columns, const void *before,
                            void *sums);

#define SCAN_KERNEL(NAME, op, ctype, suffix, wide)                                                                               \
    static void NAME##_##suffix(void *z, const void *x, uint64_t rows, uint64_t width, uint64_t columns, const void *before,     \
                                void *sums)                                                                                      \
    {                                                                                                                            \
        const ctype *from = x;                                                                                                   \
        ctype *to = z;                                                                                                           \
        const wide *p = before;                                                                                                  \
        wide *s = sums;                                                                                                          \
        for (uint64_t i = 0; i < rows; i++) {                                                                                    \
            for (uint64_t c = 0; c < columns; c++) {                                                                             \
                s[c] = s[c] op(wide) from[i * width + c];                                                                        \
                if (to)                                                                                                          \
                    to[i * width + c] = (ctype)(p[c] op s[c]);                                                                   \
            }                                                                                                                    \
        }                                                                                                                        \
    }
#define SCAN_KERNELS(NAME, op)                                                                                                   \
    SCAN_KERNEL(NAME, op, int8_t, i8, uint64_t)                                                                                  \
    SCAN_KERNEL(NAME, op, int16_t, i16, uint64_t)                                                                                \
    SCAN_KERNEL(NAME, op, int32_t, i32, uint64_t)                                                                                \
    SCAN_KERNEL(NAME, op, int64_t, i64, uint64_t)                                                                                \
    SCAN_KERNEL(NAME, op, uint8_t, u8, uint64_t)                                                                                 \
    SCAN_KERNEL(NAME, op, uint16_t, u16, uint64_t)                                                                               \
    SCAN_KERNEL(NAME, op, uint32_t, u32, uint64_t)                                                                               \
    SCAN_KERNEL(NAME, op, uint64_t, u64, uint64_t)                                                                               \
    SCAN_KERNEL(NAME, op, float, f32, double)                                                                                    \
    SCAN_KERNEL(NAME, op, double, f64, double)                                                                                   \
    static const scan_kernel NAME##_kernels[] = {                                                                                \
        [DOME_KIND_I8] = NAME##_i8,   [DOME_KIND_I16] = NAME##_i16, [DOME_KIND_I32] = NAME##_i32, [DOME_KIND_I64] = NAME##_i64,  \
        [DOME_KIND_U8] = NAME##_u8,   [DOME_KIND_U16] = NAME##_u16, [DOME_KIND_U32] = NAME##_u32, [DOME_KIND_U64] = NAME##_u64,  \
        [DOME_KIND_F32] = NAME##_f32, [DOME_KIND_F64] = NAME##_f64,                                                              \
    };
SCAN_KERNELS(scan, +)
SCAN_KERNELS(product, *)

/* A group of columns for which the blocks are scanned together. Either `exact` or `wrapped` is used, depending on the type. */
enum { SCAN_COLUMNS = 64 };

typedef struct scan {
    const dvec *x;
    dvec *z;
    scan_kernel kernel;
    const dome_running *running; /* where the vector has one column of floating-point values; else NULL */
    bool real;
    uint64_t column, columns;
} scan;

typedef struct scan_sum {
    dome_exact_sum exact;
    dome_exact_pair pair; /* the same, which is rounded sooner */
    uint64_t wrapped;
} scan_sum;

static void scan_clear(const scan *s, scan_sum *sums)
{
    for (uint64_t c = 0; c < s->columns; c++) {
        if (s->real)
            dome__exact_init(&sums[c].exact);
        sums[c].pair = DOME_EXACT_PAIR_ZERO;
        sums[c].wrapped = 0;
    }
}

static double sum_so_far(const scan_sum *sum)
{
    return sum->pair.exact ? sum->pair.sum + sum->pair.rest : dome__exact_round(&sum->exact);
}

static void add_block(scan_sum *sum, double value)
{
    dome__exact_add(&sum->exact, value);
    dome__exact_pair_add(&sum->pair, value);
}

/* The longest blocks that are scanned side by side: their results stay in the cache until they are complete. */
enum { BESIDE_LONGEST = 1024 };

/* Scans as many full blocks of one column as can be scanned side by side, and returns their rows. */
static uint64_t scan_beside(const scan *s, const char *from, char *to, uint64_t rows, scan_sum *sum)
{
    double room[DOME_BESIDE * BESIDE_LONGEST], last[DOME_BESIDE];
    const uint64_t block = dome_layout_block_size(s->x->layout), element = DVEC_ELEMENT(s->x), group = DOME_BESIDE * block;
    uint64_t done = 0;
    if (!s->running || block > BESIDE_LONGEST)
        return 0;
    for (; rows - done >= group; done += group) {
        double *results = !to ? NULL : element == sizeof(double) ? (double *)(void *)(to + done * element) : room;
        s->running->run(from + done * element, results, block, last);
        for (uint64_t k = 0; k < DOME_BESIDE; k++) {
            if (to)
                s->running->combine(to + (done + k * block) * element, results + k * block, block, sum_so_far(sum));
            add_block(sum, last[k]);
        }
    }
    return done;
}

/* Scans the rows of x from `from` on, block by block, and adds them to the sums; writes z if `to` is given. */
static void scan_rows(const scan *s, const char *from, char *to, uint64_t rows, scan_sum *sums)
{
    union {
        double real[SCAN_COLUMNS];
        uint64_t wrapped[SCAN_COLUMNS];
    } before, in_block;
    uint64_t block = dome_layout_block_size(s->x->layout), element = DVEC_ELEMENT(s->x);
    uint64_t offset = s->column * DVEC_VALUE(s->x);

    for (uint64_t done = scan_beside(s, from, to, rows, sums); done < rows; done += MIN(block, rows - done)) {
        for (uint64_t c = 0; c < s->columns; c++) {
            if (s->real) {
                before.real[c] = to ? sum_so_far(&sums[c]) : 0;
                in_block.real[c] = 0;
            } else {
                before.wrapped[c] = sums[c].wrapped;
                in_block.wrapped[c] = 0;
            }
        }
        s->kernel(to ? to + done * element + offset : NULL, from + done * element + offset, MIN(block, rows - done), s->x->width,
                  s->columns, &before, &in_block);
        for (uint64_t c = 0; c < s->columns; c++) {
            if (s->real)
                add_block(&sums[c], in_block.real[c]);
            else
                sums[c].wrapped += in_block.wrapped[c];
        }
    }
}

/* Computes the sums of all elements before each of this task's spans: every task sends the sums of its own spans. */
static int scan_exchange(const scan *s, int nspans, const dvec_span *spans, scan_sum (*sums)[SCAN_COLUMNS])
{
    dome_transport *t = s->x->env->transport;
    uint64_t words = s->real ? DOME_EXACT_WORDS : 1, each = 2 * s->columns * words;
    uint64_t *mine = g_new0(uint64_t, each), *all = g_new(uint64_t, (gsize)t->group.size * each);

    const char *from = s->x->data;
    for (int i = 0; i < nspans; i++) {
        scan_clear(s, sums[i]);
        if (spans[i].first + spans[i].count < s->x->length) /* else nothing lies behind it */
            scan_rows(s, from, NULL, spans[i].count, sums[i]);
        from += spans[i].count * DVEC_ELEMENT(s->x);
        for (uint64_t c = 0; c < s->columns; c++) {
            uint64_t *to = mine + ((uint64_t)i * s->columns + c) * words;
            if (s->real) {
                dome__exact_normalize(&sums[i][c].exact);
                memcpy(to, &sums[i][c].exact, sizeof sums[i][c].exact);
            } else {
                *to = sums[i][c].wrapped;
            }
        }
        scan_clear(s, sums[i]);
    }
    int status = dome__allgather(t, DOME_U64, mine, each, all);

    for (int r = 0; r < t->group.size && status == DOME_OK; r++) {
        dome_span theirs[2];
        int ntheirs = dvec__spans_of(s->x, r, theirs);
        for (int j = 0; j < ntheirs; j++) {
            for (int i = 0; i < nspans; i++) {
                if (theirs[j].first >= spans[i].first)
                    continue;
                for (uint64_t c = 0; c < s->columns; c++) {
                    const uint64_t *sum = all + (uint64_t)r * each + ((uint64_t)j * s->columns + c) * words;
                    dome_exact_sum exact;
                    if (s->real) {
                        memcpy(&exact, sum, sizeof exact);
                        dome__exact_merge(&sums[i][c].exact, &exact);
                    } else {
                        sums[i][c].wrapped += *sum;
                    }
                }
            }
        }
    }
    for (int i = 0; i < nspans && s->real; i++)
        for (uint64_t c = 0; c < s->columns; c++)
            sums[i][c].pair = dome__exact_pair_of(&sums[i][c].exact);
    g_free(mine);
    g_free(all);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(s->x->env, status);
}

static int scan_group(const scan *s)
{
    dvec_span spans[2];
    int nspans = dvec__spans(s->z, spans), status = DOME_OK;
    scan_sum(*sums)[SCAN_COLUMNS] = g_malloc(2 * sizeof *sums);
    const bool whole = s->x->distribution == DOME_WHOLE, alone = s->x->env->size == 1 && nspans <= 1;

    if (alone)
        scan_clear(s, sums[0]);
    else if (!whole)
        status = scan_exchange(s, nspans, spans, sums);
    const char *from = s->x->data;
    for (int i = 0; i < nspans && status == DOME_OK; i++) {
        if (whole && !alone) {
            scan_clear(s, sums[i]);
            scan_rows(s, s->x->data, NULL, spans[i].first, sums[i]);
            from = s->x->data + spans[i].first * DVEC_ELEMENT(s->x);
        }
        scan_rows(s, from, spans[i].data, spans[i].count, sums[i]);
        from += spans[i].count * DVEC_ELEMENT(s->x);
    }
    g_free(sums);
    return status;
}

static int check_scan(const dvec *z, const dvec *x)
{
    int status = dvec__conforms(z, x, true, true);
    if (status == DOME_OK && dome_type_kind_of(z->type) > DOME_KIND_F64)
        status = dome__fail(z->env, DOME_ERR_TYPE, "elements of type %s cannot be scanned", dome_type_name(z->type));
    return status == DOME_OK ? dvec__settle(x, NULL) : status;
}

dome_status dvec_scan(dvec *z, const dvec *x)
{
    if (!z)
        return dome__null(__func__, "a vector");
    if (dome_type_kind_of(z->type) == DOME_KIND_STRUCT)
        return dvec__struct_scan(z, x);

    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SCAN, z->object, dvec__id(x));

    dome_type_kind kind = dome_type_kind_of(z->type);
    int status = check_scan(z, x);
    if (status == DOME_OK) {
        dvec__complete(z);
        /* With many tasks the messages would become long, so fewer columns are scanned together. */
        uint64_t columns = (uint64_t)CLAMP(2048 / z->env->size, 1, SCAN_COLUMNS);
        scan s = {.x = x,
                  .z = z,
                  .kernel = scan_kernels[kind],
                  .running = z->width == 1 ? dome__running(z->type, false) : NULL,
                  .real = kind >= DOME_KIND_F32};
        for (; s.column < z->width && status == DOME_OK; s.column += s.columns) {
            s.columns = MIN(columns, z->width - s.column);
            status = scan_group(&s);
        }
        dvec__overwritten(z);
    }
    return dome__end(&op, status);
}

/* ---- products ----
 *
 * The product of all blocks before a block is formed from theirs, from left to right, by every task for itself: another order
 * would give other bits, and one number in a block costs a task less than waiting for the tasks before it. */

/* A column's product of some rows: `real` or `wrapped`, depending on the type. */
typedef union product {
    double real;
    uint64_t wrapped;
} product;

static product one(bool real)
{
    return real ? (product){.real = 1} : (product){.wrapped = 1};
}

static const dome_running *running_products(const dvec *x)
{
    return x->width == 1 && dome_layout_block_size(x->layout) <= BESIDE_LONGEST ? dome__running(x->type, true) : NULL;
}

/* Multiplies the rows of each of `blocks` full blocks by themselves; the products are their last results. Returns how many rows
 * that were: as many blocks as can be multiplied side by side. */
static uint64_t multiply_beside(const dvec *x, const char *from, uint64_t rows, product *products)
{
    const dome_running *running = running_products(x);
    const uint64_t block = dome_layout_block_size(x->layout), group = DOME_BESIDE * block;
    uint64_t done = 0;
    for (; running && rows - done >= group; done += group, products += DOME_BESIDE)
        running->run(from + done * DVEC_ELEMENT(x), NULL, block, &products->real);
    return done;
}

/* Multiplies the rows of each block of this task. */
static void multiply_blocks(const dvec *x, bool real, product *products)
{
    const scan_kernel kernel = product_kernels[dome_type_kind_of(x->type)];
    const uint64_t block = dome_layout_block_size(x->layout);
    dvec_span spans[2];
    dvec__spans(x, spans);
    for (int s = 0; s < 2; s++) {
        uint64_t done = multiply_beside(x, spans[s].data, spans[s].count, products);
        for (products += done / block; done < spans[s].count; done += MIN(block, spans[s].count - done), products += x->width) {
            for (uint64_t c = 0; c < x->width; c++)
                products[c] = one(real);
            kernel(NULL, (const char *)spans[s].data + done * DVEC_ELEMENT(x), MIN(block, spans[s].count - done), x->width,
                   x->width, products, products);
        }
    }
}

/* Replaces the products of blocks that follow each other by those of all blocks before each, and `before` by that of all blocks
 * until their end. */
static void multiply_run(bool real, product *products, uint64_t count, uint64_t width, product *before)
{
    for (uint64_t b = 0; b < count; b++, products += width)
        for (uint64_t c = 0; c < width; c++) {
            const product here = products[c];
            products[c] = before[c];
            if (real)
                before[c].real *= here.real;
            else
                before[c].wrapped *= here.wrapped;
        }
}

/* Replaces the products of all blocks, which are in the order of ranks and of their runs, by those of all blocks before each.
 * That order is the vector's but for its beginning: rank 0's first block. before: room for an element. */
static void multiply_before(const dvec *x, bool real, product *products, product *before)
{
    const uint64_t blocks = dome_layout_blocks(x->layout), width = x->width;
    uint64_t first;
    dome_layout_run(x->layout, 0, &first);
    const uint64_t to_end = blocks - first;
    for (uint64_t c = 0; c < width; c++)
        before[c] = one(real);
    multiply_run(real, products + to_end * width, first, width, before);
    multiply_run(real, products, to_end, width, before);
}

/* Sets the rows of z's full blocks to the running products of x's, and these to what lies before each of them: before[k], or,
 * with `so_far`, the product of all blocks before, which is kept there. Returns how many rows that were. */
static uint64_t multiply_rows_beside(char *to, const dvec *x, const char *from, uint64_t rows, const product *before,
                                     product *so_far)
{
    const dome_running *running = running_products(x);
    const uint64_t block = dome_layout_block_size(x->layout), element = DVEC_ELEMENT(x), group = DOME_BESIDE * block;
    double room[DOME_BESIDE * BESIDE_LONGEST], last[DOME_BESIDE];
    uint64_t done = 0;
    for (; running && rows - done >= group; done += group) {
        double *results = element == sizeof(double) ? (double *)(void *)(to + done * element) : room;
        running->run(from + done * element, results, block, last);
        for (uint64_t k = 0; k < DOME_BESIDE; k++) {
            const double here = so_far ? so_far->real : (before++)->real;
            running->combine(to + (done + k * block) * element, results + k * block, block, here);
            if (so_far)
                so_far->real *= last[k];
        }
    }
    return done;
}

/* Multiplies the rows of z's blocks with what lies before them. before: of all of x's blocks in the order of ranks and runs.
 * products: room for an element. */
static void multiply_rows(dvec *z, const dvec *x, bool real, const product *before, product *products)
{
    const scan_kernel kernel = product_kernels[dome_type_kind_of(x->type)];
    const uint64_t block = dome_layout_block_size(x->layout), element = DVEC_ELEMENT(x);
    const bool same = x->distribution == z->distribution;
    dvec_span spans[2];
    uint64_t at = 0;
    dvec__spans(z, spans);
    for (int r = 0; same && x->distribution != DOME_WHOLE && r < x->env->rank; r++)
        before += dome_layout_run(x->layout, r, NULL) * x->width;
    for (int s = 0; s < 2; at += spans[s++].count) {
        const product *first = same ? before : before + spans[s].first / block * x->width;
        const char *begin = x->data + (same ? at : spans[s].first) * element;
        uint64_t done = multiply_rows_beside(spans[s].data, x, begin, spans[s].count, first, NULL);
        for (uint64_t rows; done < spans[s].count; done += rows) {
            const product *mine = first + done / block * x->width;
            rows = MIN(block, spans[s].count - done);
            for (uint64_t c = 0; c < x->width; c++)
                products[c] = one(real);
            kernel((char *)spans[s].data + done * element, begin + done * element, rows, x->width, x->width, mine, products);
        }
        before += same ? (spans[s].count + block - 1) / block * x->width : 0;
    }
}

/* The same in one pass over the values, if this task has all of both vectors, in order. products: room for two elements. */
static bool multiply_alone(dvec *z, const dvec *x, bool real, product *products)
{
    const scan_kernel kernel = product_kernels[dome_type_kind_of(x->type)];
    const uint64_t block = dome_layout_block_size(x->layout), element = DVEC_ELEMENT(x), width = x->width;
    product *before = products + width;
    if (z->distribution != x->distribution || (x->distribution != DOME_WHOLE && x->env->size > 1) ||
        (x->length > 0 && dome_layout_position(x->layout, x->layout_rank, 0) != 0))
        return false;
    for (uint64_t c = 0; c < width; c++)
        before[c] = one(real);
    for (uint64_t rows, done = multiply_rows_beside(z->data, x, x->data, x->length, NULL, before); done < x->length;
         done += rows) {
        rows = MIN(block, x->length - done);
        for (uint64_t c = 0; c < width; c++)
            products[c] = one(real);
        kernel(z->data + done * element, x->data + done * element, rows, width, width, before, products);
        multiply_run(real, products, 1, width, before);
    }
    return true;
}

static int multiply_all(dvec *z, const dvec *x)
{
    dome_transport *t = x->env->transport;
    const bool real = dome_type_kind_of(x->type) >= DOME_KIND_F32, alone = x->distribution == DOME_WHOLE || t->group.size == 1;
    const uint64_t blocks = dome_layout_blocks(x->layout), mine = dome_layout_run(x->layout, x->layout_rank, NULL);
    product *own = g_try_new(product, MAX(mine * x->width, 1)),
            *all = alone ? own : g_try_new(product, MAX(blocks * x->width, 1)),
            *one_more = g_try_new(product, MAX(2 * x->width, 1));
    int status = dvec__agree_memory(x, own && all && one_more, "the products of blocks");
    const bool done = status == DOME_OK && alone && multiply_alone(z, x, real, one_more);
    if (status == DOME_OK && !done) {
        multiply_blocks(x, real, own);
        if (!alone) {
            uint64_t *counts = g_new(uint64_t, (gsize)t->group.size);
            for (int r = 0; r < t->group.size; r++)
                counts[r] = dome_layout_run(x->layout, r, NULL) * x->width;
            status = dome__allgatherv(t, real ? DOME_F64 : DOME_U64, own, counts, all);
            g_free(counts);
        }
        if (status != DOME_OK)
            status = dome__fail_transport(x->env, status);
    }
    if (status == DOME_OK && !done) {
        multiply_before(x, real, all, one_more);
        multiply_rows(z, x, real, all, one_more);
    }
    g_free(one_more);
    if (all != own)
        g_free(all);
    g_free(own);
    return status;
}

dome_status dvec_cumprod(dvec *z, const dvec *x)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_CUMPROD, z->object, dvec__id(x));
    int status = check_scan(z, x);
    if (status == DOME_OK) {
        dvec__complete(z);
        status = multiply_all(z, x);
        dvec__overwritten(z);
    }
    return dome__end(&op, status);
}
