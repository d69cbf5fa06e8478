#include "core/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dome__terminal_is(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && term[0] && strcmp(term, "dumb") != 0;
}

const char *dome__terminal_clear(int fd)
{
    return dome__terminal_is(fd) ? DOME_TERMINAL_CLEAR : "";
}
