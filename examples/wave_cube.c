#include "wave_cube.h"

#include <math.h>

void wave_pluck(double *plane, size_t index, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) {
            double x = (double)index / (double)n - 0.5, y = (double)j / (double)n - 0.4, z = (double)k / (double)n - 0.6;
            int inside = index > 0 && index + 1 < n && j > 0 && j + 1 < n && k > 0 && k + 1 < n;
            plane[j * n + k] = inside ? exp(-60 * (x * x + y * y + z * z)) : 0;
        }
}

void wave_step(double *restrict old, const double *below, const double *u, const double *above, size_t n)
{
    for (size_t j = 1; j + 1 < n; j++)
        for (size_t k = j * n + 1; k + 1 < (j + 1) * n; k++)
            old[k] = 2 * u[k] - old[k] + 0.2 * (below[k] + above[k] + u[k - n] + u[k + n] + u[k - 1] + u[k + 1] - 6 * u[k]);
}
