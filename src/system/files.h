/* How the library opens its own files, in folders that other users may be able to write to.
 *
 * These functions never block on a FIFO, never follow a link that another user has planted, and never end the process because of
 * a file size limit. On failure they return -1, NULL or false; `reason` is a static text to follow "cannot be ...: " in a
 * message. */
#ifndef DOME_SRC_FILES_H
#define DOME_SRC_FILES_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- regular files ---- */

/* Opens an existing regular file; fails for others. flags as for open; with O_NOFOLLOW it fails for a link. */
int dome__file_open(const char *path, int flags, const char **reason);

/* Why an existing path is not a regular file, such as "it is a FIFO, not a regular file"; NULL if it is one or does not exist.
 * follow: follow symbolic links. */
const char *dome__file_irregular(const char *path, bool follow);

/* Reads a small file as a text, g_free'd by the caller. Fails if it is longer than `most` bytes. Sets errno, too. */
char *dome__file_read(const char *path, size_t most, const char **reason);

/* Creates a file for writing. Unlinks an existing file or link of that name (not a folder), so nothing is written through a
 * link. */
int dome__file_make(const char *path, mode_t mode, const char **reason);

/* Replaces a small file atomically, by renaming `path`.part. */
bool dome__file_replace(const char *path, const char *text, mode_t mode, const char **reason);

/* errno as a text; EFBIG with its possible causes. */
const char *dome__file_error(int error);

/* Deletes a directory and what is in it, at most some levels deep; deletes links and does not follow them. */
void dome__remove_directory(const char *directory);

/* ---- limits ---- */

/* Between begin and end, exceeding the file size limit (ulimit -f) is the error EFBIG, and does not end the process by SIGXFSZ.
 * This holds for the calling thread only: the program's own writes are not affected. */
typedef struct dome_file_limit {
    sigset_t mask;
    bool pending;
} dome_file_limit;

void dome__file_limit_begin(dome_file_limit *limit);
void dome__file_limit_end(dome_file_limit *limit); /* keeps errno */

/* ---- large files that take a name when they are complete ---- */

/* If the file system supports it (O_TMPFILE), the new file has no name until then, so it vanishes however the process ends.
 * Otherwise, and if processes of other hosts must find it, it has a hidden name, and its writer holds a lock on it while it
 * lives: the next writer in that folder removes hidden files without a lock. */
typedef struct dome_new_file {
    char *target; /* with links resolved */
    char *hidden; /* hidden name; NULL: the file has no name */
    char *folder; /* of dome__new_file_folder; NULL: none */
    uint64_t number;
    int fd;
} dome_new_file;

/* Begins a new file that is to become `path`. named: it needs a hidden name. Returns its descriptor, or -1 with errno set. */
int dome__new_file_begin(dome_new_file *file, const char *path, mode_t mode, bool named);

/* The path by which other processes can open the new file: its hidden name, or, if it has none, a path in /proc that is valid on
 * the writer's host. g_free'd by the caller. */
char *dome__new_file_name(const char *target, bool named, uint64_t process, uint64_t number);

/* Begins a new folder, which is to take the name instead of the file: the file, which must have a hidden name, is then only the
 * lock of the folder beside it. Returns false with errno set on failure. */
bool dome__new_file_folder(dome_new_file *file, mode_t mode);

/* The path of that folder, from the file's hidden name. g_free'd by the caller. */
char *dome__new_file_folder_name(const char *hidden);

/* Gives the file or folder its final name, replacing an existing one. Returns false with errno set on failure. A folder trades
 * places with the existing one at once, where the file system can do that; otherwise the existing one is called
 * TARGET.before-dome for a moment, and stays so called if the program ends in it; where one is called so already, the next gets a
 * number behind its name. */
bool dome__new_file_place(dome_new_file *file);

/* Closes the file and frees its state; a file or folder that has not been placed is deleted, and so is a folder that was
 * replaced. */
void dome__new_file_end(dome_new_file *file);

#endif
