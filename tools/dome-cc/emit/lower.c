/* Expressions with calls that may poll: each such call becomes a statement of its own. Where C leaves the order open,
 * operands go from left to right, arguments from right to left, the right side of x += y first.
 *
 * lower(n) writes statements and leaves in the nodes below n what stands for the calls, so that node_text(n) is an expression
 * without such calls. Values that are evaluated before a call, and could be changed by it, are put into temporaries first. */
#include "emit/emit.h"

#include <stdint.h>
#include <string.h>

const variable *lower_variable_of(function *f, node *n)
{
    n = node_bare(n);
    if (!n || n->kind != CXCursor_DeclRefExpr)
        return NULL;
    return g_hash_table_lookup(f->by_decl, GUINT_TO_POINTER(cursor_offset(node_declaration(n))));
}

/* ---- calls ---- */

/* Arguments for a call that only makes the callee take its record back. */
static void dummy_arguments(function *f, node *n, GString *out)
{
    unit *u = f->unit;
    CXCursor d = node_called(n);
    CXType t = clang_getCanonicalType(cursor_is_null(d) ? ctype_pointee(node_callee(n)->type) : clang_getCursorType(d));
    bool known = t.kind == CXType_FunctionProto;
    int count = known ? clang_getNumArgTypes(t) : (int)n->kids->len - 1;
    g_string_append_c(out, '(');
    for (int i = 0; i < count; i++) {
        CXType argument = known ? clang_getArgType(t, (unsigned)i) : node_kid(n, (unsigned)i + 1)->type;
        char *name = ctype_name(u, argument);
        g_string_append_printf(out, ctype_is_record(argument) ? "%s(%s){0}" : "%s(%s)0", i ? ", " : "", name);
        g_free(name);
    }
    g_string_append_c(out, ')');
}

/* The call itself: its arguments have been lowered. */
static void write_call(program *p, function *f, node *n, const variable *to)
{
    site *s = site_new(f, n, false);
    char *call = edit_text(f->unit, n), *callee = edit_text(f->unit, node_callee(n)), *mark = strstr(callee, TWIN_MARK);
    GString *again = g_string_new(callee);
    if (mark) {
        g_string_truncate(again, (gsize)(mark - callee));
        g_string_append_printf(again, TWIN_PREFIX "%s", mark + 1);
    }
    dummy_arguments(f, n, again);
    if (n->wants) {
        char *bare = call, *bare_again = g_string_free(again, FALSE), *wanting = blocks_wanting(f->unit, n, bare_again);
        call = blocks_wanting(f->unit, n, bare);
        again = g_string_new(wanting);
        g_free(wanting);
        g_free(bare_again);
        g_free(bare);
    }
    if (parallel_is_operation(p, f->unit, n)) {
        s->operation = true;
        if (to && !to->borrowed && !g_ptr_array_find(s->live, to, NULL)) /* its result: it is not called again */
            g_ptr_array_add(s->live, (void *)(uintptr_t)to);
    }
    char *first = to ? ctype_assign(f->unit, to->type, to->read, call) : g_strdup_printf("%s;", call);
    char *second = to ? ctype_assign(f->unit, to->type, to->read, again->str) : g_strdup_printf("%s;", again->str);
    site_mark(f, n);
    const char *captured = s->operation ? "dome__cc_operation()" : IS_CAPTURING;
    g_string_append_printf(f->out, "%s if (__builtin_expect(%s, 0)) goto dome__save_%d; dome__after_%d: ;\n", first, captured,
                           s->id, s->id);
    s->recovery = g_strdup_printf("%s if (%s) goto dome__save_%d; goto dome__after_%d;", s->operation ? "" : second, captured,
                                  s->id, s->id);
    g_string_free(again, TRUE);
    g_free(first);
    g_free(second);
    g_free(call);
    g_free(callee);
}

/* ---- operands, in the order of the list ---- */

/* Values of an initialiser's braces are operands each; the braces are none. */
static void flatten(node *n, GPtrArray *items)
{
    if (n->kind == CXCursor_InitListExpr) {
        for (unsigned i = 0; i < n->kids->len; i++)
            flatten(node_kid(n, i), items);
    } else if (n->kind == CXCursor_UnexposedExpr && node_bare(n) == n && n->up && n->up->kind == CXCursor_InitListExpr &&
               n->kids->len) {
        node *last = node_kid(n, n->kids->len - 1); /* .member = value */
        if (node_is_expression(last))
            flatten(last, items);
    } else if (node_is_expression(n)) {
        g_ptr_array_add(items, n);
    }
}

