#include "memory/memory_private.h"

#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char too_large[] = "it is too large for addresses of this machine";

/* Whether the system promises memory only as far as it has some. */
static bool promises_are_limited(void)
{
    char *rule = NULL;
    bool limited = g_file_get_contents("/proc/sys/vm/overcommit_memory", &rule, NULL, NULL) && atoi(rule) == 2;
    g_free(rule);
    return limited;
}

/* Neither this task nor another one can make the file shorter after this, which would turn accesses into SIGBUS. */
static int make_file(const char *name, size_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    dome_file_limit limit;
    dome__file_limit_begin(&limit); /* the file size limit applies to files in memory, too */
    bool made = ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
                (!promises_are_limited() || fallocate(fd, 0, 0, (off_t)bytes) == 0);
    int error = errno;
    dome__file_limit_end(&limit);
    if (!made) {
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static char *map_file(const dome_memory *memory)
{
    void *at = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory->descriptor, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool map_twice(dome_memory *memory)
{
    memory->data = map_file(memory);
    memory->alias = memory->data ? map_file(memory) : NULL;
    /* a core file has the contents once */
    return memory->alias && madvise(memory->alias, memory->bytes, MADV_DONTDUMP) == 0 &&
           madvise(memory->data, memory->bytes, MADV_DONTFORK) == 0;
}

/* Takes the descriptor, which may be -1 with errno set. */
static dome_memory *open_memory(int fd, size_t bytes, const char **why)
{
    dome_memory *memory = g_new0(dome_memory, 1);
    *memory =
        (dome_memory){.bytes = bytes, .page = (size_t)sysconf(_SC_PAGESIZE), .descriptor = fd, .userfault = -1, .pagemap = -1};
    if (fd >= 0 && map_twice(memory))
        return memory;
    *why = g_strerror(errno);
    dome__memory_free(memory);
    return NULL;
}

dome_memory *dome__memory_new(const char *name, uint64_t bytes, const char **why)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (bytes > PTRDIFF_MAX / 2) {
        *why = too_large;
        return NULL;
    }
    size_t whole = (size_t)((MAX(bytes, 1) + page - 1) / page * page);
    return open_memory(make_file(name, whole), whole, why);
}

dome_memory *dome__memory_here(void *at, size_t bytes)
{
    dome_memory *memory = g_new0(dome_memory, 1);
    *memory = (dome_memory){.data = at,
                            .alias = at,
                            .bytes = bytes,
                            .page = (size_t)sysconf(_SC_PAGESIZE),
                            .here = true,
                            .descriptor = -1,
                            .userfault = -1,
                            .pagemap = -1};
    return memory;
}

dome_memory_offer dome__memory_offer(const dome_memory *memory)
{
    struct stat st = {0};
    fstat(memory->descriptor, &st);
    return (dome_memory_offer){getpid(), memory->descriptor, (int64_t)st.st_ino, (int64_t)memory->bytes};
}

dome_memory *dome__memory_attach(const dome_memory_offer *offer, const char **why)
{
    char path[64];
    struct stat st;
    if (offer->bytes <= 0 || offer->bytes > PTRDIFF_MAX / 2) {
        *why = too_large;
        return NULL;
    }
    g_snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)offer->process, (int)offer->descriptor);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    /* another process may have that number by now, or in this container */
    if (fd >= 0 && (fstat(fd, &st) < 0 || (int64_t)st.st_ino != offer->inode || st.st_size != offer->bytes)) {
        close(fd);
        fd = -1;
        errno = ENOENT;
    }
    return open_memory(fd, (size_t)offer->bytes, why);
}

