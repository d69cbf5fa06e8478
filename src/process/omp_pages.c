#include "process/omp_pages.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct dome_omp_pages {
    char *begin, *end;
    uint64_t page;
    uint8_t *touched;
    GByteArray *kept; /* the touched ones, in order */
};

enum { AT_ONCE = 4096 };

/* Of an entry of /proc/self/pagemap: the page is in memory, or in the swap. */
static const uint64_t THERE = 3ULL << 62;

uint8_t *dome__omp_pages_touched(const char *begin, const char *end)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), n = (uint64_t)(end - begin) / page, first = (uintptr_t)begin / page;
    uint8_t *touched = g_malloc0(n / 8 + 1);
    uint64_t entries[AT_ONCE];
    const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (uint64_t done = 0; done < n;) {
        const uint64_t want = MIN(n - done, AT_ONCE);
        const ssize_t got = fd < 0 ? -1 : pread(fd, entries, want * sizeof *entries, (off_t)((first + done) * sizeof *entries));
        const bool known = got >= (ssize_t)sizeof *entries;
        const uint64_t count = known ? (uint64_t)got / sizeof *entries : want;
        for (uint64_t k = 0; k < count; k++)
            if (!known || entries[k] & THERE)
                touched[(done + k) / 8] |= (uint8_t)(1 << (done + k) % 8);
        done += count;
    }
    if (fd >= 0)
        close(fd);
    return touched;
}

dome_omp_pages *dome__omp_pages_keep(char *begin, char *end)
{
    dome_omp_pages *p = g_new0(dome_omp_pages, 1);
    *p = (dome_omp_pages){.begin = begin, .end = end, .page = (uint64_t)sysconf(_SC_PAGESIZE)};
    p->touched = dome__omp_pages_touched(begin, end);
    p->kept = g_byte_array_new();
    for (uint64_t k = 0; k < (uint64_t)(end - begin) / p->page; k++)
        if (dome__omp_page_is(p->touched, k))
            g_byte_array_append(p->kept, (const guint8 *)begin + k * p->page, (guint)p->page);
    return p;
}

/* A page that was untouched becomes so again: private memory then has what the file has, or zeros. */
static void forget(char *begin, uint64_t bytes)
{
    if (madvise(begin, bytes, MADV_DONTNEED) != 0)
        memset(begin, 0, bytes);
}

void dome__omp_pages_restore(dome_omp_pages *p)
{
    const uint64_t n = (uint64_t)(p->end - p->begin) / p->page;
    uint8_t *now = dome__omp_pages_touched(p->begin, p->end);
    const guint8 *kept = p->kept->data;
    uint64_t from = 0; /* the pages from here to k are to be forgotten */
    for (uint64_t k = 0; k < n; k++) {
        const bool was = dome__omp_page_is(p->touched, k), keep = was || !dome__omp_page_is(now, k);
        if (keep && from < k)
            forget(p->begin + from * p->page, (k - from) * p->page);
        if (keep)
            from = k + 1;
        if (!was)
            continue;
        memcpy(p->begin + k * p->page, kept, p->page);
        kept += p->page;
    }
    if (from < n)
        forget(p->begin + from * p->page, (n - from) * p->page);
    g_free(now);
    g_free(p->touched);
    g_byte_array_free(p->kept, TRUE);
    g_free(p);
}
