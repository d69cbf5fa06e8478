#include "system/own_program.h"

#include "system/environment_variables.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const char OWN_FILE[] = "/proc/self/exe";

static char *called;
static char *directory; /* in which the process began; NULL: it is not known */
static char *script;    /* NULL: this process's own executable file */
static struct stat script_file;

/* Before main, which may go elsewhere. */
__attribute__((constructor)) static void note_directory(void)
{
    directory = getcwd(NULL, 0);
}

void dome__own_program_begin(void)
{
    const char *path = g_getenv(DOME_VARIABLE_PROGRAM);
    if (path && stat(path, &script_file) == 0)
        script = g_strdup(path);
    g_unsetenv(DOME_VARIABLE_PROGRAM);
}

const char *dome__own_directory(void)
{
    return directory;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* An absolute path for a word by which this process may have been started: g_free'd; NULL: it does not lead to its file. Under
 * /dev/fd and /proc a path leads elsewhere in another process. */
static char *leads_here(const char *word)
{
    struct stat own, there;
    while (word && g_str_has_prefix(word, "./"))
        word += 2;
    if (!word || !word[0] || (word[0] != '/' && !directory) || g_str_has_prefix(word, "/dev/fd/") ||
        g_str_has_prefix(word, "/proc/"))
        return NULL;
    char *path = word[0] == '/' ? g_strdup(word) : g_build_filename(directory, word, NULL);
    if (stat(OWN_FILE, &own) == 0 && stat(path, &there) == 0 && is_same(&own, &there))
        return path;
    g_free(path);
    return NULL;
}

/* The first word of the command line. The system gives an interpreter's path there if it was started for a script. */
static char *first_word(void)
{
    char *text = NULL;
    g_file_get_contents("/proc/self/cmdline", &text, NULL, NULL);
    if (text && !strchr(text, '/'))
        g_clear_pointer(&text, g_free);
    return text;
}

/* The path by which this process was started, links in it as they are; NULL: it does not lead to its file any more. */
static char *as_started(void)
{
    const unsigned long given = getauxval(AT_EXECFN);
    char *path = leads_here((const char *)given);
    if (path)
        return path;
    char *word = first_word();
    path = leads_here(word);
    g_free(word);
    return path;
}

char *dome__own_program(void)
{
    char *path = script ? g_strdup(script) : as_started();
    return path ? path : g_file_read_link(OWN_FILE, NULL);
}

char *dome__own_program_unchanged(void)
{
    char *path = dome__own_program();
    struct stat now, then = script_file;
    const bool known = path && stat(path, &now) == 0 && (script || stat(OWN_FILE, &then) == 0);
    if (known && is_same(&now, &then))
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
