/* The functions by which core calls the other parts of the library. */
#ifndef DOME_SRC_PROGRAM_HOOKS_H
#define DOME_SRC_PROGRAM_HOOKS_H

#include "core/hooks.h"

/* The table of a program's environment. */
extern const dome_hooks dome__program_hooks;

#endif
