/* The usual combinations. */
#include "transport/collective.h"

#include <glib.h>

/* Wraps around, as unsigned addition does. */
void dome__combine_sum_i64(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    uint64_t *a = inout;
    const uint64_t *b = in;
    for (uint64_t i = 0; i < count; i++)
        a[i] += b[i];
}

void dome__combine_max_i64(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    int64_t *a = inout;
    const int64_t *b = in;
    for (uint64_t i = 0; i < count; i++)
        a[i] = MAX(a[i], b[i]);
}

void dome__combine_max_u64(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    uint64_t *a = inout;
    const uint64_t *b = in;
    for (uint64_t i = 0; i < count; i++)
        a[i] = MAX(a[i], b[i]);
}
