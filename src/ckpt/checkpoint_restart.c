/* Restarting: choosing a checkpoint, and giving objects their values. */
#include "ckpt/checkpoint_private.h"
#include "ckpt/collect.h"
#include "ckpt/restart_source.h"
#include "ckpt/state.h"
#include "core/layout.h"
#include "core/object_private.h"
#include "system/time.h"
#include "trace/record.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ---- choosing ---- */

static dome_ckpt_file *open_number(const dome_checkpoints *c, uint64_t number, char **message)
{
    char *path = dome__ckpt_file_path(c->directory, number, 0, 0);
    dome_ckpt_file *file = dome__ckpt_open(path, message);
    if (file && !dome__ckpt_check_earlier(file, message)) {
        dome__ckpt_close(file);
        file = NULL;
    }
    g_free(path);
    return file;
}

static dome_checkpoint_point point_of(const dome_ckpt *head)
{
    return (dome_checkpoint_point){.number = head->number, .loop = head->loop, .tasks = dome__ckpt_tasks(head)};
}

bool dome__checkpoint_newest(const char *directory, const char *program, dome_checkpoint_point *point)
{
    char *skipped = NULL, *message = NULL;
    dome_ckpt_file *file = dome__store_newest(directory, program, false, &skipped, &message);
    *point = file ? point_of(dome__ckpt_head(file)) : (dome_checkpoint_point){0};
    dome__ckpt_close(file);
    g_clear_pointer(&message, g_free);
    GPtrArray *items = dome__store_list(directory, &message);
    for (guint i = 0; items && i < items->len; i++) {
        const dome_store_item *item = items->pdata[i];
        const dome_ckpt *head = item->file ? dome__ckpt_head(item->file) : NULL;
        if (!head || item->damage || item->pieces == 0 || head->number <= point->number || !dome__ckpt_is_of(head, program))
            continue;
        *point = point_of(head);
    }
    if (items)
        g_ptr_array_unref(items);
    bool there = point->number > 0 && point->number >= dome__run_read(directory).first;
    point->doubted = dome__restart_is_doubted(directory);
    g_free(skipped);
    g_free(message);
    return there;
}

bool dome__checkpoint_wanted(const char *directory, const dome_restart_options *wanted, dome_checkpoint_point *point)
{
    *point = (dome_checkpoint_point){0};
    if (wanted->from == DOME_RESTART_NONE)
        return false;
    if (wanted->from != DOME_RESTART_NUMBER)
        return dome__checkpoint_newest(directory, NULL, point) || (wanted->from == DOME_RESTART_NEWEST && point->number > 0);
    char *path = dome__ckpt_file_path(directory, wanted->number, 0, 0), *message = NULL;
    dome_ckpt_file *file = dome__ckpt_open(path, &message); /* NULL: it is in pieces */
    *point = file ? point_of(dome__ckpt_head(file)) : (dome_checkpoint_point){.number = wanted->number};
    dome__ckpt_close(file);
    g_free(message);
    g_free(path);
    return true;
}

/* Rank 0 chooses the checkpoint: a file, or NULL, with *message if that is an error. */
static dome_ckpt_file *choose(dome_env *env, const dome_checkpoints *c, char **message)
{
    dome_ckpt_file *file = NULL;
    char *skipped = NULL, *none = NULL;
    if (env->options.restart.from == DOME_RESTART_NUMBER) {
        file = open_number(c, env->options.restart.number, message);
        const dome_ckpt *head = file ? dome__ckpt_head(file) : NULL;
        if (head && !dome__ckpt_is_of(head, c->program))
            *message = g_strdup_printf("checkpoint '%s' is of program '%s', not of '%s'", dome__ckpt_path(file), head->program,
                                       c->program);
        if (head && !*message && !c->restart.lazy)
            dome__ckpt_verify(file, message);
        if (*message) {
            dome__ckpt_close(file);
            file = NULL;
        }
        return file;
    }
    file = dome__store_newest(c->directory, c->program, !c->restart.lazy, &skipped, &none);
    char **lines = g_strsplit(skipped ? skipped : "", "\n", -1);
    for (char **line = lines; *line; line++)
        dome__checkpoint_say(env, "%s: it is not used", *line);
    g_strfreev(lines);
    if (file && env->options.restart.from == DOME_RESTART_AUTO &&
        dome__ckpt_head(file)->number < dome__run_read(c->directory).first) {
        dome__ckpt_close(file);
        file = NULL;
    } else if (!file && env->options.restart.from == DOME_RESTART_NEWEST) {
        *message = g_strdup_printf("there is nothing to go on from: %s; without --dome-restart the program begins anew", none);
    }
    g_free(skipped);
    g_free(none);
    return file;
}

