/* Directories that a run creates for itself and removes at its end, dome-UID-RANDOM. A process of the run holds a lock on its
 * directory. A directory without a lock was left by a run whose processes were all killed at once; the next run removes it. */
#ifndef DOME_SRC_RUN_DIRECTORY_H
#define DOME_SRC_RUN_DIRECTORY_H

/* A new name in parent, g_free'd by the caller; NULL: there are no random numbers (errno). The directory is not created. */
char *dome__run_directory_name(const char *parent);

/* Returns a descriptor that holds the lock while it is open in this process or a child; -1: another process holds the lock, or
 * there is no such directory. */
int dome__run_directory_lock(const char *path);

/* Calls remove for the directories of this user in parent on which no process has a lock, and which are not new. */
void dome__run_directory_sweep(const char *parent, void (*remove)(const void *ctx, const char *path), const void *ctx);

#endif
