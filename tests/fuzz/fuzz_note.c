/* The reader of notes on arbitrary bytes, which are a whole note, or a value in one: no crash, and what it accepts means the same
 * once it has been written again. */
#include "wire/view_note.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Any value comes back. */
static void check_value(const char *value)
{
    GString *text = g_string_new(NULL);
    char *why = NULL;
    dome__note_begin(text, "kind", 1);
    dome__note_put(text, "key", value);
    dome_note *note = dome__note_read(text->str, "kind", 1, &why);
    require(note && strcmp(dome__note_get(note, "key"), value) == 0);
    dome__note_free(note);
    g_string_free(text, TRUE);
}

static void check_view(const char *text)
{
    dome_entry_note note, again;
    char *why = NULL;
    if (!dome__view_note_read(text, &note, &why)) {
        require(why && !strchr(why, '\n'));
        g_free(why);
        return;
    }
    char *rest = dome__view_facts_text(&note.facts);
    note.entry.rest = rest;
    char *written = dome__view_entry_text(&note.entry);
    require(dome__view_note_read(written, &again, &why));
    again.entry.rest = rest;
    char *same = dome__view_entry_text(&again.entry);
    require(strcmp(same, written) == 0);
    dome__view_note_clear(&note);
    dome__view_note_clear(&again);
    g_free(rest);
    g_free(written);
    g_free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size);
    check_value(text);
    check_view(text);
    g_free(text);
    return 0;
}
