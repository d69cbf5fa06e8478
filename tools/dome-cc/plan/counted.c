/* Loops whose iterations can be counted, and expressions that do not change in a loop. */
#include "plan/plan.h"

#include <string.h>

bool counted_refers(const node *n, unsigned variable)
{
    return n && n->kind == CXCursor_DeclRefExpr && cursor_offset(node_declaration(n)) == variable;
}

/* Whether a variable is assigned to below n; or, if `address`, whether its address is taken there. */
bool counted_touches(unit *u, node *n, unsigned variable, bool address)
{
    if (n->kind == CXCursor_UnaryOperator && counted_refers(node_bare(node_kid(n, 0)), variable)) {
        char *o = node_unary_operator(u, n);
        bool found = address ? strcmp(o, "&") == 0 : strcmp(o, "++") == 0 || strcmp(o, "--") == 0;
        g_free(o);
        if (found)
            return true;
    }
    if (!address && n->kind == CXCursor_CompoundAssignOperator && counted_refers(node_bare(node_kid(n, 0)), variable))
        return true;
    if (!address && n->kind == CXCursor_BinaryOperator && counted_refers(node_bare(node_kid(n, 0)), variable)) {
        char *o = node_operator(u, n);
        bool found = strcmp(o, "=") == 0;
        g_free(o);
        if (found)
            return true;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (counted_touches(u, node_kid(n, i), variable, address))
            return true;
    return false;
}

bool counted_is_local(CXCursor d)
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
bool counted_plain_local(unit *u, node *n)
{
    if (n->kind != CXCursor_DeclRefExpr)
        return false;
    CXCursor d = node_declaration(n);
    return counted_is_local(d) && !clang_isVolatileQualifiedType(clang_getCursorType(d)) &&
           !counted_touches(u, root_of(n), cursor_offset(d), true);
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
        char *o = n->kind == CXCursor_BinaryOperator ? node_operator(u, n) : node_unary_operator(u, n);
        if (strcmp(o, "=") == 0 || strcmp(o, "++") == 0 || strcmp(o, "--") == 0)
            to = node_kid(n, 0);
        g_free(o);
    }
    if (to && !counted_plain_local(u, node_bare(to))) {
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
    CXCursor d = node_called(n);
    if (cursor_is_null(d))
        return true;
    char *key = cursor_key(u, d);
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
bool counted_invariant(unit *u, node *n, node *loop, bool memory)
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
        if (counted_plain_local(u, n)) /* not one that the loop declares: it has no value yet */
            return !(cursor_offset(node_declaration(n)) >= loop->a && cursor_offset(node_declaration(n)) < loop->b) &&
                   !counted_touches(u, loop, cursor_offset(node_declaration(n)), false);
        if (memory && (ctype_is_record(n->type) || ctype_is_array(n->type)))
            return true; /* where it is; what is read of it is above */
        return memory && node_declaration(n).kind != CXCursor_FunctionDecl && !writes_memory(u, loop, kind_of_place(u, n));
    case CXCursor_CStyleCastExpr:
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_is_expression(node_kid(n, i)) && !counted_invariant(u, node_kid(n, i), loop, memory))
                return false;
        return true;
    case CXCursor_UnexposedExpr:
        return n->kids->len == 1 && counted_invariant(u, node_kid(n, 0), loop, memory);
    case CXCursor_MemberRefExpr:
        return memory && n->kids->len == 1 && !writes_memory(u, loop, kind_of_place(u, n)) &&
               counted_invariant(u, node_kid(n, 0), loop, memory);
    case CXCursor_ArraySubscriptExpr:
        return memory && !writes_memory(u, loop, kind_of_place(u, n)) && counted_invariant(u, node_kid(n, 0), loop, memory) &&
               counted_invariant(u, node_kid(n, 1), loop, memory);
    case CXCursor_UnaryOperator: {
        char *o = node_unary_operator(u, n);
        bool good = strlen(o) == 1 &&
                    (strchr("+-~", *o) || (*o == '*' && memory && !writes_memory(u, loop, kind_of_place(u, n)))) &&
                    counted_invariant(u, node_kid(n, 0), loop, memory);
        g_free(o);
        return good;
    }
    case CXCursor_BinaryOperator: {
        char *o = node_operator(u, n);
        bool good = strlen(o) == 1 && strchr("+-*/%", *o) && counted_invariant(u, node_kid(n, 0), loop, memory) &&
                    counted_invariant(u, node_kid(n, 1), loop, memory);
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

unsigned counted_library_call(node *n)
{
    CXCursor f = node_called(n);
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
    unsigned cost = counted_library_call(n);
    if (cost == 0 || cost > 100)
        return false;
    char *name = cursor_name(node_called(n));
    bool good = true; /* what gets no pointer writes nothing of the program */
    for (unsigned i = 1; i < n->kids->len && good; i++)
        good = !ctype_is_pointer(node_kid(n, i)->type) && !ctype_is_array(node_kid(n, i)->type);
    good = good || text_in_list(name, readers);
    g_free(name);
    return good;
}

/* Whether the switch that a case belongs to is below `top`. */
bool counted_inside_switch(node *n, node *top)
{
    while (n != top && n->kind != CXCursor_SwitchStmt)
        n = n->up;
    return n != top;
}

/* Whether a loop that contains node n may be cut into strips: the node does not lead into the middle of the loop. */
bool counted_plain(node *n, node *loop)
{
    switch ((int)n->kind) {
    case CXCursor_LabelStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_StmtExpr:
    case CXCursor_GCCAsmStmt:
        return false;
    case CXCursor_CaseStmt: /* a switch outside may jump here, past what a strip begins with */
    case CXCursor_DefaultStmt:
        if (!counted_inside_switch(n, loop))
            return false;
        break;
    default:
        break;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        if (!counted_plain(node_kid(n, i), loop))
            return false;
    return true;
}

bool counted_constant_value(node *n, long long *value)
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
bool counted_parts(unit *u, node *loop, node **var, node **bound, char **comparison)
{
    node *init, *condition, *step, *body;
    if (loop->kind != CXCursor_ForStmt)
        return false;
    node_for_parts(u, loop, &init, &condition, &step, &body);
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
    good = good && !cursor_is_null(d) && counted_plain_local(u, i);
    if (good) {
        enum CXTypeKind k = clang_getCanonicalType(clang_getCursorType(d)).kind;
        good = (k == CXType_Int || k == CXType_UInt || k == CXType_Long || k == CXType_ULong || k == CXType_LongLong ||
                k == CXType_ULongLong) &&
               ctype_same(left->type, clang_getCursorType(d)) && ctype_same(right->type, clang_getCursorType(d)) &&
               ctype_becomes_everywhere(right, ctype_scalar(clang_getCursorType(d)));
    }
    unsigned v = good ? cursor_offset(d) : 0;
    good = good && !counted_touches(u, body, v, false) && counted_invariant(u, right, loop, true);
    if (good) {
        node *s = node_bare(step);
        good = false;
        if (s->kind == CXCursor_UnaryOperator && counted_refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_unary_operator(u, s);
            good = strcmp(p, up ? "++" : "--") == 0;
            g_free(p);
        } else if (s->kind == CXCursor_CompoundAssignOperator && counted_refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_operator(u, s);
            long long by;
            good = strcmp(p, up ? "+=" : "-=") == 0 && counted_constant_value(node_kid(s, 1), &by) && by > 0 && by <= 1024;
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
long long counted_trips(unit *u, node *loop)
{
    node *init, *condition, *step, *body, *i, *bound;
    char *o;
    long long from, to;
    if (!counted_parts(u, loop, &i, &bound, &o))
        return 0;
    g_free(o);
    node_for_parts(u, loop, &init, &condition, &step, &body);
    if (!init || !counted_constant_value(bound, &to))
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
        if (s->kind == CXCursor_BinaryOperator && counted_refers(node_bare(node_kid(s, 0)), v)) {
            char *p = node_operator(u, s);
            if (strcmp(p, "=") == 0)
                value = node_kid(s, 1);
            g_free(p);
        }
    }
    if (!value || !node_is_expression(value) || !counted_constant_value(value, &from))
        return 0;
    return MAX(from > to ? from - to : to - from, 0) + 1;
}

/* Iterations of a loop of constant bounds, with those of such loops inside; others count as one. */
long long counted_turns(unit *u, node *n)
{
    long long inside = 1, own = node_is_loop(n) ? counted_trips(u, n) : 1;
    for (unsigned i = 0; i < n->kids->len; i++) {
        const long long kid =
            counted_turns(u, node_kid(n, i)); /* MAX would evaluate it twice, and so each level twice as often */
        inside = MAX(inside, kid);
    }
    return MIN(inside, 1 << 20) * CLAMP(own, 1, 1 << 20);
}

bool counted_is_plain(node *loop)
{
    return counted_plain(loop, loop);
}
