/* Loops that poll, and loops around calls that do. */
#include "emit/emit.h"

/* ---- loops ---- */

/* Text that is known when all places are: what recovery does at a loop's head. */
#define DISPATCH "\001%d\002"

static loop_site *loop_begin(function *f)
{
    loop_site *l = g_new0(loop_site, 1);
    l->id = ++f->temporaries;
    l->outer = f->loops->len ? g_ptr_array_index(f->loops, f->loops->len - 1) : NULL;
    g_ptr_array_add(f->loops, l);
    return l;
}

static void loop_end(function *f)
{
    g_ptr_array_set_size(f->loops, (int)f->loops->len - 1);
}

static void write_head(function *f, node *n, loop_site *l, bool polls)
{
    site_mark(f, n);
    g_string_append_printf(f->out, "dome__loop_%d: ; ", l->id);
    if (polls) {
        site *s = site_new(f, n, true);
        g_string_append_printf(f->out,
                               "if (__builtin_expect(dome__cc_status, 0)) { " ENTERING "if (" IS_RESUMING
                               ") switch (dome__point) { " DISPATCH "} " ENTERED "if (dome__cc_poll()) goto dome__save_%d; }\n",
                               l->id, s->id);
    } else {
        g_string_append_printf(
            f->out, ENTERING "if (__builtin_expect(" IS_RESUMING ", 0)) switch (dome__point) { " DISPATCH "}" ENTERED "\n",
            l->id);
    }
}

void loop_write_inner(program *p, function *f, node *n)
{
    unsigned level = f->live->len;
    g_string_append(f->out, "{\n");
    statement_write(p, f, n);
    g_string_append(f->out, "}\n");
    site_cut_live(f, level);
}

/* Leaves the loop unless the condition holds. */
static void write_test(program *p, function *f, node *condition)
{
    unsigned level = f->live->len;
    lower_value(p, f, condition);
    char *text = edit_text(f->unit, condition);
    site_mark(f, condition);
    g_string_append_printf(f->out, "if (!(%s)) break;\n", text);
    g_free(text);
    site_cut_live(f, level);
}

/* The statement that is a loop's body, as it was written. */
static void write_body(function *f, node *body)
{
    unit *u = f->unit;
    unsigned end = text_skip(u, body->b);
    site_mark(f, body);
    edit_range(u, body->a, end < u->length && u->original[end] == ';' ? end + 1 : body->b, NULL, f->out);
    g_string_append_c(f->out, '\n');
}

/* "{ T dome__to = ...; for (; i < dome__to; i++) {" for at most `most` iterations, an expression. The body and two braces must
 * follow. Returns what holds until the strip's end. */
static char *begin_counted_strip(function *f, node *n, node *step, const char *most)
{
    unit *u = f->unit;
    node *i, *bound;
    char *o;
    counted_parts(u, n, &i, &bound, &o);
    char *type = ctype_name(u, clang_getCursorType(node_declaration(i))), *x = edit_text(u, i), *to = edit_text(u, bound);
    char *end = g_strdup_printf("(%s)(%s)", type, to), *next = edit_text(u, step);
    bool up = *o == '<';
    site_mark(f, n);
    g_string_append_printf(f->out,
                           "{ %s dome__to = (unsigned long long)%s - (unsigned long long)%s > %s ? (%s)(%s %c %s) : %s;\nfor (; "
                           "%s %s dome__to; %s) {\n",
                           type, up ? end : x, up ? x : end, most, type, x, up ? '+' : '-', most, end, x, o, next);
    char *inside = g_strdup_printf("%s %s dome__to", x, o);
    g_free(next);
    g_free(end);
    g_free(to);
    g_free(x);
    g_free(type);
    g_free(o);
    return inside;
}

enum { UNROLLED = 4 }; /* iterations of small loops, for one test whether they poll */

/* At most l->stride iterations without a poll, of which none can be captured inside. `leave`: what follows the loop's end,
 * the label `end`. */
