/* Which loops poll, and which functions can reach a poll: over all files of the program. */
#include "cc.h"

#include <string.h>

int options_policy = POLLS_AUTO;
bool options_operations;
int strip_work = 500000; /* from 0.1 to 0.5 ms */

/* All in operations, of which some 2 to 10 take a nanosecond. */
enum {
    SHORT_NEST = 2,           /* the same, in strips, where the number is found when the program runs */
    SHORT_LOOP_OF_POLLS = 64, /* iterations of loops that do not poll, though something inside does now and then */
    SMALL_FUNCTION = 12,      /* in its text: the compiler makes such a function a part of all its callers */
    UNKNOWN_CALL = 3000,      /* a call of which nothing is known */
    TINY_BODY = 16,           /* loops of which such an iteration is hardly more than a test whether they poll */
    SHORT_BODY = 100,         /* loops of which such an iteration is more than a poll may be entered often, for few iterations */
    LONGEST_STRIP = 8192,     /* iterations */
    LARGE_BODY = 20           /* POLLS_LARGE_...: operations of an iteration */
};

char *function_key(unit *u, CXCursor decl)
{
    char *name = cursor_name(decl), *key = name;
    if (clang_getCursorLinkage(decl) == CXLinkage_Internal) {
        key = g_strdup_printf("%s:%s", u->name, name);
        g_free(name);
    }
    return key;
}

/* ---- loops ---- */

char *unary_operator(unit *u, const node *n)
{
    node *kid = node_kid(n, 0);
    char *text = kid->a > n->a ? text_flat(u, n->a, kid->a) : text_flat(u, kid->b, n->b);
    return g_strstrip(text);
}

static bool refers(const node *n, unsigned variable)
{
    return n && n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == variable;
}

