/* k-means (Lloyd's algorithm): each step assigns every point to the nearest of K centres, and moves each centre to the mean of
 * its points.
 *
 *     kmeans [POINTS [STEPS]] [--dome-tasks N]
 *
 * The points are random in the unit cube of D dimensions; the first K are the centres to begin with. The sums of all groups are
 * one call, and have the same bits for any number of tasks. The program can be restarted: its state is the centres and the number
 * of steps, and the points are made again.
 */
#include <dome/dome.h>
#include <float.h>
#include <stdlib.h>

enum { K = 16, D = 4 };

static uint8_t nearest(double centre[K][D], const double *point)
{
    double least = DBL_MAX;
    uint8_t label = 0;
    for (uint8_t k = 0; k < K; k++) {
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
    dome_env *env = dome_init(&argc, &argv);
    long n = argc > 1 ? atol(argv[1]) : 100000, steps = argc > 2 ? atol(argv[2]) : 20;
    if (n < K || steps < 0)
        dome_abort(env, "usage: kmeans [POINTS [STEPS]] with at least %d points", K);
    const dvec_options whole = {.size = sizeof whole, .distribution = DOME_WHOLE, .width = D};
    dvec *points = dvec_new_with(env, NULL, DOME_F64, (uint64_t)n, DVEC_OPTIONS(.width = D));
    dvec *labels = dvec_new(env, NULL, DOME_U8, (uint64_t)n);
    dvec *centres = dvec_new_with(env, "centres", DOME_F64, K, &whole);
    dscalar *done = dscalar_new(env, "steps", DOME_I64);
    double centre[K][D], sum[K][D];
    uint64_t number[K];
    dvec_random(points, 1);
    for (uint64_t k = 0; k < K; k++)
        dvec_get(dome_is_restarting(env) ? centres : points, k, centre[k]);
    for (int64_t step = dscalar_get_i64(done); step < steps; step++) {
        DVEC_FOR_ROWS (i, uint8_t, labels, const double, points)
            *labels = nearest(centre, points);
        dvec_sum_by(points, labels, K, sum[0]);
        dvec_count_by(labels, K, number);
        for (int k = 0; k < K; k++)
            for (int d = 0; d < D && number[k] > 0; d++)
                centre[k][d] = sum[k][d] / (double)number[k];
        DVEC_FOR_ROWS (k, double, centres)
            for (int d = 0; d < D; d++)
                centres[d] = centre[k][d];
        dscalar_set_i64(done, step + 1);
        dome_checkpoint(env);
    }
    for (int k = 0; k < K; k++) {
        const double *c = centre[k];
        dome_print(env, "centre %d: %.6f %.6f %.6f %.6f\n", k, c[0], c[1], c[2], c[3]);
    }
    return dome_finalize(env);
}
