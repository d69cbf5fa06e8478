#include "process/omp_locals.h"

#include "openmp/places.h"
#include "openmp/team.h"
#include "transport/collective.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

static size_t bytes; /* of a thread's */
static bool known, shared;

static int find(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type == PT_TLS)
            bytes = (p->p_memsz + p->p_align - 1) & ~(p->p_align - 1);
    }
    return 1; /* the program's file is the first */
}

size_t dome__omp_locals_bytes(void)
{
    if (!known)
        dl_iterate_phdr(find, NULL);
    known = true;
    return bytes;
}

/* The program's are the first below the thread pointer (U. Drepper, "ELF handling for thread-local storage", variant II). */
char *dome__omp_locals_of(unsigned thread)
{
    return (char *)dome__omp_threads[thread].fibre.thread_pointer - bytes;
}

static char *copy(void)
{
    return (char *)(uintptr_t)DOME_OMP_LOCALS; // NOLINT(performance-no-int-to-ptr)
}

dome_space_range dome__omp_locals_range(void)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    shared = dome__omp_locals_bytes() > 0;
    return (dome_space_range){"variables of threads", copy(), (bytes + page - 1) & ~(page - 1), .keep = false};
}

void dome__omp_locals_give(void)
{
    if (shared && memcmp(copy(), dome__omp_locals_of(0), bytes) != 0)
        memcpy(copy(), dome__omp_locals_of(0), bytes);
}

void dome__omp_locals_take(void)
{
    if (shared)
        memcpy(dome__omp_locals_of(0), copy(), bytes);
}

/* ---- all threads' ---- */

static uint64_t threads_made(void)
{
    uint64_t n = 0;
    while (n < DOME_OMP_MAX_THREADS && dome__omp_threads[n].made)
        n++;
    return n;
}

/* Which task has run each thread last; the threads' numbers of the last construct grow with the regions. */
static int find_owners(dome_env *env, uint64_t threads, int *owner)
{
    const uint64_t size = (uint64_t)env->size;
    uint64_t *mine = g_new0(uint64_t, threads), *all = g_new0(uint64_t, threads * size);
    for (uint64_t k = 0; k < threads; k++)
        mine[k] = dome__omp_threads[k].construct;
    const int status = dome__allgather(env->transport, DOME_U64, mine, threads, all);
    for (uint64_t k = 0; k < threads; k++) {
        owner[k] = 0;
        for (uint64_t r = 1; r < size && k > 0; r++)
            if (all[r * threads + k] > all[(uint64_t)owner[k] * threads + k])
                owner[k] = (int)r;
    }
    g_free(mine);
    g_free(all);
    return status;
}

int dome__omp_locals_collect(dome_env *env, GByteArray *to)
{
    uint64_t threads = dome__omp_locals_bytes() > 0 ? threads_made() : 0;
    int status = dome__bcast(env->transport, 0, DOME_U64, &threads, 1);
    int *owner = g_new0(int, threads + 1);
    char *block = g_malloc(bytes + 1);
    dome__append_u64(to, threads);
    dome__append_u64(to, bytes);
    if (status == DOME_OK && threads > 0) {
        dome__omp_threads_make((unsigned)threads);
        status = find_owners(env, threads, owner);
    }
    for (uint64_t k = 0; k < threads && status == DOME_OK; k++) {
        memcpy(block, dome__omp_locals_of((unsigned)k), bytes);
        status = dome__bcast(env->transport, owner[k], DOME_U8, block, bytes);
        g_byte_array_append(to, (const guint8 *)block, (guint)bytes);
    }
    g_free(block);
    g_free(owner);
    return status;
}

int dome__omp_locals_spread(dome_env *env, dome_bytes *from, bool *good)
{
    uint64_t threads = 0;
    char *data = NULL;
    *good = true;
    if (env->rank == 0) {
        threads = dome__read_u64(from);
        *good = dome__read_u64(from) == dome__omp_locals_bytes() && threads <= DOME_OMP_MAX_THREADS && !from->bad;
        const void *at = *good ? dome__read_bytes(from, threads * bytes) : NULL;
        *good = at != NULL;
        threads = *good ? threads : 0;
        data = g_memdup2(at, threads * dome__omp_locals_bytes());
    }
    int status = dome__bcast(env->transport, 0, DOME_U64, &threads, 1);
    if (env->rank != 0)
        data = g_malloc(threads * dome__omp_locals_bytes() + 1);
    if (status == DOME_OK && threads > 0)
        status = dome__bcast(env->transport, 0, DOME_U8, data, threads * bytes);
    if (status == DOME_OK && threads > 0)
        dome__omp_threads_make((unsigned)threads);
    for (uint64_t k = 0; k < threads && status == DOME_OK; k++)
        memcpy(dome__omp_locals_of((unsigned)k), data + k * bytes, bytes);
    g_free(data);
    return status;
}
