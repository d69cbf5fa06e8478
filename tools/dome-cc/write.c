/* Functions that may poll, written anew.
 *
 * Variables whose scope contains a place where the function can be captured are declared at the function's beginning: those in
 * registers are put into the record by each such place; arrays, and those whose address is taken, live in dome__m.
 * Recovery enters a loop by its head, which every loop that contains such places has: else the compiler would see a loop with
 * two entries, and leave it as it is. */
#include "cc.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_RECORD = 64 }; /* bytes: larger structs do not live in registers */

void for_parts(unit *u, node *n, node **init, node **condition, node **step, node **body)
{
    unsigned open = text_find(u, n->a, n->b, '('); /* a parenthesis is found before it is entered */
    unsigned first = text_find(u, open + 1, n->b, ';'), second = text_find(u, first + 1, n->b, ';'), close = text_close(u, open);
    *init = *condition = *step = *body = NULL;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (kid->a >= close)
            *body = kid;
        else if (kid->a > second)
            *step = kid;
        else if (kid->a > first)
            *condition = kid;
        else
            *init = kid;
    }
}

void write_mark(function *f, node *n)
{
    char *file;
    unsigned line;
    unit_place(f->unit, n->a, &file, &line);
    char *e = g_strescape(file, NULL);
    if (f->out->len && f->out->str[f->out->len - 1] != '\n')
        g_string_append_c(f->out, '\n');
    g_string_append_printf(f->out, "# %u \"%s\"\n", line, e);
    g_free(e);
    g_free(file);
}

site *site_new(function *f, node *at, bool is_poll)
{
    site *s = g_new0(site, 1);
    char *file;
    unsigned line;
    unit_place(f->unit, at->a, &file, &line);
    s->id = (int)f->sites->len;
    s->loop = f->loops->len ? g_ptr_array_index(f->loops, f->loops->len - 1) : NULL;
    s->is_poll = is_poll;
    s->place = g_strdup_printf("%s:%u", file, line);
    s->live = g_ptr_array_new();
    s->scope = g_ptr_array_new();
    for (unsigned i = 0; i < f->live->len; i++) {
        variable *v = g_ptr_array_index(f->live, i);
        if (v->memory)
            g_ptr_array_add(s->scope, v);
        else if (!v->borrowed && live_is_needed(f, at, v))
            g_ptr_array_add(s->live, v);
    }
    g_ptr_array_add(f->sites, s);
    g_free(file);
    return s;
}

/* ---- variables ---- */

static char *new_name(function *f, const char *name)
{
    char *chosen = g_strdup(name);
    for (int k = 2; g_hash_table_contains(f->used, chosen); k++) {
        g_free(chosen);
        chosen = g_strdup_printf("%s__%d", name, k);
    }
    g_hash_table_add(f->used, chosen);
    return chosen;
}

/* "int a[const]" is a constant pointer, of which its type says nothing. */
static bool is_constant_array(unit *u, node *n)
{
    if (!type_is_array(n->type))
        return false;
    char *text = text_flat(u, n->a, n->b), *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    char *word = open ? g_strstr_len(open, close ? close - open : -1, "const") : NULL;
    const bool found = word && !g_ascii_isalnum(word[-1]) && word[-1] != '_' && !g_ascii_isalnum(word[5]) && word[5] != '_';
    g_free(text);
    return found;
}

static variable *variable_new(function *f, node *n, CXType type, bool parameter)
{
    unit *u = f->unit;
    char *name = cursor_name(n->cursor);
    variable *v = g_new0(variable, 1);
    v->source = g_strdup(name);
    v->type = type;
    v->cursor = n->cursor;
    v->parameter = parameter;
    long long size = type_is_record(type) ? type_image_size(type) : 0;
    v->memory = type_is_array(type) || declares_taken(f, n->cursor) ||
                clang_isVolatileQualifiedType(clang_getCanonicalType(type)) || size > LARGE_RECORD;
    v->borrowed = g_hash_table_contains(f->borrowed, GUINT_TO_POINTER(cursor_offset(n->cursor)));
    if (v->borrowed && !parameter)
        v->memory = false;
    bool keeps = parameter && !v->memory && !clang_isConstQualifiedType(clang_getCanonicalType(type)) && !is_constant_array(u, n);
    v->name = keeps ? g_strdup(name) : new_name(f, name);
    v->read = v->memory ? g_strdup_printf("dome__m->%s", v->name) : v->name;
    char *file;
    unit_place(u, n->a, &file, &v->line);
    v->file = file;
    if (type_is_variable(type))
        unit_refuse(
            u, n->a,
            "%s: the variable %s has a variable length, and the function may poll: use malloc, or #pragma dome hold before "
            "the function",
            f->name, name);
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (kid->kind >= CXCursor_FirstAttr && kid->kind <= CXCursor_LastAttr) {
            char *text = text_flat(u, kid->a, kid->b);
            if (!strstr(text, "unused"))
                unit_refuse(u, n->a, "%s: the variable %s has the attribute \"%s\", and the function may poll", f->name, name,
                            text);
            g_free(text);
        }
    }
    if (!parameter && !v->memory && strcmp(v->name, name) != 0) {
        unsigned at = cursor_offset(n->cursor); /* copies of the declaration: write_loop */
        edit_replace(u, at, at + (unsigned)strlen(name), v->name);
    }
    v->declared = type_declare(u, type, v->name, true);
    v->flags = flags_before(u, n->a);
    g_hash_table_insert(f->by_decl, GUINT_TO_POINTER(cursor_offset(n->cursor)), v);
    g_ptr_array_add(f->variables, v);
    f->has_memory = f->has_memory || v->memory;
    g_free(name);
    return v;
}

static bool is_plain_declaration(const node *kid)
{
    return kid->kind == CXCursor_VarDecl && !clang_Cursor_hasVarDeclGlobalStorage(kid->cursor);
}

static void plan_declaration(function *f, node *n)
{
    for (unsigned i = 0; i < n->kids->len; i++)
        if (is_plain_declaration(node_kid(n, i)))
            variable_new(f, node_kid(n, i), node_kid(n, i)->type, false);
}

