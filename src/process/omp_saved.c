#include "process/omp_saved.h"

#include "ckpt/checkpoint.h"
#include "core/environment.h"
#include "core/object_private.h"
#include "openmp/team.h"
#include "process/omp_image.h"
#include "process/omp_locals.h"
#include "process/omp_spans.h"
#include "process/omp_state.h"
#include "process/omp_streams.h"
#include "process/omp_touch.h"
#include "process/tasks_space.h"
#include "program/boundary.h"
#include "program/change.h"
#include "program/start.h"
#include "system/bytes.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <dome/structure.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "image of an OpenMP program";

enum { VERSION = 3, BLOCK = 1 << 18, TEXT_MOST = 4096 };

static struct {
    dome_env *env;
    dome_object *object;
    bool taken;        /* the following describe the memory as it is now */
    GByteArray *index; /* block 0: what is not memory, and which memory there is */
    GArray *spans;     /* cut into blocks of at most BLOCK bytes */
    uint64_t length;   /* blocks, with the index */
    dome_layout *layout;
    GPtrArray *read; /* while the program goes on: GBytes by block */
} saved;

/* ---- the object ---- */

static const char *why(const dome_object *object)
{
    (void)object;
    return saved.taken ? NULL : "no parallel region begins";
}

static dome_status describe(const dome_object *object, dome_object_info *info)
{
    (void)object;
    *info = (dome_object_info){.length = saved.length, .width = 1, .distribution = DOME_BLOCK, .layout = saved.layout};
    return DOME_OK;
}

static dome_status settle(dome_object *object)
{
    return why(object) ? DOME_ERR_STATE : DOME_OK;
}

static uint64_t block_bytes(uint64_t k)
{
    return k == 0 ? saved.index->len : g_array_index(saved.spans, dome_omp_span, k - 1).bytes;
}

static dome_status write_bytes(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes)
{
    *bytes = 0;
    for (uint64_t k = first; k < first + count && saved.taken; k++)
        *bytes += block_bytes(k);
    return why(object) ? DOME_ERR_STATE : DOME_OK;
}

static dome_status write_blocks(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes)
{
    uint64_t expected;
    const dome_status status = write_bytes(object, first, count, &expected);
    if (status != DOME_OK || expected != bytes)
        return status != DOME_OK ? status : DOME_ERR_ARGUMENT;
    uint8_t *to = buffer;
    for (uint64_t k = first; k < first + count; to += block_bytes(k++)) {
        if (k == 0) {
            memcpy(to, saved.index->data, saved.index->len);
            continue;
        }
        const dome_omp_span *span = &g_array_index(saved.spans, dome_omp_span, k - 1);
        const void *from = (const void *)(uintptr_t)span->address; // NOLINT(performance-no-int-to-ptr)
        memcpy(to, from, span->bytes);
    }
    return DOME_OK;
}

/* Blocks may come in any order; they are put into memory when all are there. */
static dome_status read_block(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes)
{
    (void)object;
    if (count != 1 || first >= saved.read->len || saved.read->pdata[first])
        return DOME_ERR_FORMAT;
    saved.read->pdata[first] = g_bytes_new(buffer, (gsize)bytes);
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
    (void)object;
    g_clear_pointer(&saved.index, g_byte_array_unref);
    g_clear_pointer(&saved.spans, g_array_unref);
    g_clear_pointer(&saved.layout, dome_layout_unref);
    saved.object = NULL;
}

static const dome_object_ops OPERATIONS = {.size = sizeof(dome_object_ops),
                                           .kind = "openmp image",
                                           .describe = describe,
                                           .sync = settle,
                                           .packed_bytes = packed_bytes,
                                           .pack = pack,
                                           .unpack = unpack,
                                           .write_bytes = write_bytes,
                                           .write = write_blocks,
                                           .read = read_block,
                                           .destroy = destroy};

/* ---- taking ---- */

/* Each task has an equal share of the blocks; counts: NULL, or task 0 has all. */
static void divide(uint64_t length, bool by_first)
{
    const uint64_t size = (uint64_t)saved.env->size;
    uint64_t *counts = g_new0(uint64_t, size);
    for (uint64_t r = 0; r < size; r++)
        counts[r] = by_first ? (r == 0 ? length : 0) : length * (r + 1) / size - length * r / size;
    saved.length = length;
    g_clear_pointer(&saved.layout, dome_layout_unref);
    saved.layout = dome_layout_new(length, 1, saved.env->size, 0, counts);
    g_free(counts);
}

