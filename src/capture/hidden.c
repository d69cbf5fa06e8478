/* Of numbers, a test finds the few that lie where something of the program is; only those are looked up. In blocks without
 * pointers it goes over the memory as words, whatever the types in it are. */
#include "capture/capture.h"

#include "capture/frames.h"
#include "capture/modules.h"
#include "capture/pointers.h"
#include "heap/dangling.h"
#include "heap/heap.h"
#include "heap/slabs.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

enum {
    LARGE = 1 << 15,                /* bytes of numbers: in more of them only addresses where something begins count */
    RAW = 256,                      /* bytes: shorter blocks are looked at by their types at once */
    SHORT_TEXT = 64,                /* bytes: in so many an address may lie anywhere */
    TOGETHER = 32,                  /* words that are tested at a time */
    RANGES = 4,                     /* of addresses */
    LOW_BITS = 7,                   /* where programs put tags */
    VALUES = 4096,                  /* pointers from -4096 to 4095 are values (pointers.h) */
    WIDE = UINTPTR_MAX > UINT32_MAX /* pointers of 8 bytes */
};
#define NEAR       (UINT64_C(1) << 32)          /* ranges that are no further apart are one */
#define NO_NUMBER  UINT64_C(0x7ff0000000000000) /* bits of a double that is none, in which programs put addresses */
#define ADDRESS    (WIDE ? UINT64_C(0x7fffffffffff) : UINT64_C(0xffffffff))
#define PLAIN_BITS (WIDE ? 48 : 32) /* of an address without more */

typedef struct range {
    uint64_t begin, bytes;
} range;

/* How sure it must be that a number is an address. */
typedef enum sure { ANYWHERE, AT_BEGINNING } sure;

typedef struct look {
    range ranges[RANGES];
    size_t nranges;
    bool dangling;       /* pointers to what is not known count */
    bool copied;         /* the heap has got texts */
    bool large;          /* what is looked at has more than LARGE bytes */
    const void *where;   /* the variable that is found; NULL: none yet */
    const void *leads;   /* where it leads */
    const void *unknown; /* the first pointer that leads to nothing that is known, though that may not count */
    enum { NUMBER, BYTES, OTHER_CONTENT, UNKNOWN } what;
} look;

static bool found(look *l, int what, const void *where, const void *leads)
{
    l->what = what;
    l->where = where;
    l->leads = leads;
    return true;
}

/* ---- where something of the program is ---- */

static void add_range(void *ctx, uintptr_t first, uintptr_t end)
{
    look *l = ctx;
    if (WIDE && first < NEAR) /* of a program without PIE: other numbers are often as small */
        return;
    size_t best = l->nranges, k;
    for (k = 0; k < l->nranges; k++) {
        const range *r = &l->ranges[k];
        if (first < r->begin + r->bytes + NEAR && end + NEAR > r->begin)
            best = k;
    }
    if (best == RANGES)
        best = 0;
    if (best == l->nranges) {
        l->ranges[l->nranges++] = (range){first, end - first};
        return;
    }
    range *r = &l->ranges[best];
    const uint64_t last = MAX(r->begin + r->bytes, end);
    r->begin = MIN(r->begin, first);
    r->bytes = last - r->begin;
}

static void find_ranges(look *l)
{
    dome__capture_areas_each(add_range, l);
    for (size_t k = 0; k < dome__capture_heap.count; k++) {
        const dome_capture_block *b = &dome__capture_heap.blocks[k];
        add_range(l, (uintptr_t)b->memory, (uintptr_t)b->memory + b->bytes);
    }
}

static inline bool in_ranges(const look *l, uint64_t word)
{
    bool in = false;
    for (size_t k = 0; k < l->nranges; k++)
        in |= (word & ADDRESS) - l->ranges[k].begin < l->ranges[k].bytes;
    return in;
}

/* ---- numbers ---- */

static bool begins_there(uintptr_t address)
{
    const dome_capture_target t = dome__capture_target((const void *)address);
    return t.space != DOME_CAPTURE_SPACE_DANGLING && t.begin == address;
}

static bool lies_there(uintptr_t address)
{
    const dome_capture_target t = dome__capture_target((const void *)address);
    return t.space != DOME_CAPTURE_SPACE_DANGLING && address - t.begin < MAX(t.bytes, 1);
}

