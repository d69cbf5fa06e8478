/* What the image of a captured program stands on: places in types, the way from an address to a block of the heap, and images
 * that are read back, whole and damaged. */
#include "captured_state.h"
#include "draw.h"

/* ---- types ---- */

static void test_places(void)
{
    uint64_t one, portable;
    size_t back;
    bool past;
    const dome_capture_layout *l = dome__capture_layout(&outer_type, &one);
    const struct outer zero = {0};
    g_assert_cmpuint(one, ==, 1);
    g_assert_cmpuint(l->portable, ==, 2 + 2 * (1 + 8 + 3) + 8 + 16 + 16 + 4 + 16);
    unsigned places = 0;
    for (size_t at = 1; at < sizeof zero; at++) {
        if (!dome__capture_to_portable(l, &zero, at, NULL, &portable, &past))
            continue;
        places++;
        g_assert_true(dome__capture_to_native(l, &zero, portable, past, &back));
        g_assert_cmpuint(back, ==, at);
    }
    g_assert_cmpuint(places, >=, 16);
    /* Where the text of the first inner struct ends nothing begins, but a char * may point there. */
    g_assert_true(dome__capture_to_portable(l, &zero, offsetof(struct outer, inner[0].text) + 3, NULL, &portable, &past));
    g_assert_true(past);
    g_assert_cmpuint(portable, ==, 2 + 12);
    g_assert_false(dome__capture_to_portable(l, &zero, offsetof(struct outer, l) + 1, NULL, &portable, &past));
    char *path = dome__capture_path(l, offsetof(struct outer, inner[1].text) + 2);
    g_assert_cmpstr(path, ==, "inner[1].text[2]");
    g_free(path);
}

/* ---- the heap ---- */

static void heap_model(void)
{
    enum { BLOCKS = 400, ROUNDS = 20000, LARGE = 20000 };
    static char *memory[BLOCKS];
    static size_t bytes[BLOCKS];
    for (int round = 0; round < ROUNDS; round++) {
        int k = (int)(draw(BLOCKS));
        size_t size = draw(4) ? draw(100) : draw(LARGE);
        if (!memory[k]) {
            memory[k] = dome_capture_malloc(&dome_capture_char, size);
            bytes[k] = size;
            g_assert_true(size == 0 || (memory[k][0] == 0 && memory[k][size - 1] == 0));
        } else if (draw(3) == 0) {
            memory[k] = dome_capture_realloc(&dome_capture_char, memory[k], size);
            bytes[k] = size;
        } else {
            dome_capture_free(memory[k]);
            memory[k] = NULL;
        }
        k = (int)(draw(BLOCKS));
        if (!memory[k])
            continue;
        memset(memory[k], k, bytes[k]);
        const char *places[] = {memory[k], memory[k] + bytes[k], memory[k] + bytes[k] / 2, memory[k] + bytes[k] - (bytes[k] > 0)};
        for (size_t p = 0; p < G_N_ELEMENTS(places); p++) {
            dome_capture_block *b = dome__capture_block_find(places[p]);
            g_assert_nonnull(b);
            g_assert_true(dome__capture_block_memory(b) == memory[k] && b->bytes == bytes[k]);
        }
        g_assert_true(dome__capture_block_find(memory[k] - 1) == NULL);
    }
    char *foreign = malloc(100);
    g_assert_null(dome__capture_block_find(foreign));
    foreign = dome_capture_realloc(&dome_capture_char, foreign, 200);
    dome_capture_free(foreign);
    for (int k = 0; k < BLOCKS; k++)
        dome_capture_free(memory[k]);
    g_assert_cmpuint(dome_capture_blocks(), ==, 0);
    g_assert_null(dome__capture_heap.first);
    g_assert_null(dome__capture_heap.last);
}

/* ---- images ---- */

static void assert_equal(const GPtrArray *a, const GPtrArray *b)
{
    g_assert_cmpuint(a->len, ==, b->len);
    for (guint k = 0; k < a->len; k++) {
        const GByteArray *x = a->pdata[k], *y = b->pdata[k];
        g_assert_cmpmem(x->data, x->len, y->data, y->len);
    }
}

static void test_image(void)
{
    enum { CIRCLE = 2500, LARGE = 400000 };
    forget();
    make_state(CIRCLE, LARGE);
    GPtrArray *before = take();
    /* head, frames; head and literal of the globals share a block with `text`, the table is a part of one; 3 groups; 4 parts */
    g_assert_cmpuint(before->len, >=, 2 + 2 + 3 + 4);
    forget();
    g_assert_null(restore(before));
    g_assert_cmpuint(dome_capture_blocks(), ==, CIRCLE + 1);
    g_assert_true(text == literal + 2);
    g_assert_cmpfloat(table[299][199], ==, 300 * 200 - 1);
    struct outer *at = head;
    for (int k = CIRCLE - 1; k > 0; k--, at = at->next) {
        g_assert_cmpint(at->l, ==, -k);
        g_assert_true(at->end == at->inner[k % 2].text + k % 4);
        g_assert_true(at->tag != 0 || at->either.number == 7 * k);
        g_assert_true(at->tag != 1 || at->either.link == at->next);
    }
    g_assert_true(at->next == head);
    dome__capture_status_set(DOME_CAPTURE_RESUMING);
    for (int k = 2; k >= 0; k--) {
        int point;
        struct inner *m = dome_capture_enter(&function);
        const struct frame *f = dome_capture_pop(&function, &point);
        g_assert_cmpint(point, ==, k);
        g_assert_cmpint(f->n, ==, 10 * k);
        g_assert_true(f->at == at);
        g_assert_cmpfloat(m->number, ==, 2 - k);
        g_assert_true(k != 1 || at->end == m->text + 1);
    }
    dome__capture_status_clear(DOME_CAPTURE_RESUMING);
    forget();
    make_state(CIRCLE, LARGE);
    GPtrArray *again = take();
    assert_equal(before, again);
    g_ptr_array_unref(again);
    g_ptr_array_unref(before);
    forget();
}

/* Each byte of a small image is changed in turn, and each block is cut at each place: the image is refused, or it is another one.
 */
static void test_damage(void)
{
    make_state(5, 4);
    memset(table, 0, sizeof table);
    GPtrArray *blocks = take();
    unsigned refused = 0, taken = 0;
    for (guint k = 0; k < blocks->len; k++) {
        GByteArray *block = blocks->pdata[k];
        guint step = block->len > 5000 ? 997 : 1;
        for (guint at = 0; at < block->len; at += step) {
            uint8_t was = block->data[at];
            block->data[at] ^= (uint8_t)(1u << draw(8));
            char *problem = restore(blocks);
            *(problem ? &refused : &taken) += 1;
            g_free(problem);
            forget();
            block->data[at] = was;
            guint length = block->len;
            block->len = at;
            problem = restore(blocks);
            g_assert_nonnull(problem);
            g_free(problem);
            forget();
            block->len = length;
        }
    }
    g_assert_cmpuint(refused, >, 500);
    g_assert_cmpuint(taken, >, 100);
    g_assert_null(restore(blocks));
    g_ptr_array_unref(blocks);
    forget();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    dome_capture_register(&module);
    g_test_add_func("/capture/places", test_places);
    g_test_add_func("/capture/heap", heap_model);
    g_test_add_func("/capture/image", test_image);
    g_test_add_func("/capture/damage", test_damage);
    return g_test_run();
}
