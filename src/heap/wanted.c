/* Blocks of which only the caller of the function that allocates them knows the type. */
#include "heap/die.h"

#include <dome/capture.h>

dome_capture_type *dome_capture_wanted;

static dome_capture_type *wanted(const char *function)
{
    if (!dome_capture_wanted)
        dome__capture_die(
            "%s was called for a block whose type its caller does not know: a function that is not translated called it, "
            "or the caller uses no result of it",
            function);
    return dome_capture_wanted;
}

void *dome_capture_malloc_wanted(size_t bytes)
{
    return dome_capture_malloc(wanted("malloc"), bytes);
}

void *dome_capture_calloc_wanted(size_t count, size_t bytes)
{
    return dome_capture_calloc(wanted("calloc"), count, bytes);
}

void *dome_capture_realloc_wanted(void *block, size_t bytes)
{
    return dome_capture_realloc(block ? dome_capture_wanted : wanted("realloc"), block, bytes);
}
