/* The machine's C compiler, run in a process beside the program: from C source to loaded code. */
#ifndef DOME_SRC_COMPILER_H
#define DOME_SRC_COMPILER_H

#include <glib.h>

#include <stdbool.h>
#include <sys/types.h>

typedef struct dome_compiler {
    char *program; /* NULL: no compiler */
    GMutex lock;   /* of: */
    pid_t process; /* the process that waits for the compiler and leads its process group; 0: none */
    int stop;
} dome_compiler;

void dome__compiler_init(dome_compiler *compiler);
void dome__compiler_clear(dome_compiler *compiler);

/* Finds the compiler; false if there is none. */
bool dome__compiler_find(dome_compiler *compiler);

/* Compiles C to a shared library. The work is done in a new folder inside `folder`, whose path is `path`. Returns NULL with *why
 * (g_free'd), which is NULL after dome__compiler_stop. */
GBytes *dome__compile(dome_compiler *compiler, int folder, const char *path, const char *const *flags, const char *source,
                      char **why);

/* Called from another thread: ends a running compiler and prevents others from starting. */
void dome__compiler_stop(dome_compiler *compiler);
bool dome__compiler_stopped(dome_compiler *compiler);

/* Loads a shared library and returns a symbol of it, or NULL with *why (g_free'd). Loaded code stays until the process ends. */
void *dome__load_code(GBytes *code, const char *symbol, char **why);

#endif
