#include "wire/shown_copy.h"

#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = sizeof(uint64_t), HEAD = 4096, POSITION_AT = 64, PIECE = 512 /* words */, MOST_RANKS = 1 << 20 };

/* "DOMESHWN", and the version of the form. */
static const uint64_t MAGIC = 0x4e574853454d4f44u, VERSION = 1;

static const uint64_t PART = (sizeof(dome_shown_past) + HEAD - 1) / HEAD * HEAD;

static uint64_t part_at(int rank)
{
    return HEAD + PART * (uint64_t)rank;
}

/* ---- words ---- */

static bool write_all(int fd, const void *data, size_t bytes, uint64_t at)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = pwrite(fd, (const char *)data + done, bytes - done, (off_t)(at + done));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            break;
        done += (size_t)MAX(n, 0);
    }
    dome__file_limit_end(&limit);
    return done == bytes;
}

static bool write_words(int fd, const void *words, size_t bytes, uint64_t at)
{
    if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
        return write_all(fd, words, bytes, at);
    uint64_t piece[PIECE];
    bool good = true;
    for (size_t done = 0, n; good && done < bytes; done += n) {
        n = MIN(bytes - done, sizeof piece);
        memcpy(piece, (const char *)words + done, n);
        for (size_t i = 0; i < n / WORD; i++)
            piece[i] = GUINT64_TO_LE(piece[i]);
        good = write_all(fd, piece, n, at + done);
    }
    return good;
}

/* What the file does not have is 0. */
static bool read_words(int fd, void *words, size_t bytes, uint64_t at)
{
    size_t done = 0;
    ssize_t n = 1;
    while (done < bytes && n > 0)
        if ((n = pread(fd, (char *)words + done, bytes - done, (off_t)(at + done))) > 0)
            done += (size_t)n;
    memset((char *)words + done, 0, bytes - done);
    uint64_t *word = words;
    for (size_t i = 0; G_BYTE_ORDER != G_LITTLE_ENDIAN && i < bytes / WORD; i++)
        word[i] = GUINT64_FROM_LE(word[i]);
    return n >= 0;
}

/* ---- the state ---- */

int dome__shown_copy_open(const char *path, const char **reason)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, 0666);
    *reason = fd < 0 ? dome__file_error(errno) : dome__file_irregular(path, false);
    if (fd >= 0 && *reason) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

bool dome__shown_copy_write_state(int fd, const dome_shown_state *state)
{
    const uint64_t words[] = {MAGIC, VERSION, state->ranks, state->begun};
    return write_words(fd, words, sizeof words, 0);
}

bool dome__shown_copy_write_position(int fd, const dome_shown_position *position)
{
    const uint64_t words[] = {position->written, position->offset};
    return write_words(fd, words, sizeof words, POSITION_AT);
}

dome_shown_copy_kind dome__shown_copy_read_state(int fd, dome_shown_state *state, dome_shown_position *position)
{
    uint64_t words[4] = {0}, place[2] = {0};
    struct stat s;
    if (fstat(fd, &s) == 0 && s.st_size == 0)
        return DOME_SHOWN_COPY_NEW;
    if (!read_words(fd, words, sizeof words, 0) || !read_words(fd, place, sizeof place, POSITION_AT) || words[0] != MAGIC ||
        words[1] != VERSION || words[2] > MOST_RANKS)
        return DOME_SHOWN_COPY_STRANGE;
    *state = (dome_shown_state){words[2], words[3]};
    *position = (dome_shown_position){place[0], place[1]};
    return DOME_SHOWN_COPY_THERE;
}

/* ---- tasks ---- */

/* From one line to another, which may be on the other side of the array's end. */
static bool write_lines(int fd, int rank, const dome_shown_past *past, uint64_t from, uint64_t to)
{
    const uint64_t lines_at = part_at(rank) + offsetof(dome_shown_past, line);
    bool good = true;
    for (uint64_t n; good && from < to; from += n) {
        const uint64_t place = from % DOME_SHOWN_LINES;
        n = MIN(to - from, DOME_SHOWN_LINES - place);
        good = write_words(fd, &past->line[place], n * sizeof past->line[0], lines_at + place * sizeof past->line[0]);
    }
    return good;
}

bool dome__shown_copy_write(int fd, int rank, const dome_shown_past *past, uint64_t since)
{
    const uint64_t end = past->end.line, kept = end > DOME_SHOWN_LINES ? end - DOME_SHOWN_LINES : 0;
    return write_lines(fd, rank, past, MAX(since, kept), end) &&
           write_words(fd, past, offsetof(dome_shown_past, line), part_at(rank));
}

bool dome__shown_copy_read(int fd, int rank, dome_shown_past *past)
{
    if (!read_words(fd, past, sizeof *past, part_at(rank)) || past->firsts > DOME_SHOWN_FIRST) {
        memset(past, 0, sizeof *past);
        return false;
    }
    return true;
}
