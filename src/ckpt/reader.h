/* Reading a checkpoint: one file, and the earlier ones beside it that it refers to. What is read is checked: bytes that reach the
 * caller are those that were written. Functions that fail return false or NULL and give *message, g_free'd by the caller: one
 * line with file, object and block. */
#ifndef DOME_SRC_CKPT_READER_H
#define DOME_SRC_CKPT_READER_H

#include "ckpt/format.h"

typedef struct dome_ckpt_file dome_ckpt_file;

/* Opens a file and checks its head, not its data. */
dome_ckpt_file *dome__ckpt_open(const char *path, char **message);
void dome__ckpt_close(dome_ckpt_file *file);

const dome_ckpt *dome__ckpt_head(const dome_ckpt_file *file);

/* Closes the file and leaves its head to the caller. */
dome_ckpt *dome__ckpt_take_head(dome_ckpt_file *file);
const char *dome__ckpt_path(const dome_ckpt_file *file);

/* Whether the files it refers to are there and are the ones meant; not their data. */
bool dome__ckpt_check_earlier(dome_ckpt_file *file, char **message);

/* Reads a block, whose length stands in its entry, into buffer. A block that a piece does not have is a failure. */
bool dome__ckpt_read(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, void *buffer, char **message);

/* Whether a block's bytes are those that were written, whatever its length, with little memory. */
bool dome__ckpt_check(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, char **message);

/* Checks all that is there. */
bool dome__ckpt_verify(dome_ckpt_file *file, char **message);

/* The path in `directory` of a checkpoint, or of one of its pieces. g_free'd by the caller. */
char *dome__ckpt_file_path(const char *directory, uint64_t number, uint32_t piece, uint32_t pieces);

/* The reverse, for a name without a directory: false if it is not the name of a checkpoint. */
bool dome__ckpt_parse_name(const char *name, uint64_t *number, uint32_t *piece, uint32_t *pieces);

#endif
