/* Objects and archives: each object holds, in a section that the linker leaves out, the text from which it is translated when a
 * program is linked. So the text goes wherever the object goes: through ar, cp and make. */
#include "front/section.h"

#include <string.h>

/* Lines that begin so are no flags of the compiler. */
enum { SOURCE = '=' };

static const char head[] = "dome-cc 3\n";

GString *section_text(const object *o)
{
    GString *s = g_string_new(head);
    g_string_append_printf(s, "%s\n", o->path);
    for (unsigned i = 0; i < o->flags->len; i++)
        g_string_append_printf(s, "%s\n", (char *)g_ptr_array_index(o->flags, i));
    for (unsigned i = 0; i < o->sources->len; i++)
        g_string_append_printf(s, "%c%s\n", SOURCE, (char *)g_ptr_array_index(o->sources, i));
    g_string_append_c(s, '\n');
    g_string_append_len(s, o->text, (gssize)o->length);
    return s;
}

/* ---- ELF: of any word size and byte order ---- */

typedef struct bytes {
    const guchar *at;
    guint64 n;
    bool large, big_endian;
} bytes;

/* A number of `size` bytes at a place; beyond the end there are zeros. */
static guint64 number(const bytes *b, guint64 at, unsigned size)
{
    guint64 value = 0;
    if (at > b->n || b->n - at < size)
        return 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | b->at[at + (b->big_endian ? i : size - 1 - i)];
    return value;
}

static bool find_section(bytes b, bytes *found)
{
    if (b.n < 52 || memcmp(b.at, "\177ELF", 4) != 0)
        return false;
    b.large = b.at[4] == 2;
    b.big_endian = b.at[5] == 2;
    unsigned word = b.large ? 8 : 4;
    guint64 table = number(&b, b.large ? 0x28 : 0x20, word), each = number(&b, b.large ? 0x3a : 0x2e, 2);
    guint64 count = number(&b, b.large ? 0x3c : 0x30, 2), names = number(&b, b.large ? 0x3e : 0x32, 2);
    guint64 offset = b.large ? 24 : 16, names_at = number(&b, table + names * each + offset, word);
    for (guint64 i = 0; i < count; i++) {
        guint64 header = table + i * each, name = names_at + number(&b, header, 4);
        if (name >= b.n || b.n - name < sizeof(SECTION_NAME) || memcmp(b.at + name, SECTION_NAME, sizeof(SECTION_NAME)) != 0)
            continue;
        guint64 begin = number(&b, header + offset, word), size = number(&b, header + offset + word, word);
        if (begin > b.n || size > b.n - begin)
            return false;
        *found = (bytes){.at = b.at + begin, .n = size};
        return true;
    }
    return false;
}

static bool read_object(bytes b, const char *shown, GPtrArray *list)
{
    bytes section;
    if (!find_section(b, &section))
        return true;
    char *all = g_strndup((const char *)section.at, section.n), *at = all + strlen(head);
    char *empty = g_str_has_prefix(all, head) ? strstr(at, "\n\n") : NULL;
    if (!empty) {
        g_printerr("dome-cc: error: %s is of another dome-cc: compile it again\n", shown);
        g_free(all);
        return false;
    }
    *empty = '\0';
    char **lines = g_strsplit(at, "\n", -1);
    object *o = g_new0(object, 1);
    o->path = g_strdup(lines[0]);
    o->flags = g_ptr_array_new();
    o->sources = g_ptr_array_new();
    for (char **l = lines + 1; *l; l++)
        g_ptr_array_add(**l == SOURCE ? o->sources : o->flags, g_strdup(**l == SOURCE ? *l + 1 : *l));
    o->length = section.n - (gsize)(empty + 2 - all);
    o->text = g_strdup(empty + 2);
    g_ptr_array_add(list, o);
    g_strfreev(lines);
    g_free(all);
    return true;
}

/* ---- archives ---- */

static const char archive_head[] = "!<arch>\n";

bool section_read(const char *file, GPtrArray *list, bool *archive)
{
    char *text;
    gsize n;
    if (!g_file_get_contents(file, &text, &n, NULL))
        return true; /* the linker says so */
    bytes b = {.at = (const guchar *)text, .n = n};
    bool good = true;
    *archive = n >= strlen(archive_head) && memcmp(text, archive_head, strlen(archive_head)) == 0;
    if (!*archive)
        good = read_object(b, file, list);
    for (guint64 at = strlen(archive_head); *archive && good && at + 60 <= n;) {
        char digits[11] = {0};
        memcpy(digits, text + at + 48, 10);
        guint64 size = g_ascii_strtoull(digits, NULL, 10);
        at += 60;
        if (size > n - at)
            break;
        good = read_object((bytes){.at = b.at + at, .n = size}, file, list);
        at += size + (size & 1);
    }
    g_free(text);
    return good;
}
