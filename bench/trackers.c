/* trackers: what it costs to learn that a page was read or written, by each way that this machine has (src/memory).
 *
 *     trackers [PAGES]        8192 by default
 *
 * First write: the tracker notices the first write to each page. Read fault: the handler fills the page by the alias and gives
 * the right to read it. Upgrade: the page may be read, and gets the right to be written. These are wall times, each the median of
 * single accesses to all pages in turn, so that a busy machine disturbs little. The row "none" is a page fault without any
 * tracker, which some virtual machines make slow. Scan: asking which pages were written (all, none), the best of five turns. "-":
 * the tracker has no rights. */
#include "memory/memory.h"
#include "memory/tracker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { TURNS = 5 };

typedef struct figures {
    double first_write, read_fault, upgrade; /* s, per page; < 0: it cannot */
    double scan_all, scan_none;              /* s, all pages */
} figures;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(const char *why)
{
    if (!why)
        return;
    fprintf(stderr, "trackers: memory cannot be tracked: %s\n", why);
    exit(1);
}

static dome_memory *new_memory(size_t pages)
{
    const char *why = NULL;
    dome_memory *one = dome__memory_new("bench", 1, &why);
    need(why);
    dome_memory *memory = dome__memory_new("bench", pages * dome__memory_page(one), &why);
    need(why);
    dome__memory_free(one);
    memset(dome__memory_alias(memory), 1, dome__memory_bytes(memory));
    return memory;
}

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Reads or writes each page once; the median of their times. */
static double access_all(dome_memory *memory, bool write)
{
    const size_t page = dome__memory_page(memory), pages = dome__memory_bytes(memory) / page;
    double *times = calloc(pages, sizeof *times);
    volatile char *data = dome__memory_data(memory);
    if (!times)
        need("there is no memory for times");
    for (size_t k = 0; k < pages; k++) {
        const double begin = now();
        if (write)
            data[k * page + 64] = 1;
        else
            (void)data[k * page + 64];
        times[k] = now() - begin;
    }
    qsort(times, pages, sizeof *times, compare_times);
    const double median = times[pages / 2];
    free(times);
    return median;
}

static void count_pages(void *context, size_t first, size_t count)
{
    (void)first;
    *(size_t *)context += count;
}

static double scan(dome_memory *memory, size_t *found)
{
    const double begin = now();
    *found = 0;
    need(dome__memory_written(memory, count_pages, found));
    return now() - begin;
}

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

static void measure_writes(size_t pages, bool exact, figures *f)
{
    size_t found;
    dome_memory *memory = new_memory(pages);
    access_all(memory, false); /* all pages are mapped */
    need(dome__memory_watch(memory));
    for (int turn = 0; turn < TURNS; turn++) {
        keep_least(&f->first_write, access_all(memory, true));
        keep_least(&f->scan_all, scan(memory, &found));
        if (found != pages)
            need("a write was not noticed");
        keep_least(&f->scan_none, scan(memory, &found));
        if (found && exact)
            need("a page was named that nobody wrote");
    }
    dome__memory_free(memory);
}

static void fetch(void *context, size_t offset, bool write)
{
    static char contents[1 << 16];
    dome_memory *memory = context;
    const size_t bytes = dome__memory_page(memory), page = offset / bytes;
    if (!write)
        memcpy((char *)dome__memory_alias(memory) + page * bytes, contents, bytes);
    need(dome__memory_allow(memory, page, 1, write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ));
}

/* A page fault that nobody asks for: the page is there and is not mapped. What the machine takes for it is in all of the above.
 */
static double measure_plain(size_t pages)
{
    double least = 0;
    dome_memory *memory = new_memory(pages);
    for (int turn = 0; turn < TURNS; turn++) {
        if (madvise(dome__memory_data(memory), dome__memory_bytes(memory), MADV_DONTNEED) < 0)
            need("its pages cannot be unmapped");
        keep_least(&least, access_all(memory, true));
    }
    dome__memory_free(memory);
    return least;
}

static void measure_rights(size_t pages, figures *f)
{
    dome_memory *memory = new_memory(pages);
    need(dome__memory_on_fault(memory, fetch, memory));
    for (int turn = 0; turn < TURNS; turn++) {
        keep_least(&f->read_fault, access_all(memory, false));
        keep_least(&f->upgrade, access_all(memory, true));
        need(dome__memory_allow(memory, 0, pages, DOME_ACCESS_NONE));
    }
    dome__memory_free(memory);
}

static void print_time(double seconds)
{
    if (seconds > 0)
        printf(" %10.2f", 1e6 * seconds);
    else
        printf(" %10s", "-");
}

static void print_row(const char *name, const figures *f)
{
    printf("%-8s", name);
    print_time(f->first_write);
    print_time(f->read_fault);
    print_time(f->upgrade);
    printf(" %10.0f %10.0f\n", 1e6 * f->scan_all, 1e6 * f->scan_none);
}

int main(int argc, char **argv)
{
    char *end = "";
    const unsigned long pages = argc > 1 ? strtoul(argv[1], &end, 10) : 8192;
    if (argc > 2 || *end || pages < 1 || pages > 1 << 20) {
        fprintf(stderr, "usage: trackers [PAGES]\n");
        return 2;
    }
    const dome_tracker *row;
    const char *why;
    double noticed[8] = {0};
    printf("%lu pages, us%17s %10s %10s %21s\n", pages, "", "read", "", "scan of all pages");
    printf("%-8s %10s %10s %10s %10s %10s\n", "", "1st write", "fault", "upgrade", "all", "none");
    for (unsigned k = 0; (row = dome__tracker_row(k, &why)); k++) {
        figures f = {0};
        if (why) {
            printf("%-8s %s\n", row->name, why);
            continue;
        }
        dome__tracker_force(row->name);
        measure_writes(pages, row->watches, &f);
        if (row->rights)
            measure_rights(pages, &f);
        if (!row->watches)
            f.first_write = 0;
        noticed[k] = f.first_write;
        print_row(row->name, &f);
    }
    const double plain = measure_plain(pages);
    printf("%-8s", "none");
    print_time(plain);
    printf("\n\na first write noticed, us and over a page fault of this machine:");
    for (unsigned k = 0; (row = dome__tracker_row(k, &why)); k++)
        if (noticed[k] > 0)
            printf("%s %s %.2f, %.1f (to reach %s us)", k ? ";" : "", row->name, 1e6 * noticed[k], noticed[k] / plain,
                   row->rights ? "8" : "1.3");
    printf("\n");
    return 0;
}
