#include "ckpt/image_private.h"

#include "core/object_private.h"
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

int dome__image_agree(dome_env *env, char **why)
{
    dome_transport *t = env->transport;
    char text[DOME_IMAGE_WHY] = "";
    uint64_t worst = *why ? (uint64_t)(t->group.size - t->group.rank) : 0; /* the lowest rank is the greatest number */
    int status = dome__allreduce(t, DOME_U64, &worst, 1, dome__combine_max_u64, NULL);
    if (status == DOME_OK && worst > 0) {
        if (*why)
            g_strlcpy(text, *why, sizeof text);
        status = dome__bcast(t, t->group.size - (int)worst, DOME_U8, text, sizeof text);
        g_free(*why);
        *why = g_strdup(text);
    }
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

int dome__image_common(dome_image *i)
{
    return dome__image_agree(i->env, &i->why);
}

const dome_ckpt_object *dome__image_entry(const dome_image *i, const dome_object *object)
{
    return dome__object_is_named(object) ? dome__ckpt_find(i->ckpt, dome_object_name(object)) : NULL;
}

guint dome__image_message(const dome_ckpt *ckpt, const GArray *entries, guint first, uint64_t *bytes)
{
    guint count = 0;
    *bytes = 0;
    while (first + count < entries->len) {
        const uint64_t length = ckpt->table[g_array_index(entries, uint64_t, first + count)].length;
        if (count > 0 && *bytes + length > DOME_IMAGE_WRITE)
            break;
        *bytes += length;
        count++;
    }
    return count;
}

/* ---- what there is ---- */

/* Lengths of blocks that only their owners know. Returns whether there are any such objects. */
static bool measure(dome_image *i)
{
    bool any = false;
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; !i->why && (o = dome_object_next(i->env, o));) {
        const dome_ckpt_object *there = dome__image_entry(i, o);
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

static void describe(dome_image *i, const char *program, uint64_t loop)
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
static int share_lengths(dome_image *i)
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

static char *differs(const dome_image *i, const char *what)
{
    const int rank = i->env->rank;
    return g_strdup_printf("task %d on host %s has %s than task 0: do all hosts have the same version of the program?", rank,
                           i->env->hosts[rank], what);
}

/* What task 0 has, as this task has it: a hash of each object, of the first `count`, and one of the whole directory. */
static uint64_t *hash_all(const dome_image *i, uint64_t count)
{
    uint64_t *words = g_new0(uint64_t, count + 1);
    for (guint k = 0; k < MIN(count, i->ckpt->objects->len); k++)
        words[k] = hash_object(i->ckpt, dome__ckpt_object(i->ckpt, k));
    const dome_ckpt_sum sum = dome__ckpt_directory_sum(i->ckpt);
    words[count] = dome__get_u64(sum.bytes);
    return words;
}

/* Each task places its blocks by its own plan, which follows from the directory and the lengths of blocks. If the plans differed,
 * tasks would find other blocks at those places in the next view, when the state is nowhere else. */
static int compare_plans(dome_image *i)
{
    const uint64_t own = i->ckpt->objects->len;
    uint64_t count = own;
    int status = dome__bcast(i->env->transport, 0, DOME_U64, &count, 1);
    if (status)
        return dome__fail_transport(i->env, status);
    uint64_t *words = hash_all(i, count), *of_first = g_memdup2(words, (count + 1) * sizeof *words);
    status = dome__bcast(i->env->transport, 0, DOME_U64, of_first, count + 1);
    for (uint64_t k = 0; k < MIN(own, count) && !i->why; k++)
        if (words[k] != of_first[k]) {
            char *what = g_strdup_printf("another '%s'", dome__ckpt_object(i->ckpt, k)->name);
            i->why = differs(i, what);
            g_free(what);
        }
    if (!i->why && words[count] != of_first[count])
        i->why = differs(i, own != count ? "other objects with names" : "another description of the state");
    g_free(of_first);
    g_free(words);
    return status ? dome__fail_transport(i->env, status) : DOME_OK;
}

/* ---- what can be given back ---- */

static int by_address(const void *a, const void *b)
{
    const dome_image_run *x = *(dome_image_run *const *)a, *y = *(dome_image_run *const *)b;
    return (x->values > y->values) - (x->values < y->values);
}

/* Two objects of a program's own structures may be views of the same memory. */
static void find_shared(const dome_image *i)
{
    dome_image_run **sorted = g_new(dome_image_run *, i->runs->len + 1);
    for (guint k = 0; k < i->runs->len; k++) {
        sorted[k] = &g_array_index(i->runs, dome_image_run, k);
        sorted[k]->alone = true;
    }
    qsort(sorted, i->runs->len, sizeof *sorted, by_address);
    dome_image_run *reaches = NULL; /* of those before, the one that ends last */
    for (guint k = 0; k < i->runs->len; k++) {
        if (reaches && sorted[k]->values < reaches->values + reaches->bytes)
            sorted[k]->alone = reaches->alone = false;
        if (!reaches || sorted[k]->values + sorted[k]->bytes > reaches->values + reaches->bytes)
            reaches = sorted[k];
    }
    g_free(sorted);
}

static void find_runs(dome_image *i)
{
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; (o = dome_object_next(i->env, o));) {
        const dome_ckpt_object *there = dome__image_entry(i, o);
        dome_span runs[2];
        if (!there || !there->fixed || dome_object_describe(o, &info) != DOME_OK)
            continue;
        int count = dome__checkpoint_own_blocks(i->env, &info, runs);
        for (int r = 0; r < count; r++) {
            uint64_t elements = 0;
            for (uint64_t b = runs[r].first; b < runs[r].first + runs[r].count; b++)
                elements += info.layout ? dome_layout_block(info.layout, b).count : info.length;
            dome_image_run run = {.object = o, .there = there, .blocks = runs[r]};
            run.values = dome__unconst(dome_object_values(o, runs[r].first, runs[r].count)); /* given back, never written */
            run.bytes = elements * info.width * dome_type_size(info.type);
            if (run.values && run.bytes > 0)
                g_array_append_val(i->runs, run);
        }
    }
    find_shared(i);
}

/* ---- the pieces ---- */

/* The same on all tasks. */
static void find_pieces(dome_image *i, const bool *stays)
{
    const dome_env *env = i->env;
    i->leader = g_new(int, env->size);
    i->piece_of = g_new(int, env->size);
    for (int r = 0; r < env->size; r++) {
        i->piece_of[r] = -1;
        for (int p = 0; stays[r] && p < i->pieces && i->piece_of[r] < 0; p++)
            if (strcmp(env->hosts[i->leader[p]], env->hosts[r]) == 0)
                i->piece_of[r] = p;
        if (stays[r] && i->piece_of[r] < 0) {
            i->leader[i->pieces] = r;
            i->piece_of[r] = i->pieces++;
        }
    }
    for (int r = 0; r < env->size; r++)
        for (int p = 0; !stays[r] && p < i->pieces && i->piece_of[r] < 0; p++)
            if (strcmp(env->hosts[i->leader[p]], env->hosts[r]) == 0)
                i->piece_of[r] = p;
}

/* The memory that the host of a piece needs. */
typedef struct demand {
    int64_t more;  /* than it uses now */
    int64_t whole; /* of the piece: memory that has been given back stays promised to the process until it is replaced */
} demand;

/* By piece. */
static int need(const dome_image *i, demand *of)
{
    enum { NUMBERS = sizeof(demand) / sizeof(int64_t) };
    const dome_env *env = i->env;
    dome_object_info info = {.size = sizeof info};
    const int own = i->piece_of[env->rank];
    uint64_t all = 0;
    for (dome_object *o = NULL; (o = dome_object_next(env, o));) {
        const dome_ckpt_object *there = dome__image_entry(i, o);
        dome_span runs[2];
        if (!there || dome_object_describe(o, &info) != DOME_OK)
            continue;
        int count = dome__checkpoint_own_blocks(env, &info, runs);
        for (int r = 0; r < count; r++)
            for (uint64_t b = runs[r].first; b < runs[r].first + runs[r].count; b++)
                all += dome__ckpt_entry(i->ckpt, there, b)->length;
    }
    for (int p = 0; own < 0 && p < i->pieces; p++) /* the parts that the hosts get are about equal */
        of[p].more = of[p].whole = (int64_t)(all / (uint64_t)i->pieces + 1);
    if (own >= 0) {
        of[own].more = of[own].whole = (int64_t)all + SLACK;
        for (guint k = 0; k < i->runs->len; k++) {
            const dome_image_run *run = &g_array_index(i->runs, dome_image_run, k);
            of[own].more -= run->alone ? (int64_t)run->bytes : 0;
        }
    }
    int status = dome__allreduce(env->transport, DOME_I64, of, (uint64_t)i->pieces * NUMBERS, dome__combine_sum_i64, NULL);
    return status ? dome__fail_transport(i->env, status) : DOME_OK;
}

static int make_memory(const dome_image *i, const demand *of, char **why)
{
    dome_file_limit limit;
    const bool fits = of->more <= 0 || (uint64_t)of->more <= dome__storage_available();
    if (!fits || (uint64_t)of->whole > dome__storage_promised()) {
        *why = g_strdup_printf("host %s has no memory for another %" PRId64 " MB, a part of the program's state",
                               i->env->hosts[i->env->rank], ((fits ? of->whole : of->more) >> 20) + 1);
        return -1;
    }
    const uint64_t bytes = i->ckpt->file_bytes + i->ckpt->entries * sizeof(uint32_t) + sizeof(dome_image_tail);
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
static int share_memory(dome_image *i)
{
    dome_transport *t = i->env->transport;
    const int own = i->piece_of[t->group.rank];
    demand *of_hosts = g_new0(demand, i->pieces);
    int status = need(i, of_hosts);
    if (status == DOME_OK && own >= 0 && i->leader[own] == t->group.rank)
        i->fd = make_memory(i, &of_hosts[own], &i->why);
    g_free(of_hosts);
    if (status == DOME_OK)
        status = dome__image_common(i);
    if (status != DOME_OK || i->why)
        return status;
    uint64_t mine[2] = {(uint64_t)getpid(), (uint64_t)i->fd}, *all = g_new0(uint64_t, 2 * (size_t)t->group.size);
    status = dome__allgather(t, DOME_U64, mine, 2, all);
    if (status == DOME_OK && own >= 0 && i->fd < 0) {
        const uint64_t *of = all + 2 * i->leader[own];
        const char *reason;
        char *path = g_strdup_printf("/proc/%" PRIu64 "/fd/%" PRIu64, of[0], of[1]);
        if ((i->fd = dome__file_open(path, O_RDWR, &reason)) < 0)
            i->why = g_strdup_printf("task %d cannot open the memory of task %d: %s", t->group.rank, i->leader[own], reason);
        g_free(path);
    }
    g_free(all);
    return status ? dome__fail_transport(i->env, status) : dome__image_common(i);
}

/* ---- the whole ---- */

static int prepare(dome_image *i, const bool *stays)
{
    const bool unequal = measure(i);
    int status = compare_plans(i);
    if (status == DOME_OK)
        status = dome__image_common(i);
    if (status == DOME_OK && !i->why && unequal)
        status = share_lengths(i);
    if (status != DOME_OK || i->why)
        return status;
    dome__ckpt_plan(i->ckpt, NULL, &i->why);
    find_pieces(i, stays);
    find_runs(i);
    if ((status = dome__image_common(i)) != DOME_OK || i->why)
        return status;
    uint64_t longest = DOME_IMAGE_WRITE;
    for (uint64_t e = 0; e < i->ckpt->entries; e++)
        longest = MAX(longest, i->ckpt->table[e].length);
    i->room = longest;
    i->buffer = longest <= G_MAXSIZE ? g_try_malloc((gsize)longest) : NULL;
    i->words = g_try_new0(uint64_t, (i->ckpt->entries + 1) * DOME_IMAGE_WORDS);
    if (!i->buffer || !i->words)
        i->why = g_strdup("there is no memory for a block");
    return (status = dome__image_common(i)) != DOME_OK || i->why ? status : share_memory(i);
}

int dome__image_prepare(dome_env *env, const char *program, uint64_t loop, const bool *stays, dome_image **image, char **why)
{
    dome_image *i = g_new0(dome_image, 1);
    i->env = env;
    i->fd = -1;
    i->why = g_steal_pointer(why);
    i->runs = g_array_new(FALSE, TRUE, sizeof(dome_image_run));
    describe(i, program, loop);
    int status = prepare(i, stays);
    *why = g_steal_pointer(&i->why);
    if (status != DOME_OK || *why)
        g_clear_pointer(&i, dome__image_free);
    *image = i;
    return status;
}

int dome__image_confirm(dome_image *i, char **why)
{
    i->why = g_steal_pointer(why);
    int status = dome__image_common(i);
    *why = g_steal_pointer(&i->why);
    return status;
}

void dome__image_free(dome_image *i)
{
    if (!i)
        return;
    if (i->fd >= 0)
        close(i->fd);
    dome__ckpt_free(i->ckpt);
    g_array_unref(i->runs);
    g_free(i->leader);
    g_free(i->piece_of);
    g_free(i->words);
    g_free(i->buffer);
    g_free(i->why);
    g_free(i);
}
