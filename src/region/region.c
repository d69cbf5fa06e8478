/* Regions as objects. All tasks share the memory; each task owns some of its blocks, and saves those. */
#include <dome/region.h>

#include "core/atomic_add.h"
#include "core/layout.h"
#include "core/marks.h"
#include "core/type_private.h"
#include "region/member.h"
#include "region/region_operations.h"
#include "region/shared_units.h"
#include "system/checksum.h"
#include "system/sized.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <unistd.h>

struct dome_region {
    dome_object *object;
    dome_env *env;
    void *at; /* of the program's choice; NULL: anywhere */
    dome_type type;
    uint64_t length, width;
    uint64_t element, pitch; /* bytes of an element, and from its beginning to that of the next one */
    dome_layout *layout;
    uint64_t unit;              /* bytes */
    dome_memory *memory;        /* NULL: there are no elements */
    dome_shared_units *units;   /* NULL: the program is one member, there are no elements, or: */
    dome_release_units *copies; /* release consistency; NULL: none of it */
    dome_loading *loading; /* its values come from a checkpoint, as they are needed. NULL: they were there from the beginning */
    bool loaded;           /* this task's blocks have got them */
    bool fresh;            /* no mark was set since */
    bool met;              /* all tasks free it, and have met since their last accesses */
    uint64_t *sums[DOME_MARKS]; /* by block: the checksum when the mark was set; UNKNOWN: nobody knows. NULL: of all blocks */
};

enum { UNKNOWN = 0 };

static dome_region *self(const dome_object *object)
{
    return dome_object_content(object);
}

dome_operation_part dome__region_operations = DOME_OPERATION_PART(DOME_PART_REGION, DOME_REGION_OPERATIONS);

/* ---- the operation table ---- */

static dome_status reg_describe(const dome_object *object, dome_object_info *info)
{
    const dome_region *r = self(object);
    *info = (dome_object_info){
        .type = r->type, .length = r->length, .width = r->width, .distribution = DOME_DYNAMIC, .layout = r->layout};
    return DOME_OK;
}

/* A run of blocks as elements; false unless this task owns them all. */
static bool owned(const dome_region *r, uint64_t first, uint64_t count, dome_span *elements)
{
    const uint64_t blocks = dome_layout_blocks(r->layout), own = dome_layout_run(r->layout, r->env->rank, NULL);
    *elements = (dome_span){0, 0};
    if (first > blocks || count > blocks - first)
        return false;
    if (count == 0)
        return true;
    const uint64_t begin = dome__layout_position_of(r->layout, r->env->rank, first);
    const dome_span last = dome_layout_block(r->layout, first + count - 1);
    elements->first = dome_layout_block(r->layout, first).first;
    elements->count = last.first + last.count - elements->first;
    return begin < own && count <= own - begin;
}

/* Tasks have it in several memories. */
static bool is_apart(const dome_region *r)
{
    return r->units || r->copies;
}

/* Bytes from the beginning of the first of so many elements to the end of the last one. */
static uint64_t extent(const dome_region *r, uint64_t count)
{
    return count ? (count - 1) * r->pitch + r->element : 0;
}

static void want(const dome_region *r, dome_span elements, bool write)
{
    const uint64_t first = elements.first * r->pitch, bytes = extent(r, elements.count);
    if (r->loading && !r->units)
        dome__loading_want(r->loading, first, bytes);
    if (r->units)
        dome__shared_units_want(r->units, first, bytes, write);
    if (r->copies)
        dome__release_units_want(r->copies, first, bytes, write);
}

/* Where the library accesses elements. Between members the accesses are those of a program, with its rights; what is about to be
 * accessed is fetched together. */
static char *address(const dome_region *r, dome_span elements, bool write)
{
    want(r, elements, write);
    return (char *)(is_apart(r) ? dome__memory_data(r->memory) : dome__memory_alias(r->memory)) + elements.first * r->pitch;
}

static uint64_t packed_size(const dome_region *r, uint64_t elements, dome_format format)
{
    return elements * r->width * dome_type_bytes(r->type, format);
}

