/* Which descriptors a process takes along when it becomes the program anew by exec: those that it was given when it was started,
 * and those that are named. Lists are texts: numbers separated by blanks, with a blank at each end. */
#ifndef DOME_SRC_PROGRAM_DESCRIPTORS_H
#define DOME_SRC_PROGRAM_DESCRIPTORS_H

#include <stdbool.h>

/* Call it before any other is opened: notes which ones the process has been given. */
void dome__descriptors_begin(void);
const char *dome__descriptors_given(void);

/* Of the given ones, only those in this list. */
void dome__descriptors_only(const char *list);

/* This one, which may be -1, goes along with the next exec; and not. dome__descriptors_keep: whether there is such a descriptor.
 */
void dome__descriptors_take_along(int fd);
bool dome__descriptors_keep(int fd);

/* Sets the flags (FD_CLOEXEC, or 0) of a list. */
void dome__descriptors_set(const char *list, int flags);

void dome__descriptors_close(const char *list);

/* All others than the given ones and those in the list are closed by exec, without waiting for their other ends. */
void dome__descriptors_close_others(char *held);

#endif
