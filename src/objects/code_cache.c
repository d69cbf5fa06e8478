#include "objects/code_cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What is kept at most. Where it is more, files go until it is three quarters of that. */
enum { FILES_MAX = 1000 };
static const uint64_t BYTES_MAX = 64 << 20;

/* When a file was used last is known within so many seconds. */
enum { USED_WITHIN = 3600 };

/* What is left of processes that were killed is so old, seconds. */
enum { LEFT = 3600 };

/* Who has a lock may have been stopped: nobody waits for longer, seconds. */
static const double LOCK_WAIT = 3, LOCK_LOOK = 0.005;

enum { NAME_LENGTH = 40 };
static const char SUFFIX[] = ".so", LOCK_SUFFIX[] = ".so.lock", WORK[] = "work.";

/* At the end of a file: that it is whole. */
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

/* Folders and files that somebody else could have written are not used. */
static bool is_ours(const struct stat *s)
{
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* ---- what goes ---- */

typedef struct item {
    char *path;
    uint64_t bytes;
    struct timespec used;
} item;

static void item_clear(void *data)
{
    g_free(((item *)data)->path);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const item *)a)->used, *y = &((const item *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Whether a name is one of dome__code_cache_path's, with this suffix. */
static bool is_name(const char *name, const char *suffix)
{
    int k = 0;
    while (g_ascii_isxdigit(name[k]))
        k++;
    return k == NAME_LENGTH && strcmp(name + k, suffix) == 0;
}

static bool remove_folder(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *file = g_build_filename(path, name, NULL);
        g_unlink(file);
        g_free(file);
    }
    if (dir)
        g_dir_close(dir);
    return g_rmdir(path) == 0;
}

/* The files that have not been used for longest go. Others may be at the same; who wants one that has just gone makes it again. */
static void trim(GArray *items, uint64_t bytes)
{
    if (items->len <= FILES_MAX && bytes <= BYTES_MAX)
        return;
    g_array_sort(items, by_use);
    for (guint k = 0; k < items->len && (items->len - k > FILES_MAX / 4 * 3 || bytes > BYTES_MAX / 4 * 3); k++) {
        const item *i = &g_array_index(items, item, k);
        g_unlink(i->path);
        bytes -= i->bytes;
    }
}

/* Takes away what is too much, and what killed processes have left. */
static void tidy(const char *folder)
{
    GArray *items = g_array_new(FALSE, FALSE, sizeof(item));
    g_array_set_clear_func(items, item_clear);
    uint64_t bytes = 0;
    time_t old = time(NULL) - LEFT;
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename(folder, name, NULL);
        struct stat s;
        if (lstat(path, &s) < 0) {
            g_free(path);
        } else if (is_name(name, SUFFIX) && !S_ISDIR(s.st_mode)) {
            item i = {path, (uint64_t)s.st_size, s.st_mtim};
            g_array_append_val(items, i);
            bytes += i.bytes;
        } else {
            if (g_str_has_prefix(name, WORK) && S_ISDIR(s.st_mode) && s.st_mtime < old)
                remove_folder(path);
            else if (is_name(name, LOCK_SUFFIX) && s.st_mtime < old)
                g_unlink(path);
            g_free(path);
        }
    }
    if (dir)
        g_dir_close(dir);
    trim(items, bytes);
    g_array_unref(items);
}

/* ---- in use ---- */

char *dome__code_cache_open(dome_code_cache *cache)
{
    const char *given = g_getenv("DOME_CACHE_DIR");
    char *folder = given && *given ? g_strdup(given) : g_build_filename(g_get_user_cache_dir(), "dome", NULL), *why = NULL;
    struct stat s;
    if (g_mkdir_with_parents(folder, 0700) < 0 || stat(folder, &s) < 0) {
        why = g_strdup_printf("%s: %s", folder, g_strerror(errno));
    } else if (!S_ISDIR(s.st_mode) || !is_ours(&s)) {
        why = g_strdup_printf("%s: others may write there", folder);
    } else {
        tidy(folder);
        char *work = g_strdup_printf("%s/%sXXXXXX", folder, WORK);
        if (g_mkdtemp_full(work, 0700)) {
            cache->work = g_steal_pointer(&work);
            cache->folder = g_steal_pointer(&folder);
        } else {
            why = g_strdup_printf("%s: %s", folder, g_strerror(errno));
        }
        g_free(work);
    }
    g_free(folder);
    return why;
}

