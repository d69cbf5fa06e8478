/* The costs of calls, loops and nests, in operations. */
#include "plan/plan.h"

#include <string.h>

/* All in operations, of which some 2 to 10 take a nanosecond. */
enum { UNKNOWN_CALL = 3000 }; /* a call of which nothing is known */

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
    if (!counted_invariant(u, n, nest, false) || divides(u, n))
        return false;
    g_string_append_c(out, '(');
    edit_print(u, n, out);
    g_string_append_c(out, ')');
    return true;
}

/* The operations that are evaluated at a node itself. */
unsigned work_operations(unit *u, node *n)
{
    if (n->kind == CXCursor_BinaryOperator) {
        char *o = node_operator(u, n);
        unsigned k = *o == '/' || *o == '%' ? 10 : 1;
        g_free(o);
        return k;
    }
    return n->kind == CXCursor_UnaryOperator || n->kind == CXCursor_CompoundAssignOperator ||
           n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr || n->kind == CXCursor_IfStmt ||
           n->kind == CXCursor_SwitchStmt || n->kind == CXCursor_ConditionalOperator || n->kind == CXCursor_CStyleCastExpr;
}

static cost cost_of(program *p, unit *u, node *n);

/* Whether n itself may stand once more in a nest, where it does not poll. */
static bool may_stand_in_strip(program *p, unit *u, node *n, node *nest)
{
    switch ((int)n->kind) { /* as counted_plain() */
    case CXCursor_LabelStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_StmtExpr:
    case CXCursor_GCCAsmStmt:
    case CXCursor_ReturnStmt:
        return false;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        return counted_inside_switch(n, nest);
    case CXCursor_CallExpr: {
        cost k = cost_of(p, u, n);
        return !k.polls && !k.unknown;
    }
    case CXCursor_VarDecl: /* those in memory are initialized where they are declared */
        return !ctype_is_array(n->type) && !ctype_is_record(n->type) &&
               !counted_touches(u, nest, cursor_offset(n->cursor), true) &&
               !clang_isVolatileQualifiedType(clang_getCanonicalType(n->type));
    default:
        return true;
    }
}

/* Loops that poll in a nest of `together` iterations. They must be counted, without loops that poll inside, and of some length
 * without a poll when so many run together; -1: others are below n, or what must not stand twice. */
static int strips_below(program *p, unit *u, node *n, node *nest, unsigned together)
{
    enum { SHORTEST = 64 };
    const loop_plan *own = node_is_loop(n) ? loops_plan(u, n) : NULL;
    if (own && own->polls && (own->class != LOOP_STRIP || own->few / together < SHORTEST))
        return -1;
    int all = own && own->polls;
    for (unsigned i = 0; i < n->kids->len; i++) {
        int k = may_stand_in_strip(p, u, node_kid(n, i), nest) ? strips_below(p, u, node_kid(n, i), nest, together) : -1;
        if (k < 0)
            return -1;
        all += k;
    }
    return all;
}

/* Whether the loops in an iteration of a nest tell how long they are when they begin, so that they can be checked there. */
bool work_is_checked(program *p, unit *u, node *body, unsigned together)
{
    return may_stand_in_strip(p, u, body, body) && strips_below(p, u, body, body, together) > 0;
}

/* The work of the loops at and below n, as an expression of what is known before `nest`. False: it is not known. */
static bool work_of(program *p, unit *u, node *n, node *nest, GString *out)
{
    const loop_plan *own = node_is_loop(n) ? loops_plan(u, n) : NULL;
    if (!own || (own->class == LOOP_FREE && !own->polls)) {
        if (!may_stand_in_strip(p, u, n, nest))
            return false;
        for (unsigned i = 0; i < n->kids->len; i++)
            if (!work_of(p, u, node_kid(n, i), nest, out))
                return false;
        return true;
    }
    node *init, *condition, *step, *body, *i, *bound, *from = NULL;
    char *o;
    if (!counted_parts(u, n, &i, &bound, &o))
        return false;
    bool up = *o == '<';
    g_free(o);
    node_for_parts(u, n, &init, &condition, &step, &body);
    unsigned v = cursor_offset(node_declaration(i));
    if (init && init->kind == CXCursor_DeclStmt) {
        node *d = init->kids->len == 1 ? node_kid(init, 0) : NULL;
        if (d && d->kind == CXCursor_VarDecl && cursor_offset(d->cursor) == v && d->kids->len)
            from = node_kid(d, d->kids->len - 1);
        if (!d || counted_touches(u, nest, v, true))
            return false;
    } else if (init) {
        node *s = node_bare(init);
        char *p = s->kind == CXCursor_BinaryOperator && counted_refers(node_bare(node_kid(s, 0)), v) ? node_operator(u, s)
                                                                                                     : g_strdup("");
        if (strcmp(p, "=") == 0)
            from = node_kid(s, 1);
        g_free(p);
    }
    if (!from || !node_is_expression(from))
        return false;
    GString *low = g_string_new(NULL), *high = g_string_new(NULL), *inside = g_string_new(NULL);
    bool good = local_value(u, up ? from : bound, nest, low) && local_value(u, up ? bound : from, nest, high) &&
                work_of(p, u, body, nest, inside);
    if (good)
        g_string_append_printf(out, " + (%s > %s ? (double)%s - (double)%s + 1 : 1) * (%.0f%s)", high->str, low->str, high->str,
                               low->str, cost_of(p, u, body).operations + 2, inside->str);
    g_string_free(low, TRUE);
    g_string_free(high, TRUE);
    g_string_free(inside, TRUE);
    return good;
}

