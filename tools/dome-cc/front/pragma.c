/* #pragma dome. */
#include "front/front.h"

#include <string.h>

void pragma_find(unit *u)
{
    static const char *const words[] = {"poll", "nopoll", "union", "allocates", "hold", "numbers", "dangling"}; /* by kind */
    const char *key = "#pragma dome ";
    for (const char *p = strstr(u->original, key); p; p = strstr(p + 1, key)) {
        if (p != u->original && p[-1] != '\n')
            continue;
        const char *word = p + strlen(key);
        size_t n = strcspn(word, " \t\r\n");
        pragma found = {.at = (unsigned)(p - u->original)};
        unsigned k = 0;
        while (k < G_N_ELEMENTS(words) && !(n == strlen(words[k]) && strncmp(word, words[k], n) == 0))
            k++;
        if (k == G_N_ELEMENTS(words)) {
            unit_refuse(u, found.at,
                        "#pragma dome %.*s is not known: poll and nopoll are, before a loop, union before a member of a struct, "
                        "allocates and hold before a function, numbers and dangling before a variable or a member",
                        (int)n, word);
            continue;
        }
        found.kind = k;
        found.text = g_strndup(word + n, strcspn(word + n, "\n"));
        g_array_append_val(u->pragmas, found);
    }
}

pragma *pragma_before(unit *u, unsigned at, int kind)
{
    pragma *mine = NULL;
    for (unsigned i = 0; i < u->pragmas->len; i++) {
        pragma *p = &g_array_index(u->pragmas, pragma, i);
        if ((int)p->kind == kind && p->at < at && text_skip(u, p->at) == at)
            mine = p;
    }
    return mine;
}

unsigned pragma_flags(unit *u, unsigned at)
{
    pragma *numbers = pragma_before(u, at, PRAGMA_NUMBERS), *dangling = pragma_before(u, at, PRAGMA_DANGLING);
    if (numbers)
        numbers->used = true;
    if (dangling)
        dangling->used = true;
    return (numbers ? DOME_CAPTURE_NUMBERS : 0) | (dangling ? DOME_CAPTURE_MAY_DANGLE : 0);
}
