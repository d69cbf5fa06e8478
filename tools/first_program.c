#include "first_program.h"

#include "launch/launch.h"
#include "system/environment_variables.h"
#include "system/files.h"

#include <dome/env.h>

#include <glib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] = "#include <dome/dome.h>\n"
                             "int main(int argc, char **argv)\n"
                             "{\n"
                             "    dome_env *env = dome_init(&argc, &argv);\n"
                             "    dvec *x = dvec_new(env, \"x\", DOME_F64, 10240);\n"
                             "    dvec *y = dvec_new(env, \"y\", DOME_F64, 10240);\n"
                             "    dvec_fill(x, 1.0);\n"
                             "    dvec_fill(y, 3.14);\n"
                             "    dome_print(env, \"The dot product is %g\\n\", dvec_dot(x, y));\n"
                             "    return dome_finalize(env);\n"
                             "}\n";
static const char printed[] = "The dot product is 32153.6\n";

/* The output of a command run by sh, and its exit status. */
typedef struct output {
    char *out, *err;
    int status;
} output;

static void output_clear(output *o)
{
    g_free(o->out);
    g_free(o->err);
    *o = (output){0};
}

/* Runs a command in a directory (NULL: the present one) for at most 60 seconds. True if the status is 0. */
static bool shell(const char *directory, const char *command, output *o)
{
    const char *const words[] = {"timeout", "--kill-after=5", "60", "sh", "-c", command, NULL};
    char **environment = g_get_environ();
    int wait_status = 0;
    environment = g_environ_setenv(environment, "PVM_VMID", "dome-doctor", TRUE); /* the user's virtual machine is left alone */
    environment = g_environ_unsetenv(environment, "PVMSOCK");
    environment = g_environ_unsetenv(environment, DOME_VARIABLE_OPTIONS);
    output_clear(o); /* frees the output of the command before */
    o->status = 127;
    if (g_spawn_sync(directory, (char **)words, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &o->out, &o->err, &wait_status,
                     NULL))
        o->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128;
    g_strfreev(environment);
    g_strchomp(o->err ? o->err : (o->err = g_strdup("")));
    return o->status == 0;
}

/* The line that tells what went wrong: the first with "error" in it, otherwise the last. */
static char *line_of(const output *o)
{
    char **lines = g_strsplit(o->err, "\n", 0), *found = NULL;
    for (char **line = lines; *line && !found; line++)
        if (strstr(*line, "error"))
            found = g_utf8_make_valid(*line, -1);
    guint n = g_strv_length(lines);
    if (!found)
        found = n ? g_utf8_make_valid(lines[n - 1], -1) : g_strdup_printf("status %d", o->status);
    g_strfreev(lines);
    return found;
}

/* The folder of the dome.pc that was installed with this command, or NULL. */
static char *own_pc_folder(void)
{
    char *self = g_file_read_link("/proc/self/exe", NULL), *bin = self ? g_path_get_dirname(self) : NULL;
    char *prefix = bin ? g_path_get_dirname(bin) : NULL;
    char *folder = prefix ? g_build_filename(prefix, DOME_INSTALL_LIBDIR, "pkgconfig", NULL) : NULL;
    char *pc = folder ? g_build_filename(folder, "dome.pc", NULL) : NULL;
    if (!pc || access(pc, R_OK) != 0)
        g_clear_pointer(&folder, g_free);
    g_free(pc);
    g_free(prefix);
    g_free(bin);
    g_free(self);
    return folder;
}

/* Checks for what a build needs. False with *text and *mend. */
static bool can_build(const char *sudo, char **text, char **mend)
{
    char *folder = own_pc_folder();
    output o = {0};
    if (!shell(NULL, "command -v ${CC:-cc}", &o)) {
        *text = g_strdup("programs cannot be built here: there is no C compiler (cc)");
        *mend = g_strdup_printf("%sapt-get install gcc libc6-dev", sudo);
    } else if (!shell(NULL, "command -v pkg-config", &o)) {
        *text = g_strdup("programs cannot be built here as README says: there is no pkg-config");
        *mend = g_strdup_printf("%sapt-get install pkg-config", sudo);
    } else if (!shell(NULL, "pkg-config --modversion dome", &o)) {
        *text = g_strdup("programs cannot be built here as README says: pkg-config does not find dome.pc");
        *mend = folder ? g_strdup_printf("export PKG_CONFIG_PATH=%s", folder) : g_strdup("cmake --install build # of Dome");
    } else if (strcmp(g_strchomp(o.out), DOME_VERSION) != 0) {
        *text = g_strdup_printf(
            "programs are built with another Dome: pkg-config finds version %s, this command is " DOME_VERSION, o.out);
        *mend = folder ? g_strdup_printf("export PKG_CONFIG_PATH=%s", folder) : g_strdup("cmake --install build # of Dome");
    }
    output_clear(&o);
    g_free(folder);
    return !*text;
}

/* Builds and runs the program in its directory. */
static dome_first_result build_and_run(const char *directory, int tasks, const char *sudo, char **text, char **mend)
{
    dome_first_result result = DOME_FIRST_FAILS;
    output o = {0};
    char *run = g_strdup_printf("./first --dome-tasks %d", tasks);
    if (!shell(directory, "${CC:-cc} first.c $(pkg-config --cflags --libs dome) -o first", &o)) {
        char *line = line_of(&o);
        *text = g_strdup_printf("a first program cannot be compiled: %s", line);
        *mend =
            g_strdup_printf(strstr(line, "dome") ? "cmake --install build # of Dome" : "%sapt-get install gcc libc6-dev", sudo);
        g_free(line);
    } else if (!shell(directory, run, &o)) {
        char *line = line_of(&o);
        *text = g_strdup_printf("a first program is compiled, but does not run: %s", line);
        *mend = strstr(line, "libdome")             ? g_strdup_printf("%sldconfig", sudo)
                : strstr(line, "Permission denied") ? g_strdup("export TMPDIR=$HOME # programs may be run there")
                                                    : NULL;
        g_free(line);
    } else if (strcmp(o.out, printed) != 0) {
        char *got = g_utf8_make_valid(g_strchomp(o.out), -1);
        *text =
            g_strdup_printf("a first program runs, and prints '%s' in place of '%.*s'", got, (int)strlen(printed) - 1, printed);
        g_free(got);
    } else {
        *text = g_strdup_printf("a first program is compiled, and runs as %d task%s", tasks, tasks == 1 ? "" : "s");
        result = DOME_FIRST_RUNS;
    }
    output_clear(&o);
    g_free(run);
    return result;
}

dome_first_result dome__first_program(int tasks, const char *sudo, char **text, char **mend)
{
    *text = *mend = NULL;
    if (!can_build(sudo, text, mend))
        return DOME_FIRST_CANNOT_BUILD;
    GError *error = NULL;
    char *directory = g_dir_make_tmp("dome-doctor.XXXXXX", &error);
    if (!directory) {
        *text = g_strdup_printf("a first program cannot be tried: %s", error->message);
        g_error_free(error);
        return DOME_FIRST_CANNOT_BUILD;
    }
    char *file = g_build_filename(directory, "first.c", NULL);
    dome_first_result result = DOME_FIRST_CANNOT_BUILD;
    if (g_file_set_contents_full(file, source, -1, G_FILE_SET_CONTENTS_NONE, 0666, &error)) {
        result = build_and_run(directory, tasks, sudo, text, mend);
    } else {
        *text = g_strdup_printf("a first program cannot be tried: %s", error->message);
        g_error_free(error);
    }
    dome__remove_directory(directory);
    g_free(file);
    g_free(directory);
    return result;
}