/* Whether the step or condition of a loop stands at its end, and "continue" must go there. */
static bool has_tail(unit *u, node *n)
{
    if (n->kind == CXCursor_DoStmt)
        return node_kid(n, 1)->polls;
    node *init, *condition, *step, *body;
    if (n->kind != CXCursor_ForStmt)
        return false;
    for_parts(u, n, &init, &condition, &step, &body);
    return step && step->polls;
}

static void plan_continues(function *f, node *n, int tail)
{
    if (n->kind == CXCursor_ContinueStmt) {
        char *go = g_strdup_printf("goto dome__next_%d", tail);
        edit_replace(f->unit, n->a, n->b, go);
        g_free(go);
    }
    if (node_is_loop(n))
        return;
    for (unsigned i = 0; i < n->kids->len; i++)
        plan_continues(f, node_kid(n, i), tail);
}

static char *tail_key(function *f, node *n)
{
    return g_hash_table_lookup(f->unit->renamed, GUINT_TO_POINTER(n->a));
}

/* What will be declared at the beginning; goes where write_statement goes. */
static void plan(function *f, node *n)
{
    if (!n->polls && n != f->body) /* the body is written by statements also where only its beginning polls */
        return;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (kid->kind == CXCursor_DeclStmt && (n->kind == CXCursor_CompoundStmt || n->kind == CXCursor_ForStmt))
            plan_declaration(f, kid);
    }
    if (node_is_loop(n) && has_tail(f->unit, n)) {
        int tail = ++f->continues;
        g_hash_table_insert(f->unit->renamed, GUINT_TO_POINTER(n->a), g_strdup_printf("%d", tail));
        for (unsigned i = 0; i < n->kids->len; i++)
            plan_continues(f, node_kid(n, i), tail);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        plan(f, node_kid(n, i));
}

