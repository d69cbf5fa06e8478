#include "capture/capture.h"

#include "capture/frames.h"
#include "capture/handles.h"
#include "capture/library.h"
#include "capture/modules.h"
#include "capture/streams.h"
#include "system/bytes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { VALUE_LEAST = -4096, VALUE_MOST = 4095 };
#define PAST (1ull << 63)

/* In a place: a byte inside of a number, how far, and whether the machine is big-endian, as it is another byte on others. Or
 * inside of a pointer: the lowest bits of an address then are what the program has put there, on any machine. */
#define INSIDE       (1ull << 62)
#define BIG_ORDER    (1ull << 61)
#define INSIDE_SHIFT 56
#define INSIDE_MOST  15
#define OWN_ORDER    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? BIG_ORDER : 0)

/* A block that is no block of the heap. */
typedef struct area {
    uintptr_t begin, end;
    uint64_t word;
    const dome_capture_layout *layout;
} area;

typedef struct code_place {
    uintptr_t address;
    uint64_t word;
} code_place;

static uint64_t word_of(dome_capture_space space, uint64_t number)
{
    return (uint64_t)space << DOME_CAPTURE_SPACE_SHIFT | number;
}

static int by_begin(const void *a, const void *b)
{
    const area *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_address(const void *a, const void *b)
{
    const code_place *x = a, *y = b;
    return x->address != y->address ? (x->address < y->address ? -1 : 1) : x->word < y->word ? -1 : x->word > y->word;
}

static void add_area(const void *address, size_t bytes, uint64_t word, const dome_capture_layout *layout)
{
    dome_capture_pointers *p = &dome__capture->pointers;
    area a = {(uintptr_t)address, (uintptr_t)address + bytes, word, layout};
    g_array_append_val(p->areas, a);
}

bool dome__capture_pointers_begin(void)
{
    dome_capture_pointers *p = &dome__capture->pointers;
    if (!p->areas) {
        p->areas = g_array_new(FALSE, FALSE, sizeof(area));
        p->codes = g_array_new(FALSE, FALSE, sizeof(code_place));
    }
    g_array_set_size(p->areas, 0);
    g_array_set_size(p->codes, 0);
    for (size_t k = 0; k < dome__capture_global_count(); k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        add_area(g->global->address, g->bytes, word_of(DOME_CAPTURE_SPACE_GLOBAL, k), g->layout);
    }
    size_t number = 0;
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above) {
        m->number = number++;
        const dome_capture_layout *layout = dome__capture_frame_layout(m->function)->memory;
        add_area(dome__capture_memory_of(m), layout->size, word_of(DOME_CAPTURE_SPACE_MEMORY, m->number), layout);
    }
    for (size_t k = 0; k < dome__capture_code_count(); k++) {
        code_place place = {(uintptr_t)dome__capture_code(k)->address, word_of(DOME_CAPTURE_SPACE_CODE, k)};
        g_array_append_val(p->codes, place);
    }
    g_array_sort(p->areas, by_begin);
    g_array_sort(p->codes, by_address);
    return dome__capture_heap_index();
}

/* The last area that begins at or before an address, if the address lies in it or at its end. */
static const area *find_area(uintptr_t address)
{
    dome_capture_pointers *p = &dome__capture->pointers;
    const area *all = (const area *)(const void *)p->areas->data;
    size_t low = 0, high = p->areas->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address <= all[low - 1].end ? &all[low - 1] : NULL;
}

static bool find_code(uintptr_t address, uint64_t *word)
{
    dome_capture_pointers *p = &dome__capture->pointers;
    const code_place *all = (const code_place *)(const void *)p->codes->data;
    size_t low = 0, high = p->codes->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->codes->len || all[low].address != address)
        return false;
    *word = all[low].word;
    return true;
}

/* How far inside of a number or pointer an offset in a block is; 0: it is not. */
static size_t inside_of(const dome_capture_layout *layout, const char *base, size_t offset, bool *pointer)
{
    if (layout->tail && offset >= layout->tail_offset) {
        base += layout->tail_offset;
        offset -= layout->tail_offset;
        layout = layout->tail;
    }
    const size_t rest = offset % layout->size;
    return dome__capture_inside(layout, base + (offset - rest), rest, pointer);
}

