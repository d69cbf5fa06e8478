/* A rarefied gas in a wind tunnel: the sequential twin of ../gas.c. */
#include "../gas_tunnel.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct tunnel tunnel = {10000, 200};
    if (!tunnel_parse(argc, argv, &tunnel)) {
        fprintf(stderr, "gas: usage: " TUNNEL_USAGE "\n");
        return 2;
    }
    struct members members;
    struct particle *particles = calloc(tunnel.particles, sizeof *particles);
    struct cell *cells = calloc(CELLS, sizeof *cells);
    char text[512];
    if (!members_open(&members, &tunnel) || !particles || !cells) {
        fprintf(stderr, "gas: not enough memory for %zu particles\n", tunnel.particles);
        return 1;
    }
    for (size_t i = 0; i < tunnel.particles; i++)
        tunnel_launch(i, particles + i);
    for (size_t step = 0; step < tunnel.steps; step++) {
        for (size_t i = 0; i < tunnel.particles; i++)
            tunnel_move(particles + i);
        tunnel_sort(&tunnel, particles, 0, CELLS, &members);
        tunnel_collide(step, particles, &members, cells);
    }
    tunnel_tell(&tunnel, particles, cells, text, sizeof text);
    fputs(text, stdout);
    members_close(&members);
    free(particles);
    free(cells);
    return 0;
}
