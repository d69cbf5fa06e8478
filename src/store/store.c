#include "store/store_private.h"

#include "system/files.h"
#include "system/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LOCK_NAME[] = "lock";

struct dome_store {
    char *directory, *program;
    int lock;
    GArray *removed; /* int: descriptors of files that have no name any more */
};

bool dome__store_fails(char **message, const char *path, const char *what)
{
    int error = errno;
    return dome__ckpt_refuse(message, "checkpoint '%s' cannot be %s: %s", path, what, dome__file_error(error));
}

bool dome__store_directory_fails(char **message, const char *directory, const char *what)
{
    int error = errno;
    return dome__ckpt_refuse(message, "checkpoint directory '%s' cannot be %s: %s", directory, what, dome__file_error(error));
}

/* The rights of files follow those of the directory: a user who cannot read the directory cannot read its files, even if they are
 * moved. */
mode_t dome__store_file_mode(const char *directory)
{
    struct stat s;
    return stat(directory, &s) == 0 ? s.st_mode & 0666 : 0600;
}

/* ---- the lock ----
 *
 * It is flock's: a lock of fcntl is lost as soon as anything in the process closes the file, such as a program that copies its
 * checkpoints. Over NFS it becomes a lock of the server, shared by all hosts. But any process that can open a file can lock it,
 * and a child of fork inherits its parent's lock. So only its owner may open the file, and children give the lock up. The file is
 * not removed when it is unlocked: another process may just have opened it. */

/* The lock that a child of fork would inherit. */
static struct {
    pthread_mutex_t mutex;
    GSList *stores;
} locked = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void)
{
    pthread_mutex_lock(&locked.mutex);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&locked.mutex);
}

static void in_child(void)
{
    for (GSList *i = locked.stores; i; i = i->next) {
        dome_store *store = i->data;
        close(store->lock);
        store->lock = -1;
    }
    locked.stores = NULL;
    pthread_mutex_unlock(&locked.mutex);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

static int open_lock(const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&locked.mutex); /* no child is made before the lock is registered here */
    return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
}

static void keep_lock(dome_store *store)
{
    if (store->lock >= 0)
        locked.stores = g_slist_prepend(locked.stores, store);
    pthread_mutex_unlock(&locked.mutex);
}

static void drop_lock(dome_store *store)
{
    pthread_mutex_lock(&locked.mutex);
    locked.stores = g_slist_remove(locked.stores, store);
    if (store->lock >= 0)
        close(store->lock);
    store->lock = -1;
    pthread_mutex_unlock(&locked.mutex);
}

/* Why other users could lock the file, or why it may exist elsewhere as well; NULL: no reason. A file owned by the owner of the
 * directory is as safe as the directory. */
static const char *flaw(int fd, const char *directory)
{
    struct stat s, d;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        return "it is not a regular file";
    if (s.st_nlink != 1)
        return "it has other names as well (hard links)";
    if (s.st_uid != geteuid() && (stat(directory, &d) != 0 || d.st_uid != s.st_uid))
        return "it belongs to another user";
    if ((s.st_mode & 0077) != 0 && fchmod(fd, 0600) != 0)
        return "others may open it";
    return NULL;
}

/* The holder of the lock, as written in the file. */
static char *lock_holder(int fd)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    g_strchomp(text);
    return *text ? dome__ckpt_shown(text) : g_strdup("another program");
}

static bool write_holder(const dome_store *store)
{
    char *text = g_strdup_printf("%s, process %d on %s\n", store->program, (int)getpid(), g_get_host_name());
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    bool good = ftruncate(store->lock, 0) == 0 && pwrite(store->lock, text, strlen(text), 0) == (ssize_t)strlen(text);
    dome__file_limit_end(&limit);
    g_free(text);
    return good;
}

