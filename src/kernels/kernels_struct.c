/* Kernels for struct types: calls of the functions that the program has given to the type (dome_type_set_ops). */
#include "kernels/kernels_struct.h"

#include "core/operation.h"
#include "core/type_private.h"
#include "kernels/elementwise.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64, PIECE_BYTES = 8192 };

#define DIRECT_BINARY(name)                                                                                                      \
    static uint64_t struct_##name(const dome_kernel_args *args, uint64_t count)                                                  \
    {                                                                                                                            \
        args->ops->name(args->out, args->in[0], args->in[1], count);                                                             \
        return count;                                                                                                            \
    }
DIRECT_BINARY(add)
DIRECT_BINARY(sub)
DIRECT_BINARY(mul)
DIRECT_BINARY(div)
DIRECT_BINARY(equal)
#undef DIRECT_BINARY

static uint64_t struct_neg(const dome_kernel_args *args, uint64_t count)
{
    args->ops->neg(args->out, args->in[0], count);
    return count;
}

static uint64_t struct_scale(const dome_kernel_args *args, uint64_t count)
{
    args->ops->scale(args->out, args->in[0], args->a, count);
    return count;
}

/* Room for one large value; memory of g_malloc is aligned for basic types only. */
static void *large_value(size_t bytes)
{
    enum { ALIGNMENT = 64 };
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, bytes))
        g_error("no memory for a value of %zu bytes", bytes);
    return memory;
}

/* The output holds y already (DOME_ACCUMULATES). */
static uint64_t struct_axpy(const dome_kernel_args *args, uint64_t count)
{
    _Alignas(64) char piece[PIECE_BYTES];
    const uint64_t fit = PIECE_BYTES / args->bytes, most = fit ? fit : 1;
    char *product = fit ? piece : large_value(args->bytes), *y = args->out;
    for (uint64_t done = 0, n; done < count; done += n) {
        n = MIN(most, count - done);
        args->ops->scale(product, (const char *)args->in[0] + done * args->bytes, args->a, n);
        args->ops->add(y + done * args->bytes, y + done * args->bytes, product, n);
    }
    if (!fit)
        free(product);
    return count;
}

static uint64_t struct_less(const dome_kernel_args *args, uint64_t count)
{
    args->ops->less(args->out, args->in[0], args->in[1], count);
    return count;
}

static uint64_t struct_greater(const dome_kernel_args *args, uint64_t count)
{
    args->ops->less(args->out, args->in[1], args->in[0], count);
    return count;
}

static uint64_t negated(const dome_kernel_args *args, uint64_t count)
{
    uint8_t *mask = args->out;
    for (uint64_t k = 0; k < count; k++)
        mask[k] = !mask[k];
    return count;
}

static uint64_t struct_greater_equal(const dome_kernel_args *args, uint64_t count)
{
    struct_less(args, count);
    return negated(args, count);
}

static uint64_t struct_less_equal(const dome_kernel_args *args, uint64_t count)
{
    struct_greater(args, count);
    return negated(args, count);
}

static uint64_t struct_not_equal(const dome_kernel_args *args, uint64_t count)
{
    struct_equal(args, count);
    return negated(args, count);
}

/* z = x where x comes before y in the order, else y. */
static uint64_t choose(const dome_kernel_args *args, uint64_t count, bool largest)
{
    const size_t bytes = args->bytes;
    char *out = args->out;
    for (uint64_t done = 0, n; done < count; done += n) {
        uint8_t take[PIECE];
        const char *x = (const char *)args->in[0] + done * bytes, *y = (const char *)args->in[1] + done * bytes;
        n = MIN(PIECE, count - done);
        args->ops->less(take, largest ? y : x, largest ? x : y, n);
        for (uint64_t k = 0; k < n; k++) {
            const char *from = (take[k] ? x : y) + k * bytes;
            if (from != out + (done + k) * bytes)
                memcpy(out + (done + k) * bytes, from, bytes);
        }
    }
    return count;
}

