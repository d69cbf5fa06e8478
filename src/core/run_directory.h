/* Directories that a run makes for itself and removes at its end, dome-UID-RANDOM. A process of the run holds a lock on its
 * directory; one without a lock is of a run whose processes were all killed at once, and the next run removes it. */
#ifndef DOME_SRC_RUN_DIRECTORY_H
#define DOME_SRC_RUN_DIRECTORY_H

/* A new name in parent, g_free'd by the caller. The directory is not made. */
char *dome__run_directory_name(const char *parent);

/* A descriptor that holds the lock while it is open, also by children; -1: another process has it, or there is no directory. */
int dome__run_directory_lock(const char *path);

/* Calls remove for the directories of this user in parent on which no process has a lock, and which are not new. */
void dome__run_directory_sweep(const char *parent, void (*remove)(void *ctx, const char *path), void *ctx);

#endif
