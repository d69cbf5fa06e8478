#include "core/object_private.h"

#include "core/call_log.h"
#include "core/slot.h"

#include <string.h>

struct dome_registry {
    GPtrArray *objects; /* dome_object *, live, in creation order */
    GHashTable *names;  /* char * -> dome_object *, objects that the program has named */
    uint64_t last_id;
    void **buried; /* memory of recently freed objects, so that uses of their handles are detected */
    size_t burials;
    GPtrArray *layouts; /* dome_layout *, one for each (length, block size) in use */
    bool ends;          /* with the environment: nobody is told of the objects that go */
};

/* ---- creation and destruction ---- */

static int check_table(dome_env *env, const dome_object_ops *ops)
{
    if (!ops)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no operation table");
    if (ops->size < offsetof(dome_object_ops, destroy) + sizeof ops->destroy)
        return dome__fail(env, DOME_ERR_ARGUMENT, "the operation table says it has %zu bytes: too few (set .size)", ops->size);
    if (!ops->kind || !*ops->kind)
        return dome__fail(env, DOME_ERR_ARGUMENT, "the operation table has no kind");

    const char *missing = !ops->describe       ? "describe"
                          : !ops->packed_bytes ? "packed_bytes"
                          : !ops->pack         ? "pack"
                          : !ops->unpack       ? "unpack"
                          : !ops->destroy      ? "destroy"
                                               : NULL;
    if (missing)
        return dome__fail(env, DOME_ERR_ARGUMENT, "the operation table of kind '%s' has no %s, which is required", ops->kind,
                          missing);
    if (!ops->write_bytes != !ops->write || !ops->write != !ops->read)
        return dome__fail(env, DOME_ERR_ARGUMENT, "the operation table of kind '%s' has only some of write_bytes, write and read",
                          ops->kind);
    return DOME_OK;
}

/* Checks that a new object's description is consistent: balancing and checkpoints rely on it. */
static int check_description(dome_env *env, const dome_object *object)
{
    dome_object_info info = {.size = sizeof info};
    int status = dome_object_describe(object, &info);
    if (status != DOME_OK)
        return dome__fail(env, status, "'%s' cannot be described", object->name);
    if (info.distribution != DOME_WHOLE && !info.layout)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s' is distributed but has no layout", object->name);
    if (info.layout && dome_layout_length(info.layout) != info.length)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s' has %" G_GUINT64_FORMAT " elements, but its layout %" G_GUINT64_FORMAT,
                          object->name, info.length, dome_layout_length(info.layout));
    if (info.distribution != DOME_DYNAMIC)
        return DOME_OK;
    if (!SLOT(object, adopt))
        return dome__fail(env, DOME_ERR_ARGUMENT,
                          "the operation table of kind '%s' has no adopt, which '%s' needs (DOME_DYNAMIC)", object->ops->kind,
                          object->name);
    if (!dome_layout_equal(info.layout, dome_env_layout(env, info.length, dome_layout_block_size(info.layout))))
        return dome__fail(env, DOME_ERR_LAYOUT, "'%s' does not follow dome_env_layout, which dynamic objects share",
                          object->name);
    return DOME_OK;
}

static void object_delete(dome_object *object)
{
    g_free(object->name);
    g_free(object);
}

/* A checkpoint must be able to hold the name. */
static int check_name(dome_env *env, const char *what, const char *name)
{
    size_t bytes = strlen(name);
    if (bytes <= DOME_NAME_MAX)
        return DOME_OK;
    return dome__fail(env, DOME_ERR_NAME, "the name of %s has %zu bytes, more than the %d that a checkpoint can hold", what,
                      bytes, DOME_NAME_MAX);
}

/* As objects without a name of the program's are called where all are saved. */
static bool is_numbered(const char *name)
{
    const char *mark = strrchr(name, '#'), *end = mark ? mark + 1 : "";
    while (g_ascii_isdigit(*end))
        end++;
    return mark > name && mark[-1] == ' ' && end > mark + 1 && !*end;
}

static int check_names(dome_env *env, const char *name, const char *kind)
{
    int status = check_name(env, "a kind of objects", kind);
    if (status == DOME_OK && name)
        status = check_name(env, "an object", name);
    if (status == DOME_OK && name && g_hash_table_contains(env->registry->names, name))
        status = dome__fail(env, DOME_ERR_NAME, "there is an object called '%s' already", name);
    return status;
}