/* The newest checkpoint if there is no doubt about it but for the data, which is not read. */
static dome_ckpt_file *first_choice(const dome_env *env, const dome_checkpoints *c)
{
    char *skipped = NULL, *message = NULL;
    dome_ckpt_file *file = dome__store_newest(c->directory, c->program, false, &skipped, &message);
    const uint64_t first = env->options.restart.from == DOME_RESTART_AUTO ? dome__run_read(c->directory).first : 0;
    if (file && (skipped || dome__ckpt_head(file)->number < first))
        g_clear_pointer(&file, dome__ckpt_close);
    g_free(skipped);
    g_free(message);
    return file;
}

/* Opens the newest checkpoint on all tasks, each of which verifies a part of its data: one task would take longer. Data in memory
 * is verified only when objects take it, since reading it twice would take most of the time of a restart; likewise where objects
 * read it later. *file NULL: something
 * is wrong with it, or it is not wanted, and rank 0 has to choose. Collective. */
static int choose_together(dome_env *env, const dome_checkpoints *c, dome_ckpt_file **file)
{
    dome_transport *t = env->transport;
    char *message = NULL;
    uint64_t number = 0, bad = 0;
    if (t->group.size == 1)
        return DOME_OK;
    if (env->options.restart.from == DOME_RESTART_AUTO || env->options.restart.from == DOME_RESTART_NEWEST)
        *file = first_choice(env, c);
    const uint64_t own = *file ? dome__ckpt_head(*file)->number : 0;
    number = own;
    int status = dome__checkpoint_share(env, &number, 1, DOME_U64);
    if (own != number) /* rank 0 decides */
        g_clear_pointer(file, dome__ckpt_close);
    if (status != DOME_OK || number == 0)
        return status;
    if (!*file)
        *file = open_number(c, number, &message);
    bad = !*file || (!c->in_memory && !c->restart.lazy &&
                     !dome__ckpt_verify_part(*file, (uint64_t)t->group.rank, (uint64_t)t->group.size, &message));
    g_free(message);
    const int failed = dome__allreduce(t, DOME_U64, &bad, 1, dome__combine_max_u64, NULL);
    if (bad || failed)
        g_clear_pointer(file, dome__ckpt_close);
    return failed ? dome__fail_transport(env, failed) : DOME_OK;
}

void dome__checkpoint_take_up(dome_checkpoints *c, dome_ckpt_file *file)
{
    c->restart.from = file;
    c->restart.restored = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->loop = dome__ckpt_head(file)->loop;
}

/* Merges pieces if there are any: then all tasks have the whole checkpoint to restart from. */
static int collect(dome_env *env, dome_checkpoints *c, char **message)
{
    const dome_options *o = &env->options;
    uint64_t first = dome__run_read(c->directory).first, wanted = o->restart.from == DOME_RESTART_NUMBER ? o->restart.number : 0,
             number = 0, next = 1;
    int status = dome__checkpoint_share(env, &first, 1, DOME_U64);
    uint64_t from = o->restart.from == DOME_RESTART_NONE ? UINT64_MAX : o->restart.from == DOME_RESTART_AUTO ? first : 1;
    if (status == DOME_OK)
        status = dome__collect(env, &(dome_collect_request){c->directory, c->program, &c->pieces, from, wanted}, &number, &next);
    c->number = next;
    c->restart.collected = number;
    if (number == 0 && o->restart.from != DOME_RESTART_NONE && o->restart.from != DOME_RESTART_AUTO)
        *message = g_strdup_printf("there is nothing to go on from: the hosts' directories '%s' have no complete checkpoint%s",
                                   c->directory, wanted ? " of that number" : "");
    if (!*message && dome__checkpoint_leads_group(env))
        dome__run_note(c, number > 0, message);
    return status;
}

/* Whether objects may read their values later. Collective. */
static int choose_load(dome_env *env, dome_checkpoints *c)
{
    const dome_restart_options *o = &env->options.restart;
    if (dome__checkpoint_in_pieces(c) || c->in_memory)
        return DOME_OK;
    uint64_t doubted = env->rank == 0 && dome__restart_is_doubted(c->directory);
    c->restart.doubted = doubted;
    if (o->load != DOME_RESTART_LAZY || o->from == DOME_RESTART_NONE)
        return DOME_OK;
    const int status = dome__checkpoint_share(env, &doubted, 1, DOME_U64);
    c->restart.lazy = !doubted;
    return status;
}

