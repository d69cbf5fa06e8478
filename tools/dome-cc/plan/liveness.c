/* Which variables a function still needs where it can be captured: those that are read, on some way from there, before they get
 * another value. Only these are saved. What does not count: variables in memory, whose addresses may be anywhere.
 *
 * An analysis backwards over the statements, until nothing changes. Any mention of a name in the text of an expression is taken
 * for a read, but for the variable that an assignment or a declaration as a whole gives a value. Of a call that may poll, all
 * that its whole expression mentions is needed. */
#include "plan/plan.h"

#include <stdint.h>
#include <string.h>

typedef guint64 *set;

typedef struct flow {
    function *f;
    unsigned words;
    GHashTable *names;  /* name -> set: variables of that name */
    GHashTable *reads;  /* a piece of the text, by its ends -> set: what it mentions */
    GHashTable *needed; /* node -> set: loops, at their heads; expressions and declarations with calls inside */
    GHashTable *labels; /* name -> set; nodes of cases -> set */
    set breaks, continues;
    bool changed;
} flow;

/* ---- sets ---- */

static set set_new(const flow *w)
{
    return g_new0(guint64, w->words);
}

static set set_copy(const flow *w, const guint64 *from)
{
    return g_memdup2(from, w->words * sizeof *from);
}

static bool set_add(const flow *w, set to, const guint64 *from)
{
    bool more = false;
    for (unsigned k = 0; k < w->words; k++) {
        more = more || (from[k] & ~to[k]);
        to[k] |= from[k];
    }
    return more;
}

static void set_remove(set of, const variable *v)
{
    of[v->index / 64] &= ~(1ull << v->index % 64);
}

/* What is known of a key grows. */
static const guint64 *note(flow *w, GHashTable *table, const void *key, const guint64 *more)
{
    set known = g_hash_table_lookup(table, key);
    if (!known) {
        known = set_new(w);
        g_hash_table_insert(table, (void *)(uintptr_t)key, known);
    }
    w->changed = set_add(w, known, more) || w->changed;
    return known;
}

/* ---- reads ---- */

static bool is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

