/* Which loops poll, and which functions can reach a poll: over all files of the program. */
#include "cc.h"

#include <string.h>

int options_policy; /* 0: loops that may take long; 1: every loop; -1: none */

/* Loops of at most so many iterations, with those of loops inside, do not poll. */
enum { SHORT_LOOP = 4096, SHORT_LOOP_OF_CALLS = 64 };

/* Nests of at most so many operations, which take less than a millisecond or about one, do not poll. */
enum { SHORT_NEST = 10000000 };

char *function_key(unit *u, CXCursor decl)
{
    char *name = cursor_name(decl), *key = name;
    if (clang_getCursorLinkage(decl) == CXLinkage_Internal) {
        key = g_strdup_printf("%s:%s", u->name, name);
        g_free(name);
    }
    return key;
}

/* ---- loops ---- */

char *unary_operator(unit *u, const node *n)
{
    node *kid = node_kid(n, 0);
    char *text = kid->a > n->a ? text_flat(u, n->a, kid->a) : text_flat(u, kid->b, n->b);
    return g_strstrip(text);
}

static bool refers(const node *n, unsigned variable)
{
    return n && n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == variable;
}

/* Whether a variable is assigned to below n; or, if `address`, whether its address is taken there. */
static bool touches(unit *u, node *n, unsigned variable, bool address)
{
    if (n->kind == CXCursor_UnaryOperator && refers(node_bare(node_kid(n, 0)), variable)) {
        char *o = unary_operator(u, n);
        bool found = address ? strcmp(o, "&") == 0 : strcmp(o, "++") == 0 || strcmp(o, "--") == 0;
        g_free(o);
        if (found)
            return true;
    }
    if (!address && n->kind == CXCursor_CompoundAssignOperator && refers(node_bare(node_kid(n, 0)), variable))
        return true;
    if (!address && n->kind == CXCursor_BinaryOperator && refers(node_bare(node_kid(n, 0)), variable)) {
        char *o = node_operator(u, n);
        bool found = strcmp(o, "=") == 0;
        g_free(o);
        if (found)
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (touches(u, node_kid(n, i), variable, address))
            return true;
    return false;
}

static bool is_local(CXCursor d)
{
    return d.kind == CXCursor_ParmDecl || (d.kind == CXCursor_VarDecl && clang_Cursor_hasVarDeclGlobalStorage(d) == 0);
}

static node *root_of(node *n)
{
    while (n->up)
        n = n->up;
    return n;
}

/* A local variable that nothing but assignments to its name can change. */
static bool plain_local(unit *u, node *n)
{
    if (n->kind != CXCursor_DeclRefExpr)
        return false;
    CXCursor d = node_declaration(n);
    return is_local(d) && !clang_isVolatileQualifiedType(clang_getCursorType(d)) &&
           !touches(u, root_of(n), cursor_offset(d), true);
}

static bool invariant(unit *u, node *n, node *loop)
{
    n = node_bare(n);
    switch (n->kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr:
        return true;
    case CXCursor_DeclRefExpr:
        if (node_declaration(n).kind == CXCursor_EnumConstantDecl)
            return true;
        return plain_local(u, n) && !touches(u, loop, cursor_offset(node_declaration(n)), false);
    case CXCursor_CStyleCastExpr:
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_is_expression(node_kid(n, i)) && !invariant(u, node_kid(n, i), loop))
                return false;
        return true;
    case CXCursor_UnexposedExpr:
        return n->kids->len == 1 && invariant(u, node_kid(n, 0), loop);
    case CXCursor_UnaryOperator: {
        char *o = unary_operator(u, n);
        bool good = strlen(o) == 1 && strchr("+-~", *o) && invariant(u, node_kid(n, 0), loop);
        g_free(o);
        return good;
    }
    case CXCursor_BinaryOperator: {
        char *o = node_operator(u, n);
        bool good =
            strlen(o) == 1 && strchr("+-*/%", *o) && invariant(u, node_kid(n, 0), loop) && invariant(u, node_kid(n, 1), loop);
        g_free(o);
        return good;
    }
    default:
        return false;
    }
}

