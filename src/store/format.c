#include "store/format_private.h"

#include "system/basic_types.h"
#include "system/terminal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool dome__ckpt_refuse(char **message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

char *dome__ckpt_shown(const char *name)
{
    enum { LONGEST = 60 };
    char *plain = dome__plain(name), *end = plain;
    for (int i = 0; *end && i < LONGEST; i++)
        end = g_utf8_next_char(end);
    char *text = g_strdup_printf("'%.*s%s'", (int)(end - plain), plain, *end ? "..." : "");
    g_free(plain);
    return text;
}

/* ---- life ---- */

static void clear_counter(void *item)
{
    g_free(((dome_ckpt_counter *)item)->name);
}

static void clear_field(void *item)
{
    g_free(((dome_ckpt_field *)item)->name);
}

static void clear_struct(void *item)
{
    dome_ckpt_struct *s = item;
    g_free(s->name);
    if (s->fields)
        g_array_unref(s->fields);
}

static void clear_object(void *item)
{
    dome_ckpt_object *o = item;
    g_free(o->name);
    g_free(o->kind);
}

static GArray *array(size_t item, GDestroyNotify clear)
{
    GArray *a = g_array_new(FALSE, TRUE, (guint)item);
    if (clear)
        g_array_set_clear_func(a, clear);
    return a;
}

GArray *dome__ckpt_fields_new(void)
{
    return array(sizeof(dome_ckpt_field), clear_field);
}

dome_ckpt *dome__ckpt_new(const char *program, uint64_t number, uint64_t loop)
{
    dome_ckpt *ckpt = g_new0(dome_ckpt, 1);
    ckpt->program = g_strdup(program);
    ckpt->number = number;
    ckpt->loop = loop;
    ckpt->earlier = array(sizeof(dome_ckpt_earlier), NULL);
    ckpt->counters = array(sizeof(dome_ckpt_counter), clear_counter);
    ckpt->structs = array(sizeof(dome_ckpt_struct), clear_struct);
    ckpt->objects = array(sizeof(dome_ckpt_object), clear_object);
    return ckpt;
}

static char *other_name;

void dome__ckpt_also_of(const char *program)
{
    g_free(other_name);
    other_name = g_strdup(program);
}

bool dome__ckpt_is_of(const dome_ckpt *ckpt, const char *program)
{
    return !program || strcmp(ckpt->program, program) == 0 || g_strcmp0(ckpt->program, other_name) == 0;
}

void dome__ckpt_free(dome_ckpt *ckpt)
{
    if (!ckpt)
        return;
    g_free(ckpt->program);
    g_array_unref(ckpt->earlier);
    g_array_unref(ckpt->counters);
    g_array_unref(ckpt->structs);
    g_array_unref(ckpt->objects);
    g_free(ckpt->table);
    g_free(ckpt->patched);
    if (ckpt->windows)
        g_array_unref(ckpt->windows);
    g_free(ckpt);
}

/* ---- names ---- */

static bool check_name(const char *what, const char *name, char **message)
{
    if (!*name)
        return dome__ckpt_refuse(message, "cannot hold %s without a name", what);
    if (strlen(name) > DOME_CKPT_NAME_MAX)
        return dome__ckpt_refuse(message, "cannot hold %s with a name of %zu bytes", what, strlen(name));
    return true;
}

bool dome__ckpt_add_counter(dome_ckpt *ckpt, const char *name, uint64_t value, char **message)
{
    if (!check_name("a counter", name, message))
        return false;
    for (guint i = 0; i < ckpt->counters->len; i++)
        if (strcmp(g_array_index(ckpt->counters, dome_ckpt_counter, i).name, name) == 0)
            return dome__ckpt_refuse(message, "cannot hold two counters called '%s'", name);
    dome_ckpt_counter counter = {g_strdup(name), value};
    g_array_append_val(ckpt->counters, counter);
    return true;
}

/* ---- types ---- */

static const dome_ckpt_struct *struct_of(const dome_ckpt *ckpt, uint32_t type)
{
    return &g_array_index(ckpt->structs, dome_ckpt_struct, type - DOME_CKPT_FIRST_STRUCT);
}

