/* Blocks of the heap get types: from what gets the result of the call, from a sizeof among its arguments, from later uses.
 *
 * A function that allocates for its callers cannot know the type, but they do. They put it into a word of the run-time library
 * before they call it, and back afterwards what was there; the malloc inside takes it from there. So the function's parameters
 * stay as they are, and it can be called by a pointer: malloc itself can, or one that somebody else's library gets. */
#include "plan/plan.h"

#include <string.h>

static const char *const heap_functions[] = {"malloc", "calloc", "realloc", NULL};

static bool is_raw(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_Void || k == CXType_Char_S || k == CXType_Char_U || k == CXType_UChar || k == CXType_SChar;
}

static bool is_void_pointer(CXType t)
{
    return ctype_is_pointer(t) && clang_getCanonicalType(ctype_pointee(t)).kind == CXType_Void;
}

/* The type of a block: `basic`, the name of one in <dome/capture.h>, or else `type`. */
typedef struct block {
    bool known;
    CXType type;
    const char *basic;
    bool longer; /* the array of one element at the end of the struct has more in this block */
} block;

static bool is_operator(unit *u, const node *n, const char *text)
{
    if (n->kind != CXCursor_BinaryOperator)
        return false;
    char *o = node_operator(u, n);
    bool same = strcmp(o, text) == 0;
    g_free(o);
    return same;
}

/* The type in a sizeof among the arguments. `bytes`: the block may be of bytes, so a number's size must be a factor, and not a
 * term as in 7 + 3 * sizeof(int). */
static block size_type(unit *u, node *n, bool bytes)
{
    block found = {.known = false};
    if (n->kind == CXCursor_UnaryExpr && strncmp(u->original + n->a, "sizeof", 6) == 0) {
        static const char *const basic[][2] = {{"int", "int"},
                                               {"unsigned", "uint"},
                                               {"unsigned int", "uint"},
                                               {"char", "char"},
                                               {"unsigned char", "uchar"},
                                               {"short", "short"},
                                               {"unsigned short", "ushort"},
                                               {"long", "long"},
                                               {"unsigned long", "ulong"},
                                               {"long long", "llong"},
                                               {"unsigned long long", "ullong"},
                                               {"float", "float"},
                                               {"double", "double"},
                                               {"_Bool", "bool"}};
        char *text = text_flat(u, n->a + 6, n->b);
        node *kid = NULL;
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_is_expression(node_kid(n, i)) || node_kid(n, i)->kind == CXCursor_TypeRef)
                kid = node_kid(n, i);
        if (kid && node_is_expression(kid)) {
            found = (block){.known = true, .type = node_bare(kid)->type};
        } else if (strchr(text, '*')) {
            found = (block){.known = true, .basic = "pointer"};
        } else if (kid && !strchr(text, '[')) {
            found = (block){.known = true, .type = clang_getCursorType(node_declaration(kid))};
        } else {
            for (char *c = text; *c; c++)
                *c = *c == '(' || *c == ')' ? ' ' : *c;
            g_strstrip(text);
            for (unsigned i = 0; i < G_N_ELEMENTS(basic) && !found.known; i++)
                if (strcmp(text, basic[i][0]) == 0)
                    found = (block){.known = true, .basic = basic[i][1]};
        }
        g_free(text);
        return found;
    }
    for (unsigned i = 0; i < n->kids->len && !found.known; i++)
        found = size_type(u, node_kid(n, i), bytes);
    if (bytes && found.known && is_operator(u, n, "+") && (found.basic || !ctype_is_record(found.type)))
        found.known = false;
    return found;
}

static bool is_raw_block(const block *b)
{
    return b->basic ? strcmp(b->basic, "char") == 0 || strcmp(b->basic, "uchar") == 0 : is_raw(b->type);
}

/* Nothing but another type of a pointer, or the place in the text, between n and what is above it. */
static bool is_cast(const node *n)
{
    return n->kind == CXCursor_ParenExpr || n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_CStyleCastExpr;
}

