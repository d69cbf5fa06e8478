#include "capture/image_object.h"

#include "capture/image_private.h"
#include "capture/library.h"
#include "ckpt/checkpoint.h"
#include "core/object_private.h"
#include "program/program_operations.h"
#include "system/bytes.h"
#include "system/checksum.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_MOST = 1024 };

struct dome_capture_image_object {
    dome_env *env;
    dome_object *object, *of_tasks; /* of_tasks NULL: nothing differs */
    dome_capture_image *image;      /* this task's */
    bool captured;
    char *problem;      /* why there is no image, the same on all tasks */
    char *bound, *told; /* why the number of tasks must stay; of what was printed last, the place */
    char *sentence;     /* the same, for whoever refuses another number */

    GByteArray *index; /* block 0; NULL: the program makes no calls of Dome, and its image has none */
    uint64_t *lengths; /* by rank: blocks of the task's image */
    GArray *differing; /* uint64_t: blocks that differ */
    GArray *common;    /* uint64_t: the others */
    uint64_t length, tasks_length, tasks_first;
    dome_layout *layout, *tasks_layout;

    GPtrArray *read, *own; /* restarting: GBytes, by block of the two objects */
};

static uint64_t item(const GArray *list, uint64_t k)
{
    return g_array_index(list, uint64_t, k);
}

/* ---- the objects ---- */

static bool is_main(const dome_object *object)
{
    const dome_capture_image_object *s = dome_object_content(object);
    return s->object ? object == s->object : strcmp(dome_object_name(object), DOME_CAPTURE_TASKS_NAME) != 0;
}

static dome_status describe(const dome_object *object, dome_object_info *info)
{
    const dome_capture_image_object *s = dome_object_content(object);
    const bool all = is_main(object);
    *info = (dome_object_info){.length = all ? s->length : s->tasks_length,
                               .width = 1,
                               .distribution = all ? DOME_WHOLE : DOME_BLOCK,
                               .layout = all ? s->layout : s->tasks_layout};
    return DOME_OK;
}

/* Reason why the object has no values: the program has not been captured, or there is no image of it. */
static const char *why(const dome_object *object)
{
    const dome_capture_image_object *s = dome_object_content(object);
    return s->captured ? s->problem : "the program is not captured";
}

static dome_status sync_image(dome_object *object)
{
    return why(object) ? DOME_ERR_STATE : DOME_OK;
}

static uint64_t index_blocks(const dome_capture_image_object *s)
{
    return s->index ? 1 : 0;
}

/* Maps block k of an object to the block of this task's image that holds it. False: none does, or k is the index. */
static bool block_of(const dome_object *object, uint64_t k, uint64_t *block)
{
    const dome_capture_image_object *s = dome_object_content(object);
    const bool all = is_main(object);
    const GArray *list = all ? s->common : s->differing;
    const uint64_t first = all ? index_blocks(s) : s->tasks_first;
    if (!s->captured || s->problem || k < first || k - first >= list->len)
        return false;
    *block = item(list, k - first);
    return *block < s->lengths[s->env->rank];
}

static dome_status block_bytes(const dome_object *object, uint64_t k, uint64_t *bytes)
{
    const dome_capture_image_object *s = dome_object_content(object);
    uint64_t block;
    if (k < index_blocks(s) && is_main(object)) {
        *bytes = s->index->len;
        return DOME_OK;
    }
    if (!block_of(object, k, &block))
        return DOME_ERR_STATE;
    *bytes = dome__capture_image_block_bytes(s->image, block);
    return DOME_OK;
}

static dome_status write_bytes(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes)
{
    dome_status status = DOME_OK;
    *bytes = 0;
    for (uint64_t k = first; k < first + count && status == DOME_OK; k++) {
        uint64_t one = 0;
        status = block_bytes(object, k, &one);
        *bytes += one;
    }
    return status;
}

static dome_status write_blocks(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes)
{
    const dome_capture_image_object *s = dome_object_content(object);
    uint64_t expected, block, one = 0;
    dome_status status = write_bytes(object, first, count, &expected);
    if (status != DOME_OK || expected != bytes)
        return status != DOME_OK ? status : DOME_ERR_ARGUMENT;
    uint8_t *to = buffer;
    for (uint64_t k = first; k < first + count; k++) {
        block_bytes(object, k, &one);
        if (block_of(object, k, &block))
            dome__capture_image_write_block(s->image, block, to);
        else
            memcpy(to, s->index->data, s->index->len);
        to += one;
    }
    return DOME_OK;
}

