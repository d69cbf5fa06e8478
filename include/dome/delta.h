/* Discontinuous incremental checkpoints: files of what a program has changed in its memory, between a start and a stop. They need
 * no dome_init. The words and their meaning are those of DICKPT (Viet Hai Ha, thesis, 2012, section 3.2.2 and table 3.2).
 *
 *     static double x[1000000];
 *     dome_delta_memory(x, sizeof x, sizeof *x);
 *     dome_delta_start();
 *     x[7] = 1;
 *     dome_delta_save("first");          x[7], and where it lies
 *     x[8] = 2;
 *     dome_delta_save("first");          the same name: the file has both changes
 *     dome_delta_stop();
 *     ...
 *     dome_delta_inject("first");        here or in another process of the program: x[7] and x[8] become what they were
 *
 * Functions return 0, or -1: dome_delta_error() then says why, and nothing has changed. They are called by one thread, while no
 * other thread writes to the memory.
 *
 * Pages of the memory are closed to writes until the first write, which a signal (SIGSEGV) tells: until then a system call that
 * would write there fails with EFAULT. */
#ifndef DOME_DELTA_H
#define DOME_DELTA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From the next start on this memory is tracked. unit: 1, 2, 4 or 8: the bytes that are only saved and merged together; both
 * memory and bytes are multiples of it. 1 if memory has no one type. All processes name their memory in the same order. */
int dome_delta_memory(void *memory, size_t bytes, unsigned unit);

/* Changes are tracked from now on. What was changed before and is not saved is in no file. */
int dome_delta_start(void);

/* Nothing is tracked any more, and changes since the last save are in no file. */
int dome_delta_stop(void);

/* Writes what has changed since the start or the last save. If the last save since the start had the same name, the file has
 * those changes, too; else it is a new one. */
int dome_delta_save(const char *file);

/* The same of these bytes alone (a selective flush; dome_delta_save is a global one). Changes elsewhere stay for the next save.
 * The bytes lie in one memory that is named, and are multiples of its unit. */
int dome_delta_save_of(const char *file, const void *memory, size_t bytes);

/* The memory gets the values in the file; all else stays. */
int dome_delta_inject(const char *file);

/* These bytes alone do. */
int dome_delta_inject_of(const char *file, void *memory, size_t bytes);

/* `into` gets the values of `file`, too, also where it has others. Both are saves behind the same start, counted from the
 * program's beginning: of one process, or of several. */
int dome_delta_merge(const char *into, const char *file);

/* Recovers: each start from now on injects the next of these files in place of tracking, a stop does nothing, a save fails. The
 * start that injects the last one tracks, too, and all is as before. */
int dome_delta_recover(const char *const *files, size_t count);

/* This memory was written, if also with the values that it had: the next save has it. A comparison alone cannot know. */
int dome_delta_wrote(const void *memory, size_t bytes);

/* What dome-omp and dome-cc make of "#pragma dickpt start", "stop" and "save": the call, and a line on standard error if it
 * fails. where: the place in the source, or NULL. */
void dome_dickpt_start(const char *where);
void dome_dickpt_stop(const char *where);
void dome_dickpt_save(const char *file, const char *where);

/* Why the last call failed. */
const char *dome_delta_error(void);

#ifdef __cplusplus
}
#endif

#endif
