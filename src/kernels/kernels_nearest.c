/* The nearest of some rows, for NEAREST points at a time: distances, the least of them and its number stay in registers. Each
 * variant has vectors as long as the processor's (kernels_variant.h). */
#include "kernels/kernels_nearest.h"

#include "kernels/kernels_variant.h"

#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t integers __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES = VECTOR_BYTES / sizeof(double), VECTORS = 4, GROUP = VECTORS * LANES };

static void find_of_group(const double *columns, const double *rows, uint64_t width, uint64_t k, int64_t *number)
{
    doubles least[VECTORS];
    integers best[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        least[v] = (doubles){0} + INFINITY;
        best[v] = (integers){0};
    }
    for (uint64_t j = 0; j < k; j++, rows += width) {
        doubles distance[VECTORS] = {{0}};
        for (uint64_t d = 0; d < width; d++)
            UNROLLED for (int v = 0; v < VECTORS; v++)
            {
                doubles difference;
                memcpy(&difference, columns + d * DOME_NEAREST_POINTS + (uint64_t)(v * LANES), sizeof difference);
                difference -= rows[d];
                distance[v] += difference * difference;
            }
        UNROLLED for (int v = 0; v < VECTORS; v++)
        {
            const integers better = distance[v] < least[v];
            best[v] = (best[v] & ~better) | ((int64_t)j & better);
            least[v] = (doubles)(((integers)least[v] & ~better) | ((integers)distance[v] & better));
        }
    }
    memcpy(number, best, sizeof best);
}

void DOME_VARIANT_OF(dome__find_nearest)(const double *columns, const double *rows, uint64_t width, uint64_t k, int64_t *number)
{
    for (int at = 0; at < DOME_NEAREST_POINTS; at += GROUP)
        find_of_group(columns + at, rows, width, k, number + at);
}
