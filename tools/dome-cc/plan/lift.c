/* Types and statics of functions become the file's. */
#include "plan/plan.h"

#include <string.h>

/* ---- names ---- */

static char *lift_identifier(unit *u, const char *prefix, const char *name)
{
    char *id = g_strdup_printf("dome__%s_%s", prefix, name);
    for (int k = 2; g_hash_table_contains(u->file_names, id); k++) {
        g_free(id);
        id = g_strdup_printf("dome__%s_%s_%d", prefix, name, k);
    }
    g_hash_table_add(u->file_names, id);
    return id;
}

const char *lift_renamed(unit *u, CXCursor d)
{
    if (cursor_is_null(d))
        return NULL;
    CXCursor definition = clang_getCursorDefinition(d);
    if (!cursor_is_null(definition))
        d = definition;
    return g_hash_table_lookup(u->renamed, GUINT_TO_POINTER(cursor_offset(d)));
}

static void rename_to(unit *u, CXCursor d, const char *name)
{
    char *old = cursor_name(d);
    unsigned at = cursor_offset(d);
    g_hash_table_insert(u->renamed, GUINT_TO_POINTER(at), g_strdup(name));
    if (strncmp(u->original + at, old, strlen(old)) == 0)
        edit_replace(u, at, at + (unsigned)strlen(old), name);
    g_free(old);
}

bool lift_is_record(const node *n)
{
    return (n->kind == CXCursor_StructDecl || n->kind == CXCursor_UnionDecl || n->kind == CXCursor_EnumDecl) &&
           clang_isCursorDefinition(n->cursor);
}

void lift_name_record(unit *u, node *n)
{
    if (!lift_is_record(n) || !clang_Cursor_isAnonymous(n->cursor) || clang_Cursor_isAnonymousRecordDecl(n->cursor))
        return;
    if (g_hash_table_contains(u->renamed, GUINT_TO_POINTER(cursor_offset(n->cursor))))
        return; /* a variable's declaration contains its type's */
    unsigned brace = text_find(u, n->a, n->b, '{');
    char *name = g_strdup_printf("dome__anonymous_%d", ++u->counter);
    g_hash_table_insert(u->renamed, GUINT_TO_POINTER(cursor_offset(n->cursor)), name);
    char *text = g_strdup_printf(" %s {", name);
    edit_replace(u, brace, brace + 1, text);
    g_free(text);
}

/* ---- types and statics of functions ---- */

/* A name of a function's type gets the file's scope: another name, if there is one of that name. */
static void lift_name(unit *u, CXCursor c)
{
    char *name = cursor_name(c);
    if (!*name || clang_Cursor_isAnonymous(c)) {
        g_free(name);
        return;
    }
    if (g_hash_table_contains(u->file_names, name)) {
        char *other = lift_identifier(u, "local", name);
        rename_to(u, c, other);
    } else {
        g_hash_table_add(u->file_names, g_strdup(name));
    }
    g_free(name);
}

static void lift_names(unit *u, node *n)
{
    bool named = lift_is_record(n) || n->kind == CXCursor_TypedefDecl || n->kind == CXCursor_EnumConstantDecl;
    if (named && g_hash_table_add(u->lift.lifted, GUINT_TO_POINTER(cursor_offset(n->cursor)))) {
        lift_name(u, n->cursor);
        lift_name_record(u, n);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        lift_names(u, node_kid(n, i));
}

void lift_global(unit *u, CXCursor c, const char *name, const char *id, unsigned at)
{
    char *why;
    CXType t = clang_getCursorType(c), element = ctype_element(t, NULL);
    bool constant = clang_isConstQualifiedType(clang_getCanonicalType(element));
    char *type = describe_type(u, element, &why), *shown = cursor_name(c);
    if (!type && !constant)
        unit_refuse(u, at, "the variable %s cannot be saved: it contains %s", shown, why);
    if (type) {
        char *element_name = ctype_name(u, element), *e = g_strescape(name, NULL);
        g_ptr_array_add(u->tables[TABLE_GLOBALS],
                        g_strdup_printf("{\"%s\", (const void *)&%s, &%s, sizeof(%s) / sizeof(%s), %u}", e, id, type, id,
                                        element_name, constant | pragma_flags(u, cursor_begin(c))));
        g_free(e);
        g_free(element_name);
    }
    g_free(shown);
    g_free(type);
    g_free(why);
}

static bool has_label_address(const node *n)
{
    if (n->kind == CXCursor_AddrLabelExpr)
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_label_address(node_kid(n, i)))
            return true;
    return false;
}

