#include "capture/contents.h"

#include "capture/handles.h"
#include "capture/pointers.h"
#include "heap/heap.h"

#include <dome/structure.h>
#include <glib.h>
#include <string.h>

/* A walk from block to block. */
typedef struct walk {
    bool *apart;      /* by serial, less 1 */
    GArray *open;     /* dome_capture_block: found, but not looked through */
    uint8_t *scratch; /* for the bytes of an element, which nobody reads */
    uint64_t room;
} walk;

static void find(walk *w, const void *address)
{
    dome_capture_block block;
    if (!dome__capture_block_find(address, &block) || w->apart[block.serial - 1])
        return;
    w->apart[block.serial - 1] = true;
    if (block.layout->pointers || (block.layout->tail && block.layout->tail->pointers))
        g_array_append_val(w->open, block);
}

static void note(void *ctx, const void *const *from, const dome_capture_type *target, uint8_t *to)
{
    (void)target, (void)to;
    const void *address;
    memcpy(&address, from, sizeof address);
    if (address)
        find(ctx, address);
}

static void look_through(walk *w, const dome_capture_layout *layout, const char *from, uint64_t count)
{
    dome_capture_coder coder = {.encode = note, .ctx = w};
    if (!layout->pointers)
        return;
    if (layout->portable > w->room) {
        w->room = layout->portable;
        w->scratch = g_realloc(w->scratch, (gsize)w->room);
    }
    for (uint64_t k = 0; k < count; k++)
        dome__capture_pack(layout, w->scratch, from + k * layout->size, 1, &coder);
}

static void follow(walk *w)
{
    while (w->open->len > 0) {
        const dome_capture_block b = g_array_index(w->open, dome_capture_block, w->open->len - 1);
        g_array_set_size(w->open, w->open->len - 1);
        look_through(w, b.layout, b.memory, dome__capture_block_elements(&b));
        if (b.layout->tail)
            look_through(w, b.layout->tail, (const char *)b.memory + b.layout->tail_offset, dome__capture_block_tail(&b));
    }
}

/* Content that the library knows must be a block; if it is not the program's memory at all, nothing of it is in the image. */
static char *misplaced(const dome_object *object)
{
    const void *content = dome_object_content(object);
    if (content && dome__capture_serial_at(content) > 0)
        return NULL;
    char *where = content ? dome__capture_say_where(content) : g_strdup("nothing (NULL)");
    char *text = where ? g_strdup_printf("the content of '%s' is not a block of the heap of its own, but %s",
                                         dome_object_name(object), where)
                       : NULL;
    g_free(where);
    return text;
}

bool dome__capture_contents_set_apart(char **problem)
{
    if (!dome__capture_heap_renumber())
        return false;
    walk w = {.apart = g_new0(bool, dome__capture_heap.count + 1), .open = g_array_new(FALSE, FALSE, sizeof(dome_capture_block))};
    bool any = false;
    const dome_object *o;
    for (size_t k = 0; !*problem && (o = dome__capture_handle_own(k)); k++) {
        *problem = misplaced(o);
        any = true;
        if (!*problem)
            find(&w, dome_object_content(o));
    }
    if (any && !*problem) {
        follow(&w);
        dome__capture_heap_set_apart(w.apart);
    }
    g_free(w.apart);
    g_array_unref(w.open);
    g_free(w.scratch);
    return !*problem;
}
