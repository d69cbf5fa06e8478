/* Functions that may poll, written anew.
 *
 * Variables whose scope contains a place where the function can be captured are declared at the function's beginning: those in
 * registers are put into the record by each such place; arrays, and those whose address is taken, live in dome__m.
 * Recovery enters a loop by its head, which every loop that contains such places has: else the compiler would see a loop with
 * two entries, and leave it as it is. */
#include "emit/emit.h"

#include <stdlib.h>
#include <string.h>

/* ---- the whole function ---- */

static void write_return_dummy(function *f, GString *out)
{
    if (functions_returns_nothing(f)) {
        g_string_append(out, "return;");
        return;
    }
    char *t = ctype_name(f->unit, functions_result(f));
    g_string_append_printf(out, ctype_is_record(functions_result(f)) ? "return (%s){0};" : "return (%s)0;", t);
    g_free(t);
}

static const loop_site *next_inside(const loop_site *from, const loop_site *to)
{
    while (to && to->outer != from)
        to = to->outer;
    return to;
}

static bool is_inside(const loop_site *l, const loop_site *of)
{
    while (l && l != of)
        l = l->outer;
    return l == of;
}

static void dispatch(function *f, const site *s, const loop_site *here, GString *out)
{
    if (s->loop != here)
        g_string_append_printf(out, "goto dome__loop_%d;", next_inside(here, s->loop)->id);
    else if (s->is_poll)
        g_string_append(out, "break;");
    else
        g_string_append(out, s->recovery);
    (void)f;
}

static const loop_site *loop_by_id(function *f, int id)
{
    for (unsigned i = 0; i < f->sites->len; i++) {
        site *s = g_ptr_array_index(f->sites, i);
        for (const loop_site *l = s->loop; l; l = l->outer)
            if (l->id == id)
                return l;
    }
    return NULL;
}

/* The body with what stands for DISPATCH, and for names of functions that have twins. `enters`: whether it is entered again;
 * else what is for that alone is left out. */
static void fill(function *f, const char *body, bool enters, bool is_twin, GString *out)
{
    static const char marks[] = "\001" TWIN_MARK ENTERING ENTERED;
    for (const char *at = body; *at;) {
        size_t n = strcspn(at, marks);
        g_string_append_len(out, at, (gssize)n);
        at += n;
        if (*at == *TWIN_MARK) {
            g_string_append(out, is_twin ? TWIN_PREFIX : "");
            at++;
        } else if (*at == *ENTERING) {
            at = enters ? at + 1 : strchr(at, *ENTERED) + 1;
        } else if (*at == *ENTERED) {
            at++;
        } else if (*at) {
            char *end;
            const loop_site *l = loop_by_id(f, (int)strtol(at + 1, &end, 10));
            for (unsigned i = 0; i < f->sites->len && l; i++) {
                site *s = g_ptr_array_index(f->sites, i);
                if (!is_inside(s->loop, l))
                    continue;
                g_string_append_printf(out, "case %d: ", s->id);
                dispatch(f, s, l, out);
                g_string_append_c(out, ' ');
            }
            at = end + 1;
        }
    }
}

static char *struct_of(function *f, const char *what, bool memory, GHashTable *wanted)
{
    unit *u = f->unit;
    GString *fields = g_string_new(NULL);
    members all = describe_members();
    packer k = pack_new();
    for (unsigned i = 0; i < f->variables->len; i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        if (v->memory != memory || (!memory && !g_hash_table_contains(wanted, v)))
            continue;
        char *why, *type = v->wide            ? g_strdup("dome__cc_llong")
                           : v->plain_pointer ? g_strdup("dome__cc_pointer")
                                              : describe_type(u, v->type, &why);
        if (!type) {
            if (v->temporary)
                unit_refuse(u, f->decl->a, "%s: the result of a call cannot be saved: it contains %s", f->name, why);
            else
                unit_refuse(u, cursor_offset(v->cursor), "%s: the variable %s cannot be saved: it contains %s", f->name, v->name,
                            why);
            g_free(why);
            continue;
        }
        g_string_append_printf(fields, "%s; ", v->declared);
        char *offset = g_strdup_printf("__builtin_offsetof(struct dome__%s_%s, %s)", what, f->name, v->name);
        describe_add_member(&all, v->name, type, offset, v->flags);
        pack_add(u, &k, v);
        g_free(offset);
        g_free(type);
    }
    char *text = NULL;
    if (all.n) {
        text = g_strdup_printf("struct dome__%s_%s { %s};\n", what, f->name, fields->str);
        char *id = g_strdup_printf("dome__%s_%s_type", what, f->name), *shown = g_strdup_printf("%s of %s", what, f->name);
        char *ctype = g_strdup_printf("struct dome__%s_%s", what, f->name);
        describe_write_struct(u, id, shown, ctype, &all, &k);
        g_free(ctype);
        g_free(shown);
        g_free(id);
    }
    g_string_free(fields, TRUE);
    return text;
}

