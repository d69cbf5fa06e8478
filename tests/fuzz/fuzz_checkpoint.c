/* The head of a checkpoint: whatever the bytes are, it is refused in words or means what it says. The first byte chooses whether
 * the checksum is put right, so that the parts behind it are reached. */
#include "store/store_inspect.h"
#include "store/windows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require_at(bool so, int line)
{
    if (!so) {
        fprintf(stderr, "fuzz_checkpoint.c:%d: it is not so\n", line);
        abort();
    }
}
#define require(so) require_at(so, __LINE__)

static void seal(uint8_t *head, size_t bytes)
{
    memset(head + 48, 0, 16);
    dome_checksum sum = dome__checksum(head, bytes);
    memcpy(head + 48, sum.bytes, 16);
}

/* Makes the lengths in the header those of the bytes, so that most inputs get past it. The data would be 1000 bytes long. */
static uint64_t set_lengths(uint8_t *head, size_t bytes)
{
    uint64_t lengths[2] = {GUINT64_TO_BE(bytes), GUINT64_TO_BE(bytes + 1000)};
    memcpy(head + 24, lengths, sizeof lengths);
    return bytes + 1000;
}

static void check_value(void *context, uint64_t element, dome_ckpt_value value)
{
    const dome_ckpt_column *column = context;
    char text[DOME_CKPT_TEXT];
    (void)element;
    dome__ckpt_value_text(value, column->kind, text);
    require(*text && strlen(text) < sizeof text);
    if (value.class == DOME_CKPT_FLOAT && !isnan(value.f))
        require(g_ascii_strtod(text, NULL) == value.f ||
                (column->kind == DOME_KIND_F32 && (float)g_ascii_strtod(text, NULL) == value.f));
}

/* Looks at a block of an object as if the input were its bytes. */
static void check_values(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block, const uint8_t *head)
{
    bool all;
    uint64_t bytes = dome__ckpt_entry(ckpt, object, block)->length, values = dome__ckpt_block_values(object, block);
    uint64_t value_bytes = dome__ckpt_type_bytes(ckpt, object->type);
    if (!object->fixed || bytes > 4096 || dome__ckpt_entry(ckpt, object, block)->source == 0)
        return;
    require(bytes == values * value_bytes && dome__ckpt_types_equal(ckpt, object->type, ckpt, object->type));
    uint8_t *a = malloc(bytes + (bytes == 0)), *b = malloc(bytes + (bytes == 0));
    for (uint64_t i = 0; i < bytes; i++) {
        a[i] = head[i % ckpt->head_bytes];
        b[i] = head[(i + 1) % ckpt->head_bytes];
    }
    GPtrArray *columns = dome__ckpt_columns(ckpt, object->type, &all);
    uint64_t seen = 0;
    for (guint i = 0; i < columns->len; i++) {
        dome_ckpt_column *column = g_ptr_array_index(columns, i);
        dome_ckpt_statistics s = {0};
        dome_ckpt_difference d = {0}, none = {0};
        dome__ckpt_statistics_add(&s, column, a, values, value_bytes);
        dome__ckpt_difference_add(&d, column, &(dome_ckpt_pair){a, b, values, value_bytes, 0});
        dome__ckpt_difference_add(&none, column, &(dome_ckpt_pair){a, a, values, value_bytes, 0});
        dome__ckpt_each_value(column, a, values, value_bytes, check_value, column);
        require(s.nan + s.infinite <= s.count && s.count <= bytes && d.count <= s.count && none.count == 0);
        if (s.nan + s.infinite < s.count)
            require(isfinite(dome__ckpt_mean(&s)));
        if (d.count > 0)
            require(d.first < values && d.largest >= 0);
        seen += s.count;
    }
    require(!all || (seen > 0) == (bytes > 0));
    g_ptr_array_unref(columns);
    free(a);
    free(b);
}

