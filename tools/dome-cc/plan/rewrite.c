/* The walk over a file: statics, literals, calls, and what is refused. */
#include "plan/plan.h"

#include <string.h>

/* The name of the function around a node, as a literal. */
static char *quoted_name(const node *n)
{
    while (n->up && n->kind != CXCursor_FunctionDecl)
        n = n->up;
    char *name = cursor_name(n->cursor), *quoted = g_strdup_printf("\"%s\"", name);
    g_free(name);
    return quoted;
}

static void name_literal(program *p, unit *u, node *n)
{
    const char *t = u->original + n->a;
    const bool function_name = *t == '_'; /* __func__ */
    if (*t != '"' && !function_name && !strchr("LuU", *t))
        return;
    node *decay = function_name ? n->up->up : n->up;
    while (decay && (decay->kind == CXCursor_ParenExpr || decay->kind == CXCursor_GenericSelectionExpr))
        decay = decay->up;
    if (!decay || decay->kind != CXCursor_UnexposedExpr || !ctype_is_pointer(decay->type))
        return; /* an array's initial value, or sizeof */
    node *user = node_bare_up(n);
    if (user && user->kind == CXCursor_CallExpr) {
        CXCursor d = node_called(user);
        if (!cursor_is_null(d) && functions_is_foreign(p, u, d) && !ctype_is_pointer(user->type))
            return; /* printf: nobody keeps the pointer */
    }
    char *text = function_name ? quoted_name(n) : text_flat(u, n->a, n->b), *id = g_hash_table_lookup(u->literals, text);
    const char *type = *t == 'L'                  ? "__typeof__(*L\"\")"
                       : *t == 'U'                ? "__typeof__(*U\"\")"
                       : *t == 'u' && t[1] != '8' ? "__typeof__(*u\"\")"
                                                  : "char";
    if (!id) {
        unsigned number = g_hash_table_size(u->literals) + 1;
        id = g_strdup_printf("dome__literal_%u", number);
        g_hash_table_insert(u->literals, g_strdup(text), id);
        g_string_append_printf(u->prelude, "static const %s %s[] = %s;\n", type, id, text);
        const char *described = *t == 'L' || *t == 'U'     ? "dome__cc_int"
                                : *t == 'u' && t[1] != '8' ? "dome__cc_ushort"
                                                           : "dome__cc_char";
        char *e = g_strescape(u->name, NULL);
        g_ptr_array_add(u->tables[TABLE_GLOBALS], g_strdup_printf("{\"%s:literal %u\", %s, &%s, sizeof(%s) / sizeof(%s), 1}", e,
                                                                  number, id, described, id, type));
        g_free(e);
    }
    char *use = g_strdup_printf("((%s *)%s)", type, id);
    edit_replace(u, n->a, n->b, use);
    g_free(use);
    g_free(text);
}

/* A union among the members of a struct: the pragma before it has been found. */
static void use_pragma(unit *u, node *n)
{
    pragma *mine = pragma_before(u, n->a, PRAGMA_UNION);
    if (mine && n->up && (n->up->kind == CXCursor_StructDecl || n->up->kind == CXCursor_UnionDecl))
        mine->used = true;
}

/* Whether a pointer to n lives longer than a call that cannot poll. */
static bool is_passed_on(program *p, unit *u, node *n)
{
    node *user = node_bare_up(n);
    while (user && user->kind != CXCursor_CallExpr && node_is_expression(user))
        user = user->up;
    return !(user && user->kind == CXCursor_CallExpr && (!polls_call(p, u, user) || parallel_is_operation(p, u, user)) &&
             (!ctype_is_pointer(user->type) || parallel_calls_dome(p, user)));
}

/* An object without a name lives as long as its block: a function that polls cannot give it back. */
static void check_compound_literal(program *p, unit *u, function *f, node *n)
{
    node *part = n, *up = node_bare_up(n); /* or of a member, or of an element */
    bool address = false;
    for (;;) {
        for (node *at = part->up; at && (at->kind == CXCursor_UnexposedExpr || at->kind == CXCursor_ParenExpr); at = at->up)
            address = address || (ctype_is_array(part->type) && ctype_is_pointer(at->type));
        const bool element = up && up->kind == CXCursor_ArraySubscriptExpr && ctype_is_array(part->type);
        if (!up || !(element || (up->kind == CXCursor_MemberRefExpr && ctype_is_record(part->type))))
            break;
        address = address && !element; /* read at once */
        part = up;
        up = node_bare_up(part);
    }
    address = address || (up && up->kind == CXCursor_UnaryOperator && u->original[up->a] == '&');
    if (!address)
        return;
    if (!f) {
        unit_refuse(u, n->a, "the address of an object without a name: give it one");
        return;
    }
    if (!f->polls)
        return;
    if (!is_passed_on(p, u, n))
        return;
    unit_refuse(u, n->a, "%s: the address of an object without a name, and the function may poll: give it a name", f->name);
}