/* Of the source and of the places where the function can be captured, so that the image of another version is refused, also one
 * that polls elsewhere. Spaces, line numbers and literals do not count. */
static guint64 version_of(function *f)
{
    char *text = text_without_literals(text_flat(f->unit, f->decl->a, f->decl->b));
    guint64 h = text_hash_on(G_GUINT64_CONSTANT(14695981039346656037), text);
    g_free(text);
    for (unsigned i = 0; i < f->sites->len; i++) {
        const site *s = g_ptr_array_index(f->sites, i);
        h = text_hash_on(h, s->is_poll ? "poll" : s->operation ? "operation" : "call");
        for (unsigned k = 0; k < s->live->len; k++)
            h = text_hash_on(h, ((variable *)g_ptr_array_index(s->live, k))->name);
    }
    return h ? h : 1;
}

/* The parameters' type as calls have it: arrays are pointers. */
static CXType parameter_type(function *f, unsigned i, CXType written)
{
    CXType t = clang_getCanonicalType(f->decl->type);
    if ((ctype_is_array(written) || ctype_is_function(written)) && t.kind == CXType_FunctionProto)
        return clang_getArgType(t, i);
    return written;
}

/* text[top->a .. end) with the name of the function's twin, which gcc must not make one function with it again. */
static char *twin_header(unit *u, node *top, unsigned end)
{
    unsigned at = cursor_offset(top->cursor);
    GString *s = g_string_new("\n__attribute__((__no_icf__)) ");
    edit_range(u, top->a, at, NULL, s);
    g_string_append(s, TWIN_PREFIX);
    edit_range(u, at, end, NULL, s);
    return g_string_free(s, FALSE);
}

char *function_twin_declaration(unit *u, node *top, unsigned end)
{
    char *header = twin_header(u, top, end), *all = g_strdup_printf("%s;\n", header);
    g_free(header);
    return all;
}

/* The call of the twin, where the program goes on. */
static void write_again(function *f, GString *out)
{
    bool nothing = functions_returns_nothing(f), is_main = f == f->unit->main;
    int n = clang_Cursor_getNumArguments(f->decl->cursor);
    g_string_append_printf(out, "if (__builtin_expect(" IS_RESUMING ", 0)) %s" TWIN_PREFIX "%s(", nothing ? "{ " : "return ",
                           is_main ? "dome__main" : f->name);
    if (is_main && n == 0)
        g_string_append(out, "dome__argc, dome__argv");
    for (int i = 0; i < n; i++) {
        char *name = cursor_name(clang_Cursor_getArgument(f->decl->cursor, (unsigned)i));
        g_string_append_printf(out, "%s%s", i ? ", " : "", name);
        g_free(name);
    }
    g_string_append(out, nothing ? "); return; }\n" : ");\n");
}

/* The twin of a function that does not poll: its text, to be put behind it. */
char *function_plain_twin(function *f)
{
    unit *u = f->unit;
    char *file, *header = twin_header(u, f->decl, f->body->a);
    unsigned line;
    GString *body = g_string_new(NULL), *all = g_string_new("\n");
    edit_range(u, f->body->a, f->body->b, NULL, body);
    unit_place(u, f->decl->a, &file, &line);
    char *e = g_strescape(file, NULL);
    g_string_append_printf(all, "# %u \"%s\"%s", line, e, header);
    fill(f, body->str, true, true, all);
    g_free(file);
    unit_place(u, f->body->b, &file, &line);
    g_string_append_printf(all, "\n# %u \"%s\"\n", line, e);
    g_string_free(body, TRUE);
    g_free(header);
    g_free(file);
    g_free(e);
    return g_string_free(all, FALSE);
}