static void write_strip(function *f, node *n, const loop_plan *l, const char *leave, const char *end)
{
    unit *u = f->unit;
    node *init, *condition, *step = NULL, *body;
    if (n->kind == CXCursor_ForStmt) {
        node_for_parts(u, n, &init, &condition, &step, &body);
    } else {
        condition = node_kid(n, n->kind == CXCursor_DoStmt ? 1 : 0);
        body = node_kid(n, n->kind == CXCursor_DoStmt ? 0 : 1);
    }
    char *test = condition ? edit_text(u, condition) : g_strdup("1"), *next = step ? edit_text(u, step) : g_strdup("");
    site_mark(f, condition ? condition : n);
    if (l->class == LOOP_STRIP) {
        char *most = g_strdup_printf("%u", l->stride);
        g_string_append_printf(f->out, "if (!(%s)) %s;\n", test, leave);
        char *inside = begin_counted_strip(f, n, step, most);
        write_body(f, body);
        g_string_append(f->out, "}\n");
        if (l->breaks)
            g_string_append_printf(f->out, "if (%s) %s;\n", inside, leave);
        g_string_append_printf(f->out, "if (!(%s)) %s;\n}\n", test, leave);
        g_free(inside);
        g_free(most);
    } else if (l->class == LOOP_BITS) {
        char *v = edit_text(u, loops_counted(u, n));
        const unsigned together =
            l->unrolled ? UNROLLED : 1; /* the variable passes each multiple of the stride once in so many */
        /* The test stands behind the body, as compilers turn loops: what does not change is then computed before the loop. */
        g_string_append_printf(f->out, "if (!(%s)) goto %s;\nfor (;;) {\n", test, end);
        for (unsigned k = 0; k < together; k++) {
            if (k)
                g_string_append_printf(f->out, "if (!(%s)) goto %s;\n", test, end);
            write_body(f, body);
            g_string_append_printf(f->out, "%s;\n", next);
        }
        g_string_append_printf(f->out, "if (__builtin_expect((%s & %u) < %u, 0)) break;\nif (!(%s)) goto %s;\n}\n", v,
                               l->stride - 1, together, test, end);
        g_free(v);
    } else if (n->kind == CXCursor_DoStmt) {
        g_string_append_printf(f->out, "{ unsigned dome__k = %u; for (; dome__k; dome__k--) {\n", l->stride);
        write_body(f, body);
        g_string_append_printf(f->out, "if (!(%s)) break;\n}\nif (dome__k) %s;\n}\n", test, leave);
    } else {
        g_string_append_printf(f->out, "{ unsigned dome__k = %u; for (; dome__k; dome__k--%s%s) {\nif (!(%s)) break;\n",
                               l->stride, *next ? ", " : "", next, test);
        write_body(f, body);
        g_string_append_printf(f->out, "}\nif (dome__k) %s;\n}\n", leave);
    }
    g_free(next);
    g_free(test);
}

/* A counted loop as it was written, if it will have at most so many iterations; then "else". */
static void write_if_few(function *f, node *n, unsigned few)
{
    unit *u = f->unit;
    node *i, *bound, *init, *condition, *step, *body;
    char *o;
    counted_parts(u, n, &i, &bound, &o);
    node_for_parts(u, n, &init, &condition, &step, &body);
    char *type = ctype_name(u, clang_getCursorType(node_declaration(i))), *x = edit_text(u, i), *to = edit_text(u, bound);
    char *end = g_strdup_printf("(%s)(%s)", type, to), *test = edit_text(u, condition), *next = edit_text(u, step);
    bool up = *o == '<';
    /* No wider than the counter: loops inside of others are entered very often. */
    const char *wide = clang_Type_getSizeOf(clang_getCursorType(node_declaration(i))) <= 4 ? "unsigned" : "unsigned long long";
    site_mark(f, n);
    g_string_append_printf(f->out, "if ((%s)%s - (%s)%s <= %u) {\nfor (; %s; %s)\n", wide, up ? end : x, wide, up ? x : end, few,
                           test, next);
    write_body(f, body);
    g_string_append(f->out, "} else\n");
    g_free(next);
    g_free(test);
    g_free(end);
    g_free(to);
    g_free(x);
    g_free(type);
    g_free(o);
}

static void write_init(program *p, function *f, node *n)
{
    node *init, *condition, *step, *body;
    node_for_parts(f->unit, n, &init, &condition, &step, &body);
    if (init && init->kind == CXCursor_DeclStmt)
        statement_declaration(p, f, init);
    else if (init)
        lower_discarded(p, f, init);
}

/* A loop inside of which the function cannot be captured polls after each strip. `often`: it may be entered often, and is then
 * left before the first poll if it has few iterations. */
static void write_strips(program *p, function *f, node *n, const loop_plan *plan, bool often)
{
    const bool copies = twins_may_copy(p, f->unit, n);
    loop_plan own = *plan, *const l = &own;
    own.unrolled = plan->unrolled && copies;
    often = often && plan->twice && copies;
    loop_site *site = loop_begin(f);
    g_hash_table_insert(f->strips.heads, n, GINT_TO_POINTER(site->id));
    char *end = g_strdup_printf("dome__end_%d", site->id), *leave = g_strdup_printf("goto %s", end);
    bool first = often && l->class != LOOP_STRIP;
    if (often && l->class == LOOP_STRIP)
        write_if_few(f, n, l->few);
    if (first)
        write_strip(f, n, l, leave, end);
    g_string_append(f->out, "for (;;) {\n");
    write_head(f, n, site, true);
    write_strip(f, n, l, "break", end);
    g_string_append(f->out, "}\n");
    g_string_append_printf(f->out, "%s: ;\n", end);
    loop_end(f);
    g_free(leave);
    g_free(end);
}

