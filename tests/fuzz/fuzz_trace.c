/* A trace: whatever the bytes are, it is refused in words, or read and written again as JSON and in sums that can be relied on.
 */
#include "trace/chrome.h"

#include <stdlib.h>

static void require(bool so)
{
    if (!so)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *message = NULL, *json = NULL;
    size_t length;
    dome_trace_file *file = dome__trace_parse((const char *)data, size, &message);
    require((file == NULL) == (message != NULL));
    if (file) {
        for (guint k = 0; k < file->spans->len; k++) {
            const dome_trace_span *s = &g_array_index(file->spans, dome_trace_span, k);
            require(s->took >= 0 && s->task >= 0 && (guint)s->task < file->tasks->len);
            require(k == 0 || s->start >= g_array_index(file->spans, dome_trace_span, k - 1).start);
        }
        for (guint k = 0; k < file->layouts->len; k++) {
            const dome_trace_layout *l = &g_array_index(file->layouts, dome_trace_layout, k);
            uint64_t blocks = 0;
            for (int r = 0; r < l->tasks; r++)
                blocks += l->counts[r];
            require(l->block_size > 0 || blocks == 0);
            require(blocks == 0 || (l->start < blocks && blocks - 1 <= l->length / l->block_size));
        }
        FILE *to = open_memstream(&json, &length);
        require(to != NULL);
        dome__trace_write_chrome(file, to);
        fclose(to);
        free(json);
    }
    dome__trace_file_free(file);
    g_free(message);
    return 0;
}
