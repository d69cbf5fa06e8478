#include "balance/migrate.h"

#include "balance/balance_operations.h"
#include "balance/balance_private.h"
#include "core/layout.h"
#include "core/object_private.h"
#include "core/storage.h"
#include "system/bytes.h"
#include "trace/record.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <dome/env.h>

#include <string.h>

/* Bytes that a message of a migration should not exceed; a single block may. Messages of unpacked values are larger, since they
 * need no memory of their own. */
#define MESSAGE_BYTES (UINT64_C(4) << 20)
#define PLACE_BYTES   (UINT64_C(64) << 20)

/* The head of a message: first block and number of blocks, big-endian. */
enum { HEAD = 16 };

/* ---- who gives what to whom ---- */

int dome__moves(const dome_layout *was, int from, const dome_layout *becomes, int to, dome_span moves[DOME_MOVES])
{
    dome_span old[2], new[2];
    int nold = dome__layout_block_ranges(was, from, old), nnew = dome__layout_block_ranges(becomes, to, new), count = 0;
    for (int i = 0; i < nold; i++) {
        for (int j = 0; j < nnew; j++) {
            uint64_t begin = MAX(old[i].first, new[j].first);
            uint64_t end = MIN(old[i].first + old[i].count, new[j].first + new[j].count);
            if (begin < end)
                moves[count++] = (dome_span){begin, end - begin};
        }
    }
    return count;
}

/* This task's exchange with the one k ranks above it and the one k ranks below. */
typedef struct round {
    int dest, source, nout, nin;
    dome_span out[DOME_MOVES], in[DOME_MOVES];
} round;

/* The rounds in which this task sends or receives. */
static GArray *make_plan(const dome_transport *t, const dome_layout *was, const dome_layout *becomes)
{
    GArray *plan = g_array_new(FALSE, FALSE, sizeof(round));
    for (int k = 1; k < t->group.size; k++) {
        round r = {.dest = (t->group.rank + k) % t->group.size, .source = (t->group.rank + (t->group.size - k)) % t->group.size};
        r.nout = dome__moves(was, t->group.rank, becomes, r.dest, r.out);
        r.nin = dome__moves(was, r.source, becomes, t->group.rank, r.in);
        if (r.nout > 0 || r.nin > 0)
            g_array_append_val(plan, r);
    }
    return plan;
}

/* ---- messages ---- */

/* Received data that waits until the object has adopted the new layout. */
typedef struct parcel {
    uint8_t *message; /* head and data */
    uint64_t bytes;   /* of the data */
    uint64_t first, count;
    dome_format format;
} parcel;

static void parcel_clear(void *data)
{
    dome__storage_free(((parcel *)data)->message);
}

/* The number of blocks from the start of a range that fit into a message, at least one. Blocks may differ in size. */
static int fitting(const dome_object *object, const dome_span *range, dome_format format, uint64_t *count, uint64_t *bytes)
{
    int status = dome_object_packed_bytes(object, range->first, range->count, format, bytes);
    *count = range->count;
    while (status == DOME_OK && *bytes > MESSAGE_BYTES && *count > 1) {
        *count = CLAMP((uint64_t)((double)*count * ((double)MESSAGE_BYTES / (double)*bytes)), 1, *count / 2);
        status = dome_object_packed_bytes(object, range->first, *count, format, bytes);
    }
    return status;
}

/* Ends the program after a failure that this task alone finds while data is on its way: the others cannot go back. */
static void give_up(const dome_object *object, int status, const char *what) __attribute__((noreturn));

static void give_up(const dome_object *object, int status, const char *what)
{
    dome_abort(dome_object_env(object), "'%s' %s while data moves: %s", dome_object_name(object), what, dome_status_text(status));
}

dome_moved *dome__moved_new(void)
{
    return g_new0(dome_moved, 1);
}

dome_moved dome__moved(const dome_env *env)
{
    return *env->moved;
}