/* Takes from the span the elements at its beginning whose values lie side by side. */
static dome_span take_run(const dome_region *r, dome_span *elements)
{
    const dome_span run = {elements->first, r->pitch == r->element ? elements->count : MIN(elements->count, 1)};
    elements->first += run.count;
    elements->count -= run.count;
    return run;
}

static dome_status reg_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                    uint64_t *bytes)
{
    const dome_region *r = self(object);
    dome_span elements;
    if (!owned(r, first, count, &elements))
        return DOME_ERR_ARGUMENT;
    *bytes = packed_size(r, elements.count, format);
    return DOME_OK;
}

static dome_status reg_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                            uint64_t bytes)
{
    const dome_region *r = self(object);
    dome_span elements;
    if (!owned(r, first, count, &elements) || bytes != packed_size(r, elements.count, format))
        return DOME_ERR_ARGUMENT;
    for (dome_span run; (run = take_run(r, &elements)).count > 0; buffer = (char *)buffer + packed_size(r, run.count, format))
        dome_type_pack(r->type, format, buffer, address(r, run, false), (size_t)(run.count * r->width));
    return DOME_OK;
}

/* These blocks count as written since each mark. */
static void forget_sums(dome_region *r, uint64_t first, uint64_t count)
{
    for (unsigned mark = 0; mark < DOME_MARKS; mark++)
        for (uint64_t b = first; r->sums[mark] && b < first + count; b++)
            r->sums[mark][b] = UNKNOWN;
}

/* Waits until this task's blocks have their values. Then the checksums of a mark that was set before that are known, too. */
static void end_loading(dome_region *r)
{
    if (!r->loading || r->loaded)
        return;
    dome__loading_finish(r->loading);
    r->loaded = true;
    for (unsigned mark = 0; mark < DOME_MARKS; mark++)
        for (uint64_t b = 0; r->sums[mark] && b < dome_layout_blocks(r->layout); b++)
            r->sums[mark][b] = dome__loading_sum(r->loading, b);
}

static dome_status reg_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                              uint64_t bytes)
{
    dome_region *r = self(object);
    dome_span elements;
    if (!owned(r, first, count, &elements))
        return DOME_ERR_ARGUMENT;
    if (bytes != packed_size(r, elements.count, format))
        return DOME_ERR_FORMAT;
    const char *from = buffer;
    end_loading(r);
    for (dome_span run; (run = take_run(r, &elements)).count > 0; from += packed_size(r, run.count, format))
        dome_type_unpack(r->type, format, address(r, run, true), from, (size_t)(run.count * r->width));
    forget_sums(r, first, count);
    return DOME_OK;
}

static bool fits(const dome_region *r, const dome_layout *layout)
{
    return layout && dome_layout_length(layout) == r->length &&
           dome_layout_block_size(layout) == dome_layout_block_size(r->layout) &&
           dome_layout_tasks(layout) == dome_layout_tasks(r->layout);
}

static dome_status reg_fetch(dome_object *object, const dome_layout *layout)
{
    dome_region *r = self(object);
    if (!fits(r, layout))
        return DOME_ERR_ARGUMENT;
    if (r->copies)
        dome__release_units_fetch(r->copies, layout);
    return !r->units || dome__shared_units_fetch(r->units, layout) ? DOME_OK : DOME_ERR_COMM;
}

/* The values are where they are: only the owners change. The owner before knows alone what a block was at a mark. */
static dome_status reg_adopt(dome_object *object, const dome_layout *layout)
{
    dome_region *r = self(object);
    if (!fits(r, layout))
        return DOME_ERR_ARGUMENT;
    const uint64_t own = dome_layout_run(r->layout, r->env->rank, NULL);
    for (uint64_t b = 0; b < dome_layout_blocks(layout); b++)
        if (dome__layout_position_of(r->layout, r->env->rank, b) >= own)
            forget_sums(r, b, 1);
    if (r->units)
        dome__shared_units_adopt(r->units, layout);
    if (r->copies)
        dome__release_units_adopt(r->copies, layout);
    dome_layout *old = r->layout;
    r->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    return DOME_OK;
}

static const void *reg_values(const dome_object *object, uint64_t first, uint64_t count)
{
    const dome_region *r = self(object);
    dome_span elements;
    const bool whole = !is_apart(r) && r->pitch == r->element;
    return whole && owned(r, first, count, &elements) && elements.count > 0 ? address(r, elements, false) : NULL;
}