/* boxed: how sure it must be of an address with the bits of NO_NUMBER. */
static bool look_at_word(look *l, const void *where, uint64_t word, sure plain, sure boxed, int what)
{
    const uintptr_t address = (uintptr_t)(word & ADDRESS);
    const bool is_plain = word >> PLAIN_BITS == 0, is_boxed = (word & NO_NUMBER) == NO_NUMBER;
    if ((!is_plain && !is_boxed) || !in_ranges(l, word))
        return false;
    const sure how = !WIDE ? AT_BEGINNING : is_plain ? plain : boxed;
    const bool there =
        how == ANYWHERE ? lies_there(address) : begins_there(address) || (WIDE && begins_there(address & ~(uintptr_t)LOW_BITS));
    return there && found(l, what, where, (const void *)address);
}

static uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool look_at_bytes(look *l, const char *from, size_t bytes)
{
    const size_t step = bytes <= SHORT_TEXT ? 1 : sizeof(void *);
    for (size_t at = 0; at + sizeof(void *) <= bytes; at += step) {
        uintptr_t word;
        memcpy(&word, from + at, sizeof word);
        if (look_at_word(l, from + at, word, ANYWHERE, AT_BEGINNING, BYTES))
            return true;
    }
    const size_t odd = -(uintptr_t)from % sizeof(void *); /* and where pointers lie */
    return step > 1 && odd > 0 && bytes > odd && look_at_bytes(l, from + odd, bytes - odd);
}

static bool look_at_numbers(look *l, const dome_capture_step *s, const char *from)
{
    const bool wider = s->kind == DOME_CAPTURE_STEP_WIDER, complex = s->scalar == DOME_KIND_C128;
    const uint64_t count = s->count * (complex ? 2 : 1);
    const bool floating = complex || s->scalar == DOME_KIND_F64;
    const sure how = l->large && !floating ? AT_BEGINNING : ANYWHERE;
    if (s->size == 1)
        return look_at_bytes(l, from, s->count);
    if (!wider && s->size != 8 && !complex)
        return false;
    for (uint64_t k = 0; k < count; k++) {
        const char *at = from + k * (wider ? s->size : 8);
        uintptr_t small = 0;
        if (wider)
            memcpy(&small, at, MIN(s->size, sizeof small));
        if (look_at_word(l, at, wider ? small : word_at(at), how, how, NUMBER))
            return true;
    }
    return false;
}

/* Memory that is given back, or that an active function has, or had. */
static bool was_there(const void *address)
{
    return dome__capture_is_dangling(address) || dome__capture_memory_was(address);
}

/* ---- pointers ---- */

/* Whether it leads to a text of a library, of which the program now has a copy. */
static bool copied_text(look *l, const char *at, const dome_capture_target *t, unsigned flags)
{
    char *text;
    memcpy(&text, at, sizeof text);
    if (!(flags & DOME_CAPTURE_TEXT) || !l->dangling || t->space != DOME_CAPTURE_SPACE_DANGLING || was_there(text))
        return flags & DOME_CAPTURE_TEXT && !l->dangling;
    text = dome_capture_text(text);
    memcpy((char *)(uintptr_t)at, &text, sizeof text);
    l->copied = true;
    return true;
}

/* deep: what the pointer leads to has pointers by its type. */
static bool look_at_pointer(look *l, const char *at, const dome_capture_step *s, unsigned flags)
{
    const char *address;
    memcpy(&address, at, sizeof address);
    const intptr_t value = (intptr_t)address;
    if (value >= -VALUES && value < VALUES)
        return false;
    const dome_capture_slab *slab = dome__capture_slab_of(address);
    const uint32_t place = slab ? dome__capture_slab_place(slab, address) : 0;
    if (slab && slab->words[place] && slab->begin + place * slab->size == address)
        return s->deep && !slab->layout->pointers && !(flags & DOME_CAPTURE_MAY_DANGLE) && found(l, OTHER_CONTENT, at, address);
    const dome_capture_target t = dome__capture_target(address);
    if (flags & DOME_CAPTURE_MAY_DANGLE || copied_text(l, at, &t, flags))
        return false;
    if (t.layout && s->deep && !t.layout->pointers && address < (const char *)t.begin + t.bytes)
        return found(l, OTHER_CONTENT, at, address);
    if ((!l->dangling && l->unknown) || dome__capture_has_place(address, s->type) || was_there(address))
        return false;
    l->unknown = at;
    return l->dangling && found(l, UNKNOWN, at, address);
}

