/* k-means: each step assigns every point to the nearest of K centres and moves the centres to the means of their points. One map
 * and one reduction of columns a step. An element holds GROUP points; its second vector their sums and numbers by centre. */
#include "program.h"

#include <float.h>
#include <string.h>

enum { GROUP = 64, DIMENSIONS = 8, K = 16, COLUMNS = K * (DIMENSIONS + 1) };

static void fill(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *x = out;
    const size_t group = GROUP * DIMENSIONS;
    (void)ctx, (void)in;
    for (size_t i = 0; i < count * group; i++) {
        uint64_t place = first * group + i, point = place / DIMENSIONS, axis = place % DIMENSIONS;
        x[i] = 4 * program_random(1, point % K * DIMENSIONS + axis) + program_random(2, place);
    }
}

static int nearest(const double *centres, const double *point)
{
    double least = DBL_MAX;
    int best = 0;
    for (int c = 0; c < K; c++) {
        double distance = 0;
        for (int a = 0; a < DIMENSIONS; a++) {
            double d = point[a] - centres[c * DIMENSIONS + a];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static void assign(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *point = in[0];
    double *sums = out;
    (void)first;
    memset(sums, 0, count * COLUMNS * sizeof *sums);
    for (size_t i = 0; i < count; i++, sums += COLUMNS)
        for (int p = 0; p < GROUP; p++, point += DIMENSIONS) {
            double *mine = sums + nearest(ctx, point) * (DIMENSIONS + 1);
            for (int a = 0; a < DIMENSIONS; a++)
                mine[a] += point[a];
            mine[DIMENSIONS]++;
        }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long groups = 4096, steps = 400;
    program_options(env, argc, argv, 2, (program_option[]){{"--groups", &groups}, {"--steps", &steps}});
    dvec *points = dvec_new_with(env, "points", DOME_F64, (uint64_t)groups, DVEC_OPTIONS(.width = GROUP * DIMENSIONS));
    dvec *sums = dvec_new_with(env, NULL, DOME_F64, (uint64_t)groups, DVEC_OPTIONS(.width = COLUMNS));
    dvec_map(points, fill, NULL, 0, NULL);

    double centres[K * DIMENSIONS], total[COLUMNS] = {0}, bits = 0;
    for (int k = 0; k < K * DIMENSIONS; k++)
        centres[k] = 5 * program_random(3, (uint64_t)k);
    program_clock clock;
    program_begin(env, &clock);
    for (long s = 0; s < steps; s++) {
        dvec_map(sums, assign, centres, 1, &points);
        dvec_column_sums(sums, NULL, total);
        for (int c = 0; c < K; c++)
            for (int a = 0; a < DIMENSIONS && total[c * (DIMENSIONS + 1) + DIMENSIONS] > 0; a++)
                centres[c * DIMENSIONS + a] = total[c * (DIMENSIONS + 1) + a] / total[c * (DIMENSIONS + 1) + DIMENSIONS];
    }
    for (int k = 0; k < K * DIMENSIONS; k++)
        bits += centres[k] * (k + 1);
    program_end(env, &clock, bits);
    return dome_finalize(env);
}