/* The operations below n at least, if it is not left early: loops of which the iterations are not known count as one. */
double work_least(program *p, unit *u, node *n)
{
    double k = work_own(p, u, n);
    if (n->kind == CXCursor_CallExpr) {
        cost all = cost_of(p, u, n);
        k = all.polls ? k : all.operations;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        k += work_least(p, u, node_kid(n, i));
    return node_is_loop(n) ? k * (double)MAX(counted_trips(u, n), 1) : k;
}

/* "operations of this nest < limit", or NULL if that is not known before it. */
char *work_short_nest(program *p, unit *u, node *loop)
{
    GString *s = g_string_new("0.0");
    if (polls_policy != POLLS_AUTO || loops_has_pragma(u, loop) || !work_of(p, u, loop, loop, s)) {
        g_string_free(s, TRUE);
        return NULL;
    }
    g_string_append_printf(s, " < %d", WORK_SHORT_NEST * polls_strip_work);
    return g_string_free(s, FALSE);
}

/* The operations of an iteration, of which loops inside are counted; NULL: they are not known when it begins. */
char *work_of_iteration(program *p, unit *u, node *body)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%.0f", cost_of(p, u, body).operations + 2);
    if (work_of(p, u, body, body, s))
        return g_string_free(s, FALSE);
    g_string_free(s, TRUE);
    return NULL;
}

cost work_cost_below(program *p, unit *u, node *n)
{
    cost all = {0};
    for (unsigned i = 0; i < n->kids->len; i++) {
        cost k = cost_of(p, u, node_kid(n, i));
        all.operations += k.operations;
        all.polls = all.polls || k.polls;
        all.unknown = all.unknown || k.unknown;
    }
    return all;
}

typedef struct reached {
    cost *cost;
    bool any;
} reached;

static void add_reached(program *p, function *g, cost *k)
{
    work_plan_function(p, g);
    k->polls = k->polls || g->polls;
    k->unknown = k->unknown || g->work.unknown;
    k->operations = MAX(k->operations, g->work.cost);
}

static bool each_reached(program *p, function *g, void *data)
{
    reached *r = data;
    r->any = true;
    add_reached(p, g, r->cost);
    return false;
}

static cost cost_of_call(program *p, unit *u, node *n)
{
    cost k = {0};
    CXCursor d = node_called(n);
    if (!cursor_is_null(d)) {
        char *key = cursor_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        unsigned library = g ? 0 : counted_library_call(n);
        g_free(key);
        if (g && !(g->operation && !polls_call(p, u, n)))
            add_reached(p, g, &k);
        else
            k = (cost){.operations = library ? library : UNKNOWN_CALL, .unknown = !library};
    } else if (node_callee(n)) {
        CXType t = ctype_pointee(node_callee(n)->type);
        char *key = clang_getCanonicalType(t).kind == CXType_FunctionNoProto ? g_strdup("") : ctype_key(t);
        reached r = {&k, false};
        functions_indirect_reaches(p, key, each_reached, &r);
        g_free(key);
        if (!r.any)
            k = (cost){.operations = UNKNOWN_CALL, .unknown = true};
    }
    k.operations += 5;
    return k;
}

/* Of n itself. A function of the program only counts as a call. */
double work_own(program *p, unit *u, node *n)
{
    if (n->kind != CXCursor_CallExpr)
        return work_operations(u, n);
    CXCursor d = node_called(n);
    char *key = cursor_is_null(d) ? NULL : cursor_key(u, d);
    bool ours = !key || g_hash_table_contains(p->functions, key);
    unsigned library = ours ? 0 : counted_library_call(n);
    g_free(key);
    return 5 + (ours ? 0 : library ? library : UNKNOWN_CALL);
}

/* Of evaluating n once. Loops that poll count as nothing. */
static cost cost_of(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_UnaryExpr) /* sizeof */
        return (cost){0};
    if (node_is_loop(n)) {
        loop_plan *l = g_hash_table_lookup(u->loops, n);
        if (!l) {
            l = g_new0(loop_plan, 1);
            loops_make_plan(p, u, n, l);
            g_hash_table_insert(u->loops, n, l);
        }
        return (cost){.operations = l->polls ? 0 : l->cost, .polls = l->polls, .unknown = l->unknown};
    }
    cost all = work_cost_below(p, u, n), own = {.operations = work_operations(u, n)};
    if (n->kind == CXCursor_CallExpr)
        own = cost_of_call(p, u, n);
    all.operations += own.operations;
    all.polls = all.polls || own.polls;
    all.unknown = all.unknown || own.unknown;
    return all;
}

/* Plans the loops of f and of all that it calls. A function of a circle of calls polls: it is not waited for. */
void work_plan_function(program *p, function *f)
{
    if (f->work.planned != FUNCTION_NEW)
        return;
    f->work.planned = FUNCTION_BEGUN;
    cost k = cost_of(p, f->unit, f->body);
    f->delays = f->held && k.polls;
    f->polls = !f->held && (f->polls || k.polls);
    f->work.unknown = k.unknown || f->delays;
    double most;
    f->work.cost = measured_function(f, &most) ? most : k.operations;
    f->work.planned = FUNCTION_DONE;
}