void dome__code_cache_close(dome_code_cache *cache)
{
    if (cache->work)
        remove_folder(cache->work);
    g_clear_pointer(&cache->work, g_free);
    g_clear_pointer(&cache->folder, g_free);
}

char *dome__code_cache_path(const dome_code_cache *cache, const char *made_from)
{
    char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, made_from, -1);
    char *path = g_strdup_printf("%s/%.*s%s", cache->folder, NAME_LENGTH, digest, SUFFIX);
    g_free(digest);
    return path;
}

/* Not each time: that would be a write to the disk for each program that starts. */
static void note_use(int file, const struct stat *s)
{
    if (s->st_mtime + USED_WITHIN < time(NULL))
        futimens(file, NULL);
}

void *dome__code_cache_load(const char *path, const char *symbol)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return NULL;
    struct stat s;
    void *code = NULL;
    GMappedFile *map = NULL;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && is_ours(&s) && s.st_size > (off_t)sizeof(trailer))
        map = g_mapped_file_new_from_fd(file, FALSE, NULL);
    if (map) {
        size_t bytes = g_mapped_file_get_length(map) - sizeof(trailer);
        const char *data = g_mapped_file_get_contents(map);
        trailer t;
        memcpy(&t, data + bytes, sizeof t);
        if (memcmp(t.magic, MAGIC, sizeof MAGIC) == 0 && t.bytes == bytes && t.checksum == checksum_of(data, bytes)) {
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* nobody else can have changed the folder since */
            code = library ? dlsym(library, symbol) : NULL;
            note_use(file, &s);
        }
        g_mapped_file_unref(map);
    }
    close(file);
    return code;
}

/* Adds the trailer before the file gets its name: who looks for that finds all of it or nothing. */
bool dome__code_cache_publish(const dome_code_cache *cache, const char *made, const char *path)
{
    char *data = NULL;
    gsize bytes;
    if (!g_file_get_contents(made, &data, &bytes, NULL))
        return false;
    trailer t = {.bytes = bytes, .checksum = checksum_of(data, bytes)};
    memcpy(t.magic, MAGIC, sizeof MAGIC);
    g_free(data);
    int file = open(made, O_WRONLY | O_APPEND | O_CLOEXEC);
    bool ok = file >= 0 && write(file, &t, sizeof t) == sizeof t && fchmod(file, 0600) == 0;
    if (file >= 0 && close(file) < 0)
        ok = false;
    if (!ok || rename(made, path) < 0)
        return false;
    tidy(cache->folder);
    return true;
}

/* ---- one makes it ---- */

static char *lock_path(const char *path)
{
    return g_strdup_printf("%.*s%s", (int)(strlen(path) - strlen(SUFFIX)), path, LOCK_SUFFIX);
}

/* The system takes the lock from a process that ends. */
int dome__code_cache_lock(const char *path, bool (*stop)(void *ctx), void *ctx)
{
    char *name = lock_path(path);
    int lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool have = false;
    for (double waited = 0; lock >= 0 && !(have = flock(lock, LOCK_EX | LOCK_NB) == 0); waited += LOCK_LOOK) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= LOCK_WAIT || stop(ctx))
            break;
        g_usleep((gulong)(LOCK_LOOK * 1e6));
    }
    if (lock >= 0 && !have)
        close(lock);
    g_free(name);
    return have ? lock : -1;
}

/* Who waits for the file that goes here finds the code made, and needs no lock. */
void dome__code_cache_unlock(const char *path, int lock)
{
    if (lock < 0)
        return;
    char *name = lock_path(path);
    g_unlink(name);
    flock(lock, LOCK_UN); /* a process that the program has forked may have the descriptor, too */
    close(lock);
    g_free(name);
}