dome_object *dome_object_new(dome_env *env, const char *name, const dome_object_ops *ops, void *content)
{
    DOME_NEEDS(env, "the environment", NULL);
    dome_operation op;
    uint64_t words[] = {dome__text_word(env, name), dome__text_word(env, ops ? ops->kind : NULL)};
    dome__begin_with(&op, env, DOME_OP_OBJECT_NEW, NULL, words, G_N_ELEMENTS(words));

    int status = check_table(env, ops);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;
    bool named = name && *name;
    char own[128];
    if (!named && env->capture.keeps_all) {
        named = true;
        name = own;
        g_snprintf(own, sizeof own, "%s #%" G_GUINT64_FORMAT, ops->kind, env->registry->last_id + 1);
    }
    status = check_names(env, named ? name : NULL, ops->kind);
    if (status == DOME_OK && named && name != own && env->capture.keeps_all && !env->capture.makes_again && is_numbered(name))
        status = dome__fail(env, DOME_ERR_NAME,
                            "'%s' ends with \" #\" and a number, as the names do that this program's objects without a name get: "
                            "choose another name",
                            name);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;

    struct {
        dome_object object;
        dome_object_clock clock;
    } *both = g_malloc0(sizeof *both);
    dome_object *object = &both->object;
    *object = (dome_object){
        .content = content, .ops = ops, .env = env, .id = env->registry->last_id + 1, .named = named, .clock = &both->clock};
    object->name = named ? g_strdup(name) : g_strdup_printf("%s-%" G_GUINT64_FORMAT, ops->kind, object->id);
    status = check_description(env, object);
    if (status == DOME_OK)
        status = env->hooks->restore(env, object);
    if (status != DOME_OK) {
        object_delete(object);
        return dome__end(&op, status), NULL;
    }
    env->registry->last_id++;
    g_ptr_array_add(env->registry->objects, object);
    if (named)
        g_hash_table_insert(env->registry->names, object->name, object);
    if (env->call_log) {
        dome__names_keep(env->call_log->names, object->id, object->name);
        env->call_log->objects++;
        env->call_log->named += named;
    }
    env->hooks->made(env, object);
    dome__end(&op, DOME_OK);
    return object;
}

uint64_t dome__registry_last_id(const dome_env *env)
{
    return env->registry->last_id;
}

void dome__registry_skip(dome_env *env, uint64_t last_id)
{
    env->registry->last_id = MAX(env->registry->last_id, last_id);
}

/* How many of the most recently freed handles are remembered. */
enum { BURIED = 4096 };

void dome__bury(dome_env *env, void *memory)
{
    dome_registry *r = env->registry;
    if (!r->buried)
        r->buried = g_new0(void *, BURIED);
    void **place = &r->buried[r->burials++ % BURIED];
    g_free(*place);
    *place = memory;
}

