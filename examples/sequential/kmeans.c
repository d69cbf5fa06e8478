/* k-means: the sequential twin of ../kmeans.c. */
#include "../random_number.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

enum { K = 16, D = 4 };

static int nearest(double centre[K][D], const double *point)
{
    double least = DBL_MAX;
    int label = 0;
    for (int k = 0; k < K; k++) {
        double distance = 0;
        for (int d = 0; d < D; d++)
            distance += (point[d] - centre[k][d]) * (point[d] - centre[k][d]);
        if (distance < least) {
            least = distance;
            label = k;
        }
    }
    return label;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100000, steps = argc > 2 ? atol(argv[2]) : 20;
    if (n < K || steps < 0) {
        fprintf(stderr, "usage: kmeans [POINTS [STEPS]] with at least %d points\n", K);
        return 1;
    }
    double(*points)[D] = malloc((size_t)n * sizeof *points), centre[K][D];
    if (!points) {
        fprintf(stderr, "kmeans: out of memory\n");
        return 1;
    }
    for (long i = 0; i < n * D; i++)
        points[i / D][i % D] = random_number(1, (uint64_t)i);
    for (int k = 0; k < K * D; k++)
        centre[k / D][k % D] = points[k / D][k % D];
    for (long step = 0; step < steps; step++) {
        double sum[K][D] = {{0}};
        long number[K] = {0};
        for (long i = 0; i < n; i++) {
            int label = nearest(centre, points[i]);
            number[label]++;
            for (int d = 0; d < D; d++)
                sum[label][d] += points[i][d];
        }
        for (int k = 0; k < K; k++)
            for (int d = 0; d < D && number[k] > 0; d++)
                centre[k][d] = sum[k][d] / (double)number[k];
    }
    for (int k = 0; k < K; k++)
        printf("centre %d: %.6f %.6f %.6f %.6f\n", k, centre[k][0], centre[k][1], centre[k][2], centre[k][3]);
    free(points);
    return 0;
}
