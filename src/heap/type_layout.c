#include "heap/type_layout.h"

#include "core/operation.h"
#include "heap/die.h"
#include "heap/heap.h"
#include "system/bytes.h"

#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>

static guint key_hash(gconstpointer key)
{
    const dome_capture_layout *l = key;
    return (guint)(l->hash ^ l->hash >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const dome_capture_layout *l = a, *m = b;
    return l->hash == m->hash && strcmp(l->name, m->name) == 0;
}

/* ---- describing ---- */

static uint64_t portable_size(dome_type_kind scalar)
{
    dome_type type = dome_type_basic(scalar);
    return type ? dome_type_portable_size(type) : 0;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return dome__hash_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

uint64_t dome__capture_shape_begin(dome_capture_kind kind, const char *name, uint64_t number)
{
    return hash_text(dome__hash(dome__hash(0, kind), number), name);
}

uint64_t dome__capture_shape_add(uint64_t shape, const char *name, uint64_t part)
{
    return dome__hash(hash_text(shape, name), part);
}

uint64_t dome__capture_shape(const dome_capture_type *type)
{
    uint64_t shape = 0;
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        return dome__capture_shape_begin(type->kind, NULL, type->scalar);
    case DOME_CAPTURE_KIND_POINTER: /* the target's name alone: types may refer to themselves */
        return dome__capture_shape_begin(type->kind, type->element ? type->element->name : NULL, 0);
    case DOME_CAPTURE_KIND_ARRAY:
        shape = dome__capture_shape_begin(type->kind, NULL, type->count);
        return dome__capture_shape_add(shape, NULL, dome__capture_shape(type->element));
    case DOME_CAPTURE_KIND_STRUCT:
    case DOME_CAPTURE_KIND_UNION:
        shape = dome__capture_shape_begin(type->kind, type->name, type->count);
        for (size_t k = 0; k < type->count; k++)
            shape = dome__capture_shape_add(shape, type->members[k].name, dome__capture_shape(type->members[k].type));
        return shape;
    }
    return shape;
}

static void add_step(GArray *steps, const dome_capture_step *step)
{
    dome_capture_step *last = steps->len > 0 ? &g_array_index(steps, dome_capture_step, steps->len - 1) : NULL;
    bool joins = last && last->kind == step->kind && last->scalar == step->scalar && last->size == step->size &&
                 last->flags == step->flags && (step->kind == DOME_CAPTURE_STEP_ITEMS || step->kind == DOME_CAPTURE_STEP_WIDER) &&
                 last->offset + last->size * last->count == step->offset;
    if (joins)
        last->count += step->count;
    else
        g_array_append_val(steps, *step);
}

static void wrong(const dome_capture_type *type, const char *what) __attribute__((noreturn));

static void wrong(const dome_capture_type *type, const char *what)
{
    dome__capture_die("type '%s' is described wrongly: %s", type->name ? type->name : "(no name)", what);
}

static void check_scalar(const dome_capture_type *type)
{
    uint64_t item = portable_size(type->scalar);
    bool integer = type->scalar <= DOME_KIND_U64;
    if (item == 0 || type->size == 0 || type->size > item || (!integer && type->size != item) || (type->size & (type->size - 1)))
        wrong(type, "its size does not fit its form in the image");
}

static uint64_t add_type(GArray *steps, dome_capture_layout *layout, dome_capture_type *type, size_t offset, uint64_t portable,
                         uint64_t count);

static uint64_t add_union(GArray *steps, dome_capture_layout *layout, dome_capture_type *type, size_t offset, uint64_t portable,
                          uint64_t count)
{
    uint64_t item = 0;
    if (!type->which || type->count == 0)
        wrong(type, "a union needs members, and a function that tells which of them is in use");
    const dome_capture_layout **members = g_new(const dome_capture_layout *, type->count);
    dome_capture_type **wrappers = g_new(dome_capture_type *, type->count);
    for (size_t k = 0; k < type->count; k++) {
        /* Each member as a struct of its own, so that an array is an array there. */
        dome_capture_member *member = g_new(dome_capture_member, 1);
        wrappers[k] = g_new0(dome_capture_type, 1);
        *member = (dome_capture_member){type->members[k].name, type->members[k].type, 0};
        *wrappers[k] = (dome_capture_type){
            .name = type->name, .kind = DOME_CAPTURE_KIND_STRUCT, .size = type->size, .count = 1, .members = member};
        uint64_t one;
        members[k] = dome__capture_layout(wrappers[k], &one);
        if (members[k]->type != wrappers[k]) { /* this union is known from another struct */
            g_free(wrappers[k]);
            g_free(member);
        }
        layout->pointers |= members[k]->pointers;
        layout->words |= members[k]->words;
        item = MAX(item, DOME_CAPTURE_UNION_HEAD + members[k]->portable);
    }
    g_free(wrappers); /* the layouts refer to what they held */
    layout->unions = true;
    dome_capture_step step = {.kind = DOME_CAPTURE_STEP_UNION,
                              .offset = offset,
                              .size = type->size,
                              .portable = portable,
                              .item = item,
                              .count = count,
                              .type = type,
                              .members = members,
                              .flags = layout->flags};
    g_array_append_val(steps, step);
    return item * count;
}

static bool has_pointers(const dome_capture_type *type)
{
    if (!type || type->kind == DOME_CAPTURE_KIND_SCALAR || type->kind == DOME_CAPTURE_KIND_POINTER)
        return type && type->kind == DOME_CAPTURE_KIND_POINTER;
    if (type->kind == DOME_CAPTURE_KIND_ARRAY)
        return has_pointers(type->element);
    bool found = false;
    for (size_t k = 0; k < type->count && !found; k++)
        found = has_pointers(type->members[k].type);
    return found;
}

/* Whether an address could lie in numbers of this form, or in such bytes if there are several. */
static bool is_wide(const dome_capture_step *s)
{
    return s->size == 8 || s->size == 1 || s->kind == DOME_CAPTURE_STEP_WIDER || s->scalar == DOME_KIND_C128;
}

static uint64_t add_scalars(GArray *steps, dome_capture_layout *layout, const dome_capture_type *type, dome_capture_step step)
{
    check_scalar(type);
    step.scalar = type->scalar;
    step.item = portable_size(type->scalar);
    step.kind = step.size == step.item ? DOME_CAPTURE_STEP_ITEMS : DOME_CAPTURE_STEP_WIDER;
    layout->words |= is_wide(&step) && !(step.flags & DOME_CAPTURE_NUMBERS);
    add_step(steps, &step);
    return step.item * step.count;
}

/* Its members, as if they were those of the struct around it. */
static uint64_t add_inner(GArray *steps, dome_capture_layout *layout, const dome_capture_type *type, size_t offset,
                          uint64_t portable)
{
    const unsigned flags = layout->flags;
    uint64_t bytes = 0;
    for (size_t k = 0; k < type->count; k++) {
        layout->flags = flags | (type->member_flags ? type->member_flags[k] : 0);
        bytes += add_type(steps, layout, type->members[k].type, offset + type->members[k].offset, portable + bytes, 1);
    }
    layout->flags = flags;
    return bytes;
}

/* Adds `count` values of a type; returns their bytes in the image. */
static uint64_t add_type(GArray *steps, dome_capture_layout *layout, dome_capture_type *type, size_t offset, uint64_t portable,
                         uint64_t count)
{
    dome_capture_step step = {.offset = offset, .size = type->size, .portable = portable, .count = count, .flags = layout->flags};
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        return add_scalars(steps, layout, type, step);
    case DOME_CAPTURE_KIND_POINTER:
        if (type->size != sizeof(void *))
            wrong(type, "its size is not that of a pointer");
        step.kind = DOME_CAPTURE_STEP_POINTERS;
        step.item = DOME_CAPTURE_POINTER_BYTES;
        step.type = type->element;
        step.deep = has_pointers(type->element);
        layout->pointers = true;
        g_array_append_val(steps, step);
        return step.item * count;
    case DOME_CAPTURE_KIND_ARRAY:
        if (!type->element || type->count == 0 || type->size != type->element->size * type->count)
            wrong(type, "its size is not that of its elements");
        return add_type(steps, layout, type->element, offset, portable, count * type->count);
    case DOME_CAPTURE_KIND_UNION:
        return add_union(steps, layout, type, offset, portable, count);
    case DOME_CAPTURE_KIND_STRUCT:
        break;
    default:
        wrong(type, "it is of no known kind");
    }
    uint64_t one;
    if (count == 1 && layout->type != type)
        return add_inner(steps, layout, type, offset, portable);
    step.kind = DOME_CAPTURE_STEP_REPEAT;
    step.inner = dome__capture_layout(type, &one);
    step.item = step.inner->portable;
    layout->pointers |= step.inner->pointers;
    layout->unions |= step.inner->unions;
    layout->words |= step.inner->words;
    g_array_append_val(steps, step);
    return step.item * count;
}

