/* The image of a captured program, or of one task of it, in blocks:
 *
 *     0     the head: names of types, globals and functions; streams; numbers
 *     1     the active functions: records and memory, from the outermost on
 *     ...   globals in the order of their names: several in a block, or a part of a large one
 *     ...   blocks of the heap in the order of their serials: several in a block, or a part of a large one
 *
 * The number of blocks may differ from one checkpoint to the next. */
#ifndef DOME_SRC_CAPTURE_IMAGE_H
#define DOME_SRC_CAPTURE_IMAGE_H

#include <dome/structure.h>

typedef struct dome_capture_image dome_capture_image;

/* saved: the blocks of the image in the checkpoint from which the program restarts, 0 if it does not. */
dome_capture_image *dome__capture_image_new(uint64_t saved);

/* The same for a Dome program, whose variables may have handles of `env`; NULL: as above. */
dome_capture_image *dome__capture_image_new_of(dome_env *env, uint64_t saved);
void dome__capture_image_free(dome_capture_image *image);

/* Takes the image of the captured program: works out its blocks, whose contents may not change until they have been written.
 * NULL, or why there can be none (g_free'd by the caller). */
char *dome__capture_image_take(dome_capture_image *image);
uint64_t dome__capture_image_blocks(const dome_capture_image *image);

/* The bytes of one block: how many, and these; and reading them, one block after the other. */
uint64_t dome__capture_image_block_bytes(const dome_capture_image *image, uint64_t block);
void dome__capture_image_write_block(const dome_capture_image *image, uint64_t block, void *buffer);
dome_status dome__capture_image_read_block(dome_capture_image *image, uint64_t block, const void *buffer, uint64_t bytes);

/* Where, and in which values, a block differs from that of another task; g_free'd by the caller. own, other: the numbers of the
 * tasks. */
char *dome__capture_image_say_difference(const dome_capture_image *image, uint64_t block, int own, const void *other_bytes,
                                         uint64_t other_length, int other);

/* Why a block could not be taken; NULL: all were that have been read. */
const char *dome__capture_image_problem(const dome_capture_image *image);

/* A sentence that names functions and constants of another text than those of the program that was saved (g_free'd by the
 * caller); NULL: there are none. */
char *dome__capture_image_say_changed(const dome_capture_image *image);

/* After all blocks have been read: opens streams, and lets pointers point. NULL, or a problem, which also a failed reading
 * leaves. */
char *dome__capture_image_restored(dome_capture_image *image);

#endif
