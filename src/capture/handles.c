#include "capture/capture.h"

#include "capture/image_object.h"
#include "capture/modules.h"
#include "capture/pointers.h"
#include "core/object_private.h"
#include "core/operation.h"
#include "core/type_private.h"
#include "heap/own_layouts.h"
#include "program/boundary.h"

#include <dome/dscalar.h>
#include <dome/dvec.h>
#include <dome/sparse.h>
#include <dome/structure.h>

#include <inttypes.h>
#include <string.h>

/* Numbers: 0 is the environment, 1 and up are objects in the order of their creation; a type is TYPES and its code: the kind of a
 * basic type, or DOME_KIND_STRUCT and up for the struct types, each behind those that it contains; a layout that the
 * program holds is LAYOUTS and its place among them. Places: of an object the
 * handle of its structure (dvec *), or its dome_object. */
#define TYPES   ((uint64_t)1 << 32)
#define LAYOUTS ((uint64_t)2 << 32)
enum { PLACE_HANDLE, PLACE_OBJECT };

enum { TEXT_MOST = 65535 };

/* In the place of a type: none. */
#define NO_TYPE UINT32_MAX

enum { PARAMETERS_MOST = 1 << 20 }; /* bytes */

typedef struct target {
    uint64_t number, place;
} target;

/* The image itself, by its names, which no other object can have: a structure of the program may be of a kind "image". */
static bool is_own(const dome_object *object)
{
    const char *name = dome_object_name(object);
    return strcmp(name, DOME_CAPTURE_PROGRAM_NAME) == 0 || strcmp(name, DOME_CAPTURE_TASKS_NAME) == 0;
}

static bool is_librarys(const char *kind)
{
    return strcmp(kind, "dvec") == 0 || strcmp(kind, "dscalar") == 0 || strcmp(kind, "dsparse") == 0;
}

/* A structure of the program's own may be of a kind "dvec": it then has a make, and the library's have none. */
static bool is_programs(const dome_object *object)
{
    return dome__object_maker(object) || !is_librarys(dome_object_operations(object)->kind);
}

const dome_object *dome__capture_handle_own(size_t k)
{
    dome_capture_handles *h = &dome__capture->handles;
    for (guint n = 0; n < h->objects->len; n++)
        if (is_programs(h->objects->pdata[n]) && k-- == 0)
            return h->objects->pdata[n];
    return NULL;
}

static void add(const void *address, uint64_t number, uint64_t place)
{
    dome_capture_handles *h = &dome__capture->handles;
    target *t = g_new(target, 1);
    *t = (target){number, place};
    g_hash_table_insert(h->targets, (void *)(uintptr_t)address, t);
}

static void add_object(dome_object *object)
{
    dome_capture_handles *h = &dome__capture->handles;
    g_ptr_array_add(h->objects, object);
    add(object, h->objects->len, PLACE_OBJECT);
    add(dome_object_content(object), h->objects->len, PLACE_HANDLE);
}

static void begin(dome_env *env)
{
    dome_capture_handles *h = &dome__capture->handles;
    if (!h->targets) {
        h->targets = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        h->objects = g_ptr_array_new();
        h->structs = g_ptr_array_new();
    }
    g_hash_table_remove_all(h->targets);
    g_ptr_array_set_size(h->objects, 0);
    g_ptr_array_set_size(h->structs, 0);
    h->env = env;
    if (!env)
        return;
    add(env, 0, PLACE_HANDLE);
    for (uint64_t k = 0; k < DOME_KIND_STRUCT; k++)
        add(&dome__basic_types[k], TYPES + k, PLACE_HANDLE);
}

static void add_struct(dome_type type)
{
    dome_capture_handles *h = &dome__capture->handles;
    add(type, TYPES + DOME_KIND_STRUCT + h->structs->len, PLACE_HANDLE);
    g_ptr_array_add(h->structs, (void *)(uintptr_t)type);
}

/* The types that it contains come before it. */
static void add_with_parts(dome_type type)
{
    dome_capture_handles *h = &dome__capture->handles;
    if (dome_type_kind_of(type) != DOME_KIND_STRUCT || g_hash_table_contains(h->targets, type))
        return;
    for (size_t k = 0; k < type->nfields; k++)
        add_with_parts(type->fields[k].type);
    add_struct(type);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const dome_type *)a)->name, (*(const dome_type *)b)->name);
}

