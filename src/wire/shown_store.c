#include "wire/shown_store.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file begins with this; then each task has its part, at a multiple of PART. */
enum { HEAD = 1 << 16 };

static const uint64_t PART = (sizeof(dome_shown_past) + HEAD - 1) / HEAD * HEAD;

struct dome_shown_store {
    int fd;
    dome_shown_stream *stream;
    GPtrArray *pasts; /* by rank; NULL: not mapped */
};

int dome__shown_file(void)
{
    const int fd = memfd_create("shown", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, HEAD) < 0) {
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
    dome_shown_stream *stream = map(fd, 0, HEAD);
    if (!stream)
        return NULL;
    dome_shown_store *store = g_new0(dome_shown_store, 1);
    *store = (dome_shown_store){.fd = fd, .stream = stream, .pasts = g_ptr_array_new()};
    return store;
}

void dome__shown_store_close(dome_shown_store *store)
{
    if (!store)
        return;
    for (guint r = 0; r < store->pasts->len; r++)
        if (store->pasts->pdata[r])
            munmap(store->pasts->pdata[r], sizeof(dome_shown_past));
    munmap(store->stream, HEAD);
    g_ptr_array_free(store->pasts, TRUE);
    g_free(store);
}

dome_shown_stream *dome__shown_stream_of(dome_shown_store *store)
{
    return store->stream;
}

/* The length of the file tells how many tasks there have been. */
static uint64_t bytes_of(const dome_shown_store *store)
{
    struct stat s;
    return fstat(store->fd, &s) == 0 ? (uint64_t)s.st_size : 0;
}

int dome__shown_ranks(const dome_shown_store *store)
{
    const uint64_t bytes = bytes_of(store);
    return bytes > HEAD ? (int)((bytes - HEAD) / PART) : 0;
}

dome_shown_past *dome__shown_past_of(dome_shown_store *store, int rank)
{
    const uint64_t at = HEAD + PART * (uint64_t)rank;
    if ((guint)rank >= store->pasts->len)
        g_ptr_array_set_size(store->pasts, rank + 1);
    if (!store->pasts->pdata[rank] && (bytes_of(store) >= at + PART || ftruncate(store->fd, (off_t)(at + PART)) == 0))
        store->pasts->pdata[rank] = map(store->fd, at, sizeof(dome_shown_past));
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
