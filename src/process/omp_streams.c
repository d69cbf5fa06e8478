#include "process/omp_streams.h"

#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_next.h"
#include "process/omp_state.h"
#include "process/omp_touch.h"
#include "system/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { EACH = 1024 }; /* bytes of a place: more than a stream of any kind has */

#define PLACES ((char *)(uintptr_t)0x1fe000000000) /* below the runtime's block (tasks_space.c) */

typedef struct record {
    uint64_t place, bytes; /* the bytes follow */
} record;

static struct {
    bool mapped;
    int opening;                     /* the place + 1 of the stream that is being opened; 0: none is */
    void *opener;                    /* the thread that opens it: Dome's own threads allocate meanwhile */
    uint64_t here[DOME_OMP_STREAMS]; /* another task: which opening its stream is for; 0: it has none */
    FILE *streams[DOME_OMP_STREAMS]; /* likewise */
    GByteArray *written;
} state;

static bool map_places(void)
{
    if (!state.mapped)
        state.mapped = mmap(PLACES, (size_t)EACH * DOME_OMP_STREAMS, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == PLACES;
    return state.mapped;
}

static void begin_opening_at(int place)
{
    state.opener = dome__omp_thread_pointer();
    state.opening = place + 1;
}

void *dome__omp_stream_place(size_t bytes)
{
    const int place = state.opening - 1;
    if (place < 0 || bytes > EACH || state.opener != dome__omp_thread_pointer())
        return NULL;
    state.opening = 0; /* the first block is the stream */
    return PLACES + (size_t)EACH * (size_t)place;
}

bool dome__omp_stream_ends(void *block)
{
    const uintptr_t at = (uintptr_t)block - (uintptr_t)PLACES;
    if (at >= (uintptr_t)EACH * DOME_OMP_STREAMS)
        return false;
    if (dome__omp_tasks.rank == 0)
        dome__omp_state()->streams[at / EACH] = 0;
    return true;
}

/* ---- task 0 ---- */

/* Whether the stream that the caller opens is to have a place. */
static bool begin_opening(void)
{
    if (!dome__omp_by_thread() || dome__omp_tasks.rank != 0 || (dome__omp_tasks.size == 1 && !dome__omp_tasks.saves) ||
        !map_places())
        return false;
    const uint64_t *streams = dome__omp_state()->streams;
    for (int k = 0; k < DOME_OMP_STREAMS && !state.opening; k++)
        if (!streams[k])
            begin_opening_at(k);
    return state.opening;
}

static FILE *opened(FILE *file)
{
    const uintptr_t at = (uintptr_t)file - (uintptr_t)PLACES;
    state.opening = 0;
    if (at < (uintptr_t)EACH * DOME_OMP_STREAMS)
        dome__omp_state()->streams[at / EACH] = ++dome__omp_state()->openings;
    return file;
}

/* The C library's function; `path` is of the program's memory, and no system call waits for a page. */
static FILE *open_stream(const char *name, const char *path, const char *mode)
{
    typedef FILE *open_function(const char *, const char *);
    open_function *next = (open_function *)dome__omp_next(name);
    if (dome__omp_touches()) {
        dome__omp_touch_text(path);
        dome__omp_touch_text(mode);
    }
    return begin_opening() ? opened(next(path, mode)) : next(path, mode);
}

FILE *own_fopen(const char *path, const char *mode) __asm__("dome__c_fopen");
FILE *own_fopen(const char *path, const char *mode)
{
    return open_stream("fopen", path, mode);
}

FILE *own_fopen64(const char *path, const char *mode) __asm__("dome__c_fopen64");
FILE *own_fopen64(const char *path, const char *mode)
{
    return open_stream("fopen64", path, mode);
}

FILE *own_fdopen(int fd, const char *mode) __asm__("dome__c_fdopen");
FILE *own_fdopen(int fd, const char *mode)
{
    typedef FILE *open_function(int, const char *);
    open_function *next = (open_function *)dome__omp_next("fdopen");
    return begin_opening() ? opened(next(fd, mode)) : next(fd, mode);
}

void dome__omp_streams_write(const char *records, size_t bytes)
{
    for (const char *at = records, *end = records + bytes; at < end;) {
        record r;
        memcpy(&r, at, sizeof r);
        at += sizeof r;
        FILE *file = (FILE *)(void *)(PLACES + (size_t)EACH * r.place);
        if (!dome__omp_state()->streams[r.place] || fwrite(at, 1, r.bytes, file) != r.bytes)
            dome__say("what threads of another task have written to a stream of task 0 is lost: %s",
                      dome__omp_state()->streams[r.place] ? strerror(errno) : "it was closed meanwhile");
        at += r.bytes;
    }
}

/* ---- checkpoints ---- */

/* The standard input has no place, and comes last. */
enum { INPUT = DOME_OMP_STREAMS };

static FILE *stream_at(int place)
{
    return place == INPUT ? stdin : (FILE *)(void *)(PLACES + (size_t)EACH * (size_t)place);
}

void dome__omp_streams_save(GByteArray *to)
{
    for (int k = 0; k <= INPUT; k++) {
        FILE *file = stream_at(k);
        char name[32], path[PATH_MAX] = "";
        struct stat status;
        if (k != INPUT && (!dome__omp_state()->streams[k] || fflush(file)))
            continue;
        if (fstat(fileno(file), &status) || !S_ISREG(status.st_mode))
            continue;
        snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(file));
        const ssize_t length = readlink(name, path, sizeof path - 1);
        const off_t at = ftello(file);
        if (length <= 0 || at < 0)
            continue;
        dome__append_u32(to, (uint32_t)k + 1);
        dome__append_u32(to, (uint32_t)fcntl(fileno(file), F_GETFL));
        dome__append_u64(to, (uint64_t)at);
        dome__append_u64(to, (uint64_t)status.st_size);
        dome__append_text(to, path, sizeof path);
    }
    dome__append_u32(to, 0);
}

