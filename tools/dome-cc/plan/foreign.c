/* Calls and mentions of functions that are not translated. */
#include "plan/plan.h"

#include <string.h>

/* ---- calls of what is not translated ---- */

bool foreign_argument_polls(program *p, unit *u, node *n)
{
    node *bare = node_bare(n);
    while (bare->kind == CXCursor_CStyleCastExpr && bare->kids->len)
        bare = node_bare(node_kid(bare, bare->kids->len - 1));
    if (bare->kind == CXCursor_UnaryOperator && u->original[bare->a] == '&')
        bare = node_bare(node_kid(bare, 0));
    if (bare->kind == CXCursor_DeclRefExpr && node_declaration(bare).kind == CXCursor_FunctionDecl) {
        char *key = cursor_key(u, node_declaration(bare));
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        return g && g->polls;
    }
    if (!ctype_is_pointer(n->type) || !ctype_is_function(ctype_pointee(n->type)))
        return false;
    char *type = ctype_key(n->type);
    GHashTableIter iter;
    gpointer key, value;
    bool polls = false;
    g_hash_table_iter_init(&iter, p->addressed);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        function *g = g_hash_table_lookup(p->functions, key);
        polls = polls || (g && g->polls && (!*(char *)value || strcmp(type, value) == 0));
    }
    g_free(type);
    return polls;
}

static const char *const never[] = {"setjmp",      "_setjmp",        "sigsetjmp",        "__sigsetjmp",
                                    "longjmp",     "siglongjmp",     "_longjmp",         "fork",
                                    "vfork",       "pthread_create", "thrd_create",      "clone",
                                    "makecontext", "swapcontext",    "__builtin_setjmp", "__builtin_longjmp",
                                    NULL};

static const char *const jumps[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", NULL};

/* Whether a pointer to functions may lead to one that is not translated. */
static bool reaches_foreign(program *p, CXType pointer)
{
    bool any = clang_getCanonicalType(ctype_pointee(pointer)).kind == CXType_FunctionNoProto, found = false;
    char *type = ctype_key(pointer);
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, p->addressed);
    while (g_hash_table_iter_next(&iter, &key, &value))
        if (!g_hash_table_contains(p->functions, key))
            found = found || any || !*(char *)value || strcmp(type, value) == 0;
    g_free(type);
    return found;
}

void foreign_edit_call(program *p, unit *u, function *f, node *n, unsigned depth)
{
    static const char *const other_heap[] = {"aligned_alloc", "posix_memalign", "memalign", "valloc", "pvalloc", NULL};
    static const char *const later[] = {"signal", "bsd_signal", "sigset", "atexit", "on_exit", "at_quick_exit", NULL};
    CXCursor d = node_called(n);
    bool hold = f && f->held && polls_call(p, u, n) && !parallel_is_operation(p, u, n);
    if (hold)
        held_call(u, n, depth, p->parallel ? f->name : NULL);
    blocks_call(p, u, f, n, depth + 1); /* inside of the hold */
    if (!cursor_is_null(d) && !functions_is_foreign(p, u, d))
        return;
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    if (jump_is_set(n))
        jump_call(p, u, f, n, depth);
    else if (text_in_list(name, never) && !text_in_list(name, jumps))
        unit_refuse(u, n->a, "%s: what it does to the stack or to the process cannot be saved", name);
    libc_lends(p, u, n, name, depth);
    if (text_in_list(name, other_heap))
        unit_refuse(u, n->a, "%s: blocks with an alignment of their own cannot be saved: use malloc", name);
    if (strcmp(name, "reallocarray") == 0)
        unit_refuse(u, n->a, "reallocarray: the block would have no type: use realloc, with the product of the two numbers");
    bool polls = false;
    for (unsigned i = 1; i < n->kids->len; i++)
        polls = polls || foreign_argument_polls(p, u, node_kid(n, i));
    if (cursor_is_null(d)) {
        if (polls && node_callee(n) && reaches_foreign(p, node_callee(n)->type))
            unit_refuse(
                u, n->a,
                "a function that may poll, for a call by a pointer that may lead to a function that is not translated: call "
                "that by its name");
        polls = false;
    }
    if (polls && text_in_list(name, later)) {
        unit_refuse(u, n->a,
                    "%s: the function that it gets may poll, and would be called at any time: put #pragma dome nopoll before its "
                    "loops",
                    name);
    } else if (polls && !hold) {
        held_call(u, n, depth, p->parallel ? name : NULL);
    }
    g_free(name);
}

/* ---- */

