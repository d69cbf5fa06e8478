/* Which functions can reach a poll: over all files of the program. */
#include "plan/plan.h"

int polls_policy = POLLS_AUTO;

bool polls_operations;

int polls_strip_work = 500000; /* from 0.1 to 0.5 ms */

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
        if (functions_indirect_reaches(p, g_ptr_array_index(f->indirect, k), does_poll, NULL))
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
        if (functions_indirect_reaches(p, g_ptr_array_index(g->indirect, i), reaches, goal))
            return true;
    return false;
}

static void clear_mark(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    (void)data;
    ((function *)value)->mark = 0;
}

/* ---- what calls and loops cost ---- */

void polls_complete(program *p)
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
        double most;
        bool short_calls = measured_function(f, &most) && most <= measured_limit();
        f->recursive =
            polls_policy == POLLS_CALLS ? f != f->unit->main : polls_policy != POLLS_NONE && !short_calls && reaches(p, f, f);
        f->polls = f->recursive && !f->held;
    }
    for (unsigned i = 0; i < all->len; i++)
        work_plan_function(p, g_ptr_array_index(all, i));
    /* Functions that there are more than once (weak, or inline in a header) poll if one of them does, and so do their callers. */
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < all->len; i++) {
            function *f = g_ptr_array_index(all, i);
            if (f->held)
                continue;
            bool polls = f->polls || calls_what_polls(p, f);
            function *same = g_hash_table_lookup(p->functions, f->key);
            polls = polls || same->polls;
            more = more || polls != f->polls || polls != same->polls;
            f->polls = same->polls = polls;
        }
    }
    for (unsigned i = 0; i < all->len; i++) {
        const function *f = g_ptr_array_index(all, i);
        if (f->held && *f->held && (f->delays || calls_what_polls(p, f)))
            unit_warn(f->unit, f->decl->a, "%s %s: there is no checkpoint while it is active", f->name, f->held);
    }
    g_ptr_array_free(all, TRUE);
    twins_count_calls(p);
    twins_find(p);
}

bool polls_call(program *p, unit *u, node *n)
{
    CXCursor d = node_called(n);
    if (!cursor_is_null(d)) {
        char *key = cursor_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        return g && g->polls && !(u->quiet && g_hash_table_contains(u->quiet, n));
    }
    node *callee = node_callee(n);
    if (!callee)
        return false;
    CXType t = ctype_pointee(callee->type);
    char *key = clang_getCanonicalType(t).kind == CXType_FunctionNoProto ? g_strdup("") : ctype_key(t);
    bool polls = functions_indirect_reaches(p, key, does_poll, NULL);
    g_free(key);
    return polls;
}

/* ---- inside of a function that polls ---- */

bool polls_mark(program *p, unit *u, node *n)
{
    n->polls = false;
    if (n->kind == CXCursor_UnaryExpr)
        return false;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (polls_mark(p, u, node_kid(n, i)))
            n->polls = true;
    if (n->kind == CXCursor_CallExpr && (polls_call(p, u, n) || jump_is_set(n))) /* setjmp: it is taken apart in the same way */
        n->polls = true;
    if (node_is_loop(n) && loops_plan(u, n)->class != LOOP_FREE)
        n->polls = true;
    return n->polls;
}

bool polls_below(program *p, unit *u, node *n)
{
    return polls_mark(p, u, n);
}
