/* A rarefied gas in a wind tunnel, in the manner of Mp3d of SPLASH, in memory that all tasks share. Each task moves its part of
 * the particles, and then collides those in its part of the cells, which other tasks may have moved. So several tasks write to
 * one unit; with release consistency the unit does not travel back and forth for that.
 *
 *     gas [--particles N] [--steps S]
 *
 * Mp3d is one of the programs by which the checkpoints of Stardust were measured (dome/region.h).
 */
#include "gas_tunnel.h"

#include <dome/dome.h>
#include <stdio.h>

struct gas {
    struct tunnel tunnel;
    dome_region *particles, *cells;
    struct particle *particle;
    struct cell *cell;
    struct members members;
};

static void make(dome_env *env, struct gas *gas)
{
    const size_t n = gas->tunnel.particles, cells = CELLS;
    const dome_region_options *shared = DOME_REGION_OPTIONS(.consistency = DOME_RELEASE);
    dome_type particle = dome_type_parse(env, "particle", "{FFFFFFL}", &n, 1, sizeof(struct particle));
    dome_type cell = dome_type_parse(env, "cell", "{LLDDD}", &cells, 1, sizeof(struct cell));
    gas->particles = dome_region_new(env, "particles", particle, n, shared);
    gas->cells = dome_region_new(env, "cells", cell, cells, shared);
    gas->particle = dome_region_data(gas->particles);
    gas->cell = dome_region_data(gas->cells);
    if (!members_open(&gas->members, &gas->tunnel))
        dome_abort(env, "gas: not enough memory for %zu particles", n);
}

static void step_on(dome_env *env, size_t step, struct gas *gas)
{
    const size_t rank = (size_t)dome_rank(env), size = (size_t)dome_size(env);
    const size_t first = CELLS * rank / size, end = CELLS * (rank + 1) / size;
    dome_span spans[2];
    for (int k = 0, count = dome_region_spans(gas->particles, spans); k < count; k++)
        for (uint64_t i = spans[k].first; i < spans[k].first + spans[k].count; i++)
            tunnel_move(gas->particle + i);
    dome_barrier(env); /* all particles are where they are in this step */
    dome_region_want(gas->particles, 0, gas->tunnel.particles, false);
    tunnel_sort(&gas->tunnel, gas->particle, first, end - first, &gas->members);
    tunnel_collide(step, gas->particle, &gas->members, gas->cell);
    dome_barrier(env); /* all have their velocities */
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct gas gas = {.tunnel = {10000, 200}};
    if (!tunnel_parse(argc, argv, &gas.tunnel)) {
        if (dome_rank(env) == 0)
            fprintf(stderr, "gas: usage: " TUNNEL_USAGE "\n");
        dome_finalize(env);
        return 2;
    }

    make(env, &gas);
    dome_span spans[2];
    dscalar *steps = dscalar_new(env, "steps", DOME_I64);
    for (int k = 0, count = dome_region_spans(gas.particles, spans); k < count && !dome_is_restarting(env); k++)
        for (uint64_t i = spans[k].first; i < spans[k].first + spans[k].count; i++)
            tunnel_launch(i, gas.particle + i);
    for (size_t step = (size_t)dscalar_get_i64(steps); step < gas.tunnel.steps; step++) {
        step_on(env, step, &gas);
        dscalar_set_i64(steps, (int64_t)step + 1);
        dome_progress(env, step + 1, gas.tunnel.steps, "steps");
        dome_checkpoint(env);
    }
    char text[512] = "";
    if (dome_rank(env) == 0)
        tunnel_tell(&gas.tunnel, gas.particle, gas.cell, text, sizeof text);
    dome_print(env, "%s", text);
    members_close(&gas.members);
    return dome_finalize(env);
}
