/* checkpoint_samples DIRECTORY SEED: writes two checkpoints with values of all kinds, drawn from the seed; the second differs
 * from the first in some. */
#include "checkpoint_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct corner {
    int16_t x;
    float weights[3];
} corner;

typedef struct body {
    uint8_t tag;
    double _Complex phase;
    corner corners[2];
    int64_t id;
} body;

/* Numbers of every size, and those that are none. */
static double draw_real(GRand *rand)
{
    switch (g_rand_int_range(rand, 0, 24)) {
    case 0:
        return NAN;
    case 1:
        return g_rand_boolean(rand) ? INFINITY : -INFINITY;
    case 2:
        return -0.0;
    case 3:
        return 5e-324 * g_rand_int_range(rand, 1, 1000);
    case 4:
        return g_rand_double_range(rand, -1, 1) * 1e300;
    default:
        return ldexp(g_rand_double_range(rand, -1, 1), g_rand_int_range(rand, -30, 31));
    }
}

static void draw(GRand *rand, dome_type type, void *to)
{
    uint64_t bits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
    if (type == DOME_F32 || type == DOME_C64)
        for (size_t i = 0; i < dome_type_size(type) / sizeof(float); i++)
            ((float *)to)[i] = (float)draw_real(rand);
    else if (type == DOME_F64 || type == DOME_C128)
        for (size_t i = 0; i < dome_type_size(type) / sizeof(double); i++)
            ((double *)to)[i] = draw_real(rand);
    else
        memcpy(to, &bits, dome_type_size(type)); /* of any bits */
}

static void *draw_all(GRand *rand, dome_type type, size_t count)
{
    char *values = g_malloc0(count * dome_type_size(type) + 1);
    for (size_t i = 0; i < count; i++)
        draw(rand, type, values + i * dome_type_size(type));
    return values;
}

static body *draw_bodies(GRand *rand, size_t count)
{
    body *bodies = g_new0(body, count);
    for (size_t i = 0; i < count; i++) {
        draw(rand, DOME_U8, &bodies[i].tag);
        draw(rand, DOME_C128, &bodies[i].phase);
        draw(rand, DOME_I64, &bodies[i].id);
        for (int k = 0; k < 2; k++) {
            draw(rand, DOME_I16, &bodies[i].corners[k].x);
            for (int j = 0; j < 3; j++)
                draw(rand, DOME_F32, &bodies[i].corners[k].weights[j]);
        }
    }
    return bodies;
}

/* One of `chance` values is drawn anew. */
static void change(GRand *rand, dome_type type, char *values, size_t count, int chance)
{
    for (size_t i = 0; i < count; i++)
        if (g_rand_int_range(rand, 0, chance) == 0)
            draw(rand, type, values + i * dome_type_size(type));
}

static dome_type describe_body(dome_env *env)
{
    const dome_field of_corner[] = {{"x", DOME_I16, offsetof(corner, x), 1}, {"weights", DOME_F32, offsetof(corner, weights), 3}};
    dome_type corner_type = dome_type_struct(env, "corner", sizeof(corner), of_corner, 2, sizeof(dome_field));
    const dome_field of_body[] = {{"tag", DOME_U8, offsetof(body, tag), 1},
                                  {"phase", DOME_C128, offsetof(body, phase), 1},
                                  {"corners", corner_type, offsetof(body, corners), 2},
                                  {"id", DOME_I64, offsetof(body, id), 1}};
    return dome_type_struct(env, "body", sizeof(body), of_body, 4, sizeof(dome_field));
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        dome_type type;
    } basic[] = {{"i8", DOME_I8},   {"i16", DOME_I16}, {"i32", DOME_I32}, {"i64", DOME_I64},
                 {"u8", DOME_U8},   {"u16", DOME_U16}, {"u32", DOME_U32}, {"u64", DOME_U64},
                 {"f32", DOME_F32}, {"f64", DOME_F64}, {"c64", DOME_C64}, {"c128", DOME_C128}};
    enum { LENGTH = 700, WIDTH = 3, BODIES = 333 };
    char *init_arguments[] = {argv[0], "--dome-transport", "self", NULL}, **init_argv = init_arguments;
    int init_argc = 3;
    g_assert_cmpint(argc, ==, 3);
    dome_env *env = dome_init(&init_argc, &init_argv);
    GRand *rand = g_rand_new_with_seed((guint32)atoi(argv[2]));
    dome_type body_type = describe_body(env);
    void *values[G_N_ELEMENTS(basic)];
    body *bodies = draw_bodies(rand, BODIES);
    for (size_t i = 0; i < G_N_ELEMENTS(basic); i++)
        values[i] = draw_all(rand, basic[i].type, LENGTH * WIDTH);
    dome_ckpt *previous = NULL;
    for (uint64_t number = 1; number <= 2; number++) {
        checkpoint_state *state = checkpoint_state_new("samples");
        const char *texts[] = {"a", number == 1 ? "b" : "bb", ""};
        char *message = NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(basic); i++) {
            if (number == 2 && i % 2 == 0)
                change(rand, basic[i].type, values[i], LENGTH * WIDTH, 300);
            checkpoint_state_add(state, basic[i].name, basic[i].type, LENGTH, WIDTH, 64, DOME_DYNAMIC, values[i]);
        }
        if (number == 2) {
            draw(rand, DOME_C128, &bodies[100].phase);
            bodies[200].corners[1].weights[2] = 42;
        }
        checkpoint_state_add(state, "bodies \"of\" all", body_type, BODIES, 1, 32, DOME_BLOCK, bodies);
        checkpoint_state_add(state, number == 1 ? "old" : "new", DOME_F64, 4, 1, 1, DOME_WHOLE, values[9]);
        checkpoint_state_add(state, "resized", DOME_I32, 4 + number, 1, 1, DOME_BLOCK, values[2]);
        checkpoint_state_add_texts(state, "texts", texts, 3);
        checkpoint_part *shaped = g_ptr_array_index(state->parts, 1);
        shaped->info.ndim = 3;
        shaped->info.shape = (const uint64_t[]){7, 100, WIDTH};
        dome_ckpt *ckpt = checkpoint_describe(state, number);
        dome__ckpt_plan(ckpt, previous, &message);
        g_assert_cmpstr(message, ==, NULL);
        checkpoint_write(argv[1], ckpt, state, 1);
        dome__ckpt_free(previous);
        previous = ckpt;
        checkpoint_state_free(state);
    }
    dome__ckpt_free(previous);
    for (size_t i = 0; i < G_N_ELEMENTS(basic); i++)
        g_free(values[i]);
    g_free(bodies);
    g_rand_free(rand);
    return dome_finalize(env);
}
