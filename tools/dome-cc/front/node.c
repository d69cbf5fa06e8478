/* Nodes: cursors with their extents in the text. */
#include "front/front.h"

node *node_kid(const node *n, unsigned i)
{
    return n && i < n->kids->len ? g_ptr_array_index(n->kids, i) : NULL;
}

static bool transparent(const node *n)
{
    return n->kids->len == 1 && (n->kind == CXCursor_ParenExpr ||
                                 (n->kind == CXCursor_UnexposedExpr && node_kid(n, 0)->a == n->a && node_kid(n, 0)->b == n->b));
}

node *node_bare(node *n)
{
    while (n && transparent(n))
        n = node_kid(n, 0);
    return n;
}

node *node_bare_up(node *n)
{
    n = n->up;
    while (n && transparent(n))
        n = n->up;
    return n;
}

bool node_is_expression(const node *n)
{
    return clang_isExpression(n->kind);
}

bool node_is_statement(const node *n)
{
    return clang_isStatement(n->kind);
}

bool node_is_loop(const node *n)
{
    return n->kind == CXCursor_ForStmt || n->kind == CXCursor_WhileStmt || n->kind == CXCursor_DoStmt;
}

CXCursor node_declaration(const node *n)
{
    return clang_getCursorReferenced(n->cursor);
}

node *node_callee(const node *n)
{
    return n->kind == CXCursor_CallExpr ? node_kid(n, 0) : NULL;
}

CXCursor node_called(const node *n)
{
    node *callee = node_bare(node_callee(n));
    if (callee && callee->kind == CXCursor_DeclRefExpr) {
        CXCursor c = node_declaration(callee);
        if (c.kind == CXCursor_FunctionDecl)
            return c;
    }
    return clang_getNullCursor();
}

/* The operator of a binary expression: what stands between its operands. */
char *node_operator(unit *u, const node *n)
{
    unsigned a = text_skip(u, node_kid(n, 0)->b), b = node_kid(n, 1)->a;
    char *text = text_flat(u, a, b);
    return g_strstrip(text);
}

/* ---- loops ---- */

char *node_unary_operator(unit *u, const node *n)
{
    node *kid = node_kid(n, 0);
    char *text = kid->a > n->a ? text_flat(u, n->a, kid->a) : text_flat(u, kid->b, n->b);
    return g_strstrip(text);
}

void node_for_parts(unit *u, node *n, node **init, node **condition, node **step, node **body)
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
