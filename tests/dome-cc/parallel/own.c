/* own STEPS: a structure of the program's own, cells with particles in linked lists, each task's in its own heap. It is made in a
 * function and used in nested ones; a second one comes and goes. The program is told of views, has an operation of its own, and
 * holds layouts. */
#include <dome/dome.h>
#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 300 };

struct particle {
    double place, speed;
    int32_t serial;
    struct particle *next;
};

typedef struct cells {
    dome_object *object;
    dome_layout *layout;
    int rank;
    dvec *wind;              /* of another object: a speed for each cell */
    double friction;         /* the same on all tasks */
    struct particle **first; /* of each cell of this task */
    dome_operation_code step, sum;
} cells;

static const double weight[] = {1, 0.5};

/* ---- blocks ---- */

static struct particle **find(const cells *c, uint64_t cell)
{
    const uint64_t at = cell < dome_layout_length(c->layout) ? dome_layout_position(c->layout, c->rank, cell) : UINT64_MAX;
    return at == UINT64_MAX ? NULL : &c->first[at];
}

static struct particle **find_block(const cells *c, uint64_t block, uint64_t *count)
{
    const dome_span span = dome_layout_block(c->layout, block);
    *count = span.count;
    return find(c, span.first);
}

static uint32_t length(const struct particle *p)
{
    uint32_t n = 0;
    for (; p; p = p->next)
        n++;
    return n;
}

static void drop(struct particle **first)
{
    while (*first) {
        struct particle *p = *first;
        *first = p->next;
        free(p);
    }
}

static struct particle *append(struct particle **first, double place, double speed, int32_t serial)
{
    struct particle *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = (struct particle){place, speed, serial, NULL};
    while (*first)
        first = &(*first)->next;
    *first = p;
    return p;
}

static dome_status describe(const dome_object *object, dome_object_info *info)
{
    const cells *c = dome_object_content(object);
    *info = (dome_object_info){
        .length = dome_layout_length(c->layout), .width = 1, .distribution = DOME_DYNAMIC, .layout = c->layout};
    return DOME_OK;
}

static size_t one_bytes(dome_format format)
{
    return 2 * dome_type_bytes(DOME_F64, format) + dome_type_bytes(DOME_I32, format);
}

static dome_status packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    *bytes = 0;
    for (uint64_t b = first; b < first + count; b++) {
        uint64_t n;
        struct particle **list = find_block(dome_object_content(object), b, &n);
        if (!list)
            return DOME_ERR_ARGUMENT;
        for (uint64_t k = 0; k < n; k++)
            *bytes += dome_type_bytes(DOME_U32, format) + length(list[k]) * one_bytes(format);
    }
    return DOME_OK;
}

static char *put(char *to, dome_type type, dome_format format, const void *value)
{
    dome_type_pack(type, format, to, value, 1);
    return to + dome_type_bytes(type, format);
}

static const char *get(const char *from, dome_type type, dome_format format, void *value)
{
    dome_type_unpack(type, format, value, from, 1);
    return from + dome_type_bytes(type, format);
}

static dome_status pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes)
{
    char *to = buffer;
    for (uint64_t b = first; b < first + count; b++) {
        uint64_t n;
        struct particle **list = find_block(dome_object_content(object), b, &n);
        for (uint64_t k = 0; k < n; k++) {
            const uint32_t all = length(list[k]);
            to = put(to, DOME_U32, format, &all);
            for (const struct particle *p = list[k]; p; p = p->next) {
                to = put(to, DOME_F64, format, &p->place);
                to = put(to, DOME_F64, format, &p->speed);
                to = put(to, DOME_I32, format, &p->serial);
            }
        }
    }
    return to == (char *)buffer + bytes ? DOME_OK : DOME_ERR_ARGUMENT;
}

static dome_status unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes)
{
    const char *from = buffer, *end = from + bytes;
    for (uint64_t b = first; b < first + count; b++) {
        uint64_t n;
        struct particle **list = find_block(dome_object_content(object), b, &n);
        for (uint64_t k = 0; k < n; k++) {
            uint32_t all;
            if ((size_t)(end - from) < dome_type_bytes(DOME_U32, format))
                return DOME_ERR_FORMAT;
            from = get(from, DOME_U32, format, &all);
            if (all > (size_t)(end - from) / one_bytes(format))
                return DOME_ERR_FORMAT;
            drop(&list[k]);
            for (struct particle **last = &list[k]; all > 0; all--, last = &(*last)->next) {
                struct particle p;
                from = get(from, DOME_F64, format, &p.place);
                from = get(from, DOME_F64, format, &p.speed);
                from = get(from, DOME_I32, format, &p.serial);
                append(last, p.place, p.speed, p.serial);
            }
        }
    }
    return from == end ? DOME_OK : DOME_ERR_FORMAT;
}