static uint64_t struct_min(const dome_kernel_args *args, uint64_t count)
{
    return choose(args, count, false);
}

static uint64_t struct_max(const dome_kernel_args *args, uint64_t count)
{
    return choose(args, count, true);
}

static uint64_t struct_from_f64(const dome_kernel_args *args, uint64_t count)
{
    args->ops->from_f64(args->out, args->in[0], count);
    return count;
}

static uint64_t struct_to_f64(const dome_kernel_args *args, uint64_t count)
{
    args->ops->to_f64(args->out, args->in[0], count);
    return count;
}

static uint64_t struct_fill(const dome_kernel_args *args, uint64_t count)
{
    double value[PIECE];
    for (int k = 0; k < PIECE; k++)
        value[k] = args->a;
    for (uint64_t done = 0, n; done < count; done += n) {
        n = MIN(PIECE, count - done);
        args->ops->from_f64((char *)args->out + done * args->bytes, value, n);
    }
    return count;
}

/* An operation, the functions that it needs, and its kernel. */
typedef void (*any_function)(void);
typedef struct row {
    dome_operation_code code;
    size_t needs, also;
    const char *names[2];
    dome_kernel kernel;
} row;

#define NEEDS(function)                                                                                                          \
    offsetof(dome_type_ops, function), 0,                                                                                        \
    {                                                                                                                            \
#function, NULL                                                                                                          \
    }
static const row rows[] = {
    {DOME_OP_DVEC_ADD, NEEDS(add), struct_add},
    {DOME_OP_DVEC_SUB, NEEDS(sub), struct_sub},
    {DOME_OP_DVEC_MUL, NEEDS(mul), struct_mul},
    {DOME_OP_DVEC_DIV, NEEDS(div), struct_div},
    {DOME_OP_DVEC_NEG, NEEDS(neg), struct_neg},
    {DOME_OP_DVEC_MULS, NEEDS(scale), struct_scale},
    {DOME_OP_DVEC_AXPY, offsetof(dome_type_ops, scale), offsetof(dome_type_ops, add), {"scale", "add"}, struct_axpy},
    {DOME_OP_DVEC_MIN, NEEDS(less), struct_min},
    {DOME_OP_DVEC_MAX, NEEDS(less), struct_max},
    {DOME_OP_DVEC_LT, NEEDS(less), struct_less},
    {DOME_OP_DVEC_GT, NEEDS(less), struct_greater},
    {DOME_OP_DVEC_LE, NEEDS(less), struct_less_equal},
    {DOME_OP_DVEC_GE, NEEDS(less), struct_greater_equal},
    {DOME_OP_DVEC_EQ, NEEDS(equal), struct_equal},
    {DOME_OP_DVEC_NE, NEEDS(equal), struct_not_equal},
    {DOME_OP_DVEC_FILL, NEEDS(from_f64), struct_fill},
    {0},
};

static bool has(const dome_type_ops *ops, size_t function)
{
    any_function f = NULL;
    if (ops)
        memcpy(&f, (const char *)ops + function, sizeof f);
    return f;
}

static const row *row_of(dome_operation_code code)
{
    const row *r = rows;
    while (r->kernel && r->code != code)
        r++;
    return r->kernel ? r : NULL;
}

dome_kernel dome__struct_kernel(dome_operation_code code, dome_type type, dome_type from)
{
    if (code == DOME_OP_DVEC_CONVERT) {
        if (from == DOME_F64)
            return has(type->ops, offsetof(dome_type_ops, from_f64)) ? struct_from_f64 : NULL;
        return type == DOME_F64 && from && has(from->ops, offsetof(dome_type_ops, to_f64)) ? struct_to_f64 : NULL;
    }
    const row *r = row_of(code);
    return r && has(type->ops, r->needs) && (!r->also || has(type->ops, r->also)) ? r->kernel : NULL;
}

const char *dome__struct_lacks(dome_operation_code code, dome_type type)
{
    const row *r = row_of(code);
    if (!r)
        return NULL;
    return r->names[has(type->ops, r->needs) && r->also];
}
