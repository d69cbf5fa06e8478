/* Attributes that promise what a function that may poll does not keep. */
#include "plan/plan.h"

#include <string.h>

/* Attributes by which the compiler or the loader would take a function that may poll for what it is not: it may return early,
 * with no result, and its calls can neither be left out nor moved. Those that can be left out are (attributes_drop_promises). */
void attributes_check(program *p, unit *u, node *n, unsigned top)
{
    static const char *const bad[] = {"destructor", "returns_twice", "naked", "unsequenced", "reproducible"};
    static const char *const names[] = {"alias", "weakref", "ifunc", "__asm__", "asm", "__asm"};
    bool body = clang_isCursorDefinition(n->cursor) && n->kids->len;
    node *block = body ? node_kid(n, n->kids->len - 1) : NULL;
    unsigned a = GPOINTER_TO_UINT(g_ptr_array_index(u->ends, top));
    unsigned end = block && block->kind == CXCursor_CompoundStmt ? block->a : text_find(u, n->b, u->length, ';');
    if (a >= end)
        return;
    char *text = text_flat(u, a, end), *key = cursor_key(u, n->cursor);
    const function *f = g_hash_table_lookup(p->functions, key);
    int attribute = 0, depth = 0; /* depth of parentheses and brackets where an attribute began */
    bool label = false;
    for (char *c = text; *c;) {
        if (*c == '"') {
            char *close = c + 1;
            while (*close && *close != '"')
                close += *close == '\\' && close[1] ? 2 : 1;
            char *target = g_strndup(c + 1, (gsize)(close - c - 1)), *local = g_strdup_printf("%s:%s", u->name, target);
            const function *g = g_hash_table_lookup(p->functions, target);
            if (!g)
                g = g_hash_table_lookup(p->functions, local);
            if (label && g && g->polls && g != f)
                unit_refuse(u, n->a, "%s, which may poll, gets a second name here", target);
            g_free(local);
            g_free(target);
            c = *close ? close + 1 : close;
        } else if (g_ascii_isalpha(*c) || *c == '_') {
            char *begin = c;
            while (g_ascii_isalnum(*c) || *c == '_')
                c++;
            char *word = g_strndup(begin, (gsize)(c - begin)), *bare = word;
            size_t length = strlen(word);
            if (length > 4 && g_str_has_prefix(word, "__") && g_str_has_suffix(word, "__")) {
                bare = word + 2;
                word[length - 2] = '\0';
            }
            if (strcmp(bare, "attribute") == 0 || strcmp(bare, "__attribute") == 0)
                attribute = depth + 1;
            bool known = false;
            for (unsigned i = 0; i < G_N_ELEMENTS(bad) && attribute && depth >= attribute; i++)
                known = known || strcmp(bare, bad[i]) == 0;
            if (known && f && f->polls)
                unit_refuse(u, n->a, "%s has the attribute \"%s\", and may poll", f->name, bare);
            for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
                label = label || strcmp(bare, names[i]) == 0;
            g_free(word);
        } else {
            if (*c == '[' && c[1] == '[')
                attribute = depth + 1;
            depth += *c == '(' || *c == '[' ? 1 : *c == ')' || *c == ']' ? -1 : 0;
            if (attribute && depth < attribute && (*c == ')' || *c == ']'))
                attribute = 0;
            c++;
        }
    }
    g_free(key);
    g_free(text);
}

/* Behind the word of an attribute at text[at], where its list ends; `at` if none begins there. */
static unsigned attribute_end(const unit *u, unsigned at, unsigned length)
{
    const char *t = u->original + at;
    if (length == 0 && t[0] == '[' && t[1] == '[')
        return text_find(u, at + 1, u->length, ']');
    char *word = g_strndup(t, length);
    const bool begins = text_in_list(word, (const char *const[]){"__attribute__", "__attribute", NULL});
    g_free(word);
    const unsigned open = begins ? text_skip(u, at + length) : at;
    return begins && u->original[open] == '(' ? text_close(u, open) : at;
}

/* A function that may poll returns while it is saved, and each of its calls counts: the compiler must not know otherwise. */
void attributes_drop_promises(program *p, unit *u, node *n, unsigned top)
{
    static const char *const words[] = {"noreturn", "__noreturn__", "_Noreturn", NULL};
    static const char *const of_attributes[] = {"pure", "__pure__", "const", "__const__", NULL};
    char *key = cursor_key(u, n->cursor);
    const function *f = g_hash_table_lookup(p->functions, key);
    unsigned at = GPOINTER_TO_UINT(g_ptr_array_index(u->ends, top)), inside = at; /* of an attribute until there */
    unsigned end = clang_isCursorDefinition(n->cursor) ? n->b : text_find(u, n->b, u->length, ';');
    g_free(key);
    while (f && f->polls && at < end) {
        const char *t = u->original + at;
        unsigned length = 0;
        while (g_ascii_isalnum(t[length]) || t[length] == '_')
            length++;
        inside = MAX(inside, attribute_end(u, at, length));
        char *word = g_strndup(t, length);
        if (length && (text_in_list(word, words) || (at < inside && text_in_list(word, of_attributes))))
            edit_replace(u, at, at + length, strcmp(word, "_Noreturn") == 0 ? "" : "__unused__");
        g_free(word);
        if (*t == '{')
            break;
        at = length ? at + length : text_skip(u, at) > at ? text_skip(u, at) : at + 1;
    }
}
