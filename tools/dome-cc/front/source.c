/* A hash of the source of each function, and of each constant that is not saved: by it a program that restarts can tell that they
 * are not those of the program that was saved.
 *
 * The number is the same on all machines. So it is not taken of the preprocessed text, in which macros of the system's headers
 * are other numbers there, but of the lines of the file, together with the definitions of the program's own macros in them. */
#include "front/front.h"

#include <string.h>

typedef struct macros {
    GHashTable *own; /* name -> its definition */
} macros;

/* ---- macros ---- */

static bool is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

/* Whether a line marker, "# 1 "file" 1 3", begins text of the system or of the compiler. */
static bool is_of_system(const char *marker, gsize length)
{
    char *line = g_strndup(marker, length), *name = strchr(line, '"'), *flags = strrchr(line, '"');
    const bool built_in = name && g_str_has_prefix(name, "\"<built-in>");
    const bool header = flags && flags != name && strchr(flags, '3');
    g_free(line);
    return built_in || header;
}

static void note_definition(GHashTable *own, const char *text, gsize length)
{
    gsize name = 0;
    while (name < length && is_word(text[name]))
        name++;
    char *key = g_strndup(text, name), *before = g_hash_table_lookup(own, key);
    char *definition = g_strdup_printf("%s%.*s\n", before ? before : "", (int)(length - name), text + name);
    g_hash_table_insert(own, key, definition);
}

/* Takes the definitions of macros out of what the preprocessor has written (-dD): their lines become empty. */
GHashTable *source_take_macros(char *text)
{
    static const char define[] = "#define ", undefine[] = "#undef ";
    GHashTable *own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    bool system = false;
    for (char *line = text; *line;) {
        const gsize length = strcspn(line, "\n");
        const bool defines = g_str_has_prefix(line, define);
        if (line[0] == '#' && line[1] == ' ')
            system = is_of_system(line, length);
        else if (defines && !system)
            note_definition(own, line + strlen(define), length - strlen(define));
        if (defines || g_str_has_prefix(line, undefine))
            memset(line, ' ', length);
        line += length + (line[length] == '\n');
    }
    return own;
}

/* ---- text ---- */

/* Of a file, lines [first, last], from 1 on; NULL: it cannot be read, or has fewer. */
static char *lines_of(GHashTable *files, const char *path, unsigned first, unsigned last)
{
    char *text = g_hash_table_lookup(files, path);
    if (!text) {
        if (!g_file_get_contents(path, &text, NULL, NULL))
            return NULL;
        g_hash_table_insert(files, g_strdup(path), text);
    }
    unsigned line = 1;
    const char *from = text;
    for (; line < first && from; line++)
        from = strchr(from, '\n') ? strchr(from, '\n') + 1 : NULL;
    const char *to = from;
    for (; line <= last && to; line++)
        to = strchr(to, '\n') ? strchr(to, '\n') + 1 : NULL;
    return from ? g_strndup(from, to ? (gsize)(to - from) : strlen(from)) : NULL;
}

static const char *behind_comment(const char *at)
{
    const char *end = at[1] == '/' ? strchr(at, '\n') : strstr(at + 2, "*/");
    return !end ? at + strlen(at) : at[1] == '/' ? end : end + 2;
}

static const char *behind_literal(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Goes on with a hash over a text without comments and spaces, and over the macros in it, each once. */
static guint64 hash_text(guint64 hash, const char *text, GHashTable *own, GHashTable *seen)
{
    for (const char *at = text; *at;) {
        const char *end = at + 1;
        if (g_ascii_isspace(*at) || (*at == '\\' && at[1] == '\n')) {
            at = end;
            continue;
        }
        if (*at == '/' && (at[1] == '/' || at[1] == '*')) {
            at = behind_comment(at);
            continue;
        }
        if (*at == '"' || *at == '\'')
            end = behind_literal(at);
        while (is_word(*at) && is_word(*end))
            end++;
        char *word = g_strndup(at, (gsize)(end - at));
        hash = text_hash_on(hash ^ 1, word); /* words do not run together */
        const char *macro = is_word(*word) ? g_hash_table_lookup(own, word) : NULL;
        if (macro && g_hash_table_add(seen, g_strdup(word)))
            hash = hash_text(hash, macro, own, seen);
        g_free(word);
        at = end;
    }
    return hash;
}

/* ---- declarations ---- */

/* A constant of the file, of which no value is saved. */
static bool is_constant(const node *n)
{
    return n->kind == CXCursor_VarDecl && !cursor_is_null(clang_Cursor_getVarDeclInitializer(n->cursor)) &&
           clang_isConstQualifiedType(clang_getCanonicalType(ctype_element(clang_getCursorType(n->cursor), NULL)));
}

static guint32 hash_of(unit *u, const node *n, GHashTable *files, GHashTable *own)
{
    char *first_file, *last_file;
    unsigned first, last;
    unit_place(u, n->a, &first_file, &first);
    unit_place(u, n->b > n->a ? n->b - 1 : n->b, &last_file, &last);
    char *text = strcmp(first_file, last_file) == 0 ? lines_of(files, first_file, first, last) : NULL;
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint64 hash = G_GUINT64_CONSTANT(14695981039346656037);
    if (text) {
        hash = hash_text(hash, text, own, seen);
    } else { /* of a generated file, say: without literals, which may be those of headers */
        char *flat = text_flat(u, n->a, n->b);
        hash = text_hash_on(hash, text_without_literals(flat));
        g_free(flat);
    }
    g_hash_table_destroy(seen);
    g_free(text);
    g_free(last_file);
    g_free(first_file);
    return (guint32)(hash ^ hash >> 32);
}

void source_find(unit *u, GHashTable *own)
{
    GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (unsigned i = 0; i < u->tops->len; i++) {
        const node *top = g_ptr_array_index(u->tops, i);
        const bool defines = top->kind == CXCursor_FunctionDecl && clang_isCursorDefinition(top->cursor);
        if (cursor_in_system_header(top->cursor) || !(defines || is_constant(top)))
            continue;
        char *key = cursor_key(u, top->cursor);
        g_ptr_array_add(u->tables[TABLE_SOURCES], g_strdup_printf("%08x %s", hash_of(u, top, files, own), key));
        g_free(key);
    }
    g_hash_table_destroy(files);
}

/* Their table. */
void source_write(const unit *u, GString *out)
{
    if (!u->tables[TABLE_SOURCES]->len)
        return;
    g_string_append(out, "static const struct dome__cc_source dome__sources[] = {\n");
    for (unsigned i = 0; i < u->tables[TABLE_SOURCES]->len; i++) {
        const char *line = g_ptr_array_index(u->tables[TABLE_SOURCES], i);
        char *name = g_strescape(strchr(line, ' ') + 1, NULL);
        g_string_append_printf(out, "    {\"%s\", 0x%.8su},\n", name, line);
        g_free(name);
    }
    g_string_append(out, "};\n");
}