/* The type of what the nearest cast of a pointer to n makes of it; false: a void * remains. */
static bool cast_to(node *n, CXType *target)
{
    for (node *up = n->up; up && is_cast(up); up = up->up) {
        if (!ctype_is_pointer(up->type))
            continue;
        CXType p = up->type.kind == CXType_Pointer ? clang_getPointeeType(up->type) : ctype_pointee(up->type);
        if (clang_getCanonicalType(p).kind != CXType_Void) {
            *target = p;
            return true;
        }
    }
    return false;
}

static node *without_casts(node *n)
{
    for (n = node_bare(n); n && n->kids->len && (n->kind == CXCursor_CStyleCastExpr || n->kind == CXCursor_UnexposedExpr);
         n = node_bare(n))
        n = node_kid(n, n->kids->len - 1);
    return n;
}

/* The variable of this function that gets the result of a call; a null cursor: something else does. */
static CXCursor variable_of_result(unit *u, node *n)
{
    node *from = n, *up = n->up;
    while (up && is_cast(up)) {
        from = up;
        up = up->up;
    }
    CXCursor none = clang_getNullCursor(), d = none;
    if (up && up->kind == CXCursor_VarDecl) {
        d = up->cursor;
    } else if (up && is_operator(u, up, "=") && node_kid(up, 1) == from) {
        node *to = node_bare(node_kid(up, 0));
        if (to && to->kind == CXCursor_DeclRefExpr)
            d = node_declaration(to);
    }
    bool local = !cursor_is_null(d) &&
                 (d.kind == CXCursor_ParmDecl || (d.kind == CXCursor_VarDecl && !clang_Cursor_hasVarDeclGlobalStorage(d)));
    return local && ctype_is_pointer(clang_getCursorType(d)) ? d : none;
}

typedef struct later_type {
    CXType type;
    bool found, unsure; /* unsure: it is used as several types, or goes where it may be */
} later_type;

