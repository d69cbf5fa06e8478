#include "ckpt/image.h"

#include "ckpt/checkpoint_private.h"
#include "core/bytes.h"
#include "core/files.h"
#include "core/object_private.h"
#include "core/storage.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks are gathered into writes of about so many bytes, which stay in the cache. */
static const uint64_t WRITE_BYTES = 1 << 20;

enum { SUM_WORDS = sizeof(dome_ckpt_sum) / sizeof(uint64_t), PATH_BYTES = 64, WHY_BYTES = 400 };

G_STATIC_ASSERT(SUM_WORDS * sizeof(uint64_t) == sizeof(dome_ckpt_sum));

typedef struct image {
    dome_env *env;
    dome_ckpt *ckpt;
    int fd;
    uint64_t *sums; /* by entry: of the blocks that this task writes, 0 elsewhere */
    char *buffer;
    uint64_t room, used, offset; /* used bytes of the buffer belong at offset */
    char *why;
} image;

/* Makes the first task's reason that of all. */
static int common(image *i)
{
    dome_transport *t = i->env->transport;
    char text[WHY_BYTES] = "";
    uint64_t worst = i->why ? (uint64_t)(t->size - t->rank) : 0; /* the lowest rank is the greatest number */
    int status = dome__allreduce(t, DOME_U64, &worst, 1, dome__combine_max_u64, NULL);
    if (status == DOME_OK && worst > 0) {
        if (i->why)
            g_strlcpy(text, i->why, sizeof text);
        status = dome__bcast(t, t->size - (int)worst, DOME_U8, text, sizeof text);
        g_free(i->why);
        i->why = g_strdup(text);
    }
    return status ? dome__fail_transport(i->env, status) : DOME_OK;
}

/* ---- what there is ---- */

static const dome_ckpt_object *entry_of(const image *i, const dome_object *object)
{
    return dome__ckpt_find(i->ckpt, dome_object_name(object));
}

/* Lengths of blocks that only their owners know. Returns whether there are any such objects. */
static bool measure(image *i)
{
    bool any = false;
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; !i->why && (o = dome_object_next(i->env, o));) {
        const dome_ckpt_object *there = dome__object_is_named(o) ? entry_of(i, o) : NULL;
        dome_span runs[2];
        if (!there || there->fixed || dome_object_describe(o, &info) != DOME_OK)
            continue;
        any = true;
        int count = dome__checkpoint_own_blocks(i->env, &info, runs), status = DOME_OK;
        for (int r = 0; r < count; r++)
            for (uint64_t b = runs[r].first; status == DOME_OK && b < runs[r].first + runs[r].count; b++)
                status = dome_object_write_bytes(o, b, 1, &dome__ckpt_entry(i->ckpt, there, b)->length);
        if (status != DOME_OK)
            i->why = g_strdup_printf("'%s' cannot be saved: %s", there->name, dome_status_text(status));
    }
    return any;
}

static void describe(image *i, const char *program, uint64_t loop)
{
    dome__env_settle(i->env); /* failures are found below, object by object */
    for (dome_object *o = NULL; !i->why && (o = dome_object_next(i->env, o));) {
        char *problem = dome__object_is_named(o) ? dome__object_settle(o) : NULL;
        if (problem)
            i->why = g_strdup_printf("'%s' cannot be saved: %s", dome_object_name(o), problem);
        g_free(problem);
    }
    i->ckpt = dome__checkpoint_describe(i->env, program, 1, loop, &i->why);
    if (!i->why && i->ckpt->objects->len == 0)
        i->why = g_strdup("it has no objects with names, so nothing of its state could be taken along (see man dome-grow)");
    dome__ckpt_make_table(i->ckpt);
}

/* Adds up what the owners know. */
static int share_lengths(image *i)
{
    uint64_t *lengths = g_new0(uint64_t, i->ckpt->entries + 1);
    for (guint k = 0; k < i->ckpt->objects->len; k++) {
        const dome_ckpt_object *object = dome__ckpt_object(i->ckpt, k);
        for (uint64_t b = 0; !object->fixed && b < object->blocks; b++)
            lengths[object->first_entry + b] = dome__ckpt_entry(i->ckpt, object, b)->length;
    }
    int status = dome__allreduce(i->env->transport, DOME_I64, lengths, i->ckpt->entries + 1, dome__combine_sum_i64, NULL);
    for (guint k = 0; k < i->ckpt->objects->len; k++) {
        const dome_ckpt_object *object = dome__ckpt_object(i->ckpt, k);
        for (uint64_t b = 0; !object->fixed && b < object->blocks; b++)
            dome__ckpt_entry(i->ckpt, object, b)->length = lengths[object->first_entry + b];
    }
    g_free(lengths);
    return status ? dome__fail_transport(i->env, status) : DOME_OK;
}

/* ---- the memory ---- */

