#include "gas_tunnel.h"

#include "random_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES = 1, COLLISIONS = 2, NUMBERS = 8 }; /* streams of random numbers; how many of them belong to a particle */

/* Lengths are those of a cell, times those of a step. */
static const float stream = 0.2f, heat = 0.1f, often = 4.0f;
static const float size[3] = {CELLS_ALONG, CELLS_ACROSS, CELLS_UP};

bool tunnel_parse(int argc, char **argv, struct tunnel *tunnel)
{
    for (int i = 1; i < argc; i += 2) {
        const long number = i + 1 < argc ? atol(argv[i + 1]) : 0;
        if (number > 0 && number <= 100000000 && strcmp(argv[i], "--particles") == 0)
            tunnel->particles = (size_t)number;
        else if (number > 0 && number <= 100000000 && strcmp(argv[i], "--steps") == 0)
            tunnel->steps = (size_t)number;
        else
            return false;
    }
    return true;
}

bool members_open(struct members *members, const struct tunnel *tunnel)
{
    *members = (struct members){.start = malloc((CELLS + 2) * sizeof *members->start),
                                .member = malloc(tunnel->particles * sizeof *members->member),
                                .cell = malloc(tunnel->particles * sizeof *members->cell)};
    return members->start && members->member && members->cell;
}

void members_close(struct members *members)
{
    free(members->start);
    free(members->member);
    free(members->cell);
}

/* The block is two cells long, in the middle of the floor. */
static bool is_block(const int place[3])
{
    return place[0] >= 8 && place[0] < 10 && place[1] >= 4 && place[1] < 10 && place[2] < 3;
}

static void find_place(const float x[3], int place[3])
{
    for (int k = 0; k < 3; k++)
        place[k] = (int)x[k];
}

static uint16_t cell_of(const struct particle *p)
{
    int place[3];
    find_place(p->x, place);
    return (uint16_t)((place[0] * CELLS_ACROSS + place[1]) * CELLS_UP + place[2]);
}

void tunnel_launch(size_t i, struct particle *p)
{
    int place[3];
    *p = (struct particle){.collisions = 0};
    for (int k = 0; k < 3; k++) {
        p->x[k] = size[k] * (float)random_number(LAUNCHES, NUMBERS * i + (size_t)k) * 0.999f;
        p->v[k] = heat * ((float)random_number(LAUNCHES, NUMBERS * i + 3 + (size_t)k) * 2 - 1);
    }
    find_place(p->x, place);
    p->x[2] += is_block(place) ? 3 : 0; /* above the block */
    p->v[0] += stream;
}

/* Walls and the block throw a particle back; the end of the tunnel is its beginning. */
void tunnel_move(struct particle *p)
{
    int place[3];
    float x[3];
    for (int k = 0; k < 3; k++)
        x[k] = p->x[k] + p->v[k];
    x[0] -= x[0] >= size[0] ? size[0] : 0;
    x[0] += x[0] < 0 ? size[0] : 0;
    x[0] = x[0] < size[0] ? x[0] : 0; /* a sum may have been rounded up */
    for (int k = 1; k < 3; k++)
        if (!(x[k] >= 0 && x[k] < size[k])) {
            p->v[k] = -p->v[k];
            x[k] = p->x[k];
        }
    find_place(x, place);
    if (is_block(place))
        p->v[0] = -p->v[0];
    else
        memcpy(p->x, x, sizeof x);
}

/* Counting sort. end[k] becomes the place behind the last member of cell k. */
void tunnel_sort(const struct tunnel *tunnel, const struct particle *all, size_t first, size_t count, struct members *members)
{
    uint32_t *end = members->start + 1;
    members->first = first;
    members->count = count;
    memset(members->start, 0, (count + 2) * sizeof *members->start);
    for (size_t i = 0; i < tunnel->particles; i++) {
        members->cell[i] = cell_of(all + i);
        if (members->cell[i] - first < count)
            end[members->cell[i] - first + 1]++;
    }
    for (size_t k = 1; k <= count; k++)
        end[k] += end[k - 1];
    for (size_t i = 0; i < tunnel->particles; i++)
        if (members->cell[i] - first < count)
            members->member[end[members->cell[i] - first]++] = (uint32_t)i;
}

/* Turns the difference of two velocities into a random direction: momentum and energy stay. */
static void collide(struct particle *p, struct particle *q, float speed, uint64_t numbers)
{
    const double up = 2 * random_number(COLLISIONS, numbers + 1) - 1, flat = sqrt(1 - up * up);
    double c = 2 * random_number(COLLISIONS, numbers + 2) - 1, s = 2 * random_number(COLLISIONS, numbers + 3) - 1;
    const double length = sqrt(c * c + s * s);
    c = length > 0 ? c / length : 1;
    s = length > 0 ? s / length : 0;
    const float half[3] = {(float)(0.5 * speed * flat * c), (float)(0.5 * speed * flat * s), (float)(0.5 * speed * up)};
    for (int k = 0; k < 3; k++) {
        const float mean = 0.5f * (p->v[k] + q->v[k]);
        p->v[k] = mean + half[k];
        q->v[k] = mean - half[k];
    }
    p->collisions++;
    q->collisions++;
}

static bool meets(const struct particle *p, const struct particle *q, float *speed, uint64_t numbers)
{
    float sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (p->v[k] - q->v[k]) * (p->v[k] - q->v[k]);
    *speed = sqrtf(sum);
    return random_number(COLLISIONS, numbers) < often * *speed;
}

void tunnel_collide(size_t step, struct particle *all, const struct members *members, struct cell *cells)
{
    for (size_t k = 0; k < members->count; k++) {
        const uint32_t from = members->start[k], to = members->start[k + 1];
        struct cell *cell = cells + members->first + k;
        cell->particles += to - from;
        for (uint32_t m = from; m + 1 < to; m += 2) {
            struct particle *p = all + members->member[m], *q = all + members->member[m + 1];
            const uint64_t numbers = ((uint64_t)step << 32 | members->member[m]) * NUMBERS;
            float speed;
            if (meets(p, q, &speed, numbers)) {
                collide(p, q, speed, numbers);
                cell->collisions++;
            }
        }
        for (uint32_t m = from; m < to; m++)
            for (int d = 0; d < 3; d++)
                cell->momentum[d] += (double)all[members->member[m]].v[d];
    }
}

static uint64_t mix(const struct particle *p)
{
    uint32_t words[sizeof *p / 4];
    uint64_t bits = 0;
    memcpy(words, p, sizeof *p);
    for (size_t k = 0; k < sizeof *p / 4; k++)
        bits = (bits ^ words[k]) * 0x9E3779B97F4A7C15;
    return bits >> 32;
}

void tunnel_tell(const struct tunnel *tunnel, const struct particle *all, const struct cell *cells, char *text, size_t bytes)
{
    double energy = 0, momentum = 0;
    int64_t collisions = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < tunnel->particles; i++) {
        for (int k = 0; k < 3; k++)
            energy += 0.5 * (double)all[i].v[k] * (double)all[i].v[k];
        bits = bits * 31 + mix(all + i);
    }
    for (size_t k = 0; k < CELLS; k++) {
        collisions += cells[k].collisions;
        momentum += cells[k].momentum[0];
    }
    snprintf(text, bytes, "after %zu steps: energy %.9g  %a, %" PRId64 " collisions, momentum %.9g  %a, particles %" PRIx64 "\n",
             tunnel->steps, energy, energy, collisions, momentum, momentum, bits);
}
