/* A pointer that another library's function takes without const although it does not write there, or frees: GLib's arrays and
 * hash tables of text, g_free of a const member, XDR streams that are read, PVM's pack functions. Not for the library's own
 * types, except where a comment gives the reason. */
#ifndef DOME_SRC_UNCONST_H
#define DOME_SRC_UNCONST_H

#include <stdint.h>

static inline void *dome__unconst(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

#endif
