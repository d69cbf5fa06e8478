/* Structs of which the program looks at the bytes: memcmp, a hash over sizeof(key), fwrite. What lies between their members then
 * matters, and is saved as well. Other structs have zeros there after a restart. */
#include "plan/plan.h"

#include <string.h>

enum { DEEPEST = 3 /* functions that hand a pointer on */ };

/* Functions that get a pointer to a struct and its size, and do not look at the bytes, or copy them to another struct. */
static const char *const blind[] = {"memset", "bzero", "explicit_bzero", "malloc",           "calloc", "realloc", "reallocarray",
                                    "free",   "qsort", "qsort_r",        "bsearch",          "lfind",  "lsearch", "fread",
                                    "read",   "pread", "recv",           "__builtin_memset", NULL};

static const char *const copiers[] = {"memcpy", "memmove", "mempcpy", "__builtin_memcpy", "__builtin_memmove", NULL};

static bool is_byte_pointer(CXType t)
{
    const enum CXTypeKind k = ctype_is_pointer(t) ? clang_getCanonicalType(ctype_pointee(t)).kind : CXType_Invalid;
    return k == CXType_Char_S || k == CXType_Char_U || k == CXType_UChar || k == CXType_SChar;
}

static node *without_casts(node *n)
{
    for (n = node_bare(n); n && n->kids->len && (n->kind == CXCursor_CStyleCastExpr || n->kind == CXCursor_UnexposedExpr);
         n = node_bare(n))
        n = node_kid(n, n->kids->len - 1);
    return n;
}

/* The struct to which an expression points, as what it is without casts; false: to none. */
static bool points_to_record(node *n, CXType *record)
{
    n = without_casts(n);
    CXType t = ctype_is_pointer(n->type) ? ctype_pointee(n->type)
               : ctype_is_array(n->type) ? ctype_element(n->type, NULL)
                                         : n->type;
    *record = clang_getCanonicalType(t);
    return (ctype_is_pointer(n->type) || ctype_is_array(n->type)) && ctype_is_record(t);
}

static bool has_size_of(unit *u, node *n, CXType record)
{
    if (n->kind == CXCursor_UnaryExpr && strncmp(u->original + n->a, "sizeof", 6) == 0) {
        for (unsigned i = 0; i < n->kids->len; i++) {
            node *kid = node_kid(n, i);
            CXType t = kid->kind == CXCursor_TypeRef ? clang_getCursorType(node_declaration(kid)) : node_bare(kid)->type;
            if (ctype_same(ctype_is_array(t) ? ctype_element(t, NULL) : t, record))
                return true;
        }
        return false;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_size_of(u, node_kid(n, i), record))
            return true;
    return false;
}

static bool looks_at_bytes(program *p, unit *u, node *n, unsigned variable, int depth);

/* Whether a function looks at the bytes to which an argument points. `record`: of the argument; NULL: any. */
static bool callee_looks(program *p, unit *u, node *call, unsigned argument, const CXType *record, int depth)
{
    CXCursor d = node_called(call);
    if (cursor_is_null(d))
        return true;
    char *name = cursor_name(d), *key = cursor_key(u, d);
    function *g = g_hash_table_lookup(p->functions, key);
    bool looks = !text_in_list(name, blind);
    if (text_in_list(name, copiers)) { /* from a struct to bytes */
        CXType to;
        looks = argument == 2 && !(points_to_record(node_kid(call, 1), &to) && (!record || ctype_same(to, *record)));
    } else if (g && g->unit) { /* an operation of Dome, behind which the program polls, has no text here */
        CXCursor parameter = clang_Cursor_getArgument(g->decl->cursor, argument - 1);
        looks = depth < DEEPEST && !cursor_is_null(parameter) &&
                looks_at_bytes(p, g->unit, g->body, cursor_offset(parameter), depth + 1);
    }
    g_free(key);
    g_free(name);
    return looks;
}

