#include "system/own_signals.h"

enum { HANDLERS = 8 }; /* more than there are */
static void (*handlers[HANDLERS])(int);

int dome__signal_catch(int number, const struct sigaction *action)
{
    int k = 0;
    while (k < HANDLERS - 1 && handlers[k] && handlers[k] != action->sa_handler)
        k++;
    handlers[k] = action->sa_handler;
    return sigaction(number, action, NULL);
}

bool dome__signal_is_own(const struct sigaction *action)
{
    for (int k = 0; k < HANDLERS && handlers[k]; k++)
        if (handlers[k] == action->sa_handler)
            return true;
    return false;
}
