/* The variables of a function that may poll, and their names. */
#include "plan/plan.h"

#include <string.h>

enum { LARGE_RECORD = 64 }; /* bytes: larger structs do not live in registers */

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
    if (!ctype_is_array(n->type))
        return false;
    char *text = text_flat(u, n->a, n->b), *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    char *word = open ? g_strstr_len(open, close ? close - open : -1, "const") : NULL;
    const bool found = word && !g_ascii_isalnum(word[-1]) && word[-1] != '_' && !g_ascii_isalnum(word[5]) && word[5] != '_';
    g_free(text);
    return found;
}

variable *variables_new(function *f, node *n, CXType type, bool parameter)
{
    unit *u = f->unit;
    char *name = cursor_name(n->cursor);
    variable *v = g_new0(variable, 1);
    v->source = g_strdup(name);
    v->type = type;
    v->cursor = n->cursor;
    v->parameter = parameter;
    long long size = ctype_is_record(type) ? ctype_image_size(type) : 0;
    v->memory = ctype_is_array(type) || taken_declares(f, n->cursor) ||
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
    if (ctype_is_variable(type))
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
        unsigned at = cursor_offset(n->cursor); /* copies of the declaration: loop_write */
        edit_replace(u, at, at + (unsigned)strlen(name), v->name);
    }
    v->declared = ctype_declare(u, type, v->name, true);
    v->flags = pragma_flags(u, n->a);
    g_hash_table_insert(f->by_decl, GUINT_TO_POINTER(cursor_offset(n->cursor)), v);
    g_ptr_array_add(f->variables, v);
    f->has_memory = f->has_memory || v->memory;
    g_free(name);
    return v;
}

bool variables_is_plain(const node *kid)
{
    return kid->kind == CXCursor_VarDecl && !clang_Cursor_hasVarDeclGlobalStorage(kid->cursor);
}

static void plan_declaration(function *f, node *n)
{
    for (unsigned i = 0; i < n->kids->len; i++)
        if (variables_is_plain(node_kid(n, i)))
            variables_new(f, node_kid(n, i), node_kid(n, i)->type, false);
}

/* Whether the step or condition of a loop stands at its end, and "continue" must go there. */
static bool has_tail(unit *u, node *n)
{
    if (n->kind == CXCursor_DoStmt)
        return node_kid(n, 1)->polls;
    node *init, *condition, *step, *body;
    if (n->kind != CXCursor_ForStmt)
        return false;
    node_for_parts(u, n, &init, &condition, &step, &body);
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

char *variables_tail(function *f, node *n)
{
    return g_hash_table_lookup(f->unit->renamed, GUINT_TO_POINTER(n->a));
}

/* The variables that will be declared at the beginning; visits the nodes that statement_write visits. */
void variables_plan(function *f, node *n)
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
        variables_plan(f, node_kid(n, i));
}

/* Names of the file's scope that the function uses: its variables must not hide them. */
void variables_find_names(function *f, node *n)
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
        variables_find_names(f, node_kid(n, i));
}

void variables_find_uses(function *f, node *n)
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
        variables_find_uses(f, node_kid(n, i));
}

/* In functions with memory: { T dome__r = value; leave; return dome__r; } */
void variables_plan_returns(function *f, node *n)
{
    if (n->kind == CXCursor_ReturnStmt) {
        unit *u = f->unit;
        unsigned end = text_skip(u, n->b);
        char *leave = g_strdup_printf("dome__cc_leave(&dome__fn_%s);", f->name);
        bool nothing = functions_returns_nothing(f);
        if (nothing) {
            edit_replace(u, n->a, n->a + 6, n->kids->len ? "{" : "{ ");
            char *after = g_strdup_printf("; %s return; }", leave);
            edit_replace(u, end, end + 1, after);
            g_free(after);
        } else {
            char *t = ctype_declare(u, functions_result(f), "dome__r", true), *before = g_strdup_printf("{ %s = ", t);
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
        variables_plan_returns(f, node_kid(n, i));
}