/* ---- values ---- */

static bool look_at(look *l, const dome_capture_layout *layout, const char *base, unsigned flags);

static bool look_at_step(look *l, const dome_capture_step *s, const char *from, unsigned flags)
{
    bool yes = false;
    flags |= s->flags;
    if (s->kind == DOME_CAPTURE_STEP_ITEMS || s->kind == DOME_CAPTURE_STEP_WIDER)
        return !(flags & DOME_CAPTURE_NUMBERS) && look_at_numbers(l, s, from);
    for (uint64_t k = 0; k < s->count && !yes; k++, from += s->size) {
        const dome_capture_layout *in = s->kind == DOME_CAPTURE_STEP_REPEAT  ? s->inner
                                        : s->kind == DOME_CAPTURE_STEP_UNION ? dome__capture_in_use(s, from)
                                                                             : NULL;
        yes = s->kind == DOME_CAPTURE_STEP_POINTERS ? look_at_pointer(l, from, s, flags) : in && look_at(l, in, from, flags);
    }
    return yes;
}

static bool look_at(look *l, const dome_capture_layout *layout, const char *base, unsigned flags)
{
    bool yes = false;
    for (const dome_capture_step *s = layout->steps, *end = s + layout->nsteps; s < end && !yes; s++)
        yes = look_at_step(l, s, base + s->offset, flags);
    return yes;
}

/* ---- blocks ---- */

/* The first word from *at on that may be an address: *at is where. */
static bool next_word(const look *l, const char *from, size_t bytes, size_t *at)
{
    for (; *at + TOGETHER * 8 <= bytes; *at += TOGETHER * 8) {
        bool any = false;
        for (size_t k = 0; k < TOGETHER; k++)
            any |= in_ranges(l, word_at(from + *at + k * 8));
        if (any)
            break;
    }
    for (; *at + 8 <= bytes; *at += 8)
        if (in_ranges(l, word_at(from + *at)))
            return true;
    return false;
}

/* Elements without pointers, of which those are looked at by their types that have such a word. */
static bool look_at_raw(look *l, const dome_capture_layout *layout, const char *memory, size_t bytes, unsigned flags)
{
    const size_t odd = -(uintptr_t)memory % 8;
    bool yes = false;
    for (size_t at = 0, done = 0; !yes && bytes > odd && next_word(l, memory + odd, bytes - odd, &at); at += 8) {
        size_t k = (at + odd) / layout->size;
        const size_t last = MIN((at + odd + 7) / layout->size, bytes / layout->size - 1);
        for (k = MAX(k, done); k <= last && !yes; k++)
            yes = look_at(l, layout, memory + k * layout->size, flags);
        done = k;
    }
    return yes;
}

static bool is_all_bytes(const dome_capture_layout *layout)
{
    return layout->nsteps == 1 && layout->steps[0].size == 1;
}

/* count elements that lie one after the other. */
static bool look_at_elements(look *l, const dome_capture_layout *layout, const char *memory, uint64_t count, unsigned flags)
{
    const size_t bytes = (size_t)(count * layout->size);
    const bool numbers = flags & DOME_CAPTURE_NUMBERS;
    bool yes = false;
    if (!layout->pointers && (!layout->words || numbers))
        return false;
    l->large = bytes > LARGE;
    if (is_all_bytes(layout) && bytes < RAW)
        return !numbers && !(layout->steps[0].flags & DOME_CAPTURE_NUMBERS) && look_at_bytes(l, memory, bytes);
    if (is_all_bytes(layout)) {
        size_t at = 0;
        const size_t odd = -(uintptr_t)memory % 8;
        for (; !yes && bytes > odd && next_word(l, memory + odd, bytes - odd, &at); at += 8)
            yes = look_at_word(l, memory + odd + at, word_at(memory + odd + at), ANYWHERE, AT_BEGINNING, BYTES);
        return yes;
    }
    if (!layout->pointers && !layout->unions && bytes >= RAW)
        return look_at_raw(l, layout, memory, bytes, flags);
    for (uint64_t k = 0; k < count && !yes; k++)
        yes = look_at(l, layout, memory + k * layout->size, flags);
    return yes;
}