static void cut(const GArray *whole)
{
    g_array_set_size(saved.spans, 0);
    for (guint k = 0; k < whole->len; k++) {
        const dome_omp_span *w = &g_array_index(whole, dome_omp_span, k);
        for (uint64_t done = 0; done < w->bytes; done += BLOCK) {
            const dome_omp_span span = {w->address + done, MIN(BLOCK, w->bytes - done)};
            g_array_append_val(saved.spans, span);
        }
    }
}

static void put_index(GArray *whole, const GByteArray *locals)
{
    GByteArray *index = saved.index;
    g_byte_array_set_size(index, 0);
    dome__append_u32(index, VERSION);
    dome__append_u64(index, dome__omp_image_hash());
    char *directory = g_get_current_dir();
    dome__append_text(index, directory, TEXT_MOST);
    g_free(directory);
    dome__append_u64(index, (uint64_t)(uintptr_t)environ);
    dome__append_u64(index, whole->len);
    for (guint k = 0; k < whole->len; k++) {
        dome__append_u64(index, g_array_index(whole, dome_omp_span, k).address);
        dome__append_u64(index, g_array_index(whole, dome_omp_span, k).bytes);
    }
    dome__omp_team_save(index);
    dome__omp_streams_save(index);
    dome__omp_exits_save(index);
    g_byte_array_append(index, locals->data, locals->len);
}

typedef struct process {
    char *directory;
    char **environment;
} process;

/* False: it is none of this program. process: gets what belongs to the process; g_free its directory. */
static bool read_index(dome_bytes *from, GArray *whole, process *own)
{
    if (dome__read_u32(from) != VERSION || dome__read_u64(from) != dome__omp_image_hash())
        return false;
    own->directory = dome__read_text(from);
    own->environment = (char **)(uintptr_t)dome__read_u64(from); // NOLINT(performance-no-int-to-ptr)
    const uint64_t count = dome__read_u64(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        dome_omp_span span = {.address = dome__read_u64(from)};
        span.bytes = dome__read_u64(from);
        g_array_append_val(whole, span);
    }
    return !from->bad;
}

/* This task's share of the memory is here when all have come on: while one still packs its share, others may go on, and write. */
static int fetch_share(void)
{
    const dome_env *env = saved.env;
    const uint64_t size = (uint64_t)env->size, rank = (uint64_t)env->rank;
    for (uint64_t k = saved.length * rank / size; k < saved.length * (rank + 1) / size; k++) {
        const dome_omp_span *span = k > 0 ? &g_array_index(saved.spans, dome_omp_span, k - 1) : NULL;
        if (span)
            dome__omp_want((const void *)(uintptr_t)span->address, span->bytes, false); // NOLINT(performance-no-int-to-ptr)
    }
    return dome__barrier(env->transport);
}

