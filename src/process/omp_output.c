#include "process/omp_output.h"

#include "openmp/tasks.h"
#include "process/omp_arena.h"
#include "process/omp_state.h"
#include "process/omp_streams.h"
#include "process/tasks_space.h"
#include "system/say.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int kept = -1, before = -1; /* the file, and the output as it was */

static uint64_t meetings; /* so far */

static void flush_all(void)
{
    static void (*flush_units)(void *); /* of Fortran's library, if the program has it */
    static bool known;
    if (!known)
        *(void **)&flush_units = dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
    known = true;
    if (flush_units)
        flush_units(NULL);
    fflush(stdout);
}

void dome__omp_output_begin(void)
{
    fflush(stdout);
    kept = memfd_create("dome-omp-output", MFD_CLOEXEC);
    before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || before < 0 || dup2(kept, STDOUT_FILENO) < 0) {
        dome__say("task %d cannot keep what its threads print: %s", dome__omp_tasks.rank, strerror(errno));
        kept = -1;
    }
}

/* How much there is. At most meetings there is nothing, and the position, which all share who write, is had in a third of the
 * time. */
static uint64_t kept_bytes(void)
{
    struct stat s;
    return kept >= 0 && lseek(kept, 0, SEEK_CUR) != 0 && fstat(kept, &s) == 0 ? (uint64_t)s.st_size : 0;
}

static void empty(void)
{
    if (ftruncate(kept, 0) || lseek(kept, 0, SEEK_SET))
        dome__say("task %d may print something twice: %s", dome__omp_tasks.rank, strerror(errno));
}

/* The runtime's own arenas are behind those of the threads. */
static unsigned own_arena(void)
{
    return DOME_OMP_MAX_THREADS - 1 - (unsigned)dome__omp_tasks.rank;
}

void dome__omp_output_give(void)
{
    flush_all();
    GByteArray *records = dome__omp_streams_written();
    const uint64_t bytes = kept_bytes(), streams = records ? records->len : 0;
    dome_omp_output *mine = &dome__omp_state()->output[meetings++ % 2][dome__omp_tasks.rank];
    if (mine->text)
        dome__omp_arena_free(own_arena(), mine->text);
    if (mine->text || bytes + streams)
        *mine = (dome_omp_output){.bytes = bytes, .streams = streams};
    if (!(bytes + streams))
        return;
    char *copy = g_malloc(bytes);
    mine->text = dome__omp_arena_get(own_arena(), bytes + streams, NULL);
    const ssize_t got = pread(kept, copy, bytes, 0);
    if (mine->text && got == (ssize_t)bytes) {
        memcpy(mine->text, copy, bytes);
        if (records)
            memcpy(mine->text + bytes, records->data, streams);
    } else {
        dome__say("task %d has no memory for what its threads have printed", dome__omp_tasks.rank);
        mine->bytes = mine->streams = 0;
    }
    g_free(copy);
    if (records)
        g_byte_array_set_size(records, 0);
    empty();
}

/* What is large the C library hands to the system as it is, which does not wait for a page. */
static void print(int rank, const dome_omp_output *output)
{
    dome__omp_want(output->text, output->bytes + output->streams, false);
    if (fwrite(output->text, 1, output->bytes, stdout) != output->bytes)
        dome__say("what threads of task %d have printed is lost: %s", rank, strerror(errno));
    dome__omp_streams_write(output->text + output->bytes, output->streams);
}

void dome__omp_output_print(void)
{
    if (dome__omp_tasks.rank != 0)
        return;
    const dome_omp_output *outputs = dome__omp_state()->output[meetings++ % 2];
    bool printed = false;
    for (int r = 1; r < dome__omp_tasks.size; r++) {
        const dome_omp_output *o = &outputs[r];
        if (o->bytes && !printed)
            flush_all(); /* what task 0's threads have printed comes before */
        if (o->bytes + o->streams)
            print(r, o);
        printed |= o->bytes > 0;
    }
    if (printed && fflush(stdout)) /* Fortran's units have a buffer of their own */
        dome__say("what the program's threads have printed is lost: %s", strerror(errno));
}

/* False, with errno: not all of it is written. */
static bool write_all(int fd, const char *from, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = write(fd, from, bytes);
        if (n < 0 && errno != EINTR)
            return false;
        from += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

char *dome__omp_output_kept(size_t *bytes)
{
    flush_all();
    char *copy = g_malloc(kept_bytes());
    const ssize_t n = kept >= 0 ? pread(kept, copy, kept_bytes(), 0) : 0;
    *bytes = n > 0 ? (size_t)n : 0;
    return copy;
}

void dome__omp_output_show(const char *text, size_t bytes)
{
    if (!write_all(dome__omp_tasks.rank == 0 ? STDOUT_FILENO : STDERR_FILENO, text, bytes))
        dome__say("what task %d has printed last is lost: %s", dome__omp_tasks.rank, strerror(errno));
}

void dome__omp_output_end(void)
{
    char part[4096];
    if (kept < 0)
        return;
    flush_all();
    for (off_t at = 0;;) {
        const ssize_t n = pread(kept, part, sizeof part, at);
        if (n < 0 || !write_all(before, part, (size_t)n))
            dome__say("what task %d has printed last is lost: %s", dome__omp_tasks.rank, strerror(errno));
        if (n <= 0)
            break;
        at += n;
    }
    empty();
    if (dup2(before, STDOUT_FILENO) < 0)
        dome__say("task %d has lost its standard output: %s", dome__omp_tasks.rank, strerror(errno));
    close(before);
    close(kept);
    kept = before = -1;
}
