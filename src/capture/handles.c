#include "capture/handles.h"

#include "core/object_private.h"
#include "core/type_private.h"

#include <dome/dscalar.h>
#include <dome/dvec.h>
#include <dome/sparse.h>
#include <dome/structure.h>

#include <inttypes.h>
#include <string.h>

/* Numbers: 0 is the environment, 1 and up are objects in the order of their creation; a basic type is TYPES and its kind.
 * Places: of an object the handle of its structure (dvec *), or its dome_object. */
#define TYPES ((uint64_t)1 << 32)
enum { PLACE_HANDLE, PLACE_OBJECT };

enum { TEXT_MOST = 65535 };

typedef struct target {
    uint64_t number, place;
} target;

static dome_env *env_of;
static GHashTable *targets; /* address -> target */
static GPtrArray *objects;  /* dome_object, by number - 1 */

static bool is_own(const dome_object *object)
{
    return strncmp(dome_object_operations(object)->kind, "image", strlen("image")) == 0;
}

static void add(const void *address, uint64_t number, uint64_t place)
{
    target *t = g_new(target, 1);
    *t = (target){number, place};
    g_hash_table_insert(targets, (void *)(uintptr_t)address, t);
}

static void add_object(dome_object *object)
{
    g_ptr_array_add(objects, object);
    add(object, objects->len, PLACE_OBJECT);
    add(dome_object_content(object), objects->len, PLACE_HANDLE);
}

static void begin(dome_env *env)
{
    if (!targets) {
        targets = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        objects = g_ptr_array_new();
    }
    g_hash_table_remove_all(targets);
    g_ptr_array_set_size(objects, 0);
    env_of = env;
    if (!env)
        return;
    add(env, 0, PLACE_HANDLE);
    for (uint64_t k = 0; k < DOME_KIND_STRUCT; k++)
        add(&dome__basic_types[k], TYPES + k, PLACE_HANDLE);
}

void dome__capture_handles_begin(dome_env *env)
{
    begin(env);
    for (dome_object *o = NULL; env && (o = dome_object_next(env, o));)
        if (!is_own(o))
            add_object(o);
}

bool dome__capture_handle_find(const void *address, uint64_t *number, uint64_t *place)
{
    const target *t = targets ? g_hash_table_lookup(targets, address) : NULL;
    if (!t)
        return false;
    *number = t->number;
    *place = t->place;
    return true;
}

/* ---- what the factories need ---- */

typedef struct saved_handle {
    char *kind, *name;
    uint32_t type; /* dome_type_kind */
    uint32_t distribution;
    uint64_t length, width, block, columns;
} saved_handle;

struct dome_capture_saved_handles {
    uint64_t last_id;
    bool errors_return;
    GArray *all; /* saved_handle */
};

static bool is_kind(const char *kind, const char *which)
{
    return strcmp(kind, which) == 0;
}

static char *save(dome_object *object, GByteArray *to)
{
    const char *kind = dome_object_operations(object)->kind, *name = dome_object_name(object);
    dome_object_info info = {.size = sizeof info};
    uint64_t columns = 0;
    if (dome_object_describe(object, &info) != DOME_OK)
        return g_strdup_printf("'%s' cannot be described", name);
    dome_type type = info.type;
    if (is_kind(kind, "dsparse")) {
        const dsparse *a = dome_object_content(object);
        type = dsparse_type(a);
        columns = dsparse_columns(a);
    } else if (!is_kind(kind, "dvec") && !is_kind(kind, "dscalar")) {
        return g_strdup_printf("'%s' is a %s, a structure that is not the library's: after a restart nobody could make it again",
                               name, kind);
    }
    if (!type || dome_type_kind_of(type) == DOME_KIND_STRUCT)
        return g_strdup_printf("'%s' has the struct type '%s', which after a restart nobody could describe again", name,
                               type ? dome_type_name(type) : "");
    dome__append_text(to, kind, TEXT_MOST);
    dome__append_text(to, name, TEXT_MOST);
    dome__append_u32(to, dome_type_kind_of(type));
    dome__append_u32(to, info.distribution);
    dome__append_u64(to, info.length);
    dome__append_u64(to, info.width);
    dome__append_u64(to, info.layout ? dome_layout_block_size(info.layout) : 0);
    dome__append_u64(to, columns);
    return NULL;
}

