#include "system/terminal.h"

#include <glib.h>

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

char *dome__plain(const char *text)
{
    GString *plain = g_string_new(NULL);
    for (const char *at = text, *next; *at; at = next) {
        const gunichar c = g_utf8_get_char_validated(at, -1);
        const bool valid = c != (gunichar)-1 && c != (gunichar)-2;
        next = valid ? g_utf8_next_char(at) : at + 1;
        if (valid && g_unichar_isprint(c))
            g_string_append_len(plain, at, next - at);
        else
            g_string_append_c(plain, *at == '\n' || *at == '\t' ? ' ' : '?');
    }
    return g_string_free(plain, FALSE);
}
