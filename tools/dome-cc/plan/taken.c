/* Variables whose address is taken. */
#include "plan/plan.h"

#include <string.h>

static bool keeps_pointer(program *p, function *g, unsigned parameter, int depth);

/* Whether the value of n, a pointer, may be kept by what n is an operand of: it is more than read and written through. */
static bool is_kept(program *p, unit *u, node *n, int depth)
{
    node *up = node_bare_up(n), *at = n;
    while (at->up != up)
        at = at->up;
    if (!up || clang_isVolatileQualifiedType(clang_getCanonicalType(n->type)))
        return true;
    bool through = false;
    if (up->kind == CXCursor_CallExpr && at != node_callee(up)) {
        CXCursor d = node_called(up);
        if (cursor_is_null(d))
            return true;
        char *key = cursor_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        for (unsigned i = 1; g && !g->polls && i < up->kids->len; i++)
            if (node_kid(up, i) == at)
                return keeps_pointer(p, g, i - 1, depth);
        return true;
    }
    if (up->kind == CXCursor_UnaryOperator) {
        char *o = node_unary_operator(u, up);
        through = strcmp(o, "*") == 0;
        g_free(o);
    } else if (up->kind == CXCursor_ArraySubscriptExpr) {
        through = at == node_kid(up, 0);
    } else if (up->kind == CXCursor_MemberRefExpr) {
        through = true;
    }
    if (!through || ctype_is_array(up->type) || ctype_is_function(up->type))
        return true;
    /* *p = 1 and *p + 1, but not &*p, &p->x, (*p).array */
    for (node *outer = node_bare_up(up); outer; outer = node_bare_up(outer)) {
        if (outer->kind == CXCursor_UnaryOperator) {
            char *o = node_unary_operator(u, outer);
            bool address = strcmp(o, "&") == 0;
            g_free(o);
            return address;
        }
        if (outer->kind != CXCursor_MemberRefExpr ||
            !ctype_is_record(node_kid(outer, 0) ? node_kid(outer, 0)->type : outer->type))
            return false;
        if (ctype_is_array(outer->type))
            return true;
    }
    return false;
}

static bool kept_below(program *p, unit *u, node *n, unsigned parameter, int depth)
{
    if (n->kind == CXCursor_UnaryExpr)
        return false;
    if (counted_refers(n, parameter) && is_kept(p, u, n, depth))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (kept_below(p, u, node_kid(n, i), parameter, depth))
            return true;
    return false;
}

/* Whether g may do more with what a parameter points to than to read and write it. */
static bool keeps_pointer(program *p, function *g, unsigned parameter, int depth)
{
    enum { DEEPEST = 4 };
    CXCursor c = clang_Cursor_getArgument(g->decl->cursor, parameter);
    return depth > DEEPEST || cursor_is_null(c) || !ctype_is_pointer(clang_getCursorType(c)) ||
           kept_below(p, g->unit, g->body, cursor_offset(c), depth + 1);
}

/* Variables that cannot stay in registers: arrays, and those whose address is taken, unless for a call that does not keep it. */
static void find_taken(program *p, function *f, node *n)
{
    if (n->kind == CXCursor_DeclRefExpr) {
        CXCursor d = node_declaration(n);
        if (counted_is_local(d)) {
            node *at = n;
            bool taken = ctype_is_array(clang_getCursorType(d)) && d.kind != CXCursor_ParmDecl;
            for (node *up = n->up; up && !taken; at = up, up = up->up) {
                if (up->kind == CXCursor_MemberRefExpr && ctype_is_record(at->type)) {
                    taken = ctype_is_array(up->type);
                } else if (up->kind == CXCursor_UnaryOperator) {
                    char *o = node_unary_operator(f->unit, up);
                    taken = strcmp(o, "&") == 0 && is_kept(p, f->unit, up, 0);
                    bool on = g_str_has_prefix(o, "__");
                    g_free(o);
                    if (!on)
                        break;
                } else if (up->kind != CXCursor_ParenExpr && up->kind != CXCursor_GenericSelectionExpr) {
                    break;
                }
            }
            if (taken)
                g_hash_table_add(f->taken, GUINT_TO_POINTER(cursor_offset(d)));
        }
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        find_taken(p, f, node_kid(n, i));
}

void taken_find(program *p, function *f)
{
    polls_mark(p, f->unit, f->decl);
    f->body->polls = true; /* also if it only polls at its beginning, as it calls itself by way of functions that are held */
    f->taken = g_hash_table_new(NULL, NULL);
    find_taken(p, f, f->decl);
}

bool taken_declares(function *f, CXCursor decl)
{
    return g_hash_table_contains(f->taken, GUINT_TO_POINTER(cursor_offset(decl)));
}