static void add_members(GArray *steps, dome_capture_layout *layout, const dome_capture_type *type)
{
    if (!type->members || type->count == 0)
        wrong(type, "a struct without members");
    for (size_t k = 0; k < type->count; k++) {
        dome_capture_type *member = type->members[k].type;
        if (!member)
            wrong(type, "a member without a type");
        if (type->members[k].offset > type->size || member->size > type->size - type->members[k].offset)
            wrong(type, "a member lies outside of it");
        layout->flags = type->member_flags ? type->member_flags[k] : 0;
        if (member->kind == DOME_CAPTURE_KIND_ARRAY && member->count == 0 && k + 1 == type->count && member->element) {
            uint64_t one;
            layout->tail = dome__capture_layout(member->element, &one);
            if (one != 1 || layout->tail->tail)
                wrong(type, "the elements of its flexible member are arrays or flexible themselves");
            layout->tail_offset = type->members[k].offset;
            layout->pointers |= layout->tail->pointers;
            layout->unions |= layout->tail->unions;
            layout->words |= layout->tail->words;
            continue;
        }
        layout->portable += add_type(steps, layout, member, type->members[k].offset, layout->portable, 1);
    }
}

/* The steps that lead to pointers: what the type's own functions leave to be done. */
static void add_links(dome_capture_layout *layout)
{
    GArray *links = g_array_new(FALSE, TRUE, sizeof(dome_capture_step));
    for (size_t k = 0; k < layout->nsteps; k++) {
        const dome_capture_step *s = &layout->steps[k];
        if (s->kind == DOME_CAPTURE_STEP_POINTERS || (s->kind == DOME_CAPTURE_STEP_REPEAT && s->inner->pointers))
            g_array_append_val(links, *s);
    }
    layout->nlinks = links->len;
    layout->links = (dome_capture_step *)(void *)g_array_free(links, FALSE);
}