/* How a local void * is used: as which type, if all its uses say so or only look at bytes or the address. */
static void find_later_type(program *p, unit *u, node *n, unsigned variable, later_type *later)
{
    if (n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == variable) {
        node *user = node_bare_up(n), *at = n->up;
        CXType target;
        while (user && user->kind == CXCursor_CStyleCastExpr)
            user = node_bare_up(user);
        while (at && (at->kind == CXCursor_ParenExpr || at->kind == CXCursor_UnexposedExpr))
            at = at->up;
        if (cast_to(n, &target)) {
            if (is_raw(target))
                return;
            later->unsure = later->unsure || (later->found && !ctype_same(later->type, target));
            later->type = target;
            later->found = true;
            return;
        }
        if (user && user->kind == CXCursor_CallExpr) {
            CXCursor d = node_called(user);
            later->unsure = later->unsure || cursor_is_null(d) || !functions_is_foreign(p, u, d);
        } else if (user && user->kind == CXCursor_UnaryOperator) {
            char *o = node_unary_operator(u, user);
            later->unsure = later->unsure || strcmp(o, "!") != 0;
            g_free(o);
        } else if (user && user->kind == CXCursor_BinaryOperator) {
            char *o = node_operator(u, user);
            static const char *const harmless[] = {"==", "!=", "&&", "||", NULL};
            const bool set = strcmp(o, "=") == 0 && node_bare(node_kid(user, 0)) == n;
            later->unsure = later->unsure || !(set || text_in_list(o, harmless));
            g_free(o);
        } else if (!user || !(user->kind == CXCursor_IfStmt || user->kind == CXCursor_WhileStmt)) {
            later->unsure = true; /* returned, an element of a list, ... */
        }
        return;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        find_later_type(p, u, node_kid(n, i), variable, later);
}

/* ---- what a function gives its callers ---- */

static bool returns_void_pointer(const function *f)
{
    return is_void_pointer(clang_getResultType(f->decl->type));
}

/* Functions of the C library that return their first argument. */
static bool passes_on(node *call)
{
    static const char *const names[] = {"memset", "memcpy", "memmove", "__builtin_memset", "__builtin_memcpy", NULL};
    CXCursor d = node_called(call);
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    bool found = call->kids->len > 1 && text_in_list(name, names);
    g_free(name);
    return found;
}

/* What the value of an expression may be: fn is called for each, until it says true. */
static bool each_value(unit *u, node *n, bool (*fn)(node *, void *), void *data)
{
    n = without_casts(n);
    if (!n)
        return false;
    if (n->kind == CXCursor_ConditionalOperator && n->kids->len == 3)
        return each_value(u, node_kid(n, 1), fn, data) || each_value(u, node_kid(n, 2), fn, data);
    if (is_operator(u, n, ",") || is_operator(u, n, "="))
        return each_value(u, node_kid(n, 1), fn, data) || (is_operator(u, n, "=") && fn(without_casts(node_kid(n, 0)), data));
    if (n->kind == CXCursor_CallExpr && passes_on(n))
        return each_value(u, node_kid(n, 1), fn, data);
    return fn(n, data);
}

/* The same for the values of each return below n. */
static bool each_result(unit *u, node *n, bool (*fn)(node *, void *), void *data)
{
    if (n->kind == CXCursor_ReturnStmt)
        return n->kids->len && each_value(u, node_kid(n, 0), fn, data);
    for (unsigned i = 0; i < n->kids->len; i++)
        if (each_result(u, node_kid(n, i), fn, data))
            return true;
    return false;
}

static bool is_node(node *n, void *data)
{
    return n == data;
}

static bool is_variable(node *n, void *data)
{
    return n && n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == *(unsigned *)data;
}

/* Whether f, which returns a void *, returns the result of a call, itself or by a variable. */
static bool is_result(unit *u, const function *f, node *n)
{
    if (!f || !returns_void_pointer(f))
        return false;
    if (each_result(u, f->body, is_node, n))
        return true;
    CXCursor d = variable_of_result(u, n);
    unsigned variable = cursor_is_null(d) ? 0 : cursor_offset(d);
    return !cursor_is_null(d) && each_result(u, f->body, is_variable, &variable);
}

/* ---- which calls allocate ---- */

static bool is_wrapper(program *p, unit *u, CXCursor d)
{
    char *key = cursor_key(u, d);
    bool found = g_hash_table_contains(p->wrappers, key);
    g_free(key);
    return found;
}

/* malloc, calloc, realloc, unless the program has its own. */
static bool is_heap_function(program *p, unit *u, CXCursor d)
{
    char *name = cursor_name(d);
    bool found = text_in_list(name, heap_functions) && functions_is_foreign(p, u, d) && !cursor_is_looked_for(d);
    g_free(name);
    return found;
}

/* Whether a call by a pointer may reach a function that allocates for its caller. */
static bool pointer_allocates(program *p, node *n)
{
    if (!node_callee(n) || !ctype_is_pointer(n->type))
        return false;
    CXType t = ctype_pointee(node_callee(n)->type);
    const bool any = clang_getCanonicalType(t).kind == CXType_FunctionNoProto;
    char *type = ctype_key(t);
    GHashTableIter iter;
    gpointer key, value;
    bool found = false;
    g_hash_table_iter_init(&iter, p->addressed);
    while (!found && g_hash_table_iter_next(&iter, &key, &value))
        found = (any || !*(char *)value || strcmp(type, value) == 0) &&
                (g_hash_table_contains(p->wrappers, key) ||
                 (text_in_list(key, heap_functions) && !g_hash_table_contains(p->functions, key)));
    g_free(type);
    return found;
}

static bool allocates(program *p, unit *u, node *n)
{
    CXCursor d = node_called(n);
    return n->kind == CXCursor_CallExpr &&
           (cursor_is_null(d) ? pointer_allocates(p, n) : is_heap_function(p, u, d) || is_wrapper(p, u, d));
}

/* malloc(0), and realloc(NULL, 0): a block without content. */
static bool is_empty(unit *u, const node *n)
{
    bool empty = n->kids->len > 1;
    for (unsigned i = 1; i < n->kids->len; i++) {
        const node *argument = without_casts(node_kid(n, i));
        empty = empty && argument && argument->kind == CXCursor_IntegerLiteral && argument->b - argument->a == 1 &&
                u->original[argument->a] == '0';
    }
    return empty;
}

/* The type of the block that a call allocates. What a function only passes on to its callers has none. */
static block find_block(program *p, unit *u, const function *f, node *n)
{
    const bool result = is_result(u, f, n);
    block b = {.type = n->type};
    bool known = cast_to(n, &b.type);
    if (!known && ctype_is_pointer(n->type) && !is_void_pointer(n->type)) {
        b.type = ctype_pointee(n->type);
        known = true;
    }
    if (!known || is_raw(b.type)) {
        block by_size = {.known = false};
        for (unsigned i = 1; i < n->kids->len && !by_size.known; i++)
            by_size = size_type(u, node_kid(n, i), known);
        if (by_size.known && !(result && is_raw_block(&by_size)))
            return by_size;
    }
    if (known) {
        b.known = !(result && is_raw(b.type));
        return b;
    }
    CXCursor variable = f ? variable_of_result(u, n) : clang_getNullCursor();
    if (!cursor_is_null(variable) && variable.kind == CXCursor_VarDecl) {
        later_type later = {.found = false};
        find_later_type(p, u, f->decl, cursor_offset(variable), &later);
        if (later.found && !later.unsure)
            return (block){.known = true, .type = later.type};
    }
    if (!result && is_empty(u, n))
        return (block){.known = true, .basic = "char"};
    return b;
}

/* ---- functions that allocate for their callers ---- */

typedef struct look {
    program *p;
    unit *u;
    const function *f;
    int depth;
    unsigned variable;
} look;

static bool is_doubtful(node *n, void *data);

/* Whether something may come into a variable that is not allocated here. */
static bool gets_doubtful(look *l, node *n)
{
    if (n->kind == CXCursor_VarDecl && cursor_offset(n->cursor) == l->variable && n->kids->len &&
        !cursor_is_null(clang_Cursor_getVarDeclInitializer(n->cursor)) &&
        each_value(l->u, node_kid(n, n->kids->len - 1), is_doubtful, l))
        return true;
    if (is_operator(l->u, n, "=") && is_variable(without_casts(node_kid(n, 0)), &l->variable) &&
        each_value(l->u, node_kid(n, 1), is_doubtful, l))
        return true;
    node *to = n->kids->len ? without_casts(node_kid(n, 0)) : NULL;
    if ((n->kind == CXCursor_CompoundAssignOperator || n->kind == CXCursor_UnaryOperator) && to &&
        is_variable(to, &l->variable)) {
        char *o = n->kind == CXCursor_UnaryOperator ? node_unary_operator(l->u, n) : g_strdup("");
        bool harmless = strcmp(o, "!") == 0 || strcmp(o, "*") == 0;
        g_free(o);
        if (!harmless) /* its address, or another place in the block */
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (gets_doubtful(l, node_kid(n, i)))
            return true;
    return false;
}

/* Whether a value that a function returns may be something else than a block that it has allocated for its caller or got from it:
 * one of a list of free ones has a type already. */
static bool is_doubtful(node *n, void *data)
{
    enum { DEEPEST = 4 };
    look *l = data;
    if (!n || n->kind == CXCursor_IntegerLiteral)
        return !n || n->b - n->a != 1 || l->u->original[n->a] != '0';
    if (n->kind == CXCursor_CallExpr)
        return !allocates(l->p, l->u, n);
    CXCursor d = n->kind == CXCursor_DeclRefExpr ? node_declaration(n) : clang_getNullCursor();
    const bool local = !cursor_is_null(d) &&
                       (d.kind == CXCursor_ParmDecl || (d.kind == CXCursor_VarDecl && !clang_Cursor_hasVarDeclGlobalStorage(d)));
    if (!local || l->depth > DEEPEST)
        return true;
    look inner = *l;
    inner.depth++;
    inner.variable = cursor_offset(d);
    return gets_doubtful(&inner, l->f->body);
}

/* Whether a call below n allocates a block of which only the callers of f know the type. */
static bool allocates_result(program *p, function *f, node *n)
{
    if (allocates(p, f->unit, n) && is_result(f->unit, f, n) && !find_block(p, f->unit, f, n).known)
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (allocates_result(p, f, node_kid(n, i)))
            return true;
    return false;
}

/* Finds the functions that return what they allocate and nothing else. */
void blocks_infer(program *p)
{
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < p->units->len; i++) {
            unit *u = g_ptr_array_index(p->units, i);
            for (unsigned k = 0; k < u->functions->len; k++) {
                function *f = g_ptr_array_index(u->functions, k);
                look l = {.p = p, .u = u, .f = f};
                if (!returns_void_pointer(f) || g_hash_table_contains(p->wrappers, f->key) || !allocates_result(p, f, f->body) ||
                    each_result(u, f->body, is_doubtful, &l))
                    continue;
                g_hash_table_add(p->wrappers, g_strdup(f->key));
                more = true;
            }
        }
    }
}