static void unref_bytes(void *bytes)
{
    if (bytes)
        g_bytes_unref(bytes);
}

/* Blocks have any length, which only a reader of single blocks knows. Without an index the object is the image, and is read in
 * its order. Otherwise they may come in any order, and are read when all are there. */
static dome_status read_block(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes)
{
    const dome_capture_image_object *s = dome_object_content(object);
    const bool all = is_main(object);
    const uint64_t k = all ? first : first - s->tasks_first;
    GPtrArray *to = all ? s->read : s->own;
    if (count == 1 && !s->index)
        return dome__capture_image_read_block(s->image, first, buffer, bytes);
    if (count != 1 || k >= to->len)
        return DOME_ERR_FORMAT;
    unref_bytes(to->pdata[k]);
    to->pdata[k] = g_bytes_new(buffer, (gsize)bytes);
    return DOME_OK;
}

static dome_status packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    (void)format;
    return write_bytes(object, first, count, bytes);
}

static dome_status pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes)
{
    (void)format;
    return write_blocks(object, first, count, buffer, bytes);
}

static dome_status unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes)
{
    (void)format;
    return read_block(object, first, count, buffer, bytes);
}

static void destroy(dome_object *object)
{
    dome_capture_image_object *s = dome_object_content(object);
    if (!is_main(object))
        return;
    dome__capture_image_free(s->image);
    dome_layout_unref(s->layout);
    dome_layout_unref(s->tasks_layout);
    g_clear_pointer(&s->index, g_byte_array_unref);
    g_array_unref(s->differing);
    g_array_unref(s->common);
    g_clear_pointer(&s->read, g_ptr_array_unref);
    g_clear_pointer(&s->own, g_ptr_array_unref);
    g_free(s->lengths);
    g_free(s->problem);
    g_free(s->bound);
    g_free(s->sentence);
    g_free(s->told);
    g_free(s);
}

#define OPS(name, settle)                                                                                                        \
    {                                                                                                                            \
        .size = sizeof(dome_object_ops), .kind = (name), .describe = describe, .sync = (settle), .packed_bytes = packed_bytes,   \
        .pack = pack, .unpack = unpack, .write_bytes = write_bytes, .write = write_blocks, .read = read_block,                   \
        .destroy = destroy,                                                                                                      \
    }

static const dome_object_ops alone_ops = OPS("image", NULL), image_ops = OPS("image", sync_image),
                             tasks_ops = OPS("image of tasks", sync_image);

/* ---- layouts ---- */

/* The blocks that are alike, and those of each task, from `lengths` and `differing`. */
static void cut(dome_capture_image_object *s)
{
    const int tasks = s->env->size;
    uint64_t *counts = g_new0(uint64_t, tasks), next = 0;
    g_array_set_size(s->common, 0);
    for (uint64_t k = 0; k < s->lengths[0]; k++) {
        if (next < s->differing->len && item(s->differing, next) == k)
            next++;
        else
            g_array_append_val(s->common, k);
    }
    s->tasks_length = s->tasks_first = 0;
    for (int r = 0; r < tasks; r++) {
        if (r == s->env->rank)
            s->tasks_first = s->tasks_length;
        for (guint k = 0; k < s->differing->len; k++)
            counts[r] += item(s->differing, k) < s->lengths[r];
        s->tasks_length += counts[r];
    }
    s->length = index_blocks(s) + s->common->len;
    dome_layout_unref(s->layout);
    dome_layout_unref(s->tasks_layout);
    s->layout = dome_layout_new(s->length, 1, 1, 0, &s->length);
    s->tasks_layout = s->tasks_length > 0 ? dome_layout_new(s->tasks_length, 1, tasks, 0, counts) : NULL;
    g_free(counts);
}

static void make_of_tasks(dome_capture_image_object *s)
{
    if (s->tasks_length > 0 && !s->of_tasks) {
        s->of_tasks = dome_object_new(s->env, DOME_CAPTURE_TASKS_NAME, &tasks_ops, s);
        if (s->of_tasks)
            dome__object_defers(s->of_tasks, why);
        if (s->of_tasks)
            dome__object_binds(s->of_tasks);
    } else if (s->tasks_length == 0) {
        dome_object_free(g_steal_pointer(&s->of_tasks));
    }
}

