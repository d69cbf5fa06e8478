/* The state of memory page by page. A page that was never touched costs nothing: it is as the file has it, or zero. */
#ifndef DOME_SRC_PROCESS_OMP_PAGES_H
#define DOME_SRC_PROCESS_OMP_PAGES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_omp_pages dome_omp_pages;

/* One bit for each page from begin to end: whether the process has touched it; g_free'd. If the system does not tell, all are
 * set. */
uint8_t *dome__omp_pages_touched(const char *begin, const char *end);

static inline bool dome__omp_page_is(const uint8_t *touched, uint64_t page)
{
    return touched[page / 8] >> page % 8 & 1;
}

/* Keeps what the pages hold. */
dome_omp_pages *dome__omp_pages_keep(char *begin, char *end);

/* The pages hold it again; frees what was kept. */
void dome__omp_pages_restore(dome_omp_pages *pages);

#endif
