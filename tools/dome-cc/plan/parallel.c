/* Programs that call dome_init: Dome programs. They poll where all tasks come together: at their calls of dome_checkpoint, or, if
 * they have none, behind their operations of Dome. A pointer into local data must not be needed behind such a call; an operation
 * behind which it is needed does not poll. */
#include "balance/balance_operations.h"
#include "comm/comm_operations.h"
#include "core/operation.h"
#include "objects/dscalar_operations.h"
#include "objects/dvec_operations.h"
#include "plan/plan.h"
#include "program/program_operations.h"
#include "sparse/dsparse_operations.h"

#include <string.h>

/* Functions that the program calls, and those that replace them (include/dome/capture.h). */
static const char *const instead[][2] = {{"dome_init", "dome__cc_init"},
                                         {"dome_finalize", "dome__cc_finalize"},
                                         {"dome_checkpoint", "dome__cc_checkpoint"},
                                         {"dome_is_restarting", "dome__cc_is_restarting"},
                                         {"dome_layout_new", "dome__cc_layout_new"},
                                         {"dome_layout_even", "dome__cc_layout_even"},
                                         {"dome_layout_ref", "dome__cc_layout_ref"},
                                         {"dome_layout_unref", "dome__cc_layout_unref"}};

static const char prelude[] =
    "struct dome_env;\n"
    "extern int dome__cc_dome_main(int, char **, int (*)(int, char **)) __asm__(\"dome_capture_dome_main\");\n"
    "extern struct dome_env *dome__cc_init(int *, char ***) __asm__(\"dome_capture_init\");\n"
    "extern int dome__cc_finalize(struct dome_env *) __asm__(\"dome_capture_finalize\");\n"
    "extern int dome__cc_checkpoint(struct dome_env *) __asm__(\"dome_capture_checkpoint\");\n"
    "extern _Bool dome__cc_is_restarting(const struct dome_env *) __asm__(\"dome_capture_is_restarting\");\n"
    "struct dome_layout;\n"
    "typedef unsigned dome__cc_u64 __attribute__((__mode__(__DI__)));\n"
    "extern struct dome_layout *dome__cc_layout_new(dome__cc_u64, dome__cc_u64, int, dome__cc_u64, const "
    "dome__cc_u64 *)\n"
    "__asm__(\"dome_capture_layout_new\");\n"
    "extern struct dome_layout *dome__cc_layout_even(dome__cc_u64, dome__cc_u64, int) "
    "__asm__(\"dome_capture_layout_even\");\n"
    "extern struct dome_layout *dome__cc_layout_ref(const struct dome_layout *) __asm__(\"dome_capture_layout_ref\");\n"
    "extern void dome__cc_layout_unref(struct dome_layout *) __asm__(\"dome_capture_layout_unref\");\n"
    "extern void dome__cc_poll_operations(void) __asm__(\"dome_capture_poll_operations\");\n"
    "extern int dome__cc_operation(void) __asm__(\"dome_capture_operation\");\n"
    "extern void dome__cc_hold_in(const char *) __asm__(\"dome_capture_hold_in\");\n";

static bool calls(const program *p, const char *name)
{
    for (unsigned i = 0; i < p->units->len; i++) {
        const unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++) {
            const function *f = g_ptr_array_index(u->functions, k);
            for (unsigned c = 0; c < f->calls->len; c++)
                if (strcmp(g_ptr_array_index(f->calls, c), name) == 0)
                    return true;
        }
    }
    return false;
}

static void parallel_quiet(program *p);

static unsigned fills(const char *name);

