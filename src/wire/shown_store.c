#include "wire/shown_store.h"

#include "system/files.h"
#include "wire/shown_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file begins with the stream and the path of the copy; then are the stream's pages, and then each task has its part, at a
 * multiple of PART. */
enum { STREAM = 1 << 16, HEAD = STREAM + DOME_SHOWN_PAGES };

typedef struct store_head {
    dome_shown_stream stream;
    char copy[PATH_MAX]; /* "": there is none */
} store_head;

static const uint64_t PART = (sizeof(dome_shown_past) + STREAM - 1) / STREAM * STREAM;

struct dome_shown_store {
    int fd;
    store_head *head;
    dome_shown_writer writer;
    GPtrArray *pasts; /* by rank; NULL: not mapped */
    int copy;         /* -1: there is none */
    int error;        /* why the copy is no longer written; 0: it is; atomic */
    bool told;
};

static bool extend(int fd, uint64_t bytes)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    const bool good = ftruncate(fd, (off_t)bytes) == 0;
    dome__file_limit_end(&limit);
    return good;
}

int dome__shown_file(void)
{
    const int fd = memfd_create("shown", MFD_CLOEXEC);
    if (fd >= 0 && !extend(fd, HEAD)) {
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void *map(int fd, uint64_t at, size_t bytes)
{
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    return place == MAP_FAILED ? NULL : place;
}

dome_shown_store *dome__shown_store_open(int fd)
{
    store_head *head = map(fd, 0, STREAM);
    const char *reason;
    if (!head)
        return NULL;
    dome_shown_store *store = g_new0(dome_shown_store, 1);
    *store = (dome_shown_store){.fd = fd, .head = head, .pasts = g_ptr_array_new(), .copy = -1};
    if (!dome__shown_writer_open(&store->writer, &head->stream, fd, STREAM)) {
        const int error = errno;
        dome__shown_store_close(store);
        errno = error;
        return NULL;
    }
    if (head->copy[0] && (store->copy = dome__shown_copy_open(head->copy, &reason)) < 0)
        store->error = errno;
    return store;
}

void dome__shown_store_close(dome_shown_store *store)
{
    if (!store)
        return;
    for (guint r = 0; r < store->pasts->len; r++)
        if (store->pasts->pdata[r])
            munmap(store->pasts->pdata[r], sizeof(dome_shown_past));
    munmap(store->head, STREAM);
    if (store->copy >= 0)
        close(store->copy);
    g_ptr_array_free(store->pasts, TRUE);
    g_free(store);
}

dome_shown_stream *dome__shown_stream_of(dome_shown_store *store)
{
    return &store->head->stream;
}

dome_shown_writer *dome__shown_writer_of(dome_shown_store *store)
{
    return &store->writer;
}

static uint64_t bytes_of(const dome_shown_store *store)
{
    struct stat s;
    return fstat(store->fd, &s) == 0 ? (uint64_t)s.st_size : 0;
}

int dome__shown_ranks(const dome_shown_store *store)
{
    return (int)store->head->stream.ranks;
}

dome_shown_past *dome__shown_past_of(dome_shown_store *store, int rank)
{
    const uint64_t at = HEAD + PART * (uint64_t)rank;
    if ((guint)rank >= store->pasts->len)
        g_ptr_array_set_size(store->pasts, rank + 1);
    if (!store->pasts->pdata[rank] && (bytes_of(store) >= at + PART || extend(store->fd, at + PART)))
        store->pasts->pdata[rank] = map(store->fd, at, sizeof(dome_shown_past));
    if (store->pasts->pdata[rank])
        store->head->stream.ranks = MAX(store->head->stream.ranks, (uint32_t)rank + 1);
    return store->pasts->pdata[rank];
}

char *dome__shown_differing(dome_shown_store *store)
{
    uint64_t lines = 0;
    for (int r = dome__shown_ranks(store) - 1; r >= 0; r--) {
        const dome_shown_past *past = dome__shown_past_of(store, r);
        lines += past ? past->different : 0;
    }
    return lines
               ? g_strdup_printf("%" PRIu64 " line%s that the program printed again, after it had gone back, differ%s from what "
                                 "it had printed first, which was shown",
                                 lines, lines == 1 ? "" : "s", lines == 1 ? "s" : "")
               : NULL;
}

/* ---- the copy ---- */

bool dome__shown_store_has_copy(const dome_shown_store *store)
{
    return store->copy >= 0 && __atomic_load_n(&store->error, __ATOMIC_RELAXED) == 0;
}

static void look_at(dome_shown_store *store, bool good)
{
    if (!good)
        __atomic_store_n(&store->error, errno ? errno : EIO, __ATOMIC_RELAXED);
}

char *dome__shown_store_broken(dome_shown_store *store)
{
    const int error = __atomic_load_n(&store->error, __ATOMIC_RELAXED);
    if (!error || store->told)
        return NULL;
    store->told = true;
    return g_strdup_printf("%s: %s", store->head->copy, dome__file_error(error));
}

void dome__shown_store_note_stream(dome_shown_store *store)
{
    const dome_shown_stream *stream = &store->head->stream;
    if (dome__shown_store_has_copy(store))
        look_at(store, dome__shown_copy_write_state(store->copy, &(dome_shown_state){stream->ranks, stream->begun}));
}

void dome__shown_store_note(dome_shown_store *store, int rank, dome_shown *shown)
{
    if (!dome__shown_store_has_copy(store))
        return;
    look_at(store, dome__shown_copy_write(store->copy, rank, shown->past, shown->since));
    shown->since = shown->past->end.line;
}

static bool write_position(dome_shown_store *store, int fd)
{
    return dome__shown_copy_write_position(store->copy,
                                           &(dome_shown_position){dome__shown_written(&store->writer), dome__shown_offset(fd)});
}

ssize_t dome__shown_store_write(dome_shown_store *store, int fd, const char *text, size_t length)
{
    const ssize_t n = dome__shown_write(&store->writer, fd, text, length);
    const int error = errno;
    if (n > 0 && dome__shown_store_has_copy(store))
        look_at(store, write_position(store, fd));
    errno = error;
    return n;
}

/* A pipe has no disk. */
static bool sync_one(int fd)
{
    return fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS;
}

void dome__shown_store_sync(dome_shown_store *store, int fd)
{
    sync_one(fd); /* of what the stream loses its queue tells */
    if (dome__shown_store_has_copy(store))
        look_at(store, sync_one(store->copy));
}

/* How much of the stream there is, now that the run is over which has left this position. It may have written a last piece, and
 * not counted it; and a host that was lost may have kept the last pieces to itself. */
static uint64_t written_by(const dome_shown_position *before, uint64_t now)
{
    if (now == UINT64_MAX || before->offset == UINT64_MAX)
        return before->written;
    if (now < before->offset)
        return before->written - MIN(before->offset - now, before->written);
    return before->written + (now - before->offset <= DOME_SHOWN_PIECE ? now - before->offset : 0);
}

static bool take_copy(dome_shown_store *store, const dome_shown_state *state, const dome_shown_position *position, int fd)
{
    dome_shown_stream *stream = &store->head->stream;
    for (int r = 0; r < (int)state->ranks; r++) {
        dome_shown_past *past = dome__shown_past_of(store, r);
        if (!past || !dome__shown_copy_read(store->copy, r, past))
            return false;
    }
    stream->begun = state->begun != 0;
    stream->offset = dome__shown_offset(fd);
    stream->since = written_by(position, stream->offset);
    return dome__shown_set_written(&store->writer, stream->since);
}

bool dome__shown_store_copy_to(dome_shown_store *store, const char *path, int fd, char **reason)
{
    dome_shown_state state = {0};
    dome_shown_position position = {0};
    const char *why = NULL;
    bool good = strlen(path) < sizeof store->head->copy;
    store->copy = good ? dome__shown_copy_open(path, &why) : -1;
    const dome_shown_copy_kind kind =
        store->copy >= 0 ? dome__shown_copy_read_state(store->copy, &state, &position) : DOME_SHOWN_COPY_NEW;
    good = store->copy >= 0 && kind != DOME_SHOWN_COPY_STRANGE &&
           (kind == DOME_SHOWN_COPY_NEW || take_copy(store, &state, &position, fd));
    if (good) {
        g_strlcpy(store->head->copy, path, sizeof store->head->copy);
        good = write_position(store, fd);
        dome__shown_store_note_stream(store);
        good = good && dome__shown_store_has_copy(store);
        why = good ? NULL : dome__file_error(errno);
    }
    if (!good)
        *reason = g_strdup(why                               ? why
                           : store->copy < 0                 ? "the path is too long"
                           : kind == DOME_SHOWN_COPY_STRANGE ? "it is another file, and is not overwritten"
                                                             : "it is damaged");
    return good;
}
