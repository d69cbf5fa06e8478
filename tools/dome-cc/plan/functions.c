/* The functions of the program, and what they call. */
#include "plan/plan.h"

#include <string.h>

/* ---- functions ---- */

static void take(program *p, unit *u, node *n)
{
    CXCursor d = node_declaration(n);
    char *key = cursor_key(u, d), *type = ctype_key(clang_getCursorType(d));
    for (node *up = n->up; up && (up->kind == CXCursor_UnexposedExpr || up->kind == CXCursor_ParenExpr ||
                                  up->kind == CXCursor_CStyleCastExpr || up->kind == CXCursor_UnaryOperator);
         up = up->up) {
        char *seen = ctype_key(up->type);
        if (strcmp(seen, type) != 0)
            *type = '\0';
        g_free(seen);
    }
    char *before = g_hash_table_lookup(p->addressed, key);
    if (before && strcmp(before, type) != 0)
        *type = '\0';
    g_hash_table_insert(p->addressed, key, type);
}

static void scan(program *p, unit *u, function *f, node *n)
{
    if (n->kind == CXCursor_UnaryExpr)
        return; /* sizeof: nothing is evaluated */
    if (n->kind == CXCursor_CallExpr && f) {
        CXCursor d = node_called(n);
        if (!cursor_is_null(d)) {
            g_ptr_array_add(f->calls, cursor_key(u, d));
        } else if (node_callee(n)) {
            CXType t = ctype_pointee(node_callee(n)->type);
            bool any = clang_getCanonicalType(t).kind == CXType_FunctionNoProto;
            g_ptr_array_add(f->indirect, any ? g_strdup("") : ctype_key(t));
        }
    }
    if (n->kind == CXCursor_DeclRefExpr && node_declaration(n).kind == CXCursor_FunctionDecl) {
        node *up = node_bare_up(n);
        if (!(up && up->kind == CXCursor_CallExpr && node_bare(node_callee(up)) == n))
            take(p, u, n);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        scan(p, u, f, node_kid(n, i));
}

/* Of a weak function the linker may take another definition, also one that is not translated. */
static void note_weak(program *p, unit *u, const node *top, unsigned begin)
{
    const bool body = clang_isCursorDefinition(top->cursor) && top->kids->len;
    char *text = text_flat(u, begin, body ? node_kid(top, top->kids->len - 1)->a : text_find(u, top->b, u->length, ';'));
    if (strstr(text, "weak"))
        g_hash_table_add(p->weak, cursor_key(u, top->cursor));
    g_free(text);
}

void functions_find(program *p, unit *u)
{
    u->program = p;
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        function *f = NULL;
        if (top->kind == CXCursor_FunctionDecl && !cursor_in_system_header(top->cursor))
            note_weak(p, u, top, GPOINTER_TO_UINT(g_ptr_array_index(u->ends, i)));
        if (top->kind == CXCursor_FunctionDecl && clang_isCursorDefinition(top->cursor) && top->kids->len) {
            node *body = node_kid(top, top->kids->len - 1);
            if (body->kind == CXCursor_CompoundStmt) {
                f = g_new0(function, 1);
                f->unit = u;
                f->decl = top;
                f->body = body;
                f->name = cursor_name(top->cursor);
                f->key = cursor_key(u, top->cursor);
                f->type_key = ctype_key(top->type);
                f->held = held_reason(u, top, GPOINTER_TO_UINT(g_ptr_array_index(u->ends, i)));
                f->calls = g_ptr_array_new();
                f->indirect = g_ptr_array_new();
                g_ptr_array_add(u->functions, f);
                function *same = g_hash_table_lookup(p->functions, f->key);
                if (!same)
                    g_hash_table_insert(p->functions, f->key, f);
                else
                    same->several = true;
                if (strcmp(f->name, "main") == 0)
                    u->main = f;
            }
        }
        scan(p, u, f, top);
    }
}

bool functions_indirect_reaches(program *p, const char *type, bool (*test)(program *, function *, void *), void *data)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, p->addressed);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        function *g = g_hash_table_lookup(p->functions, key);
        if (g && !g->operation && (!*type || !*(const char *)value || strcmp(type, value) == 0) && test(p, g, data))
            return true;
    }
    return false;
}

/* ---- return ---- */

CXType functions_result(function *f)
{
    return clang_getResultType(f->decl->type);
}

bool functions_returns_nothing(function *f)
{
    return clang_getCanonicalType(functions_result(f)).kind == CXType_Void;
}

/* ---- literals ---- */

bool functions_is_foreign(program *p, unit *u, CXCursor d)
{
    char *key = cursor_key(u, d);
    bool known = g_hash_table_contains(p->functions, key);
    g_free(key);
    return !known;
}