/* Between the elements there are zeros, unless the program writes there. */
static uint64_t sum_of(const dome_region *r, uint64_t block)
{
    const dome_span elements = dome_layout_block(r->layout, block);
    return dome__checksum64(address(r, elements, false), (size_t)extent(r, elements.count));
}

/* What the task's member could not write alone, others could not write either. */
static bool may_be_written(const dome_region *r, uint64_t block)
{
    const dome_span elements = dome_layout_block(r->layout, block);
    return !r->units || !dome__shared_units_unwritten(r->units, elements.first * r->pitch, extent(r, elements.count));
}

static bool is_written(const void *region, unsigned mark, uint64_t block)
{
    const dome_region *r = region;
    const uint64_t *sums = r->sums[mark];
    if (dome__mark_estimates(r->env, mark))
        return may_be_written(r, block);
    return !sums || sums[block] == UNKNOWN || sums[block] != sum_of(r, block);
}

/* Without memory for checksums all blocks count as written, which is safe. */
static void set_mark(dome_region *r, unsigned mark)
{
    if (dome__mark_estimates(r->env, mark)) {
        if (r->units)
            dome__shared_units_mark(r->units);
        return;
    }
    const uint64_t own = dome_layout_run(r->layout, r->env->rank, NULL);
    if (!r->sums[mark])
        r->sums[mark] = g_try_new0(uint64_t, (gsize)dome_layout_blocks(r->layout));
    for (uint64_t k = 0; r->sums[mark] && k < own; k++) {
        const uint64_t block = dome__layout_block_at(r->layout, r->env->rank, k);
        r->sums[mark][block] = sum_of(r, block);
    }
}

/* Stores leave no trace, so blocks are compared, by their checksums, or all that could have been written count as written. */
static dome_status reg_delta(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx)
{
    dome_region *r = self(object);
    if (r->fresh && !visit) { /* the values are those of the checkpoint: the mark gets its checksums as they are read */
        r->sums[mark] = g_try_new0(uint64_t, (gsize)dome_layout_blocks(r->layout));
        return DOME_OK;
    }
    end_loading(r);
    if (visit)
        return dome__marked_visit(&(dome_marked){r->layout, r->env->rank, is_written, r, mark}, visit, ctx);
    if (r->length > 0)
        set_mark(r, mark);
    return DOME_OK;
}

static bool reg_shares(const dome_object *object, int rank)
{
    (void)object, (void)rank;
    return true;
}

/* ---- memory that is freed ---- */

typedef struct buried {
    dome_shared_units *units;
    dome_release_units *copies;
    dome_loading *loading;
    dome_memory *memory;
} buried;

static void free_memory(const buried *b)
{
    dome__shared_units_free(b->units); /* others cannot ask any more */
    dome__loading_free(b->loading);
    dome__release_units_free(b->copies);
    dome__memory_free(b->memory);
}

static void dig_up(gpointer data)
{
    free_memory(data);
    g_free(data);
}

/* Other tasks may still fetch what they access before they free the region themselves: its memory stays until all have come to
 * the next dome_region_new, or to the end. */
static void bury(const dome_env *env, const buried *b)
{
    dome_member_table *t = env->lazy.members;
    if (!t->buried)
        t->buried = g_ptr_array_new_with_free_func(dig_up);
    g_ptr_array_add(t->buried, g_memdup2(b, sizeof *b));
}

/* ---- the rest of the table ---- */

static dome_status meet(dome_env *env)
{
    enum { BOUNDARY = 1 }; /* no call of the program's is there */
    if (env->lazy.members->release)
        return (dome_status)dome__release_meet(env->lazy.members->release, BOUNDARY);
    const int failed = dome__barrier(env->transport);
    return failed ? (dome_status)dome__fail_transport(env, failed) : DOME_OK;
}

static const dome_object_ops reg_ops;

/* Of all regions: their values are there, too. */
static dome_status reg_meet(dome_object *object)
{
    dome_env *env = self(object)->env;
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome_object_operations(o) == &reg_ops)
            end_loading(self(o));
    return meet(env);
}

/* ---- values that are read later ---- */

