/* A directory of checkpoints: listing them, adding a new one, and removing old ones.
 *
 * A new checkpoint is written under a temporary name ("...dckpt.part") and renamed when all of it is on disk: a file with the
 * name of a checkpoint was complete at that moment, however the program or the machine ended afterwards.
 *
 *   one task                          every task                        one task
 *   dome__store_create                                                  (all agree that there is room)
 *                                     dome__store_join
 *                                     dome__store_write, own blocks
 *                                     dome__store_sync                  (all agree that all is written)
 *   dome__store_commit
 *   dome__store_prune
 *
 * Functions that fail return false, NULL or -1 and set *message, g_free'd by the caller: one line. */
#ifndef DOME_SRC_STORE_STORE_H
#define DOME_SRC_STORE_STORE_H

#include "store/reader.h"

typedef struct dome_store dome_store;

/* What the name of a file ends with that is not complete. */
#define DOME_STORE_PART ".part"

/* The owner that a directory must have: anybody; this user or root, and nobody else can write to it (system/owners.h); this user,
 * and nobody else can look into it. */
typedef enum dome_store_owner { DOME_STORE_ANY, DOME_STORE_TRUSTED, DOME_STORE_OWN } dome_store_owner;

/* Makes the directory if it does not exist, and fails unless it is so. */
bool dome__store_make_directory(const char *directory, dome_store_owner owner, char **message);

/* For writing: makes the directory if it does not exist, checks that it can be written to, and locks it until the store is closed
 * or the process ends, even if it has children. Fails if another program holds the lock. Incomplete files of an interrupted
 * program are removed; their space is free after dome__store_free_space, which may take long. */
dome_store *dome__store_open(const char *directory, const char *program, char **message);
void dome__store_free_space(dome_store *store);
void dome__store_close(dome_store *store);

/* ---- reading: needs no lock ---- */

typedef struct dome_store_item {
    uint64_t number;
    uint32_t piece, pieces;
    char *path;
    dome_ckpt_file *file; /* NULL if its head is damaged */
    char *damage;         /* why it cannot be restored; NULL if it can */
} dome_store_item;

/* All checkpoints of a directory, by number, then piece: dome_store_item, freed with g_ptr_array_unref. Heads are checked, and
 * that the files to which they refer exist, but not the data. A file that is kept only because newer ones need some of its data
 * may refer to files that do not exist any more. A file removed while the list is made is left out. */
GPtrArray *dome__store_list(const char *directory, char **message);

/* The newest usable whole checkpoint of the program; `verify`: with all data verified. Newer ones that are damaged are listed in
 * `skipped`, a line each, g_free'd by the caller; NULL if there are none. Returns NULL if no checkpoint is usable; then *message
 * says so. */
dome_ckpt_file *dome__store_newest(const char *directory, const char *program, bool verify, char **skipped, char **message);

/* The highest number of any file in the directory, plus one. */
bool dome__store_next_number(const char *directory, uint64_t *number, char **message);

/* ---- writing ---- */

/* Makes a file for writing in a directory of checkpoints, replacing one of that name. Its rights do not exceed those of the
 * directory. Returns a file descriptor. */
int dome__store_new_file(const char *directory, const char *path, char **message);

/* The rights of files in the directory. */
mode_t dome__store_file_mode(const char *directory);

/* Makes the file of a planned checkpoint and allocates its full length, so that a full disk is detected here. Returns a file
 * descriptor. */
int dome__store_create(const char *directory, const dome_ckpt *ckpt, char **message);

/* Changes the length of such a file, if the plan has changed. */
bool dome__store_resize(int fd, uint64_t bytes, char **message);

/* Opens the file in another task. */
int dome__store_join(const char *directory, const dome_ckpt *ckpt, char **message);

/* Writes bytes at their offset (dome_ckpt_entry). Consecutive blocks can be written together. */
bool dome__store_write(int fd, const void *data, uint64_t bytes, uint64_t offset, char **message);

/* Afterwards everything written is on disk. get_on, if not NULL, is called now and then. */
bool dome__store_sync(int fd, void (*get_on)(void *ctx), void *ctx, char **message);

/* A number that changes whenever this process makes progress in reading, writing or syncing a checkpoint, or learns of the
 * progress of others. May be called in a signal handler. */
unsigned dome__store_progress(void);
void dome__store_got_on(void);

/* Writes the head, and gives the file its name. Always closes fd; on failure the file is removed. */
bool dome__store_commit(const char *directory, dome_ckpt *ckpt, int fd, char **message);

/* Removes the file that dome__store_create made. */
void dome__store_abandon(const char *directory, const dome_ckpt *ckpt, int fd);

/* If there are files of more than `keep` checkpoints, removes those that the newest `keep` good ones do not need. Never removes
 * one newer than the newest good one, nor anything if there is none, nor files of other programs. */
bool dome__store_prune(dome_store *store, unsigned keep, char **message);

/* ---- pieces ---- */

/* Writes the whole checkpoint that pieces form together into `directory`: the same bytes as if it had been written whole after
 * `previous` (NULL: as one that holds all data itself). The pieces are open, and may be in any directories and order; a block may
 * be in several. */
bool dome__store_merge(dome_ckpt_file *const pieces[], size_t npieces, const dome_ckpt *previous, const char *directory,
                       char **message);

#endif