/* The place of an offset in a block of elements of a layout, unless it is inside of a number or pointer. */
static bool begin_in(const dome_capture_layout *layout, const char *base, size_t offset, const dome_capture_type *target,
                     uint64_t *place)
{
    bool past = false;
    uint64_t within = 0;
    if (layout->tail && offset >= layout->tail_offset) {
        size_t rest = offset - layout->tail_offset, k = rest / layout->tail->size;
        *place = layout->portable + k * layout->tail->portable;
        rest -= k * layout->tail->size;
        if (rest > 0 && !dome__capture_to_portable(layout->tail, base + offset - rest, rest, target, &within, &past))
            return false;
        *place = (*place + within) | (past ? PAST : 0);
        return true;
    }
    size_t k = offset / layout->size, rest = offset - k * layout->size;
    *place = k * layout->portable;
    if (rest == 0)
        return true;
    if (!dome__capture_to_portable(layout, base + k * layout->size, rest, target, &within, &past))
        return false;
    *place = (*place + within) | (past ? PAST : 0);
    return true;
}

static bool place_in(const dome_capture_layout *layout, const char *base, size_t offset, const dome_capture_type *target,
                     uint64_t *place)
{
    if (begin_in(layout, base, offset, target, place))
        return true;
    bool pointer = false;
    const size_t inside = inside_of(layout, base, offset, &pointer);
    if (inside == 0 || inside > INSIDE_MOST || !begin_in(layout, base, offset - inside, NULL, place))
        return false;
    *place |= INSIDE | OWN_ORDER | (uint64_t)inside << INSIDE_SHIFT;
    return true;
}

static void put(uint8_t *to, uint64_t word, uint64_t place)
{
    dome__put_u64(to, word);
    dome__put_u64(to + 8, place);
}

static bool find_in_block(const char *address, const dome_capture_type *target, uint64_t *word, uint64_t *place, bool *in_block)
{
    dome_capture_block block;
    *in_block = dome__capture_block_find(address, &block) && block.serial <= dome__capture_heap.saved;
    if (!*in_block)
        return false;
    const char *base = dome__capture_block_memory(&block);
    *word = word_of(DOME_CAPTURE_SPACE_HEAP, block.serial);
    return place_in(block.layout, base, (size_t)(address - base), target, place);
}

/* The words of an address that lies outside of the heap. */
static bool find_elsewhere(const char *address, const dome_capture_type *target, uint64_t *word, uint64_t *place)
{
    if (address == (const char *)&errno && dome__capture_library_errno()) /* a thread's: the image has it as a global */
        address = (const char *)dome__capture_library_errno();
    const area *a = find_area((uintptr_t)address);
    *place = 0;
    if (a) {
        const char *base = address - ((uintptr_t)address - a->begin);
        *word = a->word;
        return place_in(a->layout, base, (size_t)(address - base), target, place);
    }
    const int64_t stream = dome__capture_stream_number(address);
    if (stream >= 0) {
        *word = word_of(DOME_CAPTURE_SPACE_STREAM, (uint64_t)stream);
        return true;
    }
    if (find_code((uintptr_t)address, word))
        return true;
    uint64_t handle;
    if (!dome__capture_handle_find(address, &handle, place))
        return false;
    *word = word_of(DOME_CAPTURE_SPACE_HANDLE, handle);
    return true;
}

static bool find_words(const char *address, const dome_capture_type *target, uint64_t *word, uint64_t *place)
{
    bool in_block;
    *place = 0;
    const uint64_t serial = dome__capture_serial_at(address);
    if (serial > 0 && serial <= dome__capture_heap.saved) {
        *word = word_of(DOME_CAPTURE_SPACE_HEAP, serial);
        return true;
    }
    return find_in_block(address, target, word, place, &in_block) || (!in_block && find_elsewhere(address, target, word, place));
}

bool dome__capture_has_place(const void *address, const dome_capture_type *type)
{
    uint64_t word, place;
    return find_words(address, type, &word, &place);
}

dome_capture_target dome__capture_target(const void *address)
{
    dome_capture_block block;
    uint64_t word, place;
    const uintptr_t at = (uintptr_t)address;
    if (dome__capture_block_find(address, &block))
        return (dome_capture_target){DOME_CAPTURE_SPACE_HEAP, block.layout, (uintptr_t)block.memory, block.bytes};
    const area *a = find_area(at);
    if (a)
        return (dome_capture_target){(dome_capture_space)(a->word >> DOME_CAPTURE_SPACE_SHIFT), a->layout, a->begin,
                                     a->end - a->begin};
    if (!find_elsewhere(address, NULL, &word, &place))
        return (dome_capture_target){.space = DOME_CAPTURE_SPACE_DANGLING};
    return (dome_capture_target){.space = (dome_capture_space)(word >> DOME_CAPTURE_SPACE_SHIFT), .begin = at, .bytes = 1};
}

void dome__capture_areas_each(void (*function)(void *ctx, uintptr_t first, uintptr_t end), void *ctx)
{
    dome_capture_pointers *p = &dome__capture->pointers;
    for (guint k = 0; k < p->areas->len; k++)
        function(ctx, g_array_index(p->areas, area, k).begin, g_array_index(p->areas, area, k).end);
    for (guint k = 0; k < p->codes->len; k++)
        function(ctx, g_array_index(p->codes, code_place, k).address, g_array_index(p->codes, code_place, k).address + 1);
}