static bool is_with_others(const void *region, uint64_t unit)
{
    const dome_region *r = region;
    return r->units && !dome__shared_units_is_home(r->units, unit);
}

static dome_loading_setup loading_of(const dome_region *r, dome_block_source *source)
{
    dome_loading_setup setup = {.source = source,
                                .memory = r->memory,
                                .type = r->type,
                                .length = r->length,
                                .width = r->width,
                                .block = dome_layout_block_size(r->layout),
                                .unit = r->unit,
                                .units = (r->length * r->element + r->unit - 1) / r->unit,
                                .first = r->env->lazy.members->task == 0,
                                .skips = is_with_others,
                                .ctx = r};
    setup.nshares = dome__layout_block_ranges(r->layout, r->env->rank, setup.shares);
    return setup;
}

/* Whether all tasks can do without the values for now. Collective. */
static dome_status all_can(dome_env *env, bool can, bool *all)
{
    uint64_t cannot = !can;
    const int failed = dome__allreduce(env->transport, DOME_U64, &cannot, 1, dome__combine_max_u64, NULL);
    *all = !cannot;
    return failed ? (dome_status)dome__fail_transport(env, failed) : DOME_OK;
}

/* With release consistency each task has a memory of its own, which would be read as often. A file has no gaps between elements.
 */
static dome_status reg_load(dome_object *object, dome_block_source *source, bool *taken)
{
    dome_region *r = self(object);
    dome_env *env = r->env;
    dome_status status = DOME_OK;
    dome_loading_setup setup = loading_of(r, source);
    *taken = false;
    if (!r->copies && r->pitch == r->element && setup.units < UINT32_MAX)
        setup.shared = dome__member_memory(env, "values that are read later", dome__loading_bytes(&setup), &status);
    if (!setup.shared) {
        source->free(source);
        return status;
    }
    r->loading = dome__loading_new(&setup);
    status = all_can(env, r->units || !dome__loading_rule(r->loading), taken);
    if (status != DOME_OK || !*taken) {
        g_clear_pointer(&r->loading, dome__loading_free);
        return status;
    }
    env->transport->is_ruled = dome__memory_is_ruled;
    if (r->units)
        dome__shared_units_load(r->units, r->loading);
    r->fresh = true;
    dome__loading_start(r->loading);
    return DOME_OK;
}

static void reg_destroy(dome_object *object)
{
    dome_region *r = self(object);
    for (unsigned mark = 0; mark < DOME_MARKS; mark++)
        g_clear_pointer(&r->sums[mark], g_free);
    const buried memory = {r->units, r->copies, r->loading, r->memory};
    if (is_apart(r) && !r->met)
        bury(r->env, &memory);
    else
        free_memory(&memory);
    dome_layout_unref(r->layout);
    dome__bury(r->env, r);
}

static const dome_object_ops reg_ops = {
    .size = sizeof(dome_object_ops),
    .kind = "region",
    .describe = reg_describe,
    .packed_bytes = reg_packed_bytes,
    .pack = reg_pack,
    .unpack = reg_unpack,
    .adopt = reg_adopt,
    .destroy = reg_destroy,
    .values = reg_values,
    .delta = reg_delta,
    .shares = reg_shares,
    .fetch = reg_fetch,
    .meet = reg_meet,
    .load = reg_load,
};

/* ---- life ---- */

/* The same address on all tasks, or on none. */
static dome_status place(dome_region *r)
{
    dome_env *env = r->env;
    const char *why = dome__memory_place(r->memory, r->at);
    char *text = why ? g_strdup_printf("a region of %" PRIu64 " elements cannot be at address %p on task %d: %s", r->length,
                                       r->at, env->rank, why)
                     : NULL;
    const int status = dome__agree(env, why ? DOME_ERR_MEMORY : DOME_OK, text);
    g_free(text);
    return (dome_status)status;
}

/* The options that the program has given, or none. */
static dome_status take_options(dome_env *env, const dome_region_options *given, dome_region_options *options)
{
    *options = (dome_region_options){.size = sizeof *options};
    if (given && !dome__sized_copy(options, sizeof *options, given, given->size, offsetof(dome_region_options, at)))
        return dome__fail(env, DOME_ERR_ARGUMENT,
                          "the options have size %zu instead of %zu, or one that this library does not know: use "
                          "DOME_REGION_OPTIONS",
                          given->size, sizeof *options);
    options->width = MAX(options->width, 1);
    return DOME_OK;
}

