#include "core/own_program.h"

#include "core/environment_variables.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

static char *called;
static char *script; /* NULL: this process's own executable file */
static struct stat script_file;

void dome__own_program_begin(void)
{
    const char *path = g_getenv(DOME_VARIABLE_PROGRAM);
    if (path && stat(path, &script_file) == 0)
        script = g_strdup(path);
    g_unsetenv(DOME_VARIABLE_PROGRAM);
}

char *dome__own_program(void)
{
    return script ? g_strdup(script) : g_file_read_link("/proc/self/exe", NULL);
}

char *dome__own_program_unchanged(void)
{
    char *path = dome__own_program();
    struct stat now, then = script_file;
    const bool known = path && stat(path, &now) == 0 && (script || stat("/proc/self/exe", &then) == 0);
    if (known && now.st_dev == then.st_dev && now.st_ino == then.st_ino)
        return path;
    g_free(path);
    return NULL;
}

void dome__own_program_call(const char *name)
{
    g_free(called);
    called = g_strdup(name);
}

const char *dome__own_program_called(void)
{
    return called;
}