void dome__capture_encode(void *ctx, const void *const *from, const dome_capture_type *target, uint8_t *to)
{
    (void)ctx;
    const char *address;
    memcpy(&address, from, sizeof address);
    const intptr_t value = (intptr_t)address;
    uint64_t word, place;
    if (value >= VALUE_LEAST && value <= VALUE_MOST)
        put(to, word_of(DOME_CAPTURE_SPACE_VALUE, 0), (uint64_t)(int64_t)value);
    else if (find_words(address, target, &word, &place))
        put(to, word, place);
    else
        put(to, word_of(DOME_CAPTURE_SPACE_DANGLING, 0), 0);
}

/* ---- the way back ---- */

static void *by_serial(const dome_capture_places *p, uint64_t serial)
{
    if (p->nblocks == 0 || serial < p->blocks[0]->serial || serial > p->blocks[p->nblocks - 1]->serial)
        return NULL;
    if (p->direct)
        return p->direct[serial - p->blocks[0]->serial];
    size_t low = 0, high = p->nblocks - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->blocks[middle]->serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return p->blocks[low]->serial == serial ? dome__capture_block_memory(p->blocks[low]) : NULL;
}

void dome__capture_places_index(dome_capture_places *p)
{
    enum { SPARSE = 8 };
    p->direct = NULL;
    if (p->nblocks == 0 || (p->blocks[p->nblocks - 1]->serial - p->blocks[0]->serial) / SPARSE > p->nblocks)
        return;
    p->direct = g_try_new0(void *, p->blocks[p->nblocks - 1]->serial - p->blocks[0]->serial + 1);
    for (size_t k = 0; p->direct && k < p->nblocks; k++)
        p->direct[p->blocks[k]->serial - p->blocks[0]->serial] = dome__capture_block_memory(p->blocks[k]);
}

/* Values that lie one after the other: of a block, a global, or a function's memory. A pointer may be at their end. */
typedef struct values {
    const dome_capture_layout *layout;
    char *base;
    uint64_t elements, tail;
} values;

static bool begin_at(const values *v, uint64_t place, const dome_capture_type *target, void **to)
{
    const dome_capture_layout *layout = v->layout;
    char *base = v->base;
    uint64_t elements = v->elements;
    const bool past = place & PAST;
    place &= ~PAST;
    uint64_t k, rest;
    size_t offset = 0;
    if (past && place == 0)
        return false;
    if (layout->tail && (past ? place > layout->portable : place >= layout->portable)) {
        k = (place - layout->portable - past) / layout->tail->portable;
        rest = place - layout->portable - k * layout->tail->portable;
        base += layout->tail_offset;
        layout = layout->tail;
        elements = v->tail;
    } else {
        k = (place - past) / layout->portable;
        rest = place - k * layout->portable;
    }
    if (k > elements || (k == elements && rest > 0))
        return false;
    base += k * layout->size;
    if (rest > 0 && !dome__capture_to_native(layout, base, rest, past, target, &offset))
        return false;
    *to = base + offset;
    return true;
}

static bool address_in(const values *v, uint64_t place, const dome_capture_type *target, void **to)
{
    const dome_capture_layout *layout = v->layout;
    if (!(place & INSIDE))
        return begin_at(v, place, target, to);
    const size_t inside = place >> INSIDE_SHIFT & INSIDE_MOST;
    const uint64_t begin = place & ((1ull << INSIDE_SHIFT) - 1);
    if (!begin_at(v, begin, NULL, to))
        return false;
    const size_t offset = (size_t)((char *)*to - v->base) + inside;
    if (offset >= (layout->tail ? layout->tail_offset + v->tail * layout->tail->size : v->elements * layout->size))
        return false;
    bool pointer = false;
    const bool same = inside_of(layout, v->base, offset, &pointer) == inside;
    *to = same && (pointer || (place & BIG_ORDER) == OWN_ORDER) ? v->base + offset : DOME_CAPTURE_DANGLING;
    return true;
}

