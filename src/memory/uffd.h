/* userfaultfd and the scan of page tables, as Linux has them in any version: the headers of older systems lack what newer kernels
 * offer. User mode only: no privilege is needed, and system calls on a page without its right fail with EFAULT. */
#ifndef DOME_SRC_MEMORY_UFFD_H
#define DOME_SRC_MEMORY_UFFD_H

#include <stddef.h>
#include <stdint.h>

/* Features, by their version of Linux. */
#define DOME_UFFD_WP             (UINT64_C(1) << 0) /* 5.7 */
#define DOME_UFFD_MISSING_SHMEM  (UINT64_C(1) << 5)
#define DOME_UFFD_SIGBUS         (UINT64_C(1) << 7)  /* 4.14 */
#define DOME_UFFD_MINOR_SHMEM    (UINT64_C(1) << 10) /* 5.14 */
#define DOME_UFFD_WP_SHMEM       (UINT64_C(1) << 12) /* 5.19 */
#define DOME_UFFD_WP_UNPOPULATED (UINT64_C(1) << 13) /* 6.4 */
#define DOME_UFFD_WP_ASYNC       (UINT64_C(1) << 15) /* 6.7 */

/* Which faults of a mapping are asked for. */
enum { DOME_UFFD_MISSING = 1, DOME_UFFD_MODE_WP = 2, DOME_UFFD_MINOR = 4 };

/* A descriptor that has these features; -1: *why, and errno. */
int dome__uffd_open(uint64_t features, const char **why);

/* The calls return 0, or -1 with errno. */
int dome__uffd_register(int fd, void *at, size_t bytes, uint64_t modes);

/* Closes pages to writes, or opens them. */
int dome__uffd_protect(int fd, void *at, size_t bytes, int closed);

/* Maps pages that the file has, closed to writes or not (closed: Linux 6.4). Returns the bytes that it mapped, from `at` on; if
 * these are not all, errno says why the next page was not: EEXIST, it is mapped; EFAULT, the file has none. */
size_t dome__uffd_continue(int fd, void *at, size_t bytes, int closed);

/* Pages from *at up to `end` that were written, which are closed to writes again in the same moment (Linux 6.7). Writes up to
 * `most` runs to `starts` and `ends`, moves *at behind what was looked at, and returns their number; -1: errno. */
int dome__uffd_scan(int pagemap, char **at, char *end, int most, char **starts, char **ends);

#endif
