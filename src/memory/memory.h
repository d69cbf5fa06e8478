/* Memory that the tasks of one host share: a file in memory without a name (memfd), mapped twice. The program uses one mapping,
 * `data`; the library reads and writes by the other one, `alias`, in which an access never faults. It knows nothing of Dome. */
#ifndef DOME_SRC_MEMORY_MEMORY_H
#define DOME_SRC_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dome_memory dome_memory;

/* New memory, all zero, of at least `bytes` bytes, in whole pages. Only /proc shows the name. NULL if there is none; *why is then
 * a static text, to follow "cannot be ...: ". Pages get memory when they are first touched; under vm.overcommit_memory=2, which
 * does not promise that there will be some, all of them get it here. */
dome_memory *dome__memory_new(const char *name, uint64_t bytes, const char **why);

/* What another task of this host must know to map the memory too. It may be sent as words: all are numbers of 64 bits. */
typedef struct dome_memory_offer {
    int64_t process, descriptor, inode, bytes;
} dome_memory_offer;

dome_memory_offer dome__memory_offer(const dome_memory *memory);

/* Maps memory that another task offers, which has not called dome__memory_taken yet. NULL: *why as above. */
dome_memory *dome__memory_attach(const dome_memory_offer *offer, const char **why);

/* All tasks that were to attach have done so: closes the descriptor. */
void dome__memory_taken(dome_memory *memory);

/* Unmaps it. Other tasks keep it. NULL is allowed. */
void dome__memory_free(dome_memory *memory);

/* A process made by fork has the alias alone: an access to data ends it by SIGSEGV. */
void *dome__memory_data(const dome_memory *memory);
void *dome__memory_alias(const dome_memory *memory);

/* Bytes of a page, and of the whole memory: a multiple of it. */
size_t dome__memory_page(const dome_memory *memory);
size_t dome__memory_bytes(const dome_memory *memory);

#endif
