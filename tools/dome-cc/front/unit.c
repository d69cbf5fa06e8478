/* A source file: read, its nodes, and what is said of it. */
#include "front/front.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void unit_place(unit *u, unsigned at, char **file, unsigned *line)
{
    CXString name;
    clang_getPresumedLocation(clang_getLocationForOffset(u->parsed.tu, u->parsed.file, at), &name, line, NULL);
    *file = g_strdup(clang_getCString(name) ? clang_getCString(name) : u->path);
    clang_disposeString(name);
}

static void say(unit *u, unsigned at, const char *word, const char *format, va_list arguments)
{
    char *file, *text = g_strdup_vprintf(format, arguments);
    unsigned line;
    unit_place(u, at, &file, &line);
    fprintf(stderr, "%s:%u: %s: dome-cc: %s\n", file, line, word, text);
    g_free(text);
    g_free(file);
}

void unit_refuse(unit *u, unsigned at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(u, at, "error", format, arguments);
    va_end(arguments);
    u->refused++;
}

void unit_warn(unit *u, unsigned at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(u, at, "warning", format, arguments);
    va_end(arguments);
}

static char *processor(CXTranslationUnit tu)
{
    CXTargetInfo info = clang_getTranslationUnitTargetInfo(tu);
    CXString triple = clang_TargetInfo_getTriple(info);
    const char *text = clang_getCString(triple);
    char *name = g_strndup(text, strcspn(text, "-"));
    clang_disposeString(triple);
    clang_TargetInfo_dispose(info);
    return name;
}

bool unit_is_native(const unit *u)
{
    struct CXUnsavedFile empty = {"dome-cc-empty.c", "", 0};
    CXTranslationUnit here =
        clang_parseTranslationUnit(u->parsed.index, empty.Filename, NULL, 0, &empty, 1, CXTranslationUnit_None);
    if (!here)
        return true;
    char *own = processor(here), *other = processor(u->parsed.tu);
    bool native = strcmp(own, other) == 0;
    g_free(other);
    g_free(own);
    clang_disposeTranslationUnit(here);
    return native;
}

/* ---- nodes ---- */

typedef struct visit {
    unit *unit;
    node *up;
} visit;

static node *node_new(unit *u, CXCursor c, node *up)
{
    node *n = g_new0(node, 1);
    n->cursor = c;
    n->kind = c.kind;
    n->type = clang_getCursorType(c);
    n->up = up;
    n->kids = g_ptr_array_new();
    CXSourceRange r = clang_getCursorExtent(c);
    CXFile file = NULL;
    clang_getFileLocation(clang_getRangeStart(r), &file, NULL, NULL, &n->a);
    clang_getFileLocation(clang_getRangeEnd(r), NULL, NULL, NULL, &n->b);
    if (n->b < n->a || n->b > u->length)
        n->b = n->a;
    return n;
}

static enum CXChildVisitResult visit_kid(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    visit *v = data;
    node *n = node_new(v->unit, c, v->up);
    if (v->up->kind == CXCursor_GenericSelectionExpr && v->up->kids->len == 0)
        n->kind = CXCursor_UnaryExpr; /* not evaluated, as behind sizeof */
    g_ptr_array_add(v->up->kids, n);
    visit inner = {v->unit, n};
    clang_visitChildren(c, visit_kid, &inner);
    for (unsigned i = 0; i < n->kids->len && n->a == 0;
         i++) { /* ".member =" of a struct without a name has no place in libclang */
        n->a = node_kid(n, i)->a;
        n->b = node_kid(n, n->kids->len - 1)->b;
    }
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_enumerator(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (c.kind == CXCursor_EnumConstantDecl)
        g_hash_table_add(((unit *)data)->file_names, cursor_name(c));
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    unit *u = data;
    char *name = cursor_name(c);
    if (*name)
        g_hash_table_add(u->file_names, name);
    else
        g_free(name);
    if (c.kind == CXCursor_EnumDecl)
        clang_visitChildren(c, visit_enumerator, u);
    node *n = node_new(u, c, NULL);
    if (!cursor_in_system_header(c)) {
        visit inner = {u, n};
        clang_visitChildren(c, visit_kid, &inner);
    }
    g_ptr_array_add(u->tops, n);
    return CXChildVisit_Continue;
}

void unit_refuse_threads(unit *u, const char *pragma, const char *option)
{
    for (const char *p = strstr(u->original, pragma); p; p = strstr(p + 1, pragma)) {
        const unsigned at = (unsigned)(p - u->original);
        const char *what = p + strlen(pragma) + strspn(p + strlen(pragma), " \t");
        const bool harmless = g_str_has_prefix(what, "simd") || g_str_has_prefix(what, "declare simd");
        if ((at && p[-1] != '\n') || harmless ||
            clang_Location_isInSystemHeader(clang_getLocationForOffset(u->parsed.tu, u->parsed.file, at)))
            continue;
        unit_refuse(u, at, "%s %.*s: a program with threads cannot be saved: leave out %s, and this is done by one%s", pragma,
                    (int)strcspn(what, "\n"), what, option, strstr(pragma, "omp") ? "; or compile by dome-omp" : "");
    }
}

/* As libclang knows it. Wide characters are int on i386, and long for gcc; and of some functions of gcc's it has not heard: by
 * any other name they are functions that return an int. Places in the text stay the same. */
static char *text_for_clang(const char *text, gsize length)
{
    static const char *const others[][2] = {{"typedef long int wchar_t;", "typedef int      wchar_t;"},
                                            {"__builtin_add_overflow_p", "dome__in_add_overflow__p"},
                                            {"__builtin_sub_overflow_p", "dome__in_sub_overflow__p"},
                                            {"__builtin_mul_overflow_p", "dome__in_mul_overflow__p"}};
    char *copy = g_memdup2(text, length + 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++)
        for (char *at = strstr(copy, others[i][0]); at; at = strstr(at, others[i][0]))
            memcpy(at, others[i][1], strlen(others[i][1]));
    return copy;
}

static unit *unit_new(const char *path, char *text, gsize length)
{
    unit *u = g_new0(unit, 1);
    u->path = g_strdup(path);
    u->name = g_strdup(strncmp(path, "./", 2) == 0 ? path + 2 : path);
    u->original = text;
    u->length = (unsigned)length;
    u->tops = g_ptr_array_new();
    u->functions = g_ptr_array_new();
    u->edits.list = g_array_new(FALSE, FALSE, sizeof(edit));
    u->renamed = g_hash_table_new(NULL, NULL);
    u->prelude = g_string_new(NULL);
    u->tail = g_string_new(NULL);
    u->types = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned t = 0; t < TABLES; t++)
        u->tables[t] = g_ptr_array_new();
    u->literals = g_hash_table_new(g_str_hash, g_str_equal);
    u->file_names = g_hash_table_new(g_str_hash, g_str_equal);
    u->pragmas = g_array_new(FALSE, FALSE, sizeof(pragma));
    u->loops = g_hash_table_new(NULL, NULL);
    u->loop_names = g_hash_table_new(NULL, NULL);
    u->lift.lifted = g_hash_table_new(NULL, NULL);
    u->lift.hoists = g_array_new(FALSE, FALSE, sizeof(hoist));
    u->parsed.index = clang_createIndex(0, 0);
    return u;
}

