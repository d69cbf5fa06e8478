#include "wire/shown_store.h"

#include "system/files.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file begins with the stream; then are its pages, and then each task has its part, at a multiple of PART. */
enum { STREAM = 1 << 16, HEAD = STREAM + DOME_SHOWN_PAGES };

static const uint64_t PART = (sizeof(dome_shown_past) + STREAM - 1) / STREAM * STREAM;

struct dome_shown_store {
    int fd;
    dome_shown_stream *stream;
    dome_shown_writer writer;
    GPtrArray *pasts; /* by rank; NULL: not mapped */
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
    dome_shown_stream *stream = map(fd, 0, STREAM);
    if (!stream)
        return NULL;
    dome_shown_store *store = g_new0(dome_shown_store, 1);
    *store = (dome_shown_store){.fd = fd, .stream = stream, .pasts = g_ptr_array_new()};
    if (!dome__shown_writer_open(&store->writer, stream, fd, STREAM)) {
        const int error = errno;
        dome__shown_store_close(store);
        errno = error;
        return NULL;
    }
    return store;
}

void dome__shown_store_close(dome_shown_store *store)
{
    if (!store)
        return;
    for (guint r = 0; r < store->pasts->len; r++)
        if (store->pasts->pdata[r])
            munmap(store->pasts->pdata[r], sizeof(dome_shown_past));
    munmap(store->stream, STREAM);
    g_ptr_array_free(store->pasts, TRUE);
    g_free(store);
}

dome_shown_stream *dome__shown_stream_of(dome_shown_store *store)
{
    return store->stream;
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
    return (int)store->stream->ranks;
}

dome_shown_past *dome__shown_past_of(dome_shown_store *store, int rank)
{
    const uint64_t at = HEAD + PART * (uint64_t)rank;
    if ((guint)rank >= store->pasts->len)
        g_ptr_array_set_size(store->pasts, rank + 1);
    if (!store->pasts->pdata[rank] && (bytes_of(store) >= at + PART || extend(store->fd, at + PART)))
        store->pasts->pdata[rank] = map(store->fd, at, sizeof(dome_shown_past));
    if (store->pasts->pdata[rank])
        store->stream->ranks = MAX(store->stream->ranks, (uint32_t)rank + 1);
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
