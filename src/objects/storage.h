/* Memory for the values of vectors. */
#ifndef DOME_SRC_STORAGE_H
#define DOME_SRC_STORAGE_H

#include <dome/object.h>

/* 64-byte aligned and all zero. NULL when memory is out; bytes 0 gives NULL too. */
void *dome__storage(uint64_t bytes);
void dome__storage_free(void *data);

/* Bytes that fit into it: at least those it was made for. 0 for NULL. */
uint64_t dome__storage_capacity(const void *data);

/* From now on (--dome-check-pointers) retired storage is not freed but closed to any access, and a program that touches it ends
 * with a line that names the vector and the operation. Call it once, before any storage is made. */
void dome__storage_check(dome_env *env);

/* There is no environment any more, and no storage in use. A program that touches storage now ends by the signal. */
void dome__storage_check_no_more(void);

/* Frees storage whose values are elsewhere now, while the program may still hold pointers to it. */
void dome__storage_retire(void *data, const char *name);

#endif