/* What a loop that is cut into strips, or does not poll, may contain. */
static bool plain(unit *u, node *n, bool leaves)
{
    switch ((int)n->kind) {
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_LabelStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_StmtExpr:
    case CXCursor_GCCAsmStmt:
        return false;
    case CXCursor_BreakStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CaseStmt: /* a switch outside may jump here, past what a strip begins with */
    case CXCursor_DefaultStmt:
        if (!leaves)
            return false;
        break;
    case CXCursor_CallExpr: {
        static const char *const quick[] = {"sqrt", "sqrtf", "fabs",  "fabsf", "floor", "floorf", "ceil", "ceilf",
                                            "fmin", "fmax",  "fminf", "fmaxf", "abs",   "labs",   "fma",  "llabs"};
        CXCursor f = call_function(n);
        if (cursor_is_null(f))
            return false;
        char *name = cursor_name(f);
        bool good = g_str_has_prefix(name, "__builtin_");
        for (unsigned i = 0; i < G_N_ELEMENTS(quick); i++)
            good = good || (strcmp(name, quick[i]) == 0 && cursor_in_system_header(f));
        g_free(name);
        if (!good)
            return false;
        break;
    }
    default:
        break;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (!plain(u, node_kid(n, i), leaves))
            return false;
    return true;
}

static bool constant_value(node *n, long long *value)
{
    CXEvalResult r = clang_Cursor_Evaluate(n->cursor);
    if (!r)
        return false;
    bool good = clang_EvalResult_getKind(r) == CXEval_Int;
    *value = good ? clang_EvalResult_getAsLongLong(r) : 0;
    clang_EvalResult_dispose(r);
    return good;
}

/* "for (...; i < n; i++)": i is a plain local integer, which only the step changes, and n does not change. */
bool strip_parts(unit *u, node *loop, node **var, node **bound, char **comparison)
{
    node *init, *condition, *step, *body;
    if (loop->kind != CXCursor_ForStmt)
        return false;
    for_parts(u, loop, &init, &condition, &step, &body);
    if (!condition || !step || !body)
        return false;
    condition = node_bare(condition);
    if (condition->kind != CXCursor_BinaryOperator)
        return false;
    char *o = node_operator(u, condition);
    bool up = o[0] == '<', good = (up || o[0] == '>') && (o[1] == '\0' || strcmp(o + 1, "=") == 0);
    node *left = node_kid(condition, 0), *i = node_bare(left), *right = node_kid(condition, 1);
    CXCursor d = clang_getNullCursor();
    if (good && i->kind == CXCursor_DeclRefExpr)
        d = node_declaration(i);
    good = good && !cursor_is_null(d) && plain_local(u, i);
    if (good) {
        enum CXTypeKind k = clang_getCanonicalType(clang_getCursorType(d)).kind;
        good = (k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
                k == CXType_ULongLong) &&
               type_same(left->type, clang_getCursorType(d)) && type_same(right->type, clang_getCursorType(d)) &&
               becomes_everywhere(right, type_scalar(clang_getCursorType(d)));
    }
    unsigned v = good ? cursor_offset(d) : 0;
    good = good && !touches(u, body, v, false) && invariant(u, right, loop);
    if (good) {
        node *s = node_bare(step);
        good = false;
        if (s->kind == CXCursor_UnaryOperator && refers(node_bare(node_kid(s, 0)), v)) {
            char *p = unary_operator(u, s);
            good = strcmp(p, up ? "++" : "--") == 0;
            g_free(p);
        } else if (s->kind == CXCursor_CompoundAssignOperator && refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_operator(u, s);
            long long by;
            good = strcmp(p, up ? "+=" : "-=") == 0 && constant_value(node_kid(s, 1), &by) && by > 0 && by <= 1024;
            g_free(p);
        }
    }
    if (good && var) {
        *var = i;
        *bound = right;
        *comparison = o;
    } else {
        g_free(o);
    }
    return good;
}

/* Iterations of a loop from a constant to a constant; 0: not known. */
static long long trips(unit *u, node *loop)
{
    node *init, *condition, *step, *body, *i, *bound;
    char *o;
    long long from, to;
    if (!strip_parts(u, loop, &i, &bound, &o))
        return 0;
    g_free(o);
    for_parts(u, loop, &init, &condition, &step, &body);
    if (!init || !constant_value(bound, &to))
        return 0;
    unsigned v = cursor_offset(node_declaration(i));
    node *value = NULL;
    if (init->kind == CXCursor_DeclStmt) {
        for (unsigned k = 0; k < init->kids->len; k++) {
            node *d = node_kid(init, k);
            if (d->kind == CXCursor_VarDecl && cursor_offset(d->cursor) == v && d->kids->len)
                value = node_kid(d, d->kids->len - 1);
        }
    } else {
        node *s = node_bare(init);
        if (s->kind == CXCursor_BinaryOperator && refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_operator(u, s);
            if (strcmp(p, "=") == 0)
                value = node_kid(s, 1);
            g_free(p);
        }
    }
    if (!value || !node_is_expression(value) || !constant_value(value, &from))
        return 0;
    return MAX(from > to ? from - to : to - from, 0) + 1;
}

/* Iterations of the loops at and below n that have constant bounds; others count as one, because they poll by themselves. */
static long long weight(unit *u, node *n, bool *calls)
{
    long long inside = 1;
    if (n->kind == CXCursor_CallExpr && !plain(u, n, true))
        *calls = true;
    for (unsigned i = 0; i < n->kids->len; i++)
        inside = MAX(inside, weight(u, node_kid(n, i), calls));
    long long own = node_is_loop(n) ? trips(u, n) : 1;
    return MIN(inside, 1 << 20) * MIN(MAX(own, 1), 1 << 20);
}

/* A loop that ends soon, unless what it calls polls by itself. */
static bool short_loop(unit *u, node *loop)
{
    bool calls = false;
    return trips(u, loop) > 0 && weight(u, loop, &calls) <= (calls ? SHORT_LOOP_OF_CALLS : SHORT_LOOP);
}

/* ---- nests of few iterations ---- */

/* A division that the program may never come to: it must not be computed before the nest. */
static bool divides(unit *u, node *n)
{
    if (n->kind == CXCursor_BinaryOperator) {
        char *o = node_operator(u, n);
        bool found = *o == '/' || *o == '%';
        g_free(o);
        if (found)
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (divides(u, node_kid(n, i)))
            return true;
    return false;
}

static bool local_value(unit *u, node *n, node *nest, GString *out)
{
    if (!invariant(u, n, nest) || divides(u, n))
        return false;
    g_string_append_c(out, '(');
    node_print(u, n, out);
    g_string_append_c(out, ')');
    return true;
}

/* What an iteration costs, about: its operations. */
static unsigned operations(unit *u, node *n)
{
    unsigned k = 0;
    if (n->kind == CXCursor_BinaryOperator) {
        char *o = node_operator(u, n);
        k = *o == '/' || *o == '%' ? 10 : 1;
        g_free(o);
    } else if (n->kind == CXCursor_CallExpr) {
        k = 10;
    } else if (n->kind == CXCursor_UnaryOperator || n->kind == CXCursor_CompoundAssignOperator ||
               n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr || n->kind == CXCursor_IfStmt ||
               n->kind == CXCursor_ConditionalOperator || n->kind == CXCursor_CStyleCastExpr) {
        k = 1;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        k += operations(u, node_kid(n, i));
    return k;
}

/* Whether the switch that a case belongs to is below `nest`. */
static bool inside_switch(node *n, node *nest)
{
    while (n != nest && n->kind != CXCursor_SwitchStmt)
        n = n->up;
    return n != nest;
}

/* The work of the loops at and below n, as an expression of what is known before `nest`. False: it is not known. */
static bool work_of(unit *u, node *n, node *nest, GString *out)
{
    if (!node_is_loop(n)) {
        switch ((int)n->kind) { /* as plain(), but for loops */
        case CXCursor_LabelStmt:
        case CXCursor_GotoStmt:
        case CXCursor_IndirectGotoStmt:
        case CXCursor_StmtExpr:
        case CXCursor_GCCAsmStmt:
        case CXCursor_ReturnStmt:
            return false;
        case CXCursor_CaseStmt:
        case CXCursor_DefaultStmt:
            if (!inside_switch(n, nest))
                return false;
            break;
        case CXCursor_CallExpr:
            return plain(u, n, true);
        case CXCursor_VarDecl: /* those in memory are initialized where they are declared */
            if (type_is_array(n->type) || type_is_record(n->type) || touches(u, nest, cursor_offset(n->cursor), true) ||
                clang_isVolatileQualifiedType(clang_getCanonicalType(n->type)))
                return false;
            break;
        default:
            break;
        }
        for (unsigned i = 0; i < n->kids->len; i++)
            if (!work_of(u, node_kid(n, i), nest, out))
                return false;
        return true;
    }
    node *init, *condition, *step, *body, *i, *bound, *from = NULL;
    char *o;
    if (!strip_parts(u, n, &i, &bound, &o))
        return false;
    bool up = *o == '<';
    g_free(o);
    for_parts(u, n, &init, &condition, &step, &body);
    unsigned v = cursor_offset(node_declaration(i));
    if (init && init->kind == CXCursor_DeclStmt) {
        node *d = init->kids->len == 1 ? node_kid(init, 0) : NULL;
        if (d && d->kind == CXCursor_VarDecl && cursor_offset(d->cursor) == v && d->kids->len)
            from = node_kid(d, d->kids->len - 1);
        if (!d || touches(u, nest, v, true))
            return false;
    } else if (init) {
        node *s = node_bare(init);
        char *p = s->kind == CXCursor_BinaryOperator && refers(node_bare(node_kid(s, 0)), v) ? node_operator(u, s) : g_strdup("");
        if (strcmp(p, "=") == 0)
            from = node_kid(s, 1);
        g_free(p);
    }
    if (!from || !node_is_expression(from))
        return false;
    GString *low = g_string_new(NULL), *high = g_string_new(NULL), *inside = g_string_new(NULL);
    bool good = local_value(u, up ? from : bound, nest, low) && local_value(u, up ? bound : from, nest, high) &&
                work_of(u, body, nest, inside);
    if (good)
        g_string_append_printf(out, " + (%s > %s ? (double)%s - (double)%s + 1 : 1) * (%u%s)", high->str, low->str, high->str,
                               low->str, operations(u, body) + 2, inside->str);
    g_string_free(low, TRUE);
    g_string_free(high, TRUE);
    g_string_free(inside, TRUE);
    return good;
}

static const pragma *pragma_of(unit *u, node *n);

static bool has_pragma(unit *u, node *n)
{
    if (node_is_loop(n) && pragma_of(u, n))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_pragma(u, node_kid(n, i)))
            return true;
    return false;
}

/* "operations of this nest < limit", or NULL if that is not known before it. */
char *summary_short_nest(unit *u, node *loop)
{
    GString *s = g_string_new("0.0");
    if (options_policy || has_pragma(u, loop) || !work_of(u, loop, loop, s)) {
        g_string_free(s, TRUE);
        return NULL;
    }
    g_string_append_printf(s, " < %d", SHORT_NEST);
    return g_string_free(s, FALSE);
}

static const pragma *pragma_of(unit *u, node *n)
{
    const pragma *mine = NULL; /* the last one between the statement before and this loop */
    for (unsigned i = 0; i < u->pragmas->len; i++) {
        const pragma *p = &g_array_index(u->pragmas, pragma, i);
        if (p->kind != PRAGMA_HOLD && p->at < n->a && text_skip(u, p->at) == n->a)
            mine = p;
    }
    return mine;
}

loop_class summary_loop(unit *u, node *n)
{
    const pragma *mine = pragma_of(u, n);
    if (mine)
        return mine->kind == PRAGMA_POLL ? LOOP_EACH : LOOP_FREE;
    if (options_policy)
        return options_policy > 0 ? LOOP_EACH : LOOP_FREE;
    node *init, *condition, *step, *body;
    long long value;
    if (n->kind == CXCursor_DoStmt && constant_value(node_kid(n, 1), &value) && value == 0)
        return LOOP_FREE; /* do ... while (0) */
    if (n->kind != CXCursor_ForStmt)
        return LOOP_EACH;
    for_parts(u, n, &init, &condition, &step, &body);
    bool parts = (!condition || plain(u, condition, true)) && (!step || plain(u, step, true));
    if (short_loop(u, n))
        return LOOP_FREE;
    if (parts && plain(u, body, false) && strip_parts(u, n, NULL, NULL, NULL))
        return LOOP_STRIP;
    return LOOP_EACH;
}

/* ---- functions ---- */

static void take(program *p, unit *u, node *n)
{
    CXCursor d = node_declaration(n);
    char *key = function_key(u, d), *type = type_key(clang_getCursorType(d));
    for (node *up = n->up; up && (up->kind == CXCursor_UnexposedExpr || up->kind == CXCursor_ParenExpr ||
                                  up->kind == CXCursor_CStyleCastExpr || up->kind == CXCursor_UnaryOperator);
         up = up->up) {
        char *seen = type_key(up->type);
        if (strcmp(seen, type) != 0)
            *type = '\0';
        g_free(seen);
    }
    char *before = g_hash_table_lookup(p->addressed, key);
    if (before && strcmp(before, type) != 0)
        *type = '\0';
    g_hash_table_insert(p->addressed, key, type);
}

static void scan(program *p, unit *u, function *f, node *n)
{
    if (n->kind == CXCursor_UnaryExpr)
        return; /* sizeof: nothing is evaluated */
    if (f && node_is_loop(n) && summary_loop(u, n) != LOOP_FREE)
        f->has_loop = true;
    if (n->kind == CXCursor_CallExpr && f) {
        CXCursor d = call_function(n);
        if (!cursor_is_null(d)) {
            g_ptr_array_add(f->calls, function_key(u, d));
        } else if (call_callee(n)) {
            CXType t = type_pointee(call_callee(n)->type);
            bool any = clang_getCanonicalType(t).kind == CXType_FunctionNoProto;
            g_ptr_array_add(f->indirect, any ? g_strdup("") : type_key(t));
        }
    }
    if (n->kind == CXCursor_DeclRefExpr && node_declaration(n).kind == CXCursor_FunctionDecl) {
        node *up = node_bare_up(n);
        if (!(up && up->kind == CXCursor_CallExpr && node_bare(call_callee(up)) == n))
            take(p, u, n);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        scan(p, u, f, node_kid(n, i));
}

void summary_unit(program *p, unit *u)
{
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        function *f = NULL;
        if (top->kind == CXCursor_FunctionDecl && clang_isCursorDefinition(top->cursor) && top->kids->len) {
            node *body = node_kid(top, top->kids->len - 1);
            if (body->kind == CXCursor_CompoundStmt) {
                f = g_new0(function, 1);
                f->unit = u;
                f->decl = top;
                f->body = body;
                f->name = cursor_name(top->cursor);
                f->key = function_key(u, top->cursor);
                f->type_key = type_key(top->type);
                f->held = hold_reason(u, top, GPOINTER_TO_UINT(g_ptr_array_index(u->ends, i)));
                f->calls = g_ptr_array_new();
                f->indirect = g_ptr_array_new();
                g_ptr_array_add(u->functions, f);
                if (!g_hash_table_contains(p->functions, f->key))
                    g_hash_table_insert(p->functions, f->key, f);
                if (strcmp(f->name, "main") == 0)
                    u->main = f;
            }
        }
        scan(p, u, f, top);
    }
}

static bool indirect_reaches(program *p, const char *type, bool (*test)(program *, function *, void *), void *data)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, p->addressed);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        function *g = g_hash_table_lookup(p->functions, key);
        if (g && (!*type || !*(const char *)value || strcmp(type, value) == 0) && test(p, g, data))
            return true;
    }
    return false;
}