enum { MOST_TOGETHER = 256 }; /* iterations: their work may grow */

/* Of a nest: as many iterations as are little work, as they were written; then the next poll. Else this one goes on below. */
static void write_nest_strip(function *f, node *n, const loop_plan *l, const loop_site *site, const char *work)
{
    node *init, *condition, *step, *body;
    node_for_parts(f->unit, n, &init, &condition, &step, &body);
    g_string_append_printf(
        f->out,
        "{ double dome__w = %s; if (dome__w < %d) { unsigned long long dome__n = dome__w * %d < %d ? %d : %d / "
        "dome__w;\n",
        work, polls_strip_work, MOST_TOGETHER, polls_strip_work, MOST_TOGETHER, polls_strip_work);
    char *inside = begin_counted_strip(f, n, step, "dome__n");
    write_body(f, body);
    g_string_append(f->out, "}\n");
    if (l->breaks)
        g_string_append_printf(f->out, "if (%s) break;\n", inside);
    g_string_append_printf(f->out, "}\ngoto dome__loop_%d; } }\n", site->id);
    g_free(inside);
}

enum { CHECKED_TOGETHER = 128 }; /* iterations of a nest whose work shows inside of it alone */

/* Of a nest whose inner loops show how long they are when they begin: some iterations in which those are short; then the next
 * poll. One that is not short is entered where it polls, in the nest's text below. */
static void write_checked_strip(program *p, function *f, node *n, const loop_plan *l, const loop_site *site)
{
    node *init, *condition, *step, *body;
    node_for_parts(f->unit, n, &init, &condition, &step, &body);
    char *most = g_strdup_printf("%d", CHECKED_TOGETHER), *inside = begin_counted_strip(f, n, step, most);
    f->strips.checks = true;
    loop_write_inner(p, f, body);
    f->strips.checks = false;
    g_string_append(f->out, "}\n");
    if (l->breaks)
        g_string_append_printf(f->out, "if (%s) break;\n", inside);
    g_string_append_printf(f->out, "}\ngoto dome__loop_%d;\n", site->id);
    g_free(inside);
    g_free(most);
}

static void write_checked_loop(program *p, function *f, node *n)
{
    unsigned level = f->live->len;
    write_init(p, f, n);
    write_if_few(f, n, loops_plan(f->unit, n)->few / CHECKED_TOGETHER);
    g_string_append_printf(f->out, "goto dome__loop_%d;\n", GPOINTER_TO_INT(g_hash_table_lookup(f->strips.heads, n)));
    site_cut_live(f, level);
}

/* Whether nothing inside of a loop that polls now and then does. */
static bool is_of_strips(unit *u, node *n)
{
    const loop_class class = loops_plan(u, n)->class;
    if (class != LOOP_COUNTDOWN && class != LOOP_BITS && !(class == LOOP_STRIP && n->kind == CXCursor_ForStmt))
        return false;
    if (n->kind != CXCursor_ForStmt)
        return !node_kid(n, 0)->polls && !node_kid(n, 1)->polls;
    node *init, *condition, *step, *body;
    node_for_parts(u, n, &init, &condition, &step, &body);
    return !body->polls && !(condition && condition->polls) && !(step && step->polls);
}

/* How iterations of a nest are cut off: `work` tells the work of one, an expression; or inner loops tell how long they are. */
typedef struct cut {
    char *work;
    bool checks;
} cut;

static cut cut_of(program *p, function *f, node *n, node *body)
{
    unit *u = f->unit;
    cut c = {NULL, false};
    if (!loops_plan(u, n)->nest || !twins_may_copy(p, u, n))
        return c;
    if (work_least(p, u, body) < polls_strip_work)
        c.work = work_of_iteration(p, u, body);
    c.checks = !c.work && !f->strips.in_nest && work_least(p, u, body) * CHECKED_TOGETHER < polls_strip_work &&
               work_is_checked(p, u, body, CHECKED_TOGETHER);
    return c;
}

