#include "kernels/code_cache.h"

#include "system/io.h"
#include "system/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Limits of the folder. When one is exceeded, files are removed until it holds three quarters of the limit. */
enum { FILES_MAX = 1000 };
static const uint64_t BYTES_MAX = 64 << 20;

/* The time of a file's last use is recorded to this accuracy, in seconds. */
enum { USED_WITHIN = 3600 };

/* Files left by killed processes are removed at this age, in seconds. */
enum { LEFT = 3600 };

/* The longest wait for a lock, in seconds: the process that holds it may be stopped. */
static const double LOCK_WAIT = 3, LOCK_LOOK = 0.005;

enum { NAME_LENGTH = 40 };
static const char SUFFIX[] = ".so", LOCK_SUFFIX[] = ".so.lock", PART[] = "part.";

/* The end of a file; it proves that the file is complete. */
typedef struct trailer {
    char magic[8];
    uint64_t bytes, checksum;
} trailer;

static const char MAGIC[8] = "DOMEcode";

static uint64_t checksum_of(const char *data, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t k = 0; k < bytes; k++)
        sum = (sum ^ (unsigned char)data[k]) * 0x100000001b3u;
    return sum;
}

/* ---- removing files ---- */

typedef struct item {
    char *name;
    uint64_t bytes;
    struct timespec used;
} item;