/* Names of the file's scope that the function uses: its variables must not hide them. */
static void plan_names(function *f, node *n)
{
    if (n->kind == CXCursor_DeclRefExpr || n->kind == CXCursor_TypeRef) {
        CXCursor d = node_declaration(n);
        CXCursor parent = clang_getCursorSemanticParent(d);
        const bool tag = d.kind == CXCursor_StructDecl || d.kind == CXCursor_UnionDecl || d.kind == CXCursor_EnumDecl;
        if ((parent.kind != CXCursor_FunctionDecl && !tag) || d.kind == CXCursor_TypedefDecl ||
            d.kind == CXCursor_EnumConstantDecl)
            g_hash_table_add(f->used, cursor_name(d));
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        plan_names(f, node_kid(n, i));
}

static void plan_uses(function *f, node *n)
{
    f->has_labels = f->has_labels || n->kind == CXCursor_LabelStmt || n->kind == CXCursor_SwitchStmt;
    if (n->kind == CXCursor_IndirectGotoStmt || n->kind == CXCursor_AddrLabelExpr)
        unit_refuse(f->unit, n->a, "%s: the address of a label, and the function may poll", f->name);
    if (n->kind == CXCursor_DeclRefExpr) {
        variable *v = g_hash_table_lookup(f->by_decl, GUINT_TO_POINTER(cursor_offset(node_declaration(n))));
        if (v) {
            char *name = cursor_name(v->cursor);
            if (strcmp(v->read, name) != 0)
                edit_replace(f->unit, n->a, n->b, v->read);
            g_free(name);
        }
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        plan_uses(f, node_kid(n, i));
}

/* ---- return ---- */

static CXType result_type(function *f)
{
    return clang_getResultType(f->decl->type);
}

static bool returns_nothing(function *f)
{
    return clang_getCanonicalType(result_type(f)).kind == CXType_Void;
}

/* In functions with memory: { T dome__r = value; leave; return dome__r; } */
static void plan_returns(function *f, node *n)
{
    if (n->kind == CXCursor_ReturnStmt) {
        unit *u = f->unit;
        unsigned end = text_skip(u, n->b);
        char *leave = g_strdup_printf("dome__cc_leave(&dome__fn_%s);", f->name);
        bool nothing = returns_nothing(f);
        if (nothing) {
            edit_replace(u, n->a, n->a + 6, n->kids->len ? "{" : "{ ");
            char *after = g_strdup_printf("; %s return; }", leave);
            edit_replace(u, end, end + 1, after);
            g_free(after);
        } else {
            char *t = type_declare(u, result_type(f), "dome__r", true), *before = g_strdup_printf("{ %s = ", t);
            char *after = g_strdup_printf("; %s return dome__r; }", leave);
            edit_replace(u, n->a, n->a + 6, before);
            edit_replace(u, end, end + 1, after);
            g_free(after);
            g_free(before);
            g_free(t);
        }
        g_free(leave);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        plan_returns(f, node_kid(n, i));
}

static void write_return(program *p, function *f, node *n)
{
    node *value = node_kid(n, 0);
    unsigned level = f->live->len;
    if (returns_nothing(f)) {
        if (value)
            lower_discarded(p, f, value);
        write_mark(f, n);
        if (f->has_memory)
            g_string_append_printf(f->out, "dome__cc_leave(&dome__fn_%s); ", f->name);
        g_string_append(f->out, "return;\n");
    } else {
        lower(p, f, value);
        char *text = node_text(f->unit, value);
        write_mark(f, n);
        if (f->has_memory) {
            char *t = type_declare(f->unit, result_type(f), "dome__r", true);
            g_string_append_printf(f->out, "{ %s = %s; dome__cc_leave(&dome__fn_%s); return dome__r; }\n", t, text, f->name);
            g_free(t);
        } else {
            g_string_append_printf(f->out, "return %s;\n", text);
        }
        g_free(text);
    }
    live_cut(f, level);
}

/* ---- declarations ---- */

static node *initialiser(node *n)
{
    CXCursor c = clang_Cursor_getVarDeclInitializer(n->cursor);
    if (cursor_is_null(c))
        return NULL;
    CXSourceRange r = clang_getCursorExtent(c);
    unsigned a, b;
    clang_getFileLocation(clang_getRangeStart(r), NULL, NULL, NULL, &a);
    clang_getFileLocation(clang_getRangeEnd(r), NULL, NULL, NULL, &b);
    for (unsigned i = n->kids->len; i-- > 0;) {
        node *kid = node_kid(n, i);
        if (kid->a == a && kid->b == b && node_is_expression(kid))
            return kid;
    }
    return NULL;
}

static bool all_zero(node *n)
{
    return n->kids->len == 0 ||
           (n->kids->len == 1 && node_kid(n, 0)->kind == CXCursor_IntegerLiteral && node_kid(n, 0)->b - node_kid(n, 0)->a == 1);
}

static void write_variable(program *p, function *f, node *n)
{
    unit *u = f->unit;
    variable *v = g_hash_table_lookup(f->by_decl, GUINT_TO_POINTER(cursor_offset(n->cursor)));
    node *init = initialiser(n);
    if (!init && !cursor_is_null(clang_Cursor_getVarDeclInitializer(n->cursor)))
        unit_refuse(u, n->a, "%s: the initial value of %s is not understood", f->name, v->name);
    char *type = type_name(u, v->type);
    if (v->memory) /* its initial value may lead to it */
        g_ptr_array_add(f->live, v);
    unsigned level = f->live->len;
    if (!init) {
        write_mark(f, n);
        char *zero = type_is_record(v->type) ? g_strdup_printf("(%s){0}", type) : g_strdup("0");
        if (!v->memory && !type_is_array(v->type))
            write_assignment(f, v, zero);
        g_free(zero);
    } else if (init->kind == CXCursor_InitListExpr ||
               (type_is_array(v->type) && node_bare(init)->kind == CXCursor_StringLiteral)) {
        bool list = init->kind == CXCursor_InitListExpr, array = type_is_array(v->type);
        char *flat = text_flat(u, init->a, init->b);
        bool zero = list && all_zero(init) && (flat[1] == '}' || flat[1] == '0' || (flat[1] == ' ' && flat[2] == '0'));
        g_free(flat);
        lower(p, f, init);
        char *text = node_text(u, init);
        write_mark(f, n);
        if (array && zero)
            g_string_append_printf(f->out, "__builtin_memset(%s, 0, sizeof(%s));\n", v->read, v->read);
        else if (array)
            g_string_append_printf(
                f->out, list ? "__builtin_memcpy(%s, (%s)%s, sizeof(%s));\n" : "__builtin_memcpy(%s, (%s){%s}, sizeof(%s));\n",
                v->read, type, text, v->read);
        else {
            char *value = g_strdup_printf("(%s)%s", type, text);
            write_assignment(f, v, value);
            g_free(value);
        }
        g_free(text);
    } else {
        lower_assign(p, f, v, init);
    }
    live_cut(f, level);
    if (!v->memory)
        g_ptr_array_add(f->live, v);
    g_free(type);
}

static void write_declaration(program *p, function *f, node *n)
{
    bool plain = false, other = false;
    for (unsigned i = 0; i < n->kids->len; i++) {
        if (is_plain_declaration(node_kid(n, i)))
            plain = true;
        else
            other = true;
    }
    if (!plain && other) { /* a type, a static, a declaration of what is elsewhere */
        write_mark(f, n);
        edit_range(f->unit, n->a, n->b, NULL, f->out);
        g_string_append_c(f->out, '\n');
        return;
    }
    for (unsigned i = 0; i < n->kids->len; i++) {
        if (is_plain_declaration(node_kid(n, i)))
            write_variable(p, f, node_kid(n, i));
        else if (node_kid(n, i)->kind == CXCursor_FunctionDecl)
            unit_refuse(f->unit, n->a, "%s: a function and a variable in one declaration, and the function may poll", f->name);
    }
}

/* ---- loops ---- */

/* Text that is known when all places are: what recovery does at a loop's head. */
#define DISPATCH "\001%d\002"

static loop_site *loop_begin(function *f)
{
    loop_site *l = g_new0(loop_site, 1);
    l->id = ++f->temporaries;
    l->outer = f->loops->len ? g_ptr_array_index(f->loops, f->loops->len - 1) : NULL;
    g_ptr_array_add(f->loops, l);
    return l;
}

static void loop_end(function *f)
{
    g_ptr_array_set_size(f->loops, (int)f->loops->len - 1);
}

static void write_head(function *f, node *n, loop_site *l, bool polls)
{
    write_mark(f, n);
    g_string_append_printf(f->out, "dome__loop_%d: ; ", l->id);
    if (polls) {
        site *s = site_new(f, n, true);
        g_string_append_printf(f->out,
                               "if (__builtin_expect(dome__cc_status, 0)) { " ENTERING "if (" IS_RESUMING
                               ") switch (dome__point) { " DISPATCH "} " ENTERED "if (dome__cc_poll()) goto dome__save_%d; }\n",
                               l->id, s->id);
    } else {
        g_string_append_printf(
            f->out, ENTERING "if (__builtin_expect(" IS_RESUMING ", 0)) switch (dome__point) { " DISPATCH "}" ENTERED "\n",
            l->id);
    }
}

static void write_inner(program *p, function *f, node *n)
{
    unsigned level = f->live->len;
    g_string_append(f->out, "{\n");
    write_statement(p, f, n);
    g_string_append(f->out, "}\n");
    live_cut(f, level);
}

/* Leaves the loop unless the condition holds. */
static void write_test(program *p, function *f, node *condition)
{
    unsigned level = f->live->len;
    lower(p, f, condition);
    char *text = node_text(f->unit, condition);
    write_mark(f, condition);
    g_string_append_printf(f->out, "if (!(%s)) break;\n", text);
    g_free(text);
    live_cut(f, level);
}

/* The statement that is a loop's body, as it was written. */
static void write_body(function *f, node *body)
{
    unit *u = f->unit;
    unsigned end = text_skip(u, body->b);
    write_mark(f, body);
    edit_range(u, body->a, end < u->length && u->original[end] == ';' ? end + 1 : body->b, NULL, f->out);
    g_string_append_c(f->out, '\n');
}

/* "{ T dome__to = ...; for (; i < dome__to; i++) {" for at most `most` iterations, an expression. The body and two braces must
 * follow. Returns what holds until the strip's end. */
static char *begin_counted_strip(function *f, node *n, node *step, const char *most)
{
    unit *u = f->unit;
    node *i, *bound;
    char *o;
    strip_parts(u, n, &i, &bound, &o);
    char *type = type_name(u, clang_getCursorType(node_declaration(i))), *x = node_text(u, i), *to = node_text(u, bound);
    char *end = g_strdup_printf("(%s)(%s)", type, to), *next = node_text(u, step);
    bool up = *o == '<';
    write_mark(f, n);
    g_string_append_printf(f->out,
                           "{ %s dome__to = (unsigned long long)%s - (unsigned long long)%s > %s ? (%s)(%s %c %s) : %s;\nfor (; "
                           "%s %s dome__to; %s) {\n",
                           type, up ? end : x, up ? x : end, most, type, x, up ? '+' : '-', most, end, x, o, next);
    char *inside = g_strdup_printf("%s %s dome__to", x, o);
    g_free(next);
    g_free(end);
    g_free(to);
    g_free(x);
    g_free(type);
    g_free(o);
    return inside;
}

enum { UNROLLED = 4 }; /* iterations of small loops, for one test whether they poll */

/* At most l->stride iterations without a poll, of which none can be captured inside. `leave`: what follows the loop's end,
 * the label `end`. */
static void write_strip(function *f, node *n, const loop_plan *l, const char *leave, const char *end)
{
    unit *u = f->unit;
    node *init, *condition, *step = NULL, *body;
    if (n->kind == CXCursor_ForStmt) {
        for_parts(u, n, &init, &condition, &step, &body);
    } else {
        condition = node_kid(n, n->kind == CXCursor_DoStmt ? 1 : 0);
        body = node_kid(n, n->kind == CXCursor_DoStmt ? 0 : 1);
    }
    char *test = condition ? node_text(u, condition) : g_strdup("1"), *next = step ? node_text(u, step) : g_strdup("");
    write_mark(f, condition ? condition : n);
    if (l->class == LOOP_STRIP) {
        char *most = g_strdup_printf("%u", l->stride);
        g_string_append_printf(f->out, "if (!(%s)) %s;\n", test, leave);
        char *inside = begin_counted_strip(f, n, step, most);
        write_body(f, body);
        g_string_append(f->out, "}\n");
        if (l->breaks)
            g_string_append_printf(f->out, "if (%s) %s;\n", inside, leave);
        g_string_append_printf(f->out, "if (!(%s)) %s;\n}\n", test, leave);
        g_free(inside);
        g_free(most);
    } else if (l->class == LOOP_BITS) {
        char *v = node_text(u, summary_counted(u, n));
        const unsigned together =
            l->unrolled ? UNROLLED : 1; /* the variable passes each multiple of the stride once in so many */
        /* The test stands behind the body, as compilers turn loops: what does not change is then computed before the loop. */
        g_string_append_printf(f->out, "if (!(%s)) goto %s;\nfor (;;) {\n", test, end);
        for (unsigned k = 0; k < together; k++) {
            if (k)
                g_string_append_printf(f->out, "if (!(%s)) goto %s;\n", test, end);
            write_body(f, body);
            g_string_append_printf(f->out, "%s;\n", next);
        }
        g_string_append_printf(f->out, "if (__builtin_expect((%s & %u) < %u, 0)) break;\nif (!(%s)) goto %s;\n}\n", v,
                               l->stride - 1, together, test, end);
        g_free(v);
    } else if (n->kind == CXCursor_DoStmt) {
        g_string_append_printf(f->out, "{ unsigned dome__k = %u; for (; dome__k; dome__k--) {\n", l->stride);
        write_body(f, body);
        g_string_append_printf(f->out, "if (!(%s)) break;\n}\nif (dome__k) %s;\n}\n", test, leave);
    } else {
        g_string_append_printf(f->out, "{ unsigned dome__k = %u; for (; dome__k; dome__k--%s%s) {\nif (!(%s)) break;\n",
                               l->stride, *next ? ", " : "", next, test);
        write_body(f, body);
        g_string_append_printf(f->out, "}\nif (dome__k) %s;\n}\n", leave);
    }
    g_free(next);
    g_free(test);
}

/* A counted loop as it was written, if it will have at most so many iterations; then "else". */
static void write_if_few(function *f, node *n, unsigned few)
{
    unit *u = f->unit;
    node *i, *bound, *init, *condition, *step, *body;
    char *o;
    strip_parts(u, n, &i, &bound, &o);
    for_parts(u, n, &init, &condition, &step, &body);
    char *type = type_name(u, clang_getCursorType(node_declaration(i))), *x = node_text(u, i), *to = node_text(u, bound);
    char *end = g_strdup_printf("(%s)(%s)", type, to), *test = node_text(u, condition), *next = node_text(u, step);
    bool up = *o == '<';
    /* No wider than the counter: loops inside of others are entered very often. */
    const char *wide = clang_Type_getSizeOf(clang_getCursorType(node_declaration(i))) <= 4 ? "unsigned" : "unsigned long long";
    write_mark(f, n);
    g_string_append_printf(f->out, "if ((%s)%s - (%s)%s <= %u) {\nfor (; %s; %s)\n", wide, up ? end : x, wide, up ? x : end, few,
                           test, next);
    write_body(f, body);
    g_string_append(f->out, "} else\n");
    g_free(next);
    g_free(test);
    g_free(end);
    g_free(to);
    g_free(x);
    g_free(type);
    g_free(o);
}

static void write_init(program *p, function *f, node *n)
{
    node *init, *condition, *step, *body;
    for_parts(f->unit, n, &init, &condition, &step, &body);
    if (init && init->kind == CXCursor_DeclStmt)
        write_declaration(p, f, init);
    else if (init)
        lower_discarded(p, f, init);
}

/* A loop inside of which the function cannot be captured polls after each strip. `often`: it may be entered often, and is then
 * left before the first poll if it has few iterations. */
static void write_strips(program *p, function *f, node *n, const loop_plan *plan, bool often)
{
    const bool copies = summary_may_copy(p, f->unit, n);
    loop_plan own = *plan, *const l = &own;
    own.unrolled = plan->unrolled && copies;
    often = often && plan->twice && copies;
    loop_site *site = loop_begin(f);
    g_hash_table_insert(f->heads, n, GINT_TO_POINTER(site->id));
    char *end = g_strdup_printf("dome__end_%d", site->id), *leave = g_strdup_printf("goto %s", end);
    bool first = often && l->class != LOOP_STRIP;
    if (often && l->class == LOOP_STRIP)
        write_if_few(f, n, l->few);
    if (first)
        write_strip(f, n, l, leave, end);
    g_string_append(f->out, "for (;;) {\n");
    write_head(f, n, site, true);
    write_strip(f, n, l, "break", end);
    g_string_append(f->out, "}\n");
    g_string_append_printf(f->out, "%s: ;\n", end);
    loop_end(f);
    g_free(leave);
    g_free(end);
}

enum { MOST_TOGETHER = 256 }; /* iterations: their work may grow */

/* Of a nest: as many iterations as are little work, as they were written; then the next poll. Else this one goes on below. */
static void write_nest_strip(function *f, node *n, const loop_plan *l, const loop_site *site, const char *work)
{
    node *init, *condition, *step, *body;
    for_parts(f->unit, n, &init, &condition, &step, &body);
    g_string_append_printf(
        f->out,
        "{ double dome__w = %s; if (dome__w < %d) { unsigned long long dome__n = dome__w * %d < %d ? %d : %d / "
        "dome__w;\n",
        work, strip_work, MOST_TOGETHER, strip_work, MOST_TOGETHER, strip_work);
    char *inside = begin_counted_strip(f, n, step, "dome__n");
    write_body(f, body);
    g_string_append(f->out, "}\n");
    if (l->breaks)
        g_string_append_printf(f->out, "if (%s) break;\n", inside);
    g_string_append_printf(f->out, "}\ngoto dome__loop_%d; } }\n", site->id);
    g_free(inside);
}

enum { CHECKED_TOGETHER = 128 }; /* iterations of a nest whose work shows inside of it alone */

/* Of a nest whose inner loops show how long they are when they begin: some iterations in which those are short; then the next
 * poll. One that is not short is entered where it polls, in the nest's text below. */
static void write_checked_strip(program *p, function *f, node *n, const loop_plan *l, const loop_site *site)
{
    node *init, *condition, *step, *body;
    for_parts(f->unit, n, &init, &condition, &step, &body);
    char *most = g_strdup_printf("%d", CHECKED_TOGETHER), *inside = begin_counted_strip(f, n, step, most);
    f->checks = true;
    write_inner(p, f, body);
    f->checks = false;
    g_string_append(f->out, "}\n");
    if (l->breaks)
        g_string_append_printf(f->out, "if (%s) break;\n", inside);
    g_string_append_printf(f->out, "}\ngoto dome__loop_%d;\n", site->id);
    g_free(inside);
    g_free(most);
}

static void write_checked_loop(program *p, function *f, node *n)
{
    unsigned level = f->live->len;
    write_init(p, f, n);
    write_if_few(f, n, summary_loop(f->unit, n)->few / CHECKED_TOGETHER);
    g_string_append_printf(f->out, "goto dome__loop_%d;\n", GPOINTER_TO_INT(g_hash_table_lookup(f->heads, n)));
    live_cut(f, level);
}

static void write_polled_loop(program *p, function *f, node *n, bool often)
{
    unit *u = f->unit;
    const loop_plan *plan = summary_loop(u, n);
    bool polls = plan->class != LOOP_FREE;
    char *tail = tail_key(f, n), *work = NULL;
    unsigned level = f->live->len;
    if (n->kind == CXCursor_ForStmt) {
        node *init, *condition, *step, *body;
        for_parts(u, n, &init, &condition, &step, &body);
        write_init(p, f, n);
        bool copies = summary_may_copy(p, u, n);
        bool strips = !body->polls && !(condition && condition->polls) && !(step && step->polls);
        if (strips && (plan->class == LOOP_STRIP || plan->class == LOOP_COUNTDOWN || plan->class == LOOP_BITS)) {
            write_strips(p, f, n, plan, often);
            live_cut(f, level);
            return;
        }
        bool cuts = plan->nest && !tail && copies;
        if (cuts && summary_least_work(p, u, body) < strip_work)
            work = summary_work(p, u, body);
        bool checks = cuts && !work && !f->in_nest && summary_least_work(p, u, body) * CHECKED_TOGETHER < strip_work &&
                      summary_is_checked(p, u, body, CHECKED_TOGETHER);
        char *next = step && !tail ? node_text(u, step) : g_strdup("");
        write_mark(f, n);
        g_string_append_printf(f->out, "for (;; %s) {\n", next);
        g_free(next);
        loop_site *l = loop_begin(f);
        write_head(f, n, l, polls);
        if (condition)
            write_test(p, f, condition);
        if (work)
            write_nest_strip(f, n, plan, l, work);
        GString *out = f->out, *whole = g_string_new(NULL);
        f->out = whole;
        f->in_nest += work || checks;
        write_inner(p, f, body);
        f->in_nest -= work || checks;
        f->out = out;
        if (checks)
            write_checked_strip(p, f, n, plan, l);
        g_string_append(out, whole->str);
        g_string_free(whole, TRUE);
        if (tail) {
            g_string_append_printf(f->out, "dome__next_%s: ;\n", tail);
            lower_discarded(p, f, step);
        }
    } else if ((plan->class == LOOP_COUNTDOWN || plan->class == LOOP_BITS) && !node_kid(n, 0)->polls && !node_kid(n, 1)->polls) {
        write_strips(p, f, n, plan, often);
        live_cut(f, level);
        return;
    } else if (n->kind == CXCursor_WhileStmt) {
        g_string_append(f->out, "for (;;) {\n");
        write_head(f, n, loop_begin(f), polls);
        write_test(p, f, node_kid(n, 0));
        write_inner(p, f, node_kid(n, 1));
    } else {
        node *body = node_kid(n, 0), *condition = node_kid(n, 1);
        g_string_append(f->out, tail ? "for (;;) {\n" : "do {\n");
        write_head(f, n, loop_begin(f), polls);
        write_inner(p, f, body);
        if (tail) {
            g_string_append_printf(f->out, "dome__next_%s: ;\n", tail);
            write_test(p, f, condition);
        } else {
            char *text = node_text(u, condition);
            write_mark(f, condition);
            g_string_append_printf(f->out, "} while (%s);\n", text);
            g_free(text);
        }
    }
    if (!(n->kind == CXCursor_DoStmt && !tail))
        g_string_append(f->out, "}\n");
    loop_end(f);
    live_cut(f, level);
    g_free(work);
}

enum { SHORT_BESIDE_POLL = 50 }; /* iterations of more than so much of a strip's work may as well poll */

/* A nest that will have few iterations runs as it was written: what the compiler does with whole nests is then not lost. */
static void write_loop(program *p, function *f, node *n)
{
    if (f->checks) {
        write_checked_loop(p, f, n);
        return;
    }
    const loop_plan *l = summary_loop(f->unit, n);
    bool worth = !f->in_nest && l->class != LOOP_STRIP && summary_may_copy(p, f->unit, n) &&
                 summary_least_work(p, f->unit, n) < strip_work / SHORT_BESIDE_POLL;
    char *few = worth ? summary_short_nest(p, f->unit, n) : NULL;
    if (few) {
        unsigned end = text_skip(f->unit, n->b);
        write_mark(f, n);
        g_string_append_printf(f->out, "if (%s) {\n", few);
        write_mark(f, n);
        edit_range(f->unit, n->a, end < f->unit->length && f->unit->original[end] == ';' ? end + 1 : n->b, NULL, f->out);
        g_string_append(f->out, "\n} else {\n");
    }
    write_polled_loop(p, f, n, !few && !f->in_nest);
    if (few)
        g_string_append(f->out, "}\n");
    g_free(few);
}

/* ---- statements ---- */

void write_block(program *p, function *f, node *n)
{
    unsigned level = f->live->len;
    g_string_append(f->out, "{\n");
    for (unsigned i = 0; i < n->kids->len; i++)
        write_statement(p, f, node_kid(n, i));
    g_string_append(f->out, "}\n");
    live_cut(f, level);
}

void write_statement(program *p, function *f, node *n)
{
    unit *u = f->unit;
    if (n->kind == CXCursor_DeclStmt) {
        write_declaration(p, f, n);
        return;
    }
    if (!n->polls) {
        unsigned end = text_skip(u, n->b);
        write_mark(f, n);
        edit_range(u, n->a, end < u->length && u->original[end] == ';' ? end + 1 : n->b, NULL, f->out);
        g_string_append_c(f->out, '\n');
        return;
    }
    unsigned level = f->live->len;
    switch ((int)n->kind) {
    case CXCursor_CompoundStmt:
        write_block(p, f, n);
        return;
    case CXCursor_IfStmt: {
        lower(p, f, node_kid(n, 0));
        char *text = node_text(u, node_kid(n, 0));
        live_cut(f, level);
        write_mark(f, n);
        g_string_append_printf(f->out, "if (%s)\n", text);
        g_free(text);
        write_inner(p, f, node_kid(n, 1));
        if (n->kids->len > 2) {
            g_string_append(f->out, "else\n");
            write_inner(p, f, node_kid(n, 2));
        }
        return;
    }
    case CXCursor_SwitchStmt: {
        lower(p, f, node_kid(n, 0));
        char *text = node_text(u, node_kid(n, 0));
        live_cut(f, level);
        write_mark(f, n);
        g_string_append_printf(f->out, "switch (%s)\n", text);
        g_free(text);
        write_inner(p, f, node_kid(n, 1));
        return;
    }
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
        write_loop(p, f, n);
        return;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt: {
        node *inner = node_kid(n, n->kids->len - 1);
        write_mark(f, n);
        edit_range(u, n->a, inner->a, NULL, f->out);
        g_string_append(f->out, " ;\n");
        write_statement(p, f, inner);
        return;
    }
    case CXCursor_ReturnStmt:
        write_return(p, f, n);
        return;
    default:
        break;
    }
    if (node_is_expression(n)) {
        lower_discarded(p, f, n);
        return;
    }
    unit_refuse(u, n->a, "%s: this statement calls a function that may poll, and is not understood", f->name);
}

/* ---- the whole function ---- */

static void write_return_dummy(function *f, GString *out)
{
    if (returns_nothing(f)) {
        g_string_append(out, "return;");
        return;
    }
    char *t = type_name(f->unit, result_type(f));
    g_string_append_printf(out, type_is_record(result_type(f)) ? "return (%s){0};" : "return (%s)0;", t);
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
    members all = members_new();
    packer k = packer_new();
    for (unsigned i = 0; i < f->variables->len; i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        if (v->memory != memory || (!memory && !g_hash_table_contains(wanted, v)))
            continue;
        char *why, *type = v->wide            ? g_strdup("dome__cc_llong")
                           : v->plain_pointer ? g_strdup("dome__cc_pointer")
                                              : type_describe(u, v->type, &why);
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
        members_add(&all, v->name, type, offset, v->flags);
        packer_add(u, &k, v);
        g_free(offset);
        g_free(type);
    }
    char *text = NULL;
    if (all.n) {
        text = g_strdup_printf("struct dome__%s_%s { %s};\n", what, f->name, fields->str);
        char *id = g_strdup_printf("dome__%s_%s_type", what, f->name), *shown = g_strdup_printf("%s of %s", what, f->name);
        char *ctype = g_strdup_printf("struct dome__%s_%s", what, f->name);
        type_write_struct(u, id, shown, ctype, &all, &k);
        g_free(ctype);
        g_free(shown);
        g_free(id);
    }
    g_string_free(fields, TRUE);
    return text;
}

/* Without numbers and strings: those that macros of headers leave (UINTPTR_MAX, PRId64) differ between machines. */
char *text_without_literals(char *text)
{
    char *to = text, before = ' ';
    for (char *at = text; *at;) {
        if (*at == '\'') { /* a character, which may be a quote */
            do {
                if (*at == '\\' && at[1])
                    *to++ = *at++;
                *to++ = *at++;
            } while (*at && *at != '\'');
            if (*at)
                *to++ = *at++;
        } else if (*at == '"') {
            for (at++; *at && *at != '"'; at += *at == '\\' && at[1] ? 2 : 1)
                ;
            at += *at != '\0';
        } else if (g_ascii_isdigit(*at) && !g_ascii_isalnum(before) && before != '_') {
            while (g_ascii_isalnum(*at) || *at == '.' || ((*at == '+' || *at == '-') && strchr("eEpP", at[-1])))
                at++;
        } else {
            before = *to++ = *at++;
            continue;
        }
        before = ' ';
    }
    *to = '\0';
    return text;
}

/* Of the source and of the places where the function can be captured, so that the image of another version is refused, also one
 * that polls elsewhere. Spaces, line numbers and literals do not count. */
static guint64 version_of(function *f)
{
    char *text = text_without_literals(text_flat(f->unit, f->decl->a, f->decl->b));
    guint64 h = hash_on(G_GUINT64_CONSTANT(14695981039346656037), text);
    g_free(text);
    for (unsigned i = 0; i < f->sites->len; i++) {
        const site *s = g_ptr_array_index(f->sites, i);
        h = hash_on(h, s->is_poll ? "poll" : s->operation ? "operation" : "call");
        for (unsigned k = 0; k < s->live->len; k++)
            h = hash_on(h, ((variable *)g_ptr_array_index(s->live, k))->name);
    }
    return h ? h : 1;
}

/* The parameters' type as calls have it: arrays are pointers. */
static CXType parameter_type(function *f, unsigned i, CXType written)
{
    CXType t = clang_getCanonicalType(f->decl->type);
    if ((type_is_array(written) || type_is_function(written)) && t.kind == CXType_FunctionProto)
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

char *write_twin_declaration(unit *u, node *top, unsigned end)
{
    char *header = twin_header(u, top, end), *all = g_strdup_printf("%s;\n", header);
    g_free(header);
    return all;
}

/* The call of the twin, where the program goes on. */
static void write_again(function *f, GString *out)
{
    bool nothing = returns_nothing(f), is_main = f == f->unit->main;
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
char *write_plain_twin(function *f)
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
static void clear_gone(function *f, const site *s, GString *out)
{
    for (unsigned i = 0; i < f->variables->len && !has_label(f->body); i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        if (v->memory && !g_ptr_array_find(s->scope, v, NULL))
            g_string_append_printf(out, "__builtin_memset((void *)&%s, 0, sizeof(%s)); ", v->read, v->read);
    }
}

void write_function(program *p, function *f)
{
    unit *u = f->unit;
    f->out = g_string_new(NULL);
    f->variables = g_ptr_array_new();
    f->live = g_ptr_array_new();
    f->sites = g_ptr_array_new();
    f->loops = g_ptr_array_new();
    f->heads = g_hash_table_new(NULL, NULL);
    f->jumps = g_ptr_array_new();
    f->used = g_hash_table_new(g_str_hash, g_str_equal);
    f->by_decl = g_hash_table_new(NULL, NULL);
    parallel_check(p, f);
    summary_mark(p, f);
    plan_names(f, f->decl);
    GString *copies = g_string_new(NULL), *names = g_string_new(NULL);
    /* parameters keep their names */
    int n = clang_Cursor_getNumArguments(f->decl->cursor);
    for (int i = 0; i < n; i++) {
        CXCursor c = clang_Cursor_getArgument(f->decl->cursor, (unsigned)i);
        char *name = cursor_name(c);
        if (*name)
            g_hash_table_add(f->used, g_strdup(name));
        g_free(name);
    }
    for (int i = 0; i < n; i++) {
        CXCursor c = clang_Cursor_getArgument(f->decl->cursor, (unsigned)i);
        char *name = cursor_name(c);
        node *at = NULL;
        for (unsigned k = 0; k < f->decl->kids->len; k++)
            if (cursor_offset(node_kid(f->decl, k)->cursor) == cursor_offset(c))
                at = node_kid(f->decl, k);
        if (!*name || !at) {
            g_free(name);
            continue;
        }
        variable *v = variable_new(f, at, parameter_type(f, (unsigned)i, at->type), true);
        v->plain_pointer = type_is_array(at->type);
        g_ptr_array_add(f->live, v);
        if (v->memory) {
            char *copy = type_assign(u, v->type, v->read, name);
            g_string_append_printf(copies, "%s ", copy);
            g_free(copy);
        } else if (strcmp(v->name, name) != 0)
            g_string_append_printf(names, "%s = %s; ", v->declared, name);
        g_free(name);
    }
    jump_plan(f, f->body, names);
    plan(f, f->body);
    plan_uses(f, f->body);
    live_find(f);
    if (f->has_memory)
        plan_returns(f, f->body);
    site *entry = f->recursive ? site_new(f, f->body, true) : NULL;
    write_block(p, f, f->body);

    GHashTable *wanted = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < f->sites->len; i++) {
        site *s = g_ptr_array_index(f->sites, i);
        for (unsigned k = 0; k < s->live->len; k++)
            g_hash_table_add(wanted, g_ptr_array_index(s->live, k));
    }
    char *saved = struct_of(f, "saved", false, wanted), *memory = struct_of(f, "memory", true, wanted);
    if (u->refused)
        return;
    /* An inline function that is not static may stand in several files, and any of its copies may be called: it is one. */
    const bool shared = clang_Cursor_isFunctionInlined(f->decl->cursor) && !strchr(f->key, ':');
    const char *linkage = shared ? "__attribute__((__weak__, __visibility__(\"hidden\")))" : "static";
    g_string_append_printf(u->prelude, "%s%s struct dome__cc_function dome__fn_%s;\n", shared ? "extern " : "", linkage, f->name);

    GString *all = g_string_new(NULL), *resume = g_string_new(NULL), *points = g_string_new(NULL);
    g_string_append_printf(resume,
                           "const struct dome__saved_%s *dome__s = dome__cc_pop(&dome__fn_%s, &dome__point); (void)dome__s;\n",
                           f->name, f->name);
    g_string_append(resume, "switch (dome__point) {\n");
    for (unsigned i = 0; i < f->sites->len; i++) {
        site *s = g_ptr_array_index(f->sites, i);
        g_string_append_printf(resume, "case %d: ", s->id);
        for (unsigned k = 0; k < s->live->len; k++) {
            const variable *v = g_ptr_array_index(s->live, k);
            char *from = g_strdup_printf("dome__s->%s", v->name), *text = type_assign(u, v->type, v->name, from);
            g_string_append_printf(resume, "%s ", text);
            g_free(text);
            g_free(from);
        }
        jump_recover(f, resume);
        dispatch(f, s, NULL, resume);
        g_string_append_c(resume, '\n');
    }
    g_string_append(resume, "}\n");
    bool twice = f->twin || f->split;
    for (int copy = 0; copy < (twice ? 2 : 1); copy++) {
        bool is_twin = copy == 1, enters = !twice || is_twin;
        if (is_twin) {
            char *header = twin_header(u, f->decl, f->body->a);
            g_string_append_printf(all, "%s", header);
            g_free(header);
        }
        g_string_append(all, "{\n");
        for (unsigned i = 0; i < f->variables->len; i++) {
            variable *v = g_ptr_array_index(f->variables, i);
            if (v->memory || v->parameter)
                continue;
            bool zero = f->has_labels && !v->temporary;
            const bool braces = type_is_record(v->type) || type_is_array(v->type);
            g_string_append_printf(all, zero ? (braces ? "%s = {0};\n" : "%s = 0;\n") : "%s;\n", v->declared);
        }
        g_string_append_printf(all, "%s\n", names->str);
        if (f->split && !enters)
            write_again(f, all);
        if (memory)
            g_string_append_printf(all, "struct dome__memory_%s *const dome__m = dome__cc_enter(&dome__fn_%s);\n", f->name,
                                   f->name);
        if (!enters) {
            g_string_append(all, copies->str);
            if (entry)
                g_string_append_printf(all, "if (__builtin_expect(dome__cc_status, 0) && dome__cc_poll()) goto dome__save_%d;\n",
                                       entry->id);
        } else if (entry && !copies->len) {
            g_string_append_printf(all,
                                   "if (__builtin_expect(dome__cc_status, 0)) {\nif (" IS_RESUMING ") {\n%s}\n"
                                   "if (dome__cc_poll()) goto dome__save_%d;\n}\n",
                                   resume->str, entry->id);
        } else {
            g_string_append_printf(all, "if (__builtin_expect(" IS_RESUMING ", 0)) {\n%s}%s%s%s\n", resume->str,
                                   copies->len ? " else { " : "", copies->str, copies->len ? "}" : "");
            if (entry)
                g_string_append_printf(all, "if (__builtin_expect(dome__cc_status, 0) && dome__cc_poll()) goto dome__save_%d;\n",
                                       entry->id);
        }
        fill(f, f->out->str, enters, is_twin, all);
        if (returns_nothing(f)) {
            g_string_append_printf(all, memory ? "dome__cc_leave(&dome__fn_%s);\nreturn;\n" : "return;\n", f->name);
        } else if (f == u->main) {
            g_string_append_printf(all, memory ? "dome__cc_leave(&dome__fn_%s);\nreturn 0;\n" : "return 0;\n", f->name);
        } else {
            /* a value is returned before, or nobody looks at it */
            if (memory)
                g_string_append_printf(all, "dome__cc_leave(&dome__fn_%s);\n", f->name);
            write_return_dummy(f, all);
            g_string_append_c(all, '\n');
        }
        for (unsigned i = 0; i < f->sites->len; i++) {
            site *s = g_ptr_array_index(f->sites, i);
            if (saved)
                g_string_append_printf(
                    all, "dome__save_%d: { struct dome__saved_%s *dome__s = dome__cc_push(&dome__fn_%s, %d); (void)dome__s; ",
                    s->id, f->name, f->name, s->id);
            else
                g_string_append_printf(all, "dome__save_%d: { dome__cc_push(&dome__fn_%s, %d); ", s->id, f->name, s->id);
            for (unsigned k = 0; k < s->live->len; k++) {
                const variable *v = g_ptr_array_index(s->live, k);
                char *to = g_strdup_printf("dome__s->%s", v->name), *text = type_assign(u, v->type, to, v->name);
                g_string_append_printf(all, "%s ", text);
                g_free(text);
                g_free(to);
            }
            clear_gone(f, s, all);
            write_return_dummy(f, all);
            g_string_append(all, " }\n");
        }
        g_string_append(all, "}\n");
    }
    for (unsigned i = 0; i < f->sites->len; i++) {
        char *e = g_strescape(((site *)g_ptr_array_index(f->sites, i))->place, NULL);
        g_string_append_printf(points, "\"%s\", ", e);
        g_free(e);
    }
    char *file;
    unsigned line;
    unit_place(u, f->body->b, &file, &line);
    char *e = g_strescape(file, NULL);
    g_string_append_printf(all, "# %u \"%s\"\n", line, e);
    edit_replace(u, f->body->a, f->body->b, all->str);
    char *before = g_strdup_printf("%s%s", saved ? saved : "", memory ? memory : "");
    f->out = g_string_new(before); /* to be put before the function */

    if (f->sites->len)
        g_string_append_printf(u->tail, "static const char *const dome__points_%s[] = {%s};\n", f->name, points->str);
    bool local = strchr(f->key, ':') != NULL;
    char *shown = g_strescape(local ? f->key : f->name, NULL);
    char *s = saved ? g_strdup_printf("&dome__saved_%s_type", f->name) : g_strdup("0");
    char *m = memory ? g_strdup_printf("&dome__memory_%s_type", f->name) : g_strdup("0");
    g_string_append_printf(
        u->tail, "%s struct dome__cc_function dome__fn_%s = {\"%s\", %s, %s, %" G_GUINT64_FORMAT "ull, %s%s, %u, 0};\n", linkage,
        f->name, shown, s, m, version_of(f), f->sites->len ? "dome__points_" : "0", f->sites->len ? f->name : "", f->sites->len);
    g_ptr_array_add(u->descriptors, g_strdup_printf("&dome__fn_%s", f->name));
    g_free(m);
    g_free(s);
    g_free(shown);
    g_free(before);
    g_free(e);
    g_free(file);
    g_string_free(points, TRUE);
    g_string_free(all, TRUE);
    g_string_free(resume, TRUE);
    g_string_free(copies, TRUE);
    g_string_free(names, TRUE);
}
