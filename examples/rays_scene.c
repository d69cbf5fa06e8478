#include "rays_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BALLS = 24, MIRRORS = 6 };

struct vector {
    double x, y, z;
};

struct ball {
    struct vector centre;
    double radius, mirrors;
};

static const struct vector light = {0.5, 0.7, -0.5};

static struct vector add(struct vector a, double factor, struct vector b)
{
    return (struct vector){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

static double dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector unit(struct vector a)
{
    return add((struct vector){0, 0, 0}, 1 / sqrt(dot(a, a)), a);
}

static struct ball ball_at(int k)
{
    return (struct ball){{k % 6 - 2.5, 0.45 + 0.1 * (k % 3), 3 + k / 6}, 0.4, 0.3 + 0.1 * (k % 5)};
}

/* The distance to the nearest ball along a ray, with its number; infinite if there is none. */
static double nearest(struct vector from, struct vector along, int *which)
{
    double least = INFINITY;
    for (int k = 0; k < BALLS; k++) {
        const struct ball ball = ball_at(k);
        const struct vector to = add(ball.centre, -1, from);
        const double middle = dot(to, along), root = middle * middle - dot(to, to) + ball.radius * ball.radius;
        const double distance = root > 0 ? middle - sqrt(root) : -1;
        if (distance > 1e-6 && distance < least) {
            least = distance;
            *which = k;
        }
    }
    return least;
}

/* The light that comes along a ray from its first ball, or the floor, or the sky. */
static double shade(struct vector from, struct vector along, int mirrors)
{
    int k = 0;
    const double distance = nearest(from, along, &k), floor_at = along.y < 0 ? -from.y / along.y : INFINITY;
    if (distance == INFINITY && floor_at == INFINITY)
        return 0.4 + 0.5 * along.y;
    const bool floors = floor_at < distance;
    const struct vector at = add(from, floors ? floor_at : distance, along);
    const struct ball ball = ball_at(k);
    const struct vector normal = floors ? (struct vector){0, 1, 0} : unit(add(at, -1, ball.centre));
    const double lit = nearest(add(at, 1e-4, normal), unit(light), &k) == INFINITY ? fmax(dot(normal, unit(light)), 0) : 0;
    const double own = floors ? ((long)floor(at.x) + (long)floor(at.z)) % 2 ? 0.9 : 0.2 : 0.7;
    const double mirror = floors ? 0.1 : ball.mirrors, back = dot(along, normal);
    const double seen = mirrors > 0 ? shade(at, unit(add(along, -2 * back, normal)), mirrors - 1) : 0;
    return (1 - mirror) * own * (0.2 + 0.8 * lit) + mirror * seen;
}

void scene_row(const struct scene *scene, size_t row, unsigned char *grey)
{
    const double scale = 2.0 / (double)scene->columns, samples = (double)scene->samples;
    for (size_t c = 0; c < scene->columns; c++) {
        double sum = 0;
        for (size_t k = 0; k < scene->samples * scene->samples; k++) {
            const double right = (double)c + ((double)(k % scene->samples) + 0.5) / samples;
            const double down = (double)row + ((double)(k / scene->samples) + 0.5) / samples;
            const struct vector along = {right * scale - 1, ((double)scene->rows / 2 - down) * scale, 1.5};
            sum += fmin(fmax(shade((struct vector){0, 1, -1.5}, unit(along), MIRRORS), 0), 1);
        }
        grey[c] = (unsigned char)(255 * (sum / (samples * samples)));
    }
}

bool scene_parse(int argc, char **argv, struct scene *scene)
{
    for (int i = 1; i < argc; i += 2) {
        const long number = i + 1 < argc ? atol(argv[i + 1]) : 0;
        if (i + 1 < argc && strcmp(argv[i], "--output") == 0)
            scene->output = argv[i + 1];
        else if (number > 0 && number <= 100000 && strcmp(argv[i], "--columns") == 0)
            scene->columns = (size_t)number;
        else if (number > 0 && number <= 100000 && strcmp(argv[i], "--rows") == 0)
            scene->rows = (size_t)number;
        else if (number > 0 && number <= 100 && strcmp(argv[i], "--samples") == 0)
            scene->samples = (size_t)number;
        else if (number > 0 && number <= 100000 && strcmp(argv[i], "--batch") == 0)
            scene->batch = (size_t)number;
        else
            return false;
    }
    return true;
}

long scene_write(const struct scene *scene, const unsigned char *grey)
{
    char path[4096];
    const size_t count = scene->columns * scene->rows;
    long sum = 0;
    snprintf(path, sizeof path, "%s.pgm", scene->output);
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    fprintf(file, "P5\n%zu %zu\n255\n", scene->columns, scene->rows);
    const bool written = fwrite(grey, 1, count, file) == count;
    for (size_t i = 0; i < count; i++)
        sum += grey[i];
    return fclose(file) == 0 && written ? sum : -1;
}