static bool note_type(const void *list, dome_type type)
{
    g_ptr_array_add((GPtrArray *)(uintptr_t)list, (void *)(uintptr_t)type);
    return false;
}

void dome__capture_handles_begin(dome_env *env)
{
    begin(env);
    GPtrArray *types = g_ptr_array_new();
    if (env)
        dome__types_find(env, note_type, types);
    g_ptr_array_sort(types, by_name);
    for (guint k = 0; k < types->len; k++)
        add_with_parts(types->pdata[k]);
    g_ptr_array_unref(types);
    for (dome_object *o = NULL; env && (o = dome_object_next(env, o));)
        if (!is_own(o))
            add_object(o);
    for (size_t k = 0; env && dome__capture_own_layout(k); k++)
        add(dome__capture_own_layout(k)->layout, LAYOUTS + k, PLACE_HANDLE);
}

bool dome__capture_handle_find(const void *address, uint64_t *number, uint64_t *place)
{
    dome_capture_handles *h = &dome__capture->handles;
    const target *t = h->targets ? g_hash_table_lookup(h->targets, address) : NULL;
    if (!t)
        return false;
    *number = t->number;
    *place = t->place;
    return true;
}

/* ---- types ---- */

static uint32_t code_of(dome_type type)
{
    uint64_t number = 0, place;
    dome__capture_handle_find(type, &number, &place);
    return (uint32_t)number;
}

static dome_type type_of(uint32_t code)
{
    dome_capture_handles *h = &dome__capture->handles;
    if (code < DOME_KIND_STRUCT)
        return dome_type_basic((dome_type_kind)code);
    return code - DOME_KIND_STRUCT < h->structs->len ? h->structs->pdata[code - DOME_KIND_STRUCT] : NULL;
}

/* As a member of a struct, which on some machines is less than its own alignment. */
#define TYPE_MEMBER(name, ctype, suffix)                                                                                         \
    struct member_##name {                                                                                                       \
        char before;                                                                                                             \
        ctype value;                                                                                                             \
    };
DOME_TYPE_LIST(TYPE_MEMBER)
#undef TYPE_MEMBER

static size_t alignment(dome_type type)
{
#define TYPE_ALIGNMENT(name, ctype, suffix) [DOME_KIND_##name] = offsetof(struct member_##name, value),
    static const size_t basic[] = {DOME_TYPE_LIST(TYPE_ALIGNMENT)};
#undef TYPE_ALIGNMENT
    size_t most = 1;
    if (type->kind != DOME_KIND_STRUCT)
        return basic[type->kind];
    for (size_t k = 0; k < type->nfields; k++)
        most = MAX(most, alignment(type->fields[k].type));
    return most;
}

/* Puts fields where C puts them, on this machine. Returns the size of the struct. */
static size_t lay_out(dome_field *fields, size_t count)
{
    size_t at = 0, most = 1;
    for (size_t k = 0; k < count; k++) {
        const size_t to = alignment(fields[k].type);
        at = (at + to - 1) / to * to;
        fields[k].offset = at;
        at += dome_type_size(fields[k].type) * fields[k].count;
        most = MAX(most, to);
    }
    return (at + most - 1) / most * most;
}

enum { OPS = (sizeof(dome_type_ops) - offsetof(dome_type_ops, add)) / sizeof(void (*)(void)) };

/* The name of a function of the program; NULL: it is not the program's. */
static const char *name_of(void (*function)(void))
{
    for (size_t c = 0; c < dome__capture_code_count(); c++)
        if (dome__capture_code(c)->address == function)
            return dome__capture_code(c)->name;
    return NULL;
}

/* The functions of a type's arithmetic, as names of functions of the program; "": there is none. */
static char *save_ops(dome_type type, GByteArray *to)
{
    void (*functions[OPS])(void);
    dome__append_u32(to, type->ops ? OPS : 0);
    if (!type->ops)
        return NULL;
    memcpy(functions, (const char *)type->ops + offsetof(dome_type_ops, add), sizeof functions);
    for (int k = 0; k < OPS; k++) {
        const char *name = functions[k] ? name_of(functions[k]) : "";
        if (!name)
            return g_strdup_printf("the arithmetic of type '%s' has a function that is not the program's", type->name);
        dome__append_text(to, name, TEXT_MOST);
    }
    return NULL;
}

