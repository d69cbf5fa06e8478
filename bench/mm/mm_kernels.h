/* The kernels of the products in Dome: mmdome.c, mmsave.c. */
#ifndef MM_KERNELS_H
#define MM_KERNELS_H

#include "mm.h"

#include <stdint.h>

struct factors {
    const double *b;
    size_t k;
    double factor;
};

/* ctx: an mm_options. */
static void fill(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const mm_options *o = ctx;
    (void)in;
    mm_fill_x(out, first, count, o->k);
}

/* ctx: a struct factors. */
static void multiply(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct factors *f = ctx;
    (void)first;
    mm_multiply(out, in[0], f->b, count, f->k, f->factor);
}

#endif
