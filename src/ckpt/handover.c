#include "ckpt/handover_private.h"

#include "core/operation.h"
#include "core/storage.h"
#include "system/bytes.h"
#include "system/files.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory that a host needs besides: buffers, messages, and pages of which only a part is used. */
static const int64_t SLACK = (int64_t)16 << 20;

int dome__handover_agree(dome_env *env, char **why)
{
    int status = dome__agree_text(env->transport, why, NULL);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

int dome__handover_common(dome_handover *h)
{
    return dome__handover_agree(h->env, &h->why);
}

void dome__handover_walk(dome_handover *h, const dome_state_sink *sink)
{
    if (!h->why)
        h->why = dome__state_walk(&(dome_state_walk){.env = h->env, .ckpt = h->ckpt, .sink = sink, .ctx = h});
}

guint dome__handover_message(const dome_ckpt *ckpt, const GArray *entries, guint first, uint64_t *bytes)
{
    guint count = 0;
    *bytes = 0;
    while (first + count < entries->len) {
        const uint64_t length = ckpt->table[g_array_index(entries, uint64_t, first + count)].length;
        if (count > 0 && *bytes + length > DOME_STATE_WRITE)
            break;
        *bytes += length;
        count++;
    }
    return count;
}

/* ---- what there is ---- */

/* Lengths of blocks that only their owners know. */
static char *measure(void *ctx, const dome_state_item *item, dome_span run)
{
    const dome_handover *h = ctx;
    int status = DOME_OK;
    for (uint64_t b = run.first; !item->fixed && status == DOME_OK && b < run.first + run.count; b++)
        status = dome_object_write_bytes(item->object, b, 1, &dome__ckpt_entry(h->ckpt, item->there, b)->length);
    return status == DOME_OK ? NULL : dome__state_cannot(item->there->name, status);
}

static bool all_fixed(const dome_ckpt *ckpt)
{
    for (guint k = 0; k < ckpt->objects->len; k++)
        if (!dome__ckpt_object(ckpt, k)->fixed)
            return false;
    return true;
}

static void describe(dome_handover *h, const char *program, uint64_t loop)
{
    if (!h->why)
        h->why = dome__state_settle(h->env);
    h->ckpt = dome__state_describe(h->env, program, 1, loop, &h->why);
    if (!h->why && h->ckpt->objects->len == 0)
        h->why = g_strdup("it has no objects with names, so nothing of its state could be taken along (see man dome-grow)");
    dome__ckpt_make_table(h->ckpt);
}

/* Adds up what the owners know. */
static int share_lengths(dome_handover *h)
{
    uint64_t *lengths = g_new0(uint64_t, h->ckpt->entries + 1);
    for (guint k = 0; k < h->ckpt->objects->len; k++) {
        const dome_ckpt_object *object = dome__ckpt_object(h->ckpt, k);
        for (uint64_t b = 0; !object->fixed && b < object->blocks; b++)
            lengths[object->first_entry + b] = dome__ckpt_entry(h->ckpt, object, b)->length;
    }
    int status = dome__allreduce(h->env->transport, DOME_I64, lengths, h->ckpt->entries + 1, dome__combine_sum_i64, NULL);
    for (guint k = 0; k < h->ckpt->objects->len; k++) {
        const dome_ckpt_object *object = dome__ckpt_object(h->ckpt, k);
        for (uint64_t b = 0; !object->fixed && b < object->blocks; b++)
            dome__ckpt_entry(h->ckpt, object, b)->length = lengths[object->first_entry + b];
    }
    g_free(lengths);
    return status ? dome__fail_transport(h->env, status) : DOME_OK;
}

/* ---- whether all tasks plan alike ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    const size_t length = strlen(text);
    return dome__hash_bytes(dome__hash(hash, length), text, length);
}

static uint64_t hash_object(const dome_ckpt *ckpt, const dome_ckpt_object *o)
{
    const uint64_t words[] = {o->length, o->width, o->distribution, o->block_size, o->blocks, o->fixed};
    uint64_t hash = hash_text(hash_text(hash_text(0, o->name), o->kind), dome__ckpt_type_name(ckpt, o->type));
    for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
        hash = dome__hash(hash, words[k]);
    return hash;
}

static char *differs(const dome_handover *h, const char *what)
{
    const int rank = h->env->rank;
    return g_strdup_printf("task %d on host %s has %s than task 0: do all hosts have the same version of the program?", rank,
                           h->env->hosts[rank], what);
}

/* Words that must be equal to those of task 0: a hash of each of the first `count` objects, and one of the whole directory. */
static uint64_t *hash_all(const dome_handover *h, uint64_t count)
{
    uint64_t *words = g_new0(uint64_t, count + 1);
    for (guint k = 0; k < MIN(count, h->ckpt->objects->len); k++)
        words[k] = hash_object(h->ckpt, dome__ckpt_object(h->ckpt, k));
    const dome_checksum sum = dome__ckpt_directory_sum(h->ckpt);
    words[count] = dome__get_u64(sum.bytes);
    return words;
}

/* Each task places its blocks by its own plan, which follows from the directory and the lengths of blocks. If the plans differed,
 * tasks would find other blocks at those places in the next view, when the state is nowhere else. */
static int compare_plans(dome_handover *h)
{
    const uint64_t own = h->ckpt->objects->len;
    uint64_t count = own;
    int status = dome__bcast(h->env->transport, 0, DOME_U64, &count, 1);
    if (status)
        return dome__fail_transport(h->env, status);
    uint64_t *words = hash_all(h, count), *of_first = g_memdup2(words, (count + 1) * sizeof *words);
    status = dome__bcast(h->env->transport, 0, DOME_U64, of_first, count + 1);
    for (uint64_t k = 0; k < MIN(own, count) && !h->why; k++)
        if (words[k] != of_first[k]) {
            char *what = g_strdup_printf("another '%s'", dome__ckpt_object(h->ckpt, k)->name);
            h->why = differs(h, what);
            g_free(what);
        }
    if (!h->why && words[count] != of_first[count])
        h->why = differs(h, own != count ? "other objects with names" : "another description of the state");
    g_free(of_first);
    g_free(words);
    return status ? dome__fail_transport(h->env, status) : DOME_OK;
}

/* ---- what can be given back ---- */

static int by_address(const void *a, const void *b)
{
    const dome_handover_run *x = *(dome_handover_run *const *)a, *y = *(dome_handover_run *const *)b;
    return (x->values > y->values) - (x->values < y->values);
}

/* Two objects of a program's own structures may be views of the same memory. */
static void find_shared(const dome_handover *h)
{
    dome_handover_run **sorted = g_new(dome_handover_run *, h->runs->len + 1);
    for (guint k = 0; k < h->runs->len; k++) {
        sorted[k] = &g_array_index(h->runs, dome_handover_run, k);
        sorted[k]->alone = true;
    }
    qsort(sorted, h->runs->len, sizeof *sorted, by_address);
    dome_handover_run *reaches = NULL; /* of those before, the one that ends last */
    for (guint k = 0; k < h->runs->len; k++) {
        if (reaches && sorted[k]->values < reaches->values + reaches->bytes)
            sorted[k]->alone = reaches->alone = false;
        if (!reaches || sorted[k]->values + sorted[k]->bytes > reaches->values + reaches->bytes)
            reaches = sorted[k];
    }
    g_free(sorted);
}

static char *note_run(void *ctx, const dome_state_item *item, dome_span blocks)
{
    const dome_handover *h = ctx;
    uint64_t elements = 0;
    if (!item->fixed)
        return NULL;
    for (uint64_t b = blocks.first; b < blocks.first + blocks.count; b++)
        elements += item->info.layout ? dome_layout_block(item->info.layout, b).count : item->info.length;
    dome_handover_run run = {.object = item->object, .there = item->there, .blocks = blocks};
    run.values = dome__unconst(dome_object_values(item->object, blocks.first, blocks.count)); /* given back, never written */
    run.bytes = elements * item->info.width * dome_type_size(item->info.type);
    if (run.values && run.bytes > 0)
        g_array_append_val(h->runs, run);
    return NULL;
}

static void find_runs(dome_handover *h)
{
    dome__handover_walk(h, &(dome_state_sink){.run = note_run});
    find_shared(h);
}

/* ---- the pieces ---- */

/* The same on all tasks. */
static void find_pieces(dome_handover *h, const bool *stays)
{
    const dome_env *env = h->env;
    h->leader = g_new(int, env->size);
    h->piece_of = g_new(int, env->size);
    for (int r = 0; r < env->size; r++) {
        h->piece_of[r] = -1;
        for (int p = 0; stays[r] && p < h->pieces && h->piece_of[r] < 0; p++)
            if (strcmp(env->hosts[h->leader[p]], env->hosts[r]) == 0)
                h->piece_of[r] = p;
        if (stays[r] && h->piece_of[r] < 0) {
            h->leader[h->pieces] = r;
            h->piece_of[r] = h->pieces++;
        }
    }
    for (int r = 0; r < env->size; r++)
        for (int p = 0; !stays[r] && p < h->pieces && h->piece_of[r] < 0; p++)
            if (strcmp(env->hosts[h->leader[p]], env->hosts[r]) == 0)
                h->piece_of[r] = p;
}

/* The memory that the host of a piece needs. */
typedef struct demand {
    int64_t more;  /* than it uses now */
    int64_t whole; /* of the piece: memory that has been given back stays promised to the process until it is replaced */
} demand;

typedef struct lengths {
    const dome_ckpt *ckpt;
    uint64_t bytes;
} lengths;

static char *add_lengths(void *ctx, const dome_state_item *item, dome_span run)
{
    lengths *l = ctx;
    for (uint64_t b = run.first; b < run.first + run.count; b++)
        l->bytes += dome__ckpt_entry(l->ckpt, item->there, b)->length;
    return NULL;
}

/* Of this task's blocks. */
static uint64_t own_bytes(const dome_handover *h)
{
    static const dome_state_sink sink = {.run = add_lengths};
    lengths l = {.ckpt = h->ckpt};
    g_free(dome__state_walk(&(dome_state_walk){.env = h->env, .ckpt = h->ckpt, .sink = &sink, .ctx = &l}));
    return l.bytes;
}

/* By piece. */
static int need(const dome_handover *h, demand *of)
{
    enum { NUMBERS = sizeof(demand) / sizeof(int64_t) };
    const dome_env *env = h->env;
    const int own = h->piece_of[env->rank];
    const uint64_t all = own_bytes(h);
    for (int p = 0; own < 0 && p < h->pieces; p++) /* the parts that the hosts get are about equal */
        of[p].more = of[p].whole = (int64_t)(all / (uint64_t)h->pieces + 1);
    if (own >= 0) {
        of[own].more = of[own].whole = (int64_t)all + SLACK;
        for (guint k = 0; k < h->runs->len; k++) {
            const dome_handover_run *run = &g_array_index(h->runs, dome_handover_run, k);
            of[own].more -= run->alone ? (int64_t)run->bytes : 0;
        }
    }
    int status = dome__allreduce(env->transport, DOME_I64, of, (uint64_t)h->pieces * NUMBERS, dome__combine_sum_i64, NULL);
    return status ? dome__fail_transport(h->env, status) : DOME_OK;
}

static int make_memory(const dome_handover *h, const demand *of, char **why)
{
    dome_file_limit limit;
    const bool fits = of->more <= 0 || (uint64_t)of->more <= dome__storage_available();
    if (!fits || (uint64_t)of->whole > dome__storage_promised()) {
        *why = g_strdup_printf("host %s has no memory for another %" PRId64 " MB, a part of the program's state",
                               h->env->hosts[h->env->rank], ((fits ? of->whole : of->more) >> 20) + 1);
        return -1;
    }
    const uint64_t bytes = h->ckpt->file_bytes + h->ckpt->entries * sizeof(uint32_t) + sizeof(dome_handover_tail);
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

/* The first task of each host makes the memory; the others open it. */
static int share_memory(dome_handover *h)
{
    dome_transport *t = h->env->transport;
    const int own = h->piece_of[t->group.rank];
    demand *of_hosts = g_new0(demand, h->pieces);
    int status = need(h, of_hosts);
    if (status == DOME_OK && own >= 0 && h->leader[own] == t->group.rank)
        h->file.fd = make_memory(h, &of_hosts[own], &h->why);
    g_free(of_hosts);
    if (status == DOME_OK)
        status = dome__handover_common(h);
    if (status != DOME_OK || h->why)
        return status;
    uint64_t mine[2] = {(uint64_t)getpid(), (uint64_t)h->file.fd}, *all = g_new0(uint64_t, 2 * (size_t)t->group.size);
    status = dome__allgather(t, DOME_U64, mine, 2, all);
    if (status == DOME_OK && own >= 0 && h->file.fd < 0) {
        const uint64_t *of = all + 2 * h->leader[own];
        const char *reason;
        char *path = g_strdup_printf("/proc/%" PRIu64 "/fd/%" PRIu64, of[0], of[1]);
        if ((h->file.fd = dome__file_open(path, O_RDWR, &reason)) < 0)
            h->why = g_strdup_printf("task %d cannot open the memory of task %d: %s", t->group.rank, h->leader[own], reason);
        g_free(path);
    }
    g_free(all);
    return status ? dome__fail_transport(h->env, status) : dome__handover_common(h);
}

/* ---- the whole ---- */

static int prepare(dome_handover *h, const bool *stays)
{
    dome__handover_walk(h, &(dome_state_sink){.run = measure});
    int status = compare_plans(h);
    if (status == DOME_OK)
        status = dome__handover_common(h);
    if (status == DOME_OK && !h->why && !all_fixed(h->ckpt))
        status = share_lengths(h);
    if (status != DOME_OK || h->why)
        return status;
    dome__ckpt_plan(h->ckpt, NULL, &h->why);
    find_pieces(h, stays);
    find_runs(h);
    if ((status = dome__handover_common(h)) != DOME_OK || h->why)
        return status;
    uint64_t longest = DOME_STATE_WRITE;
    for (uint64_t e = 0; e < h->ckpt->entries; e++)
        longest = MAX(longest, h->ckpt->table[e].length);
    h->file.room = longest;
    h->file.buffer = longest <= G_MAXSIZE ? g_try_malloc((gsize)longest) : NULL;
    h->words = g_try_new0(uint64_t, (h->ckpt->entries + 1) * DOME_HANDOVER_WORDS);
    if (!h->file.buffer || !h->words)
        h->why = g_strdup("there is no memory for a block");
    return (status = dome__handover_common(h)) != DOME_OK || h->why ? status : share_memory(h);
}

int dome__handover_prepare(dome_env *env, const char *program, uint64_t loop, const bool *stays, dome_handover **handover,
                           char **why)
{
    dome_handover *h = g_new0(dome_handover, 1);
    h->env = env;
    h->file.fd = -1;
    h->why = g_steal_pointer(why);
    h->runs = g_array_new(FALSE, TRUE, sizeof(dome_handover_run));
    int status = dome__state_meet(env);
    if (status == DOME_OK) {
        describe(h, program, loop);
        status = prepare(h, stays);
    }
    *why = g_steal_pointer(&h->why);
    if (status != DOME_OK || *why)
        g_clear_pointer(&h, dome__handover_free);
    *handover = h;
    return status;
}

int dome__handover_confirm(dome_handover *h, char **why)
{
    h->why = g_steal_pointer(why);
    int status = dome__handover_common(h);
    *why = g_steal_pointer(&h->why);
    return status;
}

void dome__handover_free(dome_handover *h)
{
    if (!h)
        return;
    if (h->file.fd >= 0)
        close(h->file.fd);
    dome__ckpt_free(h->ckpt);
    g_array_unref(h->runs);
    g_free(h->leader);
    g_free(h->piece_of);
    g_free(h->words);
    g_free(h->file.buffer);
    g_free(h->why);
    g_free(h);
}
