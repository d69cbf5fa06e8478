/* Folders that no other user can write to, reached by paths that no other user can redirect. */
#ifndef DOME_SRC_OWN_FOLDER_H
#define DOME_SRC_OWN_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Whether this user owns it and no other user may write to it. */
bool dome__is_ours(const struct stat *s);

/* Opens the folder at path; it and the folders above it are made if missing. Every folder and symbolic link on the path must
 * belong to this user or to root (or to who owns /), and no other user may be able to replace it: above it, a folder that others
 * may write to is accepted only if it has the sticky bit (/tmp). Returns a descriptor, which stays this folder whatever happens
 * to names; or -1 with *why (g_free'd). */
int dome__own_folder(const char *path, char **why);

/* The same for a folder that may belong to root, too, and be written by a group that has no other member (owners.h), as those
 * above it may: folders that are missing are made with the rights that the umask leaves, but never for others to write. Returns
 * whether it is so; otherwise *why (g_free'd) says what is not trusted, or is NULL, with errno. As long as these rights are not
 * changed, the path leads to that folder, and no other user can put anything there. */
bool dome__trusted_folder(const char *path, char **why);

/* The path of the folder in which Dome keeps files of this user from one program to the next; g_free'd. */
char *dome__cache_path(void);

/* The entries of a folder, from the beginning, or NULL; closedir. */
DIR *dome__folder_list(int folder);

/* Makes a new folder inside another, for this process alone. Removes such folders of this user that killed processes left more
 * than an hour ago. Returns its descriptor and *name (g_free'd), or -1 with errno. */
int dome__work_folder(int parent, char **name);
void dome__work_folder_remove(int parent, int folder, char *name);

#endif
