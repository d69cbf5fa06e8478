/* Folders that this user alone writes to, by a way that nobody else can turn elsewhere. */
#ifndef DOME_SRC_OWN_FOLDER_H
#define DOME_SRC_OWN_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Whether this user owns it and nobody else may write to it. */
bool dome__is_ours(const struct stat *s);

/* Opens the folder at path, which is made with the folders above it where they are not there. Every folder and symbolic link on
 * the way belongs to this user or to root, and nobody else may exchange it: folders that others may write to are passed only
 * where the sticky bit keeps entries with their owners (/tmp). Returns a descriptor, which stays this folder whatever happens to
 * names; or -1 with *why (g_free'd). */
int dome__own_folder(const char *path, char **why);

/* What is in a folder, from the beginning, or NULL; closedir. */
DIR *dome__folder_list(int folder);

/* A new folder in another, for this process alone. Takes away such folders of this user's that killed processes have left, an
 * hour later. Returns its descriptor and *name (g_free'd), or -1 with errno. */
int dome__work_folder(int parent, char **name);
void dome__work_folder_remove(int parent, int folder, char *name);

#endif
