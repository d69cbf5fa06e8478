/* Every system: mprotect, and SIGSEGV in the thread that reads or writes.
 *
 * Neighbouring pages with the same access share a mapping of the kernel's; every change of access from a page to the next one is
 * the border of two. A process has vm.max_map_count of them, and malloc needs some, too. So when there are too many borders, or
 * the kernel has no room, the whole memory is closed, which makes it one mapping. Its rights do not change: pages are opened
 * again one by one, at the next access. */
#include "memory/memory_private.h"

#include <errno.h>
#include <glib.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

static _Atomic int64_t borders; /* of all memories */

/* Half of the mappings that a process may have. */
static int64_t most_borders(void)
{
    static _Atomic int64_t most; /* 0: not read yet */
    int64_t known = most;
    if (!known) {
        char *text = NULL;
        bool read = g_file_get_contents("/proc/sys/vm/max_map_count", &text, NULL, NULL);
        int64_t limit = read ? g_ascii_strtoll(text, NULL, 10) : 0;
        g_free(text);
        most = known = limit > 0 ? limit / 2 : 32000;
    }
    return known;
}

static int protection_of(dome_access access)
{
    return access == DOME_ACCESS_NONE ? PROT_NONE : access == DOME_ACCESS_READ ? PROT_READ : PROT_READ | PROT_WRITE;
}

/* Borders of the pages first .. first + count - 1 with each other and with their neighbours. */
static int64_t count_borders(const dome_memory *memory, size_t first, size_t count)
{
    const size_t from = MAX(first, 1), to = MIN(first + count + 1, memory->bytes / memory->page);
    int64_t n = 0;
    for (size_t k = from; k < to; k++)
        n += memory->pages[k].open != memory->pages[k - 1].open;
    return n;
}

/* Sets an access of pages, and keeps count. */
static int protect(dome_memory *memory, size_t first, size_t count, dome_access access)
{
    if (mprotect(memory->data + first * memory->page, count * memory->page, protection_of(access)) < 0)
        return -1;
    const int64_t before = count_borders(memory, first, count);
    for (size_t k = first; k < first + count; k++)
        memory->pages[k].open = access;
    borders += count_borders(memory, first, count) - before;
    return 0;
}

/* The pages that may have got an access. There may be thousands of millions of others. */
static size_t find_opened(const dome_memory *memory, size_t *first)
{
    const size_t end = memory->rights ? memory->given_end : memory->bytes / memory->page;
    *first = memory->rights ? memory->given_first : 0;
    return end - *first;
}

static int close_all(dome_memory *memory)
{
    size_t first;
    const size_t count = find_opened(memory, &first);
    return protect(memory, first, count, DOME_ACCESS_NONE);
}

static const char *begin(dome_memory *memory, bool rights)
{
    most_borders(); /* not in a signal handler */
    return rights && mprotect(memory->data, memory->bytes, PROT_NONE) < 0 ? g_strerror(errno) : NULL;
}

static const char *set(dome_memory *memory, size_t first, size_t count, dome_access access)
{
    if (borders >= most_borders() && close_all(memory) < 0)
        return g_strerror(errno);
    if (protect(memory, first, count, access) == 0)
        return NULL;
    if (errno == ENOMEM && close_all(memory) == 0 && protect(memory, first, count, access) == 0)
        return NULL;
    return errno == ENOMEM ? "the process has too many mappings (sysctl vm.max_map_count)" : g_strerror(errno);
}

static const char *release(dome_memory *memory)
{
    size_t first;
    const size_t count = find_opened(memory, &first);
    if (mprotect(memory->data, memory->bytes, protection_of(DOME_ACCESS_WRITE)) < 0 ||
        protect(memory, first, count, DOME_ACCESS_WRITE) < 0)
        return g_strerror(errno);
    return NULL;
}

static void end(dome_memory *memory)
{
    size_t first;
    const size_t count = find_opened(memory, &first);
    borders -= count_borders(memory, first, count);
}

const dome_tracker dome__tracker_protect = {
    .name = "protect",
    .how = "mprotect, and SIGSEGV in the thread that reads or writes (every system)",
    .rights = true,
    .watches = true,
    .begin = begin,
    .set = set,
    .release = release,
    .end = end,
};
