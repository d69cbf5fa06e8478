/* What another host's task asks this one to keep: whatever arrives is refused, or changes files of that task alone, in the
 * directory of checkpoints. The input is a row of requests: one byte (bits 0-1: from which task, bits 2-3: which request; bit 4:
 * with words that may be good), one of length, and as many bytes. */
#include "copies/copies.h"
#include "copies/copies_keeper.h"
#include "system/bytes.h"
#include "system/files.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 3, HEAD = 2, WORDS = 5 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool belongs(const char *name)
{
    bool known = false;
    for (int r = 0; r < TASKS; r++) {
        char *stem = dome__copies_stem("", "program", r, TASKS), *end = g_strdup_printf(".%dof%d.dckpt", r + 1, TASKS),
             *part = g_strconcat(end, DOME_STORE_PART, NULL);
        known |= g_str_has_prefix(name, stem + 1) && name[strlen(stem + 1)] == '-';
        known |= g_str_has_prefix(name, "ckpt-") && (g_str_has_suffix(name, end) || g_str_has_suffix(name, part));
        g_free(stem);
        g_free(end);
        g_free(part);
    }
    return known || strcmp(name, "foreign") == 0;
}

static void check_files(const char *directory)
{
    struct stat s;
    char *foreign = g_build_filename(directory, "foreign", NULL);
    GDir *dir = g_dir_open(directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));)
        require(belongs(name));
    require(stat(foreign, &s) == 0 && s.st_size == 7);
    g_dir_close(dir);
    g_free(foreign);
}

/* Words with small numbers of files and checkpoints, and places that fit. */
static GByteArray *request_of(uint8_t what, const uint8_t *bytes, size_t length)
{
    GByteArray *q = g_byte_array_new();
    const size_t words = what & 16 ? MIN(length, WORDS - 1) : 0;
    dome__append_u64(q, what >> 2 & 3);
    for (size_t k = 0; k < words; k++)
        dome__append_u64(q, bytes[k]);
    dome__append_bytes(q, bytes + words, length - words);
    return q;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *directory = g_dir_make_tmp("dome-copies.XXXXXX", NULL), *foreign = g_build_filename(directory, "foreign", NULL);
    dome_keeper *k = dome__keeper_new(directory, "program", TASKS, true);
    require(g_file_set_contents(foreign, "foreign", 7, NULL));
    for (size_t at = 0; at + HEAD <= size;) {
        const size_t length = MIN(data[at + 1], size - at - HEAD);
        GByteArray *q = request_of(data[at], data + at + HEAD, length);
        g_free(dome__keeper_take(k, data[at] & 3, q->data, q->len)); /* 3: there is no such task */
        g_byte_array_unref(q);
        at += HEAD + length;
    }
    check_files(directory);
    dome__keeper_free(k);
    dome__remove_directory(directory);
    g_free(foreign);
    g_free(directory);
    return 0;
}
