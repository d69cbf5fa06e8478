#include "structure_lists.h"

#include <dome/structure.h>
#include <stdlib.h>
#include <string.h>

struct list {
    size_t count, room;
    double *value;
};

struct lists {
    dome_object *object;
    dome_layout *layout;
    int rank;
    struct list *list; /* this task's, in the order of the layout's spans; NULL if none */
    dome_operation_code sums;
};

static struct list *new_lists(uint64_t count)
{
    return calloc(count > 0 ? (size_t)count : 1, sizeof(struct list));
}

static void free_lists(struct list *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        free(list[i].value);
    free(list);
}

/* The list with a global index, or NULL if another task owns it. */
static struct list *find(const lists *l, uint64_t index)
{
    uint64_t at = index < dome_layout_length(l->layout) ? dome_layout_position(l->layout, l->rank, index) : UINT64_MAX;
    return at == UINT64_MAX ? NULL : l->list + at;
}

/* The lists of a block, or NULL if another task owns it. */
static struct list *find_block(const lists *l, uint64_t block, uint64_t *count)
{
    if (block >= dome_layout_blocks(l->layout))
        return NULL;
    dome_span span = dome_layout_block(l->layout, block);
    *count = span.count;
    return find(l, span.first);
}

/* ---- the operation table ---- */

static dome_status describe(const dome_object *object, dome_object_info *info)
{
    const lists *l = dome_object_content(object);
    *info = (dome_object_info){
        .type = NULL, .length = dome_layout_length(l->layout), .width = 1, .distribution = DOME_DYNAMIC, .layout = l->layout};
    return DOME_OK;
}

static dome_status cost(const dome_object *object, uint64_t first, uint64_t count, double *cost)
{
    const lists *l = dome_object_content(object);
    for (uint64_t b = 0; b < count; b++) {
        uint64_t n = 0;
        const struct list *list = find_block(l, first + b, &n);
        if (!list)
            return DOME_ERR_ARGUMENT;
        cost[b] = 0;
        for (uint64_t i = 0; i < n; i++)
            cost[b] += 1 + (double)list[i].count;
    }
    return DOME_OK;
}

/* A list travels as its number of values, a U64, and the values. */
static dome_status packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    const lists *l = dome_object_content(object);
    *bytes = 0;
    for (uint64_t b = 0; b < count; b++) {
        uint64_t n = 0;
        const struct list *list = find_block(l, first + b, &n);
        if (!list)
            return DOME_ERR_ARGUMENT;
        for (uint64_t i = 0; i < n; i++)
            *bytes += dome_type_bytes(DOME_U64, format) + list[i].count * dome_type_bytes(DOME_F64, format);
    }
    return DOME_OK;
}

static dome_status pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes)
{
    const lists *l = dome_object_content(object);
    uint64_t needed;
    int status = packed_bytes(object, first, count, format, &needed);
    if (status != DOME_OK || needed != bytes)
        return DOME_ERR_ARGUMENT;
    char *to = buffer;
    for (uint64_t b = 0; b < count; b++) {
        uint64_t n = 0;
        const struct list *list = find_block(l, first + b, &n);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t length = list[i].count;
            dome_type_pack(DOME_U64, format, to, &length, 1);
            to += dome_type_bytes(DOME_U64, format);
            dome_type_pack(DOME_F64, format, to, list[i].value, list[i].count);
            to += list[i].count * dome_type_bytes(DOME_F64, format);
        }
    }
    return DOME_OK;
}

/* Fills one list from the bytes between *from and end. */
static int unpack_list(struct list *list, dome_format format, const char **from, const char *end)
{
    uint64_t length;
    size_t head = dome_type_bytes(DOME_U64, format), value = dome_type_bytes(DOME_F64, format);
    if ((size_t)(end - *from) < head)
        return DOME_ERR_FORMAT;
    dome_type_unpack(DOME_U64, format, &length, *from, 1);
    *from += head;
    if (length > (size_t)(end - *from) / value)
        return DOME_ERR_FORMAT;
    double *values = calloc(length > 0 ? (size_t)length : 1, sizeof *values);
    if (!values)
        return DOME_ERR_MEMORY;
    dome_type_unpack(DOME_F64, format, values, *from, (size_t)length);
    *from += length * value;
    free(list->value);
    *list = (struct list){(size_t)length, (size_t)length, values};
    return DOME_OK;
}

static dome_status unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes)
{
    const lists *l = dome_object_content(object);
    const char *from = buffer, *end = bytes > 0 ? from + bytes : from;
    for (uint64_t b = 0; b < count; b++) {
        uint64_t n = 0;
        struct list *list = find_block(l, first + b, &n);
        if (!list)
            return DOME_ERR_ARGUMENT;
        for (uint64_t i = 0; i < n; i++) {
            int status = unpack_list(&list[i], format, &from, end);
            if (status != DOME_OK)
                return status;
        }
    }
    return from == end ? DOME_OK : DOME_ERR_FORMAT;
}

