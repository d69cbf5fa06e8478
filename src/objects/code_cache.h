/* The folder in which generated code is kept from run to run: $DOME_CACHE_DIR, or dome in $XDG_CACHE_HOME or ~/.cache. Many
 * programs use it at once. A file is there whole or not at all. The folder does not grow without end: files that have not been
 * used for longest go. */
#ifndef DOME_SRC_CODE_CACHE_H
#define DOME_SRC_CODE_CACHE_H

#include <stdbool.h>

typedef struct dome_code_cache {
    char *folder;
    char *work; /* a folder in it for files that are being made, of this process alone */
} dome_code_cache;

/* Returns NULL, or why the folder cannot be used. */
char *dome__code_cache_open(dome_code_cache *cache);
void dome__code_cache_close(dome_code_cache *cache);

/* Where code is, or would be, that is made from this. */
char *dome__code_cache_path(const dome_code_cache *cache, const char *made_from);

/* A symbol of the code of a file, or NULL if the file is not there, not ours or not whole. Loaded code stays until the process
 * ends. */
void *dome__code_cache_load(const char *path, const char *symbol);

/* Gives a file of the work folder its place. False if that cannot be done. */
bool dome__code_cache_publish(const dome_code_cache *cache, const char *made, const char *path);

/* Who makes the code of a path has this lock meanwhile, so that others wait for it instead of making it, too: not for long, and
 * not when stop says so. Returns a descriptor, or -1: not locked. */
int dome__code_cache_lock(const char *path, bool (*stop)(void *ctx), void *ctx);
void dome__code_cache_unlock(const char *path, int lock);

#endif