static bool has_label(const node *n)
{
    if (n->kind == CXCursor_LabelStmt)
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_label(node_kid(n, i)))
            return true;
    return false;
}

/* Variables in memory that have no value here get none in the image either: what is left of them may lead anywhere. Behind a
 * label, a variable may live on though its declaration has not been reached. */
static void clear_dangling(function *f, const site *s, GString *out)
{
    for (unsigned i = 0; i < f->variables->len && !has_label(f->body); i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        if (v->memory && !g_ptr_array_find(s->scope, v, NULL))
            g_string_append_printf(out, "__builtin_memset((void *)&%s, 0, sizeof(%s)); ", v->read, v->read);
    }
}

/* The parts of which a function's text is put together. */
typedef struct parts {
    GString *names;       /* copies of parameters that are called otherwise now */
    GString *copies;      /* of parameters in memory, unless the function is entered again */
    GString *resume;      /* what takes the record back */
    GString *all;         /* the text */
    char *saved, *memory; /* structs; NULL: there is none */
    const site *entry;    /* the poll at its beginning, or NULL */
    const char *linkage;  /* of its descriptor */
} parts;

static void begin(function *f)
{
    f->out = g_string_new(NULL);
    f->variables = g_ptr_array_new();
    f->live = g_ptr_array_new();
    f->sites = g_ptr_array_new();
    f->loops = g_ptr_array_new();
    f->strips.heads = g_hash_table_new(NULL, NULL);
    f->jumps = g_ptr_array_new();
    f->used = g_hash_table_new(g_str_hash, g_str_equal);
    f->by_decl = g_hash_table_new(NULL, NULL);
}

static void take_parameter_names(function *f)
{
    const int n = clang_Cursor_getNumArguments(f->decl->cursor);
    for (int i = 0; i < n; i++) {
        char *name = cursor_name(clang_Cursor_getArgument(f->decl->cursor, (unsigned)i));
        if (*name)
            g_hash_table_add(f->used, name);
        else
            g_free(name);
    }
}

static node *node_of_parameter(const function *f, CXCursor parameter)
{
    node *at = NULL;
    for (unsigned k = 0; k < f->decl->kids->len; k++)
        if (cursor_offset(node_kid(f->decl, k)->cursor) == cursor_offset(parameter))
            at = node_kid(f->decl, k);
    return at;
}

static void plan_parameter(function *f, unsigned i, parts *t)
{
    CXCursor c = clang_Cursor_getArgument(f->decl->cursor, i);
    char *name = cursor_name(c);
    node *at = node_of_parameter(f, c);
    if (*name && at) {
        variable *v = variables_new(f, at, parameter_type(f, i, at->type), true);
        v->plain_pointer = ctype_is_array(at->type);
        g_ptr_array_add(f->live, v);
        if (v->memory) {
            char *copy = ctype_assign(f->unit, v->type, v->read, name);
            g_string_append_printf(t->copies, "%s ", copy);
            g_free(copy);
        } else if (strcmp(v->name, name) != 0) {
            g_string_append_printf(t->names, "%s = %s; ", v->declared, name);
        }
    }
    g_free(name);
}

static void plan_body(function *f, parts *t)
{
    const int n = clang_Cursor_getNumArguments(f->decl->cursor);
    take_parameter_names(f); /* parameters keep their names */
    for (int i = 0; i < n; i++)
        plan_parameter(f, (unsigned)i, t);
    jump_plan(f, f->body, t->names);
    variables_plan(f, f->body);
    variables_find_uses(f, f->body);
    liveness_find(f);
    if (f->has_memory)
        variables_plan_returns(f, f->body);
}

static void make_structs(function *f, parts *t)
{
    GHashTable *wanted = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < f->sites->len; i++) {
        site *s = g_ptr_array_index(f->sites, i);
        for (unsigned k = 0; k < s->live->len; k++)
            g_hash_table_add(wanted, g_ptr_array_index(s->live, k));
    }
    t->saved = struct_of(f, "saved", false, wanted);
    t->memory = struct_of(f, "memory", true, wanted);
    g_hash_table_destroy(wanted);
}

