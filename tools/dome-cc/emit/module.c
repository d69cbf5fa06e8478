/* The whole file as the compiler gets it. */
#include "emit/emit.h"

static void write_table(GString *out, GPtrArray *list, const char *begin, const char *before)
{
    if (!list->len)
        return;
    g_string_append_printf(out, "%s = {\n", begin);
    for (unsigned i = 0; i < list->len; i++)
        g_string_append_printf(out, "    %s%s,\n", before, (char *)g_ptr_array_index(list, i));
    g_string_append(out, "};\n");
}

/* Where a function is declared first: its twin. */
static void declare_twin(program *p, unit *u, node *declaration, unsigned end, GString *out)
{
    char *key = cursor_key(u, declaration->cursor);
    function *f = g_hash_table_lookup(p->functions, key);
    g_free(key);
    if (!f || f->unit != u || !(f->twins.exists || f->twins.split) || f->told)
        return;
    char *twin = function_twin_declaration(u, declaration, f->decl == declaration ? f->body->a : end);
    g_string_append(out, twin);
    g_free(twin);
    f->told = true;
}

static void write_functions(program *p, unit *u)
{
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        if (f->polls)
            function_write(p, f);
    }
    addresses_resolve(u);
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        if (f->twins.exists && !f->polls) {
            char *twin = function_plain_twin(f);
            edit_around(u, f->body->b, f->body->b, 0, "", twin);
            g_free(twin);
        }
    }
}

/* Declarations of the function at a top that the file must have. */
static void write_hoists(program *p, unit *u, unsigned top, GString *before)
{
    for (unsigned k = 0; k < u->lift.hoists->len; k++) {
        const hoist *h = &g_array_index(u->lift.hoists, hoist, k);
        edit except = {h->a, h->b, EDIT_REPLACE, 0, NULL};
        if (h->top != top)
            continue;
        char *file;
        unsigned line;
        unit_place(u, h->a, &file, &line);
        g_string_append_printf(before, "\n# %u \"%s\"\n", line, file);
        edit_range(u, h->a, h->b, &except, before);
        g_string_append(before, h->after);
        if (h->function)
            declare_twin(p, u, h->function, text_find(u, h->function->b, u->length, ';'), before);
        g_free(file);
    }
}

static void insert_before(unit *u, unsigned top, const GString *before)
{
    unsigned at = GPOINTER_TO_UINT(g_ptr_array_index(u->ends, top)), line;
    char *file;
    unit_place(u, at, &file, &line);
    char *text = g_strdup_printf("%s\n# %u \"%s\"\n", before->str, line, file);
    edit_around(u, at, at, 0, text, "");
    g_free(text);
    g_free(file);
}

/* Before each function: what it needs at the file's scope. */
static void write_before_tops(program *p, unit *u)
{
    unsigned next = 0;
    for (unsigned i = 0; i < u->tops->len; i++) {
        GString *before = g_string_new(NULL);
        node *top = g_ptr_array_index(u->tops, i);
        write_hoists(p, u, i, before);
        if (next < u->functions->len && ((function *)g_ptr_array_index(u->functions, next))->decl == top) {
            function *f = g_ptr_array_index(u->functions, next++);
            if (f->out)
                g_string_append_printf(before, "\n# 1 \"<dome-cc>\"\n%s", f->out->str);
        }
        if (top->kind == CXCursor_FunctionDecl)
            declare_twin(p, u, top, text_find(u, top->b, u->length, ';'), before);
        if (before->len)
            insert_before(u, i, before);
        g_string_free(before, TRUE);
    }
}

static void write_module(const unit *u, GString *out)
{
    static const char *const names[TABLES] = {[TABLE_GLOBALS] = "dome__globals",
                                              [TABLE_FUNCTIONS] = "dome__functions",
                                              [TABLE_CODES] = "dome__codes",
                                              [TABLE_HEAP_TYPES] = "dome__heap_types",
                                              [TABLE_SOURCES] = "dome__sources"};
    char *e = g_strescape(u->name, NULL);
    g_string_append_printf(out, "static struct dome__cc_module dome__module = {sizeof(struct dome__cc_module), \"%s\"", e);
    for (unsigned t = 0; t < TABLES; t++)
        g_string_append_printf(out, ", %s, %u", u->tables[t]->len ? names[t] : "0", u->tables[t]->len);
    g_string_append(out,
                    "};\n__attribute__((__constructor__)) static void dome__enlist(void) { dome__cc_register(&dome__module); ");
    if (u->keeps)
        g_string_append_printf(out, "dome__cc_keep(%u); ", u->keeps);
    g_string_append(out, "}\n");
    g_free(e);
}

static void write_tables(unit *u, GString *out)
{
    write_table(out, u->tables[TABLE_GLOBALS], "static struct dome__cc_global dome__globals[]", "");
    write_table(out, u->tables[TABLE_FUNCTIONS], "static struct dome__cc_function *dome__functions[]", "");
    write_table(out, u->tables[TABLE_CODES], "static const struct dome__cc_code dome__codes[]", "");
    write_table(out, u->tables[TABLE_HEAP_TYPES], "static struct dome__cc_type *dome__heap_types[]", "&");
    source_write(u, out);
    write_module(u, out);
}

/* The whole file as the compiler gets it. */
char *module_write(program *p, unit *u)
{
    twins_mark(p, u);
    write_functions(p, u);
    if (u->refused)
        return NULL;
    write_before_tops(p, u);
    GString *out = g_string_new(NULL);
    char *path = g_strescape(u->path, NULL);
    g_string_append_printf(out, "# 1 \"%s\"\n", path); /* the object's file, which the linker names */
    g_free(path);
    prelude_write(out);
    g_string_append(out, parallel_prelude(p));
    g_string_append(out, u->prelude->str);
    edit_range(u, 0, u->length, NULL, out);
    g_string_append_printf(out, "\n# 1 \"<dome-cc>\"\n%s", u->tail->str);
    write_tables(u, out);
    if (u->main)
        g_string_append_printf(
            out,
            "int main(int dome__argc, char **dome__argv) { %sreturn dome__cc_%smain(dome__argc, dome__argv, dome__main); }\n",
            p->between ? "dome__cc_poll_operations(); " : "", p->parallel ? "dome_" : "");
    char **parts = g_strsplit(out->str, TWIN_MARK, -1), *text = g_strjoinv(NULL, parts);
    g_strfreev(parts);
    g_string_free(out, TRUE);
    return text;
}
