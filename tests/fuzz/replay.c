/* In place of the fuzzing library: gives every file of the folders named to the fuzzer. So its seeds are tried with any compiler.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        GDir *folder = g_dir_open(argv[i], 0, NULL);
        g_assert_nonnull(folder);
        for (const char *name; (name = g_dir_read_name(folder));) {
            char *path = g_build_filename(argv[i], name, NULL), *data;
            gsize size;
            g_assert_true(g_file_get_contents(path, &data, &size, NULL));
            LLVMFuzzerTestOneInput((const uint8_t *)data, size);
            files++;
            g_free(data);
            g_free(path);
        }
        g_dir_close(folder);
    }
    printf("%d files\n", files);
    return files == 0;
}
