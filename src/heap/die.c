#include "heap/die.h"

#include "core/environment.h"
#include "system/say.h"

#include <dome/env.h>

#include <stdio.h>
#include <stdlib.h>

void dome__capture_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (dome__this_env())
        dome_abort(dome__this_env(), "%s", text);
    fflush(NULL);
    dome__say("%s", text);
    exit(1);
}
