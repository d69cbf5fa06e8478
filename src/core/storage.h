/* Memory for the values of vectors. */
#ifndef DOME_SRC_STORAGE_H
#define DOME_SRC_STORAGE_H

#include <dome/structure.h>

/* 64-byte aligned and all zero. NULL when memory is out; bytes 0 gives NULL too. Storage of some size lies in pages of its own,
 * large ones where the system has them, and is kept for the next that wants as much when it is freed: touching a page for the
 * first time costs far more than using it again. */
void *dome__storage(uint64_t bytes);

/* The same with any contents, unless *zero says that they are all zero. zero may be NULL. */
void *dome__storage_raw(uint64_t bytes, bool *zero);

void dome__storage_free(void *data);

/* Gives back what is kept. */
void dome__storage_trim(void);

/* The most bytes that were in use at once, and that were held from the system at once. */
void dome__storage_peak(uint64_t *used, uint64_t *held);

/* Bytes that fit into it: at least those it was made for. 0 for NULL. */
uint64_t dome__storage_capacity(const void *data);

/* Unused bytes of the storage before data: 0 unless it has been slid. */
uint64_t dome__storage_before(const void *data);

/* Lets the data begin so many bytes further on (or, less than 0, further to the front, at most dome__storage_before), a multiple
 * of 64. The values stay where they are. Returns the new data, which is to be freed instead; the 64 bytes before it are not the
 * caller's. */
void *dome__storage_slide(void *data, int64_t bytes);

/* From now on (--dome-check-pointers) retired storage is not freed but closed to any access, and a program that touches it ends
 * with a line that names the vector and the operation. Call it once, before any storage is made. */
void dome__storage_check(dome_env *env);

/* There is no environment any more, and no storage in use. A program that touches storage now ends by the signal. */
void dome__storage_check_no_more(void);

/* Frees storage whose values are elsewhere now, while the program may still hold pointers to it. */
void dome__storage_retire(void *data, const char *name);

#endif