static dome_status adopt(dome_object *object, const dome_layout *layout)
{
    lists *l = dome_object_content(object);
    if (!layout || dome_layout_length(layout) != dome_layout_length(l->layout) ||
        dome_layout_block_size(layout) != dome_layout_block_size(l->layout) ||
        dome_layout_tasks(layout) != dome_layout_tasks(l->layout))
        return DOME_ERR_ARGUMENT;
    struct list *list = new_lists(dome_layout_local(layout, l->rank));
    if (!list)
        return DOME_ERR_MEMORY;

    /* Lists that stay are taken over; the others are freed. */
    dome_span spans[2];
    int nspans = dome_layout_spans(layout, l->rank, spans);
    struct list *to = list;
    for (int s = 0; s < nspans; s++)
        for (uint64_t i = 0; i < spans[s].count; i++, to++) {
            struct list *stays = find(l, spans[s].first + i);
            if (stays) {
                *to = *stays;
                *stays = (struct list){0};
            }
        }
    free_lists(l->list, dome_layout_local(l->layout, l->rank));
    l->list = list;
    dome_layout *old = l->layout;
    l->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    return DOME_OK;
}

static void destroy(dome_object *object)
{
    lists *l = dome_object_content(object);
    free_lists(l->list, dome_layout_local(l->layout, l->rank));
    dome_layout_unref(l->layout);
    free(l);
}

/* For programs of dome-cc: they go on without their call of lists_new. */
static dome_object *make(dome_env *env, const char *name, const dome_object_info *info, const void *parameters, uint64_t bytes)
{
    (void)parameters, (void)bytes;
    lists *l = lists_new(env, name, (size_t)info->length);
    return l ? l->object : NULL;
}

static const dome_object_ops lists_ops = {
    .size = sizeof(dome_object_ops),
    .kind = "lists",
    .describe = describe,
    .cost = cost,
    .packed_bytes = packed_bytes,
    .pack = pack,
    .unpack = unpack,
    .adopt = adopt,
    .destroy = destroy,
    .make = make,
};

/* ---- for programs ---- */

lists *lists_new(dome_env *env, const char *name, size_t n)
{
    const dome_layout *layout = dome_env_layout(env, n, 0);
    lists *l = layout ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return NULL;
    l->layout = dome_layout_ref(layout);
    l->rank = dome_rank(env);
    l->list = new_lists(dome_layout_local(layout, l->rank));
    if (l->list)
        l->object = dome_object_new(env, name, &lists_ops, l);
    if (!l->object) {
        free(l->list);
        dome_layout_unref(l->layout);
        free(l);
        return NULL;
    }
    l->sums = dome_operation_register(env, "lists_sums", "sums:v", DOME_OPERATION_MOVES);
    return l;
}

void lists_free(lists *l)
{
    if (l)
        dome_object_free(l->object);
}

int lists_local(const lists *l, dome_span spans[2])
{
    return dome_layout_spans(l->layout, l->rank, spans);
}

int lists_push(lists *l, size_t index, double value)
{
    struct list *list = find(l, index);
    if (!list)
        return DOME_ERR_ARGUMENT;
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 4;
        double *values = realloc(list->value, room * sizeof *values);
        if (!values)
            return DOME_ERR_MEMORY;
        list->value = values;
        list->room = room;
    }
    list->value[list->count++] = value;
    return DOME_OK;
}

const double *lists_values(const lists *l, size_t index, size_t *count)
{
    const struct list *list = find(l, index);
    *count = list ? list->count : 0;
    return *count > 0 ? list->value : NULL;
}

static void sum_lists(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const lists *l = ctx;
    double *sums = out;
    (void)in;
    for (size_t i = 0; i < count; i++) {
        size_t n;
        const double *value = lists_values(l, first + i, &n);
        sums[i] = 0;
        for (size_t k = 0; k < n; k++)
            sums[i] += value[k];
    }
}

int lists_sums(dvec *sums, lists *l)
{
    uint64_t words[] = {dome_operation_object_word(dvec_object(sums))};
    dome_operation *op = dome_operation_begin(dome_object_env(l->object), l->sums, l->object, words, 1);
    dome_status status;
    if (dvec_type(sums) != DOME_F64 || dvec_distribution(sums) != DOME_DYNAMIC || dvec_width(sums) != 1 ||
        dvec_length(sums) != dome_layout_length(l->layout))
        status = dome_operation_fail(op, DOME_ERR_SHAPE, "'%s' has no element of type f64 for each list", dvec_name(sums));
    else /* both follow the shared layout of their length, so each task has the lists it is asked for */
        status = dvec_map(sums, sum_lists, l, 0, NULL);
    return dome_operation_end(op, status);
}

dome_object *lists_object(const lists *l)
{
    return l->object;
}
