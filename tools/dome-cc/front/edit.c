/* Edits of a unit's text, and nodes written with what stands for them. */
#include "front/front.h"

#include <stdlib.h>

void edit_replace(unit *u, unsigned a, unsigned b, const char *text)
{
    edit e = {a, b, EDIT_REPLACE, 0, g_strdup(text)};
    g_array_append_val(u->edits.list, e);
    u->edits.sorted = false;
}

void edit_around(unit *u, unsigned a, unsigned b, unsigned depth, const char *before, const char *after)
{
    edit e = {a, a, EDIT_BEFORE, depth, g_strdup(before)}, f = {b, b, EDIT_AFTER, depth, g_strdup(after)};
    g_array_append_val(u->edits.list, e);
    g_array_append_val(u->edits.list, f);
    u->edits.sorted = false;
}

/* At one place: what ends there, inner ones first; what begins there, outer ones first; then replacements, longer ones first. */
static int compare(const void *x, const void *y)
{
    const edit *p = x, *q = y;
    static const int rank[] = {[EDIT_AFTER] = 0, [EDIT_BEFORE] = 1, [EDIT_REPLACE] = 2};
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    if (p->kind != q->kind)
        return rank[p->kind] - rank[q->kind];
    if (p->kind == EDIT_AFTER)
        return p->depth == q->depth ? 0 : p->depth > q->depth ? -1 : 1;
    if (p->kind == EDIT_BEFORE)
        return p->depth == q->depth ? 0 : p->depth < q->depth ? -1 : 1;
    return p->b == q->b ? 0 : p->b > q->b ? -1 : 1;
}

/* Writes text[a .. b) with its edits. `except`: one that is not applied, though those inside of it are. */
void edit_range(unit *u, unsigned a, unsigned b, const edit *except, GString *out)
{
    if (a >= b)
        return;
    if (!u->edits.sorted) {
        qsort(u->edits.list->data, u->edits.list->len, sizeof(edit), compare);
        u->edits.sorted = true;
    }
    /* the first edit at or behind a */
    unsigned low = 0, high = u->edits.list->len;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (g_array_index(u->edits.list, edit, middle).a < a)
            low = middle + 1;
        else
            high = middle;
    }
    unsigned at = a;
    for (unsigned i = low; i < u->edits.list->len; i++) {
        const edit *e = &g_array_index(u->edits.list, edit, i);
        if (e->a > b || (e->a == b && e->kind != EDIT_AFTER))
            break;
        bool outside = e->a < at || e->b > b || (e->kind == EDIT_AFTER && e->a == a);
        if (outside || (except && e->kind == EDIT_REPLACE && e->a == except->a && e->b == except->b))
            continue;
        g_string_append_len(out, u->original + at, e->a - at);
        g_string_append(out, e->text);
        at = e->b;
    }
    g_string_append_len(out, u->original + at, b - at);
}

static bool replaced(const node *n)
{
    if (n->text)
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (replaced(node_kid(n, i)))
            return true;
    return false;
}

void edit_print(unit *u, node *n, GString *out)
{
    if (n->text) {
        g_string_append(out, n->text);
        return;
    }
    if (!replaced(n)) {
        edit_range(u, n->a, n->b, NULL, out);
        return;
    }
    unsigned at = n->a;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (kid->a < at || kid->b > n->b || kid->a == kid->b || !replaced(kid))
            continue;
        edit_range(u, at, kid->a, NULL, out);
        edit_print(u, kid, out);
        at = kid->b;
    }
    edit_range(u, at, n->b, NULL, out);
}

char *edit_text(unit *u, node *n)
{
    GString *s = g_string_new(NULL);
    edit_print(u, n, s);
    return g_string_free(s, FALSE);
}