/* Whether a variable is assigned to below n; or, if `address`, whether its address is taken there. */
static bool touches(unit *u, node *n, unsigned variable, bool address)
{
    if (n->kind == CXCursor_UnaryOperator && refers(node_bare(node_kid(n, 0)), variable)) {
        char *o = unary_operator(u, n);
        bool found = address ? strcmp(o, "&") == 0 : strcmp(o, "++") == 0 || strcmp(o, "--") == 0;
        g_free(o);
        if (found)
            return true;
    }
    if (!address && n->kind == CXCursor_CompoundAssignOperator && refers(node_bare(node_kid(n, 0)), variable))
        return true;
    if (!address && n->kind == CXCursor_BinaryOperator && refers(node_bare(node_kid(n, 0)), variable)) {
        char *o = node_operator(u, n);
        bool found = strcmp(o, "=") == 0;
        g_free(o);
        if (found)
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (touches(u, node_kid(n, i), variable, address))
            return true;
    return false;
}

static bool is_local(CXCursor d)
{
    return d.kind == CXCursor_ParmDecl || (d.kind == CXCursor_VarDecl && clang_Cursor_hasVarDeclGlobalStorage(d) == 0);
}

static node *root_of(node *n)
{
    while (n->up)
        n = n->up;
    return n;
}

/* A local variable that nothing but assignments to its name can change. */
static bool plain_local(unit *u, node *n)
{
    if (n->kind != CXCursor_DeclRefExpr)
        return false;
    CXCursor d = node_declaration(n);
    return is_local(d) && !clang_isVolatileQualifiedType(clang_getCursorType(d)) &&
           !touches(u, root_of(n), cursor_offset(d), true);
}

/* Calls that take no time to speak of and change no memory of the program; else NULL. */
static bool plain_call(node *n);

/* Whether a member belongs to a union, also by structs without names. An expression does not show a union without a name. */
static bool is_of_union(const node *n)
{
    CXCursor d = n->kind == CXCursor_MemberRefExpr ? node_declaration(n) : clang_getNullCursor();
    while (!cursor_is_null(d)) {
        d = clang_getCursorSemanticParent(d);
        if (d.kind == CXCursor_UnionDecl)
            return true;
        if (d.kind != CXCursor_StructDecl || !clang_Cursor_isAnonymousRecordDecl(d))
            return false;
    }
    return false;
}

/* Of a place in memory. Characters may be bytes of anything, and members of unions share theirs. */
static memory_kind kind_of_place(const unit *u, node *n)
{
    n = node_bare(n);
    for (node *in = n; in; in = in->kids->len > 0 ? node_bare(node_kid(in, 0)) : NULL) {
        if (is_of_union(in))
            return MEMORY_ANY;
        const enum CXTypeKind k = clang_getCanonicalType(in->type).kind;
        const CXType record = k == CXType_Pointer ? clang_getPointeeType(clang_getCanonicalType(in->type)) : in->type;
        if (in != n && clang_getTypeDeclaration(clang_getCanonicalType(record)).kind == CXCursor_UnionDecl)
            return MEMORY_ANY;
        if (in->kind != CXCursor_MemberRefExpr && in->kind != CXCursor_ArraySubscriptExpr)
            break;
    }
    if (u->one_memory)
        return MEMORY_ANY;
    switch (clang_getCanonicalType(n->type).kind) {
    case CXType_Short:
    case CXType_UShort:
    case CXType_Int:
    case CXType_UInt:
    case CXType_Long:
    case CXType_ULong:
    case CXType_LongLong:
    case CXType_ULongLong:
        return MEMORY_INTEGER;
    case CXType_Float:
    case CXType_Double:
        return MEMORY_FLOATING;
    case CXType_Pointer:
        return MEMORY_POINTER;
    default:
        return MEMORY_ANY;
    }
}

static bool call_writes_memory(unit *u, node *n, memory_kind kind);

/* Whether a loop changes memory of a kind, other than plain local variables. */
static bool writes_memory(unit *u, node *n, memory_kind kind)
{
    node *to = NULL;
    if (n->kind == CXCursor_UnaryExpr)
        return false;
    if (n->kind == CXCursor_CallExpr && !plain_call(n) && call_writes_memory(u, n, kind))
        return true;
    if (n->kind == CXCursor_GCCAsmStmt || n->kind == CXCursor_StmtExpr)
        return true;
    if (n->kind == CXCursor_UnexposedExpr && n->kids->len > 1) /* __atomic_store_n is no call in libclang */
        return true;
    if (n->kind == CXCursor_CompoundAssignOperator) {
        to = node_kid(n, 0);
    } else if (n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_UnaryOperator) {
        char *o = n->kind == CXCursor_BinaryOperator ? node_operator(u, n) : unary_operator(u, n);
        if (strcmp(o, "=") == 0 || strcmp(o, "++") == 0 || strcmp(o, "--") == 0)
            to = node_kid(n, 0);
        g_free(o);
    }
    if (to && !plain_local(u, node_bare(to))) {
        const memory_kind written = kind_of_place(u, to);
        if (kind == MEMORY_ANY || written == MEMORY_ANY || written == kind)
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (writes_memory(u, node_kid(n, i), kind))
            return true;
    return false;
}

/* Of a call, its arguments apart: a function of the program is looked into, with those that it calls. */
static bool call_writes_memory(unit *u, node *n, memory_kind kind)
{
    static GHashTable *begun; /* functions that are being looked into */
    CXCursor d = call_function(n);
    if (cursor_is_null(d))
        return true;
    char *key = function_key(u, d);
    function *f = g_hash_table_lookup(u->program->functions, key);
    const bool known = f && !f->several && !g_hash_table_contains(u->program->weak, key);
    g_free(key);
    if (!known)
        return true;
    if (f->writes[kind] != WRITES_UNKNOWN)
        return f->writes[kind] == WRITES_YES;
    const bool outermost = !begun;
    if (outermost)
        begun = g_hash_table_new(NULL, NULL);
    /* of one that is begun, the others of the circle decide */
    const bool yes = g_hash_table_add(begun, f) && writes_memory(f->unit, f->body, kind);
    if (outermost) {
        g_hash_table_destroy(begun);
        begun = NULL;
        f->writes[kind] = yes ? WRITES_YES : WRITES_NO;
    }
    return yes;
}

/* Whether an expression has the same value all through a loop. Of what is in memory this can be said only if the loop writes
 * none of its kind. `memory`: whether it may be read. */
static bool invariant(unit *u, node *n, node *loop, bool memory)
{
    n = node_bare(n);
    if (clang_isVolatileQualifiedType(clang_getCanonicalType(n->type)))
        return false;
    switch (n->kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr:
        return true;
    case CXCursor_DeclRefExpr:
        if (node_declaration(n).kind == CXCursor_EnumConstantDecl)
            return true;
        if (plain_local(u, n)) /* not one that the loop declares: it has no value yet */
            return !(cursor_offset(node_declaration(n)) >= loop->a && cursor_offset(node_declaration(n)) < loop->b) &&
                   !touches(u, loop, cursor_offset(node_declaration(n)), false);
        if (memory && (type_is_record(n->type) || type_is_array(n->type)))
            return true; /* where it is; what is read of it is above */
        return memory && node_declaration(n).kind != CXCursor_FunctionDecl && !writes_memory(u, loop, kind_of_place(u, n));
    case CXCursor_CStyleCastExpr:
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_is_expression(node_kid(n, i)) && !invariant(u, node_kid(n, i), loop, memory))
                return false;
        return true;
    case CXCursor_UnexposedExpr:
        return n->kids->len == 1 && invariant(u, node_kid(n, 0), loop, memory);
    case CXCursor_MemberRefExpr:
        return memory && n->kids->len == 1 && !writes_memory(u, loop, kind_of_place(u, n)) &&
               invariant(u, node_kid(n, 0), loop, memory);
    case CXCursor_ArraySubscriptExpr:
        return memory && !writes_memory(u, loop, kind_of_place(u, n)) && invariant(u, node_kid(n, 0), loop, memory) &&
               invariant(u, node_kid(n, 1), loop, memory);
    case CXCursor_UnaryOperator: {
        char *o = unary_operator(u, n);
        bool good = strlen(o) == 1 &&
                    (strchr("+-~", *o) || (*o == '*' && memory && !writes_memory(u, loop, kind_of_place(u, n)))) &&
                    invariant(u, node_kid(n, 0), loop, memory);
        g_free(o);
        return good;
    }
    case CXCursor_BinaryOperator: {
        char *o = node_operator(u, n);
        bool good = strlen(o) == 1 && strchr("+-*/%", *o) && invariant(u, node_kid(n, 0), loop, memory) &&
                    invariant(u, node_kid(n, 1), loop, memory);
        g_free(o);
        return good;
    }
    default:
        return false;
    }
}

/* Functions of the C library that take a short time, and how many operations. */
static unsigned library_cost(const char *name)
{
    static const struct {
        unsigned cost;
        const char *names[32];
    } known[] = {
        {5, {"sqrt",    "sqrtf",   "fabs",    "fabsf",   "floor",   "floorf",  "ceil",    "ceilf",   "fmin",    "fmax",
             "fminf",   "fmaxf",   "abs",     "labs",    "fma",     "llabs",   "rint",    "trunc",   "isalpha", "isdigit",
             "isalnum", "isspace", "isupper", "islower", "ispunct", "tolower", "toupper", "copysign"}},
        {100, {"sin",  "cos",   "tan",  "asin", "acos",  "atan",   "atan2",   "exp",   "exp2",  "log",
               "log2", "log10", "pow",  "fmod", "hypot", "sinh",   "cosh",    "tanh",  "cbrt",  "sinf",
               "cosf", "expf",  "logf", "powf", "rand",  "random", "drand48", "ldexp", "frexp", "modf"}},
        {500,
         {"malloc", "calloc", "free", "strcmp", "strncmp", "strlen", "memcmp", "strchr", "strrchr", "atoi", "atol", "atof",
          "strtol", "strtod", "strtoul"}},
    };
    if (g_str_has_prefix(name, "__builtin_"))
        return 5;
    for (unsigned k = 0; k < G_N_ELEMENTS(known); k++)
        for (unsigned i = 0; i < G_N_ELEMENTS(known[k].names) && known[k].names[i]; i++)
            if (strcmp(name, known[k].names[i]) == 0)
                return known[k].cost;
    return 0;
}

static unsigned library_call(node *n)
{
    CXCursor f = call_function(n);
    if (cursor_is_null(f))
        return 0;
    char *name = cursor_name(f);
    unsigned cost = cursor_in_system_header(f) || g_str_has_prefix(name, "__builtin_") ? library_cost(name) : 0;
    g_free(name);
    return cost;
}

static bool plain_call(node *n)
{
    static const char *const readers[] = {"__builtin_prefetch", "__builtin_assume_aligned", NULL};
    unsigned cost = library_call(n);
    if (cost == 0 || cost > 100)
        return false;
    char *name = cursor_name(call_function(n));
    bool good = true; /* what gets no pointer writes nothing of the program */
    for (unsigned i = 1; i < n->kids->len && good; i++)
        good = !type_is_pointer(node_kid(n, i)->type) && !type_is_array(node_kid(n, i)->type);
    good = good || in_list(name, readers);
    g_free(name);
    return good;
}

/* Whether the switch that a case belongs to is below `top`. */
static bool inside_switch(node *n, node *top)
{
    while (n != top && n->kind != CXCursor_SwitchStmt)
        n = n->up;
    return n != top;
}

/* What a loop that is cut into strips may contain: nothing that leads into the middle of it. */
static bool plain(node *n, node *loop)
{
    switch ((int)n->kind) {
    case CXCursor_LabelStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_StmtExpr:
    case CXCursor_GCCAsmStmt:
        return false;
    case CXCursor_CaseStmt: /* a switch outside may jump here, past what a strip begins with */
    case CXCursor_DefaultStmt:
        if (!inside_switch(n, loop))
            return false;
        break;
    default:
        break;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (!plain(node_kid(n, i), loop))
            return false;
    return true;
}

/* Whether a loop's own "break" or "continue" is below n. */
static bool has_jump(node *n, enum CXCursorKind kind)
{
    if (n->kind == kind)
        return true;
    if (node_is_loop(n) || (n->kind == CXCursor_SwitchStmt && kind == CXCursor_BreakStmt))
        return false;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_jump(node_kid(n, i), kind))
            return true;
    return false;
}

static bool constant_value(node *n, long long *value)
{
    CXEvalResult r = clang_Cursor_Evaluate(n->cursor);
    if (!r)
        return false;
    bool good = clang_EvalResult_getKind(r) == CXEval_Int;
    *value = good ? clang_EvalResult_getAsLongLong(r) : 0;
    clang_EvalResult_dispose(r);
    return good;
}

/* "for (...; i < n; i++)": i is a plain local integer, which only the step changes, and n does not change. */
bool strip_parts(unit *u, node *loop, node **var, node **bound, char **comparison)
{
    node *init, *condition, *step, *body;
    if (loop->kind != CXCursor_ForStmt)
        return false;
    for_parts(u, loop, &init, &condition, &step, &body);
    if (!condition || !step || !body)
        return false;
    condition = node_bare(condition);
    if (condition->kind != CXCursor_BinaryOperator)
        return false;
    char *o = node_operator(u, condition);
    bool up = o[0] == '<', good = (up || o[0] == '>') && (o[1] == '\0' || strcmp(o + 1, "=") == 0);
    node *left = node_kid(condition, 0), *i = node_bare(left), *right = node_kid(condition, 1);
    CXCursor d = clang_getNullCursor();
    if (good && i->kind == CXCursor_DeclRefExpr)
        d = node_declaration(i);
    good = good && !cursor_is_null(d) && plain_local(u, i);
    if (good) {
        enum CXTypeKind k = clang_getCanonicalType(clang_getCursorType(d)).kind;
        good = (k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
                k == CXType_ULongLong) &&
               type_same(left->type, clang_getCursorType(d)) && type_same(right->type, clang_getCursorType(d)) &&
               becomes_everywhere(right, type_scalar(clang_getCursorType(d)));
    }
    unsigned v = good ? cursor_offset(d) : 0;
    good = good && !touches(u, body, v, false) && invariant(u, right, loop, true);
    if (good) {
        node *s = node_bare(step);
        good = false;
        if (s->kind == CXCursor_UnaryOperator && refers(node_bare(node_kid(s, 0)), v)) {
            char *p = unary_operator(u, s);
            good = strcmp(p, up ? "++" : "--") == 0;
            g_free(p);
        } else if (s->kind == CXCursor_CompoundAssignOperator && refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_operator(u, s);
            long long by;
            good = strcmp(p, up ? "+=" : "-=") == 0 && constant_value(node_kid(s, 1), &by) && by > 0 && by <= 1024;
            g_free(p);
        }
    }
    if (good && var) {
        *var = i;
        *bound = right;
        *comparison = o;
    } else {
        g_free(o);
    }
    return good;
}

/* Iterations of a loop from a constant to a constant; 0: not known. */
static long long trips(unit *u, node *loop)
{
    node *init, *condition, *step, *body, *i, *bound;
    char *o;
    long long from, to;
    if (!strip_parts(u, loop, &i, &bound, &o))
        return 0;
    g_free(o);
    for_parts(u, loop, &init, &condition, &step, &body);
    if (!init || !constant_value(bound, &to))
        return 0;
    unsigned v = cursor_offset(node_declaration(i));
    node *value = NULL;
    if (init->kind == CXCursor_DeclStmt) {
        for (unsigned k = 0; k < init->kids->len; k++) {
            node *d = node_kid(init, k);
            if (d->kind == CXCursor_VarDecl && cursor_offset(d->cursor) == v && d->kids->len)
                value = node_kid(d, d->kids->len - 1);
        }
    } else {
        node *s = node_bare(init);
        if (s->kind == CXCursor_BinaryOperator && refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_operator(u, s);
            if (strcmp(p, "=") == 0)
                value = node_kid(s, 1);
            g_free(p);
        }
    }
    if (!value || !node_is_expression(value) || !constant_value(value, &from))
        return 0;
    return MAX(from > to ? from - to : to - from, 0) + 1;
}

/* Iterations of a loop of constant bounds, with those of such loops inside; others count as one. */
static long long turns(unit *u, node *n)
{
    long long inside = 1, own = node_is_loop(n) ? trips(u, n) : 1;
    for (unsigned i = 0; i < n->kids->len; i++) {
        const long long kid = turns(u, node_kid(n, i)); /* MAX would evaluate it twice, and so each level twice as often */
        inside = MAX(inside, kid);
    }
    return MIN(inside, 1 << 20) * CLAMP(own, 1, 1 << 20);
}

/* ---- nests of few iterations ---- */

/* A division that the program may never come to: it must not be computed before the nest. */
static bool divides(unit *u, node *n)
{
    if (n->kind == CXCursor_BinaryOperator) {
        char *o = node_operator(u, n);
        bool found = *o == '/' || *o == '%';
        g_free(o);
        if (found)
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (divides(u, node_kid(n, i)))
            return true;
    return false;
}

static bool local_value(unit *u, node *n, node *nest, GString *out)
{
    if (!invariant(u, n, nest, false) || divides(u, n))
        return false;
    g_string_append_c(out, '(');
    node_print(u, n, out);
    g_string_append_c(out, ')');
    return true;
}

/* What is evaluated at a node itself. */
static unsigned operations(unit *u, node *n)
{
    if (n->kind == CXCursor_BinaryOperator) {
        char *o = node_operator(u, n);
        unsigned k = *o == '/' || *o == '%' ? 10 : 1;
        g_free(o);
        return k;
    }
    return n->kind == CXCursor_UnaryOperator || n->kind == CXCursor_CompoundAssignOperator ||
           n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr || n->kind == CXCursor_IfStmt ||
           n->kind == CXCursor_SwitchStmt || n->kind == CXCursor_ConditionalOperator || n->kind == CXCursor_CStyleCastExpr;
}

typedef struct cost {
    double operations;
    bool polls, unknown;
} cost;

static cost cost_of(program *p, unit *u, node *n);

/* Whether n itself may stand once more in a nest, where it does not poll. */
static bool may_stand_in_strip(program *p, unit *u, node *n, node *nest)
{
    switch ((int)n->kind) { /* as plain() */
    case CXCursor_LabelStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_StmtExpr:
    case CXCursor_GCCAsmStmt:
    case CXCursor_ReturnStmt:
        return false;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        return inside_switch(n, nest);
    case CXCursor_CallExpr: {
        cost k = cost_of(p, u, n);
        return !k.polls && !k.unknown;
    }
    case CXCursor_VarDecl: /* those in memory are initialized where they are declared */
        return !type_is_array(n->type) && !type_is_record(n->type) && !touches(u, nest, cursor_offset(n->cursor), true) &&
               !clang_isVolatileQualifiedType(clang_getCanonicalType(n->type));
    default:
        return true;
    }
}

/* Loops that poll in a nest of `together` iterations. They must be counted, without loops that poll inside, and of some length
 * without a poll when so many run together; -1: others are below n, or what must not stand twice. */
static int strips_below(program *p, unit *u, node *n, node *nest, unsigned together)
{
    enum { SHORTEST = 64 };
    const loop_plan *own = node_is_loop(n) ? summary_loop(u, n) : NULL;
    if (own && own->polls && (own->class != LOOP_STRIP || own->few / together < SHORTEST))
        return -1;
    int all = own && own->polls;
    for (unsigned i = 0; i < n->kids->len; i++) {
        int k = may_stand_in_strip(p, u, node_kid(n, i), nest) ? strips_below(p, u, node_kid(n, i), nest, together) : -1;
        if (k < 0)
            return -1;
        all += k;
    }
    return all;
}

/* Whether the loops in an iteration of a nest tell how long they are when they begin, so that they can be checked there. */
bool summary_is_checked(program *p, unit *u, node *body, unsigned together)
{
    return may_stand_in_strip(p, u, body, body) && strips_below(p, u, body, body, together) > 0;
}

/* The work of the loops at and below n, as an expression of what is known before `nest`. False: it is not known. */
static bool work_of(program *p, unit *u, node *n, node *nest, GString *out)
{
    const loop_plan *own = node_is_loop(n) ? summary_loop(u, n) : NULL;
    if (!own || (own->class == LOOP_FREE && !own->polls)) {
        if (!may_stand_in_strip(p, u, n, nest))
            return false;
        for (unsigned i = 0; i < n->kids->len; i++)
            if (!work_of(p, u, node_kid(n, i), nest, out))
                return false;
        return true;
    }
    node *init, *condition, *step, *body, *i, *bound, *from = NULL;
    char *o;
    if (!strip_parts(u, n, &i, &bound, &o))
        return false;
    bool up = *o == '<';
    g_free(o);
    for_parts(u, n, &init, &condition, &step, &body);
    unsigned v = cursor_offset(node_declaration(i));
    if (init && init->kind == CXCursor_DeclStmt) {
        node *d = init->kids->len == 1 ? node_kid(init, 0) : NULL;
        if (d && d->kind == CXCursor_VarDecl && cursor_offset(d->cursor) == v && d->kids->len)
            from = node_kid(d, d->kids->len - 1);
        if (!d || touches(u, nest, v, true))
            return false;
    } else if (init) {
        node *s = node_bare(init);
        char *p = s->kind == CXCursor_BinaryOperator && refers(node_bare(node_kid(s, 0)), v) ? node_operator(u, s) : g_strdup("");
        if (strcmp(p, "=") == 0)
            from = node_kid(s, 1);
        g_free(p);
    }
    if (!from || !node_is_expression(from))
        return false;
    GString *low = g_string_new(NULL), *high = g_string_new(NULL), *inside = g_string_new(NULL);
    bool good = local_value(u, up ? from : bound, nest, low) && local_value(u, up ? bound : from, nest, high) &&
                work_of(p, u, body, nest, inside);
    if (good)
        g_string_append_printf(out, " + (%s > %s ? (double)%s - (double)%s + 1 : 1) * (%.0f%s)", high->str, low->str, high->str,
                               low->str, cost_of(p, u, body).operations + 2, inside->str);
    g_string_free(low, TRUE);
    g_string_free(high, TRUE);
    g_string_free(inside, TRUE);
    return good;
}

static const pragma *pragma_of(unit *u, node *n);

static bool has_pragma(unit *u, node *n)
{
    if (node_is_loop(n) && pragma_of(u, n))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_pragma(u, node_kid(n, i)))
            return true;
    return false;
}

/* The operations below n at least, if it is not left early: loops of which the iterations are not known count as one. */
double summary_least_work(program *p, unit *u, node *n)
{
    double k = summary_own_work(p, u, n);
    if (n->kind == CXCursor_CallExpr) {
        cost all = cost_of(p, u, n);
        k = all.polls ? k : all.operations;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        k += summary_least_work(p, u, node_kid(n, i));
    return node_is_loop(n) ? k * (double)MAX(trips(u, n), 1) : k;
}

/* "operations of this nest < limit", or NULL if that is not known before it. */
char *summary_short_nest(program *p, unit *u, node *loop)
{
    GString *s = g_string_new("0.0");
    if (options_policy != POLLS_AUTO || has_pragma(u, loop) || !work_of(p, u, loop, loop, s)) {
        g_string_free(s, TRUE);
        return NULL;
    }
    g_string_append_printf(s, " < %d", SHORT_NEST * strip_work);
    return g_string_free(s, FALSE);
}

/* The operations of an iteration, of which loops inside are counted; NULL: they are not known when it begins. */
char *summary_work(program *p, unit *u, node *body)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%.0f", cost_of(p, u, body).operations + 2);
    if (work_of(p, u, body, body, s))
        return g_string_free(s, FALSE);
    g_string_free(s, TRUE);
    return NULL;
}

static const pragma *pragma_of(unit *u, node *n)
{
    const pragma *yes = pragma_before(u, n->a, PRAGMA_POLL), *no = pragma_before(u, n->a, PRAGMA_NOPOLL);
    return !yes || (no && no->at > yes->at) ? no : yes;
}

/* The variable of "v++" or "v--", a plain local integer; else NULL. */
static node *stepped(unit *u, node *n)
{
    n = node_bare(n);
    if (n->kind != CXCursor_UnaryOperator)
        return NULL;
    node *v = node_bare(node_kid(n, 0));
    char *o = unary_operator(u, n);
    bool good = (strcmp(o, "++") == 0 || strcmp(o, "--") == 0) && plain_local(u, v);
    g_free(o);
    enum CXTypeKind k = clang_getCanonicalType(v->type).kind;
    return good && (k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
                    k == CXType_ULongLong)
               ? v
               : NULL;
}

/* The variable that each iteration of a loop counts by one, at its end: in the step of a for, or as all that a while does. The
 * loop is left by its condition alone. */
node *summary_counted(unit *u, node *loop)
{
    node *init, *condition, *step = NULL, *body, *v = NULL;
    if (loop->kind == CXCursor_ForStmt) {
        for_parts(u, loop, &init, &condition, &step, &body);
        v = step && condition ? stepped(u, step) : NULL;
        if (v && (touches(u, body, cursor_offset(node_declaration(v)), false) ||
                  touches(u, condition, cursor_offset(node_declaration(v)), false) || has_jump(body, CXCursor_BreakStmt) ||
                  has_jump(body, CXCursor_ContinueStmt)))
            v = NULL;
    } else if (loop->kind == CXCursor_WhileStmt) {
        condition = node_kid(loop, 0);
        body = node_kid(loop, 1);
        if (body->kind == CXCursor_CompoundStmt && body->kids->len == 1)
            body = node_kid(body, 0);
        v = node_is_expression(body) ? stepped(u, body) : NULL;
        if (v && touches(u, condition, cursor_offset(node_declaration(v)), false))
            v = NULL;
    }
    return v;
}

/* The placements of the thesis: by what is around a loop and inside of it. */
static bool chosen_by_thesis(int policy, node *n, double operations)
{
    bool outermost = true, innermost = true;
    for (const node *up = n->up; up; up = up->up)
        outermost = outermost && !node_is_loop(up);
    GQueue below = G_QUEUE_INIT;
    g_queue_push_tail(&below, n);
    for (node *at; innermost && (at = g_queue_pop_head(&below));) {
        innermost = at == n || !node_is_loop(at);
        for (unsigned i = 0; i < at->kids->len; i++)
            g_queue_push_tail(&below, node_kid(at, i));
    }
    g_queue_clear(&below);
    bool large = operations >= LARGE_BODY;
    return policy > 0 && (((policy & POLLS_NESTS) && !innermost) || ((policy & POLLS_OUTERMOST) && outermost) ||
                          ((policy & POLLS_INNERMOST) && innermost) || ((policy & POLLS_LARGE_OUTERMOST) && outermost && large) ||
                          ((policy & POLLS_LARGE_INNERMOST) && innermost && !outermost && large));
}

static cost cost_below(program *p, unit *u, node *n)
{
    cost all = {0};
    for (unsigned i = 0; i < n->kids->len; i++) {
        cost k = cost_of(p, u, node_kid(n, i));
        all.operations += k.operations;
        all.polls = all.polls || k.polls;
        all.unknown = all.unknown || k.unknown;
    }
    return all;
}

static void plan_loop(program *p, unit *u, node *n, loop_plan *l)
{
    cost inside = cost_below(p, u, n);
    long long times = trips(u, n), value;
    bool for_loop = n->kind == CXCursor_ForStmt, do_loop = n->kind == CXCursor_DoStmt;
    bool once = do_loop && constant_value(node_kid(n, 1), &value) && value == 0; /* do ... while (0) */
    double iteration = inside.operations + 2;
    const pragma *mine = pragma_of(u, n);
    l->unknown = inside.unknown;
    l->class = LOOP_FREE;
    l->polls = inside.polls;
    double measured = 0, most = 0;
    bool known = profile_loop(u, n, &measured, &most);
    iteration = MAX(iteration, measured);
    l->stride = (unsigned)CLAMP(strip_work / iteration, 1, LONGEST_STRIP);
    l->few = (unsigned)CLAMP(SHORT_NEST * (double)strip_work / iteration, 1, 1 << 30);
    l->cost = (once ? 1 : times > 0 ? (double)times : 1000) * iteration;
    l->breaks = has_jump(node_kid(n, do_loop ? 0 : n->kids->len - 1), CXCursor_BreakStmt);
    if (mine && !profile_counts()) {
        l->class = mine->kind == PRAGMA_POLL ? LOOP_EACH : LOOP_FREE;
    } else if (options_policy != POLLS_AUTO) {
        l->class = chosen_by_thesis(options_policy, n, inside.operations) ? LOOP_EACH : LOOP_FREE;
    } else if (known && most <= profile_limit()) {
        l->class = LOOP_FREE;
        l->cost = most;
    } else if (once || (times > 0 && (inside.polls ? turns(u, n) <= SHORT_LOOP_OF_POLLS : l->cost <= strip_work))) {
        l->class = LOOP_FREE;
    } else if (inside.polls || inside.unknown || !plain(n, n) || l->stride < 4) {
        l->class = LOOP_EACH;
        l->nest = for_loop && inside.polls && !inside.unknown && !has_pragma(u, n) && strip_parts(u, n, NULL, NULL, NULL);
    } else if (for_loop && strip_parts(u, n, NULL, NULL, NULL)) {
        l->class = LOOP_STRIP;
    } else if (summary_counted(u, n)) {
        l->class = LOOP_BITS;
        while (l->stride & (l->stride - 1)) /* a power of two */
            l->stride &= l->stride - 1;
    } else {
        l->class = do_loop && has_jump(node_kid(n, 0), CXCursor_ContinueStmt) ? LOOP_EACH : LOOP_COUNTDOWN;
    }
    l->twice = iteration <= SHORT_BODY;
    l->unrolled = l->class == LOOP_BITS && inside.operations + 2 <= TINY_BODY;
    l->polls = l->polls || l->class != LOOP_FREE;
}

const loop_plan *summary_loop(unit *u, node *n)
{
    static const loop_plan none = {.class = LOOP_FREE, .stride = 1};
    const loop_plan *l = g_hash_table_lookup(u->loops, n);
    return l ? l : &none;
}

/* ---- functions ---- */

static void take(program *p, unit *u, node *n)
{
    CXCursor d = node_declaration(n);
    char *key = function_key(u, d), *type = type_key(clang_getCursorType(d));
    for (node *up = n->up; up && (up->kind == CXCursor_UnexposedExpr || up->kind == CXCursor_ParenExpr ||
                                  up->kind == CXCursor_CStyleCastExpr || up->kind == CXCursor_UnaryOperator);
         up = up->up) {
        char *seen = type_key(up->type);
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
        CXCursor d = call_function(n);
        if (!cursor_is_null(d)) {
            g_ptr_array_add(f->calls, function_key(u, d));
        } else if (call_callee(n)) {
            CXType t = type_pointee(call_callee(n)->type);
            bool any = clang_getCanonicalType(t).kind == CXType_FunctionNoProto;
            g_ptr_array_add(f->indirect, any ? g_strdup("") : type_key(t));
        }
    }
    if (n->kind == CXCursor_DeclRefExpr && node_declaration(n).kind == CXCursor_FunctionDecl) {
        node *up = node_bare_up(n);
        if (!(up && up->kind == CXCursor_CallExpr && node_bare(call_callee(up)) == n))
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
        g_hash_table_add(p->weak, function_key(u, top->cursor));
    g_free(text);
}

void summary_unit(program *p, unit *u)
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
                f->key = function_key(u, top->cursor);
                f->type_key = type_key(top->type);
                f->held = hold_reason(u, top, GPOINTER_TO_UINT(g_ptr_array_index(u->ends, i)));
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

static bool indirect_reaches(program *p, const char *type, bool (*test)(program *, function *, void *), void *data)
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

static bool does_poll(program *p, function *g, void *data)
{
    (void)p;
    (void)data;
    return g->polls;
}

static bool calls_what_polls(program *p, const function *f)
{
    for (unsigned k = 0; k < f->calls->len; k++) {
        const function *g = g_hash_table_lookup(p->functions, g_ptr_array_index(f->calls, k));
        if (g && g->polls)
            return true;
    }
    for (unsigned k = 0; k < f->indirect->len; k++)
        if (indirect_reaches(p, g_ptr_array_index(f->indirect, k), does_poll, NULL))
            return true;
    return false;
}

/* Whether f reaches itself. */
static bool reaches(program *p, function *g, void *goal)
{
    if (g == goal && g->mark)
        return true;
    if (g->mark)
        return false;
    g->mark = 1;
    for (unsigned i = 0; i < g->calls->len; i++) {
        function *h = g_hash_table_lookup(p->functions, g_ptr_array_index(g->calls, i));
        if (h && reaches(p, h, goal))
            return true;
    }
    for (unsigned i = 0; i < g->indirect->len; i++)
        if (indirect_reaches(p, g_ptr_array_index(g->indirect, i), reaches, goal))
            return true;
    return false;
}

static void clear_mark(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    (void)data;
    ((function *)value)->mark = 0;
}

/* ---- what calls and loops cost ---- */

static void plan_function(program *p, function *f);
static void count_calls(program *p);
static void find_twins(program *p);

typedef struct reached {
    cost *cost;
    bool any;
} reached;

static void add_reached(program *p, function *g, cost *k)
{
    plan_function(p, g);
    k->polls = k->polls || g->polls;
    k->unknown = k->unknown || g->unknown;
    k->operations = MAX(k->operations, g->cost);
}

static bool each_reached(program *p, function *g, void *data)
{
    reached *r = data;
    r->any = true;
    add_reached(p, g, r->cost);
    return false;
}

static cost cost_of_call(program *p, unit *u, node *n)
{
    cost k = {0};
    CXCursor d = call_function(n);
    if (!cursor_is_null(d)) {
        char *key = function_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        unsigned library = g ? 0 : library_call(n);
        g_free(key);
        if (g && !(g->operation && !call_polls(p, u, n)))
            add_reached(p, g, &k);
        else
            k = (cost){.operations = library ? library : UNKNOWN_CALL, .unknown = !library};
    } else if (call_callee(n)) {
        CXType t = type_pointee(call_callee(n)->type);
        char *key = clang_getCanonicalType(t).kind == CXType_FunctionNoProto ? g_strdup("") : type_key(t);
        reached r = {&k, false};
        indirect_reaches(p, key, each_reached, &r);
        g_free(key);
        if (!r.any)
            k = (cost){.operations = UNKNOWN_CALL, .unknown = true};
    }
    k.operations += 5;
    return k;
}

/* Of n itself. A function of the program only counts as a call. */
double summary_own_work(program *p, unit *u, node *n)
{
    if (n->kind != CXCursor_CallExpr)
        return operations(u, n);
    CXCursor d = call_function(n);
    char *key = cursor_is_null(d) ? NULL : function_key(u, d);
    bool ours = !key || g_hash_table_contains(p->functions, key);
    unsigned library = ours ? 0 : library_call(n);
    g_free(key);
    return 5 + (ours ? 0 : library ? library : UNKNOWN_CALL);
}

bool summary_is_plain(node *loop)
{
    return plain(loop, loop);
}

/* Of evaluating n once. Loops that poll count as nothing. */
static cost cost_of(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_UnaryExpr) /* sizeof */
        return (cost){0};
    if (node_is_loop(n)) {
        loop_plan *l = g_hash_table_lookup(u->loops, n);
        if (!l) {
            l = g_new0(loop_plan, 1);
            plan_loop(p, u, n, l);
            g_hash_table_insert(u->loops, n, l);
        }
        return (cost){.operations = l->polls ? 0 : l->cost, .polls = l->polls, .unknown = l->unknown};
    }
    cost all = cost_below(p, u, n), own = {.operations = operations(u, n)};
    if (n->kind == CXCursor_CallExpr)
        own = cost_of_call(p, u, n);
    all.operations += own.operations;
    all.polls = all.polls || own.polls;
    all.unknown = all.unknown || own.unknown;
    return all;
}

/* Plans the loops of f and of all that it calls. A function of a circle of calls polls: it is not waited for. */
static void plan_function(program *p, function *f)
{
    if (f->planned != FUNCTION_NEW)
        return;
    f->planned = FUNCTION_BEGUN;
    cost k = cost_of(p, f->unit, f->body);
    f->delays = f->held && k.polls;
    f->polls = !f->held && (f->polls || k.polls);
    f->unknown = k.unknown || f->delays;
    double most;
    f->cost = profile_function(f, &most) ? most : k.operations;
    f->planned = FUNCTION_DONE;
}

void summary_complete(program *p)
{
    GPtrArray *all = g_ptr_array_new();
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++)
            g_ptr_array_add(all, g_ptr_array_index(u->functions, k));
    }
    for (unsigned i = 0; i < all->len; i++) {
        function *f = g_ptr_array_index(all, i);
        g_hash_table_foreach(p->functions, clear_mark, NULL);
        f->mark = 0;
        double most;
        bool short_calls = profile_function(f, &most) && most <= profile_limit();
        f->recursive =
            options_policy == POLLS_CALLS ? f != f->unit->main : options_policy != POLLS_NONE && !short_calls && reaches(p, f, f);
        f->polls = f->recursive && !f->held;
    }
    for (unsigned i = 0; i < all->len; i++)
        plan_function(p, g_ptr_array_index(all, i));
    /* Functions that there are more than once (weak, or inline in a header) poll if one of them does, and so do their callers. */
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < all->len; i++) {
            function *f = g_ptr_array_index(all, i);
            if (f->held)
                continue;
            bool polls = f->polls || calls_what_polls(p, f);
            function *same = g_hash_table_lookup(p->functions, f->key);
            polls = polls || same->polls;
            more = more || polls != f->polls || polls != same->polls;
            f->polls = same->polls = polls;
        }
    }
    for (unsigned i = 0; i < all->len; i++) {
        const function *f = g_ptr_array_index(all, i);
        if (f->held && *f->held && (f->delays || calls_what_polls(p, f)))
            unit_warn(f->unit, f->decl->a, "%s %s: there is no checkpoint while it is active", f->name, f->held);
    }
    g_ptr_array_free(all, TRUE);
    count_calls(p);
    find_twins(p);
}