static dome_capture_layout *work_out(dome_capture_type *type)
{
    dome_capture_layout *layout = g_new0(dome_capture_layout, 1);
    GArray *steps = g_array_new(FALSE, TRUE, sizeof(dome_capture_step));
    if (!type->name)
        wrong(type, "it has no name");
    layout->type = type;
    layout->name = type->name;
    layout->size = type->size;
    layout->hash = dome__capture_shape(type);
    if (type->kind == DOME_CAPTURE_KIND_STRUCT)
        add_members(steps, layout, type);
    else
        layout->portable = add_type(steps, layout, type, 0, 0, 1);
    if (layout->size == 0 || (layout->portable == 0 && !layout->tail))
        wrong(type, "it holds nothing");
    layout->nsteps = steps->len;
    layout->steps = (dome_capture_step *)(void *)g_array_free(steps, FALSE);
    add_links(layout);
    if (!type->pack != !type->unpack)
        wrong(type, "it has one of the functions pack and unpack without the other");
    if (type->kind == DOME_CAPTURE_KIND_STRUCT && !layout->unions) {
        layout->pack = type->pack;
        layout->unpack = type->unpack;
    }
    return layout;
}

const dome_capture_layout *dome__capture_layout(dome_capture_type *type, uint64_t *count)
{
    dome_capture_type_layouts *t = &dome__capture_heap.type_layout;
    *count = 1;
    while (type->kind == DOME_CAPTURE_KIND_ARRAY) {
        if (!type->element || type->count == 0 || type->size != type->element->size * type->count)
            wrong(type, "its size is not that of its elements");
        *count *= type->count;
        type = type->element;
    }
    if (type->known)
        return type->known;
    if (!t->layouts)
        t->layouts = g_hash_table_new(key_hash, key_equal);
    dome_capture_layout *layout = work_out(type), *before = g_hash_table_lookup(t->layouts, layout);
    if (before && before->size != layout->size)
        dome__capture_die("type '%s' is described with %zu and with %zu bytes", layout->name, before->size, layout->size);
    if (before) {
        g_free(layout->steps);
        g_free(layout->links);
        g_free(layout);
        layout = before;
    } else {
        g_hash_table_add(t->layouts, layout);
    }
    type->known = layout;
    return layout;
}