/* An object's index in the registry, by binary search: ids ascend. */
static guint registry_index(const dome_env *env, uint64_t id)
{
    guint low = 0, high = env->registry->objects->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const dome_object *object = g_ptr_array_index(env->registry->objects, middle);
        if (object->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void object_destroy(dome_object *object)
{
    dome_env *env = object->env;
    if (env->operation && !env->registry->ends)
        env->hooks->gone(env, object);
    g_ptr_array_remove_index(env->registry->objects, registry_index(env, object->id));
    if (object->named)
        g_hash_table_remove(env->registry->names, object->name);
    if (env->call_log) {
        dome__names_drop(env->call_log->names, object->id);
        env->call_log->objects--;
        env->call_log->named -= object->named;
    }
    object->ops->destroy(object);
    object->id |= DOME_FREED;
    dome__bury(env, object);
    dome__bury(env, object->name);
}

void dome_object_free(dome_object *object)
{
    if (!object)
        return;
    dome_operation op;
    dome__begin(&op, object->env, DOME_OP_OBJECT_FREE, object, 0);
    object_destroy(object);
    op.object = NULL;
    dome__end(&op, DOME_OK);
}

void dome__registry_renumber(dome_env *env, uint64_t first)
{
    const GPtrArray *objects = env->registry->objects;
    for (guint k = 0; k < objects->len && env->call_log; k++)
        dome__names_drop(env->call_log->names, ((const dome_object *)g_ptr_array_index(objects, k))->id);
    if (env->call_log)
        env->call_log->objects = env->call_log->named = 0;
    for (guint k = 0; k < objects->len; k++) {
        dome_object *object = g_ptr_array_index(objects, k);
        object->id = first + k;
        if (!env->call_log)
            continue;
        dome__names_keep(env->call_log->names, object->id, object->name);
        env->call_log->objects++;
        env->call_log->named += object->named;
    }
    env->registry->last_id = first + objects->len - 1;
}

/* ---- registry ---- */

void dome__registry_init(dome_env *env)
{
    dome_registry *r = env->registry = g_new0(dome_registry, 1);
    r->objects = g_ptr_array_new();
    r->names = g_hash_table_new(g_str_hash, g_str_equal);
    r->layouts = g_ptr_array_new_with_free_func((GDestroyNotify)dome_layout_unref);
}

void dome__registry_clear(dome_env *env)
{
    env->registry->ends = true;
    while (env->registry->objects->len > 0)
        object_destroy(g_ptr_array_index(env->registry->objects, env->registry->objects->len - 1));
}

void dome__registry_free(dome_env *env)
{
    dome_registry *r = g_steal_pointer(&env->registry);
    for (int k = 0; r->buried && k < BURIED; k++)
        g_free(r->buried[k]);
    g_free(r->buried);
    g_ptr_array_unref(r->objects);
    g_hash_table_destroy(r->names);
    g_ptr_array_unref(r->layouts);
    g_free(r);
}

dome_object *dome_object_next(const dome_env *env, const dome_object *previous)
{
    DOME_NEEDS(env, "the environment", NULL);
    guint at = previous ? registry_index(env, previous->id + 1) : 0;
    return at < env->registry->objects->len ? g_ptr_array_index(env->registry->objects, at) : NULL;
}

dome_object *dome_object_find(const dome_env *env, const char *name)
{
    DOME_NEEDS(env, "the environment", NULL);
    DOME_NEEDS(name, "the name", NULL);
    dome_object *object = g_hash_table_lookup(env->registry->names, name);
    for (guint k = 0; !object && k < env->registry->objects->len; k++) {
        dome_object *o = g_ptr_array_index(env->registry->objects, k);
        if (!o->named && strcmp(o->name, name) == 0)
            object = o;
    }
    return object;
}

size_t dome_object_count(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", 0);
    return env->registry->objects->len;
}

/* ---- shared layouts: sorted by length, then block size ---- */

static guint layout_index(const dome_env *env, uint64_t length, uint64_t block_size, bool *found)
{
    guint low = 0, high = env->registry->layouts->len;
    *found = false;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const dome_layout *layout = g_ptr_array_index(env->registry->layouts, middle);
        uint64_t n = dome_layout_length(layout), b = dome_layout_block_size(layout);
        if (n == length && b == block_size) {
            *found = true;
            return middle;
        }
        if (n < length || (n == length && b < block_size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const dome_layout *dome__registry_layout(const dome_env *env, unsigned k)
{
    return k < env->registry->layouts->len ? g_ptr_array_index(env->registry->layouts, k) : NULL;
}

const dome_layout *dome_env_layout(dome_env *env, uint64_t length, uint64_t block_size)
{
    DOME_NEEDS(env, "the environment", NULL);
    bool found;
    if (block_size == 0)
        block_size = dome_block_size(length);
    guint at = layout_index(env, length, block_size, &found);
    if (!found) {
        dome_layout *layout = env->hooks->first_layout(env, length, block_size);
        if (!layout)
            return NULL;
        g_ptr_array_insert(env->registry->layouts, (gint)at, layout);
        env->hooks->layout(env, layout);
    }
    return g_ptr_array_index(env->registry->layouts, at);
}

void dome__env_set_layout(dome_env *env, const dome_layout *layout)
{
    bool found;
    guint at = layout_index(env, dome_layout_length(layout), dome_layout_block_size(layout), &found);
    dome_layout *reference = dome_layout_ref(layout);
    env->hooks->layout(env, layout);
    if (found) {
        dome_layout_unref(g_ptr_array_index(env->registry->layouts, at));
        g_ptr_array_index(env->registry->layouts, at) = reference;
    } else {
        g_ptr_array_insert(env->registry->layouts, (gint)at, reference);
    }
}

void dome__registry_forget_layouts(dome_env *env)
{
    g_ptr_array_set_size(env->registry->layouts, 0);
}

/* Syncs all objects except those whose deferred work hooks->settle runs. Returns the first that fails, or NULL. */
static dome_object *sync_objects(dome_env *env, int *status)
{
    *status = DOME_OK;
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (!o->why && (*status = dome_object_sync(o)) != DOME_OK)
            return o;
    return NULL;
}

bool dome__env_settle(dome_env *env)
{
    int status;
    env->hooks->settle(env);
    return !sync_objects(env, &status);
}

char *dome__object_settle(dome_object *object)
{
    int status = dome_object_sync(object);
    if (status == DOME_OK)
        return NULL;
    const char *why = object->why ? object->why(object) : NULL;
    return g_strdup(why ? why : dome_status_text(status));
}

void dome__object_binds(dome_object *object)
{
    object->binds = true;
}

bool dome__object_is_binding(const dome_object *object)
{
    return object->binds;
}

void dome__object_keeps_order(dome_object *object)
{
    object->in_order = true;
}

bool dome__object_is_in_order(const dome_object *object)
{
    return object->in_order;
}

void dome__object_is_followed(dome_object *object)
{
    object->followed = true;
}

bool dome__object_has_followers(const dome_object *object)
{
    return object->followed;
}

void dome__object_defers(dome_object *object, const char *(*why)(const dome_object *object))
{
    object->why = why;
}

bool dome__object_has_cost(const dome_object *object)
{
    return SLOT(object, cost) != NULL;
}

bool dome__object_syncs(const dome_object *object)
{
    return SLOT(object, sync) && !object->why;
}

bool dome__env_advance(dome_env *env)
{
    int status;
    env->hooks->advance(env);
    return !sync_objects(env, &status);
}

dome_object *dome__env_unsettled(dome_env *env, int *status)
{
    env->hooks->settle(env);
    return sync_objects(env, status);
}

/* ---- slots with their defaults ---- */

dome_status dome_object_describe(const dome_object *object, dome_object_info *info)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(info, "the place for the description", DOME_ERR_ARGUMENT);
    const size_t size = info->size, first_version = offsetof(dome_object_info, layout) + sizeof info->layout;
    if (size < first_version)
        return dome__fail(object->env, DOME_ERR_ARGUMENT,
                          "the description of '%s' has size %zu instead of sizeof(dome_object_info)", object->name, size);
    dome_object_info known = {.width = 1};
    dome_status status = object->ops->describe(object, &known);
    memcpy(info, &known, MIN(size, sizeof known));
    info->size = size;
    return status;
}

dome_status dome_object_sync(dome_object *object)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    return SLOT(object, sync) ? object->ops->sync(object) : DOME_OK;
}

dome_status dome_object_cost(const dome_object *object, uint64_t first, uint64_t count, double *cost)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(cost || count == 0, "the place for the costs", DOME_ERR_ARGUMENT);
    if (SLOT(object, cost))
        return object->ops->cost(object, first, count, cost);

    dome_object_info info = {.size = sizeof info};
    int status = dome_object_describe(object, &info);
    if (status != DOME_OK)
        return status;
    for (uint64_t k = 0; k < count; k++)
        cost[k] = (double)(info.layout ? dome_layout_block(info.layout, first + k).count : info.length);
    return DOME_OK;
}

dome_status dome_object_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                     uint64_t *bytes)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(bytes, "the place for the number of bytes", DOME_ERR_ARGUMENT);
    return object->ops->packed_bytes(object, first, count, format, bytes);
}

