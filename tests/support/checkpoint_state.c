#include "checkpoint_state.h"

#include <string.h>
#include <unistd.h>

checkpoint_state *checkpoint_state_new(const char *program)
{
    checkpoint_state *state = g_new0(checkpoint_state, 1);
    state->program = g_strdup(program);
    state->parts = g_ptr_array_new();
    return state;
}

void checkpoint_state_free(checkpoint_state *state)
{
    for (guint i = 0; i < state->parts->len; i++) {
        checkpoint_part *part = g_ptr_array_index(state->parts, i);
        g_free(part->name);
        g_free(part->kind);
        dome_layout_unref(part->layout);
        g_ptr_array_unref(part->blocks);
        g_free(part);
    }
    g_ptr_array_unref(state->parts);
    g_free(state->program);
    g_free(state);
}

static checkpoint_part *add(checkpoint_state *state, const char *name, const char *kind)
{
    checkpoint_part *part = g_new0(checkpoint_part, 1);
    part->name = g_strdup(name);
    part->kind = g_strdup(kind);
    part->blocks = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(state->parts, part);
    return part;
}

checkpoint_part *checkpoint_state_add(checkpoint_state *state, const char *name, dome_type type, uint64_t length, uint64_t width,
                                      uint64_t block_size, dome_distribution distribution, const void *elements)
{
    checkpoint_part *part = add(state, name, block_size ? "dvec" : "dscalar");
    part->info = (dome_object_info){.type = type, .length = length, .width = width, .distribution = distribution};
    part->fixed = true;
    if (block_size)
        part->info.layout = part->layout = dome_layout_even(length, block_size, 1);
    uint64_t blocks = block_size ? dome_layout_blocks(part->layout) : 1;
    for (uint64_t b = 0; b < blocks; b++) {
        dome_span span = block_size ? dome_layout_block(part->layout, b) : (dome_span){0, length};
        size_t values = span.count * width, bytes = values * dome_type_portable_size(type);
        char *packed = g_malloc(bytes + 1);
        dome_type_pack(type, DOME_PORTABLE, packed, (const char *)elements + span.first * width * dome_type_size(type), values);
        g_ptr_array_add(part->blocks, g_bytes_new_take(packed, bytes));
    }
    return part;
}

checkpoint_part *checkpoint_state_add_texts(checkpoint_state *state, const char *name, const char *const *texts, uint64_t blocks)
{
    checkpoint_part *part = add(state, name, "texts");
    part->layout = dome_layout_even(2 * blocks, 2, 1);
    part->info = (dome_object_info){.length = 2 * blocks, .width = 1, .distribution = DOME_DYNAMIC, .layout = part->layout};
    for (uint64_t b = 0; b < blocks; b++)
        g_ptr_array_add(part->blocks, g_bytes_new(texts[b], strlen(texts[b])));
    return part;
}

void checkpoint_part_set(checkpoint_part *part, uint64_t block, const void *bytes, size_t count)
{
    g_bytes_unref(part->blocks->pdata[block]);
    part->blocks->pdata[block] = g_bytes_new(bytes, count);
}

/* ---- the known state ---- */

typedef struct point {
    int16_t x, y;
} point;

typedef struct particle {
    uint8_t tag;
    double mass;
    point at[2];
    int8_t charge;
} particle;

static void add_particles(checkpoint_state *state, dome_env *env)
{
    const dome_field of_point[] = {{"x", DOME_I16, offsetof(point, x), 1}, {"y", DOME_I16, offsetof(point, y), 1}};
    dome_type point_type = dome_type_struct(env, "point", sizeof(point), of_point, 2, sizeof(dome_field));
    const dome_field of_particle[] = {{"tag", DOME_U8, offsetof(particle, tag), 1},
                                      {"mass", DOME_F64, offsetof(particle, mass), 1},
                                      {"at", point_type, offsetof(particle, at), 2},
                                      {"charge", DOME_I8, offsetof(particle, charge), 1}};
    dome_type type = dome_type_struct(env, "particle", sizeof(particle), of_particle, 4, sizeof(dome_field));
    particle p[11];
    for (int i = 0; i < 11; i++)
        p[i] = (particle){(uint8_t)(200 + i), i * 0.25, {{(int16_t)i, (int16_t)-i}, {(int16_t)(100 * i), 7}}, (int8_t)(3 - i)};
    checkpoint_state_add(state, "particles", type, 11, 1, 4, DOME_DYNAMIC, p);
}