/* An inline function that is not static may stand in several files, and any of its copies may be called: it is one. */
static void declare_descriptor(function *f, parts *t)
{
    const bool shared = clang_Cursor_isFunctionInlined(f->decl->cursor) && !strchr(f->key, ':');
    t->linkage = shared ? "__attribute__((__weak__, __visibility__(\"hidden\")))" : "static";
    g_string_append_printf(f->unit->prelude, "%s%s struct dome__cc_function dome__fn_%s;\n", shared ? "extern " : "", t->linkage,
                           f->name);
}

static void write_resume(function *f, GString *resume)
{
    g_string_append_printf(resume,
                           "const struct dome__saved_%s *dome__s = dome__cc_pop(&dome__fn_%s, &dome__point); (void)dome__s;\n",
                           f->name, f->name);
    g_string_append(resume, "switch (dome__point) {\n");
    for (unsigned i = 0; i < f->sites->len; i++) {
        site *s = g_ptr_array_index(f->sites, i);
        g_string_append_printf(resume, "case %d: ", s->id);
        for (unsigned k = 0; k < s->live->len; k++) {
            const variable *v = g_ptr_array_index(s->live, k);
            char *from = g_strdup_printf("dome__s->%s", v->name), *text = ctype_assign(f->unit, v->type, v->name, from);
            g_string_append_printf(resume, "%s ", text);
            g_free(text);
            g_free(from);
        }
        jump_write_recovery(f, resume);
        dispatch(f, s, NULL, resume);
        g_string_append_c(resume, '\n');
    }
    g_string_append(resume, "}\n");
}

static void write_variables(const function *f, GString *all)
{
    for (unsigned i = 0; i < f->variables->len; i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        if (v->memory || v->parameter)
            continue;
        bool zero = f->has_labels && !v->temporary;
        const bool braces = ctype_is_record(v->type) || ctype_is_array(v->type);
        g_string_append_printf(all, zero ? (braces ? "%s = {0};\n" : "%s = 0;\n") : "%s;\n", v->declared);
    }
}

static void write_entry_poll(const parts *t)
{
    if (t->entry)
        g_string_append_printf(t->all, "if (__builtin_expect(dome__cc_status, 0) && dome__cc_poll()) goto dome__save_%d;\n",
                               t->entry->id);
}

/* The text before the body. `enters`: the function is entered again here. */
static void write_entry(const parts *t, bool enters)
{
    if (!enters) {
        g_string_append(t->all, t->copies->str);
        write_entry_poll(t);
    } else if (t->entry && !t->copies->len) {
        g_string_append_printf(t->all,
                               "if (__builtin_expect(dome__cc_status, 0)) {\nif (" IS_RESUMING ") {\n%s}\n"
                               "if (dome__cc_poll()) goto dome__save_%d;\n}\n",
                               t->resume->str, t->entry->id);
    } else {
        g_string_append_printf(t->all, "if (__builtin_expect(" IS_RESUMING ", 0)) {\n%s}%s%s%s\n", t->resume->str,
                               t->copies->len ? " else { " : "", t->copies->str, t->copies->len ? "}" : "");
        write_entry_poll(t);
    }
}

static void write_end(function *f, const parts *t)
{
    if (t->memory)
        g_string_append_printf(t->all, "dome__cc_leave(&dome__fn_%s);\n", f->name);
    if (functions_returns_nothing(f)) {
        g_string_append(t->all, "return;\n");
    } else if (f == f->unit->main) {
        g_string_append(t->all, "return 0;\n");
    } else { /* a value is returned before, or nobody looks at it */
        write_return_dummy(f, t->all);
        g_string_append_c(t->all, '\n');
    }
}

/* The code to which the function goes when it is captured at a site. */
static void write_save(function *f, const site *s, const parts *t)
{
    if (t->saved)
        g_string_append_printf(
            t->all, "dome__save_%d: { struct dome__saved_%s *dome__s = dome__cc_push(&dome__fn_%s, %d); (void)dome__s; ", s->id,
            f->name, f->name, s->id);
    else
        g_string_append_printf(t->all, "dome__save_%d: { dome__cc_push(&dome__fn_%s, %d); ", s->id, f->name, s->id);
    for (unsigned k = 0; k < s->live->len; k++) {
        const variable *v = g_ptr_array_index(s->live, k);
        char *to = g_strdup_printf("dome__s->%s", v->name), *text = ctype_assign(f->unit, v->type, to, v->name);
        g_string_append_printf(t->all, "%s ", text);
        g_free(text);
        g_free(to);
    }
    clear_dangling(f, s, t->all);
    write_return_dummy(f, t->all);
    g_string_append(t->all, " }\n");
}