/* The twin of a static function that is called in one place only. The compiler would make such a function a part of its caller,
 * but a second call, by which it is entered again when the program goes on, would keep it from that. So that second call is of a
 * copy, the twin, and the function itself cannot be entered again. What a twin calls has twins for the same reason. */
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

static void count_calls(program *p)
{
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++) {
            function *f = g_ptr_array_index(u->functions, k);
            for (unsigned c = 0; c < f->calls->len; c++) {
                function *g = g_hash_table_lookup(p->functions, g_ptr_array_index(f->calls, c));
                if (g) {
                    g->callers++;
                    g->caller = f;
                }
            }
        }
    }
}

/* Whether the only call of f stands where it could be part of its caller. */
static bool is_single(program *p, const function *f)
{
    return f->callers == 1 && f->caller != f && f != f->unit->main &&
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
            f->split = f->polls && !is_single(p, f) && g_hash_table_lookup(p->functions, f->key) == f &&
                       !strstr(header, "inline") && !strstr(header, "__attribute") && !cannot_be_copied(u, f->decl) &&
                       names_parameters(f);
            for (unsigned t = 0; t < u->tops->len && f->split; t++) {
                node *top = g_ptr_array_index(u->tops, t);
                char *key = top->kind == CXCursor_FunctionDecl ? function_key(u, top->cursor) : NULL;
                f->split = !key || strcmp(key, f->key) != 0 || is_simple_header(u, top);
                g_free(key);
            }
            g_free(header);
        }
    }
}