/* Element i of every basic type is 3 i - 7, in unsigned types 3 i, complex (3 i - 7, i). */
static void add_basic_types(checkpoint_state *state)
{
#define ADD_INTEGERS(suffix, type, ctype, offset)                                                                                \
    do {                                                                                                                         \
        ctype v[10];                                                                                                             \
        for (int i = 0; i < 10; i++)                                                                                             \
            v[i] = (ctype)(3 * i - offset);                                                                                      \
        checkpoint_state_add(state, "all of " suffix, type, 10, 1, 4, DOME_BLOCK, v);                                            \
    } while (0)
    ADD_INTEGERS("i8", DOME_I8, int8_t, 7);
    ADD_INTEGERS("i16", DOME_I16, int16_t, 7);
    ADD_INTEGERS("i32", DOME_I32, int32_t, 7);
    ADD_INTEGERS("i64", DOME_I64, int64_t, 7);
    ADD_INTEGERS("u8", DOME_U8, uint8_t, 0);
    ADD_INTEGERS("u16", DOME_U16, uint16_t, 0);
    ADD_INTEGERS("u32", DOME_U32, uint32_t, 0);
    ADD_INTEGERS("u64", DOME_U64, uint64_t, 0);
    ADD_INTEGERS("f32", DOME_F32, float, 7);
    ADD_INTEGERS("f64", DOME_F64, double, 7);
#undef ADD_INTEGERS
    float c64[20];
    double c128[20];
    for (int i = 0; i < 10; i++) {
        c128[2 * i] = c64[2 * i] = (float)(3 * i - 7);
        c128[2 * i + 1] = c64[2 * i + 1] = (float)i;
    }
    checkpoint_state_add(state, "all of c64", DOME_C64, 10, 1, 4, DOME_BLOCK, c64);
    checkpoint_state_add(state, "all of c128", DOME_C128, 10, 1, 4, DOME_BLOCK, c128);
}

checkpoint_state *checkpoint_state_known(dome_env *env, int step)
{
    checkpoint_state *state = checkpoint_state_new("known");
    static const char *const texts[] = {"some", "", "text", "of no fixed length"};
    double sqrt2 = 1.4142135623730951;
    int64_t steps = step;
    state->seed = UINT64_MAX - 1;
    add_basic_types(state);

    /* A matrix of 100 x 3; the second step changes one element, the last. */
    double matrix[300];
    for (int i = 0; i < 300; i++)
        matrix[i] = i / 8.0;
    if (step > 1)
        matrix[299] = -1;
    checkpoint_state_add(state, "matrix", DOME_F64, 100, 3, 32, DOME_DYNAMIC, matrix);
    add_particles(state, env);
    checkpoint_state_add(state, "empty", DOME_F64, 0, 1, 1, DOME_DYNAMIC, matrix);
    checkpoint_state_add(state, "whole", DOME_F32, 3, 1, 1, DOME_WHOLE, &(float[]){1, 2, 3});
    checkpoint_state_add(state, "root of two", DOME_F64, 1, 1, 0, DOME_WHOLE, &sqrt2);
    checkpoint_state_add(state, "steps", DOME_I64, 1, 1, 0, DOME_WHOLE, &steps);
    checkpoint_state_add_texts(state, "texts", texts, 4);
    return state;
}

/* ---- to and from files ---- */

