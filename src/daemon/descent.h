/* Whether one process has started another. */
#ifndef DOME_SRC_DESCENT_H
#define DOME_SRC_DESCENT_H

#include <stdbool.h>

/* Whether process pid descends from `from`, by as many steps as it may be; false for init, which adopts whoever has lost his
 * parent. */
bool dome__descends(int pid, int from);

#endif
