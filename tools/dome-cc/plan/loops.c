/* How often a loop polls. */
#include "plan/plan.h"

#include <string.h>

/* In operations, but where something else is said. */
enum {
    SHORT_LOOP_OF_POLLS = 64, /* iterations of loops that do not poll, though something inside does now and then */
    TINY_BODY = 16,           /* loops of which such an iteration is hardly more than a test whether they poll */
    SHORT_BODY = 100,         /* loops of which such an iteration is more than a poll may be entered often, for few iterations */
    LONGEST_STRIP = 8192,     /* iterations */
    LARGE_BODY = 20           /* POLLS_LARGE_...: operations of an iteration */
};

/* Whether a loop's own "break" or "continue" is below n. */
static bool has_jump(node *n, enum CXCursorKind kind)
{
    if (n->kind == kind)
        return true;
    if (node_is_loop(n) || (n->kind == CXCursor_SwitchStmt && kind == CXCursor_BreakStmt))
        return false;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_jump(node_kid(n, i), kind))
            return true;
    return false;
}

static const pragma *pragma_of(unit *u, node *n);

bool loops_has_pragma(unit *u, node *n)
{
    if (node_is_loop(n) && pragma_of(u, n))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (loops_has_pragma(u, node_kid(n, i)))
            return true;
    return false;
}

static const pragma *pragma_of(unit *u, node *n)
{
    const pragma *yes = pragma_before(u, n->a, PRAGMA_POLL), *no = pragma_before(u, n->a, PRAGMA_NOPOLL);
    return !yes || (no && no->at > yes->at) ? no : yes;
}

/* The variable of "v++" or "v--", a plain local integer; else NULL. */
static node *stepped(unit *u, node *n)
{
    n = node_bare(n);
    if (n->kind != CXCursor_UnaryOperator)
        return NULL;
    node *v = node_bare(node_kid(n, 0));
    char *o = node_unary_operator(u, n);
    bool good = (strcmp(o, "++") == 0 || strcmp(o, "--") == 0) && counted_plain_local(u, v);
    g_free(o);
    enum CXTypeKind k = clang_getCanonicalType(v->type).kind;
    return good && (k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
                    k == CXType_ULongLong)
               ? v
               : NULL;
}

/* The variable that each iteration of a loop counts by one, at its end: in the step of a for, or as all that a while does. The
 * loop is left by its condition alone. */
node *loops_counted(unit *u, node *loop)
{
    node *init, *condition, *step = NULL, *body, *v = NULL;
    if (loop->kind == CXCursor_ForStmt) {
        node_for_parts(u, loop, &init, &condition, &step, &body);
        v = step && condition ? stepped(u, step) : NULL;
        if (v && (counted_touches(u, body, cursor_offset(node_declaration(v)), false) ||
                  counted_touches(u, condition, cursor_offset(node_declaration(v)), false) ||
                  has_jump(body, CXCursor_BreakStmt) || has_jump(body, CXCursor_ContinueStmt)))
            v = NULL;
    } else if (loop->kind == CXCursor_WhileStmt) {
        condition = node_kid(loop, 0);
        body = node_kid(loop, 1);
        if (body->kind == CXCursor_CompoundStmt && body->kids->len == 1)
            body = node_kid(body, 0);
        v = node_is_expression(body) ? stepped(u, body) : NULL;
        if (v && counted_touches(u, condition, cursor_offset(node_declaration(v)), false))
            v = NULL;
    }
    return v;
}

/* The placements of the thesis: by what is around a loop and inside of it. */
static bool chosen_by_thesis(int policy, node *n, double work_operations)
{
    bool outermost = true, innermost = true;
    for (const node *up = n->up; up; up = up->up)
        outermost = outermost && !node_is_loop(up);
    GQueue below = G_QUEUE_INIT;
    g_queue_push_tail(&below, n);
    for (node *at; innermost && (at = g_queue_pop_head(&below));) {
        innermost = at == n || !node_is_loop(at);
        for (unsigned i = 0; i < at->kids->len; i++)
            g_queue_push_tail(&below, node_kid(at, i));
    }
    g_queue_clear(&below);
    bool large = work_operations >= LARGE_BODY;
    return policy > 0 && (((policy & POLLS_NESTS) && !innermost) || ((policy & POLLS_OUTERMOST) && outermost) ||
                          ((policy & POLLS_INNERMOST) && innermost) || ((policy & POLLS_LARGE_OUTERMOST) && outermost && large) ||
                          ((policy & POLLS_LARGE_INNERMOST) && innermost && !outermost && large));
}

void loops_make_plan(program *p, unit *u, node *n, loop_plan *l)
{
    cost inside = work_cost_below(p, u, n);
    long long times = counted_trips(u, n), value;
    bool for_loop = n->kind == CXCursor_ForStmt, do_loop = n->kind == CXCursor_DoStmt;
    bool once = do_loop && counted_constant_value(node_kid(n, 1), &value) && value == 0; /* do ... while (0) */
    double iteration = inside.operations + 2;
    const pragma *mine = pragma_of(u, n);
    l->unknown = inside.unknown;
    l->class = LOOP_FREE;
    l->polls = inside.polls;
    double measured = 0, most = 0;
    bool known = measured_loop(u, n, &measured, &most);
    iteration = MAX(iteration, measured);
    l->stride = (unsigned)CLAMP(polls_strip_work / iteration, 1, LONGEST_STRIP);
    l->few = (unsigned)CLAMP(WORK_SHORT_NEST * (double)polls_strip_work / iteration, 1, 1 << 30);
    l->cost = (once ? 1 : times > 0 ? (double)times : 1000) * iteration;
    l->breaks = has_jump(node_kid(n, do_loop ? 0 : n->kids->len - 1), CXCursor_BreakStmt);
    if (mine && !measured_counts()) {
        l->class = mine->kind == PRAGMA_POLL ? LOOP_EACH : LOOP_FREE;
    } else if (polls_policy != POLLS_AUTO) {
        l->class = chosen_by_thesis(polls_policy, n, inside.operations) ? LOOP_EACH : LOOP_FREE;
    } else if (known && most <= measured_limit()) {
        l->class = LOOP_FREE;
        l->cost = most;
    } else if (once || (times > 0 && (inside.polls ? counted_turns(u, n) <= SHORT_LOOP_OF_POLLS : l->cost <= polls_strip_work))) {
        l->class = LOOP_FREE;
    } else if (inside.polls || inside.unknown || !counted_plain(n, n) || l->stride < 4) {
        l->class = LOOP_EACH;
        l->nest = for_loop && inside.polls && !inside.unknown && !loops_has_pragma(u, n) && counted_parts(u, n, NULL, NULL, NULL);
    } else if (for_loop && counted_parts(u, n, NULL, NULL, NULL)) {
        l->class = LOOP_STRIP;
    } else if (loops_counted(u, n)) {
        l->class = LOOP_BITS;
        while (l->stride & (l->stride - 1)) /* a power of two */
            l->stride &= l->stride - 1;
    } else {
        l->class = do_loop && has_jump(node_kid(n, 0), CXCursor_ContinueStmt) ? LOOP_EACH : LOOP_COUNTDOWN;
    }
    l->twice = iteration <= SHORT_BODY;
    l->unrolled = l->class == LOOP_BITS && inside.operations + 2 <= TINY_BODY;
    l->polls = l->polls || l->class != LOOP_FREE;
}

const loop_plan *loops_plan(unit *u, node *n)
{
    static const loop_plan none = {.class = LOOP_FREE, .stride = 1};
    const loop_plan *l = g_hash_table_lookup(u->loops, n);
    return l ? l : &none;
}
