/* A program with an object of every kind, whose state after so many steps is one number.
 *
 *     state STEPS [VARIANT] [SLEEP-MS]
 *
 * VARIANT: what is other than it was in the checkpoint to go on from. Prints "after STEPS steps: NUMBER". */
#include "structure_lists.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct grain {
    uint8_t tag;
    double mass;
    int16_t at[3];
} grain;

static bool is(const char *variant, const char *name)
{
    return strcmp(variant, name) == 0;
}

static dome_type grain_type(dome_env *env, const char *variant)
{
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(grain, tag), 1},
                                 {is(variant, "field") ? "weight" : "mass", DOME_F64, offsetof(grain, mass), 1},
                                 {"at", DOME_I16, offsetof(grain, at), 3}};
    return dome_type_struct(env, "grain", sizeof(grain), fields, 3, sizeof(dome_field));
}

static void grow(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    int64_t step = *(int64_t *)ctx;
    const grain *old = in[0];
    grain *g = out;
    for (size_t i = 0; i < count; i++) {
        uint64_t k = first + i;
        g[i].tag = (uint8_t)(old[i].tag + k);
        g[i].mass = old[i].mass * 1.5 + (double)k;
        for (int d = 0; d < 3; d++)
            g[i].at[d] = (int16_t)(old[i].at[d] + (d + 1) * step);
    }
}

/* The values of a vector that stays where it is, by a pointer that is asked for once: longer than it is good for. */
typedef struct kept {
    dvec_span spans[2];
} kept;

static kept keep(dvec *x)
{
    kept k;
    dvec_local_spans(x, k.spans);
    return k;
}

static void write_kept(const kept *k, int64_t step)
{
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < k->spans[s].count; i++)
            if ((k->spans[s].first + i) % 50 == (size_t)step % 50)
                ((double *)k->spans[s].data)[i] += (double)(step + 1);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

static uint64_t mix_vector(uint64_t hash, dvec *x)
{
    uint64_t shape[DOME_MAX_DIMENSIONS];
    for (int d = dvec_shape(x, shape); d > 0; d--)
        hash = (hash ^ shape[d - 1]) * 1099511628211u;
    size_t values = dvec_length(x) * dvec_width(x), bytes = values * dome_type_portable_size(dvec_type(x));
    char *portable = malloc(bytes + 1);
    const void *whole = dvec_allgather(x);
    if (values > 0)
        dome_type_pack(dvec_type(x), DOME_PORTABLE, portable, whole, values);
    hash = mix(hash, portable, bytes);
    free(portable);
    return hash;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    int64_t steps = argc > 1 ? atoll(argv[1]) : 0;
    const char *variant = argc > 2 ? argv[2] : "none";
    int sleep_ms = argc > 3 ? atoi(argv[3]) : 0;
    const dvec_options block3 = {.size = sizeof block3,
                                 .distribution = is(variant, "distribution") ? DOME_DYNAMIC : DOME_BLOCK,
                                 .width = is(variant, "width") ? 2 : 3};
    const dvec_options whole = {.size = sizeof whole, .distribution = DOME_WHOLE};
    const dvec_options wide = {.size = sizeof wide, .width = 5, .block = is(variant, "block") ? 8 : 16};
    dvec *x = dvec_new(env, "x", is(variant, "type") ? DOME_F32 : DOME_F64, is(variant, "length") ? 5001 : 5000);
    dvec *m = dvec_new_with(env, "m", DOME_F64, 700, &block3);
    dvec *w = dvec_new_with(env, "w", DOME_I32, 300, &whole);
    dvec *g = dvec_new(env, "grains", grain_type(env, variant), 400);
    dvec *still = is(variant, "unused") ? NULL : dvec_new(env, "still", DOME_F64, 20000);
    dvec *c = dvec_new_with(env, "c", DOME_C64, 90, &wide), *u = dvec_new(env, "u", DOME_U16, 1000);
    dvec *empty = dvec_new(env, "empty", DOME_I64, 0), *flat = dvec_new_like(m, "flat");
    if (is(variant, "more"))
        dvec_new(env, "more", DOME_F64, 10);
    dvec *stays = dvec_new_with(env, "stays", DOME_F64, 600, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    dvec *common = dvec_new_with(env, "common", DOME_F64, 600, &whole);
    lists *l = lists_new(env, "lists", 50);
    dscalar *step = NULL, *z = dscalar_new(env, "z", DOME_C128);
    if (is(variant, "kind"))
        dvec_new_with(env, "step", DOME_I64, 1, &whole);
    else
        step = dscalar_new(env, "step", DOME_I64);
    if (!step) /* the library should have ended the program */
        return 3;
    dvec *scratch = dvec_new(env, NULL, DOME_F64, 5000);

    if (!dome_is_restarting(env)) {
        dvec_random(x, 5);
        dvec_random(still, 6);
        dvec_random(c, 7);
        dvec_iota(u);
        dvec_fill(m, 0.25);
        dvec_fill(w, 3);
        dvec_set_shape(m, 3, (const uint64_t[]){7, 100, dvec_width(m)}); /* flat, made like it before, has none */
        dvec_set_shape(empty, 2, (const uint64_t[]){3, 0});
    }
    const kept of_stays = keep(stays), of_common = keep(common);
    for (int64_t n = dscalar_get_i64(step); n < steps; n++) {
        dvec_muls(x, x, 1.0000001);
        dvec_random(scratch, (uint64_t)n);
        dvec_add(x, x, scratch);
        dvec_muls(m, m, 1.25);
        dvec_adds(w, w, (double)n);
        dvec_map(g, grow, &n, 1, &g);
        dvec_adds(u, u, 1);
        write_kept(&of_stays, n);
        write_kept(&of_common, n);
        dvec_muls(c, c, 1.5);
        double parts[2] = {(double)n, dvec_sum(x)};
        dscalar_set(z, parts);
        dome_span spans[2];
        size_t list = (size_t)n * 7 % 50;
        int count = lists_local(l, spans);
        for (int s = 0; s < count; s++)
            if (list >= spans[s].first && list - spans[s].first < spans[s].count)
                lists_push(l, list, (double)n + 0.5);
        if (n == 3)
            dvec_set_shape(u, 3, (const uint64_t[]){10, 5, 20});
        if (n == 9)
            dvec_set_shape(u, 0, NULL);
        dscalar_set_i64(step, n + 1);
        dome_checkpoint(env);
        usleep((useconds_t)sleep_ms * 1000);
    }

    dvec *sums = dvec_new(env, NULL, DOME_F64, 50);
    lists_sums(sums, l);
    double parts[2];
    dscalar_get(z, parts);
    uint64_t number = 14695981039346656037u;
    dvec *const all[] = {x, m, w, g, still ? still : x, c, u, empty, flat, sums, stays, common};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        number = mix_vector(number, all[i]);
    dome_print(env, "after %" PRId64 " steps: %016" PRIx64 ", %a %a\n", steps, number, parts[0], parts[1]);
    return dome_finalize(env);
}
