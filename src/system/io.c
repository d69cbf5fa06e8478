#include "system/io.h"

#include <errno.h>
#include <glib.h>
#include <unistd.h>

/* Some systems take no more in one call than an int can count. */
static const uint64_t PIECE = (uint64_t)1 << 30;

/* offset: -1, or where in the file. */
static bool write_whole(int fd, const char *from, uint64_t bytes, int64_t offset)
{
    for (uint64_t done = 0; done < bytes;) {
        const size_t piece = (size_t)MIN(bytes - done, PIECE);
        const ssize_t n =
            offset < 0 ? write(fd, from + done, piece) : pwrite(fd, from + done, piece, (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        done += (uint64_t)n;
    }
    return true;
}

bool dome__io_write(int fd, const void *data, uint64_t bytes)
{
    return write_whole(fd, data, bytes, -1);
}

bool dome__io_write_at(int fd, const void *data, uint64_t bytes, uint64_t offset)
{
    return write_whole(fd, data, bytes, (int64_t)offset);
}

static uint64_t read_whole(int fd, char *to, uint64_t bytes, int64_t offset)
{
    for (uint64_t done = 0; done < bytes;) {
        const size_t piece = (size_t)MIN(bytes - done, PIECE);
        const ssize_t n = offset < 0 ? read(fd, to + done, piece) : pread(fd, to + done, piece, (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            return done;
        done += (uint64_t)n;
    }
    return bytes;
}

uint64_t dome__io_read(int fd, void *to, uint64_t bytes)
{
    return read_whole(fd, to, bytes, -1);
}

uint64_t dome__io_read_at(int fd, void *to, uint64_t bytes, uint64_t offset)
{
    return read_whole(fd, to, bytes, (int64_t)offset);
}

ssize_t dome__io_read_some(int fd, void *to, uint64_t bytes)
{
    ssize_t n;
    do
        n = read(fd, to, (size_t)MIN(bytes, PIECE));
    while (n < 0 && errno == EINTR);
    return n;
}
