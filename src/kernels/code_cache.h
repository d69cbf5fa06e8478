/* The folder in which generated code is kept from run to run: $DOME_CACHE_DIR, or dome in $XDG_CACHE_HOME or ~/.cache. Many
 * programs use it at once. A file appears in it only when complete. The size of the folder is limited: the least recently used
 * files are removed. */
#ifndef DOME_SRC_CODE_CACHE_H
#define DOME_SRC_CODE_CACHE_H

#include <glib.h>

#include <stdbool.h>

typedef struct dome_code_cache {
    int folder; /* -1: no folder can be used, and no code is kept */
    char *path;
} dome_code_cache;

/* Returns NULL, or why the folder cannot be used (g_free'd). */
char *dome__code_cache_open(dome_code_cache *cache);
void dome__code_cache_close(dome_code_cache *cache);

/* The name for code generated from this text; g_free'd. */
char *dome__code_cache_name(const char *made_from);

/* The stored code, or NULL if it is missing, not this user's or incomplete. */
GBytes *dome__code_cache_get(const dome_code_cache *cache, const char *name);

/* Returns NULL, or why the code cannot be kept (g_free'd). */
char *dome__code_cache_put(const dome_code_cache *cache, const char *name, GBytes *code);

/* Lets one program generate the code of a name while others wait for it, instead of generating it, too: they wait not long, and
 * only while stop returns false. Returns a descriptor, or -1: not locked. */
int dome__code_cache_lock(const dome_code_cache *cache, const char *name, bool (*stop)(void *ctx), void *ctx);
void dome__code_cache_unlock(const dome_code_cache *cache, const char *name, int lock);

#endif