static bool take_lock(dome_store *store, char **message)
{
    char *path = g_build_filename(store->directory, LOCK_NAME, NULL);
    const char *wrong = dome__file_irregular(path, false); /* opening a device may have effects */
    if (!wrong) {
        store->lock = open_lock(path);
        int error = errno;
        keep_lock(store);
        errno = error;
        if (store->lock >= 0)
            wrong = flaw(store->lock, store->directory);
        else if (errno == EACCES && access(path, F_OK) == 0)
            wrong = "it belongs to another user";
    }
    g_free(path);
    if (wrong)
        return dome__ckpt_refuse(message,
                                 "checkpoint directory '%s' cannot be locked by its file '%s': %s; remove it, or take a "
                                 "directory of your own",
                                 store->directory, LOCK_NAME, wrong);
    if (store->lock < 0)
        return dome__store_directory_fails(message, store->directory, "written to");
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return dome__store_directory_fails(message, store->directory, "locked");
        char *holder = lock_holder(store->lock);
        dome__ckpt_refuse(message, "checkpoint directory '%s' is in use by %s", store->directory, holder);
        g_free(holder);
        return false;
    }
    return write_holder(store) || dome__store_directory_fails(message, store->directory, "written to");
}

/* ---- listing ---- */

static bool is_part(const char *name)
{
    uint64_t number;
    uint32_t piece, pieces;
    if (!g_str_has_suffix(name, DOME_STORE_PART))
        return false;
    char *whole = g_strndup(name, strlen(name) - strlen(DOME_STORE_PART));
    bool part = dome__ckpt_parse_name(whole, &number, &piece, &pieces);
    g_free(whole);
    return part;
}

/* The names in a directory; NULL if it cannot be read. */
static GPtrArray *read_names(const char *directory, char **message)
{
    DIR *d = opendir(directory);
    if (!d) {
        dome__store_directory_fails(message, directory, "read");
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    errno = 0;
    for (struct dirent *e; (e = readdir(d)); errno = 0)
        g_ptr_array_add(names, g_strdup(e->d_name));
    if (errno != 0) {
        dome__store_directory_fails(message, directory, "read");
        g_clear_pointer(&names, g_ptr_array_unref);
    }
    closedir(d);
    return names;
}

/* They lose their names. While they are open their space is not freed, which takes long. */
static bool remove_parts(const dome_store *store, char **message)
{
    GPtrArray *names = read_names(store->directory, message);
    bool good = names != NULL;
    for (guint i = 0; good && i < names->len; i++) {
        if (!is_part(g_ptr_array_index(names, i)))
            continue;
        const char *reason;
        char *path = g_build_filename(store->directory, g_ptr_array_index(names, i), NULL);
        int fd = dome__file_open(path, O_RDONLY | O_NOFOLLOW, &reason);
        if (unlink(path) != 0 && errno != ENOENT)
            good = dome__store_fails(message, path, "removed");
        if (fd >= 0)
            g_array_append_val(store->removed, fd);
        g_free(path);
    }
    if (names)
        g_ptr_array_unref(names);
    return good;
}

/* Files in this directory decide what the program does, down to the files that it writes (src/capture). */
static bool make_trusted(const char *directory, char **message)
{
    char *why = NULL;
    const bool good = dome__trusted_folder(directory, &why);
    if (!good && !why)
        return dome__store_directory_fails(message, directory, "made");
    if (!good)
        dome__ckpt_refuse(message,
                          "checkpoint directory '%s' is not used, since another user may have put something there: %s; take a "
                          "directory of your own, or trust this one by --dome-checkpoint-trust",
                          directory, why);
    g_free(why);
    return good;
}

bool dome__store_make_directory(const char *directory, dome_store_owner owner, char **message)
{
    struct stat s;
    const bool own = owner == DOME_STORE_OWN;
    if (owner == DOME_STORE_TRUSTED)
        return make_trusted(directory, message);
    if (g_mkdir_with_parents(directory, own ? 0700 : 0777) != 0)
        return dome__store_directory_fails(message, directory, "made");
    if (!own || (lstat(directory, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 0077) == 0))
        return true;
    return dome__ckpt_refuse(message,
                             "checkpoint directory '%s' cannot be used: others than this user may have made it or look "
                             "into it",
                             directory);
}

dome_store *dome__store_open(const char *directory, const char *program, char **message)
{
    dome_store *store = g_new(dome_store, 1);
    *store = (dome_store){g_strdup(directory), g_strdup(program), -1, g_array_new(FALSE, FALSE, sizeof(int))};
    if (dome__store_make_directory(directory, DOME_STORE_ANY, message) && take_lock(store, message) &&
        remove_parts(store, message))
        return store;
    dome__store_close(store);
    return NULL;
}

void dome__store_free_space(dome_store *store)
{
    for (guint i = 0; i < store->removed->len; i++)
        close(g_array_index(store->removed, int, i));
    g_array_set_size(store->removed, 0);
}

void dome__store_close(dome_store *store)
{
    if (!store)
        return;
    drop_lock(store);
    dome__store_free_space(store);
    g_array_unref(store->removed);
    g_free(store->directory);
    g_free(store->program);
    g_free(store);
}

static void free_item(void *data)
{
    dome_store_item *item = data;
    dome__ckpt_close(item->file);
    g_free(item->path);
    g_free(item->damage);
    g_free(item);
}

static int by_number(const void *a, const void *b)
{
    const dome_store_item *x = *(dome_store_item *const *)a, *y = *(dome_store_item *const *)b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->pieces != y->pieces)
        return x->pieces < y->pieces ? -1 : 1;
    return x->piece < y->piece ? -1 : x->piece > y->piece;
}

