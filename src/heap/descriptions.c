#include "heap/descriptions.h"

#include <inttypes.h>

/* A name begins like the one before it, with so many bytes at most; so a short list cannot become a huge one. */
enum { TEXT_MOST = 65535, SHARED_MOST = 255, DEPTH_MOST = 64 };

/* ---- writing ---- */

struct dome_capture_descriptions {
    GByteArray *names, *types;
    GHashTable *name_numbers, *type_numbers; /* name, and name, kind and shape of a type -> its number, plus 1 */
    const char *last;                        /* name */
};

dome_capture_descriptions *dome__capture_descriptions_new(void)
{
    dome_capture_descriptions *d = g_new0(dome_capture_descriptions, 1);
    d->names = g_byte_array_new();
    d->types = g_byte_array_new();
    d->name_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    d->type_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    d->last = "";
    return d;
}

void dome__capture_descriptions_free(dome_capture_descriptions *d)
{
    g_byte_array_unref(d->names);
    g_byte_array_unref(d->types);
    g_hash_table_unref(d->name_numbers);
    g_hash_table_unref(d->type_numbers);
    g_free(d);
}

/* The number of a key, plus 1; 0: it has none yet. */
static uint64_t number_of(GHashTable *numbers, const char *key)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
}

static uint64_t add_number(GHashTable *numbers, char *key)
{
    const guint number = g_hash_table_size(numbers);
    g_hash_table_insert(numbers, key, GUINT_TO_POINTER(number + 1));
    return number;
}

uint64_t dome__capture_describe_name(dome_capture_descriptions *d, const char *name)
{
    const uint64_t known = number_of(d->name_numbers, name);
    size_t shared = 0, length = strlen(name);
    if (known > 0)
        return known - 1;
    length = MIN(length, TEXT_MOST);
    while (shared < SHARED_MOST && shared < length && name[shared] == d->last[shared])
        shared++;
    dome__append_leb128(d->names, shared);
    dome__append_leb128(d->names, length - shared);
    dome__append_bytes(d->names, name + shared, length - shared);
    char *key = g_strdup(name);
    d->last = key;
    return add_number(d->name_numbers, key);
}

uint64_t dome__capture_describe_type(dome_capture_descriptions *d, const dome_capture_type *type)
{
    char *key = g_strdup_printf("%s %016" PRIx64 " %d", type->name, dome__capture_shape(type), (int)type->kind);
    uint64_t number = number_of(d->type_numbers, key), *parts = NULL;
    if (number > 0) {
        g_free(key);
        return number - 1;
    }
    if (type->kind == DOME_CAPTURE_KIND_ARRAY)
        number = dome__capture_describe_type(d, type->element);
    if (type->members) {
        parts = g_new(uint64_t, type->count);
        for (size_t k = 0; k < type->count; k++)
            parts[k] = dome__capture_describe_type(d, type->members[k].type);
    }
    if (type->kind == DOME_CAPTURE_KIND_POINTER && type->element) /* "int *" begins like "int" */
        number = 1 + dome__capture_describe_name(d, type->element->name);
    dome__append_leb128(d->types, dome__capture_describe_name(d, type->name));
    dome__append_leb128(d->types, type->kind);
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        dome__append_leb128(d->types, type->scalar);
        break;
    case DOME_CAPTURE_KIND_POINTER:
        dome__append_leb128(d->types, number);
        break;
    case DOME_CAPTURE_KIND_ARRAY:
        dome__append_leb128(d->types, type->count);
        dome__append_leb128(d->types, number);
        break;
    default:
        dome__append_leb128(d->types, type->count);
        for (size_t k = 0; k < type->count; k++) {
            dome__append_leb128(d->types, dome__capture_describe_name(d, type->members[k].name));
            dome__append_leb128(d->types, parts[k]);
        }
    }
    g_free(parts);
    return add_number(d->type_numbers, key);
}

void dome__capture_descriptions_append(const dome_capture_descriptions *d, GByteArray *to)
{
    dome__append_leb128(to, g_hash_table_size(d->name_numbers));
    dome__append_bytes(to, d->names->data, d->names->len);
    dome__append_leb128(to, g_hash_table_size(d->type_numbers));
    dome__append_bytes(to, d->types->data, d->types->len);
}

/* ---- reading ---- */

static void free_type(void *one)
{
    dome_capture_shown_type *t = one;
    g_free(t->members);
    g_free(t);
}

void dome__capture_described_clear(dome_capture_described *d)
{
    g_clear_pointer(&d->names, g_ptr_array_unref);
    g_clear_pointer(&d->types, g_ptr_array_unref);
}

const char *dome__capture_described_name(const dome_capture_described *d, dome_bytes *from)
{
    const uint64_t number = dome__read_leb128(from);
    from->bad |= number >= d->names->len;
    return from->bad ? "" : d->names->pdata[number];
}

static const dome_capture_shown_type *type_of(const dome_capture_described *d, uint64_t number, dome_bytes *from)
{
    from->bad |= number >= d->types->len;
    return from->bad ? NULL : d->types->pdata[number];
}

const dome_capture_shown_type *dome__capture_described_type(const dome_capture_described *d, dome_bytes *from)
{
    return type_of(d, dome__read_leb128(from), from);
}

const dome_capture_shown_type *dome__capture_described_type_or_none(const dome_capture_described *d, dome_bytes *from)
{
    const uint64_t number = dome__read_leb128(from);
    return number > 0 ? type_of(d, number - 1, from) : NULL;
}