/* All tasks get task 0's index, and know by it which block is what. */
static int take(void)
{
    dome_env *env = saved.env;
    uint64_t bytes = 0;
    GArray *whole = NULL;
    GByteArray *locals = g_byte_array_new();
    int status = dome__omp_locals_collect(env, locals);
    if (env->rank == 0) {
        whole = dome__omp_spans();
        put_index(whole, locals);
        bytes = saved.index->len;
    }
    g_byte_array_unref(locals);
    if (status == DOME_OK)
        status = dome__bcast(env->transport, 0, DOME_U64, &bytes, 1);
    g_byte_array_set_size(saved.index, (guint)bytes);
    if (status == DOME_OK)
        status = dome__bcast(env->transport, 0, DOME_U8, saved.index->data, bytes);
    if (env->rank != 0) {
        dome_bytes from = dome__bytes_of(saved.index->data, bytes);
        whole = g_array_new(FALSE, FALSE, sizeof(dome_omp_span));
        process own = {0};
        read_index(&from, whole, &own);
        g_free(own.directory);
    }
    cut(whole);
    divide(1 + saved.spans->len, false);
    g_array_unref(whole);
    if (status == DOME_OK)
        status = fetch_share();
    saved.taken = status == DOME_OK;
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

static void fail(void)
{
    dome__start_failed(saved.env, 1, g_strdup(dome_error_message(saved.env)));
}

void dome__omp_saved_boundary(void)
{
    bool due = false;
    if (!saved.object)
        return;
    dome_status status = dome__boundary_reach(saved.env, &due);
    if (status == DOME_OK && due) {
        fflush(stdout);
        status = dome__boundary_pass(saved.env, (dome_status)take(), NULL);
        saved.taken = false;
    }
    if (status != DOME_OK)
        fail();
}

/* ---- going on ---- */

/* Task 0: why it cannot; NULL: its memory is as it was. *rest: what of the index is left. */
static const char *put_back(dome_bytes *rest)
{
    gsize bytes;
    const void *data = saved.read->pdata[0] ? g_bytes_get_data(saved.read->pdata[0], &bytes) : NULL;
    if (!data)
        return "the checkpoint has no index of the program's memory";
    dome_bytes from = dome__bytes_of(data, bytes);
    GArray *whole = g_array_new(FALSE, FALSE, sizeof(dome_omp_span));
    const char *problem = NULL;
    process own = {0};
    if (!read_index(&from, whole, &own))
        problem = "the checkpoint is of another program, another build of it, other libraries or another kind of processor";
    for (guint k = 0; k < whole->len && !problem; k++)
        if (!dome__omp_spans_reach(&g_array_index(whole, dome_omp_span, k)))
            problem = "the checkpoint has memory for which there is no place";
    if (!problem)
        cut(whole);
    dome__exec_keep_own(saved.env->change); /* this process's environment is in the memory, too */
    if (!problem && saved.spans->len + 1 != saved.read->len)
        problem = "the checkpoint is not what it should be: the number of its blocks";
    for (guint k = 1; k < saved.read->len && !problem; k++) {
        const dome_omp_span *span = &g_array_index(saved.spans, dome_omp_span, k - 1);
        const void *block = saved.read->pdata[k] ? g_bytes_get_data(saved.read->pdata[k], &bytes) : NULL;
        if (!block || bytes != span->bytes)
            problem = "the checkpoint is not what it should be: a block is missing";
        else
            memcpy((void *)(uintptr_t)span->address, block, span->bytes); // NOLINT(performance-no-int-to-ptr)
    }
    if (!problem && !dome__omp_team_restore(&from))
        problem = "the checkpoint is not what it should be: the state of threads";
    if (!problem) {
        dome__omp_state_put_back(own.directory, own.environment);
        dome__omp_streams_reopen(&from);
        dome__omp_exits_read(&from);
    }
    g_free(own.directory);
    g_array_unref(whole);
    *rest = from;
    return problem;
}

static void unref_bytes(void *bytes)
{
    if (bytes)
        g_bytes_unref(bytes);
}

bool dome__omp_saved_begin(dome_env *env)
{
    const bool restarts = dome_is_restarting(env);
    const uint64_t length = restarts ? dome__checkpoint_saved_length(env, NAME) : 0;
    saved.env = env;
    if (!env->checkpoints && env->size == 1 && !env->watch)
        return false;
    if (restarts && length == 0)
        dome__start_failed(env, 1, g_strdup("the program cannot go on: the checkpoint has no image of an OpenMP program"));
    saved.index = g_byte_array_new();
    saved.spans = g_array_new(FALSE, FALSE, sizeof(dome_omp_span));
    saved.read = g_ptr_array_new_with_free_func(unref_bytes);
    g_ptr_array_set_size(saved.read, (gint)length);
    divide(MAX(length, 1), true);
    saved.object = dome_object_new(env, NAME, &OPERATIONS, NULL);
    if (!saved.object)
        fail();
    dome__object_defers(saved.object, why);
    dome_bytes rest = dome__bytes_of(NULL, 0);
    const char *problem = restarts && env->rank == 0 ? put_back(&rest) : NULL;
    if (problem)
        dome__start_failed(env, 1, g_strdup_printf("the program cannot go on: %s", problem));
    bool good = true;
    const int status = restarts ? dome__omp_locals_spread(env, &rest, &good) : DOME_OK;
    if (status)
        dome__fail_transport(env, status);
    if (status || !good)
        dome__start_failed(env, 1,
                           g_strdup(status ? dome_error_message(env)
                                           : "the program cannot go on: its threads' own variables "
                                             "are not in the checkpoint"));
    g_clear_pointer(&saved.read, g_ptr_array_unref);
    if (restarts) {
        dome__checkpoint_recovered(env);
        dome__boundary_restored(env, false);
    }
    return restarts;
}

bool dome__omp_is_saved(void)
{
    return saved.object != NULL;
}
