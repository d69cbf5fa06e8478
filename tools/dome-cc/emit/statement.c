/* Statements of functions that may poll. */
#include "emit/emit.h"

static void write_return(program *p, function *f, node *n)
{
    node *value = node_kid(n, 0);
    unsigned level = f->live->len;
    if (functions_returns_nothing(f)) {
        if (value)
            lower_discarded(p, f, value);
        site_mark(f, n);
        if (f->has_memory)
            g_string_append_printf(f->out, "dome__cc_leave(&dome__fn_%s); ", f->name);
        g_string_append(f->out, "return;\n");
    } else {
        lower_value(p, f, value);
        char *text = edit_text(f->unit, value);
        site_mark(f, n);
        if (f->has_memory) {
            char *t = ctype_declare(f->unit, functions_result(f), "dome__r", true);
            g_string_append_printf(f->out, "{ %s = %s; dome__cc_leave(&dome__fn_%s); return dome__r; }\n", t, text, f->name);
            g_free(t);
        } else {
            g_string_append_printf(f->out, "return %s;\n", text);
        }
        g_free(text);
    }
    site_cut_live(f, level);
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
    char *type = ctype_name(u, v->type);
    if (v->memory) /* its initial value may lead to it */
        g_ptr_array_add(f->live, v);
    unsigned level = f->live->len;
    if (!init) {
        site_mark(f, n);
        char *zero = ctype_is_record(v->type) ? g_strdup_printf("(%s){0}", type) : g_strdup("0");
        if (!v->memory && !ctype_is_array(v->type))
            site_assign(f, v, zero);
        g_free(zero);
    } else if (init->kind == CXCursor_InitListExpr ||
               (ctype_is_array(v->type) && node_bare(init)->kind == CXCursor_StringLiteral)) {
        bool list = init->kind == CXCursor_InitListExpr, array = ctype_is_array(v->type);
        char *flat = text_flat(u, init->a, init->b);
        bool zero = list && all_zero(init) && (flat[1] == '}' || flat[1] == '0' || (flat[1] == ' ' && flat[2] == '0'));
        g_free(flat);
        lower_value(p, f, init);
        char *text = edit_text(u, init);
        site_mark(f, n);
        if (array && zero)
            g_string_append_printf(f->out, "__builtin_memset(%s, 0, sizeof(%s));\n", v->read, v->read);
        else if (array)
            g_string_append_printf(
                f->out, list ? "__builtin_memcpy(%s, (%s)%s, sizeof(%s));\n" : "__builtin_memcpy(%s, (%s){%s}, sizeof(%s));\n",
                v->read, type, text, v->read);
        else {
            char *value = g_strdup_printf("(%s)%s", type, text);
            site_assign(f, v, value);
            g_free(value);
        }
        g_free(text);
    } else {
        lower_assign(p, f, v, init);
    }
    site_cut_live(f, level);
    if (!v->memory)
        g_ptr_array_add(f->live, v);
    g_free(type);
}

void statement_declaration(program *p, function *f, node *n)
{
    bool plain = false, other = false;
    for (unsigned i = 0; i < n->kids->len; i++) {
        if (variables_is_plain(node_kid(n, i)))
            plain = true;
        else
            other = true;
    }
    if (!plain && other) { /* a type, a static, a declaration of what is elsewhere */
        site_mark(f, n);
        edit_range(f->unit, n->a, n->b, NULL, f->out);
        g_string_append_c(f->out, '\n');
        return;
    }
    for (unsigned i = 0; i < n->kids->len; i++) {
        if (variables_is_plain(node_kid(n, i)))
            write_variable(p, f, node_kid(n, i));
        else if (node_kid(n, i)->kind == CXCursor_FunctionDecl)
            unit_refuse(f->unit, n->a, "%s: a function and a variable in one declaration, and the function may poll", f->name);
    }
}

/* ---- statements ---- */

void statement_write_block(program *p, function *f, node *n)
{
    unsigned level = f->live->len;
    g_string_append(f->out, "{\n");
    for (unsigned i = 0; i < n->kids->len; i++)
        statement_write(p, f, node_kid(n, i));
    g_string_append(f->out, "}\n");
    site_cut_live(f, level);
}

/* As it was written. */
static void write_copy(function *f, node *n)
{
    unit *u = f->unit;
    unsigned end = text_skip(u, n->b);
    site_mark(f, n);
    edit_range(u, n->a, end < u->length && u->original[end] == ';' ? end + 1 : n->b, NULL, f->out);
    g_string_append_c(f->out, '\n');
}

/* "if (VALUE)", "switch (VALUE)" and what follows it. */
static void write_head(program *p, function *f, node *n, const char *word)
{
    unsigned level = f->live->len;
    lower_value(p, f, node_kid(n, 0));
    char *text = edit_text(f->unit, node_kid(n, 0));
    site_cut_live(f, level);
    site_mark(f, n);
    g_string_append_printf(f->out, "%s (%s)\n", word, text);
    g_free(text);
    loop_write_inner(p, f, node_kid(n, 1));
}

static void write_labelled(program *p, function *f, node *n)
{
    node *inner = node_kid(n, n->kids->len - 1);
    site_mark(f, n);
    edit_range(f->unit, n->a, inner->a, NULL, f->out);
    g_string_append(f->out, " ;\n");
    statement_write(p, f, inner);
}

/* Of what polls. */
static void write_polling(program *p, function *f, node *n)
{
    switch ((int)n->kind) {
    case CXCursor_CompoundStmt:
        statement_write_block(p, f, n);
        return;
    case CXCursor_IfStmt:
        write_head(p, f, n, "if");
        if (n->kids->len > 2) {
            g_string_append(f->out, "else\n");
            loop_write_inner(p, f, node_kid(n, 2));
        }
        return;
    case CXCursor_SwitchStmt:
        write_head(p, f, n, "switch");
        return;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
        loop_write(p, f, n);
        return;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        write_labelled(p, f, n);
        return;
    case CXCursor_ReturnStmt:
        write_return(p, f, n);
        return;
    default:
        break;
    }
    if (node_is_expression(n))
        lower_discarded(p, f, n);
    else
        unit_refuse(f->unit, n->a, "%s: this statement calls a function that may poll, and is not understood", f->name);
}

void statement_write(program *p, function *f, node *n)
{
    if (n->kind == CXCursor_DeclStmt)
        statement_declaration(p, f, n);
    else if (n->polls)
        write_polling(p, f, n);
    else
        write_copy(f, n);
}