int dome__checkpoint_open(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    bool leads = env->rank == 0;
    uint64_t number = 0;
    char *message = NULL;
    dome_ckpt_file *file = NULL;
    const int failed = choose_load(env, c);
    if (failed)
        return failed;
    if (dome__checkpoint_in_pieces(c)) {
        int status = collect(env, c, &message);
        if (status != DOME_OK)
            return status;
        if (leads && c->restart.collected > 0)
            file = open_number(c, c->restart.collected, &message);
    } else {
        int status = choose_together(env, c, &file);
        if (status != DOME_OK) {
            dome__ckpt_close(file);
            return status;
        }
        if (leads && !file && env->options.restart.from != DOME_RESTART_NONE)
            file = choose(env, c, &message);
    }
    if (!dome__checkpoint_in_pieces(c) && leads && !message && dome__store_next_number(c->directory, &c->number, &message)) {
        if (dome__run_note(c, file != NULL, &message) && !file && c->number > 1)
            dome__checkpoint_say(env,
                                 "checkpoint directory '%s' has checkpoints up to number %" PRIu64
                                 " already, which are not gone on from "
                                 "(--dome-restart would): new ones will take their place",
                                 c->directory, c->number - 1);
    }
    int status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_clear_pointer(&message, g_free);
    if (file)
        number = dome__ckpt_head(file)->number;
    if (status == DOME_OK)
        status = dome__checkpoint_share(env, &number, 1, DOME_U64);
    if (status == DOME_OK && number > 0) {
        if (!file)
            file = open_number(c, number, &message);
        status = dome__agree(env, file ? DOME_OK : DOME_ERR_IO, message);
        g_free(message);
    }
    if (status != DOME_OK || !file) {
        dome__ckpt_close(file);
        return status;
    }
    dome__checkpoint_take_up(c, file);
    if (leads) {
        c->full = dome__checkpoint_in_pieces(c); /* otherwise the next one refers to this one */
        dome__trace_restart(env->trace, number);
        bool said = env->supervised && env->options.restart.from == DOME_RESTART_AUTO && number + 1 == c->number;
        if (!said)
            dome__checkpoint_say(env, "going on from checkpoint %" PRIu64 ", after %" PRIu64 " loop boundaries", number, c->loop);
    }
    return DOME_OK;
}

int dome__checkpoint_go_on(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    char *message = NULL;
    uint64_t number = 0;
    int status = DOME_OK;
    if (dome__checkpoint_in_pieces(c))
        status =
            dome__collect(env, &(dome_collect_request){c->directory, c->program, &c->pieces, UINT64_MAX, 0}, &number, &c->number);
    else if (env->rank == 0)
        dome__store_next_number(c->directory, &c->number, &message);
    if (status != DOME_OK)
        return status;
    if (!message && dome__checkpoint_leads_group(env))
        dome__run_note(c, true, &message);
    status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_free(message);
    return status;
}

int dome__checkpoint_open_handover(dome_env *env, const dome_checkpoint_view *view)
{
    dome_checkpoints *c = env->checkpoints;
    dome_ckpt_file *file = NULL;
    int status = c->directory ? dome__checkpoint_go_on(env) : DOME_OK;
    if (status == DOME_OK)
        status = dome__handover_open(env, view->number, view->piece, view->in_place, &file, &c->restart.handover);
    if (status == DOME_OK && view->in_place)
        status = dome__handover_spread(c->restart.handover);
    if (status == DOME_OK)
        dome__checkpoint_take_up(c, file);
    return status;
}

int dome__checkpoint_open_kept(dome_env *env, uint32_t view)
{
    dome_checkpoints *c = env->checkpoints;
    dome_ckpt_file *file = NULL;
    int status = dome__kept_open(c->kept, view, &file, &c->restart.handover);
    if (status != DOME_OK || !file)
        return status;
    dome__checkpoint_take_up(c, file);
    c->restart.lost = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    for (guint i = 0; i < dome__ckpt_head(file)->objects->len; i++) {
        const dome_ckpt_object *there = dome__ckpt_object(dome__ckpt_head(file), i);
        g_hash_table_insert(c->restart.lost, g_strdup(there->name), dome__handover_lost(c->restart.handover, there));
    }
    return DOME_OK;
}

