/* A wave in a cube: the sequential twin of ../wave.c. */
#include "../wave_cube.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    long side = argc > 1 ? atol(argv[1]) : 96, steps = argc > 2 ? atol(argv[2]) : 200;
    if (side < 3 || side > 2000 || steps < 0) {
        fprintf(stderr, "usage: wave [SIDE [STEPS]] with a side of 3 to 2000\n");
        return 1;
    }
    size_t n = (size_t)side, cells = n * n * n;
    double *u = malloc(cells * sizeof *u), *old = malloc(cells * sizeof *old), squares = 0, largest = 0;
    if (!u || !old) {
        fprintf(stderr, "wave: out of memory\n");
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        wave_pluck(u + i * n * n, i, n);
    memcpy(old, u, cells * sizeof *u);
    for (long s = 0; s < steps; s++) {
        for (size_t i = 1; i + 1 < n; i++)
            wave_step(old + i * n * n, u + (i - 1) * n * n, u + i * n * n, u + (i + 1) * n * n, n);
        double *swap = old;
        old = u;
        u = swap;
    }
    for (size_t i = 0; i < cells; i++) {
        squares += u[i] * u[i];
        largest = fmax(largest, u[i]);
    }
    printf("after %ld steps: sum of squares %.9g, largest %.9g\n", steps, squares, largest);
    free(u);
    free(old);
    return 0;
}
