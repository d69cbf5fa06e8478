/* Particles in a box that attract one another and gather in clumps: the sequential twin of ../particles.c. */
#include "../particle_box.h"
#include "../random_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void launch(const struct box *box, double *x, double *v)
{
    for (size_t i = 0; i < box->particles; i++) {
        const double random[] = {random_number(1, 2 * i), random_number(1, 2 * i + 1)};
        box_launch(box, i, random, v + 2 * i);
        box_place(box, i, random, x + 2 * i);
    }
}

static void move(const struct box *box, double *x, double *v)
{
    for (size_t i = 0; i < box->particles; i++)
        box_kick(box, x + 2 * i, v + 2 * i, v + 2 * i);
    for (size_t k = 0; k < 2 * box->particles; k++)
        x[k] = box_drift(box, x[k], v[k]);
}

static void report(const struct box *box, size_t step, const double *x, const double *v, double *kinetic, double *potential)
{
    double neighbours = 0, most = 0;
    *kinetic = *potential = 0;
    for (size_t i = 0; i < box->particles; i++) {
        struct surroundings around = box_look_around(box, x + 2 * i);
        *kinetic += box_kinetic(v + 2 * i);
        *potential += box_potential(&around);
        neighbours += around.neighbours;
        most = fmax(most, around.neighbours);
    }
    printf("step %zu: kinetic %.9g, potential %.9g, neighbours %.6g on average, %g at most\n", step, *kinetic, *potential,
           neighbours / (double)box->particles, most);
}

static uint64_t mix(const struct box *box, const double *x)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < 2 * box->particles; k++)
        sum += box_mix(x[k]);
    return sum;
}

int main(int argc, char **argv)
{
    struct box box = {.particles = 8192, .steps = 400};
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (help || !box_parse(argc, argv, &box)) {
        fprintf(help ? stdout : stderr, "%s%s", help ? "" : "particles: ", box_usage);
        return help ? 0 : 2;
    }
    bool ready = box_open(&box);
    double *x = calloc(box.particles, 2 * sizeof *x), *v = calloc(box.particles, 2 * sizeof *v), kinetic = 0, potential = 0;
    if (!ready || !x || !v) {
        fprintf(stderr, "particles: not enough memory for %zu particles\n", box.particles);
        return 1;
    }

    launch(&box, x, v);
    size_t often = box.steps >= 10 ? box.steps / 10 : 1;
    for (size_t step = 0; step <= box.steps; step++) {
        box_sort(&box, x);
        if (step % often == 0 || step == box.steps)
            report(&box, step, x, v, &kinetic, &potential);
        if (step < box.steps)
            move(&box, x, v);
    }
    printf("after %zu steps: kinetic %.15g  %a, potential %.15g  %a, positions %" PRIx64 "\n", box.steps, kinetic, kinetic,
           potential, potential, mix(&box, x));
    box_close(&box);
    free(x);
    free(v);
    return 0;
}
