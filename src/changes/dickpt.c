/* What #pragma dickpt becomes. A directive has no result, so a failure is told in a line, and the program goes on. */
#include <dome/delta.h>

#include "system/say.h"

static void judge(int status, const char *directive, const char *where)
{
    if (status < 0)
        dome__say_at_once("%s: #pragma dickpt %s: %s", where ? where : "?", directive, dome_delta_error());
}

void dome_dickpt_start(const char *where)
{
    judge(dome_delta_start(), "start", where);
}

void dome_dickpt_stop(const char *where)
{
    judge(dome_delta_stop(), "stop", where);
}

void dome_dickpt_save(const char *file, const char *where)
{
    judge(dome_delta_save(file), "save", where);
}
