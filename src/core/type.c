#include "core/call_log.h"
#include "core/environment.h"
#include "core/type_private.h"
#include "system/sized.h"
#include "system/unconst.h"

#include <string.h>

const char *dome_type_name(dome_type type)
{
    DOME_NEEDS(type, "the type", NULL);
    return type->name;
}

dome_type_kind dome_type_kind_of(dome_type type)
{
    DOME_NEEDS(type, "the type", DOME_KIND_STRUCT);
    return type->kind;
}

size_t dome_type_size(dome_type type)
{
    DOME_NEEDS(type, "the type", 0);
    return type->size;
}

size_t dome_type_portable_size(dome_type type)
{
    DOME_NEEDS(type, "the type", 0);
    return type->portable;
}

size_t dome_type_fields(dome_type type)
{
    DOME_NEEDS(type, "the type", 0);
    return type->nfields;
}

dome_status dome_type_field(dome_type type, size_t number, dome_field *field, size_t field_size)
{
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(field, "the place for the field", DOME_ERR_ARGUMENT);
    if (number >= type->nfields)
        return dome__fail(dome__this_env(), DOME_ERR_ARGUMENT,
                          "dome_type_field: type '%s' has %zu fields, and none with number %zu", type->name, type->nfields,
                          number);
    memset(field, 0, field_size);
    memcpy(field, &type->fields[number], MIN(field_size, sizeof *field));
    return DOME_OK;
}

bool dome_type_equal(dome_type a, dome_type b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind)
        return false;
    if (a->kind != DOME_KIND_STRUCT)
        return true;
    if (strcmp(a->name, b->name) != 0 || a->size != b->size || a->nfields != b->nfields)
        return false;
    for (size_t i = 0; i < a->nfields; i++) {
        const dome_field *f = &a->fields[i], *g = &b->fields[i];
        if (strcmp(f->name, g->name) != 0 || f->offset != g->offset || f->count != g->count || !dome_type_equal(f->type, g->type))
            return false;
    }
    return true;
}

size_t dome_type_bytes(dome_type type, dome_format format)
{
    DOME_NEEDS(type, "the type", 0);
    return format == DOME_NATIVE ? type->size : type->portable;
}

uint64_t dome__type_hash(dome_type type)
{
    uint64_t hash = dome__hash(dome__hash_bytes(0, type->name, strlen(type->name)), type->kind);
    hash = dome__hash(hash, type->portable);
    for (size_t i = 0; i < type->nfields; i++) {
        const dome_field *f = &type->fields[i];
        hash = dome__hash_bytes(hash, f->name, strlen(f->name));
        hash = dome__hash(dome__hash(hash, f->count), dome__type_hash(f->type));
    }
    return hash;
}

uint64_t dome__type_word(dome_env *env, dome_type type)
{
    if (!type)
        return 0;
    uint64_t word = dome__type_hash(type);
    if (env->call_log)
        dome__names_recall(env->call_log->names, word, type->name);
    return word;
}

uint64_t dome__value_word(dome_type type, const void *value)
{
    if (!value)
        return 0;
    void *portable = g_malloc(type->portable);
    dome_type_pack(type, DOME_PORTABLE, portable, value, 1);
    uint64_t word = dome__hash_bytes(0, portable, type->portable);
    g_free(portable);
    return word;
}

/* ---- struct types ---- */

static void type_free(void *type)
{
    struct dome_type_desc *desc = type;
    for (size_t i = 0; i < desc->nfields; i++)
        g_free(dome__unconst(desc->fields[i].name));
    g_free(desc->fields);
    g_free(desc->ops);
    g_free(dome__unconst(desc->name));
    g_free(desc);
}

/* By name. */
struct dome_types {
    GHashTable *table; /* char * -> struct dome_type_desc * */
};

dome_types *dome__types_new(void)
{
    dome_types *types = g_new(dome_types, 1);
    types->table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, type_free);
    return types;
}

void dome__types_free(dome_types *types)
{
    g_hash_table_destroy(types->table);
    g_free(types);
}

dome_type dome__types_find(const dome_env *env, bool (*fits)(const void *ctx, dome_type type), const void *ctx)
{
    GHashTableIter i;
    void *type;
    dome_type first = NULL;
    g_hash_table_iter_init(&i, env->types->table);
    while (g_hash_table_iter_next(&i, NULL, &type))
        if (fits(ctx, type) && (!first || strcmp(dome_type_name(type), dome_type_name(first)) < 0))
            first = type;
    return first;
}