static dome_status check_new(dome_env *env, const char *name, dome_type type, uint64_t n, const dome_region_options *options)
{
    if (name && *name && options->at)
        return dome__fail(env, DOME_ERR_ARGUMENT,
                          "'%s' is at a fixed address, so it may hold pointers, which no checkpoint can have: give it no name",
                          name);
    if (!name || !*name)
        name = "the region";
    if (!type)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s has no type", name);
    if (options->consistency != DOME_SEQUENTIAL && options->consistency != DOME_RELEASE)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s: consistency %d is none", name, (int)options->consistency);
    if (options->block & (options->block - 1))
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s: block size %" PRIu64 " is not a power of two", name, options->block);
    const uint64_t most = dome__array_most(dome_type_size(type));
    if (options->width > most || n > most / options->width)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s: %" PRIu64 " elements of %zu values are more than memory can have", name, n,
                          options->width);
    return (dome_status)dome__member_start(env, "a region");
}

static void abandon(dome_region *r)
{
    free_memory(&(buried){r->units, r->copies, r->loading, r->memory});
    dome_layout_unref(r->layout);
    g_free(r);
}

/* Units of this size; elements with a pitch begin at one. Returns DOME_ERR_MEMORY if there cannot be so much memory. */
static dome_status set_unit(dome_region *r, const char *what, bool pitched, dome_unit_size *size)
{
    const uint64_t value = dome_type_size(r->type), step = dome__unit_size_elements(size->bytes, value) * value;
    r->unit = size->bytes;
    r->pitch = pitched ? (r->element + step - 1) / step * step : r->element;
    if (r->length > dome__array_most(r->pitch))
        return dome__fail(r->env, DOME_ERR_MEMORY, "%s: %" PRIu64 " elements with a pitch are more than memory can have", what,
                          r->length);
    size->units = (r->length * r->pitch + size->bytes - 1) / size->bytes;
    return DOME_OK;
}

/* Units between members. */
static dome_status make_units(dome_region *r, const char *what, const char *name, bool pitched)
{
    dome_env *env = r->env;
    dome_unit_size size;
    dome_status status = (dome_status)dome__unit_size_agree(env, what, r->type, &size);
    if (status == DOME_OK)
        status = set_unit(r, what, pitched, &size);
    if (status == DOME_OK)
        r->memory = dome__member_memory(env, what, size.units * size.bytes, &status);
    if (status == DOME_OK && r->at)
        status = place(r);
    if (status == DOME_OK)
        r->units = dome__shared_units_new(&(dome_shared_units_setup){.env = env,
                                                                     .what = what,
                                                                     .name = name,
                                                                     .memory = r->memory,
                                                                     .type = r->type,
                                                                     .element = r->pitch,
                                                                     .layout = r->layout,
                                                                     .size = size},
                                          &status);
    return status;
}

/* Bytes that two tasks may write side by side: values of a struct have parts that are smaller. */
static unsigned atom_of(dome_type type)
{
    const size_t bytes = dome_type_size(type);
    return dome_type_kind_of(type) != DOME_KIND_STRUCT ? (unsigned)MIN(bytes, 8) : 1;
}