static int make_memory(uint64_t bytes, char **why)
{
    dome_file_limit limit;
    if (bytes > dome__storage_available()) {
        *why = g_strdup_printf("there is no memory for another %" PRIu64 " MB, the state of the program", (bytes >> 20) + 1);
        return -1;
    }
    int fd = memfd_create("dome-view", MFD_CLOEXEC);
    dome__file_limit_begin(&limit);
    bool good = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0;
    int error = errno;
    dome__file_limit_end(&limit);
    if (good)
        return fd;
    *why = g_strdup_printf("there is no memory for the state of the program: %s", dome__file_error(error));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Task 0 makes the memory; path: where the others find it. */
static int share_memory(image *i, char path[PATH_BYTES])
{
    dome_transport *t = i->env->transport;
    if (t->rank == 0 && !i->why) {
        i->fd = make_memory(i->ckpt->file_bytes, &i->why);
        g_snprintf(path, PATH_BYTES, "/proc/%d/fd/%d", (int)getpid(), i->fd);
    }
    int status = common(i);
    if (status == DOME_OK && !i->why && (status = dome__bcast(t, 0, DOME_U8, path, PATH_BYTES)))
        status = dome__fail_transport(i->env, status);
    return status;
}

static void open_memory(image *i, const char *path)
{
    const char *reason;
    if (i->fd < 0 && (i->fd = dome__file_open(path, O_WRONLY, &reason)) < 0)
        i->why = g_strdup_printf("task %d cannot open the memory of task 0: %s", i->env->transport->rank, reason);
}

/* ---- writing ---- */

static void flush(image *i)
{
    if (i->used > 0 && !i->why)
        dome__store_write(i->fd, i->buffer, i->used, i->offset, &i->why);
    i->used = 0;
}

/* Room for a block that belongs at this offset. */
static char *place(image *i, uint64_t offset, uint64_t bytes)
{
    if (i->used > 0 && (i->offset + i->used != offset || i->used + bytes > i->room))
        flush(i);
    if (bytes > i->room) {
        g_free(i->buffer);
        i->room = MAX(bytes, WRITE_BYTES);
        i->buffer = i->room <= G_MAXSIZE ? g_try_malloc((gsize)i->room) : NULL;
        if (!i->buffer) {
            i->room = 0;
            i->why = g_strdup("there is no memory for a block");
            return NULL;
        }
    }
    if (i->used == 0)
        i->offset = offset;
    char *to = i->buffer + i->used;
    i->used += bytes;
    return to;
}

static void write_block(image *i, const dome_object *object, const dome_ckpt_object *there, uint64_t block)
{
    const dome_ckpt_entry *e = dome__ckpt_entry(i->ckpt, there, block);
    char *to = e->length > 0 ? place(i, e->offset, e->length) : NULL;
    if (i->why)
        return;
    int status = to ? dome_object_write(object, block, 1, to, e->length) : DOME_OK;
    if (status != DOME_OK)
        i->why = g_strdup_printf("block %" PRIu64 " of '%s' cannot be saved: %s", block, there->name, dome_status_text(status));
    dome_ckpt_sum sum = dome__ckpt_sum(to ? to : "", (size_t)e->length);
    uint64_t *words = i->sums + (there->first_entry + block) * SUM_WORDS;
    for (int k = 0; k < SUM_WORDS; k++)
        words[k] = dome__get_u64(sum.bytes + k * sizeof *words);
}

static void write_objects(image *i)
{
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; !i->why && (o = dome_object_next(i->env, o));) {
        const dome_ckpt_object *there = dome__object_is_named(o) ? entry_of(i, o) : NULL;
        dome_span runs[2];
        if (!there || dome_object_describe(o, &info) != DOME_OK)
            continue;
        int count = dome__checkpoint_own_blocks(i->env, &info, runs);
        for (int r = 0; r < count; r++)
            for (uint64_t b = runs[r].first; !i->why && b < runs[r].first + runs[r].count; b++)
                write_block(i, o, there, b);
    }
    flush(i);
}

/* Task 0 fills in what all tasks have computed, and completes the file. */
static int conclude(image *i)
{
    dome_transport *t = i->env->transport;
    int status = dome__reduce(t, 0, DOME_I64, i->sums, (i->ckpt->entries + 1) * SUM_WORDS, dome__combine_sum_i64, NULL);
    if (status)
        return dome__fail_transport(i->env, status);
    if (t->rank != 0 || i->why)
        return DOME_OK;
    for (uint64_t e = 0; e < i->ckpt->entries; e++)
        for (int k = 0; k < SUM_WORDS; k++)
            dome__put_u64(i->ckpt->table[e].sum.bytes + k * sizeof(uint64_t), i->sums[e * SUM_WORDS + (uint64_t)k]);
    void *head = dome__ckpt_encode(i->ckpt);
    dome__store_write(i->fd, head, i->ckpt->head_bytes, 0, &i->why);
    g_free(head);
    return DOME_OK;
}

static int write_image(image *i)
{
    const bool unequal = measure(i);
    int status = common(i);
    if (status == DOME_OK && !i->why && unequal)
        status = share_lengths(i);
    if (status != DOME_OK || i->why)
        return status;
    dome__ckpt_plan(i->ckpt, NULL, &i->why);
    char path[PATH_BYTES] = "";
    status = share_memory(i, path);
    if (status != DOME_OK || i->why)
        return status;
    i->sums = g_new0(uint64_t, (i->ckpt->entries + 1) * SUM_WORDS);
    open_memory(i, path);
    write_objects(i);
    status = conclude(i);
    return status == DOME_OK ? common(i) : status;
}

int dome__image_write(dome_env *env, const char *program, uint64_t loop, int *fd, char **why)
{
    image i = {.env = env, .fd = -1, .why = g_steal_pointer(why)};
    describe(&i, program, loop);
    int status = write_image(&i);
    const bool keeps = status == DOME_OK && !i.why && env->transport->rank == 0;
    if (i.fd >= 0 && !keeps)
        close(i.fd);
    *fd = keeps ? i.fd : -1;
    *why = i.why;
    dome__ckpt_free(i.ckpt);
    g_free(i.sums);
    g_free(i.buffer);
    return status;
}