const dome_capture_layout *dome__capture_layout_find(const char *name, uint64_t hash)
{
    dome_capture_type_layouts *t = &dome__capture_heap.type_layout;
    const dome_capture_layout key = {.name = name, .hash = hash};
    return t->layouts ? g_hash_table_lookup(t->layouts, &key) : NULL;
}

void dome__capture_layouts_begin(void)
{
    dome_capture_type_layouts *t = &dome__capture_heap.type_layout;
    GHashTableIter i;
    void *layout;
    if (!t->layouts)
        t->layouts = g_hash_table_new(key_hash, key_equal);
    g_hash_table_iter_init(&i, t->layouts);
    while (g_hash_table_iter_next(&i, &layout, NULL))
        ((dome_capture_layout *)layout)->used = false;
}

/* ---- converting ---- */

/* Fewer items than this are converted here, without a call for each run. */
enum { FEW = 4 };

/* Reverses the bytes of items where the machine's order is not the image's: the same in both directions. */
static inline __attribute__((always_inline)) void copy_few(uint8_t *to, const uint8_t *from, uint64_t item, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++, to += item, from += item)
        switch (item) {
        case 8: {
            uint64_t v;
            memcpy(&v, from, 8);
            v = GUINT64_TO_BE(v);
            memcpy(to, &v, 8);
            break;
        }
        case 4: {
            uint32_t v;
            memcpy(&v, from, 4);
            v = GUINT32_TO_BE(v);
            memcpy(to, &v, 4);
            break;
        }
        case 2: {
            uint16_t v;
            memcpy(&v, from, 2);
            v = GUINT16_TO_BE(v);
            memcpy(to, &v, 2);
            break;
        }
        default:
            *to = *from;
        }
}

static inline void pack_items(const dome_capture_step *s, uint8_t *to, const char *from, uint64_t count)
{
    if (count <= FEW && s->scalar < DOME_KIND_C64)
        copy_few(to, (const uint8_t *)from, s->item, count);
    else
        dome_type_pack(dome_type_basic(s->scalar), DOME_PORTABLE, to, from, (size_t)count);
}

static inline void unpack_items(const dome_capture_step *s, char *to, const uint8_t *from, uint64_t count)
{
    if (count <= FEW && s->scalar < DOME_KIND_C64)
        copy_few((uint8_t *)to, from, s->item, count);
    else
        dome_type_unpack(dome_type_basic(s->scalar), DOME_PORTABLE, to, from, (size_t)count);
}

static bool is_signed(dome_type_kind scalar)
{
    return scalar <= DOME_KIND_I64;
}

/* The value of an integer of `size` bytes, extended to 64 bits. */
static uint64_t load(const void *from, size_t size, bool with_sign)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, from, 1);
        return with_sign ? (uint64_t)(int64_t)(int8_t)u8 : u8;
    case 2:
        memcpy(&u16, from, 2);
        return with_sign ? (uint64_t)(int64_t)(int16_t)u16 : u16;
    case 4:
        memcpy(&u32, from, 4);
        return with_sign ? (uint64_t)(int64_t)(int32_t)u32 : u32;
    default:
        memcpy(&u64, from, 8);
        return u64;
    }
}

