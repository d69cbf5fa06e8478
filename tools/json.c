#include "commands.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

void dome__json_string(FILE *to, const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    fputc('"', to);
    for (const unsigned char *c = (unsigned char *)valid; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(to, "\\u%04x", *c);
        else
            fputc(*c, to);
    fputc('"', to);
    g_free(valid);
}

void dome__json_number(FILE *to, const char *text)
{
    bool finite = strchr("-0123456789", text[0]) && text[1] != 'i';
    fprintf(to, finite ? "%s" : "\"%s\"", text);
}
