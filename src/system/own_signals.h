/* Handlers of signals that are Dome's own. A program that is saved inside its calls does not see them as its own
 * (capture/library.c). */
#ifndef DOME_SRC_CORE_OWN_SIGNALS_H
#define DOME_SRC_CORE_OWN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Sets a handler of Dome's, as sigaction. */
int dome__signal_catch(int number, const struct sigaction *action);

/* Whether an action has a handler that was given to dome__signal_catch. */
bool dome__signal_is_own(const struct sigaction *action);

#endif
