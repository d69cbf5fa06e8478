/* Handles of Dome in variables of a program: the environment, its live objects, types. The image has what their factories
 * need; a pointer to one is the handle's number in the order of creation. */
#ifndef DOME_SRC_CAPTURE_HANDLES_H
#define DOME_SRC_CAPTURE_HANDLES_H

#include "core/environment.h"
#include "heap/type_layout.h"
#include "system/bytes.h"

#include <dome/structure.h>

/* The handles that handles.c has gathered. */
typedef struct dome_capture_handles {
    dome_env *env;
    GHashTable *targets; /* address -> what is there */
    GPtrArray *objects;  /* dome_object, by number - 1 */
    GPtrArray *structs;  /* dome_type, by code - DOME_KIND_STRUCT */
} dome_capture_handles;

/* Gathers the live handles of an environment, before pointers are encoded. NULL: there are none. */
void dome__capture_handles_begin(dome_env *env);

/* The handle at an address. False: there is none. */
bool dome__capture_handle_find(const void *address, uint64_t *number, uint64_t *place);

/* Live object k of those that are structures of the program's own; NULL: there are no more. */
const dome_object *dome__capture_handle_own(size_t k);

/* Appends what the factories need. Returns NULL, or why an object cannot be made again (g_free'd by the caller). */
char *dome__capture_handles_save(GByteArray *to);

/* Reads the handles that were saved, from an image. *from is marked bad if it is damaged. */
typedef struct dome_capture_saved_handles dome_capture_saved_handles;
dome_capture_saved_handles *dome__capture_handles_read(dome_bytes *from);
void dome__capture_handles_free(dome_capture_saved_handles *saved);

/* Makes the objects again, in the order of their creation, each with its values. Returns NULL, or why they cannot be made
 * (g_free'd by the caller). Collective; fails by dome__fail. */
char *dome__capture_handles_make(dome_env *env, dome_capture_saved_handles *saved);

/* Behind that, and when all pointers are back: gives dome_on_view its functions again, which are told of the view. */
char *dome__capture_handles_tell(dome_env *env, const dome_capture_saved_handles *saved, dome_capture_coder *coder);

/* The address of a handle, once they have been made; NULL: there is no such handle. */
void *dome__capture_handle_address(uint64_t number, uint64_t place);

#endif