static dome_status adopt(dome_object *object, const dome_layout *layout)
{
    cells *c = dome_object_content(object);
    struct particle **first = calloc(dome_layout_local(layout, c->rank) + 1, sizeof *first);
    if (!first)
        return DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < dome_layout_length(layout); k++) {
        const uint64_t at = dome_layout_position(layout, c->rank, k);
        struct particle **old = find(c, k);
        if (at != UINT64_MAX && old) {
            first[at] = *old;
            *old = NULL;
        }
    }
    for (uint64_t k = 0; k < dome_layout_local(c->layout, c->rank); k++)
        drop(&c->first[k]);
    free(c->first);
    c->first = first;
    dome_layout_unref(c->layout);
    c->layout = dome_layout_ref(layout);
    return DOME_OK;
}

static void destroy(dome_object *object)
{
    cells *c = dome_object_content(object);
    for (uint64_t k = 0; k < dome_layout_local(c->layout, c->rank); k++)
        drop(&c->first[k]);
    free(c->first);
    dome_layout_unref(c->layout);
    free(c);
}

/* ---- made again ---- */

static cells *cells_new(dome_env *env, const char *name, uint64_t n, dvec *wind, double friction);

/* The friction, and the name of the vector. */
static uint64_t parameters(const dome_object *object, void *buffer)
{
    const cells *c = dome_object_content(object);
    const char *name = dvec_name(c->wind);
    if (buffer)
        strcpy(put(buffer, DOME_F64, DOME_PORTABLE, &c->friction), name);
    return dome_type_bytes(DOME_F64, DOME_PORTABLE) + strlen(name) + 1;
}

static dome_object *make(dome_env *env, const char *name, const dome_object_info *info, const void *buffer, uint64_t bytes)
{
    double friction;
    const size_t head = dome_type_bytes(DOME_F64, DOME_PORTABLE);
    if (bytes <= head || ((const char *)buffer)[bytes - 1] != '\0')
        return NULL;
    const char *of_wind = get(buffer, DOME_F64, DOME_PORTABLE, &friction);
    dome_object *wind = dome_object_find(env, of_wind);
    cells *c = wind ? cells_new(env, name, info->length, dome_object_content(wind), friction) : NULL;
    return c ? c->object : NULL;
}

static const dome_object_ops ops = {.size = sizeof(dome_object_ops),
                                    .kind = "cells",
                                    .describe = describe,
                                    .packed_bytes = packed_bytes,
                                    .pack = pack,
                                    .unpack = unpack,
                                    .adopt = adopt,
                                    .destroy = destroy,
                                    .make = make,
                                    .parameters = parameters};

static cells *cells_new(dome_env *env, const char *name, uint64_t n, dvec *wind, double friction)
{
    cells *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    const dome_layout *layout = dome_env_layout(env, n, 0);
    c->layout = dome_layout_ref(layout);
    c->rank = dome_rank(env);
    c->wind = wind;
    c->friction = friction;
    c->first = calloc(dome_layout_local(layout, c->rank) + 1, sizeof *c->first);
    c->step = dome_operation_register(env, "cells_step", "friction:f", DOME_OPERATION_MOVES);
    c->sum = dome_operation_register(env, "cells_sum", "sums:v", DOME_OPERATION_MOVES);
    c->object = dome_object_new(env, name, &ops, c);
    return c->object ? c : NULL;
}

/* ---- for the program ---- */

struct step {
    cells *c;
    int k;
};

/* Particles are pushed by the wind of their cell; some end, and some begin. */
static void push(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct step *s = ctx;
    for (size_t i = 0; i < count; i++) {
        const double wind = ((const double *)in[0])[i];
        struct particle **list = find(s->c, first + i);
        for (struct particle *p = *list; p; p = p->next) {
            p->speed = s->c->friction * p->speed + wind;
            p->place += p->speed * weight[p->serial % 2];
        }
        if (*list && (*list)->place > 40) {
            struct particle *gone = *list;
            *list = gone->next;
            free(gone);
        }
        if ((first + i) % 7 == (uint64_t)s->k % 7)
            append(list, (double)(first + i), 0, s->k);
        ((double *)out)[i] = wind + 0.001 * (double)length(*list);
    }
}