bool dome__capture_decode(void *ctx, void **to, const dome_capture_type *target, const uint8_t *from)
{
    const dome_capture_places *p = ctx;
    const uint64_t word = dome__get_u64(from), place = dome__get_u64(from + 8),
                   number = word & ((1ull << DOME_CAPTURE_SPACE_SHIFT) - 1);
    void *address = NULL;
    bool good = false;
    dome_capture_block block;
    FILE *stream;
    switch ((dome_capture_space)(word >> DOME_CAPTURE_SPACE_SHIFT)) {
    case DOME_CAPTURE_SPACE_VALUE:
        good = number == 0 && (int64_t)place >= VALUE_LEAST && (int64_t)place <= VALUE_MOST;
        address = (void *)(intptr_t)(int64_t)place;
        break;
    case DOME_CAPTURE_SPACE_HEAP:
        address = by_serial(p, number);
        good = address != NULL;
        if (good && place != 0)
            good = dome__capture_block_find(address, &block) &&
                   address_in(
                       &(values){block.layout, address, dome__capture_block_elements(&block), dome__capture_block_tail(&block)},
                       place, target, &address);
        break;
    case DOME_CAPTURE_SPACE_GLOBAL:
        if (number < p->nglobals && p->globals[number] != SIZE_MAX) {
            const dome_capture_known_global *g = dome__capture_global(p->globals[number]);
            const values v = {g->layout, (char *)(uintptr_t)g->global->address, g->elements, 0};
            good = address_in(&v, place, target, &address);
            address = address && address == dome__capture_library_errno() ? &errno : address;
        }
        break;
    case DOME_CAPTURE_SPACE_MEMORY:
        if (number < p->nmemories)
            good = address_in(&(values){p->memory_layouts[number], p->memories[number], 1, 0}, place, target, &address);
        break;
    case DOME_CAPTURE_SPACE_CODE:
        good = number < p->ncodes && p->codes[number] && place == 0;
        if (good)
            memcpy(&address, &p->codes[number], sizeof address);
        break;
    case DOME_CAPTURE_SPACE_STREAM:
        stream = place == 0 ? dome__capture_stream(number) : NULL;
        good = stream != NULL;
        address = stream;
        break;
    case DOME_CAPTURE_SPACE_DANGLING:
        good = number == 0 && place == 0;
        address = DOME_CAPTURE_DANGLING;
        break;
    case DOME_CAPTURE_SPACE_HANDLE:
        address = dome__capture_handle_address(number, place);
        good = address != NULL;
        break;
    default:
        break;
    }
    if (good)
        memcpy(to, &address, sizeof address);
    return good;
}

/* ---- messages ---- */

static char *describe(const char *what, const dome_capture_layout *layout, size_t offset)
{
    size_t k = layout->size > 0 ? offset / layout->size : 0;
    char *path = dome__capture_path(layout, offset - k * layout->size);
    char *text = *path ? g_strdup_printf("%s: element %zu, %s", what, k, path) : g_strdup_printf("%s: element %zu", what, k);
    g_free(path);
    return text;
}

/* A variable of an active function; NULL: the address lies in none of these. */
static char *describe_variable(const dome_capture_function *f, int point, const dome_capture_layout *layout, const void *base,
                               const void *address)
{
    const size_t offset = (size_t)((uintptr_t)address - (uintptr_t)base);
    if (offset >= layout->size)
        return NULL;
    char *path = dome__capture_path(layout, offset);
    const char *place = point >= 0 && (size_t)point < f->npoints ? f->points[point] : NULL;
    char *text = g_strdup_printf("function '%s'%s%s: %s", f->name, place ? " at " : "", place ? place : "", path);
    g_free(path);
    return text;
}

char *dome__capture_say_where(const void *address)
{
    dome_capture_block block;
    char *what = NULL, *text = NULL;
    if (dome__capture_block_find(address, &block)) {
        what = g_strdup_printf("block %" PRIu64 " of the heap, of type '%s'", block.serial, block.layout->name);
        text = describe(what, block.layout, (size_t)((const char *)address - (const char *)dome__capture_block_memory(&block)));
        g_free(what);
        return text;
    }
    for (size_t k = 0; k < dome__capture_global_count() && !text; k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        size_t offset = (size_t)((uintptr_t)address - (uintptr_t)g->global->address);
        if (offset >= g->bytes)
            continue;
        what = g_strdup_printf("global '%s'", g->global->name);
        text = describe(what, g->layout, offset);
        g_free(what);
    }
    size_t r = dome__capture_record_count(); /* of the same function: from the outermost on */
    for (dome_capture_memory *m = dome__capture_memory_first(); m && !text; m = m->above) {
        const dome_capture_layout *l = dome__capture_frame_layout(m->function)->memory;
        while (r > 0 && !dome__capture_record(--r)->function->memory)
            ;
        const bool captured = dome__capture_record_count() > 0 && dome__capture_record(r)->function == m->function;
        text = describe_variable(m->function, captured ? dome__capture_record(r)->point : -1, l, dome__capture_memory_of(m),
                                 address);
    }
    for (size_t k = 0; k < dome__capture_record_count() && !text; k++) {
        const dome_capture_record *one = dome__capture_record(k);
        const dome_capture_layout *l = dome__capture_frame_layout(one->function)->saved;
        if (l)
            text = describe_variable(one->function, one->point, l, dome__capture_record_data(one), address);
    }
    return text;
}