/* f().array[i] is read at once; but as a pointer, f().array leads to what is gone when the function is entered again. */
static void check_array_of_result(program *p, unit *u, function *f, node *n)
{
    if (!f || !f->polls || !ctype_is_array(n->type) || !n->up || n->up->kind != CXCursor_UnexposedExpr)
        return;
    node *base = node_bare(node_kid(n, 0)), *user = node_bare_up(n);
    while (base && base->kind == CXCursor_MemberRefExpr && ctype_is_record(base->type) && node_kid(base, 0) &&
           ctype_is_record(node_kid(base, 0)->type))
        base = node_bare(node_kid(base, 0));
    bool result = base && ctype_is_record(base->type) &&
                  (base->kind == CXCursor_CallExpr || base->kind == CXCursor_StmtExpr ||
                   base->kind == CXCursor_ConditionalOperator || base->kind == CXCursor_BinaryOperator);
    if (!result || (user && user->kind == CXCursor_ArraySubscriptExpr) || !is_passed_on(p, u, n))
        return;
    unit_refuse(u, n->a, "%s: a pointer to an array in the result of a call, and the function may poll: give the result a name",
                f->name);
}

/* The name of a type that has another one now. */
static void rename_reference(unit *u, const node *n)
{
    CXCursor d = node_declaration(n);
    const char *other = lift_renamed(u, d);
    char *name = cursor_name(d);
    if (other && *name && !clang_Cursor_isAnonymous(d)) {
        unsigned length = (unsigned)strlen(name);
        if (n->b - n->a >= length && strncmp(u->original + n->b - length, name, length) == 0)
            edit_replace(u, n->b - length, n->b, other);
    }
    g_free(name);
}

/* A function that the system calls at any time. */
static void check_reference(program *p, unit *u, node *n)
{
    if (node_declaration(n).kind != CXCursor_FunctionDecl || !foreign_argument_polls(p, u, n) || !foreign_goes_into_struct(u, n))
        return;
    char *name = cursor_name(node_declaration(n));
    unit_refuse(u, n->a, "%s may poll, and the system would call it at any time: put #pragma dome nopoll before its loops", name);
    g_free(name);
}

static void check_alloca(unit *u, const function *f, const node *n)
{
    CXCursor d = node_called(n);
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    if (strcmp(name, "alloca") == 0 || g_str_has_prefix(name, "__builtin_alloca"))
        unit_refuse(u, n->a, "%s: alloca, and the function may poll", f->name);
    g_free(name);
}

static void walk_function(program *p, unit *u, const function *f, node *n, unsigned top)
{
    if (!n->up) {
        attributes_check(p, u, n, top);
        attributes_drop_promises(p, u, n, top);
    }
    if (f && n != f->decl && clang_isCursorDefinition(n->cursor))
        unit_refuse(u, n->a, "a function inside of a function");
}

static void edit_expression(program *p, unit *u, function *f, node *n, unsigned depth)
{
    switch ((int)n->kind) {
    case CXCursor_DeclRefExpr:
        foreign_edit_reference(p, u, n);
        check_reference(p, u, n);
        break;
    case CXCursor_CallExpr:
        foreign_edit_call(p, u, f, n, depth);
        if (f && f->polls)
            check_alloca(u, f, n);
        break;
    case CXCursor_MemberRefExpr:
        check_array_of_result(p, u, f, n);
        break;
    case CXCursor_CompoundLiteralExpr:
        check_compound_literal(p, u, f, n);
        break;
    case CXCursor_CStyleCastExpr:
        addresses_look(p, u, f, n);
        break;
    default:
        break;
    }
}

static void edit_declaration(program *p, unit *u, function *f, node *n, unsigned top)
{
    switch ((int)n->kind) {
    case CXCursor_TypeRef:
        rename_reference(u, n);
        break;
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl:
        pragma_flags(u, n->a);
        break;
    case CXCursor_FieldDecl:
    case CXCursor_UnionDecl:
        pragma_flags(u, n->a);
        use_pragma(u, n);
        break;
    case CXCursor_FunctionDecl:
        walk_function(p, u, f, n, top);
        break;
    default:
        break;
    }
}

