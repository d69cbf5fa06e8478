#include "system/say.h"

#include "system/io.h"
#include "system/terminal.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *dome__say_line(const char *text)
{
    char *plain = dome__plain(text);
    char *line = g_strdup_printf("%s" DOME_SAY_PREFIX "%s\n", dome__terminal_clear(STDERR_FILENO), plain);
    g_free(plain);
    return line;
}

char *dome__say_text(const char *line)
{
    return g_strchomp(g_strdup(g_str_has_prefix(line, DOME_SAY_PREFIX) ? line + strlen(DOME_SAY_PREFIX) : line));
}

static char *line_of(const char *format, va_list arguments)
{
    char *text = g_strdup_vprintf(format, arguments), *line = dome__say_line(text);
    g_free(text);
    return line;
}

void dome__say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *line = line_of(format, arguments);
    va_end(arguments);
    fputs(line, stderr);
    g_free(line);
}

void dome__say_at_once(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *line = line_of(format, arguments);
    va_end(arguments);
    dome__io_write(STDERR_FILENO, line, strlen(line)); /* there is no other place to report a failure */
    g_free(line);
}
