/* The rule by which a program trusts the files from which it takes its state: it depends on who may have written to a file or a
 * folder, or may do so. A file, or a folder, is trusted if it belongs to this user or to root, and no other user can write to it.
 * A group counts as the user if it has no other member but root (each user has one of his own on Debian, with a umask of 002). */
#ifndef DOME_SRC_OWNERS_H
#define DOME_SRC_OWNERS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether users other than this one and root may write to what has been opened (O_PATH suffices). s: its fstat. */
bool dome__others_may_write(int fd, const struct stat *s);

/* Why an opened file is not trusted, as "it belongs to user ann (1001)"; g_free'd. NULL: it is. */
char *dome__file_distrust(int fd);

/* "ann (1001)", or "1001" if the number has no name; g_free'd. */
char *dome__user_text(uid_t user);

#endif