static bool does_poll(program *p, function *g, void *data)
{
    (void)p;
    (void)data;
    return g->polls;
}

static bool calls_what_polls(program *p, const function *f)
{
    for (unsigned k = 0; k < f->calls->len; k++) {
        const function *g = g_hash_table_lookup(p->functions, g_ptr_array_index(f->calls, k));
        if (g && g->polls)
            return true;
    }
    for (unsigned k = 0; k < f->indirect->len; k++)
        if (indirect_reaches(p, g_ptr_array_index(f->indirect, k), does_poll, NULL))
            return true;
    return false;
}

/* Whether f reaches itself. */
static bool reaches(program *p, function *g, void *goal)
{
    if (g == goal && g->mark)
        return true;
    if (g->mark)
        return false;
    g->mark = 1;
    for (unsigned i = 0; i < g->calls->len; i++) {
        function *h = g_hash_table_lookup(p->functions, g_ptr_array_index(g->calls, i));
        if (h && reaches(p, h, goal))
            return true;
    }
    for (unsigned i = 0; i < g->indirect->len; i++)
        if (indirect_reaches(p, g_ptr_array_index(g->indirect, i), reaches, goal))
            return true;
    return false;
}

static void clear_mark(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    (void)data;
    ((function *)value)->mark = 0;
}