bool dome__ckpt_type_exists(const dome_ckpt *ckpt, uint32_t type)
{
    return type < DOME_CKPT_FIRST_STRUCT || type - DOME_CKPT_FIRST_STRUCT < ckpt->structs->len;
}

uint64_t dome__ckpt_type_bytes(const dome_ckpt *ckpt, uint32_t type)
{
    if (type == DOME_CKPT_NO_TYPE)
        return 0;
    return type < DOME_CKPT_FIRST_STRUCT ? dome__basic_types[type - 1].portable : struct_of(ckpt, type)->bytes;
}

const char *dome__ckpt_type_name(const dome_ckpt *ckpt, uint32_t type)
{
    if (type == DOME_CKPT_NO_TYPE)
        return "none";
    return type < DOME_CKPT_FIRST_STRUCT ? dome__basic_types[type - 1].name : struct_of(ckpt, type)->name;
}

bool dome__ckpt_type_fits(const dome_ckpt *ckpt, uint32_t type, dome_type program)
{
    if (type == DOME_CKPT_NO_TYPE || !program)
        return type == DOME_CKPT_NO_TYPE && !program;
    if (type < DOME_CKPT_FIRST_STRUCT)
        return &dome__basic_types[type - 1] == program;

    const dome_ckpt_struct *s = struct_of(ckpt, type);
    if (program->kind != DOME_KIND_STRUCT || strcmp(s->name, program->name) != 0 || s->fields->len != program->nfields)
        return false;
    for (guint i = 0; i < s->fields->len; i++) {
        const dome_ckpt_field *f = &g_array_index(s->fields, dome_ckpt_field, i);
        const dome_field *g = &program->fields[i];
        if (strcmp(f->name, g->name) != 0 || f->count != g->count || !dome__ckpt_type_fits(ckpt, f->type, g->type))
            return false;
    }
    return true;
}

bool dome__ckpt_struct_bytes(const dome_ckpt *ckpt, const GArray *fields, uint64_t *bytes)
{
    *bytes = 0;
    for (guint i = 0; i < fields->len; i++) {
        const dome_ckpt_field *f = &g_array_index(fields, dome_ckpt_field, i);
        uint64_t field;
        if (__builtin_mul_overflow(f->count, dome__ckpt_type_bytes(ckpt, f->type), &field) ||
            __builtin_add_overflow(*bytes, field, bytes))
            return false;
    }
    return true;
}

/* The number of a type; a struct is added after those that it contains. */
static bool add_type(dome_ckpt *ckpt, dome_type type, uint32_t *number, char **message)
{
    *number = DOME_CKPT_NO_TYPE;
    if (!type)
        return true;
    if (type->kind != DOME_KIND_STRUCT) {
        *number = (uint32_t)type->kind + 1;
        return true;
    }
    for (guint i = 0; i < ckpt->structs->len; i++)
        if (strcmp(struct_of(ckpt, DOME_CKPT_FIRST_STRUCT + i)->name, type->name) == 0) {
            *number = DOME_CKPT_FIRST_STRUCT + i;
            return dome__ckpt_type_fits(ckpt, *number, type) ||
                   dome__ckpt_refuse(message, "cannot hold two types called '%s'", type->name);
        }
    if (!check_name("a type", type->name, message))
        return false;

    dome_ckpt_struct s = {.fields = dome__ckpt_fields_new()};
    bool good = true;
    for (size_t i = 0; good && i < type->nfields; i++) {
        dome_ckpt_field field = {.count = type->fields[i].count};
        good = check_name("a field", type->fields[i].name, message) && add_type(ckpt, type->fields[i].type, &field.type, message);
        if (good) {
            field.name = g_strdup(type->fields[i].name);
            g_array_append_val(s.fields, field);
        }
    }
    if (good && !dome__ckpt_struct_bytes(ckpt, s.fields, &s.bytes))
        good = dome__ckpt_refuse(message, "cannot hold type '%s': its elements are too long", type->name);
    if (!good) {
        clear_struct(&s);
        return false;
    }
    s.name = g_strdup(type->name);
    *number = DOME_CKPT_FIRST_STRUCT + ckpt->structs->len;
    g_array_append_val(ckpt->structs, s);
    return true;
}

/* ---- objects ---- */