dome_status dome_object_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                             uint64_t bytes)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(buffer || bytes == 0, "the buffer", DOME_ERR_ARGUMENT);
    return object->ops->pack(object, first, count, format, buffer, bytes);
}

dome_status dome_object_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                               uint64_t bytes)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(buffer || bytes == 0, "the buffer", DOME_ERR_ARGUMENT);
    return object->ops->unpack(object, first, count, format, buffer, bytes);
}

dome_status dome_object_adopt(dome_object *object, const dome_layout *layout)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    if (!SLOT(object, adopt))
        return DOME_ERR_STATE;
    DOME_NEEDS(layout, "the layout", DOME_ERR_ARGUMENT);
    return object->ops->adopt(object, layout);
}

dome_status dome_object_write_bytes(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(bytes, "the place for the number of bytes", DOME_ERR_ARGUMENT);
    return SLOT(object, write_bytes) ? object->ops->write_bytes(object, first, count, bytes)
                                     : dome_object_packed_bytes(object, first, count, DOME_PORTABLE, bytes);
}

dome_status dome_object_write(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(buffer || bytes == 0, "the buffer", DOME_ERR_ARGUMENT);
    return SLOT(object, write) ? object->ops->write(object, first, count, buffer, bytes)
                               : dome_object_pack(object, first, count, DOME_PORTABLE, buffer, bytes);
}