static void put_index(dome_capture_image_object *s)
{
    const uint32_t tasks = s->differing->len > 0 ? (uint32_t)s->env->size : 0;
    g_byte_array_set_size(s->index, 0);
    dome__append_u32(s->index, IMAGE_VERSION_HANDLES);
    dome__append_u32(s->index, tasks);
    dome__append_text(s->index, s->bound ? s->bound : "", TEXT_MOST);
    for (uint32_t r = 0; r < MAX(tasks, 1); r++)
        dome__append_u64(s->index, s->lengths[r]);
    dome__append_u64(s->index, s->differing->len);
    for (guint k = 0; k < s->differing->len; k++)
        dome__append_u64(s->index, item(s->differing, k));
}

/* ---- taking ---- */

/* *problem: on all tasks that of the lowest rank that has one, which is named unless it is task 0; NULL: none has. */
static int agree_problem(dome_env *env, char **problem)
{
    int from = 0, status = dome__agree_text(env->transport, problem, &from);
    if (from > 0) {
        char *text = g_strdup_printf("on task %d: %s", from, *problem);
        g_free(*problem);
        *problem = text;
    }
    return status;
}

/* Each task has its own errno, of isatty that task 0 alone calls for its output, say: all go on with task 0's. */
static int share_errno(dome_env *env)
{
    int *error = dome__capture_library_errno();
    int64_t value = error ? *error : 0;
    const int status = error ? dome__bcast(env->transport, 0, DOME_I64, &value, 1) : DOME_OK;
    if (error)
        *error = (int)value;
    return status;
}

/* Blocks have any size: one with a flexible last member may be larger than an array of GLib's. */
static uint64_t checksum(const dome_capture_image_object *s, uint64_t block, uint8_t *buffer)
{
    const uint64_t bytes = dome__capture_image_block_bytes(s->image, block);
    dome__capture_image_write_block(s->image, block, buffer);
    const dome_checksum sum = dome__checksum(buffer, (size_t)bytes);
    return dome__get_u64(sum.bytes) | 1; /* 0: there is no such block */
}

/* Finds the blocks that are not the same on all tasks. */
static int compare(dome_capture_image_object *s)
{
    dome_env *env = s->env;
    const uint64_t own = dome__capture_image_blocks(s->image);
    uint64_t most = 0, longest = 0;
    int status = dome__allgather(env->transport, DOME_U64, &own, 1, s->lengths);
    for (int r = 0; r < env->size; r++)
        most = MAX(most, s->lengths[r]);
    for (uint64_t k = 0; k < own; k++)
        longest = MAX(longest, dome__capture_image_block_bytes(s->image, k));
    uint8_t *buffer = g_malloc((gsize)longest + 1);
    uint64_t *sums = g_new0(uint64_t, 2 * most); /* and their complements: the least is the complement of the greatest */
    for (uint64_t k = 0; k < most && env->size > 1; k++) {
        sums[k] = k < own ? checksum(s, k, buffer) : 0;
        sums[most + k] = ~sums[k];
    }
    if (status == DOME_OK && env->size > 1)
        status = dome__allreduce(env->transport, DOME_U64, sums, 2 * most, dome__combine_max_u64, NULL);
    g_array_set_size(s->differing, 0);
    for (uint64_t k = 0; k < most && env->size > 1; k++)
        if (sums[k] != ~sums[most + k])
            g_array_append_val(s->differing, k);
    g_free(sums);
    g_free(buffer);
    return status;
}

/* The first of the differing blocks from which a reader learns most: variables, then the heap, then numbers about it. */
static uint64_t telling(const dome_capture_image_object *s)
{
    const uint64_t first = item(s->differing, 0);
    return first == 0 && s->differing->len > 1 ? item(s->differing, 1) : first;
}