static void operands(program *p, function *f, GPtrArray *items)
{
    unsigned last = 0;
    for (unsigned i = 0; i < items->len; i++)
        if (((node *)g_ptr_array_index(items, i))->polls)
            last = i + 1;
    for (unsigned i = 0; i < last; i++) {
        node *item = g_ptr_array_index(items, i);
        lower_value(p, f, item);
        bool place = node_is_expression(item) && (ctype_is_array(item->type) || ctype_is_function(item->type));
        if (i + 1 < last && place)
            stable_settle(f, item);
        else if (i + 1 < last && !stable_value(f, item))
            temporary_spill(f, item);
    }
}

static void lower_call(program *p, function *f, node *n)
{
    GPtrArray *items = g_ptr_array_new();
    bool direct = !cursor_is_null(node_called(n));
    if (!direct)
        g_ptr_array_add(items, node_callee(n));
    for (unsigned i = n->kids->len; i-- > 1;)
        g_ptr_array_add(items, node_kid(n, i));
    operands(p, f, items);
    node *callee = node_callee(n);
    if (!direct && polls_call(p, f->unit, n) && !(callee->text && strncmp(callee->text, "dome__t", 7) == 0))
        temporary_spill(f, callee); /* the call is made again at recovery */
    g_ptr_array_free(items, TRUE);
}

static void lower_pair(program *p, function *f, node *x, node *y)
{
    GPtrArray *items = g_ptr_array_new();
    g_ptr_array_add(items, x);
    g_ptr_array_add(items, y);
    operands(p, f, items);
    g_ptr_array_free(items, TRUE);
}

/* gcc takes the values of a list in the order of the members, not in that of the text. */
static void check_order(function *f, node *n)
{
    long long before = -1;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i), *first = node_kid(kid, 0);
        if (n->kind == CXCursor_InitListExpr && kid->kind == CXCursor_UnexposedExpr && kid->kids->len > 1 && first) {
            long long at = clang_Cursor_getOffsetOfField(node_declaration(first));
            if (first->kind != CXCursor_MemberRef) {
                CXEvalResult r = clang_Cursor_Evaluate(first->cursor);
                at = r ? clang_EvalResult_getAsLongLong(r) : -1;
                clang_EvalResult_dispose(r);
            }
            if (at < before)
                unit_refuse(f->unit, kid->a, "%s: initial values in another order than the members, with calls that may poll",
                            f->name);
            before = at;
        }
        check_order(f, kid);
    }
}

static void lower_kids(program *p, function *f, node *n)
{
    GPtrArray *items = g_ptr_array_new();
    if (n->kind == CXCursor_InitListExpr)
        check_order(f, n);
    for (unsigned i = 0; i < n->kids->len; i++)
        flatten(node_kid(n, i), items);
    operands(p, f, items);
    g_ptr_array_free(items, TRUE);
}

/* t = value, inside of a branch: temporaries of the branch end with it. */
static void branch(program *p, function *f, node *value, const variable *t, bool truth)
{
    unsigned level = f->live->len;
    if (t) {
        lower_value(p, f, value);
        char *text = edit_text(f->unit, value);
        char *whole = g_strdup_printf(truth ? "(%s) ? 1 : 0" : "(%s)", text);
        site_assign(f, t, whole);
        g_free(whole);
        g_free(text);
    } else {
        lower_discarded(p, f, value);
    }
    site_cut_live(f, level);
}

static void condition(program *p, function *f, node *n)
{
    lower_value(p, f, n);
    char *text = edit_text(f->unit, n);
    site_mark(f, n);
    g_string_append_printf(f->out, "if (%s) {\n", text);
    g_free(text);
}

static void lower_logical(program *p, function *f, node *n, bool and, bool value)
{
    unsigned level = f->live->len;
    variable *t = value ? temporary_take(f, n->type, n) : NULL;
    condition(p, f, node_kid(n, 0));
    site_cut_live(f, level);
    if (!and) {
        if (t)
            g_string_append_printf(f->out, "%s = 1;\n", t->name);
        g_string_append(f->out, "} else {\n");
    }
    branch(p, f, node_kid(n, 1), t, true);
    if (and&&t)
        g_string_append_printf(f->out, "} else {\n%s = 0;\n", t->name);
    g_string_append(f->out, "}\n");
    if (t) {
        site_add_live(f, t);
        n->text = temporary_value(f, t, n->type);
    }
}