static bool look_at_block(look *l, const dome_capture_block *b)
{
    const dome_capture_layout *layout = b->layout;
    const char *memory = dome__capture_block_memory(b);
    return look_at_elements(l, layout, memory, dome__capture_block_elements(b), 0) ||
           (layout->tail &&
            look_at_elements(l, layout->tail, memory + layout->tail_offset, dome__capture_block_tail(b), layout->flags));
}

/* The targets of the pointers of several blocks are fetched together (image_write.c). */
static void look_ahead(const dome_capture_block *first, size_t count, int step)
{
    for (const dome_capture_block *b = first; b < first + count; b++)
        for (size_t k = 0; k < b->layout->nsteps && b->layout->pointers; k++) {
            const dome_capture_step *s = &b->layout->steps[k];
            if (s->kind != DOME_CAPTURE_STEP_POINTERS || s->offset + s->size * s->count > b->bytes || s->count > TOGETHER)
                continue;
            const char *const *at = (const char *const *)(const void *)((const char *)b->memory + s->offset);
            for (uint64_t n = 0; n < s->count; n++)
                dome__capture_serial_soon(at[n], step);
        }
}

static bool look_at_heap(look *l)
{
    const dome_capture_heap *h = &dome__capture_heap;
    const size_t count = (size_t)MIN(h->count, h->saved);
    for (size_t k = 0; k < count; k++) {
        if (k % TOGETHER == 0)
            for (int step = 0; step < 2; step++)
                look_ahead(&h->blocks[k], MIN(TOGETHER, count - k), step);
        if (look_at_block(l, &h->blocks[k]))
            return true;
    }
    return false;
}

static bool look_at_globals(look *l)
{
    for (size_t k = 0; k < dome__capture_global_count(); k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        if (!(g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT) &&
            look_at_elements(l, g->layout, g->global->address, g->elements, g->global->flags))
            return true;
    }
    return false;
}

static bool look_at_functions(look *l)
{
    for (size_t k = 0; k < dome__capture_record_count(); k++) {
        const dome_capture_record *r = dome__capture_record(k);
        const dome_capture_layout *saved = dome__capture_frame_layout(r->function)->saved;
        if (saved && look_at_elements(l, saved, dome__capture_record_data(r), 1, 0))
            return true;
    }
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above)
        if (look_at_elements(l, dome__capture_frame_layout(m->function)->memory, dome__capture_memory_of(m), 1, 0))
            return true;
    return false;
}

/* ---- what is said ---- */

static char *say(const look *l)
{
    char *where = dome__capture_say_where(l->where), *leads = dome__capture_say_where(l->leads), *text = NULL;
    const char *of = leads ? leads : "a function";
    switch (l->what) {
    case NUMBER:
        text = g_strdup_printf("%s is a number that holds an address (of %s), which is another one after a restart: keep it in a "
                               "pointer, or say that it is none (#pragma dome numbers)",
                               where, of);
        break;
    case BYTES:
        text = g_strdup_printf("%s: these bytes hold an address (of %s), which is another one after a restart: keep it in a "
                               "pointer, or say that they hold none (#pragma dome numbers)",
                               where, of);
        break;
    case OTHER_CONTENT:
        text =
            g_strdup_printf("%s points to what has pointers itself, but leads into %s, where nothing is known of any: allocate "
                            "that with the type of its content",
                            where, of);
        break;
    case UNKNOWN:
        text = g_strdup_printf("%s points to memory that a checkpoint does not have (of mmap, of a library, or before a block): "
                               "copy it, set the pointer to NULL, or say that it is not used any more (#pragma dome dangling)",
                               where);
    }
    g_free(where);
    g_free(leads);
    return text;
}

char *dome__capture_hidden_find(bool dangling, bool *copied)
{
    dome_capture_hidden *h = &dome__capture->hidden;
    look l = {.dangling = dangling};
    find_ranges(&l);
    const bool found_one = look_at_functions(&l) || look_at_globals(&l) || look_at_heap(&l);
    *copied = l.copied;
    g_free(h->dangling);
    h->dangling = l.unknown ? dome__capture_say_where(l.unknown) : NULL;
    return found_one ? say(&l) : NULL;
}

const char *dome__capture_hidden_dangling(void)
{
    dome_capture_hidden *h = &dome__capture->hidden;
    return h->dangling;
}
