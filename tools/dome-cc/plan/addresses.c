/* Warnings of addresses that become numbers and are kept: after a restart the numbers are wrong, and a checkpoint may not be
 * possible. What is compared, printed, or subtracted from another address does no harm. */
#include "plan/plan.h"

#include <string.h>

enum { DEEPEST = 4 /* variables on the way of a number */ };

/* A number in a local variable: whether that is saved is known when the function has been written. */
typedef struct kept_address {
    node *at;
    function *f;
    unsigned variable;
} kept_address;

static bool is_integer(CXType t)
{
    const enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_Enum || (k >= CXType_Bool && k <= CXType_Int128);
}

static bool is_address(const node *n)
{
    return ctype_is_pointer(n->type) || ctype_is_array(n->type) || ctype_is_function(n->type);
}

static bool constant(node *n, long long *value)
{
    CXEvalResult r = clang_Cursor_Evaluate(n->cursor);
    const bool good = r && clang_EvalResult_getKind(r) == CXEval_Int;
    *value = good ? clang_EvalResult_getAsLongLong(r) : 0;
    if (r)
        clang_EvalResult_dispose(r);
    return good;
}

/* (uintptr_t)p: an address, and the number is wide enough for it. */
static bool is_conversion(node *n)
{
    if (n->kind != CXCursor_CStyleCastExpr || !n->kids->len || !is_integer(n->type))
        return false;
    node *from = node_bare(node_kid(n, n->kids->len - 1));
    long long value;
    while (from->kind == CXCursor_CStyleCastExpr && is_address(from) && from->kids->len)
        from = node_bare(node_kid(from, from->kids->len - 1));
    return is_address(from) && !constant(from, &value) && clang_Type_getSizeOf(n->type) >= clang_Type_getSizeOf(from->type);
}

static bool has_conversion(node *n)
{
    if (is_conversion(n))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_conversion(node_kid(n, i)))
            return true;
    return false;
}

/* Of "x o y", of which one operand is an address: whether the value still depends on where things are. */
static bool depends(const char *o, node *other)
{
    enum { ALIGNED = 16 /* all blocks are, and stay so */ };
    static const char *const truths[] = {"==", "!=", "<", ">", "<=", ">=", "&&", "||", NULL};
    long long value;
    const bool small = constant(other, &value) && value >= 0;
    if (text_in_list(o, truths) || (strcmp(o, "-") == 0 && has_conversion(other)))
        return false;
    return !(small && ((strcmp(o, "&") == 0 && value < ALIGNED) ||
                       (strcmp(o, "%") == 0 && value > 0 && value <= ALIGNED && (value & (value - 1)) == 0)));
}

static bool is_settled(unit *u, CXCursor declaration)
{
    return !cursor_is_null(declaration) && pragma_flags(u, cursor_begin(declaration)) & DOME_CAPTURE_NUMBERS;
}

/* Whether a pragma before the statement says so. */
static bool is_settled_here(unit *u, const node *n)
{
    while (n->up && n->up->kind != CXCursor_CompoundStmt && !is_settled(u, n->cursor))
        n = n->up;
    return pragma_flags(u, n->a) & DOME_CAPTURE_NUMBERS;
}

static void warn(unit *u, const node *at, const char *what)
{
    char *file;
    unsigned line;
    unit_place(u, at->a, &file, &line);
    char *place = g_strdup_printf("address %s:%u", file, line);
    if (!g_hash_table_contains(u->file_names, place)) {
        g_hash_table_add(u->file_names, g_strdup(place));
        unit_warn(u, at->a,
                  "an address becomes a number %s: after a restart it is another one. Keep a pointer; or, if that does no harm, "
                  "write #pragma dome numbers before this statement, or before the variable or member that gets it",
                  what);
    }
    g_free(place);
    g_free(file);
}

static void follow(program *p, unit *u, function *f, node *at, node *n, int depth);