const char *dome__memory_place(dome_memory *memory, void *at)
{
    if (memory->tracker)
        return "its pages have rights already";
    if ((uintptr_t)at % memory->page != 0)
        return "the address is no multiple of the page";
    /* The place is taken first: mremap would replace what is there. */
    void *place = mmap(at, memory->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED)
        return errno == EEXIST ? "something else is at that address" : g_strerror(errno);
    /* Kernels before 4.17 take the address for a wish. */
    if (place != at || mremap(memory->data, memory->bytes, memory->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) {
        const char *why = place != at ? "something else is at that address" : g_strerror(errno);
        munmap(place, memory->bytes);
        return why;
    }
    memory->data = at;
    return NULL;
}

/* What the kernel says of each of these pages; false: it does not. */
static bool ask_pages(int pagemap, const char *from, uint64_t *words, size_t pages, size_t page)
{
    const ssize_t bytes = (ssize_t)(pages * sizeof *words);
    return pagemap >= 0 && pread(pagemap, words, (size_t)bytes, (off_t)((uintptr_t)from / page * sizeof *words)) == bytes;
}

/* Copies what is there, but for pages that were never touched, or have zeros: they need no memory. A stack may be large. */
static void copy_contents(const dome_memory *memory, const char *from)
{
    enum { TOGETHER = 4096 };
    static const uint64_t has_page = UINT64_C(3) << 62; /* present, or swapped */
    uint64_t *words = g_new(uint64_t, TOGETHER);
    char *zeros = g_malloc0(memory->page);
    const size_t page = memory->page, pages = memory->bytes / page;
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (size_t first = 0; first < pages; first += TOGETHER) {
        const size_t count = MIN((size_t)TOGETHER, pages - first);
        const bool told = ask_pages(pagemap, from + first * page, words, count, page);
        for (size_t k = 0; k < count; k++) {
            const char *at = from + (first + k) * page;
            if ((!told || (words[k] & has_page)) && memcmp(at, zeros, page) != 0)
                memcpy(memory->alias + (first + k) * page, at, page);
        }
    }
    if (pagemap >= 0)
        close(pagemap);
    g_free(zeros);
    g_free(words);
}

const char *dome__memory_replace(dome_memory *memory, void *at, bool keep)
{
    if (memory->tracker)
        return "its pages have rights already";
    if ((uintptr_t)at % memory->page != 0)
        return "the address is no multiple of the page";
    if (keep)
        copy_contents(memory, at);
    const int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
    if (mmap(at, memory->bytes, PROT_READ | PROT_WRITE, flags, memory->descriptor, 0) == MAP_FAILED)
        return g_strerror(errno);
    munmap(memory->data, memory->bytes);
    memory->data = at;
    memory->replaces = true;
    return NULL;
}

/* Not a private mapping of the file: until the child wrote a page, it would see what its parent writes. */
const char *dome__memory_copy_here(const dome_memory *memory)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(memory->data, memory->bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return g_strerror(errno);
    off_t at = lseek(memory->descriptor, 0, SEEK_DATA), end = 0; /* what was never touched is a hole */
    for (; at >= 0 && (end = lseek(memory->descriptor, at, SEEK_HOLE)) >= 0; at = lseek(memory->descriptor, end, SEEK_DATA))
        memcpy(memory->data + at, memory->alias + at, (size_t)(end - at));
    return errno == ENXIO ? NULL : g_strerror(errno);
}

void dome__memory_taken(dome_memory *memory)
{
    if (memory->descriptor >= 0)
        close(memory->descriptor);
    memory->descriptor = -1;
}

void dome__memory_free(dome_memory *memory)
{
    if (!memory)
        return;
    if (memory->here)
        mprotect(memory->data, memory->bytes,
                 PROT_READ | PROT_WRITE); /* fewer kinds of pages need no more of the kernel's memory */
    dome__memory_end_rights(memory);
    if (memory->data && !memory->here)
        munmap(memory->data, memory->bytes);
    if (memory->alias && !memory->here)
        munmap(memory->alias, memory->bytes);
    dome__memory_taken(memory);
    g_free(memory);
}

void *dome__memory_data(const dome_memory *memory)
{
    return memory->data;
}

void *dome__memory_alias(const dome_memory *memory)
{
    return memory->alias;
}

size_t dome__memory_untouched(const dome_memory *memory, size_t first, size_t count)
{
    const off_t at = memory->descriptor < 0 ? (off_t)(first * memory->page)
                                            : lseek(memory->descriptor, (off_t)(first * memory->page), SEEK_DATA);
    if (at < 0)
        return errno == ENXIO ? count : 0; /* there is nothing behind it */
    return MIN((size_t)at / memory->page - first, count);
}

size_t dome__memory_page(const dome_memory *memory)
{
    return memory->page;
}

size_t dome__memory_bytes(const dome_memory *memory)
{
    return memory->bytes;
}
