#include "commands.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

void dome__json_string(FILE *to, const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    fputc('"', to);
    for (const char *at = valid, *next; *at; at = next) {
        const gunichar c = g_utf8_get_char(at);
        next = g_utf8_next_char(at);
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", (char)c);
        else if (!g_unichar_isprint(c)) /* as in system/terminal.h; two halves of UTF-16 from 0x10000 on */
            fprintf(to, c < 0x10000 ? "\\u%04x" : "\\u%04x\\u%04x", c < 0x10000 ? c : 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
        else
            fwrite(at, 1, (size_t)(next - at), to);
    }
    fputc('"', to);
    g_free(valid);
}

void dome__json_number(FILE *to, const char *text)
{
    bool finite = strchr("-0123456789", text[0]) && text[1] != 'i';
    fprintf(to, finite ? "%s" : "\"%s\"", text);
}