size_t dome__checkpoint_lost(const dome_env *env, const dome_object *object, const dome_span **spans)
{
    const dome_checkpoints *c = env->checkpoints;
    const GArray *lost = c && c->restart.lost ? g_hash_table_lookup(c->restart.lost, dome_object_name(object)) : NULL;
    *spans = lost && lost->len > 0 ? &g_array_index(lost, dome_span, 0) : NULL;
    return lost ? lost->len : 0;
}

/* ---- restoring values ---- */

bool dome__checkpoint_restarting(const dome_env *env)
{
    return env->checkpoints && env->checkpoints->restart.from;
}

bool dome__checkpoint_from(const dome_env *env, uint64_t *number, uint64_t *loop)
{
    const bool from = dome__checkpoint_restarting(env);
    *number = from ? dome__ckpt_head(env->checkpoints->restart.from)->number : 0;
    *loop = from ? dome__ckpt_head(env->checkpoints->restart.from)->loop : 0;
    return from;
}

bool dome__checkpoint_complete(const dome_env *env)
{
    return dome__checkpoint_restarting(env) &&
           g_hash_table_size(env->checkpoints->restart.restored) >= dome__ckpt_head(env->checkpoints->restart.from)->objects->len;
}

uint64_t dome__checkpoint_loop(const dome_env *env)
{
    return env->checkpoints ? env->checkpoints->loop : 0;
}

/* Why an object is not the one in the checkpoint: a text, and the status. */
static char *differs(const dome_ckpt *head, const dome_ckpt_object *there, const dome_object *object,
                     const dome_object_info *here, int *status)
{
    const char *kind = dome_object_operations(object)->kind;
    uint64_t block = here->layout ? dome_layout_block_size(here->layout) : 0;
    *status = DOME_ERR_TYPE;
    if (strcmp(there->kind, kind) != 0)
        return g_strdup_printf("is a %s there, but a %s in the program", there->kind, kind);
    if (!dome__ckpt_type_fits(head, there->type, here->type))
        return g_strdup_printf("has type %s there, but %s in the program%s", dome__ckpt_type_name(head, there->type),
                               here->type ? dome_type_name(here->type) : "none",
                               here->type && strcmp(dome__ckpt_type_name(head, there->type), dome_type_name(here->type)) == 0
                                   ? " with other fields"
                                   : "");
    *status = DOME_ERR_SHAPE;
    if (there->length != here->length)
        return g_strdup_printf("has %" PRIu64 " elements there, but %" PRIu64 " in the program", there->length, here->length);
    if (there->width != here->width)
        return g_strdup_printf("has width %" PRIu64 " there, but %" PRIu64 " in the program", there->width, here->width);
    if (there->block_size != block)
        return g_strdup_printf("has blocks of %" PRIu64 " elements there, but of %" PRIu64 " in the program", there->block_size,
                               block);
    *status = DOME_ERR_LAYOUT;
    if (there->distribution != here->distribution)
        return g_strdup_printf("is %s there, but %s in the program", dome__distribution_name(there->distribution),
                               dome__distribution_name(here->distribution));
    *status = DOME_ERR_FORMAT;
    if (there->fixed != dome__state_is_fixed(object, here))
        return g_strdup("is stored in another way there than this program stores it");
    *status = DOME_OK;
    return NULL;
}

/* Gives an object the shape of the one in the checkpoint. Returns why that is not possible. */
static char *take_shape(const dome_ckpt *head, const dome_ckpt_object *there, dome_object *object, int *status)
{
    int ndim;
    if (!dome__ckpt_has_shapes(head))
        return NULL;
    uint64_t *shape = dome__ckpt_shape(head, there, &ndim);
    *status = dome_object_reshape(object, ndim, shape);
    g_free(shape);
    return *status == DOME_OK ? NULL : g_strdup("has a shape there that it cannot have in the program");
}

/* An object that receives its blocks from a checkpoint. */
typedef struct restoring {
    const dome_checkpoints *c;
    dome_object *object;
    int status;
} restoring;

static bool take_block(void *ctx, uint64_t block, const void *bytes, uint64_t length, char **message)
{
    restoring *r = ctx;
    r->status = dome_object_read(r->object, block, 1, bytes, length);
    return r->status == DOME_OK ||
           dome__ckpt_refuse(message, "block %" PRIu64 " of checkpoint '%s' cannot be taken: %s", block,
                             dome__ckpt_path(r->c->restart.from), dome_status_text((dome_status)r->status));
}