/* Says where the first difference to task 0 is. */
static int name_difference(dome_capture_image_object *s)
{
    dome_env *env = s->env;
    const uint64_t block = telling(s);
    uint64_t length = env->rank == 0 && block < s->lengths[0] ? dome__capture_image_block_bytes(s->image, block) : 0;
    int status = dome__bcast(env->transport, 0, DOME_U64, &length, 1);
    uint8_t *bytes = g_malloc0((gsize)length + 1);
    if (env->rank == 0 && length > 0)
        dome__capture_image_write_block(s->image, block, bytes);
    if (status == DOME_OK && length > 0)
        status = dome__bcast(env->transport, 0, DOME_U8, bytes, length);
    bool same = env->rank == 0 || (block >= s->lengths[0] && block >= s->lengths[env->rank]);
    if (env->rank > 0 && block < s->lengths[env->rank] && dome__capture_image_block_bytes(s->image, block) == length) {
        uint8_t *mine = g_malloc((gsize)length + 1);
        dome__capture_image_write_block(s->image, block, mine);
        same = memcmp(mine, bytes, (size_t)length) == 0;
        g_free(mine);
    }
    g_free(s->bound);
    s->bound = same ? NULL : dome__capture_image_say_difference(s->image, block, env->rank, bytes, length, 0);
    g_free(bytes);
    return status == DOME_OK ? dome__agree_text(env->transport, &s->bound, NULL) : status;
}

/* Once for each. */
static void tell(dome_capture_image_object *s)
{
    const char *values = s->bound ? strstr(s->bound, " is ") : NULL; /* of one place only once */
    char *place = g_strndup(s->bound ? s->bound : "", values ? (gsize)(values - s->bound) : TEXT_MOST);
    const bool again = !s->bound || g_strcmp0(place, s->told) == 0;
    if (!again) {
        g_free(s->told);
        s->told = g_strdup(place);
    }
    g_free(place);
    if (again)
        return;
    if (s->env->rank != 0)
        return;
    char *line = g_strdup_printf("values differ between tasks (%s): with them the program goes on with %d tasks only", s->bound,
                                 s->env->size);
    s->env->hooks->say(s->env, line);
    g_free(line);
}

static void take_own(dome_capture_image_object *s, const char *refused)
{
    g_free(s->problem);
    s->problem = refused ? g_strdup(refused) : dome__capture_image_take(s->image);
    s->captured = true;
}

/* A program without calls of Dome is one task: all blocks are the same everywhere. */
static void take_alone(dome_capture_image_object *s, const char *refused)
{
    take_own(s, refused);
    if (s->problem)
        return;
    s->lengths[0] = dome__capture_image_blocks(s->image);
    cut(s);
}

/* Each task has its image. Finds the blocks that are equal on all tasks, and the blocks that differ. */
static int divide(dome_capture_image_object *s)
{
    int status = DOME_OK;
    g_clear_pointer(&s->bound, g_free);
    cut(s);
    if (s->differing->len > 0)
        status = name_difference(s);
    put_index(s);
    tell(s);
    make_of_tasks(s);
    return status;
}

dome_status dome__capture_image_object_take(dome_capture_image_object *s, const char *refused, const char **bound)
{
    dome_env *env = s->env;
    dome_operation op;
    *bound = NULL;
    if (!s->index) {
        take_alone(s, refused);
        return DOME_OK;
    }
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 1);
    int status = share_errno(env);
    take_own(s, refused);
    if (status == DOME_OK)
        status = agree_problem(env, &s->problem);
    if (status == DOME_OK && !s->problem)
        status = compare(s);
    if (status == DOME_OK && !s->problem)
        status = divide(s);
    g_clear_pointer(&s->sentence, g_free);
    if (!s->problem && s->bound)
        s->sentence = g_strdup_printf("values differ between its tasks (%s)", s->bound);
    *bound = s->sentence;
    return dome__end(&op, status ? dome__fail_transport(env, status) : DOME_OK);
}

const char *dome__capture_image_object_problem(const dome_capture_image_object *s)
{
    return s->problem;
}

void dome__capture_image_object_leave(dome_capture_image_object *s)
{
    s->captured = false;
}

/* ---- restarting ---- */