static char *save_type(dome_type type, GByteArray *to)
{
    dome_field *fields = g_memdup2(type->fields, type->nfields * sizeof *fields);
    bool same = lay_out(fields, type->nfields) == type->size;
    dome__append_text(to, type->name, TEXT_MOST);
    dome__append_u32(to, (uint32_t)type->nfields);
    for (size_t k = 0; k < type->nfields; k++) {
        same = same && fields[k].offset == type->fields[k].offset;
        dome__append_text(to, fields[k].name, TEXT_MOST);
        dome__append_u32(to, code_of(fields[k].type));
        dome__append_u64(to, fields[k].count);
    }
    g_free(fields);
    return same ? save_ops(type, to)
                : g_strdup_printf("type '%s' has not all members of its struct as fields, in their order: after a restart nobody "
                                  "would know where they are",
                                  type->name);
}

/* ---- what the factories need ---- */

typedef struct saved_type {
    char *name;
    GArray *fields; /* dome_field, whose type is a code until the type is made */
    GArray *codes;  /* uint32_t: of their types */
    GPtrArray *ops; /* char * */
} saved_type;

typedef struct saved_handle {
    char *kind, *name;
    uint32_t type; /* its code */
    uint32_t distribution;
    uint64_t length, width, block, columns;
    char *maker; /* of a structure of the program's own: the name of its make; else "" */
    GByteArray *parameters;
} saved_handle;

typedef struct saved_operation {
    char *name, *arguments;
    uint32_t flags;
} saved_operation;

typedef struct saved_view {
    char *function;
    uint8_t data[DOME_CAPTURE_POINTER_BYTES];
} saved_view;

struct dome_capture_saved_handles {
    uint64_t last_id;
    bool errors_return;
    GArray *types; /* saved_type */
    GArray *all;   /* saved_handle */
    uint32_t first_operation;
    GArray *operations; /* saved_operation */
    GPtrArray *layouts; /* dome_layout */
    GArray *references; /* uint64_t: of each */
    GArray *views;      /* saved_view */
};

static bool is_kind(const char *kind, const char *which)
{
    return strcmp(kind, which) == 0;
}

/* The function that makes a structure of the program's own again, and what it needs. */
static char *save_maker(const dome_object *object, GByteArray *to)
{
    const dome__object_make make = dome__object_maker(object);
    const char *kind = dome_object_operations(object)->kind, *name = make ? name_of((void (*)(void))make) : NULL;
    if (strcmp(kind, "region") == 0 && !make)
        return g_strdup_printf("'%s' is a region, which programs of dome-cc cannot save", dome_object_name(object));
    if (!make)
        return g_strdup_printf(
            "'%s' is a %s, a structure of the program's own whose operation table has no make: after a restart "
            "nobody could make it again",
            dome_object_name(object), kind);
    if (!name)
        return g_strdup_printf("'%s' is a %s, whose make is not a function of the program: compile it by dome-cc, too",
                               dome_object_name(object), kind);
    const uint64_t bytes = dome__object_parameters(object, NULL);
    if (bytes > PARAMETERS_MOST)
        return g_strdup_printf("'%s' is a %s with %" PRIu64 " bytes of parameters: more than %d", dome_object_name(object), kind,
                               bytes, PARAMETERS_MOST);
    dome__append_text(to, name, TEXT_MOST);
    dome__append_u32(to, (uint32_t)bytes);
    const guint at = to->len;
    g_byte_array_set_size(to, at + (guint)bytes);
    if (bytes > 0)
        dome__object_parameters(object, to->data + at);
    return NULL;
}

static char *save(dome_object *object, GByteArray *to)
{
    const char *kind = dome_object_operations(object)->kind, *name = dome_object_name(object);
    dome_object_info info = {.size = sizeof info};
    uint64_t columns = 0;
    if (dome_object_describe(object, &info) != DOME_OK)
        return g_strdup_printf("'%s' cannot be described", name);
    dome_type type = info.type;
    if (is_kind(kind, "dsparse") && !is_programs(object)) {
        const dsparse *a = dome_object_content(object);
        type = dsparse_type(a);
        columns = dsparse_columns(a);
    }
    dome__append_text(to, kind, TEXT_MOST);
    dome__append_text(to, name, TEXT_MOST);
    dome__append_u32(to, type ? code_of(type) : NO_TYPE);
    dome__append_u32(to, info.distribution);
    dome__append_u64(to, info.length);
    dome__append_u64(to, info.width);
    dome__append_u64(to, info.layout ? dome_layout_block_size(info.layout) : 0);
    dome__append_u64(to, columns);
    if (is_programs(object))
        return save_maker(object, to);
    dome__append_text(to, "", TEXT_MOST);
    dome__append_u32(to, 0);
    return NULL;
}

