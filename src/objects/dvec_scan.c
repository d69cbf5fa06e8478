/* Prefix sums. */
#include "kernels/exact_sum.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <string.h>

/* Adds the rows of one block to the sums in order, for `columns` columns; if z is given, each row of it is set to `before` +
 * sums. Floating point is computed in double, integers modulo 2^64. */
typedef void (*scan_kernel)(void *z, const void *x, uint64_t rows, uint64_t width, uint64_t columns, const void *before,
                            void *sums);

#define SCAN_KERNEL(KIND, ctype, suffix, wide)                                                                                   \
    static void scan_##suffix(void *z, const void *x, uint64_t rows, uint64_t width, uint64_t columns, const void *before,       \
                              void *sums)                                                                                        \
    {                                                                                                                            \
        const ctype *from = x;                                                                                                   \
        ctype *to = z;                                                                                                           \
        const wide *p = before;                                                                                                  \
        wide *s = sums;                                                                                                          \
        for (uint64_t i = 0; i < rows; i++) {                                                                                    \
            for (uint64_t c = 0; c < columns; c++) {                                                                             \
                s[c] += (wide)from[i * width + c];                                                                               \
                if (to)                                                                                                          \
                    to[i * width + c] = (ctype)(p[c] + s[c]);                                                                    \
            }                                                                                                                    \
        }                                                                                                                        \
    }
SCAN_KERNEL(I8, int8_t, i8, uint64_t)
SCAN_KERNEL(I16, int16_t, i16, uint64_t)
SCAN_KERNEL(I32, int32_t, i32, uint64_t)
SCAN_KERNEL(I64, int64_t, i64, uint64_t)
SCAN_KERNEL(U8, uint8_t, u8, uint64_t)
SCAN_KERNEL(U16, uint16_t, u16, uint64_t)
SCAN_KERNEL(U32, uint32_t, u32, uint64_t)
SCAN_KERNEL(U64, uint64_t, u64, uint64_t)
SCAN_KERNEL(F32, float, f32, double)
SCAN_KERNEL(F64, double, f64, double)

static const scan_kernel scan_kernels[] = {
    [DOME_KIND_I8] = scan_i8,   [DOME_KIND_I16] = scan_i16, [DOME_KIND_I32] = scan_i32, [DOME_KIND_I64] = scan_i64,
    [DOME_KIND_U8] = scan_u8,   [DOME_KIND_U16] = scan_u16, [DOME_KIND_U32] = scan_u32, [DOME_KIND_U64] = scan_u64,
    [DOME_KIND_F32] = scan_f32, [DOME_KIND_F64] = scan_f64,
};

/* A group of columns for which the blocks are scanned together. Either `exact` or `wrapped` is used, depending on the type. */
enum { SCAN_COLUMNS = 64 };

typedef struct scan {
    const dvec *x;
    dvec *z;
    scan_kernel kernel;
    bool real;
    uint64_t column, columns;
} scan;

typedef struct scan_sum {
    dome_exact_sum exact;
    uint64_t wrapped;
} scan_sum;

static void scan_clear(const scan *s, scan_sum *sums)
{
    for (uint64_t c = 0; c < s->columns; c++) {
        if (s->real)
            dome__exact_init(&sums[c].exact);
        sums[c].wrapped = 0;
    }
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

    for (uint64_t done = 0; done < rows; done += MIN(block, rows - done)) {
        for (uint64_t c = 0; c < s->columns; c++) {
            if (s->real) {
                before.real[c] = to ? dome__exact_round(&sums[c].exact) : 0;
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
                dome__exact_add(&sums[c].exact, in_block.real[c]);
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
    uint64_t *mine = g_new0(uint64_t, each), *all = g_new(uint64_t, (gsize)t->size * each);

    const char *from = s->x->data;
    for (int i = 0; i < nspans; i++) {
        scan_clear(s, sums[i]);
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

    for (int r = 0; r < t->size && status == DOME_OK; r++) {
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
    g_free(mine);
    g_free(all);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(s->x->env, status);
}

static int scan_group(const scan *s)
{
    dvec_span spans[2];
    int nspans = dvec__spans(s->z, spans), status = DOME_OK;
    scan_sum(*sums)[SCAN_COLUMNS] = g_malloc(2 * sizeof *sums);
    bool whole = s->x->distribution == DOME_WHOLE;

    if (!whole)
        status = scan_exchange(s, nspans, spans, sums);
    const char *from = s->x->data;
    for (int i = 0; i < nspans && status == DOME_OK; i++) {
        if (whole) {
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

dome_status dvec_scan(dvec *z, const dvec *x)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SCAN, z->object, dvec__id(x));

    int status = dvec__conforms(z, x, true, true);
    dome_type_kind kind = dome_type_kind_of(z->type);
    if (status == DOME_OK && kind > DOME_KIND_F64)
        status = dome__fail(z->env, DOME_ERR_TYPE, "elements of type %s cannot be scanned", dome_type_name(z->type));
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        dvec__complete(z);
        /* With many tasks the messages would become long, so fewer columns are scanned together. */
        uint64_t columns = (uint64_t)CLAMP(2048 / z->env->transport->size, 1, SCAN_COLUMNS);
        scan s = {.x = x, .z = z, .kernel = scan_kernels[kind], .real = kind >= DOME_KIND_F32};
        for (; s.column < z->width && status == DOME_OK; s.column += s.columns) {
            s.columns = MIN(columns, z->width - s.column);
            status = scan_group(&s);
        }
        dvec__overwritten(z);
    }
    return dome__end(&op, status);
}
