/* Memory that the program gets from the system itself. What would be private to the process is memory that all tasks share, from
 * the thread's arena, as a large block of malloc's is; a file that is mapped so is read into it.
 *
 *     mmap(NULL, n, ..., MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)     pages of the arena
 *     mmap(NULL, n, PROT_READ, ..., fd, 0)                       the same, with what the file has now
 *     mmap(NULL, n, ..., MAP_SHARED, ...)                        the system's: one task's
 *
 * The pages stay accessible, whatever `mprotect` is told: their protection is the task's, by which it learns who writes. A part
 * of a mapping is not given back alone. */
#include "process/omp_names.h"

#include "clib/omp_call.h"

#include "process/omp_arena.h"
#include "process/omp_heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

typedef void *map_function(void *at, size_t bytes, int protection, int flags, int fd, int64_t offset);
typedef int range_function(void *at, size_t bytes, int what);

#define IS_PROGRAMS() (dome__omp_by_thread() && dome__omp_is_programs(__builtin_return_address(0)))

static struct {
    map_function *map;
    void *(*remap)(void *at, size_t before, size_t bytes, int flags, ...);
    int (*unmap)(void *at, size_t bytes);
    range_function *protect, *advise;
} next;

/* Early: a signal handler may call, too. */
__attribute__((constructor)) static void find(void)
{
    if (next.map)
        return;
    next.advise = (range_function *)dome__omp_next("madvise");
    next.protect = (range_function *)dome__omp_next("mprotect");
    next.unmap = (int (*)(void *, size_t))dome__omp_next("munmap");
    next.remap = (void *(*)(void *, size_t, size_t, int, ...))dome__omp_next("mremap");
    next.map = (map_function *)dome__omp_next("mmap");
}

static uint64_t whole(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

ssize_t own_pread64(int fd, void *to, size_t bytes, int64_t at) __asm__("dome__c_pread64");

/* What the file has there; zeros behind its end. false: it cannot be read. */
static bool read_file(char *to, size_t bytes, int fd, int64_t offset)
{
    ssize_t n = 1;
    for (size_t done = 0; done < bytes && n > 0; done += n > 0 ? (size_t)n : 0)
        n = own_pread64(fd, to + done, bytes - done, offset + (int64_t)done);
    return n >= 0;
}

/* Whether memory that is the process's alone would do as well, for all that a process can tell by itself. */
static bool would_be_private(size_t bytes, int protection, int flags, int fd, int64_t offset)
{
    struct stat status;
    const bool is_private = (flags & MAP_TYPE) == MAP_PRIVATE;
    if (!bytes || bytes > DOME_OMP_ARENA_FIRST || (protection & PROT_EXEC) || (flags & MAP_GROWSDOWN))
        return false;
    if (flags & MAP_ANONYMOUS)
        return is_private;
    return (is_private || !(protection & PROT_WRITE)) && offset % PAGE == 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* NULL: the system does it. */
static void *map(void *at, size_t bytes, int flags, int fd, int64_t offset, const void *caller)
{
    bool zero = false;
    const bool is_fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    char *got = is_fixed && dome__omp_arena_has(at) ? at : NULL;
    if (is_fixed && (!got || (flags & MAP_FIXED) != MAP_FIXED))
        return NULL;
    if (!got)
        got = dome__omp_heap_get_pages(whole(bytes), &zero, caller);
    if (got && !zero)
        memset(got, 0, bytes);
    if (got && !(flags & MAP_ANONYMOUS) && !read_file(got, bytes, fd, offset)) {
        if (!is_fixed)
            free(got);
        return NULL;
    }
    return got;
}

void *own_mmap(void *at, size_t bytes, int protection, int flags, int fd, int64_t offset) __asm__("dome__c_mmap");
void *own_mmap(void *at, size_t bytes, int protection, int flags, int fd, int64_t offset)
{
    void *got = NULL;
    find();
    if (IS_PROGRAMS() && would_be_private(bytes, protection, flags, fd, offset))
        got = map(at, bytes, flags, fd, offset, __builtin_return_address(0));
    return got ? got : next.map(at, bytes, protection, flags, fd, offset);
}
void *own_mmap64(void *at, size_t bytes, int protection, int flags, int fd, int64_t offset) __asm__("dome__c_mmap64")
    __attribute__((alias("dome__c_mmap")));

int own_munmap(void *at, size_t bytes) __asm__("dome__c_munmap");
int own_munmap(void *at, size_t bytes)
{
    find();
    if (!IS_PROGRAMS() || !dome__omp_arena_has(at) || (uintptr_t)at % PAGE != 0)
        return next.unmap(at, bytes);
    if (dome__omp_arena_pages(at) == whole(bytes))
        free(at);
    return 0;
}

void *own_mremap(void *at, size_t before, size_t bytes, int flags, void *to) __asm__("dome__c_mremap");
void *own_mremap(void *at, size_t before, size_t bytes, int flags, void *to)
{
    find();
    if (!IS_PROGRAMS() || !dome__omp_arena_has(at))
        return next.remap(at, before, bytes, flags, to);
    if (whole(bytes) <= whole(before))
        return at;
    void *got = NULL;
    bool zero = false;
    errno = EINVAL;
    if (!(flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) && dome__omp_arena_pages(at) == whole(before)) {
        errno = ENOMEM;
        if (flags & MREMAP_MAYMOVE)
            got = dome__omp_heap_get_pages(whole(bytes), &zero, __builtin_return_address(0));
    }
    if (!got)
        return MAP_FAILED;
    memcpy(got, at, before);
    if (!zero)
        memset((char *)got + before, 0, whole(bytes) - before);
    free(at);
    return got;
}

int own_mprotect(void *at, size_t bytes, int protection) __asm__("dome__c_mprotect");
int own_mprotect(void *at, size_t bytes, int protection)
{
    find();
    if (!IS_PROGRAMS() || !dome__omp_arena_has(at))
        return next.protect(at, bytes, protection);
    errno = protection & PROT_EXEC ? EACCES : errno;
    return protection & PROT_EXEC ? -1 : 0;
}

int own_madvise(void *at, size_t bytes, int advice) __asm__("dome__c_madvise");
int own_madvise(void *at, size_t bytes, int advice)
{
    find();
    if (!IS_PROGRAMS() || !dome__omp_arena_has(at))
        return next.advise(at, bytes, advice);
    if (advice == MADV_DONTNEED)
        memset(at, 0, bytes);
    return 0;
}