/* Finds the functions before whose declarations "#pragma dome allocates" stands. */
void blocks_pragmas(program *p, unit *u)
{
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        if (top->kind != CXCursor_FunctionDecl)
            continue;
        for (unsigned k = 0; k < u->pragmas->len; k++) {
            pragma *mine = &g_array_index(u->pragmas, pragma, k);
            if (mine->kind != PRAGMA_ALLOCATES || mine->at < GPOINTER_TO_UINT(g_ptr_array_index(u->ends, i)) ||
                mine->at >= top->a)
                continue;
            char *key = cursor_key(u, top->cursor), *name = cursor_name(top->cursor);
            mine->used = true;
            if (!is_void_pointer(clang_getResultType(top->type)))
                unit_refuse(u, top->a, "#pragma dome allocates: %s does not return a void *", name);
            else if (!g_hash_table_contains(p->functions, key))
                unit_refuse(u, top->a, "#pragma dome allocates: %s is in none of these files", name);
            else
                g_hash_table_add(p->wrappers, g_strdup(key));
            g_free(name);
            g_free(key);
        }
    }
}

/* ---- blocks that are longer than their struct ---- */

static bool is_size_of(unit *u, node *n, CXType type)
{
    const block b = size_type(u, n, false);
    return b.known && !b.basic && ctype_same(b.type, type);
}