/* Whether a name is that of an operation, or of a form of one ("dvec_sum_i64"). */
static bool is_operation_name(const char *name)
{
    static const char *const operations[] = {
#define NAME(code, name, arguments, flag)                                         name,
#define ELEMENTWISE_NAME(code, name, arguments, form, flags, failure, expression) #name,
        DOME_CORE_OPERATIONS(NAME) DOME_PROGRAM_OPERATIONS(NAME) DOME_COMM_OPERATIONS(NAME) DOME_BALANCE_OPERATIONS(NAME)
            DOME_DSCALAR_OPERATIONS(NAME) DOME_DVEC_OPERATIONS(NAME) DOME_DSPARSE_OPERATIONS(NAME)
                DOME_ELEMENTWISE_LIST(ELEMENTWISE_NAME)
#undef ELEMENTWISE_NAME
#undef NAME
    };
    /* what one task may call alone, what polls by itself, and what lends pointers */
    static const char *const others[] = {"dome_init", "dome_finalize", "dome_checkpoint", "dome_on_view",
                                         "dome_send", "dome_recv",     "dome_isend",      "dome_irecv",
                                         "dome_wait", "dome_test",     "dome_lost",       "dome_operation_register",
                                         NULL};
    for (unsigned k = 0; k < G_N_ELEMENTS(operations); k++) {
        const size_t n = strlen(operations[k]);
        if (strncmp(name, operations[k], n) == 0 && (name[n] == '\0' || name[n] == '_') && !text_in_list(operations[k], others))
            return fills(name) == 0;
    }
    return false;
}

static void add_operation(program *p, const char *name)
{
    function *f = g_new0(function, 1);
    *f = (function){.name = g_strdup(name),
                    .key = g_strdup(name),
                    .type_key = "",
                    .calls = g_ptr_array_new(),
                    .indirect = g_ptr_array_new(),
                    .polls = true,
                    .operation = true,
                    .twins.callers = 2,
                    .work.planned = FUNCTION_DONE};
    g_hash_table_insert(p->functions, f->key, f);
}

/* Those that the program calls. */
static void add_operations(program *p)
{
    for (unsigned i = 0; i < p->units->len; i++) {
        const unit *u = g_ptr_array_index(p->units, i);
        for (unsigned k = 0; k < u->functions->len; k++) {
            const function *f = g_ptr_array_index(u->functions, k);
            for (unsigned c = 0; c < f->calls->len; c++) {
                const char *name = g_ptr_array_index(f->calls, c);
                if (!g_hash_table_contains(p->functions, name) && is_operation_name(name))
                    add_operation(p, name);
            }
        }
    }
}

void parallel_begin(program *p)
{
    static function checkpoint;
    if (g_hash_table_contains(p->functions, "dome_init") || !calls(p, "dome_init"))
        return;
    p->parallel = true;
    p->between = polls_operations || (polls_policy != POLLS_NONE && !calls(p, "dome_checkpoint"));
    polls_policy = POLLS_NONE;
    /* known as a function that polls, in no file, and called more than once */
    checkpoint = (function){.name = "dome_checkpoint",
                            .key = "dome_checkpoint",
                            .type_key = "",
                            .calls = g_ptr_array_new(),
                            .indirect = g_ptr_array_new(),
                            .polls = true,
                            .twins.callers = 2,
                            .work.planned = FUNCTION_DONE};
    g_hash_table_insert(p->functions, "dome_checkpoint", &checkpoint);
    if (p->between) {
        add_operations(p);
        parallel_quiet(p);
    }
}

bool parallel_is_operation(const program *p, unit *u, const node *call)
{
    CXCursor d = p->between ? node_called(call) : clang_getNullCursor();
    if (cursor_is_null(d))
        return false;
    char *key = cursor_key(u, d);
    const function *g = g_hash_table_lookup(p->functions, key);
    g_free(key);
    return g && g->operation;
}

const char *parallel_prelude(const program *p)
{
    return p->parallel ? prelude : "";
}

const char *parallel_instead(const program *p, const char *name)
{
    for (unsigned k = 0; k < G_N_ELEMENTS(instead) && p->parallel; k++)
        if (strcmp(name, instead[k][0]) == 0)
            return instead[k][1];
    return NULL;
}

/* ---- borrowed pointers ---- */