static const char unit_file[] = "dome-cc-unit.i";

/* False after a message. */
static bool parse(unit *u, const char *const *arguments, int count)
{
    char *copy = text_for_clang(u->original, u->length);
    struct CXUnsavedFile file = {unit_file, copy, u->length};
    enum CXErrorCode error = clang_parseTranslationUnit2(u->parsed.index, file.Filename, arguments, count, &file, 1,
                                                         CXTranslationUnit_KeepGoing, &u->parsed.tu);
    g_free(copy);
    if (error != CXError_Success || !u->parsed.tu) {
        fprintf(stderr, "dome-cc: error: libclang cannot read %s (error %d)\n", u->path, (int)error);
        u->refused++;
        return false;
    }
    u->parsed.file = clang_getFile(u->parsed.tu, file.Filename);
    return true;
}

static void refuse_by(unit *u, CXDiagnostic d)
{
    CXString what = clang_getDiagnosticSpelling(d), name;
    unsigned line, column;
    clang_getPresumedLocation(clang_getDiagnosticLocation(d), &name, &line, &column);
    fprintf(stderr, "%s:%u:%u: error: dome-cc: not C as libclang knows it: %s\n", clang_getCString(name), line, column,
            clang_getCString(what));
    clang_disposeString(what);
    clang_disposeString(name);
    u->refused++;
}

static void refuse_errors(unit *u)
{
    unsigned n = clang_getNumDiagnostics(u->parsed.tu);
    for (unsigned i = 0; i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(u->parsed.tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error)
            refuse_by(u, d);
        clang_disposeDiagnostic(d);
    }
}

/* Text may be inserted behind the declaration before: what begins with attributes begins before its extent. */
static void find_ends(unit *u)
{
    u->ends = g_ptr_array_new();
    unsigned end = 0;
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        g_ptr_array_add(u->ends, GUINT_TO_POINTER(MIN(end, top->a)));
        bool body = top->kind == CXCursor_FunctionDecl && clang_isCursorDefinition(top->cursor);
        unsigned after = body ? top->b : text_find(u, top->b, u->length, ';') + 1;
        /* "struct s {...} x;" is two declarations, and only the second ends there */
        node *next = i + 1 < u->tops->len ? g_ptr_array_index(u->tops, i + 1) : NULL;
        if (next && next->a < after)
            after = end;
        end = MAX(end, MIN(after, u->length));
    }
}

unit *unit_read(const char *path, char *text, gsize length, const char *const *arguments, int count)
{
    unit *u = unit_new(path, text, length);
    if (!parse(u, arguments, count))
        return u;
    refuse_errors(u);
    if (u->refused)
        return u;
    pragma_find(u);
    clang_visitChildren(clang_getTranslationUnitCursor(u->parsed.tu), cursor_find_variables, NULL);
    clang_visitChildren(clang_getTranslationUnitCursor(u->parsed.tu), visit_top, u);
    find_ends(u);
    return u;
}
