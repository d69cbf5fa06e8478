/* Files: temporary ones, those that dome-cc writes, and what their names say. */
#include "driver/driver.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- temporary files ---- */

static char *scratch;
static GPtrArray *scratch_files;

static void clean(void)
{
    for (unsigned i = 0; i < scratch_files->len; i++)
        unlink(g_ptr_array_index(scratch_files, i));
    rmdir(scratch);
}

static const int ends[] = {SIGHUP, SIGINT, SIGTERM};

/* The compiler that runs gets the signal, too, if it is of the keyboard. */
static void clean_and_end(int number)
{
    clean();
    signal(number, SIG_DFL);
    raise(number); /* when this function has returned */
}

static void hold_ends(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
        sigaddset(&set, ends[i]);
    sigprocmask(how, &set, NULL);
}

static void catch_ends(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
        if (signal(ends[i], clean_and_end) == SIG_IGN) /* by nohup, say */
            signal(ends[i], SIG_IGN);
}

char *files_scratch(const char *suffix)
{
    hold_ends(SIG_BLOCK);
    if (!scratch) {
        GError *error = NULL;
        scratch = g_dir_make_tmp("dome-cc-XXXXXX", &error);
        if (!scratch) {
            fprintf(stderr, "dome-cc: error: no folder for temporary files: %s\n", error->message);
            exit(1);
        }
        scratch_files = g_ptr_array_new();
        atexit(clean);
        catch_ends();
    }
    char *name = g_strdup_printf("%s/%u%s", scratch, scratch_files->len, suffix);
    g_ptr_array_add(scratch_files, name);
    hold_ends(SIG_UNBLOCK);
    return name;
}

/* ---- names and contents ---- */

/* What the compiler compiles and dome-cc does not look into; NULL: neither. */
const char *files_other_language(const char *file)
{
    static const char *const endings[][2] = {{".cc", "C++"},      {".cp", "C++"},      {".cxx", "C++"},     {".cpp", "C++"},
                                             {".CPP", "C++"},     {".c++", "C++"},     {".C", "C++"},       {".m", "Objective-C"},
                                             {".f", "Fortran"},   {".F", "Fortran"},   {".f90", "Fortran"}, {".s", "assembler"},
                                             {".S", "assembler"}, {".sx", "assembler"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(file, endings[i][0]))
            return endings[i][1];
    return NULL;
}

/* True after a message. */
bool files_is_missing(const char *file)
{
    const bool missing = !g_file_test(file, G_FILE_TEST_EXISTS);
    if (missing)
        fprintf(stderr, "dome-cc: error: %s: there is no such file\n", file);
    return missing;
}

bool files_write(const char *name, const char *text, gssize length)
{
    FILE *file = fopen(name, "w"); /* g_file_set_contents leaves the end of a longer file that was there */
    const gsize all = length < 0 ? strlen(text) : (gsize)length;
    bool good = file && fwrite(text, 1, all, file) == all;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "dome-cc: error: %s cannot be written: %s\n", name, g_strerror(errno));
    return good;
}

char *files_object_name(const char *source)
{
    char *base = g_path_get_basename(source), *dot = strrchr(base, '.');
    if (dot)
        *dot = '\0';
    char *name = g_strconcat(base, ".o", NULL);
    g_free(base);
    return name;
}