uint64_t dome__ckpt_block_elements(const dome_ckpt_object *object, uint64_t block)
{
    if (object->block_size == 0)
        return object->length;
    uint64_t first = block * object->block_size;
    return MIN(object->block_size, object->length - first);
}

bool dome__ckpt_object_layout(const dome_ckpt *ckpt, dome_ckpt_object *object)
{
    uint64_t values, bytes, size = object->block_size;
    if (size == 0 && object->distribution != DOME_WHOLE)
        return false;
    if ((size & (size - 1)) != 0)
        return false;
    object->blocks = size == 0 ? 1 : object->length / size + (object->length % size != 0);
    if (!object->fixed)
        return true;
    return object->type != DOME_CKPT_NO_TYPE && !__builtin_mul_overflow(object->length, object->width, &values) &&
           !__builtin_mul_overflow(values, dome__ckpt_type_bytes(ckpt, object->type), &bytes);
}

uint64_t dome__ckpt_fixed_length(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block)
{
    return dome__ckpt_block_elements(object, block) * object->width * dome__ckpt_type_bytes(ckpt, object->type);
}

void dome__ckpt_make_table(dome_ckpt *ckpt)
{
    g_free(ckpt->table);
    ckpt->table = g_new0(dome_ckpt_entry, ckpt->entries);
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        for (uint64_t b = 0; object->fixed && b < object->blocks; b++)
            dome__ckpt_entry(ckpt, object, b)->length = dome__ckpt_fixed_length(ckpt, object, b);
    }
}

/* ---- shapes ----
 *
 * A counter for each dimension, "shape O.D" for dimension D of object O: readers from before there were shapes ignore them. */

static const char shape_prefix[] = "shape ";

static char *shape_name(guint object, int dimension)
{
    return g_strdup_printf("%s%u.%d", shape_prefix, object, dimension);
}

/* Whether an array of this shape has the object's number of values. */
static bool same_values(const dome_ckpt_object *object, int ndim, const uint64_t shape[])
{
    uint64_t values, product = 1;
    bool empty = false, fits = true;
    for (int d = 0; d < ndim; d++) {
        empty |= shape[d] == 0;
        fits = fits && !__builtin_mul_overflow(product, shape[d], &product);
    }
    if (__builtin_mul_overflow(object->length, object->width, &values))
        return false;
    return empty ? values == 0 : fits && product == values;
}

/* No other counter has such a name, so these are not looked for. */
static void add_shape(dome_ckpt *ckpt, guint object, int ndim, const uint64_t shape[])
{
    for (int d = 0; d < ndim; d++) {
        dome_ckpt_counter counter = {shape_name(object, d), shape[d]};
        g_array_append_val(ckpt->counters, counter);
    }
}

bool dome__ckpt_is_shape(const dome_ckpt_counter *counter)
{
    return g_str_has_prefix(counter->name, shape_prefix);
}

static const dome_ckpt_counter *counter_at(const dome_ckpt *ckpt, guint index)
{
    return &g_array_index(ckpt->counters, dome_ckpt_counter, index);
}

bool dome__ckpt_has_shapes(const dome_ckpt *ckpt)
{
    for (guint i = 0; i < ckpt->counters->len; i++)
        if (dome__ckpt_is_shape(counter_at(ckpt, i)))
            return true;
    return false;
}

uint64_t dome__ckpt_tasks(const dome_ckpt *ckpt)
{
    for (guint i = 0; i < ckpt->counters->len; i++)
        if (strcmp(counter_at(ckpt, i)->name, DOME_CKPT_TASKS) == 0)
            return counter_at(ckpt, i)->value;
    return 0;
}

/* The object that a number of a shape belongs to, by its name. */
static uint64_t object_of_shape(const dome_ckpt_counter *counter)
{
    return g_ascii_strtoull(counter->name + strlen(shape_prefix), NULL, 10);
}

/* The numbers of the object's shape, which are the counters from this one on: *ndim of them, g_free'd by the caller. NULL if
 * there are none. */
