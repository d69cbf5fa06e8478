/* The image of a captured program, changed in some places: it is refused, or it is that of another program. The first byte
 * chooses the image's form; then four bytes are a change: the block, the place in it (of its ends, two bytes), the new byte;
 * place 0xffff cuts the block there where the byte says. */
#include "captured_state.h"
#include "store/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As it is written; with all zeros; as earlier builds wrote it; of a Dome program, by this build and by earlier ones. */
enum { WRITTEN, WITH_ZEROS, BARE, HANDLES, HANDLES_BARE, FORMS };

/* Makes it the image of a Dome program: its head ends with handles, here with those of a known image. */
static void add_handles(GPtrArray *image, uint32_t version)
{
    enum { HEAD = 1 }; /* block 0 is the index */
    char *problem = NULL;
    dome_ckpt_file *file = dome__ckpt_open(DOME_SOURCE_DIR "/tests/data/images/8/ckpt-00000001.dckpt", &problem);
    g_assert_cmpstr(problem, ==, NULL);
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    const dome_ckpt_object *object = dome__ckpt_find(ckpt, "image of the program");
    GPtrArray *known = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (uint64_t k = HEAD; k < object->blocks; k++) {
        GByteArray *block = g_byte_array_new();
        g_byte_array_set_size(block, (guint)dome__ckpt_entry(ckpt, object, k)->length);
        g_assert_true(dome__ckpt_read(file, object, k, block->data, &problem));
        g_ptr_array_add(known, block);
    }
    dome_capture_inspection *i = dome__capture_inspect(block_of, known, known->len, &problem);
    g_assert_cmpstr(problem, ==, NULL);
    const guint handles = (guint)i->head_bytes.handles;
    const GByteArray *from = known->pdata[0];
    GByteArray *to = image->pdata[SEGMENT_HEAD];
    g_assert_cmpuint(handles, >, 0);
    g_byte_array_append(to, from->data + from->len - handles, handles);
    dome__put_u32(to->data, version);
    dome__capture_inspection_free(i);
    g_ptr_array_unref(known);
    dome__ckpt_close(file);
}

static void make_forms(GPtrArray *forms[FORMS])
{
    dome_capture_register(&module);
    make_state(40, 10);
    memset(table, 0, sizeof table);
    forms[WRITTEN] = take();
    forms[HANDLES] = take();
    forms[WITH_ZEROS] = with_zeros(forms[WRITTEN], false);
    forms[BARE] = with_zeros(forms[WRITTEN], true);
    forms[HANDLES_BARE] = with_zeros(forms[WRITTEN], true);
    add_handles(forms[HANDLES], IMAGE_VERSION_HANDLES);
    add_handles(forms[HANDLES_BARE], IMAGE_VERSION_HANDLES_BARE);
    forget();
}

/* Reads all blocks of a Dome program's image. Its objects are not made: there are no tasks. */
static void read_blocks(const GPtrArray *blocks)
{
    static char no_environment;
    dome_capture_image *image = dome__capture_image_new_of((dome_env *)(void *)&no_environment, blocks->len);
    dome_status status = DOME_OK;
    for (guint k = 0; k < blocks->len && status == DOME_OK; k++) {
        const GByteArray *block = blocks->pdata[k];
        status = dome__capture_image_read_block(image, k, block->data, block->len);
    }
    dome__capture_image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CHANGE = 4, CUT = 0xffff };
    static GPtrArray *forms[FORMS];
    if (!forms[0])
        make_forms(forms);
    if (size == 0)
        return 0;
    const unsigned form = *data++ % FORMS;
    const GPtrArray *whole = forms[form];
    GPtrArray *changed = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (guint k = 0; k < whole->len; k++) {
        const GByteArray *block = whole->pdata[k];
        GByteArray *copy = g_byte_array_sized_new(block->len);
        g_ptr_array_add(changed, g_byte_array_append(copy, block->data, block->len));
    }
    for (size--; size >= CHANGE; data += CHANGE, size -= CHANGE) {
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
    if (form == HANDLES || form == HANDLES_BARE) {
        read_blocks(changed);
    } else {
        char *problem = restore(changed);
        if (!problem) {
            GPtrArray *again = take();
            g_ptr_array_unref(again);
        }
        g_free(problem);
    }
    forget();
    g_ptr_array_unref(changed);
    return 0;
}