static int by_offset(const void *a, const void *b)
{
    const dome_field *f = *(const dome_field *const *)a, *g = *(const dome_field *const *)b;
    return f->offset < g->offset ? -1 : f->offset > g->offset;
}

static int check_fields(dome_env *env, const char *name, size_t size, const dome_field *fields, size_t nfields)
{
    if (!name || !*name)
        return dome__fail(env, DOME_ERR_ARGUMENT, "a struct type needs a name");
    if (strlen(name) > DOME_NAME_MAX)
        return dome__fail(env, DOME_ERR_NAME, "the name of a struct type has %zu bytes, more than %d", strlen(name),
                          DOME_NAME_MAX);
    if (!fields || nfields == 0)
        return dome__fail(env, DOME_ERR_ARGUMENT, "struct type '%s' has no fields", name);
    for (size_t i = 0; i < nfields; i++) {
        const dome_field *f = &fields[i];
        if (!f->name || !*f->name)
            return dome__fail(env, DOME_ERR_ARGUMENT, "field %zu of struct type '%s' has no name", i, name);
        if (strlen(f->name) > DOME_NAME_MAX)
            return dome__fail(env, DOME_ERR_NAME, "the name of field %zu of struct type '%s' has %zu bytes, more than %d", i,
                              name, strlen(f->name), DOME_NAME_MAX);
        if (!f->type)
            return dome__fail(env, DOME_ERR_ARGUMENT, "field '%s' of struct type '%s' has no type", f->name, name);
        if (f->count == 0)
            return dome__fail(env, DOME_ERR_ARGUMENT, "field '%s' of struct type '%s' has count 0", f->name, name);
        if (f->offset > size || f->count > (size - f->offset) / f->type->size)
            return dome__fail(env, DOME_ERR_ARGUMENT, "field '%s' lies outside struct type '%s' of %zu bytes", f->name, name,
                              size);
    }

    int status = DOME_OK;
    const dome_field **sorted = g_new(const dome_field *, nfields);
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < nfields; i++) {
        sorted[i] = &fields[i];
        if (!g_hash_table_add(names, dome__unconst(fields[i].name)) && status == DOME_OK)
            status = dome__fail(env, DOME_ERR_ARGUMENT, "struct type '%s' has two fields called '%s'", name, fields[i].name);
    }
    qsort(sorted, nfields, sizeof *sorted, by_offset);
    for (size_t i = 1; i < nfields && status == DOME_OK; i++)
        if (sorted[i - 1]->offset + sorted[i - 1]->count * sorted[i - 1]->type->size > sorted[i]->offset)
            status = dome__fail(env, DOME_ERR_ARGUMENT, "fields '%s' and '%s' of struct type '%s' overlap", sorted[i - 1]->name,
                                sorted[i]->name, name);
    g_hash_table_destroy(names);
    g_free(sorted);
    return status;
}

static struct dome_type_desc *describe_struct(const char *name, size_t size, const dome_field *fields, size_t nfields)
{
    struct dome_type_desc *type = g_new0(struct dome_type_desc, 1);
    size_t covered = 0;

    type->name = g_strdup(name);
    type->kind = DOME_KIND_STRUCT;
    type->size = size;
    type->dense = true;
    type->nfields = nfields;
    type->fields = g_new(dome_field, nfields);
    for (size_t i = 0; i < nfields; i++) {
        type->fields[i] = fields[i];
        type->fields[i].name = g_strdup(fields[i].name);
        type->portable += fields[i].count * fields[i].type->portable;
        covered += fields[i].count * fields[i].type->size;
        type->dense = type->dense && fields[i].type->dense;
    }
    type->dense = type->dense && covered == size;
    return type;
}

