/* setjmp and longjmp. A jmp_buf holds addresses of the stack, which are others when the program goes on. So a function that can
 * be saved notes for which buffers it has called setjmp, and calls it again for them where it is entered again; a longjmp then
 * comes out of that call and goes to the place of the first one. What the functions in between had in the run-time library is
 * given back: setjmp's caller has noted how much there was. */
#include "cc.h"

#include <string.h>

static const char *const setters[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", NULL};

struct jump {
    node *call;
    char *function;                  /* setjmp's name */
    variable *buffer, *mark, *value; /* its argument, what there was then, its result */
};

bool jump_is_set(const node *n)
{
    CXCursor d = n->kind == CXCursor_CallExpr ? call_function(n) : clang_getNullCursor();
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    bool found = n->kids->len > 1 && in_list(name, setters) && cursor_in_system_header(d);
    g_free(name);
    return found;
}

/* Whether the buffer is a variable or a member of one: it then exists as long as setjmp's caller is active. */
static bool is_variable(unit *u, node *n)
{
    n = node_bare(n);
    if (n->kind == CXCursor_DeclRefExpr)
        return type_is_record(n->type) || (type_is_array(n->type) && node_declaration(n).kind != CXCursor_ParmDecl);
    if (n->kind == CXCursor_UnaryOperator) {
        char *o = unary_operator(u, n);
        node *kid = node_bare(node_kid(n, 0));
        bool good = strcmp(o, "&") == 0 && is_variable(u, kid);
        if (strcmp(o, "*") == 0 && kid->kind == CXCursor_UnaryOperator && u->original[kid->a] == '&')
            good = is_variable(u, kid);
        g_free(o);
        return good;
    }
    if (n->kind == CXCursor_MemberRefExpr && n->kids->len) {
        node *base = node_bare(node_kid(n, 0));
        return (type_is_record(base->type) || base->kind == CXCursor_UnaryOperator) && is_variable(u, base);
    }
    if (n->kind == CXCursor_ArraySubscriptExpr)
        return type_is_array(node_bare(node_kid(n, 0))->type) && is_variable(u, node_kid(n, 0));
    return false;
}

static bool leads_to_jump_buffer(node *n)
{
    for (n = node_bare(n); n && n->kind == CXCursor_CStyleCastExpr && n->kids->len;
         n = node_bare(node_kid(n, n->kids->len - 1))) {
        if (type_is_pointer(n->type) && type_holds_jump_buffer(type_pointee(n->type)))
            return true;
    }
    return n && type_holds_jump_buffer(type_is_pointer(n->type) ? type_pointee(n->type) : n->type);
}

/* setjmp is called again for its own buffer; one that was filled by copying would keep addresses of the old stack. */
void jump_check_copy(unit *u, node *n)
{
    static const char *const copiers[] = {"memcpy",           "memmove",           "mempcpy",           "bcopy",
                                          "__builtin_memcpy", "__builtin_memmove", "__builtin_mempcpy", NULL};
    bool copies = false;
    if (n->kind == CXCursor_BinaryOperator && type_is_record(n->type) && type_holds_jump_buffer(n->type)) {
        char *o = node_operator(u, n);
        copies = strcmp(o, "=") == 0;
        g_free(o);
    } else if (n->kind == CXCursor_CallExpr) {
        CXCursor d = call_function(n);
        char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
        const bool copier = in_list(name, copiers);
        copies = type_is_record(n->type) && type_holds_jump_buffer(n->type);
        for (unsigned i = 1; i < n->kids->len && !copies; i++) {
            node *kid = node_kid(n, i);
            copies = (copier && leads_to_jump_buffer(kid)) || (type_is_record(kid->type) && type_holds_jump_buffer(kid->type));
        }
        g_free(name);
    } else if (n->kind == CXCursor_VarDecl && type_is_record(n->type) && type_holds_jump_buffer(n->type)) {
        node *last = n->kids->len ? node_bare(node_kid(n, n->kids->len - 1)) : NULL;
        copies = last && node_is_expression(last) && last->kind != CXCursor_InitListExpr;
    }
    if (copies)
        unit_refuse(u, n->a,
                    "a jmp_buf is copied: after a restart the copy leads nowhere. Call setjmp for it, or hand on its address");
}

void jump_call(program *p, unit *u, const function *f, node *n, unsigned depth)
{
    if (!f || g_hash_table_contains(p->wrappers, f->key)) {
        unit_refuse(u, n->a, "setjmp in a function that allocates a block for its caller");
    } else if (!f->polls) {
        edit_around(u, n->a, n->b, depth,
                    "(__extension__ ({ const long long dome__j = dome__cc_jump_mark(); const int dome__h = ",
                    "; if (dome__h) dome__cc_jumped(dome__j); dome__h; }))");
    } else if (!is_variable(u, node_kid(n, 1))) {
        unit_refuse(
            u, n->a,
            "%s: setjmp for what a pointer leads to, and the function may poll: the jmp_buf must be a variable, or a member "
            "of one",
            f->name);
    }
}

static variable *variable_new(function *f, const char *what, const char *type, const node *of)
{
    variable *v = g_new0(variable, 1);
    v->name = v->read = g_strdup_printf("dome__%s_%u", what, f->jumps->len + 1);
    v->declared = g_strdup_printf("%s%s", type, v->name);
    v->description = g_strdup("");
    v->type = of->type;
    v->temporary = v->busy = true;
    g_ptr_array_add(f->variables, v);
    return v;
}

/* Before the function is written: its variables for each setjmp, which are saved wherever it is. */
void jump_plan(function *f, node *n, GString *begin)
{
    if (jump_is_set(n)) {
        struct jump *j = g_new0(struct jump, 1);
        j->call = n;
        j->function = cursor_name(call_function(n));
        j->buffer = variable_new(f, "buffer", "void *", node_kid(n, 1));
        j->buffer->plain_pointer = true;
        j->mark = variable_new(f, "mark", "long long ", n);
        j->mark->wide = true;
        j->value = variable_new(f, "value", "int ", n);
        g_ptr_array_add(f->live, j->buffer);
        g_ptr_array_add(f->live, j->mark);
        g_ptr_array_add(f->jumps, j);
        g_string_append_printf(begin, "%s = 0; %s = 0; ", j->buffer->name, j->mark->name);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        jump_plan(f, node_kid(n, i), begin);
}

/* sigsetjmp has an argument more. */
static char *call_text(function *f, const struct jump *j)
{
    node *more = node_kid(j->call, 2);
    char *rest = more ? node_text(f->unit, more) : NULL;
    char *text =
        g_strdup_printf("%s = %s(%s%s%s)", j->value->name, j->function, j->buffer->name, rest ? ", " : "", rest ? rest : "");
    g_free(rest);
    return text;
}

void jump_lower(function *f, node *n)
{
    for (unsigned i = 0; i < f->jumps->len; i++) {
        const struct jump *j = g_ptr_array_index(f->jumps, i);
        if (j->call != n)
            continue;
        char *buffer = node_text(f->unit, node_kid(n, 1)), *call = call_text(f, j);
        write_mark(f, n);
        g_string_append_printf(f->out, "%s = (%s); ", j->buffer->name, buffer);
        for (unsigned k = 0; k < f->jumps->len; k++) { /* a buffer leads to the last setjmp alone */
            const struct jump *other = g_ptr_array_index(f->jumps, k);
            if (other != j)
                g_string_append_printf(f->out, "if (%s == %s) %s = 0; ", other->buffer->name, j->buffer->name,
                                       other->buffer->name);
        }
        g_string_append_printf(
            f->out, "%s = dome__cc_jump_mark(); %s; " ENTERING "dome__jumped_%u: ; " ENTERED "if (%s) dome__cc_jumped(%s);\n",
            j->mark->name, call, i, j->value->name, j->mark->name);
        n->text = g_strdup(j->value->name);
        g_free(call);
        g_free(buffer);
    }
}

/* Where the function is entered again. */
void jump_recover(function *f, GString *out)
{
    for (unsigned i = 0; i < f->jumps->len; i++) {
        const struct jump *j = g_ptr_array_index(f->jumps, i);
        char *call = call_text(f, j);
        g_string_append_printf(out, "if (%s && (%s)) goto dome__jumped_%u; ", j->buffer->name, call, i);
        g_free(call);
    }
}