static void item_clear(void *data)
{
    g_free(((item *)data)->name);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const item *)a)->used, *y = &((const item *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Whether a name is one of dome__code_cache_name's, with this suffix. */
static bool is_name(const char *name, const char *suffix)
{
    int k = 0;
    while (g_ascii_isxdigit(name[k]))
        k++;
    return k == NAME_LENGTH && strcmp(name + k, suffix) == 0;
}

/* Removes the least recently used files. Other programs may do the same; a program whose file has just been removed generates it
 * again. */
static void trim(int folder, GArray *items, uint64_t bytes)
{
    if (items->len <= FILES_MAX && bytes <= BYTES_MAX)
        return;
    g_array_sort(items, by_use);
    for (guint k = 0; k < items->len && (items->len - k > FILES_MAX / 4 * 3 || bytes > BYTES_MAX / 4 * 3); k++) {
        const item *i = &g_array_index(items, item, k);
        unlinkat(folder, i->name, 0);
        bytes -= i->bytes;
    }
}

/* Removes files beyond the limits, and those left by killed processes. */
static void tidy(int folder)
{
    GArray *items = g_array_new(FALSE, FALSE, sizeof(item));
    g_array_set_clear_func(items, item_clear);
    uint64_t bytes = 0;
    time_t old = time(NULL) - LEFT;
    DIR *dir = dome__folder_list(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        struct stat s;
        if (fstatat(folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (is_name(e->d_name, SUFFIX) && !S_ISDIR(s.st_mode)) {
            item i = {g_strdup(e->d_name), (uint64_t)s.st_size, s.st_mtim};
            g_array_append_val(items, i);
            bytes += i.bytes;
        } else if ((is_name(e->d_name, LOCK_SUFFIX) || g_str_has_prefix(e->d_name, PART)) && s.st_mtime < old) {
            unlinkat(folder, e->d_name, 0);
        }
    }
    if (dir)
        closedir(dir);
    trim(folder, items, bytes);
    g_array_unref(items);
}

/* ---- in use ---- */

char *dome__code_cache_open(dome_code_cache *cache)
{
    char *why = NULL;
    cache->path = dome__cache_path();
    cache->folder = dome__own_folder(cache->path, &why);
    if (cache->folder >= 0)
        tidy(cache->folder);
    return why;
}

void dome__code_cache_close(dome_code_cache *cache)
{
    if (cache->folder >= 0)
        close(cache->folder);
    cache->folder = -1;
    g_clear_pointer(&cache->path, g_free);
}

char *dome__code_cache_name(const char *made_from)
{
    char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, made_from, -1);
    char *name = g_strdup_printf("%.*s%s", NAME_LENGTH, digest, SUFFIX);
    g_free(digest);
    return name;
}

/* Not on each use: that would write to the disk for each program that starts. */
static void note_use(int file, const struct stat *s)
{
    if (s->st_mtime + USED_WITHIN < time(NULL))
        futimens(file, NULL);
}

/* Reads all of a file of so many bytes; NULL if it is shorter. */
static char *read_all(int file, size_t bytes)
{
    char *data = g_try_malloc(bytes);
    if (data && dome__io_read(file, data, bytes) < bytes)
        g_clear_pointer(&data, g_free);
    return data;
}

/* Checks a copy in memory, which is what gets loaded: later changes of the file or its name do not matter. */
GBytes *dome__code_cache_get(const dome_code_cache *cache, const char *name)
{
    int file = cache->folder < 0 ? -1 : openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return NULL;
    struct stat s;
    char *data = NULL;
    size_t bytes = 0;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && dome__is_ours(&s) && s.st_size > (off_t)sizeof(trailer) &&
        (uint64_t)s.st_size <= BYTES_MAX && (data = read_all(file, (size_t)s.st_size))) {
        trailer t;
        bytes = (size_t)s.st_size - sizeof t;
        memcpy(&t, data + bytes, sizeof t);
        if (memcmp(t.magic, MAGIC, sizeof MAGIC) == 0 && t.bytes == bytes && t.checksum == checksum_of(data, bytes))
            note_use(file, &s);
        else
            g_clear_pointer(&data, g_free);
    }
    close(file);
    return data ? g_bytes_new_take(data, bytes) : NULL;
}

/* The file gets its name when it is complete, so that other programs find the whole file or none. */
char *dome__code_cache_put(const dome_code_cache *cache, const char *name, GBytes *code)
{
    if (cache->folder < 0)
        return NULL;
    gsize bytes;
    const char *data = g_bytes_get_data(code, &bytes);
    trailer t = {.bytes = bytes, .checksum = checksum_of(data, bytes)};
    memcpy(t.magic, MAGIC, sizeof MAGIC);
    char *part = g_strdup_printf("%s%08x%08x", PART, g_random_int(), g_random_int()), *why = NULL;
    int file = openat(cache->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = file >= 0 && dome__io_write(file, data, bytes) && dome__io_write(file, &t, sizeof t);
    int error = errno;
    if (file >= 0 && close(file) < 0 && good) {
        good = false;
        error = errno;
    }
    if (good && renameat(cache->folder, part, cache->folder, name) < 0) {
        good = false;
        error = errno;
    }
    if (good) {
        tidy(cache->folder);
    } else {
        why = g_strdup_printf("%s: %s", cache->path, g_strerror(error));
        if (file >= 0)
            unlinkat(cache->folder, part, 0);
    }
    g_free(part);
    return why;
}

/* ---- one program generates the code ---- */

static char *lock_name(const char *name)
{
    return g_strdup_printf("%.*s%s", (int)(strlen(name) - strlen(SUFFIX)), name, LOCK_SUFFIX);
}

/* The kernel releases the lock when the process ends. */
int dome__code_cache_lock(const dome_code_cache *cache, const char *name, bool (*stop)(void *ctx), void *ctx)
{
    if (cache->folder < 0)
        return -1;
    char *file = lock_name(name);
    int lock = openat(cache->folder, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool have = false;
    for (double waited = 0; lock >= 0 && !(have = flock(lock, LOCK_EX | LOCK_NB) == 0); waited += LOCK_LOOK) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= LOCK_WAIT || stop(ctx))
            break;
        g_usleep((gulong)(LOCK_LOOK * 1e6));
    }
    if (lock >= 0 && !have)
        close(lock);
    g_free(file);
    return have ? lock : -1;
}

/* Removes the lock file: a program that waits for it then finds the code and needs no lock. */
void dome__code_cache_unlock(const dome_code_cache *cache, const char *name, int lock)
{
    if (lock < 0)
        return;
    char *file = lock_name(name);
    unlinkat(cache->folder, file, 0);
    flock(lock, LOCK_UN); /* a process that the program has forked may hold the descriptor, too */
    close(lock);
    g_free(file);
}