dome_status dome_object_read(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(buffer || bytes == 0, "the buffer", DOME_ERR_ARGUMENT);
    return SLOT(object, read) ? object->ops->read(object, first, count, buffer, bytes)
                              : dome_object_unpack(object, first, count, DOME_PORTABLE, buffer, bytes);
}

const void *dome_object_values(const dome_object *object, uint64_t first, uint64_t count)
{
    DOME_NEEDS(object, "the object", NULL);
    return SLOT(object, values) ? object->ops->values(object, first, count) : NULL;
}

void *dome_object_place(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count)
{
    DOME_NEEDS(object, "the object", NULL);
    return SLOT(object, place) ? object->ops->place(object, layout, first, count) : NULL;
}

dome_status dome_object_reshape(dome_object *object, int ndim, const uint64_t shape[])
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(shape || ndim == 0, "the shape", DOME_ERR_ARGUMENT);
    return SLOT(object, reshape) ? object->ops->reshape(object, ndim, shape) : DOME_OK;
}

bool dome__object_has_place(const dome_object *object)
{
    return SLOT(object, place) != NULL;
}

bool dome__object_is_shared(const dome_object *object)
{
    return SLOT(object, shares) != NULL;
}

bool dome__object_shares(const dome_object *object, int rank)
{
    return SLOT(object, shares) && object->ops->shares(object, rank);
}

dome_status dome__objects_meet(dome_env *env, bool named, bool *waits)
{
    const dome_object_ops *met = NULL;
    dome_status status = DOME_OK;
    bool any = false;
    for (dome_object *o = NULL; status == DOME_OK && (o = dome_object_next(env, o));) {
        if (!SLOT(o, shares) || (named && !o->named))
            continue;
        any = true;
        if (!SLOT(o, meet) || o->ops == met)
            continue;
        met = o->ops;
        status = met->meet(o);
    }
    *waits = any && !met;
    return status;
}

bool dome__object_loads(const dome_object *object)
{
    return SLOT(object, load) != NULL;
}

dome_status dome__object_load(dome_object *object, dome_block_source *source, bool *taken)
{
    return object->ops->load(object, source, taken);
}

dome_status dome__object_fetch(dome_object *object, const dome_layout *layout)
{
    return SLOT(object, fetch) ? object->ops->fetch(object, layout) : DOME_OK;
}

dome__object_make dome__object_maker(const dome_object *object)
{
    return SLOT(object, make);
}

uint64_t dome__object_parameters(const dome_object *object, void *buffer)
{
    return SLOT(object, parameters) ? object->ops->parameters(object, buffer) : 0;
}

bool dome__object_enters(const dome_object *object)
{
    return SLOT(object, enter) != NULL;
}

dome_status dome__object_enter(dome_object *object)
{
    dome_object_info info = {.size = sizeof info};
    dome_status status = dome_object_describe(object, &info);
    if (status != DOME_OK)
        return status;
    dome_env *env = object->env;
    const uint64_t block = info.layout ? dome_layout_block_size(info.layout) : 0;
    dome_layout *layout = info.distribution == DOME_DYNAMIC ? dome_layout_ref(dome_env_layout(env, info.length, block))
                          : info.distribution == DOME_BLOCK ? dome_layout_even(info.length, block, env->size)
                                                            : dome_layout_ref(info.layout);
    status = layout || info.distribution == DOME_WHOLE ? object->ops->enter(object, layout) : DOME_ERR_MEMORY;
    dome_layout_unref(layout);
    return status;
}

bool dome__object_is_named(const dome_object *object)
{
    return object->named;
}

bool dome__object_has_write(const dome_object *object)
{
    return SLOT(object, write) != NULL;
}