static void find_twins(program *p)
{
    find_splits(p);
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < p->units->len; i++) {
            unit *u = g_ptr_array_index(p->units, i);
            for (unsigned k = 0; k < u->functions->len; k++) {
                function *f = g_ptr_array_index(u->functions, k);
                bool twin = !f->twin && !f->no_twin && is_single(p, f) &&
                            (f->polls ? !f->recursive : f->caller->twin || f->caller->split);
                if (!twin)
                    continue;
                f->no_twin = cannot_be_copied(u, f->decl);
                for (unsigned t = 0; t < u->tops->len && !f->no_twin; t++) {
                    node *top = g_ptr_array_index(u->tops, t);
                    char *key = top->kind == CXCursor_FunctionDecl ? function_key(u, top->cursor) : NULL;
                    f->no_twin = key && strcmp(key, f->key) == 0 && !is_simple_header(u, top);
                    g_free(key);
                }
                f->twin = !f->no_twin;
                more = more || f->twin;
            }
        }
    }
}

static void mark_twins(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_CallExpr && !cursor_is_null(call_function(n))) {
        node *callee = node_bare(call_callee(n));
        char *key = function_key(u, call_function(n));
        const function *f = g_hash_table_lookup(p->functions, key);
        if (f && f->twin) {
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
void summary_mark_twins(program *p, unit *u)
{
    for (unsigned i = 0; i < u->functions->len; i++)
        mark_twins(p, u, ((function *)g_ptr_array_index(u->functions, i))->body);
}

/* The text of n in operations, with that of functions which are called there only. */
static unsigned size_of(program *p, unit *u, node *n)
{
    unsigned k = operations(u, n) + (n->kind == CXCursor_CallExpr ? 3 : 0);
    if (n->kind == CXCursor_CallExpr && !cursor_is_null(call_function(n))) {
        char *key = function_key(u, call_function(n));
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
bool summary_may_copy(program *p, unit *u, node *n)
{
    if (n->kind == CXCursor_CallExpr && !cursor_is_null(call_function(n))) {
        char *key = function_key(u, call_function(n));
        const function *f = g_hash_table_lookup(p->functions, key);
        g_free(key);
        if (f && is_single(p, f) && (f->recursive || size_of(p, f->unit, f->body) > SMALL_FUNCTION))
            return false;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (!summary_may_copy(p, u, node_kid(n, i)))
            return false;
    return true;
}

bool call_polls(program *p, unit *u, node *n)
{
    CXCursor d = call_function(n);
    if (!cursor_is_null(d)) {
        char *key = function_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        return g && g->polls && !(u->quiet && g_hash_table_contains(u->quiet, n));
    }
    node *callee = call_callee(n);
    if (!callee)
        return false;
    CXType t = type_pointee(callee->type);
    char *key = clang_getCanonicalType(t).kind == CXType_FunctionNoProto ? g_strdup("") : type_key(t);
    bool polls = indirect_reaches(p, key, does_poll, NULL);
    g_free(key);
    return polls;
}

/* ---- inside of a function that polls ---- */

static bool mark(program *p, unit *u, node *n)
{
    n->polls = false;
    if (n->kind == CXCursor_UnaryExpr)
        return false;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (mark(p, u, node_kid(n, i)))
            n->polls = true;
    if (n->kind == CXCursor_CallExpr && (call_polls(p, u, n) || jump_is_set(n))) /* setjmp: it is taken apart in the same way */
        n->polls = true;
    if (node_is_loop(n) && summary_loop(u, n)->class != LOOP_FREE)
        n->polls = true;
    return n->polls;
}

bool summary_node_polls(program *p, unit *u, node *n)
{
    return mark(p, u, n);
}

static bool keeps_pointer(program *p, function *g, unsigned parameter, int depth);

/* Whether the value of n, a pointer, may be kept by what n is an operand of: it is more than read and written through. */
static bool is_kept(program *p, unit *u, node *n, int depth)
{
    node *up = node_bare_up(n), *at = n;
    while (at->up != up)
        at = at->up;
    if (!up || clang_isVolatileQualifiedType(clang_getCanonicalType(n->type)))
        return true;
    bool through = false;
    if (up->kind == CXCursor_CallExpr && at != call_callee(up)) {
        CXCursor d = call_function(up);
        if (cursor_is_null(d))
            return true;
        char *key = function_key(u, d);
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        for (unsigned i = 1; g && !g->polls && i < up->kids->len; i++)
            if (node_kid(up, i) == at)
                return keeps_pointer(p, g, i - 1, depth);
        return true;
    }
    if (up->kind == CXCursor_UnaryOperator) {
        char *o = unary_operator(u, up);
        through = strcmp(o, "*") == 0;
        g_free(o);
    } else if (up->kind == CXCursor_ArraySubscriptExpr) {
        through = at == node_kid(up, 0);
    } else if (up->kind == CXCursor_MemberRefExpr) {
        through = true;
    }
    if (!through || type_is_array(up->type) || type_is_function(up->type))
        return true;
    /* *p = 1 and *p + 1, but not &*p, &p->x, (*p).array */
    for (node *outer = node_bare_up(up); outer; outer = node_bare_up(outer)) {
        if (outer->kind == CXCursor_UnaryOperator) {
            char *o = unary_operator(u, outer);
            bool address = strcmp(o, "&") == 0;
            g_free(o);
            return address;
        }
        if (outer->kind != CXCursor_MemberRefExpr || !type_is_record(node_kid(outer, 0) ? node_kid(outer, 0)->type : outer->type))
            return false;
        if (type_is_array(outer->type))
            return true;
    }
    return false;
}

static bool kept_below(program *p, unit *u, node *n, unsigned parameter, int depth)
{
    if (n->kind == CXCursor_UnaryExpr)
        return false;
    if (refers(n, parameter) && is_kept(p, u, n, depth))
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (kept_below(p, u, node_kid(n, i), parameter, depth))
            return true;
    return false;
}

/* Whether g may do more with what a parameter points to than to read and write it. */
static bool keeps_pointer(program *p, function *g, unsigned parameter, int depth)
{
    enum { DEEPEST = 4 };
    CXCursor c = clang_Cursor_getArgument(g->decl->cursor, parameter);
    return depth > DEEPEST || cursor_is_null(c) || !type_is_pointer(clang_getCursorType(c)) ||
           kept_below(p, g->unit, g->body, cursor_offset(c), depth + 1);
}

/* Variables that cannot stay in registers: arrays, and those whose address is taken, unless for a call that does not keep it. */
static void find_taken(program *p, function *f, node *n)
{
    if (n->kind == CXCursor_DeclRefExpr) {
        CXCursor d = node_declaration(n);
        if (is_local(d)) {
            node *at = n;
            bool taken = type_is_array(clang_getCursorType(d)) && d.kind != CXCursor_ParmDecl;
            for (node *up = n->up; up && !taken; at = up, up = up->up) {
                if (up->kind == CXCursor_MemberRefExpr && type_is_record(at->type)) {
                    taken = type_is_array(up->type);
                } else if (up->kind == CXCursor_UnaryOperator) {
                    char *o = unary_operator(f->unit, up);
                    taken = strcmp(o, "&") == 0 && is_kept(p, f->unit, up, 0);
                    bool on = g_str_has_prefix(o, "__");
                    g_free(o);
                    if (!on)
                        break;
                } else if (up->kind != CXCursor_ParenExpr && up->kind != CXCursor_GenericSelectionExpr) {
                    break;
                }
            }
            if (taken)
                g_hash_table_add(f->taken, GUINT_TO_POINTER(cursor_offset(d)));
        }
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        find_taken(p, f, node_kid(n, i));
}

void summary_mark(program *p, function *f)
{
    mark(p, f->unit, f->decl);
    f->body->polls = true; /* also if it only polls at its beginning, as it calls itself by way of functions that are held */
    f->taken = g_hash_table_new(NULL, NULL);
    find_taken(p, f, f->decl);
}

bool declares_taken(function *f, CXCursor decl)
{
    return g_hash_table_contains(f->taken, GUINT_TO_POINTER(cursor_offset(decl)));
}