/* "sizeof(struct s) + n" or "offsetof(struct s, last) + n"; but n is no length of such structs. */
static bool is_sum(unit *u, node *n, CXType type)
{
    n = n ? without_casts(n) : NULL;
    if (n && is_operator(u, n, ","))
        return is_sum(u, node_kid(n, 1), type);
    if (!n || !(is_operator(u, n, "+") || is_operator(u, n, "-")))
        return false;
    bool begins = false, array = false;
    for (unsigned i = 0; i < 2; i++) {
        node *part = without_casts(node_kid(n, i));
        char *text = text_flat(u, node_kid(n, i)->a, node_kid(n, i)->b);
        const bool product = part && is_operator(u, part, "*"), whole = is_size_of(u, node_kid(n, i), type);
        array = array || (product && whole);
        begins = begins || whole || (!product && strstr(text, "__builtin_offsetof")) || is_sum(u, part, type);
        g_free(text);
    }
    return begins && !array;
}

/* The length of a block, to be looked for in f; by other variables and functions of the file "depth" times more. */
typedef struct length {
    program *p;
    unit *u;
    const function *f;
    CXType type;
    unsigned variable;
    int depth;
} length;

static bool is_length(node *n, void *data);

/* Whether a sum comes into the variable below n. */
static bool gets_sum(node *n, const length *l)
{
    unsigned variable = l->variable;
    length by = *l;
    if (n->kind == CXCursor_VarDecl && cursor_offset(n->cursor) == variable && n->kids->len &&
        !cursor_is_null(clang_Cursor_getVarDeclInitializer(n->cursor)) && is_length(node_kid(n, n->kids->len - 1), &by))
        return true;
    if (is_operator(l->u, n, "=") && is_variable(without_casts(node_kid(n, 0)), &variable) && is_length(node_kid(n, 1), &by))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (gets_sum(node_kid(n, i), l))
            return true;
    return false;
}

