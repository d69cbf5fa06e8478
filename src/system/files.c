#include "system/files.h"

#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- regular files ---- */

static const char *irregular(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return NULL;
    case S_IFIFO:
        return "it is a FIFO, not a regular file";
    case S_IFSOCK:
        return "it is a socket, not a regular file";
    case S_IFDIR:
        return "it is a directory, not a regular file";
    case S_IFLNK:
        return "it is a symbolic link, not a regular file";
    default:
        return "it is a device, not a regular file";
    }
}

const char *dome__file_irregular(const char *path, bool follow)
{
    struct stat s;
    return (follow ? stat(path, &s) : lstat(path, &s)) == 0 ? irregular(s.st_mode) : NULL;
}

const char *dome__file_error(int error)
{
    return error == EFBIG ? "File too large (ulimit -f, or more than the file system takes)" : g_strerror(error);
}

/* Opening a device may have side effects, so the type is checked before opening, and again after it, in case the file was
 * replaced in between. */
int dome__file_open(const char *path, int flags, const char **reason)
{
    struct stat s;
    *reason = dome__file_irregular(path, !(flags & O_NOFOLLOW));
    if (*reason) {
        errno = EINVAL;
        return -1;
    }
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &s) != 0) {
        *reason = dome__file_error(errno);
    } else if ((*reason = irregular(s.st_mode))) {
        errno = EINVAL;
    } else {
        return fd;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

char *dome__file_read(const char *path, size_t most, const char **reason)
{
    int fd = dome__file_open(path, O_RDONLY, reason);
    if (fd < 0)
        return NULL;
    GString *text = g_string_new(NULL);
    char buffer[4096];
    ssize_t n;
    while ((n = dome__io_read_some(fd, buffer, sizeof buffer)) > 0) {
        g_string_append_len(text, buffer, n);
        if (text->len > most)
            break;
    }
    int error = n < 0 ? errno : n > 0 ? EFBIG : 0;
    close(fd);
    if (error) {
        *reason = n < 0 ? g_strerror(error) : "it is too long";
        g_string_free(text, TRUE);
        errno = error;
        return NULL;
    }
    return g_string_free(text, FALSE);
}

int dome__file_make(const char *path, mode_t mode, const char **reason)
{
    int fd = -1;
    /* Another writer to the folder may recreate the file after unlink: the number of attempts is bounded. */
    for (int k = 0; k < 10 && fd < 0; k++) {
        if (unlink(path) != 0 && errno != ENOENT)
            break;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        *reason = dome__file_error(errno);
    return fd;
}

bool dome__file_replace(const char *path, const char *text, mode_t mode, const char **reason)
{
    char *part = g_strconcat(path, ".part", NULL);
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    int fd = dome__file_make(part, mode, reason);
    bool good = fd >= 0;
    if (good) {
        good = dome__io_write(fd, text, strlen(text));
        int error = errno;
        if (close(fd) != 0 && good) {
            good = false;
            error = errno;
        }
        if (good && rename(part, path) != 0) {
            good = false;
            error = errno;
        }
        if (!good) {
            unlink(part);
            *reason = dome__file_error(error);
        }
    }
    dome__file_limit_end(&limit);
    g_free(part);
    return good;
}

/* ---- limits ---- */

static bool is_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGXFSZ) == 1;
}

void dome__file_limit_begin(dome_file_limit *limit)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    limit->pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &set, &limit->mask);
}

void dome__file_limit_end(dome_file_limit *limit)
{
    const struct timespec now = {0};
    int error = errno;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (!limit->pending && is_pending())
        sigtimedwait(&set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &limit->mask, NULL);
    errno = error;
}

/* ---- large files that take a name when they are complete ---- */

/* A hidden name is this prefix, the writer's process id and a number. */
static const char HIDDEN[] = ".dome-new-";

/* More collisions of hidden names than this are made on purpose. */
enum { MOST_NAMES = 1000 };

char *dome__new_file_name(const char *target, bool named, uint64_t process, uint64_t number)
{
    if (!named)
        return g_strdup_printf("/proc/%" PRIu64 "/fd/%" PRIu64, process, number);
    char *folder = g_path_get_dirname(target);
    char *name = g_strdup_printf("%s/%s%" PRIu64 "-%" PRIu64, folder, HIDDEN, process, number);
    g_free(folder);
    return name;
}

/* The folder of a writer is named after its hidden file. */
static const char FOLDER[] = ".folder";

char *dome__new_file_folder_name(const char *hidden)
{
    return g_strconcat(hidden, FOLDER, NULL);
}

/* Removes a folder if its writer is dead: the file after which it is named, made before it and removed after it, is gone or has
 * no lock. */
static void sweep_folder(const char *path)
{
    struct stat s;
    const char *reason;
    if (!g_str_has_suffix(path, FOLDER) || lstat(path, &s) != 0 || !S_ISDIR(s.st_mode) || s.st_uid != geteuid())
        return;
    char *file = g_strndup(path, strlen(path) - strlen(FOLDER));
    int fd = dome__file_open(file, O_RDWR | O_NOFOLLOW, &reason);
    bool dead = fd >= 0 ? flock(fd, LOCK_EX | LOCK_NB) == 0 : errno == ENOENT;
    if (dead)
        dome__remove_directory(path);
    if (fd >= 0)
        close(fd);
    g_free(file);
}

