/* Linux 6.7: the kernel lets writes pass and notes them in the page table, where PAGEMAP_SCAN finds them. Nothing is stopped, so
 * there are no rights, no signals, and system calls may write. */
#include "memory/memory_private.h"
#include "memory/uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RUNS = 64 };

static const char *begin(dome_memory *memory, bool rights)
{
    const char *why = NULL;
    if (rights)
        return "async does not stop accesses";
    memory->userfault = dome__uffd_open(DOME_UFFD_WP | DOME_UFFD_WP_SHMEM | DOME_UFFD_WP_UNPOPULATED | DOME_UFFD_WP_ASYNC, &why);
    if (memory->userfault < 0)
        return why;
    memory->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (memory->pagemap >= 0 && dome__uffd_register(memory->userfault, memory->data, memory->bytes, DOME_UFFD_MODE_WP) == 0 &&
        dome__uffd_protect(memory->userfault, memory->data, memory->bytes, true) == 0)
        return NULL;
    return g_strerror(errno);
}

static const char *written(dome_memory *memory, dome_memory_visit *visit, void *context)
{
    char *at = memory->data, *end = memory->data + memory->bytes, *starts[RUNS], *ends[RUNS];
    while (at < end) {
        int n = dome__uffd_scan(memory->pagemap, &at, end, RUNS, starts, ends);
        if (n < 0)
            return g_strerror(errno);
        for (int k = 0; k < n; k++)
            visit(context, (size_t)(starts[k] - memory->data) / memory->page, (size_t)(ends[k] - starts[k]) / memory->page);
    }
    return NULL;
}

static void end(dome_memory *memory)
{
    if (memory->userfault >= 0)
        close(memory->userfault);
    if (memory->pagemap >= 0)
        close(memory->pagemap);
    memory->userfault = memory->pagemap = -1;
}

const dome_tracker dome__tracker_async = {
    .name = "async",
    .how = "userfaultfd notes writes, PAGEMAP_SCAN finds them (Linux 6.7)",
    .watches = true,
    .begin = begin,
    .written = written,
    .end = end,
};