/* Functions whose result belongs to Dome, and may be gone with the next view. */
static bool lends(const char *name)
{
    static const char *const names[] = {"dvec_allgather",   "dome_object_values", "dvec_name",      "dscalar_name",
                                        "dsparse_name",     "dome_object_name",   "dome_host",      "dome_error_message",
                                        "dome_env_layout",  "dome_object_place",  "dome_type_name", "dome_status_name",
                                        "dome_status_text", "dome_version"};
    for (unsigned k = 0; k < G_N_ELEMENTS(names); k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    return false;
}

/* Functions that fill an argument with such pointers: its number, from 1 on; 0: another function. */
static unsigned fills(const char *name)
{
    static const struct {
        const char *name;
        unsigned argument;
    } all[] = {{"dvec_local_spans", 2},
               {"dvec_local_spans_const", 2},
               {"dvec_halo_elements", 5},
               {"dvec_halo_planes", 5},
               {"dome_lost", 2}};
    for (unsigned k = 0; k < G_N_ELEMENTS(all); k++)
        if (strcmp(name, all[k].name) == 0)
            return all[k].argument;
    return 0;
}

static char *called(const node *n)
{
    CXCursor d = n->kind == CXCursor_CallExpr ? node_called(n) : clang_getNullCursor();
    return cursor_is_null(d) ? g_strdup("") : cursor_name(d);
}

/* What one file defines is not Dome's. */
static bool is_defined(const program *p, const char *name)
{
    const function *f = g_hash_table_lookup(p->functions, name);
    return f && f->unit;
}

bool parallel_calls_dome(const program *p, const node *call)
{
    static const char *const begins[] = {"dome_", "dvec_", "dscalar_", "dsparse_"};
    char *name = called(call);
    bool found = false;
    for (unsigned k = 0; k < G_N_ELEMENTS(begins) && p->parallel && !is_defined(p, name); k++)
        found = found || g_str_has_prefix(name, begins[k]);
    g_free(name);
    return found;
}

/* The declaration of the local variable that n names, also as &n; 0: none. */
static unsigned local_of(const unit *u, node *n)
{
    n = node_bare(n);
    if (n->kind == CXCursor_UnaryOperator && u->original[n->a] == '&')
        n = node_bare(node_kid(n, 0));
    if (n->kind != CXCursor_DeclRefExpr)
        return 0;
    CXCursor d = node_declaration(n);
    bool local = d.kind == CXCursor_ParmDecl || (d.kind == CXCursor_VarDecl && !clang_Cursor_hasVarDeclGlobalStorage(d));
    return local ? cursor_offset(d) : 0;
}

/* Whether the value of n is a borrowed pointer, or made of one. The results of other calls are their own. */
static bool is_borrowed_value(const unit *u, node *n, GHashTable *borrowed)
{
    if (n->kind == CXCursor_CallExpr) {
        char *name = called(n);
        bool found = lends(name);
        g_free(name);
        return found;
    }
    if (n->kind == CXCursor_DeclRefExpr)
        return g_hash_table_contains(borrowed, GUINT_TO_POINTER(local_of(u, n)));
    for (unsigned i = 0; i < n->kids->len; i++)
        if (is_borrowed_value(u, node_kid(n, i), borrowed))
            return true;
    return false;
}

static bool is_assignment(unit *u, const node *n)
{
    if (n->kind != CXCursor_BinaryOperator)
        return false;
    char *o = node_operator(u, n);
    bool good = strcmp(o, "=") == 0;
    g_free(o);
    return good;
}

/* Adds the variables that get borrowed pointers below n. True: there are new ones. */
static bool gather(unit *u, node *n, GHashTable *borrowed)
{
    bool more = false;
    if (n->kind == CXCursor_CallExpr) {
        char *name = called(n);
        const unsigned k = fills(name), v = k > 0 && k < n->kids->len ? local_of(u, node_kid(n, k)) : 0;
        more = v > 0 && g_hash_table_add(borrowed, GUINT_TO_POINTER(v));
        g_free(name);
    }
    if (n->kind == CXCursor_VarDecl && ctype_is_pointer(n->type) && !clang_Cursor_hasVarDeclGlobalStorage(n->cursor)) {
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_is_expression(node_kid(n, i)) && is_borrowed_value(u, node_kid(n, i), borrowed))
                more = g_hash_table_add(borrowed, GUINT_TO_POINTER(cursor_offset(n->cursor))) || more;
    }
    if (is_assignment(u, n) && ctype_is_pointer(n->type)) {
        const unsigned v = local_of(u, node_kid(n, 0));
        if (v > 0 && is_borrowed_value(u, node_kid(n, 1), borrowed))
            more = g_hash_table_add(borrowed, GUINT_TO_POINTER(v)) || more;
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        more = gather(u, node_kid(n, i), borrowed) || more;
    return more;
}

/* A place where a variable is read, or gets a new value; or where the function may be captured. */
typedef struct place {
    node *at;
    bool sets;
} place;

static bool mentions(const unit *u, node *n, unsigned v)
{
    if (n->kind == CXCursor_DeclRefExpr && local_of(u, n) == v)
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (mentions(u, node_kid(n, i), v))
            return true;
    return false;
}

static bool sets_variable(unit *u, node *n, unsigned v)
{
    node *up = node_bare_up(n);
    if (up && is_assignment(u, up) && node_bare(node_kid(up, 0)) == n)
        return !mentions(u, node_kid(up, 1), v);
    for (; up && (up->kind == CXCursor_UnaryOperator || up->kind == CXCursor_UnexposedExpr); up = up->up)
        ;
    if (!up || up->kind != CXCursor_CallExpr)
        return false;
    char *name = called(up);
    const unsigned k = fills(name);
    g_free(name);
    return k > 0 && k < up->kids->len && local_of(u, node_kid(up, k)) == v;
}

static void find_places(unit *u, node *n, unsigned v, GArray *places)
{
    if (n->kind == CXCursor_UnaryExpr)
        return; /* sizeof */
    if (n->kind == CXCursor_DeclRefExpr && local_of(u, n) == v) {
        place p = {n, sets_variable(u, n, v)};
        g_array_append_val(places, p);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        find_places(u, node_kid(n, i), v, places);
}

static void find_polls(program *p, unit *u, node *n, GPtrArray *polls)
{
    if (n->kind == CXCursor_UnaryExpr)
        return;
    if (n->kind == CXCursor_CallExpr && polls_call(p, u, n))
        g_ptr_array_add(polls, n);
    for (unsigned i = 0; i < n->kids->len; i++)
        find_polls(p, u, node_kid(n, i), polls);
}

static node *find_declaration(node *n, unsigned v)
{
    if ((n->kind == CXCursor_VarDecl || n->kind == CXCursor_ParmDecl) && cursor_offset(n->cursor) == v)
        return n;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *found = find_declaration(node_kid(n, i), v);
        if (found)
            return found;
    }
    return NULL;
}

/* The first place of a variable that is evaluated in [a, b), by the order of the text; NULL: none. */
static const place *first_in(const GArray *places, unsigned a, unsigned b)
{
    for (unsigned i = 0; i < places->len; i++) {
        const place *p = &g_array_index(places, place, i);
        if (p->at->a >= a && p->at->a < b)
            return p;
    }
    return NULL;
}

/* Where what a loop does again begins: behind the initialisation of "for". */
static unsigned again_from(unit *u, node *loop)
{
    node *init, *condition, *step, *body;
    if (loop->kind != CXCursor_ForStmt)
        return loop->a;
    node_for_parts(u, loop, &init, &condition, &step, &body);
    return init ? init->b : loop->a;
}

/* A read that may come after a poll, without a new value in between; NULL: there is none. */
static const node *read_after(unit *u, node *poll, const node *declaration, const node *scope, const GArray *places)
{
    const place *next = first_in(places, poll->b, scope->b);
    if (next && !next->sets)
        return next->at;
    for (node *up = poll->up; up && up != scope; up = up->up) {
        if (!node_is_loop(up) || (declaration->a >= up->a && declaration->a < up->b) || (next && next->at->a < up->b))
            continue;
        const place *again = first_in(places, again_from(u, up), poll->b);
        if (again && !again->sets)
            return again->at;
    }
    return NULL;
}

/* Calls `visit` for each poll behind which a borrowed pointer is read, until it returns false. */
static void for_reads(function *f, unsigned v, const GPtrArray *polls,
                      bool (*visit)(function *f, const node *declaration, node *poll, const node *read))
{
    unit *u = f->unit;
    node *declaration = find_declaration(f->decl, v);
    if (!declaration)
        return;
    node *scope = declaration->up;
    while (scope && scope != f->decl && scope->kind != CXCursor_CompoundStmt && scope->kind != CXCursor_ForStmt)
        scope = scope->up;
    GArray *places = g_array_new(FALSE, FALSE, sizeof(place));
    find_places(u, f->body, v, places);
    for (unsigned i = 0; i < polls->len && scope; i++) {
        node *poll = g_ptr_array_index(polls, i);
        if (poll->a < declaration->b || poll->b > scope->b)
            continue;
        const node *read = read_after(u, poll, declaration, scope, places);
        if (read && !visit(f, declaration, poll, read))
            break;
    }
    g_array_free(places, TRUE);
}

static bool refuse(function *f, const node *declaration, node *poll, const node *read)
{
    unit *u = f->unit;
    char *name = cursor_name(declaration->cursor), *file;
    unsigned line;
    unit_place(u, poll->a, &file, &line);
    unit_refuse(u, read->a,
                "%s: %s leads into data of Dome, and is used here after a call that may poll (line %u), when the data may be "
                "elsewhere: ask for it again behind that call",
                f->name, name, line);
    g_free(file);
    g_free(name);
    return false;
}

static bool keep_quiet(function *f, const node *declaration, node *poll, const node *read)
{
    (void)declaration, (void)read;
    g_hash_table_add(f->unit->quiet, poll);
    return true;
}

static void for_all_reads(program *p, function *f,
                          bool (*visit)(function *f, const node *declaration, node *poll, const node *read))
{
    f->borrowed = g_hash_table_new(NULL, NULL);
    while (gather(f->unit, f->body, f->borrowed))
        ;
    GPtrArray *polls = g_ptr_array_new();
    find_polls(p, f->unit, f->body, polls);
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, f->borrowed);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        for_reads(f, GPOINTER_TO_UINT(key), polls, visit);
    g_ptr_array_free(polls, TRUE);
}

