/* What another user does to the folder of generated code (tests/security/code_cache.sh).
 *
 *   code_cache seal LIBRARY FILE   makes FILE of LIBRARY, with the end that says that it is whole
 *   code_cache exchange A B        exchanges two entries as fast as it can, until it is killed, for five minutes at most */
#include "kernels/code_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int seal(const char *library, const char *path)
{
    char *data, *folder = g_path_get_dirname(path), *name = g_path_get_basename(path);
    gsize bytes;
    if (!g_file_get_contents(library, &data, &bytes, NULL))
        return 1;
    dome_code_cache cache = {.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .path = folder};
    GBytes *code = g_bytes_new_take(data, bytes);
    char *why = dome__code_cache_put(&cache, name, code);
    if (why)
        fprintf(stderr, "%s\n", why);
    g_bytes_unref(code);
    g_free(name);
    dome__code_cache_close(&cache);
    return why != NULL;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "seal") == 0)
        return seal(argv[2], argv[3]);
    if (argc != 4 || strcmp(argv[1], "exchange") != 0)
        return 2;
    alarm(300);
    for (;;)
        renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE);
}
