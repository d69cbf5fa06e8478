/* Linux 6.4: userfaultfd raises SIGBUS in the thread that reads a page which is not mapped, or writes one that is closed to
 * writes. The page tables alone change, never the list of mappings, so there is no limit on their number. */
#include "memory/memory_private.h"
#include "memory/uffd.h"

#include <errno.h>
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static const char *begin(dome_memory *memory, bool rights)
{
    const uint64_t features =
        DOME_UFFD_SIGBUS | DOME_UFFD_WP | DOME_UFFD_WP_SHMEM | DOME_UFFD_MINOR_SHMEM | DOME_UFFD_MISSING_SHMEM;
    const char *why = NULL;
    memory->userfault = dome__uffd_open(features, &why);
    if (memory->userfault < 0)
        return why;
    /* without rights, pages that are not mapped are none of its business */
    const uint64_t modes = rights ? DOME_UFFD_MISSING | DOME_UFFD_MINOR | DOME_UFFD_MODE_WP : DOME_UFFD_MODE_WP;
    if (dome__uffd_register(memory->userfault, memory->data, memory->bytes, modes) == 0 &&
        (!rights || madvise(memory->data, memory->bytes, MADV_DONTNEED) == 0))
        return NULL;
    return g_strerror(errno);
}

/* Maps pages of which some may be mapped, and some may have never been touched. */
static int map_pages(dome_memory *memory, char *at, size_t bytes, bool closed)
{
    bool made = false;
    for (char *end = at + bytes; at < end;) {
        size_t done = dome__uffd_continue(memory->userfault, at, (size_t)(end - at), closed);
        at += done;
        made = made && !done;
        if (at == end)
            return 0;
        if (errno == EEXIST) {
            if (dome__uffd_protect(memory->userfault, at, memory->page, closed) < 0)
                return -1;
            at += memory->page;
        } else if (errno != EFAULT || made ||
                   madvise(memory->alias + (at - memory->data), (size_t)(end - at), MADV_POPULATE_WRITE) < 0) {
            return -1;
        } else {
            made = true;
        }
    }
    return 0;
}

static const char *set(dome_memory *memory, size_t first, size_t count, dome_access access)
{
    char *at = memory->data + first * memory->page;
    const size_t bytes = count * memory->page;
    const bool closed = access == DOME_ACCESS_READ;
    int status;
    if (access == DOME_ACCESS_NONE)
        status = madvise(at, bytes, MADV_DONTNEED);
    else if (memory->rights && memory->pages[first].open == DOME_ACCESS_NONE)
        status = map_pages(memory, at, bytes, closed);
    else
        status = dome__uffd_protect(memory->userfault, at, bytes, closed);
    return status == 0 ? NULL : g_strerror(errno);
}

static void end(dome_memory *memory)
{
    if (memory->userfault >= 0)
        close(memory->userfault);
    memory->userfault = -1;
}

/* The kernel opens what is closed, and maps the other pages when they are touched. */
static const char *release(dome_memory *memory)
{
    end(memory);
    return NULL;
}

const dome_tracker dome__tracker_fault = {
    .name = "fault",
    .how = "userfaultfd raises SIGBUS in the thread that reads or writes (Linux 6.4)",
    .rights = true,
    .watches = true,
    .begin = begin,
    .set = set,
    .release = release,
    .end = end,
};
