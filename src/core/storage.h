/* Memory for the values of vectors. */
#ifndef DOME_SRC_STORAGE_H
#define DOME_SRC_STORAGE_H

#include <dome/structure.h>

/* Allocates storage, 64-byte aligned and all zero. NULL when memory is out or bytes is 0. Storage beyond a certain size has its
 * own pages, large ones if the system supports them; when freed it is kept for later allocations of about that size, because
 * touching a page for the first time costs far more than reusing it. */
void *dome__storage(uint64_t bytes);

/* The same with undefined contents; sets *zero if they are known to be all zero. zero may be NULL. */
void *dome__storage_raw(uint64_t bytes, bool *zero);

void dome__storage_free(void *data);

/* Returns kept storage to the system. */
void dome__storage_trim(void);

/* The most bytes that were in use at once, and that were held from the system at once. */
void dome__storage_peak(uint64_t *used, uint64_t *held);

/* Bytes that the system could still give (MemAvailable, which knows no limits of control groups); UINT64_MAX: unknown. */
uint64_t dome__storage_available(void);

/* Bytes that the system could still promise, whether they are used or not; UINT64_MAX: it promises any number, as systems do
 * unless vm.overcommit_memory is 2. */
uint64_t dome__storage_promised(void);

/* The capacity of storage in bytes: at least the size requested. 0 for NULL. */
uint64_t dome__storage_capacity(const void *data);

/* Unused bytes before data: 0 unless the data has been slid. */
uint64_t dome__storage_before(const void *data);

/* Moves the start of the data by so many bytes, a multiple of 64 (negative: towards the front, by at most dome__storage_before).
 * Does not move values. Returns the new start, which must be freed in place of the old one; the 64 bytes before it are
 * reserved. */
void *dome__storage_slide(void *data, int64_t bytes);

/* For --dome-check-pointers: from now on retired storage is not freed but protected, and a program that accesses it ends with a
 * line that names the vector and the operation. Call it once, before any allocation. */
void dome__storage_check(dome_env *env);

/* Called when the environment ends and no storage is in use. A later access to storage ends the program by the signal alone. */
void dome__storage_check_no_more(void);

/* Frees storage whose values have moved, while the program may still hold pointers to it. */
void dome__storage_retire(void *data, const char *name);

#endif
