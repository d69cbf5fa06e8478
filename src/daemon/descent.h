/* Whether one process has started another. */
#ifndef DOME_SRC_DESCENT_H
#define DOME_SRC_DESCENT_H

#include <stdbool.h>

/* Whether `from` is an ancestor of process `pid`; false if `from` is init, which becomes the parent of all orphans. */
bool dome__descends(int pid, int from);

#endif