/* An object's shape, if it has one, has its number of values. */
static void check_shape(const dome_ckpt *ckpt, const dome_ckpt_object *object)
{
    int ndim;
    uint64_t *shape = dome__ckpt_shape(ckpt, object, &ndim), product = 1;
    require((shape == NULL) == (ndim == 0) && (!shape || dome__ckpt_has_shapes(ckpt)));
    for (int d = 0; d < ndim; d++)
        product *= shape[d];
    require(!shape || product == object->length * object->width);
    g_free(shape);
}

static void check_again(dome_ckpt *ckpt, const uint8_t *head)
{
    void *again = dome__ckpt_encode(ckpt);
    require(memcmp(again, head, ckpt->head_bytes) == 0);
    g_free(again);
}

/* One of deltas: its windows are in order, and lie one behind the other. */
static void check_windows(dome_ckpt *ckpt, const uint8_t *head)
{
    uint64_t end = ckpt->head_bytes;
    require(!ckpt->table && ckpt->earlier->len > 0 && ckpt->pieces == 0);
    for (guint i = 0; i < ckpt->windows->len; i++) {
        const dome_ckpt_window *w = &g_array_index(ckpt->windows, dome_ckpt_window, i);
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, w->object);
        require(object && w->window < dome__ckpt_windows(ckpt, object) && w->offset == end);
        require(dome__ckpt_window_of(ckpt, object, w->window * dome__ckpt_window_blocks(ckpt, object)) == w);
        end += w->bytes;
    }
    require(end == ckpt->file_bytes && dome__ckpt_same_objects(ckpt, ckpt));
    check_again(ckpt, head);
}

static void check_read(dome_ckpt *ckpt, const uint8_t *head)
{
    uint64_t entries = 0;
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        require(object->first_entry == entries && *object->name && *object->kind);
        require(*dome__ckpt_type_name(ckpt, object->type) != 0);
        entries += object->blocks;
        char *shown = dome__ckpt_shown(object->name);
        require(g_utf8_validate(shown, -1, NULL) && !strchr(shown, '\n'));
        g_free(shown);
        check_shape(ckpt, object);
        for (uint64_t b = 0; b < object->blocks; b++) {
            const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
            require(e->source <= ckpt->number && (e->source != ckpt->number || e->offset + e->length <= ckpt->file_bytes));
            if (b < 4)
                check_values(ckpt, object, b, head);
        }
    }
    require(entries == ckpt->entries && dome__ckpt_same(ckpt, ckpt));
    check_again(ckpt, head);

    /* What was read can be the one before another. */
    char *message = NULL;
    dome_ckpt *next = dome__ckpt_whole_of(ckpt);
    next->number = ckpt->number + 1;
    if (next->number > 0 && ckpt->pieces == 0) {
        for (uint64_t i = 0; i < ckpt->entries; i++)
            next->table[i] = ckpt->table[i];
        if (dome__ckpt_plan(next, ckpt, &message))
            require(next->file_bytes >= next->head_bytes);
        g_free(message);
    }
    dome__ckpt_free(next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t bytes = size - 1;
    uint64_t file_bytes = bytes, head_bytes;
    uint8_t *head = malloc(bytes + 1); /* exactly as long as it is said to be, for the sanitizer */
    memcpy(head, data + 1, bytes);
    head = realloc(head, bytes ? bytes : 1);
    if (bytes >= DOME_CKPT_HEADER && data[0] & 1)
        file_bytes = set_lengths(head, bytes);
    if (bytes >= DOME_CKPT_HEADER && data[0] & 2)
        seal(head, bytes);

    char *message = NULL;
    bool started = dome__ckpt_head_bytes(head, bytes, file_bytes, &head_bytes, &message);
    require(started == (message == NULL) && (!started || head_bytes <= file_bytes));
    g_clear_pointer(&message, g_free);
    dome_ckpt *ckpt = dome__ckpt_decode(head, bytes, file_bytes, &message);
    require((ckpt == NULL) == (message != NULL));
    if (ckpt)
        (ckpt->windows ? check_windows : check_read)(ckpt, head);
    else
        require(*message && !strchr(message, '\n') && g_utf8_validate(message, -1, NULL));
    g_free(message);
    dome__ckpt_free(ckpt);
    free(head);
    return 0;
}