static uint64_t *numbers_from(const dome_ckpt *ckpt, guint first, guint object, int *ndim)
{
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (bool is = true; is && first + numbers->len < ckpt->counters->len;) {
        const dome_ckpt_counter *counter = counter_at(ckpt, first + numbers->len);
        char *name = shape_name(object, (int)numbers->len);
        is = strcmp(counter->name, name) == 0;
        if (is)
            g_array_append_val(numbers, counter->value);
        g_free(name);
    }
    *ndim = (int)numbers->len;
    return (uint64_t *)(void *)g_array_free(numbers, numbers->len == 0);
}

uint64_t *dome__ckpt_shape(const dome_ckpt *ckpt, const dome_ckpt_object *object, int *ndim)
{
    const guint index = (guint)(object - &g_array_index(ckpt->objects, dome_ckpt_object, 0));
    for (guint i = 0; i < ckpt->counters->len; i++)
        if (dome__ckpt_is_shape(counter_at(ckpt, i)) && object_of_shape(counter_at(ckpt, i)) == index)
            return numbers_from(ckpt, i, index, ndim);
    *ndim = 0;
    return NULL;
}

bool dome__ckpt_check_shapes(const dome_ckpt *ckpt, char **message)
{
    guint object = 0;
    int count;
    for (guint i = 0; i < ckpt->counters->len; i += (guint)count) {
        count = 1;
        if (!dome__ckpt_is_shape(counter_at(ckpt, i)))
            continue;
        const uint64_t of = object_of_shape(counter_at(ckpt, i));
        uint64_t *shape = of >= object && of < ckpt->objects->len ? numbers_from(ckpt, i, (guint)of, &count) : NULL;
        const bool good = shape && same_values(dome__ckpt_object(ckpt, of), count, shape);
        g_free(shape);
        if (!good)
            return dome__ckpt_refuse(message, "has a wrong directory: counter %u makes no sense", i);
        object = (guint)of + 1;
    }
    return true;
}

/* A file with another shape would be refused by its readers. */
static bool fits_shape(const dome_ckpt_object *object, int ndim, const uint64_t shape[])
{
    return ndim == 0 || (ndim > 0 && shape && same_values(object, ndim, shape));
}

bool dome__ckpt_add_object(dome_ckpt *ckpt, const dome_ckpt_description *d, char **message)
{
    dome_ckpt_object object = {
        .length = d->length, .width = d->width, .distribution = d->distribution, .block_size = d->block_size, .fixed = d->fixed};
    if (!check_name("an object", d->name, message) || !check_name("a kind", d->kind, message))
        return false;
    if (dome__ckpt_find(ckpt, d->name))
        return dome__ckpt_refuse(message, "cannot hold two objects called '%s'", d->name);
    if (!add_type(ckpt, d->type, &object.type, message))
        return false;
    if (!dome__ckpt_object_layout(ckpt, &object))
        return dome__ckpt_refuse(message, "cannot hold object '%s': its description makes no sense", d->name);
    if (object.blocks > DOME_CKPT_ENTRIES_MAX - ckpt->entries)
        return dome__ckpt_refuse(message, "cannot hold object '%s': too many blocks", d->name);
    if (!fits_shape(&object, d->ndim, d->shape))
        return dome__ckpt_refuse(message, "cannot hold object '%s': its shape does not have its number of values", d->name);
    object.name = g_strdup(d->name);
    object.kind = g_strdup(d->kind);
    object.first_entry = ckpt->entries;
    ckpt->entries += object.blocks;
    g_array_append_val(ckpt->objects, object);
    add_shape(ckpt, ckpt->objects->len - 1, d->ndim, d->shape);
    return true;
}

const dome_ckpt_object *dome__ckpt_object(const dome_ckpt *ckpt, size_t index)
{
    return index < ckpt->objects->len ? &g_array_index(ckpt->objects, dome_ckpt_object, index) : NULL;
}

const dome_ckpt_object *dome__ckpt_find(const dome_ckpt *ckpt, const char *name)
{
    for (guint i = 0; i < ckpt->objects->len; i++)
        if (strcmp(dome__ckpt_object(ckpt, i)->name, name) == 0)
            return dome__ckpt_object(ckpt, i);
    return NULL;
}

dome_ckpt_entry *dome__ckpt_entry(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block)
{
    return block < object->blocks ? &ckpt->table[object->first_entry + block] : NULL;
}