static char *read_blocks(dome_checkpoints *c, const dome_ckpt_object *there, dome_object *object, dome_span run, int *status)
{
    restoring r = {.c = c, .object = object};
    uint64_t room = DOME_CKPT_READ;
    for (uint64_t b = run.first; b < run.first + run.count; b++)
        room = MAX(room, dome__ckpt_entry(dome__ckpt_head(c->restart.from), there, b)->length);
    char *buffer = room <= G_MAXSIZE ? g_try_malloc((gsize)room) : NULL, *text = NULL;
    if (!buffer) {
        *status = DOME_ERR_MEMORY;
        return g_strdup_printf("no memory for a block of %" PRIu64 " bytes", room);
    }
    *status = DOME_OK;
    const dome_ckpt_taker taker = {buffer, room, take_block, &r};
    if (!dome__ckpt_read_run(c->restart.from, there, run, &taker, &text))
        *status = r.status != DOME_OK ? r.status : DOME_ERR_IO;
    g_free(buffer);
    return text;
}

/* Data in memory has not been verified before. The task is lost with it, so that all go back once more, to the checkpoint before:
 * other objects may have got values from this one. */
static int lose_checkpoint(dome_env *env, const char *why)
{
    const char *path = dome__ckpt_path(env->checkpoints->restart.from);
    const bool gone = unlink(path) == 0 || errno == ENOENT;
    return dome__fail(env, gone ? DOME_ERR_LOST : DOME_ERR_IO, "%s; the checkpoint %s", why,
                      gone ? "is removed" : "cannot be removed");
}

/* The same of what this task has kept in its own memory: all go back to the state before. */
static int lose_kept(dome_env *env, const char *why)
{
    dome__kept_lose(env->checkpoints->kept);
    return dome__fail(env, DOME_ERR_LOST, "%s; the task forgets that state", why);
}

/* Data that was not verified before has turned out to be damaged: likewise. The checkpoint stays, and is verified next time. */
static int lose_doubted(dome_env *env, const char *why)
{
    dome__restart_doubt(env->checkpoints->directory);
    return dome__fail(env, DOME_ERR_LOST, "%s; the next restart verifies first and takes an older checkpoint", why);
}

/* Gives an object its values, or has it read them later. Returns why that failed. */
static char *give_values(dome_env *env, dome_object *object, const dome_ckpt_object *there, const dome_object_info *info,
                         int *status)
{
    dome_checkpoints *c = env->checkpoints;
    char *text = NULL;
    dome_span runs[2];
    bool later = false;
    if (c->restart.handover)
        return dome__handover_take(c->restart.handover, object, info, there, status);
    if (c->restart.lazy && there->fixed && info->length > 0 && dome__object_loads(object) && !dome__errors_returned(env))
        *status = dome__object_load(object, dome__restart_source_new(env, c->restart.from, there), &later);
    if (*status != DOME_OK)
        return g_strdup_printf("'%s' cannot be restored", dome_object_name(object));
    const int count = later ? 0 : dome__state_blocks(env, env->rank, DOME_STATE_COMPLETE, info, runs);
    for (int r = 0; r < count && !text; r++)
        text = read_blocks(c, there, object, runs[r], status);
    return text;
}

