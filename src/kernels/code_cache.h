/* The folder in which generated code is kept from run to run: $DOME_CACHE_DIR, or dome in $XDG_CACHE_HOME or ~/.cache. Many
 * programs use it at once. A file is there whole or not at all. The folder does not grow without end: files that have not been
 * used for longest go. */
#ifndef DOME_SRC_CODE_CACHE_H
#define DOME_SRC_CODE_CACHE_H

#include <glib.h>

#include <stdbool.h>

typedef struct dome_code_cache {
    int folder; /* -1: there is none that can be used, and nothing is kept */
    char *path;
} dome_code_cache;

/* Returns NULL, or why the folder cannot be used (g_free'd). */
char *dome__code_cache_open(dome_code_cache *cache);
void dome__code_cache_close(dome_code_cache *cache);

/* The name of code that is made from this; g_free'd. */
char *dome__code_cache_name(const char *made_from);

/* Code that was put there, or NULL if it is not there, not ours or not whole. */
GBytes *dome__code_cache_get(const dome_code_cache *cache, const char *name);

/* Returns NULL, or why it cannot be kept (g_free'd). */
char *dome__code_cache_put(const dome_code_cache *cache, const char *name, GBytes *code);

/* The program that makes the code of a name has this lock meanwhile, so that others wait for it instead of making it, too: not
 * for long, and not when stop says so. Returns a descriptor, or -1: not locked. */
int dome__code_cache_lock(const dome_code_cache *cache, const char *name, bool (*stop)(void *ctx), void *ctx);
void dome__code_cache_unlock(const dome_code_cache *cache, const char *name, int lock);

#endif
