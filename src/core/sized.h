/* Structs that a program fills and whose first member says how large the program's compiler made them (or whose size is given
 * beside them): the library's may have gained members since, or lack members of a newer one. */
#ifndef DOME_SRC_SIZED_H
#define DOME_SRC_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copies the program's struct of `given` bytes into the library's of `known`; members that the program does not know become 0.
 * False if it is smaller than the first version was, or sets a member that this library does not know. */
static inline bool dome__sized_copy(void *to, size_t known, const void *from, size_t given, size_t first_version)
{
    if (given < first_version)
        return false;
    for (size_t i = known; i < given; i++)
        if (((const char *)from)[i])
            return false;
    memset(to, 0, known);
    memcpy(to, from, given < known ? given : known);
    return true;
}

#endif
