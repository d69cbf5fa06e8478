#include "system/own_signals.h"

enum { HANDLERS = 8 }; /* more than there are */
static void (*handlers[HANDLERS])(int);

int dome__signal_catch(int number, const struct sigaction *action)
{
    int k = 0;
    while (k < HANDLERS - 1 && handlers[k] && handlers[k] != action->sa_handler)
        k++;
    handlers[k] = action->sa_handler;
    struct sigaction ours = *action; /* a stack of the program's may be memory that the kernel cannot write to by itself */
    ours.sa_flags |= SA_ONSTACK;
    return sigaction(number, &ours, NULL);
}

bool dome__signal_is_own(const struct sigaction *action)
{
    for (int k = 0; k < HANDLERS && handlers[k]; k++)
        if (handlers[k] == action->sa_handler)
            return true;
    return false;
}
