/* Structs that a program fills and passes with their size, as the first member or an argument. The size tells which members the
 * program was compiled with: the library's version of the struct may have more, or fewer. */
#ifndef DOME_SRC_SIZED_H
#define DOME_SRC_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Copies the program's struct of `given` bytes into the library's of `known` bytes; members that the program does not know become
 * 0. False if the struct is smaller than its first version, or sets a member that this library does not know. */
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