/* Expressions that cannot be taken apart (lower.c), where a poll would be refused. */
static bool is_whole(const node *n)
{
    for (const node *up = n->up; up && node_is_expression(up); up = up->up)
        if (up->kind == CXCursor_GenericSelectionExpr || (up->kind == CXCursor_ConditionalOperator && up->kids->len != 3))
            return true;
    return false;
}

/* Whether below n, but not in what `call` gets, there is a borrowed pointer. */
static bool borrows_beside(function *f, node *n, const node *call)
{
    if (n == call)
        return false;
    if (n->kind == CXCursor_CallExpr || n->kind == CXCursor_DeclRefExpr)
        if (ctype_is_pointer(n->type) && is_borrowed_value(f->unit, n, f->borrowed))
            return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (borrows_beside(f, node_kid(n, i), call))
            return true;
    return false;
}

/* In one expression the order is not that of the text. */
static bool is_beside_borrowed(function *f, node *call)
{
    node *top = call;
    while (top->up && node_is_expression(top->up))
        top = top->up;
    return borrows_beside(f, top, call);
}

bool parallel_is_borrowed(function *f, node *n)
{
    return f->borrowed && ctype_is_pointer(n->type) && is_borrowed_value(f->unit, n, f->borrowed);
}

static void quiet_some(const program *p, function *f, node *n)
{
    if (n->kind == CXCursor_CallExpr && parallel_is_operation(p, f->unit, n) && (is_whole(n) || is_beside_borrowed(f, n)))
        g_hash_table_add(f->unit->quiet, n);
    for (unsigned i = 0; i < n->kids->len; i++)
        quiet_some(p, f, node_kid(n, i));
}

/* Only operations poll so far: those behind which a borrowed pointer is needed do not. */
static void parallel_quiet(program *p)
{
    static function *checkpoint;
    checkpoint = g_hash_table_lookup(p->functions, "dome_checkpoint");
    checkpoint->polls = false;
    for (unsigned i = 0; i < p->units->len; i++) {
        unit *u = g_ptr_array_index(p->units, i);
        u->quiet = g_hash_table_new(NULL, NULL);
        for (unsigned k = 0; k < u->functions->len; k++) {
            function *f = g_ptr_array_index(u->functions, k);
            for_all_reads(p, f, keep_quiet);
            quiet_some(p, f, f->body);
        }
    }
    checkpoint->polls = true;
}

void parallel_check(program *p, function *f)
{
    f->borrowed = g_hash_table_new(NULL, NULL);
    if (p->parallel)
        for_all_reads(p, f, refuse);
}