static dome_type type_struct(dome_env *env, const char *name, size_t size, const dome_field *fields, size_t nfields)
{
    dome_operation op;
    uint64_t hash = 0;
    for (size_t i = 0; fields && i < nfields; i++) {
        const dome_field *f = &fields[i];
        hash = dome__hash_bytes(hash, f->name ? f->name : "", f->name ? strlen(f->name) : 0);
        hash = dome__hash(dome__hash(hash, f->count), f->type ? dome__type_hash(f->type) : 0);
    }
    dome__begin_with(&op, env, DOME_OP_TYPE_STRUCT, NULL, (uint64_t[]){dome__text_word(env, name), hash}, 2);

    int status = check_fields(env, name, size, fields, nfields);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(dome__basic_types); i++)
        if (strcmp(name, dome__basic_types[i].name) == 0)
            return dome__end(&op, dome__fail(env, DOME_ERR_NAME, "'%s' is the name of a basic type", name)), NULL;

    struct dome_type_desc *type = describe_struct(name, size, fields, nfields);
    struct dome_type_desc *known = g_hash_table_lookup(env->types->table, name);
    if (known) {
        bool same = dome_type_equal(known, type);
        type_free(type);
        type = known;
        if (!same) {
            type = NULL;
            status = dome__fail(env, DOME_ERR_NAME, "struct type '%s' has been described differently before", name);
        }
    } else {
        g_hash_table_insert(env->types->table, dome__unconst(type->name), type);
    }
    dome__end(&op, status);
    return type;
}

dome_type dome_type_struct(dome_env *env, const char *name, size_t size, const dome_field *fields, size_t nfields,
                           size_t field_size)
{
    DOME_NEEDS(env, "the environment", NULL);
    bool good = true;
    dome_field *known = fields && nfields <= SIZE_MAX / sizeof *known ? g_try_new(dome_field, nfields) : NULL;
    for (size_t i = 0; known && i < nfields && good; i++)
        good = dome__sized_copy(&known[i], sizeof *known, (const char *)fields + i * field_size, field_size, sizeof *known);
    dome_type type = NULL;
    if (good)
        type = type_struct(env, name, size, known, known ? nfields : 0);
    else
        dome__fail(env, DOME_ERR_ARGUMENT, "dome_type_struct: fields of %zu bytes: give sizeof(dome_field)", field_size);
    g_free(known);
    return type;
}

/* ---- arithmetic ---- */

/* Which functions there are: on other tasks they may have other addresses. */
static uint64_t ops_word(const dome_type_ops *ops)
{
    uint64_t word = 0;
    const char *at = (const char *)ops;
    for (size_t k = offsetof(dome_type_ops, add); k < sizeof *ops; k += sizeof ops->add) {
        void (*f)(void);
        memcpy(&f, at + k, sizeof f);
        word = word << 1 | (f != NULL);
    }
    return word;
}

dome_status dome_type_set_ops(dome_env *env, dome_type type, const dome_type_ops *ops)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(ops, "the table of functions", DOME_ERR_ARGUMENT);
    dome_type_ops known;
    if (!dome__sized_copy(&known, sizeof known, ops, ops->size, sizeof known))
        return dome__fail(env, DOME_ERR_ARGUMENT, "dome_type_set_ops: a table of %zu bytes: set size to sizeof(dome_type_ops)",
                          ops->size);
    known.size = sizeof known;
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_TYPE_SET_OPS, NULL, (uint64_t[]){dome__type_word(env, type), ops_word(&known)}, 2);
    struct dome_type_desc *own = g_hash_table_lookup(env->types->table, type->name);
    dome_status status = DOME_OK;
    if (own != type)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "%s is not a struct type of this environment", type->name);
    else if (known.sum && !known.add)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "struct type '%s' has the function 'sum' and not 'add'", type->name);
    else if (own->ops && memcmp(own->ops, &known, sizeof known) != 0)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "struct type '%s' has been given other functions before", type->name);
    else if (!own->ops)
        own->ops = g_memdup2(&known, sizeof known);
    return dome__end(&op, status);
}

/* ---- conversion ---- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Plain loops, which compilers vectorize; inlined, so that each caller below gets its own instruction set. */
static inline __attribute__((always_inline)) void swap(size_t atom, char *restrict to, const char *restrict from, size_t count)
{
    switch (atom) {
    case 2:
        for (size_t i = 0; i < count; i++) {
            uint16_t v;
            memcpy(&v, from + 2 * i, 2);
            v = (uint16_t)(v << 8 | v >> 8);
            memcpy(to + 2 * i, &v, 2);
        }
        return;
    case 4:
        for (size_t i = 0; i < count; i++) {
            uint32_t v;
            memcpy(&v, from + 4 * i, 4);
            v = __builtin_bswap32(v);
            memcpy(to + 4 * i, &v, 4);
        }
        return;
    case 8:
        for (size_t i = 0; i < count; i++) {
            uint64_t v;
            memcpy(&v, from + 8 * i, 8);
            v = __builtin_bswap64(v);
            memcpy(to + 8 * i, &v, 8);
        }
        return;
    default:
        memcpy(to, from, atom * count);
    }
}