void summary_complete(program *p)
{
    GPtrArray *all = g_ptr_array_new();
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++)
            g_ptr_array_add(all, g_ptr_array_index(u->functions, k));
    }
    for (unsigned i = 0; i < all->len; i++) {
        function *f = g_ptr_array_index(all, i);
        g_hash_table_foreach(p->functions, clear_mark, NULL);
        f->mark = 0;
        f->recursive = options_policy >= 0 && reaches(p, f, f);
        f->polls = !f->held && (f->recursive || f->has_loop);
    }
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < all->len; i++) {
            function *f = g_ptr_array_index(all, i);
            if (f->held)
                continue;
            bool polls = f->polls || calls_what_polls(p, f);
            function *same = g_hash_table_lookup(p->functions, f->key); /* weak, or inline in a header */
            polls = polls || same->polls;
            more = more || polls != f->polls || polls != same->polls;
            f->polls = same->polls = polls;
        }
    }
    for (unsigned i = 0; i < all->len; i++) {
        const function *f = g_ptr_array_index(all, i);
        if (f->held && *f->held && (f->has_loop || calls_what_polls(p, f)))
            unit_warn(f->unit, f->decl->a, "%s %s: there is no checkpoint while it is active", f->name, f->held);
    }
    g_ptr_array_free(all, TRUE);
}