/* The uses of a local variable that has the number. */
static void follow_variable(program *p, unit *u, function *f, node *at, node *n, unsigned variable, int depth)
{
    if (n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == variable) {
        node *up = node_bare_up(n);
        char *o = up && up->kind == CXCursor_BinaryOperator ? node_operator(u, up) : g_strdup("");
        const bool set = strcmp(o, "=") == 0 && node_bare(node_kid(up, 0)) == n;
        g_free(o);
        if (!set)
            follow(p, u, f, at, n, depth + 1);
        return;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        follow_variable(p, u, f, at, node_kid(n, i), variable, depth);
}

static void note(unit *u, function *f, node *at, unsigned variable)
{
    kept_address a = {at, f, variable};
    if (!u->addresses)
        u->addresses = g_array_new(FALSE, FALSE, sizeof(kept_address));
    g_array_append_val(u->addresses, a);
}

/* A variable, a member or an element gets the number. */
static void store(program *p, unit *u, function *f, node *at, CXCursor declaration, int depth)
{
    const bool local = f && !cursor_is_null(declaration) &&
                       (declaration.kind == CXCursor_ParmDecl ||
                        (declaration.kind == CXCursor_VarDecl && !clang_Cursor_hasVarDeclGlobalStorage(declaration)));
    if (is_settled(u, declaration))
        return;
    if (!local) {
        warn(u, at, "that is kept");
        return;
    }
    if (f->polls)
        note(u, f, at, cursor_offset(declaration));
    if (depth < DEEPEST)
        follow_variable(p, u, f, at, f->body, cursor_offset(declaration), depth);
}

static void store_in(program *p, unit *u, function *f, node *at, node *to, int depth)
{
    to = node_bare(to);
    const bool named = to->kind == CXCursor_DeclRefExpr || to->kind == CXCursor_MemberRefExpr;
    if (to->kind == CXCursor_ArraySubscriptExpr) /* of an array that a pragma is about */
        store_in(p, u, f, at, node_kid(to, 0), depth);
    else
        store(p, u, f, at, named ? node_declaration(to) : clang_getNullCursor(), depth);
}

static void follow_call(program *p, unit *u, node *at, node *call)
{
    CXCursor d = node_called(call);
    if (!cursor_is_null(d) && !functions_is_foreign(p, u, d))
        warn(u, at, "that a function gets");
}

/* The parent in which a value is more than the same value. */
static node *user_of(node **n)
{
    node *up = (*n)->up;
    while (up && (up->kind == CXCursor_ParenExpr || (up->kind == CXCursor_UnexposedExpr && !is_address(up)) ||
                  (up->kind == CXCursor_CStyleCastExpr && is_integer(up->type)))) {
        *n = up;
        up = up->up;
    }
    return up;
}

/* Whether two numbers become one that is taken for a pointer: where one of them is an address, as in a list whose members have
 * the exclusive or of two neighbours, the pointer leads nowhere, and the run-time library may take it for something else. */
static bool is_mixed(const char *o, node *other, node *up)
{
    long long value;
    node *mixed = up, *user = user_of(&mixed);
    return strcmp(o, "^") == 0 && !constant(other, &value) && user && user->kind == CXCursor_CStyleCastExpr && is_address(user);
}

/* Follows the number n, which comes from an address at `at`. */
static void follow(program *p, unit *u, function *f, node *at, node *n, int depth)
{
    node *up = user_of(&n);
    if (!up)
        return;
    if (up->kind == CXCursor_BinaryOperator || up->kind == CXCursor_CompoundAssignOperator) {
        char *o = node_operator(u, up);
        node *x = node_kid(up, 0), *y = node_kid(up, 1);
        const bool right = y == n, assigns = up->kind == CXCursor_CompoundAssignOperator || strcmp(o, "=") == 0;
        if (is_mixed(o, right ? x : y, up))
            warn(u, at, "that is mixed with another one");
        else if (assigns && right)
            store_in(p, u, f, at, x, depth);
        else if (!assigns && (strcmp(o, ",") == 0 ? right : depends(o, right ? x : y)))
            follow(p, u, f, at, up, depth);
        g_free(o);
    } else if (up->kind == CXCursor_UnaryOperator) {
        char *o = node_unary_operator(u, up);
        if (strlen(o) == 1 && strchr("~-+", *o))
            follow(p, u, f, at, up, depth);
        g_free(o);
    } else if (up->kind == CXCursor_ConditionalOperator) {
        if (node_kid(up, 0) != n)
            follow(p, u, f, at, up, depth);
    } else if (up->kind == CXCursor_VarDecl) {
        store(p, u, f, at, up->cursor, depth);
    } else if (up->kind == CXCursor_ReturnStmt) {
        warn(u, at, "that is returned");
    } else if (up->kind == CXCursor_CallExpr) {
        follow_call(p, u, at, up);
    } else if (up->kind == CXCursor_InitListExpr || up->kind == CXCursor_CompoundLiteralExpr) {
        warn(u, at, "that is kept");
    } else if (up->kind == CXCursor_ArraySubscriptExpr && node_kid(up, 1) == n) {
        warn(u, at, "that is an index");
    }
}

void addresses_look(program *p, unit *u, function *f, node *n)
{
    if (!is_conversion(n))
        return;
    for (const node *up = n->up; up; up = up->up)
        if (up->kind == CXCursor_UnaryExpr) /* sizeof */
            return;
    if (!is_settled_here(u, n))
        follow(p, u, f, n, n, 0);
}

/* When the functions have been written. */
void addresses_resolve(unit *u)
{
    for (unsigned i = 0; u->addresses && i < u->addresses->len; i++) {
        const kept_address *a = &g_array_index(u->addresses, kept_address, i);
        const variable *v = a->f->by_decl ? g_hash_table_lookup(a->f->by_decl, GUINT_TO_POINTER(a->variable)) : NULL;
        bool saved = v && v->memory;
        for (unsigned k = 0; v && !saved && k < a->f->sites->len; k++)
            saved = g_ptr_array_find(((site *)g_ptr_array_index(a->f->sites, k))->live, v, NULL);
        if (saved)
            warn(u, a->at, "in a variable that is saved");
    }
}