/* A sum, a local variable that gets one, or a call of a function of this file that returns one. */
static bool is_length(node *n, void *data)
{
    length l = *(length *)data;
    n = n ? without_casts(n) : NULL;
    if (!n || is_sum(l.u, n, l.type))
        return n != NULL;
    if (l.depth-- == 0)
        return false;
    CXCursor d = n->kind == CXCursor_DeclRefExpr ? node_declaration(n)
                 : n->kind == CXCursor_CallExpr  ? node_called(n)
                                                 : clang_getNullCursor();
    if (l.f && !cursor_is_null(d) && d.kind == CXCursor_VarDecl && ctype_scalar(n->type)) {
        l.variable = cursor_offset(d);
        return gets_sum(l.f->body, &l);
    }
    if (cursor_is_null(d) || d.kind != CXCursor_FunctionDecl)
        return false;
    char *key = cursor_key(l.u, d);
    l.f = g_hash_table_lookup(l.p->functions, key);
    g_free(key);
    return l.f && l.f->unit == l.u && each_result(l.u, l.f->body, is_length, &l);
}

static bool is_longer(program *p, unit *u, const function *f, node *call, const block *b)
{
    if (!b->known || b->basic || !describe_may_be_longer(b->type))
        return false;
    length l = {.p = p, .u = u, .f = f, .type = b->type, .depth = 3};
    for (unsigned i = 1; i < call->kids->len; i++)
        if (is_length(node_kid(call, i), &l))
            return true;
    return false;
}

/* ---- edits ---- */

/* Whether #pragma dome numbers stands before the statement, or the declaration, in which a block is allocated. */
static bool is_of_numbers(unit *u, const node *n)
{
    bool found = false;
    for (; n && n->kind != CXCursor_FunctionDecl && !found; n = n->up)
        found = (n->kind == CXCursor_VarDecl || !n->up || n->up->kind == CXCursor_CompoundStmt) &&
                pragma_flags(u, n->a) & DOME_CAPTURE_NUMBERS;
    return found;
}