/* Operations of structures: their codes are numbers in variables. */
static void save_operations(GByteArray *to)
{
    const uint32_t count = dome__operation_registered();
    dome__append_u32(to, count ? DOME_OPERATION_REGISTERED : 0); /* without any, images of all versions are alike */
    dome__append_u32(to, count);
    for (uint32_t k = DOME_OPERATION_REGISTERED; k < DOME_OPERATION_REGISTERED + count; k++) {
        dome__append_text(to, dome__operation_name(k), TEXT_MOST);
        dome__append_text(to, dome__operation_arguments(k), TEXT_MOST);
        dome__append_u32(to, dome__operation_flags[k]);
    }
}

static void save_layouts(GByteArray *to)
{
    const dome_capture_own_layout *h;
    uint32_t count = 0;
    while (dome__capture_own_layout(count))
        count++;
    dome__append_u32(to, count);
    for (size_t k = 0; (h = dome__capture_own_layout(k)); k++) {
        const int tasks = dome_layout_tasks(h->layout);
        uint64_t start;
        dome_layout_run(h->layout, 0, &start);
        dome__append_u64(to, h->references);
        dome__append_u64(to, dome_layout_length(h->layout));
        dome__append_u64(to, dome_layout_block_size(h->layout));
        dome__append_u64(to, start);
        dome__append_u32(to, (uint32_t)tasks);
        for (int r = 0; r < tasks; r++)
            dome__append_u64(to, dome_layout_run(h->layout, r, &start));
    }
}

/* Functions of dome_on_view. */
static char *save_views(GByteArray *to)
{
    dome_capture_handles *h = &dome__capture->handles;
    void *data;
    uint32_t count = 0;
    while (dome__boundary_function(h->env, count, &data))
        count++;
    dome__append_u32(to, count);
    for (uint32_t k = 0; k < count; k++) {
        const char *name = name_of((void (*)(void))dome__boundary_function(h->env, k, &data));
        const void *const leads = data;
        uint8_t bytes[DOME_CAPTURE_POINTER_BYTES];
        if (!name)
            return g_strdup("a function of dome_on_view is not the program's: compile it by dome-cc, too");
        dome__capture_encode(NULL, &leads, NULL, bytes);
        dome__append_text(to, name, TEXT_MOST);
        dome__append_bytes(to, bytes, sizeof bytes);
    }
    return NULL;
}

char *dome__capture_handles_save(GByteArray *to)
{
    dome_capture_handles *h = &dome__capture->handles;
    char *problem = NULL;
    if (h->env->lazy.locks)
        return g_strdup("it has made locks (dome_lock_new), which programs of dome-cc cannot save");
    dome__append_u64(to, dome__registry_last_id(h->env));
    dome__append_u32(to, dome__errors_returned(h->env));
    dome__append_u32(to, h->structs->len);
    for (guint k = 0; k < h->structs->len && !problem; k++)
        problem = save_type(h->structs->pdata[k], to);
    dome__append_u32(to, h->objects->len);
    for (guint k = 0; k < h->objects->len && !problem; k++)
        problem = save(h->objects->pdata[k], to);
    save_operations(to);
    save_layouts(to);
    return problem ? problem : save_views(to);
}

/* ---- the way back ---- */

static void clear_saved(void *one)
{
    saved_handle *h = one;
    g_free(h->kind);
    g_free(h->name);
    g_free(h->maker);
    g_clear_pointer(&h->parameters, g_byte_array_unref);
}

static void clear_field(void *one)
{
    g_free((char *)(uintptr_t)((dome_field *)one)->name);
}

static void clear_type(void *one)
{
    saved_type *t = one;
    g_free(t->name);
    g_array_unref(t->fields);
    g_array_unref(t->codes);
    g_ptr_array_unref(t->ops);
}

static void clear_operation(void *one)
{
    g_free(((saved_operation *)one)->name);
    g_free(((saved_operation *)one)->arguments);
}