bool call_polls(program *p, unit *u, node *n)
{
    CXCursor d = call_function(n);
    if (!cursor_is_null(d)) {
        char *key = function_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        return g && g->polls;
    }
    node *callee = call_callee(n);
    if (!callee)
        return false;
    CXType t = type_pointee(callee->type);
    char *key = clang_getCanonicalType(t).kind == CXType_FunctionNoProto ? g_strdup("") : type_key(t);
    bool polls = indirect_reaches(p, key, does_poll, NULL);
    g_free(key);
    return polls;
}

/* ---- inside of a function that polls ---- */

static bool mark(program *p, unit *u, node *n)
{
    n->polls = false;
    if (n->kind == CXCursor_UnaryExpr)
        return false;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (mark(p, u, node_kid(n, i)))
            n->polls = true;
    if (n->kind == CXCursor_CallExpr && call_polls(p, u, n))
        n->polls = true;
    if (node_is_loop(n) && summary_loop(u, n) != LOOP_FREE)
        n->polls = true;
    return n->polls;
}

/* Variables that cannot stay in registers: whose address is taken, and arrays. */
static void find_taken(function *f, node *n)
{
    if (n->kind == CXCursor_DeclRefExpr) {
        CXCursor d = node_declaration(n);
        if (is_local(d)) {
            node *at = n;
            bool taken = type_is_array(clang_getCursorType(d)) && d.kind != CXCursor_ParmDecl;
            for (node *up = n->up; up && !taken; at = up, up = up->up) {
                if (up->kind == CXCursor_MemberRefExpr && type_is_record(at->type)) {
                    taken = type_is_array(up->type);
                } else if (up->kind == CXCursor_UnaryOperator) {
                    char *o = unary_operator(f->unit, up);
                    taken = strcmp(o, "&") == 0;
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
        find_taken(f, node_kid(n, i));
}

void summary_mark(program *p, function *f)
{
    mark(p, f->unit, f->decl);
    f->taken = g_hash_table_new(NULL, NULL);
    find_taken(f, f->decl);
}

bool declares_taken(function *f, CXCursor decl)
{
    return g_hash_table_contains(f->taken, GUINT_TO_POINTER(cursor_offset(decl)));
}