static void store(void *to, size_t size, uint64_t value)
{
    const uint8_t u8 = (uint8_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;
    switch (size) {
    case 1:
        memcpy(to, &u8, 1);
        return;
    case 2:
        memcpy(to, &u16, 2);
        return;
    case 4:
        memcpy(to, &u32, 4);
        return;
    default:
        memcpy(to, &value, 8);
    }
}

static void put_wide(uint8_t *to, uint64_t item, uint64_t value)
{
    for (uint64_t b = item; b-- > 0; value >>= 8)
        to[b] = (uint8_t)value;
}

static uint64_t get_wide(const uint8_t *from, uint64_t item, bool with_sign)
{
    uint64_t value = with_sign && (from[0] & 0x80) ? UINT64_MAX : 0;
    for (uint64_t b = 0; b < item; b++)
        value = value << 8 | from[b];
    return value;
}

/* The number of the member of a union that is in use; NO_MEMBER: none, or one that it does not have: the program may not have
 * said yet. */
#define NO_MEMBER UINT32_MAX

static uint32_t number_in_use(const dome_capture_step *s, const void *address)
{
    int which = s->type->which(address);
    return which < 0 || (size_t)which >= s->type->count ? NO_MEMBER : (uint32_t)which;
}

const dome_capture_layout *dome__capture_in_use(const dome_capture_step *s, const void *address)
{
    uint32_t which = number_in_use(s, address);
    return which == NO_MEMBER ? NULL : s->members[which];
}

static void pack_one(const dome_capture_layout *layout, uint8_t *to, const char *from, dome_capture_coder *coder)
{
    for (const dome_capture_step *s = layout->steps, *end = s + layout->nsteps; s < end; s++) {
        uint8_t *t = to + s->portable;
        const char *f = from + s->offset;
        switch (s->kind) {
        case DOME_CAPTURE_STEP_ITEMS:
            pack_items(s, t, f, s->count);
            break;
        case DOME_CAPTURE_STEP_WIDER:
            for (uint64_t k = 0; k < s->count; k++)
                put_wide(t + k * s->item, s->item, load(f + k * s->size, s->size, is_signed(s->scalar)));
            break;
        case DOME_CAPTURE_STEP_POINTERS:
            for (uint64_t k = 0; k < s->count; k++)
                coder->encode(coder->ctx, (const void *const *)(const void *)(f + k * s->size), s->type, t + k * s->item);
            break;
        case DOME_CAPTURE_STEP_REPEAT:
            dome__capture_pack(s->inner, t, f, s->count, coder);
            break;
        case DOME_CAPTURE_STEP_UNION:
            memset(t, 0, s->item * s->count);
            for (uint64_t k = 0; k < s->count; k++) {
                const uint32_t which = number_in_use(s, f + k * s->size);
                dome__put_u32(t + k * s->item, which);
                if (which != NO_MEMBER)
                    pack_one(s->members[which], t + k * s->item + DOME_CAPTURE_UNION_HEAD, f + k * s->size, coder);
            }
        }
    }
}

/* Where the type's own function has packed the numbers. */
static void pack_links(const dome_capture_layout *layout, uint8_t *to, const char *from, dome_capture_coder *coder)
{
    for (const dome_capture_step *s = layout->links, *end = s + layout->nlinks; s < end; s++) {
        uint8_t *t = to + s->portable;
        const char *f = from + s->offset;
        for (uint64_t k = 0; k < s->count; k++)
            if (s->kind == DOME_CAPTURE_STEP_POINTERS)
                coder->encode(coder->ctx, (const void *const *)(const void *)(f + k * s->size), s->type, t + k * s->item);
            else
                pack_links(s->inner, t + k * s->item, f + k * s->size, coder);
    }
}

/* Whether elements one after the other are numbers one after the other, of the same size in both forms. */
static bool is_flat(const dome_capture_layout *layout)
{
    return layout->nsteps == 1 && layout->steps[0].kind == DOME_CAPTURE_STEP_ITEMS &&
           layout->steps[0].size * layout->steps[0].count == layout->size;
}

void dome__capture_pack(const dome_capture_layout *layout, uint8_t *to, const void *from, uint64_t count,
                        dome_capture_coder *coder)
{
    if (is_flat(layout)) {
        pack_items(&layout->steps[0], to, from, count * layout->steps[0].count);
        return;
    }
    if (layout->pack)
        layout->pack(to, from, (size_t)count);
    for (uint64_t k = 0; k < count && (!layout->pack || layout->nlinks > 0); k++)
        (layout->pack ? pack_links : pack_one)(layout, to + k * layout->portable, (const char *)from + k * layout->size, coder);
}

/* The kinds of passes of unpacking. UNIONS: compares the numbers of members with what the restored numbers say. */
enum { NUMBERS = 1, UNIONS = 2, POINTERS = 4 };

static bool failed(dome_capture_coder *coder, const char *problem, const void *where)
{
    coder->problem = problem;
    coder->where = where;
    return false;
}

static bool narrow(const dome_capture_step *s, char *to, const uint8_t *from, dome_capture_coder *coder)
{
    uint64_t value = get_wide(from, s->item, is_signed(s->scalar));
    store(to, s->size, value);
    return load(to, s->size, is_signed(s->scalar)) == value ||
           failed(coder, "a number does not fit into the type that it has here", to);
}

static bool unpack_one(const dome_capture_layout *layout, char *to, const uint8_t *from, unsigned what,
                       dome_capture_coder *coder);

static bool unpack_union(const dome_capture_step *s, char *to, const uint8_t *from, unsigned what, dome_capture_coder *coder)
{
    const uint32_t which = dome__get_u32(from);
    if (which != NO_MEMBER && which >= s->type->count)
        return failed(coder, "a union has no member of the number that the image has", to);
    if (what == UNIONS && which != number_in_use(s, to))
        return failed(coder, "a union holds another member than the numbers around it say", to);
    return which == NO_MEMBER || unpack_one(s->members[which], to, from + DOME_CAPTURE_UNION_HEAD, what, coder);
}

static bool unpack_one(const dome_capture_layout *layout, char *to, const uint8_t *from, unsigned what, dome_capture_coder *coder)
{
    bool good = true;
    for (const dome_capture_step *s = layout->steps, *end = s + layout->nsteps; s < end && good; s++) {
        char *t = to + s->offset;
        const uint8_t *f = from + s->portable;
        switch (s->kind) {
        case DOME_CAPTURE_STEP_ITEMS:
            if (what == NUMBERS)
                unpack_items(s, t, f, s->count);
            break;
        case DOME_CAPTURE_STEP_WIDER:
            for (uint64_t k = 0; k < s->count && good && what == NUMBERS; k++)
                good = narrow(s, t + k * s->size, f + k * s->item, coder);
            break;
        case DOME_CAPTURE_STEP_POINTERS:
            for (uint64_t k = 0; k < s->count && good && what == POINTERS; k++)
                good = coder->decode(coder->ctx, (void **)(void *)(t + k * s->size), s->type, f + k * s->item) ||
                       failed(coder, "a pointer leads to no place", t + k * s->size);
            break;
        case DOME_CAPTURE_STEP_REPEAT:
            if ((what == POINTERS && !s->inner->pointers) || (what == UNIONS && !s->inner->unions))
                break;
            if (what == NUMBERS && s->inner->unpack && s->inner->unpack(t, f, (size_t)s->count))
                break;
            for (uint64_t k = 0; k < s->count && good; k++)
                good = unpack_one(s->inner, t + k * s->size, f + k * s->item, what, coder);
            break;
        case DOME_CAPTURE_STEP_UNION:
            for (uint64_t k = 0; k < s->count && good; k++)
                good = unpack_union(s, t + k * s->size, f + k * s->item, what, coder);
        }
    }
    return good;
}

bool dome__capture_unpack_numbers(const dome_capture_layout *layout, void *to, const uint8_t *from, uint64_t count,
                                  dome_capture_coder *coder)
{
    if (is_flat(layout)) {
        dome_type_unpack(dome_type_basic(layout->steps[0].scalar), DOME_PORTABLE, to, from,
                         (size_t)(count * layout->steps[0].count));
        return true;
    }
    if (layout->unpack && layout->unpack(to, from, (size_t)count))
        return true; /* else the table finds the number that does not fit */
    bool good = true;
    for (uint64_t k = 0; k < count && good; k++) {
        char *t = (char *)to + k * layout->size;
        const uint8_t *f = from + k * layout->portable;
        good = unpack_one(layout, t, f, NUMBERS, coder) && (!layout->unions || unpack_one(layout, t, f, UNIONS, coder));
    }
    return good;
}

static bool unpack_links(const dome_capture_layout *layout, char *to, const uint8_t *from, dome_capture_coder *coder)
{
    bool good = true;
    for (const dome_capture_step *s = layout->links, *end = s + layout->nlinks; s < end && good; s++) {
        char *t = to + s->offset;
        const uint8_t *f = from + s->portable;
        for (uint64_t k = 0; k < s->count && good; k++, t += s->size, f += s->item)
            good = s->kind == DOME_CAPTURE_STEP_POINTERS ? coder->decode(coder->ctx, (void **)(void *)t, s->type, f) ||
                                                               failed(coder, "a pointer leads to no place", t)
                                                         : unpack_links(s->inner, t, f, coder);
    }
    return good;
}

bool dome__capture_unpack_pointers(const dome_capture_layout *layout, void *to, const uint8_t *from, uint64_t count,
                                   dome_capture_coder *coder)
{
    bool good = true;
    for (uint64_t k = 0; k < count && good && layout->pointers; k++) {
        char *t = (char *)to + k * layout->size;
        const uint8_t *f = from + k * layout->portable;
        good = layout->unions ? unpack_one(layout, t, f, POINTERS, coder) : unpack_links(layout, t, f, coder);
    }
    return good;
}

/* ---- places ---- */

/* Whether a pointer to `target` may mean a value of this step. */
static bool is_target(const dome_capture_step *s, const dome_capture_type *target)
{
    if (s->kind == DOME_CAPTURE_STEP_POINTERS)
        return target->kind == DOME_CAPTURE_KIND_POINTER;
    if (s->kind == DOME_CAPTURE_STEP_REPEAT || s->kind == DOME_CAPTURE_STEP_UNION)
        return target->kind == DOME_CAPTURE_KIND_STRUCT || target->kind == DOME_CAPTURE_KIND_UNION;
    return target->kind == DOME_CAPTURE_KIND_SCALAR && target->scalar == s->scalar;
}

bool dome__capture_to_portable(const dome_capture_layout *layout, const void *base, size_t offset,
                               const dome_capture_type *target, uint64_t *portable, bool *past)
{
    const dome_capture_step *before = NULL, *at = NULL;
    for (const dome_capture_step *s = layout->steps, *end = s + layout->nsteps; s < end; s++) {
        if (offset >= s->offset && offset - s->offset < s->size * s->count)
            at = s;
        else if (offset == s->offset + s->size * s->count)
            before = s;
    }
    /* A char * to the place where an array of char ends and something else begins means the end. */
    bool scalar = target && (target->kind == DOME_CAPTURE_KIND_SCALAR || target->kind == DOME_CAPTURE_KIND_POINTER);
    if (before && at && offset == at->offset && scalar && is_target(before, target) && !is_target(at, target))
        at = NULL;
    *past = false;
    if (!at) {
        *past = true;
        *portable = before ? before->portable + before->item * before->count : 0;
        return before != NULL;
    }
    uint64_t k = (offset - at->offset) / at->size;
    size_t rest = (offset - at->offset) % at->size;
    *portable = at->portable + k * at->item;
    if (rest == 0)
        return true;
    const dome_capture_layout *inner = at->kind == DOME_CAPTURE_STEP_REPEAT ? at->inner : NULL;
    const char *element = (const char *)base + at->offset + k * at->size;
    if (at->kind == DOME_CAPTURE_STEP_UNION)
        inner = dome__capture_in_use(at, element);
    uint64_t within;
    if (!inner || !dome__capture_to_portable(inner, element, rest, target, &within, past))
        return false;
    *portable += within + (at->kind == DOME_CAPTURE_STEP_UNION ? DOME_CAPTURE_UNION_HEAD : 0);
    return true;
}

size_t dome__capture_inside(const dome_capture_layout *layout, const void *base, size_t offset, bool *pointer)
{
    for (const dome_capture_step *s = layout->steps, *end = s + layout->nsteps; s < end; s++) {
        if (offset < s->offset || offset - s->offset >= s->size * s->count)
            continue;
        const size_t rest = (offset - s->offset) % s->size;
        const char *element = (const char *)base + (offset - rest);
        const dome_capture_layout *inner = s->kind == DOME_CAPTURE_STEP_REPEAT  ? s->inner
                                           : s->kind == DOME_CAPTURE_STEP_UNION ? dome__capture_in_use(s, element)
                                                                                : NULL;
        *pointer = s->kind == DOME_CAPTURE_STEP_POINTERS;
        if (s->kind == DOME_CAPTURE_STEP_ITEMS || s->kind == DOME_CAPTURE_STEP_WIDER || *pointer)
            return rest;
        return inner ? dome__capture_inside(inner, element, rest, pointer) : 0;
    }
    return 0;
}

/* In the image the end of an array of structs, or of a union, is that of the last member in it as well; in memory the former may
 * lie behind padding. Whether a pointer to `target` means the former. Where something else begins there, a pointer to it was
 * taken for one to that. */
static bool means_whole(const dome_capture_layout *layout, const dome_capture_step *s, const dome_capture_type *target)
{
    const char *name = s->kind == DOME_CAPTURE_STEP_UNION ? s->type->name : s->inner->name;
    if (target)
        return target->name && name && strcmp(target->name, name) == 0;
    const dome_capture_step *next = s + 1;
    return (next < layout->steps + layout->nsteps ? next->offset : layout->size) > s->offset + s->size * s->count;
}

bool dome__capture_to_native(const dome_capture_layout *layout, const void *base, uint64_t portable, bool past,
                             const dome_capture_type *target, size_t *offset)
{
    for (const dome_capture_step *s = layout->steps, *end = s + layout->nsteps; s < end; s++) {
        uint64_t all = s->item * s->count;
        if (portable < s->portable || portable - s->portable > all ||
            (past ? portable == s->portable : portable - s->portable == all))
            continue;
        uint64_t k = (portable - s->portable - past) / s->item, rest = portable - s->portable - k * s->item;
        *offset = s->offset + (size_t)k * s->size;
        if (rest == 0)
            return true;
        const bool parts = s->kind == DOME_CAPTURE_STEP_REPEAT || s->kind == DOME_CAPTURE_STEP_UNION;
        const dome_capture_layout *inner = s->kind == DOME_CAPTURE_STEP_REPEAT ? s->inner : NULL;
        const uint64_t head = s->kind == DOME_CAPTURE_STEP_UNION ? DOME_CAPTURE_UNION_HEAD : 0;
        if (head > 0 && rest >= head)
            inner = dome__capture_in_use(s, (const char *)base + *offset);
        const bool ends = past && rest == s->item && (!parts || portable - s->portable == all);
        size_t within = s->size;
        bool good = ends && (!parts || means_whole(layout, s, target));
        if (!good && inner)
            good = dome__capture_to_native(inner, (const char *)base + *offset, rest - head, past, target, &within);
        if (!good && !ends)
            return false;
        *offset += good ? within : s->size;
        return true;
    }
    return false;
}

/* ---- messages ---- */

static void add_path(GString *path, const dome_capture_type *type, size_t offset)
{
    if (type->kind == DOME_CAPTURE_KIND_ARRAY && type->count > 0) {
        size_t k = offset / type->element->size;
        g_string_append_printf(path, "[%zu]", k);
        add_path(path, type->element, offset - k * type->element->size);
        return;
    }
    for (size_t k = 0; type->kind == DOME_CAPTURE_KIND_STRUCT && k < type->count; k++) {
        const dome_capture_member *m = &type->members[k];
        if (offset < m->offset || offset - m->offset >= m->type->size)
            continue;
        g_string_append_printf(path, "%s%s", path->len > 0 ? "." : "", m->name);
        add_path(path, m->type, offset - m->offset);
        return;
    }
}

char *dome__capture_path(const dome_capture_layout *layout, size_t offset)
{
    GString *path = g_string_new(NULL);
    add_path(path, layout->type, offset);
    return g_string_free(path, FALSE);
}