static char *read_index(dome_capture_image_object *s)
{
    if (s->read->len == 0 || !s->read->pdata[0])
        return g_strdup("the image is not what it should be: it has no index");
    gsize length;
    const void *data = g_bytes_get_data(s->read->pdata[0], &length);
    dome_bytes from = dome__bytes_of(data, length);
    const uint32_t version = dome__read_u32(&from), tasks = dome__read_u32(&from);
    if (from.bad || !image_form_of(version).handles)
        return g_strdup("the image is of another version of this library");
    char *bound = dome__read_text(&from), *problem = NULL;
    if (tasks > 0 && tasks != (uint32_t)s->env->size)
        problem = g_strdup_printf("values differed between its %" PRIu32 " tasks (%s), so it needs %" PRIu32 " tasks, not %d",
                                  tasks, bound, tasks, s->env->size);
    g_free(bound);
    if (problem)
        return problem;
    for (int r = 0; r < s->env->size; r++)
        s->lengths[r] = r == 0 || tasks > 0 ? dome__read_u64(&from) : s->lengths[0];
    const uint64_t count = dome__read_u64(&from);
    g_array_set_size(s->differing, 0);
    for (uint64_t k = 0, last = 0; k < count && !from.bad; k++) {
        const uint64_t block = dome__read_u64(&from);
        from.bad |= k > 0 && block <= last;
        last = block;
        g_array_append_val(s->differing, block);
    }
    bool good = dome__read_all(&from);
    for (int r = 0; good && r < s->env->size; r++)
        good = s->lengths[r] > 0 && s->lengths[r] <= s->read->len + s->differing->len;
    if (good)
        cut(s);
    return good && s->length == s->read->len ? NULL : g_strdup("the image is not what it should be: its index");
}

static char *feed(dome_capture_image_object *s)
{
    uint64_t common = 0, own = 0;
    for (uint64_t k = 0; k < s->lengths[s->env->rank]; k++) {
        const bool differs = own < s->differing->len && item(s->differing, own) == k;
        const GPtrArray *from = differs ? s->own : s->read;
        const uint64_t at = differs ? own++ : 1 + common++;
        if (at >= from->len || !from->pdata[at])
            return g_strdup("the image is not what it should be: a block is missing");
        gsize length;
        GBytes *bytes = g_steal_pointer(&from->pdata[at]);   /* freed one by one: the image has them, too */
        const void *data = g_bytes_get_data(bytes, &length); /* NULL: it has no bytes */
        const dome_status status = dome__capture_image_read_block(s->image, k, data ? data : "", length);
        g_bytes_unref(bytes);
        if (status != DOME_OK)
            break; /* which is found in the image */
    }
    return NULL;
}

static char *restore_together(dome_capture_image_object *s)
{
    char *problem = read_index(s);
    if (problem)
        return problem;
    s->image = dome__capture_image_new_of(s->env, s->lengths[s->env->rank]);
    g_ptr_array_set_size(s->own, (gint)s->differing->len);
    make_of_tasks(s);
    problem = feed(s);
    return problem ? problem : dome__capture_image_restored(s->image);
}

char *dome__capture_image_object_restore(dome_capture_image_object *s)
{
    char *problem = s->index ? restore_together(s) : dome__capture_image_restored(s->image);
    g_ptr_array_set_size(s->read, 0);
    g_ptr_array_set_size(s->own, 0);
    return problem;
}

char *dome__capture_image_object_say_changed(const dome_capture_image_object *s)
{
    return dome__capture_image_say_changed(s->image);
}

bool dome__capture_image_object_differs(const dome_capture_image_object *s)
{
    return s->differing->len > 0;
}

static dome_capture_image_object *new_object(dome_env *env, bool calls_dome, uint64_t saved)
{
    dome_capture_image_object *s = g_new0(dome_capture_image_object, 1);
    s->env = env;
    s->index = calls_dome ? g_byte_array_new() : NULL;
    s->lengths = g_new0(uint64_t, env->size);
    s->differing = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    s->common = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    s->read = g_ptr_array_new_with_free_func(unref_bytes);
    s->own = g_ptr_array_new_with_free_func(unref_bytes);
    g_ptr_array_set_size(s->read, calls_dome ? (gint)saved : 0);
    s->length = saved ? saved : 1;
    s->layout = dome_layout_new(s->length, 1, 1, 0, &s->length);
    if (saved == 0 || !calls_dome)
        s->image = dome__capture_image_new_of(calls_dome ? env : NULL, saved);
    return s;
}

dome_capture_image_object *dome__capture_image_object_new(dome_env *env, bool calls_dome, char **problem)
{
    const char *name = calls_dome ? DOME_CAPTURE_PROGRAM_NAME : DOME_CAPTURE_IMAGE_NAME;
    dome_capture_image_object *s = new_object(env, calls_dome, dome__checkpoint_saved_length(env, name));
    s->object = dome_object_new(env, name, calls_dome ? &image_ops : &alone_ops, s);
    if (!s->object) {
        const char *of_image = s->image ? dome__capture_image_problem(s->image) : NULL;
        *problem = g_strdup(of_image ? of_image : dome_error_message(env));
        return NULL;
    }
    if (calls_dome)
        dome__object_defers(s->object, why);
    return s;
}
