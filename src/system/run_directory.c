#include "system/run_directory.h"

#include "system/entropy.h"

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "dome-"

/* Seconds within which a run locks the directory that it has created: a younger one is not swept. */
enum { NEW = 5 };

char *dome__run_directory_name(const char *parent)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    guint8 random[9];
    if (!dome__random(random, sizeof random))
        return NULL;
    char id[sizeof random] = "";
    for (size_t i = 0; i + 1 < sizeof random; i++)
        id[i] = letters[random[i] % 32];
    return g_strdup_printf("%s/" PREFIX "%u-%s", parent, (unsigned)geteuid(), id);
}

int dome__run_directory_lock(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void dome__run_directory_sweep(const char *parent, void (*remove)(const void *ctx, const char *path), const void *ctx)
{
    GDir *dir = g_dir_open(parent, 0, NULL);
    char *mine = g_strdup_printf(PREFIX "%u-", (unsigned)geteuid());
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        if (!g_str_has_prefix(name, mine))
            continue;
        char *path = g_build_filename(parent, name, NULL);
        struct stat s;
        int fd = dome__run_directory_lock(path);
        if (fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() && time(NULL) - s.st_mtime > NEW)
            remove(ctx, path);
        if (fd >= 0)
            close(fd);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_free(mine);
}
