/* k-means (Lloyd's algorithm): each step assigns every point to the nearest of K centres, and moves each centre to the mean of
 * its points.
 *
 *     kmeans [POINTS [STEPS]] [--dome-tasks N]
 *
 * The points are random in the unit cube of D dimensions; the first K are the centres to begin with. The sums of all groups are
 * one call, and have the same bits for any number of tasks. The program can be restarted: the loop's state is one scalar, and the
 * points are made again.
 */
#include <dome/dome.h>
#include <float.h>
#include <stddef.h>
#include <stdlib.h>

enum { K = 16, D = 4 };

struct state {
    int64_t step;
    double centre[K][D];
};

static void nearest(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double(*centre)[D] = ctx, *point = in[0];
    (void)first;
    for (uint8_t *label = out; count-- > 0; point += D, label++) {
        double least = DBL_MAX;
        uint8_t best = 0;
        for (int k = 0; k < K; k++) {
            double distance = 0;
            for (int d = 0; d < D; d++)
                distance += (point[d] - centre[k][d]) * (point[d] - centre[k][d]);
            if (distance < least) {
                least = distance;
                best = (uint8_t)k;
            }
        }
        *label = best;
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long n = argc > 1 ? atol(argv[1]) : 100000, steps = argc > 2 ? atol(argv[2]) : 20;
    if (n < K || steps < 0)
        dome_abort(env, "usage: kmeans [POINTS [STEPS]] with at least %d points", K);
    const dome_field fields[] = {{"step", DOME_I64, offsetof(struct state, step), 1},
                                 {"centre", DOME_F64, offsetof(struct state, centre), K * D}};
    dscalar *saved =
        dscalar_new(env, "state", dome_type_struct(env, "state", sizeof(struct state), fields, 2, sizeof(dome_field)));
    dvec *points = dvec_new_with(env, NULL, DOME_F64, (uint64_t)n, DVEC_OPTIONS(.width = D));
    dvec *labels = dvec_new(env, NULL, DOME_U8, (uint64_t)n);
    struct state s = {0};
    double sum[K][D];
    uint64_t number[K];
    dvec_random(points, 1);
    for (uint64_t k = 0; k < K; k++)
        dvec_get(points, k, s.centre[k]);
    if (dome_is_restarting(env))
        dscalar_get(saved, &s);
    while (s.step < steps) {
        dvec_map(labels, nearest, s.centre, 1, &points);
        dvec_sum_by(points, labels, K, sum[0]);
        dvec_count_by(labels, K, number);
        for (int k = 0; k < K; k++)
            for (int d = 0; d < D && number[k] > 0; d++)
                s.centre[k][d] = sum[k][d] / (double)number[k];
        s.step++;
        dscalar_set(saved, &s);
        dome_checkpoint(env);
    }
    for (int k = 0; k < K; k++)
        dome_print(env, "centre %d: %.6f %.6f %.6f %.6f\n", k, s.centre[k][0], s.centre[k][1], s.centre[k][2], s.centre[k][3]);
    return dome_finalize(env);
}
