/* Functions that are written twice. */
#include "plan/plan.h"

#include <string.h>

enum { SMALL_FUNCTION = 12 }; /* operations in its text: the compiler makes such a function a part of all its callers */

/* The twin of a static function that is called in one place only. The compiler would make such a function a part of its caller,
 * but a second call, by which it is entered again when the program goes on, would keep it from that. So that second call is of a
 * copy, the twin, and the function itself cannot be entered again. Functions that a twin calls have twins for the same reason. */
static bool cannot_be_copied(unit *u, node *n)
{
    char *text = text_flat(u, n->a, n->b);
    bool found = strstr(text, "__func__") || strstr(text, "__FUNCTION__") || strstr(text, "__PRETTY_FUNCTION__");
    g_free(text);
    text = text_flat(u, n->a, node_kid(n, n->kids->len - 1)->a);
    found = found || strchr(text, ';'); /* int f(a) int a; { ... } */
    g_free(text);
    return found;
}

/* "static T *name(" alone on its line of declarators. */
static bool is_simple_header(unit *u, node *top)
{
    unsigned at = cursor_offset(top->cursor);
    char *text = text_flat(u, top->a, at);
    bool good = !strpbrk(text, "(,{[");
    g_free(text);
    return good;
}

void twins_count_calls(program *p)
{
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++) {
            function *f = g_ptr_array_index(u->functions, k);
            for (unsigned c = 0; c < f->calls->len; c++) {
                function *g = g_hash_table_lookup(p->functions, g_ptr_array_index(f->calls, c));
                if (g) {
                    g->twins.callers++;
                    g->twins.caller = f;
                }
            }
        }
    }
}

/* Whether the only call of f stands where it could be part of its caller. */
static bool is_single(program *p, const function *f)
{
    return f->twins.callers == 1 && f->twins.caller != f && f != f->unit->main &&
           clang_getCursorLinkage(f->decl->cursor) == CXLinkage_Internal && !g_hash_table_contains(p->addressed, f->key);
}

/* A function calls its twin with its own parameters. */
static bool names_parameters(const function *f)
{
    bool all = true;
    for (int i = 0; i < clang_Cursor_getNumArguments(f->decl->cursor); i++) {
        char *name = cursor_name(clang_Cursor_getArgument(f->decl->cursor, (unsigned)i));
        all = all && *name;
        g_free(name);
    }
    return all;
}

/* main, and functions that are called in several places or by themselves, are entered again by a copy, too: what the compiler
 * knows of variables would be lost where the saved ones come in. */
static void find_splits(program *p)
{
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++) {
            function *f = g_ptr_array_index(u->functions, k);
            char *header = text_flat(u, f->decl->a, f->body->a);
            f->twins.split = f->polls && !is_single(p, f) && g_hash_table_lookup(p->functions, f->key) == f &&
                             !strstr(header, "inline") && !strstr(header, "__attribute") && !cannot_be_copied(u, f->decl) &&
                             names_parameters(f);
            for (unsigned t = 0; t < u->tops->len && f->twins.split; t++) {
                node *top = g_ptr_array_index(u->tops, t);
                char *key = top->kind == CXCursor_FunctionDecl ? cursor_key(u, top->cursor) : NULL;
                f->twins.split = !key || strcmp(key, f->key) != 0 || is_simple_header(u, top);
                g_free(key);
            }
            g_free(header);
        }
    }
}

void twins_find(program *p)
{
    find_splits(p);
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < p->units->len; i++) {
            unit *u = g_ptr_array_index(p->units, i);
            for (unsigned k = 0; k < u->functions->len; k++) {
                function *f = g_ptr_array_index(u->functions, k);
                bool twin = !f->twins.exists && !f->twins.cannot && is_single(p, f) &&
                            (f->polls ? !f->recursive : f->twins.caller->twins.exists || f->twins.caller->twins.split);
                if (!twin)
                    continue;
                f->twins.cannot = cannot_be_copied(u, f->decl);
                for (unsigned t = 0; t < u->tops->len && !f->twins.cannot; t++) {
                    node *top = g_ptr_array_index(u->tops, t);
                    char *key = top->kind == CXCursor_FunctionDecl ? cursor_key(u, top->cursor) : NULL;
                    f->twins.cannot = key && strcmp(key, f->key) == 0 && !is_simple_header(u, top);
                    g_free(key);
                }
                f->twins.exists = !f->twins.cannot;
                more = more || f->twins.exists;
            }
        }
    }
}

static void mark_twins(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_CallExpr && !cursor_is_null(node_called(n))) {
        node *callee = node_bare(node_callee(n));
        char *key = cursor_key(u, node_called(n));
        const function *f = g_hash_table_lookup(p->functions, key);
        if (f && f->twins.exists) {
            char *name = g_strconcat(TWIN_MARK, f->name, NULL);
            edit_replace(u, callee->a, callee->b, name);
            g_free(name);
        }
        g_free(key);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        mark_twins(p, u, node_kid(n, i));
}

/* Names of functions that have twins get a mark where they are called. */
void twins_mark(program *p, unit *u)
{
    for (unsigned i = 0; i < u->functions->len; i++)
        mark_twins(p, u, ((function *)g_ptr_array_index(u->functions, i))->body);
}

/* The text of n in operations, with that of functions which are called there only. */
static unsigned size_of(program *p, unit *u, node *n)
{
    unsigned k = work_operations(u, n) + (n->kind == CXCursor_CallExpr ? 3 : 0);
    if (n->kind == CXCursor_CallExpr && !cursor_is_null(node_called(n))) {
        char *key = cursor_key(u, node_called(n));
        const function *f = g_hash_table_lookup(p->functions, key);
        g_free(key);
        if (f && is_single(p, f) && !f->recursive)
            k += size_of(p, f->unit, f->body);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        k += size_of(p, u, node_kid(n, i));
    return k;
}

/* Whether the text of n may stand twice in a function: it does not call what is called there only, and is so large that the
 * compiler would then leave it a function. */
bool twins_may_copy(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_CallExpr && !cursor_is_null(node_called(n))) {
        char *key = cursor_key(u, node_called(n));
        const function *f = g_hash_table_lookup(p->functions, key);
        g_free(key);
        if (f && is_single(p, f) && (f->recursive || size_of(p, f->unit, f->body) > SMALL_FUNCTION))
            return false;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (!twins_may_copy(p, u, node_kid(n, i)))
            return false;
    return true;
}