static void read_names(dome_capture_described *d, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    const char *last = "";
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        const uint64_t shared = dome__read_leb128(from), length = dome__read_leb128(from);
        const char *rest = dome__read_bytes(from, length);
        from->bad |= shared > SHARED_MOST || shared > strlen(last) || length > TEXT_MOST;
        if (from->bad)
            return;
        char *name = g_malloc((gsize)(shared + length) + 1);
        memcpy(name, last, (size_t)shared);
        memcpy(name + shared, rest, (size_t)length);
        name[shared + length] = '\0';
        g_ptr_array_add(d->names, name);
        last = name;
    }
}

/* Adds a part of a value. False: the description is damaged. */
static bool add_part(dome_capture_shown_type *t, const char *name, const dome_capture_shown_type *part, uint64_t count)
{
    uint64_t bytes;
    t->shape = dome__capture_shape_add(t->shape, name, part->shape);
    t->pointers |= part->pointers;
    t->depth = MAX(t->depth, part->depth + 1);
    if (__builtin_mul_overflow(part->bytes, count, &bytes) || t->depth > DEPTH_MOST)
        return false;
    if (t->kind != DOME_CAPTURE_KIND_UNION)
        return !__builtin_add_overflow(t->bytes, bytes, &t->bytes);
    t->bytes = MAX(t->bytes, bytes + DOME_CAPTURE_UNION_HEAD);
    return t->bytes >= bytes;
}

static bool read_members(const dome_capture_described *d, dome_capture_shown_type *t, dome_bytes *from)
{
    enum { LEAST = 2 }; /* bytes of a member's description */
    t->count = dome__read_leb128(from);
    t->shape = dome__capture_shape_begin(t->kind, t->name, t->count);
    if (t->count == 0 || t->count > (uint64_t)(from->end - from->at) / LEAST) {
        t->count = 0;
        return false;
    }
    t->members = g_new0(dome_capture_shown_member, t->count);
    for (uint64_t k = 0; k < t->count; k++) {
        dome_capture_shown_member *m = &t->members[k];
        m->name = dome__capture_described_name(d, from);
        m->type = dome__capture_described_type(d, from);
        m->at = t->kind == DOME_CAPTURE_KIND_UNION ? DOME_CAPTURE_UNION_HEAD : t->bytes;
        if (from->bad || m->type->tail)
            return false;
        const bool flexible = m->type->kind == DOME_CAPTURE_KIND_ARRAY && m->type->count == 0;
        if (flexible && (t->kind == DOME_CAPTURE_KIND_UNION || k + 1 < t->count))
            return false;
        if (flexible)
            t->tail = m->type->element;
        if (!add_part(t, m->name, m->type, 1))
            return false;
    }
    return t->bytes > 0 || t->tail;
}

static const char *pointed_to(const dome_capture_described *d, dome_bytes *from)
{
    const uint64_t number = dome__read_leb128(from);
    from->bad |= number > d->names->len;
    return from->bad || number == 0 ? NULL : d->names->pdata[number - 1];
}

/* A number that an enumeration may not have; a large one becomes another that it does not have. */
static unsigned read_small(dome_bytes *from)
{
    const uint64_t number = dome__read_leb128(from);
    return (unsigned)MIN(number, UINT8_MAX);
}

static bool read_type(const dome_capture_described *d, dome_capture_shown_type *t, dome_bytes *from)
{
    t->name = dome__capture_described_name(d, from);
    t->kind = (dome_capture_kind)read_small(from);
    switch (t->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        t->scalar = (dome_type_kind)read_small(from);
        if (t->scalar >= DOME_KIND_STRUCT)
            return false;
        t->bytes = dome_type_portable_size(dome_type_basic(t->scalar));
        t->shape = dome__capture_shape_begin(t->kind, NULL, t->scalar);
        return true;
    case DOME_CAPTURE_KIND_POINTER:
        t->bytes = DOME_CAPTURE_POINTER_BYTES;
        t->pointers = true;
        t->shape = dome__capture_shape_begin(t->kind, pointed_to(d, from), 0);
        return true;
    case DOME_CAPTURE_KIND_ARRAY:
        t->count = dome__read_leb128(from);
        t->element = dome__capture_described_type(d, from);
        t->shape = dome__capture_shape_begin(t->kind, NULL, t->count);
        return t->element && t->element->bytes > 0 && !t->element->tail && add_part(t, NULL, t->element, t->count);
    case DOME_CAPTURE_KIND_STRUCT:
    case DOME_CAPTURE_KIND_UNION:
        return read_members(d, t, from);
    default:
        return false;
    }
}

void dome__capture_described_read(dome_capture_described *d, dome_bytes *from)
{
    *d = (dome_capture_described){.names = g_ptr_array_new_with_free_func(g_free),
                                  .types = g_ptr_array_new_with_free_func(free_type)};
    const uint8_t *const begin = from->at;
    read_names(d, from);
    const uint8_t *const types = from->at;
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        dome_capture_shown_type *t = g_new0(dome_capture_shown_type, 1);
        const bool good = read_type(d, t, from) && !from->bad;
        from->bad |= !good;
        if (good) /* parts come before the type that has them: it does not find itself */
            g_ptr_array_add(d->types, t);
        else
            free_type(t);
    }
    d->name_bytes = (uint64_t)(types - begin);
    d->type_bytes = (uint64_t)(from->at - types);
}
