/* The machine's C compiler, in a process beside the program: from C to code that has been loaded. */
#ifndef DOME_SRC_COMPILER_H
#define DOME_SRC_COMPILER_H

#include <glib.h>

#include <stdbool.h>
#include <sys/types.h>

typedef struct dome_compiler {
    char *program; /* NULL: there is none */
    GMutex lock;   /* of: */
    pid_t process; /* the one that waits for the compiler, and leads its process group; 0: none */
    int stop;
} dome_compiler;

void dome__compiler_init(dome_compiler *compiler);
void dome__compiler_clear(dome_compiler *compiler);

/* Looks for the program; false if there is none. */
bool dome__compiler_find(dome_compiler *compiler);

/* Makes a shared library of C. The work is done in a folder of its own in `folder`, which is at `path`. Returns NULL with *why
 * (g_free'd), which is NULL after dome__compiler_stop. */
GBytes *dome__compile(dome_compiler *compiler, int folder, const char *path, const char *const *flags, const char *source,
                      char **why);

/* From another thread: ends a compiler that runs, and lets no more begin. */
void dome__compiler_stop(dome_compiler *compiler);
bool dome__compiler_stopped(dome_compiler *compiler);

/* A symbol of a shared library, or NULL with *why (g_free'd). Loaded code stays until the process ends. */
void *dome__load_code(GBytes *code, const char *symbol, char **why);

#endif
