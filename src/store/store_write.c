/* Writing the file of a checkpoint. */
#include "store/store_private.h"
#include "system/files.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *part_path(const char *directory, const dome_ckpt *ckpt)
{
    char *path = dome__ckpt_file_path(directory, ckpt->number, ckpt->piece, ckpt->pieces);
    char *part = g_strconcat(path, DOME_STORE_PART, NULL);
    g_free(path);
    return part;
}

int dome__store_new_file(const char *directory, const char *path, char **message)
{
    const char *reason;
    int fd = dome__file_make(path, dome__store_file_mode(directory), &reason);
    if (fd < 0)
        dome__ckpt_refuse(message, "checkpoint '%s' cannot be made: %s", path, reason);
    return fd;
}

/* Sets the length and allocates the space. Where a file system cannot allocate, a later write reports a full disk. Returns an
 * errno. */
static int set_length(int fd, uint64_t bytes)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    if (error == EOPNOTSUPP || error == EINVAL)
        error = ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
    dome__file_limit_end(&limit);
    return error;
}

int dome__store_create(const char *directory, const dome_ckpt *ckpt, char **message)
{
    char *path = part_path(directory, ckpt);
    int fd = dome__store_new_file(directory, path, message);
    int error = fd >= 0 ? set_length(fd, ckpt->file_bytes) : 0;
    if (error != 0) {
        errno = error;
        dome__store_fails(message, path, "written");
        close(fd);
        unlink(path);
        fd = -1;
    }
    g_free(path);
    return fd;
}

bool dome__store_resize(int fd, uint64_t bytes, char **message)
{
    int error = set_length(fd, bytes);
    if (error == 0 && ftruncate(fd, (off_t)bytes) != 0)
        error = errno;
    return error == 0 || dome__ckpt_refuse(message, "the checkpoint cannot be written: %s", dome__file_error(error));
}

int dome__store_join(const char *directory, const dome_ckpt *ckpt, char **message)
{
    struct stat s;
    const char *reason;
    char *path = part_path(directory, ckpt);
    int fd = dome__file_open(path, O_WRONLY | O_NOFOLLOW, &reason);
    if (fd >= 0 && (fstat(fd, &s) != 0 || s.st_nlink != 1)) {
        close(fd);
        fd = -1;
        reason = "it has other names as well (hard links)";
    }
    if (fd < 0)
        dome__ckpt_refuse(message, "checkpoint '%s' cannot be opened: %s", path, reason);
    g_free(path);
    return fd;
}

static gint progress;

unsigned dome__store_progress(void)
{
    return (unsigned)g_atomic_int_get(&progress);
}

void dome__store_got_on(void)
{
    g_atomic_int_inc(&progress);
}

bool dome__store_write(int fd, const void *data, uint64_t bytes, uint64_t offset, char **message)
{
    enum { PART_BYTES = 8 << 20, LARGE_BYTES = 1 << 20 };
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t part = MIN(bytes - done, PART_BYTES);
        dome_file_limit limit;
        dome__file_limit_begin(&limit);
        const bool good = dome__io_write_at(fd, (const char *)data + done, part, offset + done);
        dome__file_limit_end(&limit);
        if (!good)
            return dome__ckpt_refuse(message, "the checkpoint cannot be written: %s", dome__file_error(errno));
#ifdef SYNC_FILE_RANGE_WRITE
        /* The disk begins writing while the rest is copied; fsync reports any error. */
        if (part >= LARGE_BYTES)
            sync_file_range(fd, (off64_t)(offset + done), (off64_t)part, SYNC_FILE_RANGE_WRITE);
#endif
        done += part;
        dome__store_got_on();
    }
    return true;
}

bool dome__store_sync(int fd, void (*get_on)(void *ctx), void *ctx, char **message)
{
#ifdef SYNC_FILE_RANGE_WRITE
    enum { PART_BYTES = 8 << 20 };
    struct stat s;
    bool bad = fstat(fd, &s) != 0;
    /* The disk may take long, so the file is synced part by part to show progress. A failure here must be kept, since fsync would
     * not report it again. */
    for (off64_t at = 0; !bad && at < s.st_size; at += PART_BYTES) {
        bad = sync_file_range(fd, at, PART_BYTES,
                              SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0;
        if (bad && (errno == EIO || errno == ENOSPC || errno == EDQUOT))
            return dome__ckpt_refuse(message, "the checkpoint cannot be written: %s", strerror(errno));
        dome__store_got_on();
        if (get_on)
            get_on(ctx);
    }
#else
    (void)get_on, (void)ctx;
#endif
    bool good = fsync(fd) == 0 || dome__ckpt_refuse(message, "the checkpoint cannot be written: %s", strerror(errno));
    dome__store_got_on();
    return good;
}

/* A new name is on disk only once the directory is. */
static bool sync_directory(const char *directory, char **message)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    if (!good)
        dome__store_directory_fails(message, directory, "written to");
    if (fd >= 0)
        close(fd);
    return good;
}

bool dome__store_commit(const char *directory, dome_ckpt *ckpt, int fd, char **message)
{
    char *part = part_path(directory, ckpt), *path = dome__ckpt_file_path(directory, ckpt->number, ckpt->piece, ckpt->pieces);
    void *head = dome__ckpt_encode(ckpt);
    bool good = dome__store_write(fd, head, ckpt->head_bytes, 0, message) && dome__store_sync(fd, NULL, NULL, message);
    /* Some file systems report a full disk only now. */
    if (close(fd) != 0 && good)
        good = dome__store_fails(message, part, "written");
    if (good && rename(part, path) != 0)
        good = dome__store_fails(message, path, "written");
    if (!good)
        unlink(part);
    good = good && sync_directory(directory, message);
    g_free(head);
    g_free(part);
    g_free(path);
    return good;
}

void dome__store_abandon(const char *directory, const dome_ckpt *ckpt, int fd)
{
    char *part = part_path(directory, ckpt);
    if (fd >= 0)
        close(fd);
    unlink(part);
    g_free(part);
}