static void clear_view(void *one)
{
    g_free(((saved_view *)one)->function);
}

static GArray *new_list(guint size, void (*clear)(void *one))
{
    GArray *list = g_array_new(FALSE, TRUE, size);
    g_array_set_clear_func(list, clear);
    return list;
}

static void read_operations(dome_capture_saved_handles *saved, dome_bytes *from)
{
    saved->first_operation = dome__read_u32(from);
    const uint32_t count = dome__read_u32(from);
    for (uint32_t k = 0; k < count && !from->bad; k++) {
        saved_operation o = {.name = dome__read_text(from), .arguments = dome__read_text(from)};
        o.flags = dome__read_u32(from);
        g_array_append_val(saved->operations, o);
    }
}

static void read_layouts(dome_capture_saved_handles *saved, dome_bytes *from)
{
    const uint32_t count = dome__read_u32(from);
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (uint32_t k = 0; k < count && !from->bad; k++) {
        const uint64_t references = dome__read_u64(from), length = dome__read_u64(from), block = dome__read_u64(from),
                       start = dome__read_u64(from);
        const uint32_t tasks = dome__read_u32(from);
        g_array_set_size(counts, 0);
        for (uint32_t r = 0; r < tasks && !from->bad; r++) {
            const uint64_t blocks = dome__read_u64(from);
            g_array_append_val(counts, blocks);
        }
        dome_layout *layout = !from->bad && tasks > 0 && tasks <= INT32_MAX && block > 0
                                  ? dome_layout_new(length, block, (int)tasks, start, (uint64_t *)(void *)counts->data)
                                  : NULL;
        from->bad |= !layout || references == 0 || references > UINT32_MAX;
        if (layout) {
            g_ptr_array_add(saved->layouts, layout);
            g_array_append_val(saved->references, references);
        }
    }
    g_array_unref(counts);
}

static void read_views(dome_capture_saved_handles *saved, dome_bytes *from)
{
    const uint32_t count = dome__read_u32(from);
    for (uint32_t k = 0; k < count && !from->bad; k++) {
        saved_view v = {.function = dome__read_text(from)};
        const uint8_t *bytes = dome__read_bytes(from, sizeof v.data);
        if (bytes)
            memcpy(v.data, bytes, sizeof v.data);
        g_array_append_val(saved->views, v);
    }
}

static saved_type read_type(dome_bytes *from, uint32_t own)
{
    saved_type t = {.name = dome__read_text(from),
                    .fields = g_array_new(FALSE, TRUE, sizeof(dome_field)),
                    .codes = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                    .ops = g_ptr_array_new_with_free_func(g_free)};
    g_array_set_clear_func(t.fields, clear_field);
    const uint32_t fields = dome__read_u32(from);
    for (uint32_t k = 0; k < fields && !from->bad; k++) {
        dome_field f = {.name = dome__read_text(from)};
        const uint32_t code = dome__read_u32(from);
        const uint64_t count = dome__read_u64(from);
        f.count = (size_t)count;
        from->bad |= code >= own || count == 0 || count > SIZE_MAX / 2;
        g_array_append_val(t.fields, f);
        g_array_append_val(t.codes, code);
    }
    const uint32_t ops = dome__read_u32(from);
    from->bad |= ops != 0 && ops != OPS;
    for (uint32_t k = 0; k < ops && !from->bad; k++)
        g_ptr_array_add(t.ops, dome__read_text(from));
    return t;
}

