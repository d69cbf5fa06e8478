#include "wire/shown_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file has NUMBER pages. When the position is LAG pages further, pages are given back to the system, STEP at a time: no pipe
 * still holds them. */
enum { PAGE = DOME_SHOWN_PIECE, NUMBER = DOME_SHOWN_PAGES / PAGE, LAG = NUMBER / 2, STEP = NUMBER / 8 };

/* The position, in bytes behind the first page. */
static uint64_t position_of(const dome_shown_writer *w)
{
    const off_t at = lseek(w->file, 0, SEEK_CUR);
    return at < 0 ? 0 : (uint64_t)at - w->first;
}

static bool set_position(const dome_shown_writer *w, uint64_t position)
{
    return lseek(w->file, (off_t)(w->first + position), SEEK_SET) >= 0;
}

bool dome__shown_writer_open(dome_shown_writer *w, dome_shown_stream *stream, int file, uint64_t first)
{
    *w = (dome_shown_writer){.stream = stream, .file = file, .first = first};
    const off_t at = lseek(file, 0, SEEK_CUR);
    return at >= 0 && ((uint64_t)at >= first || set_position(w, 0));
}

uint64_t dome__shown_written(const dome_shown_writer *w)
{
    uint64_t at, before, now = position_of(w);
    do { /* until the writer has gone to no other page meanwhile */
        at = now;
        before = __atomic_load_n(&w->stream->before[at / PAGE % 2], __ATOMIC_ACQUIRE);
        now = position_of(w);
    } while (now / PAGE != at / PAGE);
    return before + at % PAGE;
}

/* The number of pages is even: two that follow each other have their counts in two places. */
static uint64_t next_page(const dome_shown_writer *w)
{
    return (position_of(w) / PAGE + 1) % NUMBER;
}

/* Goes on with the next page: the position alone decides which of the two counts is valid. */
bool dome__shown_set_written(dome_shown_writer *w, uint64_t written)
{
    const uint64_t next = next_page(w);
    __atomic_store_n(&w->stream->before[next % 2], written, __ATOMIC_RELEASE);
    return set_position(w, next * PAGE);
}

/* Whether sendfile cannot do what write may. */
static bool is_unable(int error)
{
    return error == EINVAL || error == ENOSYS || error == EPERM || error == EOPNOTSUPP;
}

static void give_back(const dome_shown_writer *w, uint64_t page)
{
    const uint64_t from = (page + NUMBER - LAG) % NUMBER;
    if (page % STEP == 0)
        fallocate(w->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(w->first + from * PAGE), (off_t)STEP * PAGE);
}

/* Puts the text into a new page, where the position is then. */
static bool put(dome_shown_writer *w, const char *text, size_t length)
{
    const uint64_t page = next_page(w), written = dome__shown_written(w);
    if (pwrite(w->file, text, length, (off_t)(w->first + page * PAGE)) != (ssize_t)length)
        return false;
    give_back(w, page);
    if (!dome__shown_set_written(w, written))
        return false;
    __atomic_store_n(&w->stream->before[(page + 1) % 2], written + PAGE, __ATOMIC_RELEASE); /* a full page ends in the next */
    return true;
}

ssize_t dome__shown_write(dome_shown_writer *w, int fd, const char *text, size_t length)
{
    length = length < DOME_SHOWN_PIECE ? length : DOME_SHOWN_PIECE;
    ssize_t n = -1;
    w->plain = w->plain || !put(w, text, length);
    if (!w->plain) {
        n = sendfile(fd, w->file, NULL, length);
        w->plain = n < 0 && is_unable(errno);
    }
    if (w->plain) {
        n = write(fd, text, length);
        const int error = errno;
        if (n > 0)
            dome__shown_set_written(w, dome__shown_written(w) + (uint64_t)n);
        errno = error;
    }
    return n;
}

uint64_t dome__shown_offset(int fd)
{
    struct stat s;
    const int flags = fcntl(fd, F_GETFL);
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at >= 0 && flags >= 0 && (flags & O_APPEND))
        at = fstat(fd, &s) == 0 ? s.st_size : -1;
    return at < 0 ? UINT64_MAX : (uint64_t)at;
}
