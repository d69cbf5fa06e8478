/* Reading a checkpoint: one file, and the earlier ones beside it that it refers to. Everything is checked: bytes that reach the
 * caller are those that were written. Functions that fail return false or NULL and set *message, g_free'd by the caller: one line
 * with file, object and block. */
#ifndef DOME_SRC_STORE_READER_H
#define DOME_SRC_STORE_READER_H

#include "store/format.h"

typedef struct dome_ckpt_file dome_ckpt_file;

/* For programs, which do what a checkpoint says: from now on only files are opened that are trusted (system/owners.h). Tools,
 * which show them, read all. */
void dome__ckpt_only_trusted(bool only);

/* Opens a file and checks its head, not its data; if it is one of deltas, also the heads of those before it in the chain. */
dome_ckpt_file *dome__ckpt_open(const char *path, char **message);
void dome__ckpt_close(dome_ckpt_file *file);

/* Closed once more. Once dome__ckpt_check_earlier has been called, several threads may read blocks. */
dome_ckpt_file *dome__ckpt_ref(dome_ckpt_file *file);

/* The same for a file whose head is known: takes over the descriptor (-1: nothing of it can be read) and the head. name: for
 * messages. */
dome_ckpt_file *dome__ckpt_adopt(const char *name, int fd, dome_ckpt *head);

const dome_ckpt *dome__ckpt_head(const dome_ckpt_file *file);

/* Closes the file; the caller gets its head. */
dome_ckpt *dome__ckpt_take_head(dome_ckpt_file *file);
const char *dome__ckpt_path(const dome_ckpt_file *file);

/* Whether the files to which it refers exist and are the right ones; their data is not checked. */
bool dome__ckpt_check_earlier(dome_ckpt_file *file, char **message);

/* Of a checkpoint of deltas: from now on exactly the blocks that have deltas count as patched, as they do where it was written;
 * before, all blocks of their windows do. All deltas are read. */
bool dome__ckpt_find_patched(dome_ckpt_file *file, char **message);

/* Reads a block, whose length is in its entry, into buffer; deltas of the chain are applied. It is a failure if a piece does not
 * have the block. */
bool dome__ckpt_read(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, void *buffer, char **message);

/* Takes a block whose bytes have been read and checked. False, with *message: no more are read. */
typedef bool (*dome_ckpt_take)(void *ctx, uint64_t block, const void *bytes, uint64_t length, char **message);

typedef struct dome_ckpt_taker {
    void *buffer;
    uint64_t room;       /* of the buffer: for the longest block, at least */
    dome_ckpt_take take; /* NULL: the blocks are only checked */
    void *ctx;
} dome_ckpt_taker;

/* Reads blocks one after the other, as many with one read as lie side by side and fit into the buffer. */
bool dome__ckpt_read_run(dome_ckpt_file *file, const dome_ckpt_object *object, dome_span blocks, const dome_ckpt_taker *taker,
                         char **message);

/* A room for such a buffer: what is read stays in the processor's cache until it has been taken. */
#define DOME_CKPT_READ ((uint64_t)256 << 10)

/* Whether the bytes of a block, read in another way, are those that were written. */
bool dome__ckpt_fits(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, const void *bytes, char **message);

/* Whether a block's bytes are those that were written, for any length, with little memory. */
bool dome__ckpt_check(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t block, char **message);

/* Whether the deltas of a checkpoint of deltas lead to the blocks that were there when they were written: those of one of `parts`
 * equal parts, counted from 0. */
bool dome__ckpt_check_results(dome_ckpt_file *file, uint64_t part, uint64_t parts, char **message);

/* Checks all data, or the data of one of `parts` equal parts, counted from 0. */
bool dome__ckpt_verify(dome_ckpt_file *file, char **message);
bool dome__ckpt_verify_part(dome_ckpt_file *file, uint64_t part, uint64_t parts, char **message);

/* The path in `directory` of a checkpoint, or of one of its pieces. g_free'd by the caller. */
char *dome__ckpt_file_path(const char *directory, uint64_t number, uint32_t piece, uint32_t pieces);

/* The reverse, for a name without a directory: false if it is not the name of a checkpoint. */
bool dome__ckpt_parse_name(const char *name, uint64_t *number, uint32_t *piece, uint32_t *pieces);

#endif
