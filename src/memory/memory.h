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

/* Memory that the process has, in whole pages: alias is data, and no other task has it. It may only get rights. When it is freed,
 * it stays, and may be written. */
dome_memory *dome__memory_here(void *at, size_t bytes);

/* What another task of this host must know to map the memory too. It may be sent as words: all are numbers of 64 bits. */
typedef struct dome_memory_offer {
    int64_t process, descriptor, inode, bytes;
} dome_memory_offer;

dome_memory_offer dome__memory_offer(const dome_memory *memory);

/* Maps memory that another task offers, which has not called dome__memory_taken yet. NULL: *why as above. */
dome_memory *dome__memory_attach(const dome_memory_offer *offer, const char **why);

/* Moves data to this address, a multiple of the page, where nothing is yet. Before any access and before rights. Returns NULL, or
 * why not, and data stays where it is. */
const char *dome__memory_place(dome_memory *memory, void *at);

/* Moves data to this address, a multiple of the page, in the place of what is there, in one step; keep: with the contents of
 * that. Otherwise as dome__memory_place. What other threads write there meanwhile may be lost. If it has rights (below) and the
 * descriptor is still open, a process made by fork has a copy of its own there, as of the call. The parent waits until it is
 * made; fork must be called on a stack that is elsewhere. */
const char *dome__memory_replace(dome_memory *memory, void *at, bool keep);

/* All tasks that were to attach have done so: closes the descriptor. */
void dome__memory_taken(dome_memory *memory);

/* Unmaps it. Other tasks keep it. NULL is allowed. */
void dome__memory_free(dome_memory *memory);

/* But for dome__memory_replace, a process made by fork has the alias alone: an access to data ends it by SIGSEGV. */
void *dome__memory_data(const dome_memory *memory);
void *dome__memory_alias(const dome_memory *memory);

/* How many of these pages, from the first one on, nobody has touched yet: they are zeros, and looking at them would cost memory.
 */
size_t dome__memory_untouched(const dome_memory *memory, size_t first, size_t count);

/* Bytes of a page, and of the whole memory: a multiple of it. */
size_t dome__memory_page(const dome_memory *memory);
size_t dome__memory_bytes(const dome_memory *memory);

/* ---- rights: who may read and write ---- */

typedef enum dome_access { DOME_ACCESS_NONE, DOME_ACCESS_READ, DOME_ACCESS_WRITE } dome_access;

/* An access to the byte at this offset of data, whose page has not the right to it. Called in the thread that reads or writes, in
 * a signal handler with signals blocked; it may wait, and uses the alias. It gives the right before it returns, or the access
 * comes here again. */
typedef void dome_memory_handler(void *context, size_t offset, bool write);

/* From now on pages of data have rights, at first none. The rights are those of this process alone, and hold for system calls,
 * too: read(2) into a page without its right fails with EFAULT. A thread must not block SIGSEGV and SIGBUS. Returns NULL, or why
 * not: a static text as above. */
const char *dome__memory_on_fault(dome_memory *memory, dome_memory_handler *handler, void *context);

/* When it returns, no thread has more than this right. Any thread may call it. Returns NULL, or why a right was not given. */
const char *dome__memory_allow(dome_memory *memory, size_t first, size_t count, dome_access access);

/* From now on every access passes, and system calls do not fail. A fault that is being answered in another thread goes on. Any
 * thread may call it, once; later calls of dome__memory_allow change nothing, and writes are not watched. A process that cannot
 * do so ends with a line. */
void dome__memory_release(dome_memory *memory);

/* Some of these bytes are of memory with rights: a system call on them may fail where an access would wait. */
bool dome__memory_is_ruled(const void *bytes, size_t count);

/* Likewise; a process whose memory cannot be accessed as it should be ends with a line. */
void dome__memory_allow_surely(dome_memory *memory, size_t first, size_t count, dome_access access);

dome_access dome__memory_right(dome_memory *memory, size_t page);

/* Whether these pages have this right. For a caller beside whom nobody gives rights of them: it takes no lock. */
bool dome__memory_has(const dome_memory *memory, size_t first, size_t count, dome_access access);

/* ---- which pages were written ---- */

/* From now on notes which pages of data this process writes. dome__memory_on_fault may only be called before it. */
const char *dome__memory_watch(dome_memory *memory);

/* Before the first write to a page since the last dome__memory_written (at first, since dome__memory_watch) passes: in the thread
 * that writes, in a signal handler with signals blocked. For memory with rights, before dome__memory_watch. */
typedef void dome_memory_first(void *context, size_t page);
void dome__memory_on_write(dome_memory *memory, dome_memory_first *first, void *context);

/* Visits runs of neighbouring pages that were written since the last call (at first, since dome__memory_watch), each once. What
 * is written while it runs belongs to this call or to the next one. A tracker that cannot know visits all pages. */
typedef void dome_memory_visit(void *context, size_t first, size_t count);
const char *dome__memory_written(dome_memory *memory, dome_memory_visit *visit, void *context);

/* How this memory is tracked: "async", "fault", "protect", "compare"; "none" before dome__memory_on_fault and _watch. */
const char *dome__memory_tracker(const dome_memory *memory);

#endif