/* Whether a pointer, with or without casts, is used to read bytes. */
static bool use_looks(program *p, unit *u, node *n, int depth)
{
    node *from = n, *up = n->up;
    while (up && (up->kind == CXCursor_ParenExpr || up->kind == CXCursor_UnexposedExpr || up->kind == CXCursor_CStyleCastExpr)) {
        from = up;
        up = up->up;
    }
    if (!up)
        return false;
    if (up->kind == CXCursor_ArraySubscriptExpr)
        return is_byte_pointer(from->type);
    if (up->kind == CXCursor_UnaryOperator) {
        char *o = node_unary_operator(u, up);
        const bool steps = strstr(o, "++") || strstr(o, "--"), reads = strcmp(o, "*") == 0;
        g_free(o);
        return is_byte_pointer(from->type) && (reads || (steps && use_looks(p, u, up, depth)));
    }
    if (up->kind == CXCursor_BinaryOperator && is_byte_pointer(up->type) && node_kid(up, 0) == from)
        return use_looks(p, u, up, depth);
    if (up->kind == CXCursor_CallExpr)
        for (unsigned i = 1; i < up->kids->len; i++)
            if (node_kid(up, i) == from)
                return callee_looks(p, u, up, i, NULL, depth);
    if (up->kind == CXCursor_VarDecl && is_byte_pointer(clang_getCursorType(up->cursor)) && depth < DEEPEST) {
        node *top = up;
        while (top->up)
            top = top->up;
        return looks_at_bytes(p, u, top, cursor_offset(up->cursor), depth + 1);
    }
    return false;
}

static bool looks_at_bytes(program *p, unit *u, node *n, unsigned variable, int depth)
{
    if (n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == variable && use_looks(p, u, n, depth))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (looks_at_bytes(p, u, node_kid(n, i), variable, depth))
            return true;
    return false;
}

static char *key_of(CXType record)
{
    CXString s = clang_getTypeSpelling(clang_getCanonicalType(record));
    const char *text = clang_getCString(s);
    char *key = g_strdup(text && g_str_has_prefix(text, "const ") ? text + strlen("const ") : text ? text : "");
    clang_disposeString(s);
    return key;
}

static enum CXVisitorResult add_inner(CXCursor field, CXClientData data);

/* A struct, and those in it. */
static void add(program *p, CXType record)
{
    char *key = key_of(record);
    if (g_hash_table_add(p->whole, key))
        clang_Type_visitFields(clang_getCanonicalType(record), add_inner, p);
}

static enum CXVisitorResult add_inner(CXCursor field, CXClientData data)
{
    CXType t = clang_getCursorType(field);
    t = ctype_is_array(t) ? ctype_element(t, NULL) : t;
    if (ctype_is_record(t))
        add(data, t);
    return CXVisit_Continue;
}

static void find_in_call(program *p, unit *u, node *call)
{
    for (unsigned i = 1; i < call->kids->len; i++) {
        CXType record;
        bool size = false;
        if (!points_to_record(node_kid(call, i), &record))
            continue;
        for (unsigned k = 1; k < call->kids->len && !size; k++)
            size = k != i && has_size_of(u, node_kid(call, k), record);
        if (size && callee_looks(p, u, call, i, &record, 0))
            add(p, record);
    }
}

static void find(program *p, unit *u, node *top, node *n)
{
    CXType record;
    if (n->kind == CXCursor_CallExpr)
        find_in_call(p, u, n);
    if (n->kind == CXCursor_VarDecl && n->kids->len && is_byte_pointer(clang_getCursorType(n->cursor)) &&
        points_to_record(node_kid(n, n->kids->len - 1), &record) && has_size_of(u, top, record) &&
        looks_at_bytes(p, u, top, cursor_offset(n->cursor), 0))
        add(p, record);
    for (unsigned i = 0; i < n->kids->len; i++)
        find(p, u, top, node_kid(n, i));
}

/* Before types are described: which of them are saved with their padding, in all files. */
void padding_find(program *p, unit *u)
{
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        find(p, u, f->decl, f->decl);
    }
}

/* ---- the bytes between members ---- */

static enum CXVisitorResult add_bounds(CXCursor field, CXClientData data)
{
    GArray *all = data;
    const long long begin = clang_Cursor_getOffsetOfField(field) / 8,
                    end = begin + MAX(clang_Type_getSizeOf(clang_getCursorType(field)), 0);
    g_array_append_val(all, begin);
    g_array_append_val(all, end);
    return CXVisit_Continue;
}

/* Calls function(ctx, offset, bytes) for each piece of padding of a struct of which the program looks at the bytes. */
void padding_each(unit *u, CXType record, void (*function)(void *ctx, long long offset, long long bytes), void *ctx)
{
    char *key = key_of(record);
    const bool whole = g_hash_table_contains(u->program->whole, key);
    g_free(key);
    if (!whole)
        return;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(long long));
    clang_Type_visitFields(clang_getCanonicalType(record), add_bounds, all);
    long long at = 0;
    for (unsigned i = 0; i + 1 < all->len; i += 2) {
        const long long begin = g_array_index(all, long long, i), end = g_array_index(all, long long, i + 1);
        if (begin > at)
            function(ctx, at, begin - at);
        at = MAX(at, end);
    }
    if (clang_Type_getSizeOf(record) > at)
        function(ctx, at, clang_Type_getSizeOf(record) - at);
    g_array_free(all, TRUE);
}
