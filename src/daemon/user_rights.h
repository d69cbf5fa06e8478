/* Being another user: what root's daemon does for the owner of a program. */
#ifndef DOME_SRC_USER_RIGHTS_H
#define DOME_SRC_USER_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes this process one of the user: groups, group, user, for good. A user's own daemon has only its own programs. Returns NULL,
 * or why not: a static text. */
const char *dome__owner_become(int64_t uid, int64_t gid, const char *name);

/* The limits and the umask of a process as a text, g_free'd: "umask:18 0:SOFT:HARD 1:unlimited:..."; what cannot be read is left
 * out. */
char *dome__owner_limits(pid_t process);

/* Sets this process's, before it becomes the owner; a limit that is refused stays as it is. False: the text is none. */
bool dome__owner_set_limits(const char *text);

#endif
