#define _GNU_SOURCE
#include "core/storage.h"

#include "core/environment.h"
#include "system/fault.h"
#include "system/huge_pages.h"

#include <dome/env.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

/* Storage of KEPT_FROM bytes or more is mapped, and kept when freed; of LARGE_FROM or more it is in huge pages. */
#define KEPT_FROM  ((size_t)1 << 16)
#define LARGE_FROM ((size_t)1 << 22)

/* The pool keeps at most as many bytes as are in use, or this many if that is more. */
#define KEPT_ALWAYS ((uint64_t)1 << 25)

/* Sanitizers detect uses of freed memory only if it is really freed. */
#if defined(__SANITIZE_ADDRESS__)
#define KEEPING false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPING false
#endif
#endif
#ifndef KEEPING
#define KEEPING true
#endif

/* Stored before the data: the start and size of the allocation. */
typedef struct origin {
    void *base;
    size_t bytes;
    bool mapped;
} origin;

/* Freed storage, the oldest first. */
enum { KEPT = 64 };

static struct {
    pthread_mutex_t lock;
    void *data[KEPT];
    unsigned count;
    uint64_t used, kept, peak_used, peak_held; /* bytes */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Retired storage, closed to access. Only the most recent is tracked: address space is finite. */
typedef struct grave {
    char *base;
    size_t bytes;
    char name[64];
    uint32_t operation;
    uint64_t sequence;
} grave;

enum { GRAVES = 4096 };

static struct {
    dome_env *env; /* NULL: not checking */
    grave graves[GRAVES];
    unsigned next;
} checking;

static origin origin_of(const void *data)
{
    origin o;
    memcpy(&o, (const char *)data - sizeof o, sizeof o);
    return o;
}

/* Start of the data in new storage. */
static char *front_of(const origin *o)
{
    char *data = (char *)o->base + sizeof *o;
    return data + (ALIGNMENT - (uintptr_t)data % ALIGNMENT) % ALIGNMENT;
}

static void count_used(size_t bytes)
{
    pool.used += bytes;
    pool.peak_used = MAX(pool.peak_used, pool.used);
    pool.peak_held = MAX(pool.peak_held, pool.used + pool.kept);
}

/* Removes entry k from the pool. */
static void *take(unsigned k)
{
    void *data = pool.data[k];
    pool.count--;
    memmove(pool.data + k, pool.data + k + 1, (pool.count - k) * sizeof *pool.data);
    pool.kept -= origin_of(data).bytes;
    return data;
}

static void unmap(void *data)
{
    origin o = origin_of(data);
    munmap(o.base, o.bytes);
}

static void shrink(uint64_t most)
{
    while (pool.kept > most)
        unmap(take(0));
}

/* Takes the smallest kept storage that fits from the pool, unless it is far too large. */
static void *reuse(size_t bytes)
{
    unsigned best = KEPT;
    size_t smallest = bytes + bytes / 2;
    for (unsigned k = pool.count; k-- > 0;) {
        size_t capacity = (size_t)dome__storage_capacity(pool.data[k]);
        if (capacity >= bytes && capacity < smallest) {
            best = k;
            smallest = capacity;
        }
    }
    return best < KEPT ? take(best) : NULL;
}

static void *map_pages(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Maps pages for one storage, from a multiple of a huge page on. */
static void *map_storage(size_t bytes)
{
    if (bytes < LARGE_FROM)
        return map_pages(bytes);
    char *base = map_pages(bytes + DOME_HUGE_PAGE);
    if (!base)
        return NULL;
    size_t before = (DOME_HUGE_PAGE - (uintptr_t)base % DOME_HUGE_PAGE) % DOME_HUGE_PAGE;
    if (before)
        munmap(base, before);
    if (before < DOME_HUGE_PAGE)
        munmap(base + before + bytes, DOME_HUGE_PAGE - before);
    dome__huge_pages(base + before, bytes);
    return base + before;
}

void *dome__storage_raw(uint64_t bytes, bool *zero)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (zero)
        *zero = true;
    if (bytes == 0 || bytes > PTRDIFF_MAX / 2)
        return NULL;
    origin o = {.bytes = (size_t)bytes + ALIGNMENT + sizeof o, .mapped = checking.env || (KEEPING && bytes >= KEPT_FROM)};
    if (!o.mapped) {
        o.base = calloc(1, o.bytes);
    } else if (checking.env) { /* to be closed later */
        o.base = map_pages(o.bytes);
    } else {
        o.bytes = (o.bytes + page - 1) / page * page;
        pthread_mutex_lock(&pool.lock);
        void *data = reuse((size_t)bytes);
        if (data) {
            count_used(origin_of(data).bytes);
            pthread_mutex_unlock(&pool.lock);
            if (zero)
                *zero = false;
            return data;
        }
        if (!(o.base = map_storage(o.bytes))) {
            shrink(0);
            o.base = map_storage(o.bytes);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    if (!o.base)
        return NULL;
    char *data = front_of(&o);
    memcpy(data - sizeof o, &o, sizeof o);
    pthread_mutex_lock(&pool.lock);
    count_used(o.bytes);
    pthread_mutex_unlock(&pool.lock);
    return data;
}

void *dome__storage(uint64_t bytes)
{
    bool zero;
    void *data = dome__storage_raw(bytes, &zero);
    if (data && !zero)
        memset(data, 0, (size_t)bytes);
    return data;
}

void dome__storage_free(void *data)
{
    if (!data)
        return;
    origin o = origin_of(data);
    pthread_mutex_lock(&pool.lock);
    pool.used -= o.bytes;
    if (o.mapped && !checking.env && KEEPING) {
        uint64_t most = MAX(pool.used, KEPT_ALWAYS);
        shrink(most > o.bytes ? most - o.bytes : 0);
        if (o.bytes <= most) {
            data = front_of(&o);
            memcpy((char *)data - sizeof o, &o, sizeof o);
            if (pool.count == KEPT)
                unmap(take(0));
            pool.data[pool.count++] = data;
            pool.kept += o.bytes;
        } else {
            unmap(data);
        }
    } else if (o.mapped) {
        unmap(data);
    } else {
        free(o.base);
    }
    pthread_mutex_unlock(&pool.lock);
}

void dome__storage_trim(void)
{
    pthread_mutex_lock(&pool.lock);
    shrink(0);
    pthread_mutex_unlock(&pool.lock);
}

void dome__storage_peak(uint64_t *used, uint64_t *held)
{
    pthread_mutex_lock(&pool.lock);
    *used = pool.peak_used;
    *held = pool.peak_held;
    pthread_mutex_unlock(&pool.lock);
}

/* The bytes of a line of /proc/meminfo; UINT64_MAX: unknown. */
static uint64_t system_memory(const char *name)
{
    char *text = NULL;
    uint64_t bytes = UINT64_MAX;
    if (g_file_get_contents("/proc/meminfo", &text, NULL, NULL)) {
        const char *line = strstr(text, name);
        if (line)
            bytes = g_ascii_strtoull(line + strlen(name), NULL, 10) * 1024;
    }
    g_free(text);
    return bytes;
}

uint64_t dome__storage_available(void)
{
    return system_memory("MemAvailable:");
}

uint64_t dome__storage_promised(void)
{
    char *rule = NULL;
    const bool limited = g_file_get_contents("/proc/sys/vm/overcommit_memory", &rule, NULL, NULL) && atoi(rule) == 2;
    const uint64_t limit = system_memory("CommitLimit:"), now = system_memory("Committed_AS:");
    g_free(rule);
    return !limited || limit == UINT64_MAX || now == UINT64_MAX ? UINT64_MAX : limit - MIN(now, limit);
}

uint64_t dome__storage_capacity(const void *data)
{
    if (!data)
        return 0;
    origin o = origin_of(data);
    return o.bytes - (size_t)((const char *)data - (const char *)o.base);
}

uint64_t dome__storage_before(const void *data)
{
    origin o = origin_of(data);
    return (uint64_t)((const char *)data - front_of(&o));
}

void *dome__storage_slide(void *data, int64_t bytes)
{
    origin o = origin_of(data);
    char *moved = (char *)data + bytes;
    memcpy(moved - sizeof o, &o, sizeof o);
    return moved;
}

void dome__storage_retire(void *data, const char *name)
{
    if (!data || !checking.env) {
        dome__storage_free(data);
        return;
    }
    origin o = origin_of(data);
    pthread_mutex_lock(&pool.lock);
    pool.used -= o.bytes;
    pthread_mutex_unlock(&pool.lock);
    const dome_operation *op = checking.env->operation;
    while (op && op->outer)
        op = op->outer;
    uint32_t code = op ? (uint32_t)op->code : DOME_OP_NONE;
    uint64_t number = checking.env->position.sequence;
    if (dome__operation_has(code, DOME_OPERATION_COMES_BEFORE)) { /* name the user's operation */
        code = checking.env->position.coming;
        number++;
    }
    grave *g = &checking.graves[checking.next++ % GRAVES];
    if (g->base)
        munmap(g->base, g->bytes);
    *g = (grave){o.base, o.bytes, "", code, number};
    g_strlcpy(g->name, name, sizeof g->name);
    /* Mapping over the storage returns its memory to the system but reserves its addresses. */
    if (mmap(o.base, o.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        mprotect(o.base, o.bytes, PROT_NONE);
}

/* Runs in a signal handler. The fault is an access by the program's own code, not inside the C library, so printing a line is
 * safe enough. */
static dome_fault_answer touched(const dome_fault *fault, void *context)
{
    (void)context;
    const char *address = fault->address;
    for (unsigned k = 0; k < GRAVES && checking.env; k++) {
        const grave *g = &checking.graves[k];
        if (g->base && address >= g->base && address < g->base + g->bytes)
            dome_abort(checking.env,
                       "a pointer to the values of '%s' was used that is out of date since operation %" G_GUINT64_FORMAT
                       " (%s): ask for it again after each operation that may move data (dvec.h says which)",
                       g->name, g->sequence, dome__operation_name(g->operation));
    }
    return DOME_FAULT_OTHERS;
}

void dome__storage_check(dome_env *env)
{
    checking.env = env;
    dome__fault_on(DOME_FAULT_OF_POINTER, touched, NULL);
}

void dome__storage_check_no_more(void)
{
    if (checking.env)
        dome__fault_off(DOME_FAULT_OF_POINTER);
    checking.env = NULL;
}
