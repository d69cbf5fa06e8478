/* Expressions that a call cannot change. */
#include "emit/emit.h"

#include <string.h>

static bool stable_place(function *f, node *n);

/* errno, and the tables of isalpha and the like: calls that lead to the same as long as the process lives. After a restart they
 * lead elsewhere, so they are made again rather than that their result is kept. */
static bool is_steady_call(const node *n)
{
    static const char *const names[] = {"__errno_location",    "__ctype_b_loc",      "__ctype_tolower_loc",
                                        "__ctype_toupper_loc", "__h_errno_location", NULL};
    CXCursor d = n->kind == CXCursor_CallExpr ? node_called(n) : clang_getNullCursor();
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    const bool steady = n->kids->len == 1 && text_in_list(name, names);
    g_free(name);
    return steady;
}

bool stable_value(function *f, node *n)
{
    if (n->text)
        return temporary_is(n->text);
    switch (n->kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_UnaryExpr:
        return true;
    case CXCursor_CallExpr:
        return is_steady_call(n);
    case CXCursor_DeclRefExpr: {
        CXCursor d = node_declaration(n);
        if (d.kind == CXCursor_EnumConstantDecl || d.kind == CXCursor_FunctionDecl || ctype_is_array(clang_getCursorType(d)))
            return true;
        const variable *v = lower_variable_of(f, n);
        return v && !v->memory;
    }
    case CXCursor_UnexposedExpr:
        if (n->kids->len == 1 && node_kid(n, 0)->a == n->a && node_kid(n, 0)->b == n->b) {
            node *kid = node_kid(n, 0);
            if (ctype_is_array(kid->type))
                return stable_place(f, kid);
            return stable_value(f, kid);
        }
        return false;
    case CXCursor_ParenExpr:
        return stable_value(f, node_kid(n, 0));
    case CXCursor_CStyleCastExpr:
        return stable_value(f, node_kid(n, n->kids->len - 1));
    case CXCursor_MemberRefExpr: { /* of a local struct in registers */
        node *base = node_kid(n, 0);
        return base && ctype_is_record(base->type) && stable_value(f, base);
    }
    case CXCursor_BinaryOperator: {
        char *o = node_operator(f->unit, n);
        bool good = strcmp(o, "=") != 0 && stable_value(f, node_kid(n, 0)) && stable_value(f, node_kid(n, 1));
        g_free(o);
        return good;
    }
    case CXCursor_UnaryOperator: {
        char *o = node_unary_operator(f->unit, n);
        node *table = node_bare(node_kid(n, 0));
        bool good = strcmp(o, "&") == 0   ? stable_place(f, node_kid(n, 0))
                    : strcmp(o, "*") == 0 ? is_steady_call(table) && ctype_is_pointer(n->type)
                                          : strlen(o) == 1 && strchr("+-~!", *o) && stable_value(f, node_kid(n, 0));
        g_free(o);
        return good;
    }
    default:
        return false;
    }
}

/* Whether the address of a place cannot change. What has become a temporary must not become a pointer to it: that is not saved.
 */
static bool stable_place(function *f, node *n)
{
    n = node_bare(n);
    if (n->text)
        return temporary_is(n->text);
    switch (n->kind) {
    case CXCursor_DeclRefExpr:
    case CXCursor_StringLiteral:
        return true;
    case CXCursor_MemberRefExpr: {
        node *base = node_kid(n, 0);
        return base && (ctype_is_record(base->type) ? stable_place(f, base) : stable_value(f, base));
    }
    case CXCursor_ArraySubscriptExpr:
        return stable_value(f, node_kid(n, 0)) && stable_value(f, node_kid(n, 1));
    case CXCursor_UnaryOperator: {
        char *o = node_unary_operator(f->unit, n);
        bool good = strcmp(o, "*") == 0 && stable_value(f, node_kid(n, 0));
        g_free(o);
        return good;
    }
    default:
        return false;
    }
}

/* Puts into temporaries what the address of a place depends on. */
void stable_settle(function *f, node *n)
{
    n = node_bare(n);
    if (n->text)
        return;
    switch (n->kind) {
    case CXCursor_MemberRefExpr: {
        node *base = node_kid(n, 0);
        if (!base)
            return;
        if (ctype_is_record(base->type))
            stable_settle(f, base);
        else if (!stable_value(f, base))
            temporary_spill(f, base);
        return;
    }
    case CXCursor_ArraySubscriptExpr: {
        node *base = node_kid(n, 0), *array = node_bare(base);
        if (ctype_is_array(array->type))
            stable_settle(f, array);
        else if (!stable_value(f, base))
            temporary_spill(f, base);
        if (!stable_value(f, node_kid(n, 1)))
            temporary_spill(f, node_kid(n, 1));
        return;
    }
    case CXCursor_UnaryOperator: {
        char *o = node_unary_operator(f->unit, n);
        if (strcmp(o, "*") == 0 && !stable_value(f, node_kid(n, 0)))
            temporary_spill(f, node_kid(n, 0));
        g_free(o);
        return;
    }
    default:
        return;
    }
}