/* The text of a body, for later. */
static GString *body_apart(program *p, function *f, node *body, bool in_nest)
{
    GString *out = f->out, *whole = g_string_new(NULL);
    f->out = whole;
    f->strips.in_nest += in_nest;
    loop_write_inner(p, f, body);
    f->strips.in_nest -= in_nest;
    f->out = out;
    return whole;
}

/* `tail`: the number of a label for "continue", behind which the step is; or NULL. */
static void write_for(program *p, function *f, node *n, const char *tail)
{
    const loop_plan *plan = loops_plan(f->unit, n);
    node *init, *condition, *step, *body;
    node_for_parts(f->unit, n, &init, &condition, &step, &body);
    const cut c = tail ? (cut){NULL, false} : cut_of(p, f, n, body);
    char *next = step && !tail ? edit_text(f->unit, step) : g_strdup("");
    site_mark(f, n);
    g_string_append_printf(f->out, "for (;; %s) {\n", next);
    g_free(next);
    loop_site *l = loop_begin(f);
    write_head(f, n, l, plan->class != LOOP_FREE);
    if (condition)
        write_test(p, f, condition);
    if (c.work)
        write_nest_strip(f, n, plan, l, c.work);
    GString *whole = body_apart(p, f, body, c.work || c.checks);
    if (c.checks)
        write_checked_strip(p, f, n, plan, l);
    g_string_append(f->out, whole->str);
    g_string_free(whole, TRUE);
    if (tail) {
        g_string_append_printf(f->out, "dome__next_%s: ;\n", tail);
        lower_discarded(p, f, step);
    }
    g_string_append(f->out, "}\n");
    g_free(c.work);
}

static void write_while(program *p, function *f, node *n)
{
    g_string_append(f->out, "for (;;) {\n");
    write_head(f, n, loop_begin(f), loops_plan(f->unit, n)->class != LOOP_FREE);
    write_test(p, f, node_kid(n, 0));
    loop_write_inner(p, f, node_kid(n, 1));
    g_string_append(f->out, "}\n");
}

static void write_do(program *p, function *f, node *n, const char *tail)
{
    node *condition = node_kid(n, 1);
    g_string_append(f->out, tail ? "for (;;) {\n" : "do {\n");
    write_head(f, n, loop_begin(f), loops_plan(f->unit, n)->class != LOOP_FREE);
    loop_write_inner(p, f, node_kid(n, 0));
    if (tail) {
        g_string_append_printf(f->out, "dome__next_%s: ;\n", tail);
        write_test(p, f, condition);
        g_string_append(f->out, "}\n");
        return;
    }
    char *text = edit_text(f->unit, condition);
    site_mark(f, condition);
    g_string_append_printf(f->out, "} while (%s);\n", text);
    g_free(text);
}

static void write_polled_loop(program *p, function *f, node *n, bool often)
{
    const char *tail = variables_tail(f, n);
    unsigned level = f->live->len;
    if (n->kind == CXCursor_ForStmt)
        write_init(p, f, n);
    if (is_of_strips(f->unit, n)) {
        write_strips(p, f, n, loops_plan(f->unit, n), often);
        site_cut_live(f, level);
        return;
    }
    if (n->kind == CXCursor_ForStmt)
        write_for(p, f, n, tail);
    else if (n->kind == CXCursor_WhileStmt)
        write_while(p, f, n);
    else
        write_do(p, f, n, tail);
    loop_end(f);
    site_cut_live(f, level);
}

enum { SHORT_BESIDE_POLL = 50 }; /* iterations of more than so much of a strip's work may as well poll */

/* A nest that will have few iterations runs as it was written: what the compiler does with whole nests is then not lost. */
void loop_write(program *p, function *f, node *n)
{
    if (f->strips.checks) {
        write_checked_loop(p, f, n);
        return;
    }
    const loop_plan *l = loops_plan(f->unit, n);
    bool worth = !f->strips.in_nest && l->class != LOOP_STRIP && twins_may_copy(p, f->unit, n) &&
                 work_least(p, f->unit, n) < polls_strip_work / SHORT_BESIDE_POLL;
    char *few = worth ? work_short_nest(p, f->unit, n) : NULL;
    if (few) {
        unsigned end = text_skip(f->unit, n->b);
        site_mark(f, n);
        g_string_append_printf(f->out, "if (%s) {\n", few);
        site_mark(f, n);
        edit_range(f->unit, n->a, end < f->unit->length && f->unit->original[end] == ';' ? end + 1 : n->b, NULL, f->out);
        g_string_append(f->out, "\n} else {\n");
    }
    write_polled_loop(p, f, n, !few && !f->strips.in_nest);
    if (few)
        g_string_append(f->out, "}\n");
    g_free(few);
}
