/* A directory of checkpoints: which there are, how a new one comes into it, and which may go.
 *
 * A new checkpoint is written under a name of its own ("...dckpt.part") and renamed when all of it is on disk: a file with the
 * name of a checkpoint was complete at that moment, whatever ended the program or the machine afterwards.
 *
 *   one task                          every task                        one task
 *   dome__store_create                                                  (all agree that there is room)
 *                                     dome__store_join
 *                                     dome__store_write, own blocks
 *                                     dome__store_sync                  (all agree that all is written)
 *   dome__store_commit
 *   dome__store_prune
 *
 * Functions that fail return false, NULL or -1 and give *message, g_free'd by the caller: one line. */
#ifndef DOME_SRC_CKPT_STORE_H
#define DOME_SRC_CKPT_STORE_H

#include "ckpt/reader.h"

typedef struct dome_store dome_store;

/* Makes the directory if it is not there. own: it is this user's alone, or that is a failure. */
bool dome__store_make_directory(const char *directory, bool own, char **message);

/* For writing: makes the directory if it is not there, sees that it can be written to, and locks it until the store is closed or
 * the process ends, whatever children it has. Another program's lock is a failure. What an interrupted program left half-written
 * is removed. */
dome_store *dome__store_open(const char *directory, const char *program, char **message);
void dome__store_close(dome_store *store);

/* ---- looking: needs no lock ---- */

typedef struct dome_store_item {
    uint64_t number;
    uint32_t piece, pieces;
    char *path;
    dome_ckpt_file *file; /* NULL if its head is damaged */
    char *damage;         /* why it cannot be restored; NULL if it can */
} dome_store_item;

/* All checkpoints of a directory, by number, then piece: dome_store_item, freed with g_ptr_array_unref. Heads are checked, and
 * that the files are there that they refer to; not the data. A file that is kept only because newer ones need some of its data
 * may lack files that it refers to itself. A file taken away meanwhile is left out. */
GPtrArray *dome__store_list(const char *directory, char **message);

/* The newest whole checkpoint of the program that can be used, all data verified if so asked. What was newer and is damaged is
 * told in `skipped`, a line each, g_free'd by the caller; NULL if nothing was. NULL if there is none; then *message says so. */
dome_ckpt_file *dome__store_newest(const char *directory, const char *program, bool verify, char **skipped, char **message);

/* One more than the highest number that any file in the directory has. */
bool dome__store_next_number(const char *directory, uint64_t *number, char **message);

/* ---- writing ---- */

/* Makes a file in a directory of checkpoints, to be written, in place of what has that name. Nobody may do more with it than with
 * the directory. A file descriptor. */
int dome__store_new_file(const char *directory, const char *path, char **message);

/* The rights of files in it. */
mode_t dome__store_file_mode(const char *directory);

/* Makes the file of a planned checkpoint, with room for all of it: a disk that is full is found here. A file descriptor. */
int dome__store_create(const char *directory, const dome_ckpt *ckpt, char **message);

/* Gives a file that was made another length, if the plan has changed. */
bool dome__store_resize(int fd, uint64_t bytes, char **message);

/* Opens it in another task. */
int dome__store_join(const char *directory, const dome_ckpt *ckpt, char **message);

/* Writes bytes at their offset (dome_ckpt_entry). Blocks that lie one behind the other can be written together. */
bool dome__store_write(int fd, const void *data, uint64_t bytes, uint64_t offset, char **message);

/* What was written is on disk afterwards. get_on, if there is one, is called now and then. */
bool dome__store_sync(int fd, void (*get_on)(void *ctx), void *ctx, char **message);

/* A number that changes whenever this process has got on with reading, writing or syncing a checkpoint, or has heard that others
 * have. May be asked for in a handler of a signal. */
unsigned dome__store_progress(void);
void dome__store_got_on(void);

/* Writes the head, and gives the file its name. fd is closed in any case; on failure the file is gone. */
bool dome__store_commit(const char *directory, dome_ckpt *ckpt, int fd, char **message);

/* Takes back what dome__store_create made. */
void dome__store_abandon(const char *directory, const dome_ckpt *ckpt, int fd);

/* Removes what is not needed for the newest `keep` good checkpoints. Never removes one newer than the newest good one, nor
 * anything if there is none, nor files of other programs. */
bool dome__store_prune(dome_store *store, unsigned keep, char **message);

/* ---- pieces ---- */

/* Writes the whole checkpoint that pieces add up to, into `directory`: the same bytes as if it had been written whole after
 * `previous` (NULL: holding all data itself). The pieces are open, and may be in any directories and order; a block may be in
 * several. */
bool dome__store_merge(dome_ckpt_file *const pieces[], size_t npieces, const dome_ckpt *previous, const char *directory,
                       char **message);

#endif