static void lower_choice(program *p, function *f, node *n, bool value)
{
    unsigned level = f->live->len;
    value = value && !temporary_is_void(n->type);
    variable *t = value ? temporary_take(f, n->type, n) : NULL;
    condition(p, f, node_kid(n, 0));
    site_cut_live(f, level);
    branch(p, f, node_kid(n, 1), t, false);
    g_string_append(f->out, "} else {\n");
    branch(p, f, node_kid(n, 2), t, false);
    g_string_append(f->out, "}\n");
    if (t) {
        site_add_live(f, t);
        n->text = temporary_value(f, t, n->type);
    } else {
        n->text = g_strdup("(void)0");
    }
}

/* x op= f(): compilers take the right side first, then x. */
static void lower_compound_assignment(program *p, function *f, node *n)
{
    node *to = node_kid(n, 0), *value = node_kid(n, 1);
    lower_value(p, f, value);
    if (to->polls && !stable_value(f, value))
        temporary_spill(f, value);
    lower_value(p, f, to);
}

static void lower_block(program *p, function *f, node *n)
{
    node *block = node_kid(n, 0);
    unsigned level = f->live->len;
    node *last = block && block->kids->len ? node_kid(block, block->kids->len - 1) : NULL, *result = last;
    while (result && result->kind == CXCursor_LabelStmt)
        result = node_kid(result, result->kids->len - 1);
    bool value = result && node_is_expression(result) && !temporary_is_void(n->type);
    variable *t = NULL;
    g_string_append(f->out, "{\n");
    for (unsigned i = 0; i < (block ? block->kids->len : 0); i++) {
        node *kid = node_kid(block, i);
        if (kid == last && value) {
            for (; kid != result; kid = node_kid(kid, kid->kids->len - 1)) {
                edit_range(f->unit, kid->a, node_kid(kid, kid->kids->len - 1)->a, NULL, f->out);
                g_string_append(f->out, " ;\n");
            }
            t = temporary_take(f, n->type, n);
            lower_value(p, f, kid);
            char *text = edit_text(f->unit, kid);
            site_mark(f, kid);
            site_assign(f, t, text);
            g_free(text);
        } else {
            statement_write(p, f, kid);
        }
    }
    g_string_append(f->out, "}\n");
    site_cut_live(f, level);
    if (t) {
        site_add_live(f, t);
        n->text = temporary_value(f, t, n->type);
    } else {
        n->text = g_strdup("(void)0");
    }
}

static void value_of_call(program *p, function *f, node *n)
{
    unit *u = f->unit;
    if (jump_is_set(n)) {
        jump_write_call(f, n);
        return;
    }
    lower_call(p, f, n);
    if (polls_call(p, u, n)) {
        variable *t = temporary_is_void(n->type) ? NULL : temporary_take(f, n->type, n);
        write_call(p, f, n, t);
        if (t)
            site_add_live(f, t);
        n->text = t ? temporary_value(f, t, n->type) : g_strdup("(void)0");
    } else if (n->wants) {
        char *call = edit_text(u, n);
        n->text = blocks_wanting(u, n, call);
        g_free(call);
    }
}

static void lower_comma(program *p, function *f, node *n)
{
    node *x = node_kid(n, 0), *y = node_kid(n, 1);
    if (!y->polls) {
        lower_value(p, f, x);
        return;
    }
    lower_discarded(p, f, x);
    lower_value(p, f, y);
    char *text = edit_text(f->unit, y);
    n->text = g_strdup_printf("(%s)", text);
    g_free(text);
}

static void lower_binary(program *p, function *f, node *n)
{
    char *o = node_operator(f->unit, n);
    node *x = node_kid(n, 0), *y = node_kid(n, 1);
    if (strcmp(o, "&&") == 0 || strcmp(o, "||") == 0) {
        if (y->polls)
            lower_logical(p, f, n, *o == '&', true);
        else
            lower_value(p, f, x);
    } else if (strcmp(o, ",") == 0) {
        lower_comma(p, f, n);
    } else if (strcmp(o, "=") == 0) {
        lower_value(p, f, x);
        if (y->polls)
            stable_settle(f, x);
        lower_value(p, f, y);
    } else {
        lower_pair(p, f, x, y);
    }
    g_free(o);
}

