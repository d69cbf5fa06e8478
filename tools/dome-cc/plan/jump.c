/* setjmp and longjmp. A jmp_buf holds addresses of the stack, which are others when the program goes on. So a function that can
 * be saved notes for which buffers it has called setjmp, and calls it again for them where it is entered again; a longjmp then
 * comes out of that call and goes to the place of the first one. What the functions in between had in the run-time library is
 * given back: setjmp's caller has noted how much there was. */
#include "plan/plan.h"

#include <string.h>

static const char *const setters[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", NULL};

bool jump_is_set(const node *n)
{
    CXCursor d = n->kind == CXCursor_CallExpr ? node_called(n) : clang_getNullCursor();
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    bool found = n->kids->len > 1 && text_in_list(name, setters) && cursor_in_system_header(d);
    g_free(name);
    return found;
}

/* Whether the buffer is a variable or a member of one: it then exists as long as setjmp's caller is active. */
static bool is_variable(unit *u, node *n)
{
    n = node_bare(n);
    if (n->kind == CXCursor_DeclRefExpr)
        return ctype_is_record(n->type) || (ctype_is_array(n->type) && node_declaration(n).kind != CXCursor_ParmDecl);
    if (n->kind == CXCursor_UnaryOperator) {
        char *o = node_unary_operator(u, n);
        node *kid = node_bare(node_kid(n, 0));
        bool good = strcmp(o, "&") == 0 && is_variable(u, kid);
        if (strcmp(o, "*") == 0 && kid->kind == CXCursor_UnaryOperator && u->original[kid->a] == '&')
            good = is_variable(u, kid);
        g_free(o);
        return good;
    }
    if (n->kind == CXCursor_MemberRefExpr && n->kids->len) {
        node *base = node_bare(node_kid(n, 0));
        return (ctype_is_record(base->type) || base->kind == CXCursor_UnaryOperator) && is_variable(u, base);
    }
    if (n->kind == CXCursor_ArraySubscriptExpr)
        return ctype_is_array(node_bare(node_kid(n, 0))->type) && is_variable(u, node_kid(n, 0));
    return false;
}

static bool leads_to_jump_buffer(node *n)
{
    for (n = node_bare(n); n && n->kind == CXCursor_CStyleCastExpr && n->kids->len;
         n = node_bare(node_kid(n, n->kids->len - 1))) {
        if (ctype_is_pointer(n->type) && ctype_holds_jump_buffer(ctype_pointee(n->type)))
            return true;
    }
    return n && ctype_holds_jump_buffer(ctype_is_pointer(n->type) ? ctype_pointee(n->type) : n->type);
}

/* setjmp is called again for its own buffer; one that was filled by copying would keep addresses of the old stack. */
void jump_check_copy(unit *u, node *n)
{
    static const char *const copiers[] = {"memcpy",           "memmove",           "mempcpy",           "bcopy",
                                          "__builtin_memcpy", "__builtin_memmove", "__builtin_mempcpy", NULL};
    bool copies = false;
    if (n->kind == CXCursor_BinaryOperator && ctype_is_record(n->type) && ctype_holds_jump_buffer(n->type)) {
        char *o = node_operator(u, n);
        copies = strcmp(o, "=") == 0;
        g_free(o);
    } else if (n->kind == CXCursor_CallExpr) {
        CXCursor d = node_called(n);
        char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
        const bool copier = text_in_list(name, copiers);
        copies = ctype_is_record(n->type) && ctype_holds_jump_buffer(n->type);
        for (unsigned i = 1; i < n->kids->len && !copies; i++) {
            node *kid = node_kid(n, i);
            copies = (copier && leads_to_jump_buffer(kid)) || (ctype_is_record(kid->type) && ctype_holds_jump_buffer(kid->type));
        }
        g_free(name);
    } else if (n->kind == CXCursor_VarDecl && ctype_is_record(n->type) && ctype_holds_jump_buffer(n->type)) {
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
        j->function = cursor_name(node_called(n));
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