static void count_moved(dome_env *env, int dest, uint64_t count, uint64_t bytes)
{
    int rank = env->rank, last = env->size - 1, distance = ABS(dest - rank);
    if (distance == 1)
        env->moved->to_neighbours += count;
    else if (distance == last)
        env->moved->around += count;
    else
        env->moved->further += count;
    env->moved->bytes += bytes;
}

/* Memory that has been used before is faster than fresh pages. */
static void *message_memory(uint64_t bytes)
{
    return dome__storage_raw(bytes, NULL);
}

/* ---- from place to place ---- */

/* Whether values travel to or from a task as they lie in memory, without being packed: both tasks decide the same. */
static bool by_place(const dome_object *object, int rank)
{
    return dome__object_has_place(object) && dome__format_with(dome_object_env(object)->transport, rank) == DOME_NATIVE;
}

/* The number of blocks from the start of a range that one message carries, and their bytes. */
static uint64_t piece_of(const dome_object *object, const dome_layout *layout, const dome_span *range, uint64_t *bytes)
{
    dome_object_info info = {.size = sizeof info};
    dome_object_describe(object, &info);
    uint64_t element = info.width * dome_type_size(info.type), block = MAX(dome_layout_block_size(layout) * element, 1);
    uint64_t count = MIN(range->count, MAX(PLACE_BYTES / block, 1));
    dome_span first = dome_layout_block(layout, range->first), last = dome_layout_block(layout, range->first + count - 1);
    *bytes = (last.first + last.count - first.first) * element;
    return count;
}

static void advance(dome_span **ranges, int *left, uint64_t count)
{
    (*ranges)->first += count;
    (*ranges)->count -= count;
    if ((*ranges)->count == 0) {
        (*ranges)++;
        (*left)--;
    }
}

static void *place_of(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count)
{
    void *place = dome_object_place(object, layout, first, count);
    if (!place)
        give_up(object, DOME_ERR_MEMORY, "has no place for its blocks");
    return place;
}

static int send_place(dome_object *object, const dome_layout *layout, int dest, dome_span **ranges, int *left)
{
    dome_env *env = dome_object_env(object);
    uint64_t bytes, first = (*ranges)->first, count = piece_of(object, layout, *ranges, &bytes);
    int status = DOME_OK;
    if (bytes)
        status = dome__begin_send(env->transport, dest, DOME_CHANNEL_DATA, DOME_U8, place_of(object, NULL, first, count), bytes);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    count_moved(env, dest, count, bytes);
    advance(ranges, left, count);
    return DOME_OK;
}

static int receive_place(dome_object *object, const dome_layout *layout, int source, dome_span **ranges, int *left)
{
    dome_env *env = dome_object_env(object);
    uint64_t bytes, first = (*ranges)->first, count = piece_of(object, layout, *ranges, &bytes);
    int status = DOME_OK;
    if (bytes)
        status = dome__recv(env->transport, source, DOME_CHANNEL_DATA, DOME_U8, place_of(object, layout, first, count), bytes);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    advance(ranges, left, count);
    return DOME_OK;
}

/* ---- packed ---- */

/* *last: the previous message, which the receiver may still be reading; replaced by this one. */
static int send_some(const dome_object *object, int dest, dome_span **ranges, int *left, uint8_t **last)
{
    dome_transport *t = dome_object_env(object)->transport;
    dome_format format = dome__format_with(t, dest);
    dome_span *range = *ranges;
    uint64_t count, bytes;

    int status = fitting(object, range, format, &count, &bytes);
    if (status != DOME_OK)
        give_up(object, status, "cannot say how large its blocks are");
    uint8_t *message = bytes <= PTRDIFF_MAX - HEAD ? message_memory(bytes + HEAD) : NULL;
    if (!message)
        give_up(object, DOME_ERR_MEMORY, "cannot be packed");
    dome__put_u64(message, range->first);
    dome__put_u64(message + 8, count);
    status = dome_object_pack(object, range->first, count, format, message + HEAD, bytes);
    if (status != DOME_OK)
        give_up(object, status, "cannot be packed");
    status = dome__begin_send(t, dest, DOME_CHANNEL_DATA, DOME_U8, message, bytes + HEAD);
    dome__storage_free(*last);
    *last = message;
    if (status != DOME_OK)
        return dome__fail_transport(dome_object_env(object), status);
    count_moved(dome_object_env(object), dest, count, bytes);
    advance(ranges, left, count);
    return DOME_OK;
}