dome_ckpt *checkpoint_describe(const checkpoint_state *state, uint64_t number)
{
    char *message = NULL;
    dome_ckpt *ckpt = dome__ckpt_new(state->program, number, 10 * number);
    g_assert_true(dome__ckpt_add_counter(ckpt, "random", state->seed, &message));
    for (guint i = 0; i < state->parts->len; i++) {
        const checkpoint_part *part = g_ptr_array_index(state->parts, i);
        const dome_object_info *info = &part->info;
        const dome_ckpt_description description = {.name = part->name,
                                                   .kind = part->kind,
                                                   .type = info->type,
                                                   .length = info->length,
                                                   .width = info->width,
                                                   .distribution = info->distribution,
                                                   .block_size = part->layout ? dome_layout_block_size(part->layout) : 0,
                                                   .fixed = part->fixed};
        dome__ckpt_add_object(ckpt, &description, &message);
        g_assert_cmpstr(message, ==, NULL);
    }
    dome__ckpt_make_table(ckpt);
    for (guint i = 0; i < state->parts->len; i++) {
        const checkpoint_part *part = g_ptr_array_index(state->parts, i);
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        g_assert_cmpuint(object->blocks, ==, part->blocks->len);
        for (guint b = 0; b < part->blocks->len; b++) {
            dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
            gsize bytes;
            const void *data = g_bytes_get_data(part->blocks->pdata[b], &bytes);
            if (part->fixed)
                g_assert_cmpuint(e->length, ==, bytes);
            e->length = bytes;
            e->sum = dome__checksum(data, bytes);
        }
    }
    return ckpt;
}

void checkpoint_write(const char *directory, dome_ckpt *ckpt, const checkpoint_state *state, unsigned writers)
{
    char *message = NULL;
    int first = dome__store_create(directory, ckpt, &message);
    g_assert_cmpstr(message, ==, NULL);
    for (unsigned w = 0; w < writers; w++) {
        int fd = dome__store_join(directory, ckpt, &message);
        g_assert_cmpstr(message, ==, NULL);
        guint nth = 0;
        for (guint i = 0; i < state->parts->len; i++) {
            const checkpoint_part *part = g_ptr_array_index(state->parts, i);
            for (guint b = 0; b < part->blocks->len; b++) {
                const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, dome__ckpt_object(ckpt, i), b);
                if (e->source != ckpt->number || nth++ % writers != writers - 1 - w)
                    continue;
                gsize bytes;
                const void *data = g_bytes_get_data(part->blocks->pdata[b], &bytes);
                g_assert_true(dome__store_write(fd, data, bytes, e->offset, &message));
            }
        }
        g_assert_true(dome__store_sync(fd, NULL, NULL, &message));
        close(fd);
    }
    dome__store_commit(directory, ckpt, first, &message);
    g_assert_cmpstr(message, ==, NULL);
}

void checkpoint_check(dome_ckpt_file *file, const checkpoint_state *state)
{
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    g_assert_cmpuint(ckpt->objects->len, ==, state->parts->len);
    for (guint i = 0; i < state->parts->len; i++) {
        const checkpoint_part *part = g_ptr_array_index(state->parts, i);
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        g_assert_cmpstr(object->name, ==, part->name);
        g_assert_cmpstr(object->kind, ==, part->kind);
        g_assert_true(dome__ckpt_type_fits(ckpt, object->type, part->info.type));
        g_assert_cmpuint(object->blocks, ==, part->blocks->len);
        for (guint b = 0; b < part->blocks->len; b++) {
            gsize bytes;
            char *message = NULL;
            const void *data = g_bytes_get_data(part->blocks->pdata[b], &bytes);
            g_assert_cmpuint(dome__ckpt_entry(ckpt, object, b)->length, ==, bytes);
            char *buffer = g_malloc(bytes + 1);
            dome__ckpt_read(file, object, b, buffer, &message);
            g_assert_cmpstr(message, ==, NULL);
            g_assert_cmpmem(buffer, bytes, data, bytes);
            g_free(buffer);
        }
    }
}