char *dome__capture_handles_save(GByteArray *to)
{
    char *problem = NULL;
    dome__append_u64(to, dome__registry_last_id(env_of));
    dome__append_u32(to, dome__errors_returned(env_of));
    dome__append_u32(to, objects->len);
    for (guint k = 0; k < objects->len && !problem; k++)
        problem = save(objects->pdata[k], to);
    return problem;
}

/* ---- the way back ---- */

static void clear_saved(void *one)
{
    saved_handle *h = one;
    g_free(h->kind);
    g_free(h->name);
}

dome_capture_saved_handles *dome__capture_handles_read(dome_bytes *from)
{
    dome_capture_saved_handles *saved = g_new0(dome_capture_saved_handles, 1);
    saved->all = g_array_new(FALSE, TRUE, sizeof(saved_handle));
    g_array_set_clear_func(saved->all, clear_saved);
    saved->last_id = dome__read_u64(from);
    saved->errors_return = dome__read_u32(from) != 0;
    const uint32_t count = dome__read_u32(from);
    for (uint32_t k = 0; k < count && !from->bad; k++) {
        saved_handle h = {.kind = dome__read_text(from), .name = dome__read_text(from)};
        h.type = dome__read_u32(from);
        h.distribution = dome__read_u32(from);
        h.length = dome__read_u64(from);
        h.width = dome__read_u64(from);
        h.block = dome__read_u64(from);
        h.columns = dome__read_u64(from);
        from->bad |= h.type >= DOME_KIND_STRUCT || h.distribution > DOME_WHOLE;
        g_array_append_val(saved->all, h);
    }
    return saved;
}

void dome__capture_handles_free(dome_capture_saved_handles *saved)
{
    if (!saved)
        return;
    g_array_unref(saved->all);
    g_free(saved);
}

/* The factory of each kind. */
static dome_object *make(dome_env *env, const saved_handle *h)
{
    const dome_type type = dome_type_basic((dome_type_kind)h->type);
    if (is_kind(h->kind, "dvec")) {
        const dvec_options options = {.size = sizeof options,
                                      .distribution = (dome_distribution)h->distribution,
                                      .width = (size_t)h->width,
                                      .block = h->block};
        dvec *x = dvec_new_with(env, h->name, type, h->length, &options);
        return x ? dvec_object(x) : NULL;
    }
    if (is_kind(h->kind, "dscalar")) {
        dscalar *s = dscalar_new(env, h->name, type);
        return s ? dscalar_object(s) : NULL;
    }
    if (is_kind(h->kind, "dsparse")) {
        dsparse *a = dsparse_new_of(env, h->name, type, h->length, h->columns);
        return a ? dsparse_object(a) : NULL;
    }
    return NULL;
}

dome_status dome__capture_handles_make(dome_env *env, dome_capture_saved_handles *saved)
{
    begin(env);
    for (guint k = 0; k < saved->all->len; k++) {
        dome_object *object = make(env, &g_array_index(saved->all, saved_handle, k));
        if (!object) /* errors end the program: this is an image of something else */
            return DOME_ERR_FORMAT;
        add_object(object);
    }
    dome__registry_skip(env, saved->last_id);
    if (saved->errors_return)
        dome_set_errors_return(env);
    return DOME_OK;
}

void *dome__capture_handle_address(uint64_t number, uint64_t place)
{
    if (number == 0 && place == PLACE_HANDLE)
        return env_of;
    if (number >= TYPES)
        return number - TYPES < DOME_KIND_STRUCT && place == PLACE_HANDLE ? (void *)(uintptr_t)&dome__basic_types[number - TYPES]
                                                                          : NULL;
    if (!objects || number == 0 || number > objects->len || place > PLACE_OBJECT)
        return NULL;
    dome_object *object = objects->pdata[number - 1];
    return place == PLACE_OBJECT ? object : dome_object_content(object);
}