static int receive_some(const dome_object *object, int source, dome_span **ranges, int *left, GArray *parcels)
{
    dome_transport *t = dome_object_env(object)->transport;
    dome_span *range = *ranges;
    dome_recv_memory memory = {.allocate = message_memory, .release = dome__storage_free};

    int status = dome__recv_in(t, source, DOME_CHANNEL_DATA, DOME_U8, &memory);
    if (status != DOME_OK)
        return dome__fail_transport(dome_object_env(object), status);
    const uint64_t bytes = memory.count;
    parcel p = {.message = memory.data, .bytes = bytes - HEAD, .format = dome__format_with(t, source)};
    if (bytes >= HEAD) {
        p.first = dome__get_u64(p.message);
        p.count = dome__get_u64(p.message + 8);
    }
    g_array_append_val(parcels, p);
    if (bytes < HEAD || p.first != range->first || p.count == 0 || p.count > range->count)
        give_up(object, DOME_ERR_COMM, "got other blocks than expected");
    advance(ranges, left, p.count);
    return DOME_OK;
}

/* ---- objects ---- */

/* Sends the blocks that leave and receives those that arrive. Packed data waits for the new layout: the extra memory for an
 * object is its new blocks and one message. */
static int exchange(dome_object *object, const dome_layout *layout, const GArray *plan, GArray *parcels)
{
    int status = DOME_OK;
    for (guint i = 0; i < plan->len && status == DOME_OK; i++) {
        round r = g_array_index(plan, round, i);
        dome_span *out = r.out, *in = r.in;
        r.nout = dome__object_shares(object, r.dest) ? 0 : r.nout;
        r.nin = dome__object_shares(object, r.source) ? 0 : r.nin;
        uint8_t *last = NULL;
        bool sends = r.nout > 0, places_out = by_place(object, r.dest), places_in = by_place(object, r.source);
        while (status == DOME_OK && (r.nout > 0 || r.nin > 0)) {
            if (r.nout > 0)
                status = places_out ? send_place(object, layout, r.dest, &out, &r.nout)
                                    : send_some(object, r.dest, &out, &r.nout, &last);
            if (status == DOME_OK && r.nin > 0)
                status = places_in ? receive_place(object, layout, r.source, &in, &r.nin)
                                   : receive_some(object, r.source, &in, &r.nin, parcels);
        }
        if (sends)
            dome__end_send(dome_object_env(object)->transport, r.dest);
        dome__storage_free(last);
    }
    return status;
}

static int move_object(dome_object *object, const dome_layout *layout, const GArray *plan)
{
    GArray *parcels = g_array_new(FALSE, FALSE, sizeof(parcel));
    g_array_set_clear_func(parcels, parcel_clear);
    int status = exchange(object, layout, plan, parcels);
    if (status == DOME_OK) {
        int adopted = dome_object_adopt(object, layout);
        if (adopted != DOME_OK)
            give_up(object, adopted, "cannot take the new layout");
        for (guint i = 0; i < parcels->len; i++) {
            parcel *p = &g_array_index(parcels, parcel, i);
            int unpacked = dome_object_unpack(object, p->first, p->count, p->format, p->message + HEAD, p->bytes);
            if (unpacked != DOME_OK)
                give_up(object, unpacked, "cannot be unpacked");
            g_clear_pointer(&p->message, dome__storage_free);
        }
    }
    g_array_unref(parcels);
    return status;
}