dome_capture_saved_handles *dome__capture_handles_read(dome_bytes *from)
{
    dome_capture_saved_handles *saved = g_new0(dome_capture_saved_handles, 1);
    saved->all = new_list(sizeof(saved_handle), clear_saved);
    saved->types = new_list(sizeof(saved_type), clear_type);
    saved->operations = new_list(sizeof(saved_operation), clear_operation);
    saved->layouts = g_ptr_array_new_with_free_func((GDestroyNotify)dome_layout_unref);
    saved->references = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    saved->views = new_list(sizeof(saved_view), clear_view);
    saved->last_id = dome__read_u64(from);
    saved->errors_return = dome__read_u32(from) != 0;
    const uint32_t types = dome__read_u32(from);
    for (uint32_t k = 0; k < types && !from->bad; k++) {
        saved_type t = read_type(from, DOME_KIND_STRUCT + k);
        g_array_append_val(saved->types, t);
    }
    const uint32_t count = dome__read_u32(from);
    for (uint32_t k = 0; k < count && !from->bad; k++) {
        saved_handle h = {.kind = dome__read_text(from), .name = dome__read_text(from)};
        h.type = dome__read_u32(from);
        h.distribution = dome__read_u32(from);
        h.length = dome__read_u64(from);
        h.width = dome__read_u64(from);
        h.block = dome__read_u64(from);
        h.columns = dome__read_u64(from);
        h.maker = dome__read_text(from);
        const uint32_t bytes = dome__read_u32(from);
        const uint8_t *parameters = bytes <= PARAMETERS_MOST ? dome__read_bytes(from, bytes) : NULL;
        h.parameters = g_byte_array_new();
        if (parameters)
            dome__append_bytes(h.parameters, parameters, bytes);
        const bool own = h.type == NO_TYPE && *h.maker;
        from->bad |= (h.type >= DOME_KIND_STRUCT + types && !own) || h.distribution > DOME_WHOLE || !parameters;
        g_array_append_val(saved->all, h);
    }
    read_operations(saved, from);
    read_layouts(saved, from);
    read_views(saved, from);
    return saved;
}

void dome__capture_handles_free(dome_capture_saved_handles *saved)
{
    if (!saved)
        return;
    g_array_unref(saved->types);
    g_array_unref(saved->all);
    g_array_unref(saved->operations);
    g_ptr_array_unref(saved->layouts);
    g_array_unref(saved->references);
    g_array_unref(saved->views);
    g_free(saved);
}

static bool make_ops(dome_env *env, dome_type type, const saved_type *t)
{
    void (*functions[OPS])(void);
    dome_type_ops ops = {.size = sizeof ops};
    if (t->ops->len == 0)
        return true;
    for (guint k = 0; k < OPS; k++) {
        const char *name = t->ops->pdata[k];
        const dome_capture_code *code = *name ? dome__capture_code_find(name) : NULL;
        if (*name && !code)
            return false;
        functions[k] = code ? code->address : NULL;
    }
    memcpy((char *)&ops + offsetof(dome_type_ops, add), functions, sizeof functions);
    return dome_type_set_ops(env, type, &ops) == DOME_OK;
}

static bool make_type(dome_env *env, const saved_type *t)
{
    dome_field *fields = (dome_field *)(void *)t->fields->data;
    for (guint k = 0; k < t->fields->len; k++)
        fields[k].type = type_of(g_array_index(t->codes, uint32_t, k));
    const size_t size = lay_out(fields, t->fields->len);
    dome_type type = dome_type_struct(env, t->name, size, fields, t->fields->len, sizeof *fields);
    if (!type)
        return false;
    add_struct(type);
    return make_ops(env, type, t);
}

/* The layout that an object has now, by its description. The caller owns a reference. NULL: it needs none. */
static dome_layout *layout_of(dome_env *env, const saved_handle *h)
{
    if (h->distribution == DOME_DYNAMIC)
        return dome_layout_ref(dome_env_layout(env, h->length, h->block));
    return h->block > 0 ? dome_layout_even(h->length, h->block, h->distribution == DOME_BLOCK ? dome_size(env) : 1) : NULL;
}

/* A structure of the program's own. *problem: why it cannot be made. */
static dome_object *make_own(dome_env *env, const saved_handle *h, char **problem)
{
    const dome_capture_code *code = dome__capture_code_find(h->maker);
    if (!code) {
        *problem = g_strdup_printf("'%s' is a %s, which the function '%s' makes: this program has none of that name", h->name,
                                   h->kind, h->maker);
        return NULL;
    }
    dome_layout *layout = layout_of(env, h);
    const dome_object_info info = {.size = sizeof info,
                                   .type = h->type == NO_TYPE ? NULL : type_of(h->type),
                                   .length = h->length,
                                   .width = h->width,
                                   .distribution = (dome_distribution)h->distribution,
                                   .layout = layout};
    const size_t before = dome_object_count(env);
    const dome__object_make make = (dome__object_make)code->address;
    dome_object *object = make(env, h->name, &info, h->parameters->data, h->parameters->len);
    dome_layout_unref(layout);
    const char *wrong = !object                                                   ? "it has made nothing"
                        : dome_object_count(env) != before + 1                    ? "it has made other objects, too"
                        : dome_object_find(env, h->name) != object                ? "it has given the object another name"
                        : !is_kind(dome_object_operations(object)->kind, h->kind) ? "it has made an object of another kind"
                                                                                  : NULL;
    if (wrong)
        *problem = g_strdup_printf("'%s' is a %s, which the function '%s' makes: %s", h->name, h->kind, h->maker, wrong);
    return object;
}

