/* dome-omp: a compiler of OpenMP programs that run over tasks. Used as gcc is; docs/openmp.md.
 *
 *     dome-omp -O3 a.c b.f90 -o prog
 *     gcc -fopenmp ... -wrapper dome-omp,--step -O3 a.c b.f90 -o prog ...     by dome_omp.c
 *     dome-omp --step cc1 ... a.c ... -o x.s                                  gcc runs each of its programs so: steps.c
 *     dome-omp --step collect2 ... -o prog                                    and then what was linked is looked at: linked.c
 *
 *     dome-omp --cc=clang -O3 a.c -o prog
 *     clang -Xclang -fopenmp ... a.c -o prog ...                              by clang.c; then linked.c */
#ifndef DOME_OMP_H
#define DOME_OMP_H

#include <glib.h>
#include <stdbool.h>

/* Where the parts are: build tree or installation. */
typedef struct places {
    char *self, *include, *library, *specs, *loader;
} places;

/* clang.c: why a compiler of which this is the text of --version is none, "clang 16, ..."; what is added to its command; whether
 * a word of the user's is not given to it. */
const char *clang_refusal(const char *version);
void clang_add_options(GPtrArray *command);
bool clang_leaves_out(const char *word);

/* steps.c: a command that links, and then a look at what it has linked. Its exit status. */
int step_link(char **command);

/* steps.c: one of gcc's programs with its arguments, NULL behind the last. Its exit status. */
int step_run(char **command);

/* flush.c: the text of a source with a call of dome_omp_flush at each flush; false: it has none. C and C++ are preprocessed. */
bool flush_calls(const char *text, gsize length, GString *result);
bool flush_calls_fortran(const char *text, const char *name, bool fixed, GString *result);

/* flush.c: behind the string, name or character at `at` of a preprocessed text. raw: empty at first; while it is not, the text is
 * inside of a raw string. */
const char *text_skip(const char *at, const char *end, GString *raw);

/* atomics.c: the text with operations that are calls in place of those that gcc makes instructions; false: it has none. */
bool atomic_calls(const char *text, gsize length, bool cplusplus, GString *result);

/* linked.c: a line on standard error for each thing in a program that will not be as with threads of one process. folders: where
 * its libraries are looked for first, by ':'. */
void linked_look(const char *program, const char *folders);

/* A symbol of each object that gcc makes for dome-omp. */
#define DOME_OMP_MARK "dome__by_dome_omp"

/* objects.c: a line for each object or archive among a linker's words that has OpenMP's calls, made without dome-omp. */
void objects_look(const char *program, char **words);

#endif