static bool follows(const dome_object *object, const dome_layout *layout, dome_object_info *info)
{
    return dome_object_describe(object, info) == DOME_OK && info->distribution == DOME_DYNAMIC &&
           info->length == dome_layout_length(layout) && dome_layout_block_size(info->layout) == dome_layout_block_size(layout);
}

/* Tasks that share an object send each other nothing by which they would wait. */
static int wait_for_all(dome_env *env)
{
    int status = dome__barrier(env->transport);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

static bool any_shared(const dome_env *env, const dome_layout *layout)
{
    dome_object_info info = {.size = sizeof info};
    for (const dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome__object_is_shared(o) && follows(o, layout, &info))
            return true;
    return false;
}

/* No task writes from here on, and then all have what they are about to own. */
static int fetch_shared(dome_env *env, const dome_layout *layout)
{
    dome_object_info info = {.size = sizeof info};
    bool waits;
    int status = dome__objects_meet(env, false, &waits);
    if (status == DOME_OK && waits)
        status = wait_for_all(env);
    for (dome_object *o = NULL; status == DOME_OK && (o = dome_object_next(env, o));)
        if (dome__object_is_shared(o) && follows(o, layout, &info) && (status = dome__object_fetch(o, layout)) != DOME_OK)
            status =
                dome__fail(env, (dome_status)status, "'%s': this task cannot get what it is about to own", dome_object_name(o));
    return status == DOME_OK ? wait_for_all(env) : status;
}

static uint64_t moved_blocks(const dome_env *env)
{
    return env->moved->to_neighbours + env->moved->around + env->moved->further;
}

int dome__relayout(dome_env *env, const dome_layout *layout)
{
    dome_object_info info = {.size = sizeof info};
    int status = DOME_OK;
    uint64_t begin = dome__now_ns(), bytes = env->moved->bytes, blocks = moved_blocks(env);
    dome_layout *was = dome_layout_ref(dome_env_layout(env, dome_layout_length(layout), dome_layout_block_size(layout)));
    GArray *plan = make_plan(env->transport, was, layout);
    const bool shared = any_shared(env, layout);
    if (shared)
        status = fetch_shared(env, layout);
    for (dome_object *o = NULL; status == DOME_OK && (o = dome_object_next(env, o));)
        if (follows(o, layout, &info))
            status = move_object(o, layout, plan);
    if (status == DOME_OK && shared)
        status = wait_for_all(env);
    if (status == DOME_OK)
        dome__env_set_layout(env, layout);
    dome__trace_migration(env->trace, layout, begin, env->moved->bytes - bytes, moved_blocks(env) - blocks);
    g_array_unref(plan);
    dome_layout_unref(was);
    return status;
}

uint64_t dome__layout_hash(const dome_layout *layout)
{
    uint64_t start;
    dome_layout_run(layout, 0, &start);
    uint64_t hash = dome__hash(dome__hash(dome_layout_length(layout), dome_layout_block_size(layout)), start);
    for (int r = 0; r < dome_layout_tasks(layout); r++)
        hash = dome__hash(hash, dome_layout_run(layout, r, NULL));
    return hash;
}

dome_status dome_env_relayout(dome_env *env, const dome_layout *layout)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_RELAYOUT, NULL, layout ? dome__layout_hash(layout) : 0);
    int status;
    if (!layout)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "there is no layout");
    else if (dome_layout_tasks(layout) != env->size)
        status = dome__fail(env, DOME_ERR_LAYOUT, "the layout is for %d tasks, but the program has %d", dome_layout_tasks(layout),
                            env->size);
    else
        status = dome__env_sync(env); /* it may fail; once data moves, nothing may fail */
    if (status == DOME_OK)
        status = dome__relayout(env, layout);
    if (env->balance)
        dome__marks_forget(&env->balance->marks); /* what was done before is not comparable */
    return dome__end(&op, status);
}