/* The factory of each kind. */
static dome_object *make(dome_env *env, const saved_handle *h)
{
    const dome_type type = type_of(h->type);
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

/* With the codes that they had. */
static char *make_operations(dome_env *env, const dome_capture_saved_handles *saved)
{
    if (saved->operations->len > 0 && saved->first_operation != DOME_OPERATION_REGISTERED)
        return g_strdup("the program has operations of its own (dome_operation_register), and its image is of a version of this "
                        "library with other operations");
    for (guint k = 0; k < saved->operations->len; k++) {
        const saved_operation *o = &g_array_index(saved->operations, saved_operation, k);
        if (dome_operation_register(env, o->name, o->arguments, o->flags) != DOME_OPERATION_REGISTERED + k)
            return g_strdup_printf("the operation '%s' cannot be registered again", o->name);
    }
    return NULL;
}

char *dome__capture_handles_tell(dome_env *env, const dome_capture_saved_handles *saved, dome_capture_coder *coder)
{
    for (guint k = 0; k < saved->views->len; k++) {
        const saved_view *v = &g_array_index(saved->views, saved_view, k);
        const dome_capture_code *code = dome__capture_code_find(v->function);
        void *data;
        if (!code)
            return g_strdup_printf("dome_on_view was given the function '%s', and this program has none of that name",
                                   v->function);
        if (!coder->decode(coder->ctx, &data, NULL, v->data) ||
            dome_on_view(env, (dome_view_function)code->address, data) != DOME_OK)
            return g_strdup("the image is not what it should be: a function of dome_on_view");
    }
    dome__capture_own_layouts_drop(saved->layouts->len); /* such as those of content that has been made again */
    return NULL;
}

char *dome__capture_handles_make(dome_env *env, dome_capture_saved_handles *saved)
{
    static const char wrong[] = "the image is not what it should be: its handles";
    begin(env);
    for (guint k = 0; k < saved->types->len; k++)
        if (!make_type(env, &g_array_index(saved->types, saved_type, k)))
            return g_strdup(wrong);
    for (guint k = 0; k < saved->layouts->len; k++)
        dome__capture_own_layout_restore(dome_layout_ref(saved->layouts->pdata[k]),
                                         g_array_index(saved->references, uint64_t, k));
    char *bad = make_operations(env, saved);
    if (bad)
        return bad;
    env->capture.makes_again = true;
    for (guint k = 0; k < saved->all->len; k++) {
        const saved_handle *h = &g_array_index(saved->all, saved_handle, k);
        char *problem = NULL;
        dome_object *object = *h->maker ? make_own(env, h, &problem) : make(env, h);
        if (problem || !object) /* errors end the program: this is an image of something else */
            return problem ? problem : g_strdup(wrong);
        add_object(object);
    }
    env->capture.makes_again = false;
    dome__registry_skip(env, saved->last_id);
    if (saved->errors_return)
        dome_set_errors_return(env);
    return NULL;
}

void *dome__capture_handle_address(uint64_t number, uint64_t place)
{
    dome_capture_handles *h = &dome__capture->handles;
    if (number == 0 && place == PLACE_HANDLE)
        return h->env;
    if (number >= LAYOUTS) {
        dome_capture_own_layout *held = place == PLACE_HANDLE ? dome__capture_own_layout(number - LAYOUTS) : NULL;
        if (held)
            held->used = true;
        return held ? held->layout : NULL;
    }
    if (number >= TYPES)
        return number - TYPES <= UINT32_MAX && place == PLACE_HANDLE && h->structs
                   ? (void *)(uintptr_t)type_of((uint32_t)(number - TYPES))
                   : NULL;
    if (!h->objects || number == 0 || number > h->objects->len || place > PLACE_OBJECT)
        return NULL;
    dome_object *object = h->objects->pdata[number - 1];
    return place == PLACE_OBJECT ? object : dome_object_content(object);
}
