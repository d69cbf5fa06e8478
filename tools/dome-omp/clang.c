/* clang in gcc's place. It calls LLVM's functions (__kmpc_...), which libdome-omp has too (src/kmpc); its flush is a call
 * already.
 *
 *     -Xclang -fopenmp           the compiler alone gets the option: the linker then links no library of OpenMP
 *     -Xclang -fsanitize=thread  the pass that makes atomic operations calls; the -mllvm options leave nothing else of it */
#include "dome_omp.h"

#include <stdlib.h>
#include <string.h>

/* Later ones keep atomic additions of floating-point numbers instructions, and their pass says nothing; earlier ones know no
 * --start-no-unused-arguments. */
enum { VERSION = 14 };

const char *clang_refusal(const char *version)
{
    const char *number = strstr(version, "clang version ") + strlen("clang version ");
    const int major = atoi(number);
    if (major == VERSION)
        return NULL;
    return g_strdup_printf("clang %d, which is not known to call a function for each atomic operation; clang %d does", major,
                           VERSION);
}

void clang_add_options(GPtrArray *command)
{
    static char *const words[] = {"-fno-pie",
                                  "--start-no-unused-arguments", /* when it only links */
                                  "-Xclang",
                                  "-fopenmp",
                                  "-Xclang",
                                  "-fsanitize=thread",
                                  "-mllvm",
                                  "-tsan-instrument-memory-accesses=0",
                                  "-mllvm",
                                  "-tsan-instrument-func-entry-exit=0",
                                  "-mllvm",
                                  "-tsan-instrument-memintrinsics=0",
                                  "--end-no-unused-arguments"};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        g_ptr_array_add(command, words[i]);
}

bool clang_leaves_out(const char *word)
{
    return strcmp(word, "-fopenmp") == 0 || g_str_has_prefix(word, "-fopenmp=");
}
