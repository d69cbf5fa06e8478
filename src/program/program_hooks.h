/* The functions by which core calls the other parts of the library. */
#ifndef DOME_SRC_PROGRAM_PROGRAM_HOOKS_H
#define DOME_SRC_PROGRAM_PROGRAM_HOOKS_H

#include "core/hooks.h"

/* The table of a program's environment. */
extern const dome_hooks dome__program_hooks;

/* The same after dome_finalize: the first call that begins an operation is reported and ends the process. */
const dome_hooks *dome__hooks_after_finalize(void);

#endif