static void cells_step(dome_env *env, cells *c, int k)
{
    uint64_t words[] = {dome_operation_f64_word(c->friction)};
    dome_operation *op = dome_operation_begin(env, c->step, c->object, words, 1);
    struct step s = {c, k};
    dome_operation_end(op, dvec_map(c->wind, push, &s, 1, &c->wind));
}

static void add(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)in;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (const struct particle *p = *find(ctx, first + i); p; p = p->next)
            sum = 0.9 * sum + p->place + p->serial;
        ((double *)out)[i] = sum;
    }
}

static double cells_sum(dome_env *env, cells *c)
{
    dvec *sums = dvec_new(env, NULL, DOME_F64, CELLS);
    uint64_t words[] = {dome_operation_object_word(dvec_object(sums))};
    dome_operation *op = dome_operation_begin(env, c->sum, c->object, words, 1);
    dome_operation_end(op, dvec_map(sums, add, c, 0, NULL));
    const double sum = dvec_sum(sums);
    dvec_free(sums);
    return sum;
}

/* Of the last view of which the program was told; in the heap. */
struct news {
    uint64_t epoch;
    int times;
};

/* A layout of the program's own. */
struct plan {
    dome_layout *layout;
};

static void told(dome_env *env, const dome_view_news *news, void *data)
{
    struct news *of = data;
    if (news->tasks != dome_size(env))
        dome_abort(env, "told of %d tasks", news->tasks);
    of->epoch = news->epoch;
    of->times++;
}

/* An operation of the program's: its code is in a variable. */
static void round_of(dome_env *env, dome_operation_code code, int k, cells *c, cells *other, double sums[2])
{
    const uint64_t words[] = {(uint64_t)k};
    dome_operation *op = dome_operation_begin(env, code, NULL, words, 1);
    if (!op)
        dome_abort(env, "no operation %u", code);
    sums[0] = cells_sum(env, c);
    sums[1] = other ? cells_sum(env, other) : 0;
    dome_operation_end(op, DOME_OK);
}

static void advance(dome_env *env, cells *c, int k, int depth)
{
    if (depth > 0) {
        advance(env, c, k, depth - 1);
        return;
    }
    cells_step(env, c, k);
    dome_checkpoint(env);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const dome_operation_code code = dome_operation_register(env, "own_round", "k:u", DOME_OPERATION_MOVES);
    struct news *news = calloc(1, sizeof *news);
    dome_on_view(env, told, news);
    const uint64_t counts[] = {100, 0, 150, 40, 10};
    struct plan *plan = calloc(1, sizeof *plan);
    plan->layout = dome_layout_new(CELLS, 1, 5, 20, counts);
    dome_layout *same = dome_layout_ref(plan->layout);
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    dvec *wind = dvec_new(env, NULL, DOME_F64, CELLS);
    dvec_random(wind, 7);
    cells *c = cells_new(env, "cells", CELLS, wind, 0.75), *other = NULL;
    struct particle *kept = NULL;
    append(&kept, 1, 2, 3);
    for (int k = 0; k < steps; k++) {
        if (k % 4 == 1)
            other = cells_new(env, NULL, CELLS, wind, 0.5);
        advance(env, c, k, k % 3);
        if (other)
            advance(env, other, k, 1);
        double sums[2];
        round_of(env, code, k, c, other, sums);
        uint64_t first, count = dome_layout_run(same, 3, &first);
        dome_print(env, "%d: %.17g %.17g %g; %d %d of %d\n", k, sums[0], sums[1], kept->speed, (int)first, (int)count,
                   dome_layout_tasks(plan->layout));
        if (k % 3 == 2) { /* another one */
            dome_layout_unref(plan->layout);
            plan->layout = dome_layout_even(CELLS, 1, k + 1);
        }
        if (k % 6 == 5) {
            dome_layout_unref(same);
            same = dome_layout_ref(plan->layout);
        }
        if (dome_epoch(env) > 0 && (news->epoch != dome_epoch(env) || news->times == 0))
            dome_abort(env, "told of view %d, not of %d", (int)news->epoch, (int)dome_epoch(env));
        kept->speed += 1;
        if (k % 4 == 3) {
            dome_object_free(other->object);
            other = NULL;
        }
    }
    dome_layout_unref(plan->layout);
    dome_layout_unref(same);
    free(plan);
    free(news);
    free(kept);
    return dome_finalize(env);
}