/* Whether a file's contents agree with its name. */
static bool named_right(const dome_store_item *item, char **message)
{
    const dome_ckpt *ckpt = dome__ckpt_head(item->file);
    if (ckpt->number == item->number && ckpt->piece == item->piece && ckpt->pieces == item->pieces)
        return true;
    return dome__ckpt_refuse(message, "checkpoint '%s' is number %" PRIu64 ", piece %u of %u: it was renamed", item->path,
                             ckpt->number, ckpt->piece, ckpt->pieces);
}

static void open_item(dome_store_item *item)
{
    item->file = dome__ckpt_open(item->path, &item->damage);
    if (item->file && !named_right(item, &item->damage)) {
        dome__ckpt_close(item->file);
        item->file = NULL;
    }
    if (item->file)
        dome__ckpt_check_earlier(item->file, &item->damage);
}

/* Without opening them. */
static GPtrArray *list_names(const char *directory, char **message)
{
    GPtrArray *names = read_names(directory, message);
    if (!names)
        return NULL;
    GPtrArray *items = g_ptr_array_new_with_free_func(free_item);
    for (guint i = 0; i < names->len; i++) {
        dome_store_item item = {0};
        const char *name = g_ptr_array_index(names, i);
        if (!dome__ckpt_parse_name(name, &item.number, &item.piece, &item.pieces))
            continue;
        item.path = g_strdup_printf("%s/%s", directory, name);
        dome_store_item *kept = g_new(dome_store_item, 1);
        *kept = item;
        g_ptr_array_add(items, kept);
    }
    g_ptr_array_unref(names);
    g_ptr_array_sort(items, by_number);
    return items;
}

/* Files that are gone by now are left out. */
static void open_items(GPtrArray *items)
{
    for (guint i = 0; i < items->len;) {
        dome_store_item *item = g_ptr_array_index(items, i);
        open_item(item);
        if (!item->file && access(item->path, F_OK) != 0 && errno == ENOENT)
            g_ptr_array_remove_index(items, i);
        else
            i++;
    }
}

GPtrArray *dome__store_list(const char *directory, char **message)
{
    GPtrArray *items = list_names(directory, message);
    if (items)
        open_items(items);
    return items;
}

static bool is_program(const dome_store_item *item, const char *program, char **message)
{
    const dome_ckpt *ckpt = dome__ckpt_head(item->file);
    if (dome__ckpt_is_of(ckpt, program))
        return true;
    char *theirs = dome__ckpt_shown(ckpt->program), *ours = dome__ckpt_shown(program);
    dome__ckpt_refuse(message, "checkpoint '%s' is of program %s, not of %s", item->path, theirs, ours);
    g_free(theirs);
    g_free(ours);
    return false;
}

/* Opens an item, or states why it cannot be used. */
static dome_ckpt_file *usable(dome_store_item *item, const char *program, bool verify, char **reason)
{
    open_item(item);
    if (item->damage)
        *reason = g_steal_pointer(&item->damage);
    else if (is_program(item, program, reason) && (!verify || dome__ckpt_verify(item->file, reason)))
        return g_steal_pointer(&item->file);
    return NULL;
}

