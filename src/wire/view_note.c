#include "wire/view_note.h"

#include <inttypes.h>
#include <stddef.h>

#define KIND "dome-view"

typedef enum field_kind { INTEGER, U32, U64, YES_NO, TEXT } field_kind;

/* One row for each line: how it is written and read. */
typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset;
} field;

#define ENTRY(kind, member)                                                                                                      \
    {                                                                                                                            \
#member, kind, offsetof(dome_view_entry, member)                                                                         \
    }
#define FACT(kind, member)                                                                                                       \
    {                                                                                                                            \
#member, kind, offsetof(dome_view_facts, member)                                                                         \
    }

static const field of_entry[] = {
    ENTRY(U32, number),
    ENTRY(INTEGER, rank),
    ENTRY(TEXT, plan),
    ENTRY(INTEGER, stood),
    {"kept_first", INTEGER, offsetof(dome_view_entry, kept[0])},
    {"kept_second", INTEGER, offsetof(dome_view_entry, kept[1])},
    ENTRY(INTEGER, profile),
    ENTRY(INTEGER, losses),
    ENTRY(U64, program_ns),
    ENTRY(U64, begun_ns),
    ENTRY(U64, members_ns),
    ENTRY(U64, blocks_ns),
    ENTRY(U64, progress_ns),
    ENTRY(U64, progress_first),
    ENTRY(U64, progress_total),
    ENTRY(TEXT, avoid),
    ENTRY(TEXT, held),
    {0},
};

static const field of_facts[] = {
    FACT(U64, loops),        {"parked", TEXT, offsetof(dome_view_facts, standby)},
    FACT(INTEGER, piece_fd), FACT(INTEGER, piece_number),
    FACT(YES_NO, requests),  FACT(YES_NO, supervised),
    FACT(YES_NO, outside),   FACT(U64, first),
    FACT(TEXT, provider),    FACT(TEXT, host),
    FACT(TEXT, slots),       FACT(TEXT, given),
    FACT(TEXT, hub),         {0},
};

static char *value_text(const field *f, const void *at)
{
    switch (f->kind) {
    case INTEGER:
        return g_strdup_printf("%d", *(const int *)at);
    case U32:
        return g_strdup_printf("%" PRIu32, *(const uint32_t *)at);
    case U64:
        return g_strdup_printf("%" PRIu64, *(const uint64_t *)at);
    case YES_NO:
        return g_strdup(*(const bool *)at ? "yes" : "no");
    case TEXT:
        break;
    }
    return g_strdup(*(const char *const *)at);
}

static void append(GString *to, const field *fields, const void *part)
{
    for (const field *f = fields; f->key; f++) {
        char *value = value_text(f, (const char *)part + f->offset);
        dome__note_put(to, f->key, value);
        g_free(value);
    }
}

char *dome__view_facts_text(const dome_view_facts *facts)
{
    GString *text = g_string_new(NULL);
    append(text, of_facts, facts);
    return g_string_free(text, FALSE);
}

char *dome__view_entry_text(const dome_view_entry *entry)
{
    GString *text = g_string_new(NULL);
    dome__note_begin(text, KIND, DOME_VIEW_NOTE_VERSION);
    append(text, of_entry, entry);
    g_string_append(text, entry->rest);
    return g_string_free(text, FALSE);
}

static bool read_signed(const char *value, int *to)
{
    gint64 number;
    if (!g_ascii_string_to_signed(value, 10, G_MININT, G_MAXINT, &number, NULL))
        return false;
    *to = (int)number;
    return true;
}

static bool read_u32(const char *value, uint32_t *to)
{
    guint64 number;
    if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32, &number, NULL))
        return false;
    *to = (uint32_t)number;
    return true;
}

static bool read_u64(const char *value, uint64_t *to)
{
    guint64 number;
    if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT64, &number, NULL))
        return false;
    *to = number;
    return true;
}

static bool read_value(const field *f, const char *value, void *at)
{
    switch (f->kind) {
    case INTEGER:
        return read_signed(value, at);
    case U32:
        return read_u32(value, at);
    case U64:
        return read_u64(value, at);
    case YES_NO:
        *(bool *)at = g_str_equal(value, "yes");
        return *(bool *)at || g_str_equal(value, "no");
    case TEXT:
        *(const char **)at = value;
    }
    return true;
}

static bool read_part(const dome_note *note, const field *fields, void *part, char **why)
{
    for (const field *f = fields; f->key; f++) {
        const char *value = dome__note_get(note, f->key);
        if (value && read_value(f, value, (char *)part + f->offset))
            continue;
        *why = g_strdup_printf(value ? "the value of '%s' in it is damaged" : "it has no '%s'", f->key);
        return false;
    }
    return true;
}

bool dome__view_note_read(const char *text, dome_entry_note *note, char **why)
{
    *note = (dome_entry_note){.note = dome__note_read(text, KIND, DOME_VIEW_NOTE_VERSION, why)};
    const bool good =
        note->note && read_part(note->note, of_entry, &note->entry, why) && read_part(note->note, of_facts, &note->facts, why);
    if (!good)
        dome__view_note_clear(note);
    return good;
}

void dome__view_note_clear(dome_entry_note *note)
{
    dome__note_free(note->note);
    *note = (dome_entry_note){0};
}
