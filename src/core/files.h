/* Files as the library opens them by itself, in folders that others may write to as well.
 *
 * Nothing here waits for a FIFO, follows a link to a file of somebody else's choice, or ends the process because a file may not
 * grow. Functions that fail return -1, NULL or false; `reason` is what to say after "cannot be ...: ", a text that stays. */
#ifndef DOME_SRC_FILES_H
#define DOME_SRC_FILES_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- regular files ---- */

/* Opens a file that is there, if it is a regular one. flags as for open; with O_NOFOLLOW a link is none. */
int dome__file_open(const char *path, int flags, const char **reason);

/* What keeps a path from being a regular file, if anything has that name: NULL, or "it is a FIFO, not a regular file" and the
 * like. Links are followed if so asked. */
const char *dome__file_irregular(const char *path, bool follow);

/* All of a small file as a text, g_free'd by the caller. What is longer than `most` bytes is refused. errno is set as well. */
char *dome__file_read(const char *path, size_t most, const char **reason);

/* Makes a new file for writing. Whatever has the name before, but for a folder, loses it: nothing is written through a link. */
int dome__file_make(const char *path, mode_t mode, const char **reason);

/* Puts a small file in the place of another, all at once, by way of `path`.part. */
bool dome__file_replace(const char *path, const char *text, mode_t mode, const char **reason);

/* errno as a text; what a file that may not grow means is said in full. */
const char *dome__file_error(int error);

/* Deletes a directory with plain files in it. */
void dome__remove_directory(const char *directory);

/* ---- limits ---- */

/* Between these two a file that may not grow (ulimit -f) is an error, EFBIG, and not the end of the process by SIGXFSZ. Only this
 * thread is meant: what the program itself writes is its own affair. */
typedef struct dome_file_limit {
    sigset_t mask;
    bool pending;
} dome_file_limit;

void dome__file_limit_begin(dome_file_limit *limit);
void dome__file_limit_end(dome_file_limit *limit); /* keeps errno */

/* ---- large files that take a name when they are complete ---- */

/* Where the file system can, the new file has no name until then, and so nothing stays of it whatever ends the process.
 * Elsewhere, and where processes of other hosts have to find it, it has a hidden one, and a lock for as long as its writer lives:
 * what has no lock is removed by the next one who writes a file in that folder. */
typedef struct dome_new_file {
    char *target; /* through links */
    char *hidden; /* NULL: it has no name */
    uint64_t number;
    int fd;
} dome_new_file;

/* Begins to write what `path` is to be. named: it has to have a name. -1 with errno set. */
int dome__new_file_begin(dome_new_file *file, const char *path, mode_t mode, bool named);

/* Its hidden name in a folder, as other processes see it; that of a file without one is good on this host. g_free'd by the
 * caller. */
char *dome__new_file_name(const char *target, bool named, uint64_t process, uint64_t number);

/* Gives it its name in place of what had that before. false with errno set. */
bool dome__new_file_place(dome_new_file *file);

/* Ends it in any case: what has not been placed is gone. */
void dome__new_file_end(dome_new_file *file);

#endif
