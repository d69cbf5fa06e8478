/* The image of a captured program, changed in some places: it is refused, or it is that of another program. Four bytes are a
 * change: the block, the place in it (of its ends, two bytes), the new byte; place 0xffff cuts the block there where the byte
 * says. */
#include "captured_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CHANGE = 4, CUT = 0xffff };
    static GPtrArray *whole;
    if (!whole) {
        dome_capture_register(&module);
        make_state(40, 10);
        memset(table, 0, sizeof table);
        whole = take();
        forget();
    }
    GPtrArray *changed = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (guint k = 0; k < whole->len; k++) {
        const GByteArray *block = whole->pdata[k];
        GByteArray *copy = g_byte_array_sized_new(block->len);
        g_ptr_array_add(changed, g_byte_array_append(copy, block->data, block->len));
    }
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        GByteArray *block = changed->pdata[data[0] % changed->len];
        const unsigned place = (unsigned)data[1] << 8 | data[2];
        if (block->len == 0)
            continue;
        if (place == CUT)
            g_byte_array_set_size(block, data[3] % block->len);
        else
            block->data[place % 2 ? block->len - 1 - place / 2 % block->len : place / 2 % block->len] = data[3];
    }
    inspected found;
    g_free(inspect(changed, &found));
    char *problem = restore(changed);
    if (!problem) {
        GPtrArray *again = take();
        g_ptr_array_unref(again);
    }
    g_free(problem);
    forget();
    g_ptr_array_unref(changed);
    return 0;
}
