/* Functions that cannot be saved while they are active: polls in what they call are held back. */
#include "plan/plan.h"

static bool has_argument_list(const node *n)
{
    if ((n->kind == CXCursor_VarDecl || n->kind == CXCursor_ParmDecl) && ctype_is_argument_list(clang_getCursorType(n->cursor)))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_argument_list(node_kid(n, i)))
            return true;
    return false;
}

/* Why a function cannot be saved while it is active; "": by #pragma dome hold; NULL: it can. `begin`: where the declaration
 * before it ends. */
const char *held_reason(unit *u, const node *top, unsigned begin)
{
    bool asked = false;
    for (unsigned i = 0; i < u->pragmas->len; i++) {
        pragma *p = &g_array_index(u->pragmas, pragma, i);
        if (p->kind == PRAGMA_HOLD && p->at >= begin && p->at < top->a)
            asked = p->used = true;
    }
    if (asked)
        return "";
    if (clang_isFunctionTypeVariadic(top->type) && clang_getCanonicalType(top->type).kind == CXType_FunctionProto)
        return "has a variable number of arguments";
    return has_argument_list(top) ? "has a va_list" : NULL;
}

/* Around a call of such a function, or of one that calls back: polls do nothing meanwhile. by: its name, for messages; NULL: they
 * do not need it. */
void held_call(unit *u, node *n, unsigned depth, const char *by)
{
    char *hold = by ? g_strdup_printf("dome__cc_hold_in(\"%s\")", by) : g_strdup("dome__cc_hold()");
    if (clang_getCanonicalType(n->type).kind == CXType_Void) {
        char *begin = g_strdup_printf("(%s, ", hold);
        edit_around(u, n->a, n->b, depth, begin, ", dome__cc_release())");
        g_free(begin);
        g_free(hold);
        return;
    }
    char *t = ctype_declare(u, n->type, "dome__h", true);
    char *before = g_strdup_printf("(__extension__ ({ %s; %s = ", hold, t);
    edit_around(u, n->a, n->b, depth, before, "; dome__cc_release(); dome__h; }))");
    g_free(before);
    g_free(t);
    g_free(hold);
}