#ifdef __x86_64__
/* AVX2 reverses the bytes of elements in 32 bytes with one instruction. */
static __attribute__((target("avx2"))) void swap_avx2(size_t atom, char *to, const char *from, size_t count)
{
    swap(atom, to, from, count);
}
#endif
#endif

/* Copies count items of `atom` bytes, converting between this machine's byte order and big-endian. */
static void copy_atoms(size_t atom, char *restrict to, const char *restrict from, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        swap_avx2(atom, to, from, count);
        return;
    }
#endif
    swap(atom, to, from, count);
#else
    memcpy(to, from, atom * count);
#endif
}

enum direction { TO_PACKED, FROM_PACKED };

/* One side is memory, the other the packed form: direction tells which. */
typedef struct conversion {
    dome_format format;
    enum direction direction;
    size_t to_stride, from_stride; /* how far apart runs lie */
    size_t count;                  /* of runs */
} conversion;

/* Converts runs of `each` elements. */
static void convert(const conversion *c, dome_type type, char *to, const char *from, size_t each)
{
    const dome_format format = c->format;
    bool packs = c->direction == TO_PACKED;
    if (type->kind == DOME_KIND_STRUCT && !(format == DOME_NATIVE && type->dense)) {
        size_t bytes = dome_type_bytes(type, format);
        for (size_t i = 0; i < each; i++) {
            size_t at = 0;
            for (size_t k = 0; k < type->nfields; k++) {
                const dome_field *f = &type->fields[k];
                size_t packed = format == DOME_NATIVE ? f->offset : at;
                convert(c, f->type, to + (packs ? packed : f->offset), from + (packs ? f->offset : packed), f->count);
                at += f->count * f->type->portable;
            }
            to += packs ? bytes : type->size;
            from += packs ? type->size : bytes;
        }
        return;
    }

    size_t atom = format == DOME_NATIVE ? 1 : type->atom;
    size_t atoms = each * (type->size / atom);
    for (size_t i = 0; i < c->count; i++)
        copy_atoms(atom, to + i * c->to_stride, from + i * c->from_stride, atoms);
}

/* Converts structs field by field, in groups of elements that fit into the cache. */
static void convert_all(dome_type type, dome_format format, enum direction direction, char *to, const char *from, size_t count)
{
    size_t bytes = dome_type_bytes(type, format), chunk = MAX(1, 16384 / type->size);
    conversion c = {.format = format,
                    .direction = direction,
                    .to_stride = direction == TO_PACKED ? bytes : type->size,
                    .from_stride = direction == TO_PACKED ? type->size : bytes};
    for (size_t done = 0; done < count; done += chunk) {
        c.count = MIN(chunk, count - done);
        convert(&c, type, to + done * c.to_stride, from + done * c.from_stride, 1);
    }
}

void dome_type_pack(dome_type type, dome_format format, void *packed, const void *elements, size_t count)
{
    DOME_NEEDS(type, "the type", );
    if (count == 0)
        return;
    DOME_NEEDS(packed, "the packed form", );
    DOME_NEEDS(elements, "the array of elements", );
    if (format == DOME_NATIVE && type->dense) {
        memcpy(packed, elements, count * type->size);
    } else if (type->kind != DOME_KIND_STRUCT) {
        copy_atoms(type->atom, packed, elements, count * (type->size / type->atom));
    } else {
        if (format == DOME_NATIVE) /* clears padding: equal values have equal bytes */
            memset(packed, 0, count * type->size);
        convert_all(type, format, TO_PACKED, packed, elements, count);
    }
}

void dome_type_unpack(dome_type type, dome_format format, void *elements, const void *packed, size_t count)
{
    DOME_NEEDS(type, "the type", );
    if (count == 0)
        return;
    DOME_NEEDS(packed, "the packed form", );
    DOME_NEEDS(elements, "the array of elements", );
    if (format == DOME_NATIVE && type->dense)
        memcpy(elements, packed, count * type->size);
    else if (type->kind != DOME_KIND_STRUCT)
        copy_atoms(type->atom, elements, packed, count * (type->size / type->atom));
    else
        convert_all(type, format, FROM_PACKED, elements, packed, count);
}