static const char *behind_literal(const char *at)
{
    const char quote = *at++;
    while (*at && *at != quote)
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* All variables that text[a .. b) mentions. */
static set find_reads(const flow *w, unsigned a, unsigned b)
{
    set to = set_new(w);
    char *text = text_flat(w->f->unit, a, b);
    bool member = false; /* behind "." or "->" */
    for (const char *at = text; *at;) {
        if (*at == '"' || *at == '\'') {
            at = behind_literal(at);
        } else if (is_word(*at)) {
            const char *end = at;
            while (is_word(*end))
                end++;
            char *word = g_strndup(at, (gsize)(end - at));
            const guint64 *found = member ? NULL : g_hash_table_lookup(w->names, word);
            if (found)
                set_add(w, to, found);
            g_free(word);
            at = end;
            member = false;
        } else {
            if (*at != ' ')
                member = *at == '.' || (*at == '>' && at > text && at[-1] == '-');
            at++;
        }
    }
    g_free(text);
    return to;
}

static void add_reads(flow *w, unsigned a, unsigned b, set to)
{
    const guint64 key = (guint64)a << 32 | b;
    const guint64 *known = g_hash_table_lookup(w->reads, &key);
    if (!known) {
        known = find_reads(w, a, b);
        g_hash_table_insert(w->reads, g_memdup2(&key, sizeof key), (void *)(uintptr_t)known);
    }
    set_add(w, to, known);
}

/* ---- statements: each turns what is needed behind it into what is needed before ---- */

static void before(flow *w, node *n, set needed);

static bool is_assignment(unit *u, const node *n)
{
    if (n->kind != CXCursor_BinaryOperator)
        return false;
    char *o = node_operator(u, n);
    const bool found = strcmp(o, "=") == 0;
    g_free(o);
    return found;
}

static const variable *plain_variable(const function *f, node *n)
{
    n = node_bare(n);
    const variable *v = n && n->kind == CXCursor_DeclRefExpr
                            ? g_hash_table_lookup(f->by_decl, GUINT_TO_POINTER(cursor_offset(node_declaration(n))))
                            : NULL;
    return v && !v->memory ? v : NULL;
}

static void before_expression(flow *w, node *n, set needed)
{
    node *bare = node_bare(n), *value = n;
    const variable *v = is_assignment(w->f->unit, bare) ? plain_variable(w->f, node_kid(bare, 0)) : NULL;
    if (v) {
        set_remove(needed, v);
        value = node_kid(bare, 1);
    }
    add_reads(w, value->a, value->b, needed);
    note(w, w->needed, n, needed);
}

static void before_declaration(flow *w, node *n, set needed)
{
    set inside = set_copy(w, needed);
    add_reads(w, n->a, n->b, inside);
    note(w, w->needed, n, inside);
    for (unsigned i = n->kids->len; i-- > 0;) {
        node *kid = node_kid(n, i);
        const variable *v = kid->kind == CXCursor_VarDecl
                                ? g_hash_table_lookup(w->f->by_decl, GUINT_TO_POINTER(cursor_offset(kid->cursor)))
                                : NULL;
        if (v && !v->memory)
            set_remove(needed, v);
        const unsigned from =
            kid->kind == CXCursor_VarDecl ? cursor_offset(kid->cursor) + (unsigned)strlen(v ? v->source : "") : kid->a;
        add_reads(w, MIN(from, kid->b), kid->b, needed);
    }
    g_free(inside);
}

/* condition, body; and of a "for" its step, which may be NULL. */
static void before_loop(flow *w, node *n, node *condition, node *step, node *body, set needed)
{
    set breaks = w->breaks, continues = w->continues, head = set_copy(w, needed), in = NULL;
    const bool is_do = n->kind == CXCursor_DoStmt;
    w->breaks = set_copy(w, needed);
    for (bool more = true; more;) {
        /* Around the loop once: head is what is needed where the condition is evaluated. */
        set next = set_copy(w, head);
        if (step)
            before_expression(w, step, next);
        w->continues = set_copy(w, next);
        if (body)
            before(w, body, next);
        g_free(w->continues);
        g_free(in);
        in = set_copy(w, next);
        set_add(w, next, needed); /* it ends */
        if (condition) {
            add_reads(w, condition->a, condition->b, next);
            note(w, w->needed, condition, next);
        }
        more = set_add(w, head, next);
        g_free(next);
    }
    g_free(w->breaks);
    w->breaks = breaks;
    w->continues = continues;
    memcpy(needed, is_do ? in : head, w->words * sizeof *needed);
    note(w, w->needed, n, needed);
    g_free(head);
    g_free(in);
}

static void before_for(flow *w, node *n, set needed)
{
    node *init, *condition, *step, *body;
    node_for_parts(w->f->unit, n, &init, &condition, &step, &body);
    before_loop(w, n, condition, step, body, needed);
    if (init)
        before(w, init, needed);
}

/* Adds what the cases of a switch need. Returns whether one of them is the default. */
static bool add_cases(flow *w, const node *n, set to)
{
    bool any = n->kind == CXCursor_DefaultStmt;
    if (n->kind == CXCursor_CaseStmt || n->kind == CXCursor_DefaultStmt) {
        const guint64 *known = g_hash_table_lookup(w->labels, n);
        if (known)
            set_add(w, to, known);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (node_kid(n, i)->kind != CXCursor_SwitchStmt)
            any = add_cases(w, node_kid(n, i), to) || any;
    return any;
}

static void before_switch(flow *w, node *n, set needed)
{
    node *value = node_kid(n, 0), *body = node_kid(n, n->kids->len - 1);
    set breaks = w->breaks, behind = set_copy(w, needed);
    w->breaks = behind;
    before(w, body, needed);
    w->breaks = breaks;
    memset(needed, 0, w->words * sizeof *needed);
    if (!add_cases(w, body, needed))
        set_add(w, needed, behind);
    g_free(behind);
    before_expression(w, value, needed);
}

static void before_if(flow *w, node *n, set needed)
{
    set other = set_copy(w, needed);
    before(w, node_kid(n, 1), needed);
    if (n->kids->len > 2)
        before(w, node_kid(n, 2), other);
    set_add(w, needed, other);
    g_free(other);
    before_expression(w, node_kid(n, 0), needed);
}

static void before_jump(flow *w, node *n, set needed)
{
    const guint64 *to = n->kind == CXCursor_BreakStmt ? w->breaks : n->kind == CXCursor_ContinueStmt ? w->continues : NULL;
    char *label = NULL;
    if (n->kind == CXCursor_GotoStmt) {
        label = text_flat(w->f->unit, n->a + (unsigned)strlen("goto"), n->b);
        to = g_hash_table_lookup(w->labels, g_intern_string(g_strstrip(label)));
    }
    memset(needed, 0, w->words * sizeof *needed);
    if (to)
        set_add(w, needed, to);
    g_free(label);
}

static void before_label(flow *w, node *n, set needed)
{
    before(w, node_kid(n, n->kids->len - 1), needed);
    if (n->kind == CXCursor_LabelStmt) {
        char *name = cursor_name(n->cursor);
        note(w, w->labels, g_intern_string(name), needed);
        g_free(name);
    } else {
        note(w, w->labels, n, needed);
    }
}

static void before(flow *w, node *n, set needed)
{
    switch ((int)n->kind) {
    case CXCursor_CompoundStmt:
        for (unsigned i = n->kids->len; i-- > 0;)
            before(w, node_kid(n, i), needed);
        return;
    case CXCursor_DeclStmt:
        before_declaration(w, n, needed);
        return;
    case CXCursor_IfStmt:
        before_if(w, n, needed);
        return;
    case CXCursor_ForStmt:
        before_for(w, n, needed);
        return;
    case CXCursor_WhileStmt:
        before_loop(w, n, node_kid(n, 0), NULL, node_kid(n, 1), needed);
        return;
    case CXCursor_DoStmt:
        before_loop(w, n, node_kid(n, 1), NULL, node_kid(n, 0), needed);
        return;
    case CXCursor_SwitchStmt:
        before_switch(w, n, needed);
        return;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        before_label(w, n, needed);
        return;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_GotoStmt:
        before_jump(w, n, needed);
        return;
    case CXCursor_ReturnStmt:
        memset(needed, 0, w->words * sizeof *needed);
        break;
    default:
        break;
    }
    if (node_is_expression(n)) {
        before_expression(w, n, needed);
        return;
    }
    add_reads(w, n->a, n->b, needed);
    note(w, w->needed, n, needed);
}

/* ---- the function ---- */

/* Code that the analysis does not follow: assembler, jumps out of a block that is an expression. */
static bool is_strange(const node *n, bool in_expression)
{
    in_expression = in_expression || n->kind == CXCursor_StmtExpr;
    const bool leaves = n->kind == CXCursor_GotoStmt || n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
                        n->kind == CXCursor_ContinueStmt || n->kind == CXCursor_LabelStmt || n->kind == CXCursor_CaseStmt ||
                        n->kind == CXCursor_DefaultStmt;
    if (n->kind == CXCursor_GCCAsmStmt || n->kind == CXCursor_IndirectGotoStmt || (in_expression && leaves))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (is_strange(node_kid(n, i), in_expression))
            return true;
    return false;
}

static bool knows_labels(const function *f)
{
    char *text = text_flat(f->unit, f->body->a, f->body->b);
    const bool local = strstr(text, "__label__") != NULL; /* two labels of one name */
    g_free(text);
    return !local;
}

static void add_name(flow *w, const variable *v)
{
    set named = g_hash_table_lookup(w->names, v->source);
    if (!named) {
        named = set_new(w);
        g_hash_table_insert(w->names, g_strdup(v->source), named);
    }
    named[v->index / 64] |= 1ull << v->index % 64;
}

void liveness_find(function *f)
{
    if (f->jumps->len || is_strange(f->body, false) || !knows_labels(f))
        return;
    flow w = {.f = f,
              .words = f->variables->len / 64 + 1,
              .names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
              .reads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
              .needed = g_hash_table_new_full(NULL, NULL, NULL, g_free),
              .labels = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
    for (unsigned i = 0; i < f->variables->len; i++) {
        variable *v = g_ptr_array_index(f->variables, i);
        v->index = i;
        if (!v->memory && v->source)
            add_name(&w, v);
    }
    do {
        set needed = set_new(&w);
        w.changed = false;
        before(&w, f->body, needed);
        note(&w, w.needed, f->body, needed);
        g_free(needed);
    } while (w.changed);
    g_hash_table_destroy(w.names);
    g_hash_table_destroy(w.labels);
    g_hash_table_destroy(w.reads);
    f->needed = w.needed;
}

bool liveness_is_needed(const function *f, const node *at, const variable *v)
{
    if (!f->needed || !v->source)
        return true;
    const guint64 *known = NULL;
    while (at && !(known = g_hash_table_lookup(f->needed, at)))
        at = at->up;
    return !known || (known[v->index / 64] >> v->index % 64 & 1);
}