/* A declaration in a function: its types and statics move before the function. */
void lift_declaration(unit *u, function *f, node *n, unsigned top)
{
    bool is_static = false, is_typedef = false, variables = false;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (kid->kind == CXCursor_VarDecl) {
            variables = true;
            is_static = is_static || clang_Cursor_getStorageClass(kid->cursor) == CX_SC_Static;
        }
        is_typedef = is_typedef ||
                     (kid->kind == CXCursor_TypedefDecl && !ctype_is_variable(clang_getTypedefDeclUnderlyingType(kid->cursor)));
    }
    if (is_static &&
        has_label_address(n)) { /* a table of jumps: constant, it needs not be saved, and only the function knows it */
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_kid(n, i)->kind == CXCursor_VarDecl &&
                !clang_isConstQualifiedType(clang_getCanonicalType(ctype_element(node_kid(n, i)->type, NULL))))
                unit_refuse(u, n->a, "%s: a static variable with addresses of labels, which is not constant", f->name);
        return;
    }
    if (is_static || is_typedef) {
        lift_names(u, n);
        for (unsigned i = 0; i < n->kids->len; i++) {
            node *kid = node_kid(n, i);
            if (kid->kind != CXCursor_VarDecl)
                continue;
            char *name = cursor_name(kid->cursor), *both = g_strdup_printf("%s_%s", f->name, name),
                 *id = lift_identifier(u, "static", both);
            char *shown = g_strdup_printf("%s:%s:%s%s", u->name, f->name, name, id + strlen("dome__static_") + strlen(both));
            rename_to(u, kid->cursor, id);
            lift_global(u, kid->cursor, shown, id, kid->a);
            g_free(shown);
            g_free(both);
            g_free(name);
        }
        hoist h = {top, n->a, n->b, "\n", NULL};
        g_array_append_val(u->lift.hoists, h);
        edit_replace(u, n->a, n->b, ";");
        return;
    }
    if (!variables && n->kids->len &&
        node_kid(n, 0)->kind == CXCursor_FunctionDecl) { /* it is called at the function's beginning */
        hoist h = {top, n->a, n->b, "\n", node_kid(n, 0)};
        g_array_append_val(u->lift.hoists, h);
        edit_replace(u, n->a, n->b, ";");
        return;
    }
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (!lift_is_record(kid))
            continue;
        lift_names(u, kid);
        hoist h = {top, kid->a, kid->b, ";\n", NULL};
        g_array_append_val(u->lift.hoists, h);
        const char *word = kid->kind == CXCursor_StructDecl ? "struct" : kid->kind == CXCursor_UnionDecl ? "union" : "enum";
        const char *other = lift_renamed(u, kid->cursor);
        char *name = cursor_name(kid->cursor);
        char *text = variables ? g_strdup_printf("%s %s", word, other ? other : name) : g_strdup("");
        edit_replace(u, kid->a, kid->b, text);
        g_free(text);
        g_free(name);
    }
}

/* "static struct pair { int a, b; } both(int n)": the struct moves before what is written before the function. */
void lift_result(unit *u, node *before, const function *f, unsigned top)
{
    if (!lift_is_record(before) || before->a < f->decl->a || before->b > cursor_offset(f->decl->cursor))
        return;
    const char *word = before->kind == CXCursor_StructDecl ? "struct" : before->kind == CXCursor_UnionDecl ? "union" : "enum";
    const char *other = lift_renamed(u, before->cursor);
    char *name = cursor_name(before->cursor), *text = g_strdup_printf("%s %s", word, other ? other : name);
    hoist h = {top, before->a, before->b, ";\n", NULL};
    g_array_append_val(u->lift.hoists, h);
    edit_replace(u, before->a, before->b, text);
    g_free(text);
    g_free(name);
}
