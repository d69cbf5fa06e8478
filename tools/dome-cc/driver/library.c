/* Where Dome is: its headers and its library, for the machine of the compiler. */
#include "driver/driver.h"
#include "front/front.h"

#include <stdio.h>
#include <string.h>

static char *own_folder(void)
{
    char *self = g_file_read_link("/proc/self/exe", NULL), *folder = self ? g_path_get_dirname(self) : g_strdup(".");
    g_free(self);
    return folder;
}

static void own_installation(char **include, char **library)
{
    char *folder = own_folder(), *prefix = g_path_get_dirname(folder);
    if (strcmp(folder, DOME_CC_BUILD_FOLDER) == 0) {
        *include = g_strdup(DOME_CC_SOURCE_INCLUDE);
        *library = g_strdup(DOME_CC_BUILD_LIBRARY);
    } else {
        *include = g_build_filename(prefix, DOME_CC_INCLUDEDIR, NULL);
        *library = g_build_filename(prefix, DOME_CC_LIBDIR, NULL);
    }
    g_free(prefix);
    g_free(folder);
}

/* The dome.pc of an installation for the compiler's machine: a file, or in the folder of one; NULL: there is none. */
static char *find_pc(const options *o, const char *where)
{
    if (g_str_has_suffix(where, ".pc"))
        return g_file_test(where, G_FILE_TEST_IS_REGULAR) ? g_strdup(where) : NULL;
    GPtrArray *command = command_new(o);
    command_add_words(o, command, 1u << WORD_FLAG);
    command_add(command, "-print-multiarch"); /* as Debian calls it: prefix/lib/s390x-linux-gnu */
    char *machine = command_ask(o, command), *beside = g_build_filename("lib", machine ? machine : "", NULL);
    const char *const folders[] = {beside, "lib64", "lib"};
    for (unsigned i = 0; i < G_N_ELEMENTS(folders); i++) {
        char *file = g_build_filename(where, folders[i], "pkgconfig", "dome.pc", NULL);
        if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
            return file;
        g_free(file);
    }
    return NULL;
}

/* The flags that pkg-config prints for the installation of --dome; false: it has printed why there are none. */
static bool ask_pkg_config(const options *o, const char *pc, const char *what, GPtrArray *command)
{
    GPtrArray *question = g_ptr_array_new();
    command_add(question, "pkg-config");
    command_add(question, what);
    command_add(question, pc);
    char *answer = command_ask(o, question), **words = NULL;
    int n;
    if (!answer || (*answer && !g_shell_parse_argv(answer, &n, &words, NULL))) {
        fprintf(stderr, "dome-cc: error: pkg-config %s %s: no answer\n", what, pc);
        return false;
    }
    for (char **w = words; w && *w; w++)
        command_add(command, *w);
    return true;
}

/* The headers are the same on all machines. */
void library_add_include(const options *o, GPtrArray *command)
{
    char *include, *library, *pc = o->dome ? find_pc(o, o->dome) : NULL;
    if (pc && ask_pkg_config(o, pc, "--cflags-only-I", command))
        return;
    own_installation(&include, &library);
    g_ptr_array_add(command, g_strdup_printf("-I%s", include));
}

bool library_is_static(const options *o)
{
    bool asked = false;
    for (unsigned i = 0; i < o->words->len; i++)
        asked = asked || text_in_list(((const word *)g_ptr_array_index(o->words, i))->text,
                                      (const char *const[]){"-static", "-static-pie", NULL});
    return asked;
}

/* False: Dome is there as a shared library alone, and "-static" is given. */
static bool can_be_static(const options *o, const char *library)
{
    char *archive = g_build_filename(library, "libdome.a", NULL);
    const bool can = !library_is_static(o) || g_file_test(archive, G_FILE_TEST_EXISTS);
    if (!can)
        fprintf(stderr, "dome-cc: error: -static: there is no %s: link without -static\n", archive);
    g_free(archive);
    return can;
}

bool library_add(const options *o, const unit *u, GPtrArray *command)
{
    char *include, *library, *pc;
    own_installation(&include, &library);
    if (o->dome) {
        pc = find_pc(o, o->dome);
        if (!pc)
            fprintf(stderr, "dome-cc: error: --dome=%s: there is no Dome for the machine of %s (no dome.pc)\n", o->dome,
                    o->compiler);
        return pc && ask_pkg_config(o, pc, "--libs", command);
    }
    if (!unit_is_native(u)) {
        char *folder = own_folder(), *prefix = g_path_get_dirname(folder);
        pc = find_pc(o, prefix);
        if (!pc || g_str_has_prefix(pc, library))
            fprintf(stderr,
                    "dome-cc: error: %s makes programs of another machine: say by --dome=WHERE where Dome is installed for it\n",
                    o->compiler);
        return pc && !g_str_has_prefix(pc, library) && ask_pkg_config(o, pc, "--libs", command);
    }
    if (!can_be_static(o, library))
        return false;
    g_ptr_array_add(command, g_strdup_printf("-L%s", library));
    g_ptr_array_add(command, g_strdup_printf("-Wl,-rpath,%s", library));
    command_add(command, "-ldome");
    char **more = g_strsplit(DOME_CC_LIBRARIES, " ", -1);
    for (char **m = more; *m; m++)
        if (**m)
            command_add(command, *m);
    return true;
}