static void refuse_expression(function *f, const node *n)
{
    char *text = text_flat(f->unit, n->a, MIN(n->b, n->a + 40));
    unit_refuse(f->unit, n->a,
                "%s: the expression \"%s\" calls a function that may poll, and cannot be taken apart: call it in a statement "
                "of its own",
                f->name, text);
    g_free(text);
}

/* Whether its parts are evaluated in order, each once. */
static bool is_of_kids(const node *n)
{
    switch (n->kind) {
    case CXCursor_ParenExpr:
    case CXCursor_UnaryOperator:
    case CXCursor_MemberRefExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_InitListExpr:
    case CXCursor_CompoundLiteralExpr:
        return true;
    case CXCursor_UnexposedExpr:
        return n->kids->len == 1 || (n->up && n->up->kind == CXCursor_InitListExpr);
    default:
        return false;
    }
}

void lower_value(program *p, function *f, node *n)
{
    if (!n->polls || n->text)
        return;
    if (n->kind == CXCursor_CallExpr)
        value_of_call(p, f, n);
    else if (n->kind == CXCursor_BinaryOperator)
        lower_binary(p, f, n);
    else if (n->kind == CXCursor_CompoundAssignOperator)
        lower_compound_assignment(p, f, n);
    else if (n->kind == CXCursor_ConditionalOperator && n->kids->len == 3 && !node_kid(n, 1)->polls && !node_kid(n, 2)->polls)
        lower_value(p, f, node_kid(n, 0));
    else if (n->kind == CXCursor_ConditionalOperator && n->kids->len == 3)
        lower_choice(p, f, n, true);
    else if (is_of_kids(n))
        lower_kids(p, f, n);
    else if (n->kind == CXCursor_StmtExpr)
        lower_block(p, f, n);
    else
        refuse_expression(f, n);
}

/* to = value, where `to` is a variable in registers or memory of the same type. */
void lower_assign(program *p, function *f, const variable *to, node *value)
{
    node *bare = node_bare(value);
    if (value->polls && !to->memory && bare->kind == CXCursor_CallExpr && polls_call(p, f->unit, bare) &&
        ctype_same_everywhere(bare->type, to->type)) {
        lower_call(p, f, bare);
        write_call(p, f, bare, to);
        return;
    }
    lower_value(p, f, value);
    char *text = edit_text(f->unit, value);
    site_mark(f, value);
    site_assign(f, to, text);
    g_free(text);
}

void lower_discarded(program *p, function *f, node *n)
{
    if (!n->polls) {
        char *text = edit_text(f->unit, n);
        site_mark(f, n);
        g_string_append_printf(f->out, "%s;\n", text);
        g_free(text);
        return;
    }
    node *bare = node_bare(n);
    while (bare->kind == CXCursor_CStyleCastExpr && temporary_is_void(bare->type))
        bare = node_bare(node_kid(bare, bare->kids->len - 1));
    unsigned level = f->live->len;
    char *o = bare->kind == CXCursor_BinaryOperator ? node_operator(f->unit, bare) : g_strdup("");
    const variable *to = strcmp(o, "=") == 0 ? lower_variable_of(f, node_kid(bare, 0)) : NULL;
    if (bare->kind == CXCursor_CallExpr && polls_call(p, f->unit, bare)) {
        lower_call(p, f, bare);
        write_call(p, f, bare, NULL);
    } else if (strcmp(o, ",") == 0) {
        lower_discarded(p, f, node_kid(bare, 0));
        lower_discarded(p, f, node_kid(bare, 1));
    } else if ((strcmp(o, "&&") == 0 || strcmp(o, "||") == 0) && node_kid(bare, 1)->polls) {
        lower_logical(p, f, bare, *o == '&', false);
    } else if (bare->kind == CXCursor_ConditionalOperator && bare->kids->len == 3 &&
               (node_kid(bare, 1)->polls || node_kid(bare, 2)->polls)) {
        lower_choice(p, f, bare, false);
    } else if (to && !to->memory) {
        lower_assign(p, f, to, node_kid(bare, 1));
    } else {
        lower_value(p, f, n);
        char *text = edit_text(f->unit, n);
        site_mark(f, n);
        g_string_append_printf(f->out, "%s;\n", text);
        g_free(text);
    }
    g_free(o);
    site_cut_live(f, level);
}