static int restore(dome_env *env, dome_checkpoints *c, dome_object *object)
{
    const dome_ckpt *head = dome__ckpt_head(c->restart.from);
    const dome_ckpt_object *there = dome__ckpt_find(head, dome_object_name(object));
    dome_object_info info = {.size = sizeof info};
    int status = dome_object_describe(object, &info);
    if (status != DOME_OK)
        return dome__fail(env, status, "'%s' cannot be described", dome_object_name(object));
    if (!there)
        return dome__fail(env, DOME_ERR_NAME,
                          "checkpoint '%s' has no '%s', so there are no values for it. An object that is new in the program is "
                          "made after the first "
                          "loop boundary, or without a name; one that was renamed keeps its old name",
                          dome__ckpt_path(c->restart.from), dome_object_name(object));
    char *text = differs(head, there, object, &info, &status);
    if (!text)
        text = take_shape(head, there, object, &status);
    if (text) {
        status =
            dome__fail(env, status, "checkpoint '%s': '%s' %s", dome__ckpt_path(c->restart.from), dome_object_name(object), text);
        g_free(text);
        return status;
    }
    text = give_values(env, object, there, &info, &status);
    if (!text && (status = dome_object_delta(object, DOME_MARK_CHECKPOINT, NULL, NULL)) != DOME_OK)
        text = g_strdup_printf("'%s' cannot be restored", dome_object_name(object));
    if (text && status == DOME_ERR_IO && c->restart.lazy && dome__errors_returned(env))
        dome__restart_doubt(c->directory); /* the next restart verifies first */
    /* A single task may find this. Where errors end the program, its message is printed. */
    if (dome__errors_returned(env))
        status = dome__agree(env, text ? status : DOME_OK, text);
    else if (text && status == DOME_ERR_IO && c->restart.lazy)
        status = lose_doubted(env, text);
    else if (text && status == DOME_ERR_IO && c->in_memory && !dome__checkpoint_in_pieces(c) && !c->restart.handover)
        status = lose_checkpoint(env, text);
    else if (text && status == DOME_ERR_IO && c->restart.handover && c->restart.lost)
        status = lose_kept(env, text);
    else if (text)
        status = dome__fail(env, status, "%s", text);
    g_free(text);
    if (status == DOME_OK)
        g_hash_table_add(c->restart.restored, g_strdup(dome_object_name(object)));
    return status;
}

int dome__checkpoint_restore(dome_env *env, dome_object *object)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c || !c->restart.from || !dome__object_is_named(object))
        return DOME_OK;
    const uint64_t begin = dome__now_ns();
    const int status = restore(env, c, object);
    c->restart.restored_at = dome__now_ns();
    c->restart.restored_ns += c->restart.restored_at - begin;
    return status;
}

void dome__checkpoint_restored(const dome_env *env, uint64_t *took_ns, uint64_t *at)
{
    const dome_checkpoints *c = env->checkpoints;
    *took_ns = c ? c->restart.restored_ns : 0;
    *at = c ? c->restart.restored_at : 0;
}

/* The next checkpoint refers to the one from which the program has gone on, if it can. */
static void keep_previous(dome_checkpoints *c)
{
    char *damage = NULL;
    dome_ckpt_file *from = c->restart.from;
    if (c->restart.lazy) { /* objects still read from that one */
        from = open_number(c, dome__ckpt_head(from)->number, &damage);
        dome__ckpt_close(c->restart.from);
    }
    if (!from || !dome__ckpt_find_patched(from, &damage)) {
        c->full = true;
        dome__ckpt_close(from);
        g_free(damage); /* has been read before */
        return;
    }
    c->previous = dome__ckpt_take_head(from);
    c->full = dome__checkpoint_ends_chain(c->previous);
}

static void end_restart(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    const dome_ckpt *head = dome__ckpt_head(c->restart.from);
    for (guint i = 0; i < head->objects->len && env->rank == 0; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(head, i);
        if (g_hash_table_contains(c->restart.restored, object->name))
            continue;
        char *name = dome__ckpt_shown(object->name);
        dome__checkpoint_say(env, "checkpoint %" PRIu64 " has %s, which the program has not made again", head->number, name);
        g_free(name);
    }
    if (env->rank == 0 && !c->restart.handover && !c->full)
        keep_previous(c);
    else
        dome__ckpt_close(c->restart.from);
    g_clear_pointer(&c->restart.handover, dome__handover_close);
    c->restart.from = NULL;
    g_clear_pointer(&c->restart.restored, g_hash_table_unref);
    g_clear_pointer(&c->restart.lost, g_hash_table_unref);
}

void dome__checkpoint_recovered(dome_env *env)
{
    if (dome__checkpoint_restarting(env))
        end_restart(env);
}

uint64_t dome__checkpoint_saved_length(const dome_env *env, const char *name)
{
    const dome_checkpoints *c = env->checkpoints;
    const dome_ckpt_object *object = c && c->restart.from ? dome__ckpt_find(dome__ckpt_head(c->restart.from), name) : NULL;
    return object ? object->length : 0;
}

void dome__checkpoint_restart_free(dome_checkpoints *c)
{
    dome__handover_close(c->restart.handover);
    dome__ckpt_close(c->restart.from);
    g_clear_pointer(&c->restart.restored, g_hash_table_unref);
    g_clear_pointer(&c->restart.lost, g_hash_table_unref);
}