/* Removes files and folders left by dead writers of this user. On file systems without locks it removes no files. */
static void sweep(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (!g_str_has_prefix(name, HIDDEN))
            continue;
        const char *reason;
        struct stat s;
        char *path = g_build_filename(folder, name, NULL);
        int fd = dome__file_open(path, O_RDWR | O_NOFOLLOW, &reason); /* open for writing: locks over NFS need that */
        if (fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlink(path);
        if (fd >= 0)
            close(fd);
        else
            sweep_folder(path);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
}

/* Does nothing if the last folder swept was this one. */
static void sweep_once(const char *folder)
{
    static char *swept;
    if (g_strcmp0(swept, folder) == 0)
        return;
    sweep(folder);
    g_free(swept);
    swept = g_strdup(folder);
}

/* Locks the new file. False if a sweeper has locked or removed it before. Always succeeds on file systems without locks. */
static bool take(int fd, bool named)
{
    struct stat s;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return !named || (fstat(fd, &s) == 0 && s.st_nlink > 0);
}

static int begin_named(dome_new_file *file, mode_t mode)
{
    for (file->number = 0; file->number < MOST_NAMES; file->number++) {
        char *name = dome__new_file_name(file->target, true, (uint64_t)getpid(), file->number);
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 && take(fd, true)) {
            file->hidden = name;
            return fd;
        }
        int error = errno;
        if (fd >= 0) {
            unlink(name);
            close(fd);
        }
        g_free(name);
        errno = error;
        if (fd < 0 && error != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

int dome__new_file_begin(dome_new_file *file, const char *path, mode_t mode, bool named)
{
    char *resolved = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? realpath(path, NULL) : NULL;
    *file = (dome_new_file){.target = g_strdup(resolved ? resolved : path), .fd = -1};
    free(resolved);
    char *folder = g_path_get_dirname(file->target);
    sweep_once(folder);
#ifdef O_TMPFILE
    if (!named && access("/proc/self/fd", X_OK) == 0) /* linkat names the file by its path there */
        file->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (file->fd >= 0) {
        take(file->fd, false);
        file->number = (uint64_t)file->fd;
    }
#endif
    g_free(folder);
    if (file->fd < 0)
        file->fd = begin_named(file, mode);
    return file->fd;
}

/* A temporary name to rename from, because linkat cannot replace an existing file. */
static bool give_hidden_name(dome_new_file *file)
{
    char *self = g_strdup_printf("/proc/self/fd/%d", file->fd);
    errno = EEXIST;
    for (uint64_t k = 0; k < MOST_NAMES && !file->hidden && errno == EEXIST; k++) {
        char *name = dome__new_file_name(file->target, true, (uint64_t)getpid(), k);
        if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
            file->hidden = name;
        else
            g_free(name);
    }
    g_free(self);
    return file->hidden != NULL;
}

bool dome__new_file_folder(dome_new_file *file, mode_t mode)
{
    char *folder = dome__new_file_folder_name(file->hidden);
    if (mkdir(folder, mode) == 0)
        file->folder = folder;
    else
        g_free(folder);
    return file->folder != NULL;
}

static bool place_without_another(dome_new_file *file)
{
    if (rename(file->folder, file->target) != 0)
        return false;
    g_clear_pointer(&file->folder, g_free);
    return true;
}

/* TARGET.before-dome, or with a number behind it: what a program left there that ended in that moment may be all there is of the
 * folder before, and stays. NULL if there is none (errno). */
static char *free_name_beside(const char *target)
{
    struct stat s;
    for (int number = 0; number < MOST_NAMES; number++) {
        char *name = number ? g_strdup_printf("%s.before-dome-%d", target, number) : g_strconcat(target, ".before-dome", NULL);
        if (lstat(name, &s) != 0 && errno == ENOENT)
            return name;
        g_free(name);
    }
    errno = EEXIST;
    return NULL;
}

static bool replace_in_two_steps(dome_new_file *file)
{
    struct stat s;
    if (lstat(file->target, &s) != 0 && errno == ENOENT)
        return place_without_another(file);
    char *before = free_name_beside(file->target);
    bool good = before && rename(file->target, before) == 0;
    if (good && rename(file->folder, file->target) != 0) {
        int error = errno;
        rename(before, file->target);
        errno = error;
        good = false;
    }
    if (good) {
        g_free(file->folder);
        file->folder = before;
    } else {
        g_free(before);
    }
    return good;
}

/* Afterwards file->folder is the folder that was replaced, or NULL if there was none. */
static bool place_folder(dome_new_file *file)
{
#ifdef RENAME_EXCHANGE
    if (renameat2(AT_FDCWD, file->folder, AT_FDCWD, file->target, RENAME_EXCHANGE) == 0)
        return true;
#else
    errno = access(file->target, F_OK) == 0 ? ENOSYS : errno;
#endif
    if (errno == EINVAL || errno == ENOSYS)
        return replace_in_two_steps(file);
    return errno == ENOENT && place_without_another(file);
}

bool dome__new_file_place(dome_new_file *file)
{
    if (file->folder)
        return place_folder(file);
    if (!file->hidden && !give_hidden_name(file))
        return false;
    if (rename(file->hidden, file->target) != 0)
        return false;
    g_clear_pointer(&file->hidden, g_free);
    return true;
}

void dome__new_file_end(dome_new_file *file)
{
    if (file->folder && unlink(file->folder) != 0) /* a link that led to nothing is unlinked */
        dome__remove_directory(file->folder);
    if (file->hidden)
        unlink(file->hidden);
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    g_clear_pointer(&file->folder, g_free);
    g_clear_pointer(&file->hidden, g_free);
    g_clear_pointer(&file->target, g_free);
}

static void remove_in(int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); /* never follow a symbolic link */
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlinkat(fd, e->d_name, 0) != 0 && depth > 0)
            remove_in(fd, e->d_name, depth - 1);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void dome__remove_directory(const char *directory)
{
    enum { DEPTH = 16 };
    remove_in(AT_FDCWD, directory, DEPTH);
}