/* The function itself, or its twin. */
static void write_copy(function *f, const parts *t, bool is_twin, bool enters)
{
    if (is_twin) {
        char *header = twin_header(f->unit, f->decl, f->body->a);
        g_string_append(t->all, header);
        g_free(header);
    }
    g_string_append(t->all, "{\n");
    write_variables(f, t->all);
    g_string_append_printf(t->all, "%s\n", t->names->str);
    if (f->twins.split && !enters)
        write_again(f, t->all);
    if (t->memory)
        g_string_append_printf(t->all, "struct dome__memory_%s *const dome__m = dome__cc_enter(&dome__fn_%s);\n", f->name,
                               f->name);
    write_entry(t, enters);
    fill(f, f->out->str, enters, is_twin, t->all);
    write_end(f, t);
    for (unsigned i = 0; i < f->sites->len; i++)
        write_save(f, g_ptr_array_index(f->sites, i), t);
    g_string_append(t->all, "}\n");
}

static void write_points(const function *f)
{
    GString *points = g_string_new(NULL);
    for (unsigned i = 0; i < f->sites->len; i++) {
        char *e = g_strescape(((site *)g_ptr_array_index(f->sites, i))->place, NULL);
        g_string_append_printf(points, "\"%s\", ", e);
        g_free(e);
    }
    if (f->sites->len)
        g_string_append_printf(f->unit->tail, "static const char *const dome__points_%s[] = {%s};\n", f->name, points->str);
    g_string_free(points, TRUE);
}

static void write_descriptor(function *f, const parts *t)
{
    char *shown = g_strescape(strchr(f->key, ':') ? f->key : f->name, NULL); /* a static one with its file */
    char *s = t->saved ? g_strdup_printf("&dome__saved_%s_type", f->name) : g_strdup("0");
    char *m = t->memory ? g_strdup_printf("&dome__memory_%s_type", f->name) : g_strdup("0");
    g_string_append_printf(f->unit->tail,
                           "%s struct dome__cc_function dome__fn_%s = {\"%s\", %s, %s, %" G_GUINT64_FORMAT "ull, %s%s, %u, 0};\n",
                           t->linkage, f->name, shown, s, m, version_of(f), f->sites->len ? "dome__points_" : "0",
                           f->sites->len ? f->name : "", f->sites->len);
    g_ptr_array_add(f->unit->tables[TABLE_FUNCTIONS], g_strdup_printf("&dome__fn_%s", f->name));
    g_free(m);
    g_free(s);
    g_free(shown);
}

/* In the place of the body, with the mark of its last line. */
static void replace_body(function *f, const parts *t)
{
    char *file;
    unsigned line;
    unit_place(f->unit, f->body->b, &file, &line);
    char *e = g_strescape(file, NULL);
    g_string_append_printf(t->all, "# %u \"%s\"\n", line, e);
    edit_replace(f->unit, f->body->a, f->body->b, t->all->str);
    g_free(e);
    g_free(file);
}

static void write_whole(function *f, parts *t)
{
    const bool twice = f->twins.exists || f->twins.split;
    declare_descriptor(f, t);
    write_resume(f, t->resume);
    write_copy(f, t, false, !twice);
    if (twice)
        write_copy(f, t, true, true);
    replace_body(f, t);
    write_points(f);
    write_descriptor(f, t);
    f->out = g_string_new(t->saved);
    g_string_append(f->out, t->memory ? t->memory : ""); /* to be put before the function */
}

void function_write(program *p, function *f)
{
    parts t = {g_string_new(NULL), g_string_new(NULL), g_string_new(NULL), g_string_new(NULL), NULL, NULL, NULL, NULL};
    begin(f);
    parallel_check(p, f);
    taken_find(p, f);
    variables_find_names(f, f->decl);
    plan_body(f, &t);
    t.entry = f->recursive ? site_new(f, f->body, true) : NULL;
    statement_write_block(p, f, f->body);
    make_structs(f, &t);
    if (!f->unit->refused)
        write_whole(f, &t);
    g_string_free(t.all, TRUE);
    g_string_free(t.resume, TRUE);
    g_string_free(t.copies, TRUE);
    g_string_free(t.names, TRUE);
}