/* Of n, which a system's struct gets: the member or the struct is declared in a system header (struct sigaction). */
bool foreign_goes_into_struct(unit *u, node *n)
{
    node *up = n->up, *from = n;
    while (up && (up->kind == CXCursor_UnexposedExpr || up->kind == CXCursor_ParenExpr || up->kind == CXCursor_CStyleCastExpr ||
                  up->kind == CXCursor_ConditionalOperator || up->kind == CXCursor_UnaryOperator)) {
        from = up;
        up = up->up;
    }
    if (up && up->kind == CXCursor_BinaryOperator && node_kid(up, 1) == from) {
        char *o = node_operator(u, up);
        node *to = strcmp(o, "=") == 0 ? node_bare(node_kid(up, 0)) : NULL;
        g_free(o);
        return to && to->kind == CXCursor_MemberRefExpr && cursor_in_system_header(node_declaration(to));
    }
    for (; up && (up->kind == CXCursor_InitListExpr || up->kind == CXCursor_UnexposedExpr); up = up->up)
        if (ctype_is_record(up->type) && cursor_in_system_header(clang_getTypeDeclaration(clang_getCanonicalType(up->type))))
            return true;
    return false;
}

/* Whether a function that is not translated gets the value of n, as an argument or in a struct of the system. */
static bool goes_to_foreign(program *p, unit *u, node *n)
{
    node *user = node_bare_up(n);
    while (user && (user->kind == CXCursor_CStyleCastExpr || user->kind == CXCursor_UnaryOperator))
        user = node_bare_up(user);
    CXCursor d = user && user->kind == CXCursor_CallExpr ? node_called(user) : clang_getNullCursor();
    return (!cursor_is_null(d) && functions_is_foreign(p, u, d)) || foreign_goes_into_struct(u, n);
}

void foreign_edit_reference(program *p, unit *u, node *n)
{
    static const char *const ours[] = {"free",    "strdup",    "strndup", "fopen",    "fdopen",   "freopen",   "fclose",
                                       "rand",    "srand",     "random",  "srandom",  "drand48",  "lrand48",   "mrand48",
                                       "srand48", "strtok",    "getline", "getdelim", "asprintf", "vasprintf", "atexit",
                                       "signal",  "sigaction", "ungetc",  NULL};
    static const char *const clocks[] = {"clock", "clock_gettime", NULL};
    static const char *const states[] = {"initstate", "setstate", "seed48", "lcong48", NULL};
    CXCursor d = node_declaration(n);
    const char *other = d.kind == CXCursor_VarDecl || d.kind == CXCursor_EnumConstantDecl ? lift_renamed(u, d) : NULL;
    if (other)
        edit_replace(u, n->a, n->b, other);
    char *name = cursor_name(d);
    if (cursor_in_system_header(d))
        u->keeps |= libc_keeps(p, name);
    if (d.kind == CXCursor_VarDecl && cursor_in_system_header(d) && clang_Cursor_getStorageClass(d) == CX_SC_Extern)
        libc_variable(u, n, d);
    if (d.kind != CXCursor_FunctionDecl) {
        g_free(name);
        return;
    }
    node *up = node_bare_up(n);
    bool called = up && up->kind == CXCursor_CallExpr && node_bare(node_callee(up)) == n;
    const char *other_function = parallel_instead(p, name);
    if (other_function && !called)
        unit_refuse(u, n->a, "the address of %s: call it by its name", name);
    const char *allocator = called ? NULL : blocks_address(p, u, n, goes_to_foreign(p, u, n));
    if (u->main && strcmp(name, "main") == 0) {
        edit_replace(u, n->a, n->b, "dome__main");
    } else if (other_function) {
        edit_replace(u, n->a, n->b, other_function);
    } else if (functions_is_foreign(p, u, d)) {
        bool our = text_in_list(name, ours) && !cursor_is_looked_for(d);
        our = our || (called && !p->parallel && text_in_list(name, clocks) && !cursor_is_looked_for(d) &&
                      (strcmp(name, "clock") == 0 || !libc_has_long_times(up)));
        char *id = our ? g_strdup_printf("dome__cc_%s", name) : g_strdup(allocator ? allocator : name);
        if (our || allocator)
            edit_replace(u, n->a, n->b, id);
        if (text_in_list(name, states))
            unit_refuse(u, n->a, "%s: what the C library keeps for it cannot be saved: use srandom or srand48", name);
        if (!called && text_in_list(name, never))
            unit_refuse(u, n->a, "the address of %s: what it does to the stack or to the process cannot be saved", name);
        if (!called && !g_hash_table_contains(p->code_names, name)) {
            g_hash_table_add(p->code_names, g_strdup(name));
            g_ptr_array_add(u->tables[TABLE_CODES], g_strdup_printf("{\"%s\", (void (*)(void))%s}", name, id));
        }
        g_free(id);
    }
    g_free(name);
}