static void refuse_of_thread(unit *u, const node *n)
{
    if (n->kind != CXCursor_VarDecl || clang_getCursorTLSKind(n->cursor) == CXTLS_None)
        return;
    char *name = cursor_name(n->cursor);
    unit_refuse(u, n->a, "the variable %s belongs to a thread", name);
    g_free(name);
}

static void walk(program *p, unit *u, function *f, node *n, unsigned top, unsigned depth)
{
    if (n->kind == CXCursor_DeclStmt && f)
        lift_declaration(u, f, n, top);
    else if (!(n->up && n->up->kind == CXCursor_DeclStmt && f && lift_is_record(n)))
        lift_name_record(u, n);
    if (n->kind == CXCursor_StringLiteral) {
        name_literal(p, u, n);
        return;
    }
    edit_declaration(p, u, f, n, top);
    edit_expression(p, u, f, n, depth);
    jump_check_copy(u, n);
    refuse_of_thread(u, n);
    for (unsigned i = 0; i < n->kids->len; i++)
        walk(p, u, f, node_kid(n, i), top, depth + 2);
}

static void edit_main(unit *u)
{
    function *f = u->main;
    int n = clang_Cursor_getNumArguments(f->decl->cursor);
    if (clang_getCanonicalType(clang_getResultType(f->decl->type)).kind != CXType_Int || (n != 0 && n != 2)) {
        unit_refuse(u, f->decl->a, "main: it must be int main(void) or int main(int argc, char **argv)");
        return;
    }
    unsigned at = cursor_offset(f->decl->cursor);
    edit_replace(u, at, at + 4, "dome__main");
    if (n == 0) {
        unsigned open = text_find(u, at, f->body->a, '(');
        edit_replace(u, open, text_close(u, open) + 1, "(int dome__argc, char **dome__argv)");
    }
}

/* Pragmas that stand before nothing. */
static void refuse_unused(unit *u)
{
    static const char *const missing[] = {[PRAGMA_UNION] = "union: no union that is a member of a struct follows",
                                          [PRAGMA_ALLOCATES] = "allocates: no function follows",
                                          [PRAGMA_HOLD] = "hold: no definition of a function follows",
                                          [PRAGMA_NUMBERS] = "numbers: no variable or member follows, and nothing is allocated",
                                          [PRAGMA_DANGLING] = "dangling: no variable or member follows"};
    for (unsigned i = 0; i < u->pragmas->len; i++) {
        const pragma *one = &g_array_index(u->pragmas, pragma, i);
        if (missing[one->kind] && !one->used)
            unit_refuse(u, one->at, "#pragma dome %s", missing[one->kind]);
    }
}

void rewrite_unit(program *p, unit *u)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    unsigned next = 0;
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        if (cursor_in_system_header(top->cursor))
            continue;
        function *f = NULL;
        if (next < u->functions->len && ((function *)g_ptr_array_index(u->functions, next))->decl == top)
            f = g_ptr_array_index(u->functions, next++);
        walk(p, u, f, top, i, 1);
        if (f && i > 0)
            lift_result(u, g_ptr_array_index(u->tops, i - 1), f, i);
    }
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        if (top->kind != CXCursor_VarDecl || cursor_in_system_header(top->cursor))
            continue;
        bool external = clang_Cursor_getStorageClass(top->cursor) == CX_SC_Extern &&
                        cursor_is_null(clang_Cursor_getVarDeclInitializer(top->cursor));
        char *name = cursor_name(top->cursor);
        if (external || !g_hash_table_add(seen, name))
            continue;
        bool local = clang_getCursorLinkage(top->cursor) == CXLinkage_Internal;
        char *shown = local ? g_strdup_printf("%s:%s", u->name, name) : g_strdup(name);
        lift_global(u, top->cursor, shown, name, top->a);
        g_free(shown);
    }
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        if (g_hash_table_contains(p->addressed, f->key)) {
            char *e = g_strescape(f->key, NULL);
            g_ptr_array_add(u->tables[TABLE_CODES],
                            g_strdup_printf("{\"%s\", (void (*)(void))%s}", e, f == u->main ? "dome__main" : f->name));
            g_free(e);
        }
    }
    refuse_unused(u);
    if (u->main)
        edit_main(u);
}
