/* The descriptions that the source files of the program have registered, by name. */
#ifndef DOME_SRC_CAPTURE_MODULES_H
#define DOME_SRC_CAPTURE_MODULES_H

#include "heap/type_layout.h"

#include <glib.h>

typedef struct dome_capture_known_global {
    const dome_capture_global *global;
    const dome_capture_layout *layout;
    uint64_t elements;
    size_t bytes;
} dome_capture_known_global;

/* The state of modules.c. */
typedef struct dome_capture_modules {
    GPtrArray *modules;    /* dome_capture_module, as they were registered */
    GArray *globals;       /* dome_capture_known_global */
    GPtrArray *codes;      /* const dome_capture_code */
    GPtrArray *sources;    /* const dome_capture_source */
    GHashTable *functions; /* dome_capture_function, by name */
} dome_capture_modules;

/* Sorts the names and works out the types; ends the program if two things have one name. */
void dome__capture_modules_complete(void);

/* The globals in the order of their names. */
size_t dome__capture_global_count(void);
const dome_capture_known_global *dome__capture_global(size_t k);
size_t dome__capture_global_find(const char *name); /* SIZE_MAX: there is none */

/* The codes in the order of their names. */
size_t dome__capture_code_count(void);
const dome_capture_code *dome__capture_code(size_t k);
const dome_capture_code *dome__capture_code_find(const char *name);

dome_capture_function *dome__capture_function_find(const char *name);

/* The sources in the order of their names. */
size_t dome__capture_source_count(void);
const dome_capture_source *dome__capture_source(size_t k);
const dome_capture_source *dome__capture_source_find(const char *name);

/* The program's name in checkpoints, whatever its file is called: its source files, by name. g_free'd by the caller. */
char *dome__capture_modules_name(void);

/* Forgets all modules, for tests. */
void dome__capture_modules_clear(void);

#endif