/* In C; as <dome/capture.h> calls it. */
static char *basic_name(const char *basic)
{
    static const char *const names[][2] = {
        {"uint", "unsigned"},       {"uchar", "unsigned char"}, {"ushort", "unsigned short"},
        {"ulong", "unsigned long"}, {"llong", "long long"},     {"ullong", "unsigned long long"},
        {"bool", "_Bool"},          {"pointer", "void *"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(basic, names[i][0]) == 0)
            return g_strdup(names[i][1]);
    return g_strdup(basic);
}

/* The address of a block's description; NULL: it has none, which is said. */
static char *describe_block(unit *u, node *n, const block *b)
{
    char *why = NULL, *type = b->basic    ? g_strdup_printf("dome__cc_%s", b->basic)
                              : b->longer ? describe_longer(u, b->type, &why)
                                          : describe_type(u, b->type, &why);
    if (!type) {
        unit_refuse(u, n->a, "a block of the heap cannot be saved: it contains %s", why);
        g_free(why);
        return NULL;
    }
    if (!b->longer && is_of_numbers(u, n)) {
        char *name = b->basic ? basic_name(b->basic) : ctype_name(u, b->type), *numbers = describe_numbers(u, type, name);
        g_free(name);
        g_free(type);
        type = numbers;
    }
    bool listed = false;
    for (unsigned i = 0; i < u->tables[TABLE_HEAP_TYPES]->len; i++)
        listed = listed || strcmp(g_ptr_array_index(u->tables[TABLE_HEAP_TYPES], i), type) == 0;
    if (!listed)
        g_ptr_array_add(u->tables[TABLE_HEAP_TYPES], g_strdup(type));
    char *address = g_strdup_printf("&%s", type);
    g_free(type);
    return address;
}

/* Nobody gets the result: the call frees, as realloc(block, 0) does. */
static bool is_discarded(unit *u, const node *n)
{
    const node *from = n, *up = n->up;
    while (up && is_cast(up)) {
        from = up;
        up = up->up;
    }
    return !up || !node_is_expression(up) || (is_operator(u, up, ",") && node_kid(up, 0) == from)
               ? !up || (up->kind != CXCursor_VarDecl && up->kind != CXCursor_ReturnStmt)
               : false;
}

static void refuse_block(unit *u, const function *f, node *n, const char *name)
{
    const char *how = *name ? "" : "a call by a pointer that may lead to a function that allocates";
    if (f && is_result(u, f, n))
        unit_refuse(
            u, n->a,
            "%s%s: of which type is this block? If those who call %s know it, write #pragma dome allocates before %s; else "
            "cast the result, assign it to a pointer with a type, or name the type in a sizeof",
            name, how, f->name, f->name);
    else
        unit_refuse(u, n->a,
                    "%s%s: of which type is this block? Cast the result, assign it to a pointer with a type, or name the type in "
                    "a sizeof",
                    name, how);
}

/* A call with the type of the block that is wanted. */
char *blocks_wanting(unit *u, const node *n, const char *call)
{
    char *t = ctype_declare(u, n->type, "dome__h", true);
    char *text =
        g_strdup_printf("(__extension__ ({ struct dome__cc_type *dome__w = dome__cc_wanted; dome__cc_wanted = %s; %s = %s; "
                        "dome__cc_wanted = dome__w; dome__h; }))",
                        n->wants, t, call);
    g_free(t);
    return text;
}

void blocks_call(program *p, unit *u, function *f, node *n, unsigned depth)
{
    if (!allocates(p, u, n))
        return;
    CXCursor d = node_called(n);
    const bool heap = !cursor_is_null(d) && is_heap_function(p, u, d);
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d), *text = NULL;
    block b = find_block(p, u, f, n);
    b.longer = is_longer(p, u, f, n, &b);
    node *callee = node_callee(n);
    if (b.known) {
        char *type = describe_block(u, n, &b);
        if (heap && type) {
            unsigned open = text_find(u, callee->b, n->b, '(');
            text = g_strdup_printf("dome__cc_%s(%s, ", name, type);
            edit_replace(u, n->a, open + 1, text);
        } else if (type) {
            n->wants = g_strdup(type);
            if (!(f && f->polls && polls_below(p, u, n))) { /* else lower.c does it, where it takes the call apart */
                char *whole = blocks_wanting(u, n, "\n"), *cut = strchr(whole, '\n');
                *cut = '\0';
                edit_around(u, n->a, n->b, depth, whole, cut + 1);
                g_free(whole);
            }
        }
        g_free(type);
    } else if (f && g_hash_table_contains(p->wrappers, f->key) && is_result(u, f, n)) {
        if (heap) {
            text = g_strdup_printf("dome__cc_%s_wanted", name);
            edit_replace(u, callee->a, callee->b, text);
        }
    } else if (heap && strcmp(name, "realloc") == 0 && is_discarded(u, n)) {
        edit_replace(u, callee->a, callee->b, "dome__cc_realloc_wanted"); /* realloc(block, 0) */
    } else if (heap || !is_discarded(u, n)) {
        refuse_block(u, f, n, name);
    }
    g_free(text);
    g_free(name);
}

/* The name of what stands for a function whose address is taken, if it allocates; NULL: it stays as it is. `foreign`: a function
 * that is not translated gets the address, by its name. */
const char *blocks_address(program *p, unit *u, node *n, bool to_foreign)
{
    CXCursor d = node_declaration(n);
    char *name = cursor_name(d);
    const char *other = NULL;
    if (is_heap_function(p, u, d) && !to_foreign) /* else the blocks are that function's, as if it had called malloc itself */
        other = strcmp(name, "malloc") == 0   ? "dome__cc_malloc_wanted"
                : strcmp(name, "calloc") == 0 ? "dome__cc_calloc_wanted"
                                              : "dome__cc_realloc_wanted";
    else if (is_wrapper(p, u, d) && to_foreign)
        unit_refuse(u, n->a, "%s allocates, and what is not translated would call it: its blocks would have no type", name);
    g_free(name);
    return other;
}