dome_ckpt_file *dome__store_newest(const char *directory, const char *program, bool verify, char **skipped, char **message)
{
    dome_ckpt_file *file = NULL;
    *skipped = NULL;
    GPtrArray *items = list_names(directory, message);
    if (!items)
        return NULL;
    GString *lines = g_string_new(NULL);
    for (guint i = items->len; i > 0 && !file; i--) {
        dome_store_item *item = g_ptr_array_index(items, i - 1);
        char *reason = NULL;
        if (item->pieces > 0)
            continue;
        file = usable(item, program, verify, &reason);
        if (reason)
            g_string_append_printf(lines, "%s%s", lines->len ? "\n" : "", reason);
        g_free(reason);
    }
    if (!file)
        dome__ckpt_refuse(message, "checkpoint directory '%s' has no checkpoint that can be used%s", directory,
                          items->len == 0 ? ": there is none in it" : "");
    *skipped = g_string_free(lines, lines->len == 0);
    g_ptr_array_unref(items);
    return file;
}

bool dome__store_next_number(const char *directory, uint64_t *number, char **message)
{
    GPtrArray *items = list_names(directory, message);
    if (!items)
        return false;
    *number = 1;
    if (items->len > 0)
        *number = ((dome_store_item *)g_ptr_array_index(items, items->len - 1))->number + 1;
    g_ptr_array_unref(items);
    return *number > 0 || dome__ckpt_refuse(message, "checkpoint directory '%s' has no number left", directory);
}

/* ---- removing ---- */

static bool ours(const dome_store *store, const dome_store_item *item)
{
    return item->file && dome__ckpt_is_of(dome__ckpt_head(item->file), store->program);
}

/* The numbers of the files that the newest `keep` good checkpoints need. *newest is 0 if there is none. */
static GHashTable *needed(const dome_store *store, const GPtrArray *items, unsigned keep, uint64_t *newest)
{
    GHashTable *numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    uint64_t last = 0;
    unsigned found = 0;
    *newest = 0;
    for (guint i = items->len; i > 0; i--) {
        const dome_store_item *item = g_ptr_array_index(items, i - 1);
        if (item->damage || !ours(store, item))
            continue;
        if (item->number != last && found++ == keep)
            break;
        last = item->number;
        *newest = MAX(*newest, last);
        const dome_ckpt *ckpt = dome__ckpt_head(item->file);
        g_hash_table_add(numbers, g_memdup2(&last, sizeof last));
        for (guint k = 0; k < ckpt->earlier->len; k++)
            g_hash_table_add(numbers, g_memdup2(&g_array_index(ckpt->earlier, dome_ckpt_earlier, k).number, sizeof last));
    }
    return numbers;
}

/* Whether there are files of more than `keep` numbers, which the names alone tell. */
static bool too_many(const GPtrArray *items, unsigned keep)
{
    uint64_t last = 0;
    unsigned found = 0;
    for (guint i = 0; i < items->len && found <= keep; i++) {
        const dome_store_item *item = g_ptr_array_index(items, i);
        found += item->number != last;
        last = item->number;
    }
    return found > keep;
}

bool dome__store_prune(dome_store *store, unsigned keep, char **message)
{
    GPtrArray *items = list_names(store->directory, message);
    if (!items)
        return false;
    /* To open each of many files behind every checkpoint would take longer than to write it. */
    if (!too_many(items, MAX(keep, 1))) {
        g_ptr_array_unref(items);
        return true;
    }
    open_items(items);
    uint64_t newest;
    bool good = true;
    GHashTable *numbers = needed(store, items, MAX(keep, 1), &newest);
    for (guint i = items->len; good && i > 0; i--) { /* the newest first: it may need those before it */
        const dome_store_item *item = g_ptr_array_index(items, i - 1);
        bool other = item->file && !ours(store, item);
        if (other || item->number > newest || g_hash_table_contains(numbers, &item->number))
            continue;
        if (unlink(item->path) != 0 && errno != ENOENT)
            good = dome__store_fails(message, item->path, "removed");
    }
    g_hash_table_destroy(numbers);
    g_ptr_array_unref(items);
    return good;
}