/* NULL, with errno: it cannot. */
static FILE *reopen(int place, const char *path, int flags, off_t bytes)
{
    const int access = flags & O_ACCMODE;
    const char *mode = access == O_RDONLY ? "r" : flags & O_APPEND ? (access == O_RDWR ? "a+" : "a") : "r+";
    typedef FILE *open_function(const char *, const char *);
    if (place == INPUT)
        return stdin;
    if (access != O_RDONLY && truncate(path, bytes))
        return NULL;
    open_function *next = (open_function *)dome__omp_next("fopen"); /* it may allocate */
    begin_opening_at(place);
    FILE *file = next(path, mode);
    state.opening = 0;
    return file;
}

void dome__omp_streams_reopen(dome_bytes *from)
{
    bool there[DOME_OMP_STREAMS + 1] = {false};
    uint64_t *streams = dome__omp_state()->streams;
    for (uint32_t k; (k = dome__read_u32(from)) > 0 && k <= DOME_OMP_STREAMS + 1 && !from->bad && map_places();) {
        const int flags = (int)dome__read_u32(from), place = (int)k - 1;
        const off_t at = (off_t)dome__read_u64(from), bytes = (off_t)dome__read_u64(from);
        char *path = dome__read_text(from);
        FILE *file = reopen(place, path, flags, bytes);
        there[place] = file && fseeko(file, at, SEEK_SET) == 0;
        if (!there[place] && place != INPUT)
            dome__say("the program goes on without its file %s: %s", path, strerror(errno));
        g_free(path);
    }
    for (int k = 0; k < DOME_OMP_STREAMS; k++) {
        if (streams[k] && !there[k])
            dome__say("a stream that the program had opened is not there any more: it is at no file that can be opened again");
        streams[k] = there[k] ? streams[k] : 0;
    }
}

/* ---- other tasks ---- */

static ssize_t keep(void *place, const char *from, size_t bytes)
{
    const record r = {(uint64_t)(uintptr_t)place - 1, bytes};
    if (!state.written)
        state.written = g_byte_array_new();
    g_byte_array_append(state.written, (const guint8 *)&r, sizeof r);
    g_byte_array_append(state.written, (const guint8 *)from, (guint)bytes);
    return (ssize_t)bytes;
}

static void refuse(const char *what) __attribute__((noreturn));
static void refuse(const char *what)
{
    dome__omp_die("OpenMP: a thread of task %d %s a stream that task 0 has opened; only threads of task 0 can",
                  dome__omp_tasks.rank, what);
}

static ssize_t cannot_read(void *place, char *to, size_t bytes)
{
    (void)place, (void)to, (void)bytes;
    refuse("reads from");
}

void dome__omp_stream_read(const void *file)
{
    if (file == stdin && dome__omp_tasks.rank != 0 && dome__omp_tasks.size > 1 && dome__omp_by_thread())
        dome__omp_die("OpenMP: a thread of task %d reads from the standard input; only threads of task 0 can",
                      dome__omp_tasks.rank);
}

static int cannot_seek(void *place, off64_t *at, int from)
{
    (void)place, (void)at, (void)from;
    refuse("seeks in");
}

/* Following is false while threads of the program run. */
static bool following;

static int end_stream(void *place)
{
    (void)place;
    if (!following)
        refuse("closes");
    return 0;
}

static void follow(int k, uint64_t opening)
{
    typedef FILE *open_function(void *, const char *, cookie_io_functions_t);
    const cookie_io_functions_t functions = {.read = cannot_read, .write = keep, .seek = cannot_seek, .close = end_stream};
    if (state.here[k])
        fclose(state.streams[k]);
    state.here[k] = opening;
    if (!opening || !map_places())
        return;
    open_function *next = (open_function *)dome__omp_next("fopencookie"); /* it may allocate */
    begin_opening_at(k);
    state.streams[k] = next((void *)(uintptr_t)(k + 1), "r+", functions); // NOLINT
    state.opening = 0;
    if (!state.streams[k])
        state.here[k] = 0;
}

void dome__omp_streams_follow(void)
{
    const dome_omp_state_page *page = dome__omp_state();
    following = true;
    for (int k = 0; k < DOME_OMP_STREAMS; k++)
        if (state.here[k] != page->streams[k])
            follow(k, page->streams[k]);
    following = false;
}

GByteArray *dome__omp_streams_written(void)
{
    for (int k = 0; k < DOME_OMP_STREAMS; k++)
        if (state.here[k])
            fflush(state.streams[k]);
    return state.written && state.written->len ? state.written : NULL;
}