/* A copy for each task. */
static dome_status make_copies(dome_region *r, const char *what, const char *name, bool pitched)
{
    dome_env *env = r->env;
    const char *why = NULL;
    dome_unit_size size;
    dome_status status = DOME_OK;
    status = (dome_status)dome__unit_size_agree(env, what, r->type, &size);
    if (status == DOME_OK)
        status = set_unit(r, what, pitched, &size);
    if (status != DOME_OK)
        return status;
    r->memory = dome__memory_new("dome-region", size.units * size.bytes, &why);
    char *text = g_strdup_printf("%s: there is no memory of %" PRIu64 " bytes: %s", what, size.units * size.bytes, why);
    status = (dome_status)dome__agree(env, r->memory ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    if (status == DOME_OK && r->at)
        status = place(r);
    if (!env->lazy.members->release)
        env->lazy.members->release = dome__release_new(env);
    if (status == DOME_OK)
        r->copies = dome__release_units_new(&(dome_release_setup){.release = env->lazy.members->release,
                                                                  .what = what,
                                                                  .name = name,
                                                                  .memory = r->memory,
                                                                  .type = r->type,
                                                                  .values = size.values,
                                                                  .element = r->pitch,
                                                                  .atom = atom_of(r->type),
                                                                  .layout = r->layout,
                                                                  .unit = size.bytes,
                                                                  .units = size.units},
                                            &status);
    return status;
}

static dome_status make_memory(dome_region *r, const char *what, const char *name, const dome_region_options *options)
{
    dome_env *env = r->env;
    const bool one = env->lazy.members->count == 1, pitched = options->pitched != 0;
    dome_unit_size size = {.bytes = r->unit};
    dome_status status = one ? set_unit(r, what, pitched, &size) : DOME_OK;
    if (one && status == DOME_OK)
        r->memory = dome__member_memory(env, what, r->length * r->pitch, &status);
    if (one && status == DOME_OK && r->at)
        status = place(r);
    if (!one)
        status = options->consistency == DOME_RELEASE ? make_copies(r, what, name, pitched) : make_units(r, what, name, pitched);
    if (status == DOME_OK && env->lazy.members->buried) /* all have freed it: they have come here */
        g_ptr_array_set_size(env->lazy.members->buried, 0);
    return status;
}

/* Memory, and the object with its values. Another task may write to the memory as soon as it has left this function. */
static dome_status make(dome_region *r, const char *name, const dome_region_options *options)
{
    dome_env *env = r->env;
    dome_status status = DOME_OK;
    const bool named = name && *name;
    char *what = named ? g_strdup_printf("'%s'", name) : g_strdup("a region");
    r->layout = dome_layout_ref(dome_env_layout(env, r->length, options->block));
    if (!r->layout)
        status = dome__fail(env, DOME_ERR_MEMORY, "no memory for the layout of %s", what);
    else if (r->length > 0)
        status = make_memory(r, what, named ? name : NULL, options);
    g_free(what);
    if (status == DOME_OK && !(r->object = dome_object_new(env, name, &reg_ops, r)))
        status = dome_error_status(env) ? dome_error_status(env) : DOME_ERR_NAME;
    r->fresh = false;
    if (status == DOME_OK && named && dome_is_restarting(env))
        status = meet(env);
    return status;
}

dome_region *dome_region_new(dome_env *env, const char *name, dome_type type, uint64_t n, const dome_region_options *given)
{
    DOME_NEEDS(env, "the environment", NULL);
    dome_operation op;
    const bool older = !given || given->size < offsetof(dome_region_options, pitched); /* these have no more than block */
    const uint64_t words[] = {dome__text_word(env, name),
                              dome__type_word(env, type),
                              n,
                              given ? given->width : 0,
                              given ? given->block : 0,
                              older ? 0 : (uintptr_t)given->at,
                              older ? DOME_SEQUENTIAL : (uint64_t)given->consistency,
                              older || given->size < sizeof *given ? 0 : given->pitched};
    dome_region_options options;
    dome__begin_with(&op, env, DOME_OP_REGION_NEW, NULL, words, G_N_ELEMENTS(words));
    dome_status status = take_options(env, given, &options);
    if (status == DOME_OK)
        status = check_new(env, name, type, n, &options);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;
    dome_region *r = g_new(dome_region, 1);
    *r = (dome_region){.env = env,
                       .at = options.at,
                       .type = type,
                       .length = n,
                       .width = options.width,
                       .element = options.width * dome_type_size(type),
                       .pitch = options.width * dome_type_size(type),
                       .unit = (uint64_t)sysconf(_SC_PAGESIZE)};
    status = make(r, name, &options);
    if (status != DOME_OK && !r->object)
        abandon(r);
    dome__end(&op, status);
    return status == DOME_OK ? r : NULL;
}

void dome_region_free(dome_region *r)
{
    if (!r)
        return;
    dome_operation op;
    dome__begin(&op, r->env, DOME_OP_REGION_FREE, r->object, 0);
    const int failed = is_apart(r) ? dome__barrier(r->env->transport) : DOME_OK;
    r->met = !failed;
    if (failed)
        dome__fail_transport(r->env, failed);
    op.object = NULL;
    dome_object_free(r->object);
    dome__end(&op, (dome_status)failed);
}

/* ---- what programs ask ---- */

void *dome_region_data(const dome_region *r)
{
    DOME_NEEDS(r, "the region", NULL);
    return r->memory ? dome__memory_data(r->memory) : NULL;
}

dome_env *dome_region_env(const dome_region *r)
{
    DOME_NEEDS(r, "the region", NULL);
    return r->env;
}

const char *dome_region_name(const dome_region *r)
{
    DOME_NEEDS(r, "the region", NULL);
    return dome_object_name(r->object);
}

dome_type dome_region_type(const dome_region *r)
{
    DOME_NEEDS(r, "the region", NULL);
    return r->type;
}

uint64_t dome_region_length(const dome_region *r)
{
    DOME_NEEDS(r, "the region", 0);
    return r->length;
}

size_t dome_region_width(const dome_region *r)
{
    DOME_NEEDS(r, "the region", 0);
    return (size_t)r->width;
}

size_t dome_region_pitch(const dome_region *r)
{
    DOME_NEEDS(r, "the region", 0);
    return (size_t)(r->pitch / dome_type_size(r->type));
}

dome_object *dome_region_object(const dome_region *r)
{
    DOME_NEEDS(r, "the region", NULL);
    return r->object;
}

uint64_t dome_region_unit(const dome_region *r)
{
    DOME_NEEDS(r, "the region", 0);
    return dome__unit_size_elements(r->unit, r->pitch);
}

static dome_status check_range(const dome_region *r, uint64_t first, uint64_t count)
{
    if (first <= r->length && count <= r->length - first)
        return DOME_OK;
    return dome__fail(r->env, DOME_ERR_ARGUMENT, "'%s' has %" PRIu64 " elements, not %" PRIu64 " from %" PRIu64 " on",
                      dome_object_name(r->object), r->length, count, first);
}

dome_status dome_region_want(const dome_region *r, uint64_t first, uint64_t count, bool write)
{
    DOME_NEEDS(r, "the region", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_alone(&op, r->env, DOME_OP_REGION_WANT);
    const dome_status status = check_range(r, first, count);
    if (status == DOME_OK)
        want(r, (dome_span){first, count}, write);
    return dome__end(&op, status);
}

static dome_status check_add(const dome_region *r, uint64_t first, uint64_t count)
{
    if (!dome__atomic_adds(r->type))
        return dome__fail(r->env, DOME_ERR_ARGUMENT, "elements of '%s' are %s, which cannot be added to in one step: use a lock",
                          dome_object_name(r->object), dome_type_name(r->type));
    return check_range(r, first, count);
}

/* Elements whose values lie side by side. */
static void add_run(dome_region *r, dome_span run, const void *values, void *before)
{
    const uint64_t first = run.first * (r->pitch / dome_type_size(r->type)), count = run.count * r->width;
    if (r->units)
        dome__shared_units_add(r->units, first, count, values, before);
    else if (r->copies)
        dome__release_units_add(r->copies, first, count, values, before);
    else
        dome__atomic_add(r->type, address(r, run, true), values, before, count);
}

dome_status dome_region_fetch_add(dome_region *r, uint64_t first, uint64_t count, const void *values, void *before)
{
    DOME_NEEDS(r, "the region", DOME_ERR_ARGUMENT);
    DOME_NEEDS(values || count == 0, "the place of the values", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_alone(&op, r->env, DOME_OP_REGION_FETCH_ADD);
    const dome_status status = check_add(r, first, count);
    dome_span elements = {first, status == DOME_OK ? count : 0};
    const char *from = values;
    char *to = before;
    for (dome_span run; (run = take_run(r, &elements)).count > 0; from += run.count * r->element) {
        add_run(r, run, from, to);
        to = to ? to + run.count * r->element : NULL;
    }
    return dome__end(&op, status);
}

int dome_region_spans(const dome_region *r, dome_span spans[2])
{
    DOME_NEEDS(r, "the region", 0);
    DOME_NEEDS(spans, "the place for the spans", 0);
    return dome_layout_spans(r->layout, r->env->rank, spans);
}
