/* State that the C library keeps for a program, and results that it lends: src/capture saves them. */
#include "plan/plan.h"

#include <string.h>

/* State that the C library keeps for the program between calls: a line for each DOME_CAPTURE_KEEP_..., in the order of its bits.
 */
static unsigned kept_by(const char *name)
{
    static const char *const names[][24] = {{"rand", "srand", "random", "srandom"},
                                            {"drand48", "lrand48", "mrand48", "srand48"},
                                            {"strtok"},
                                            {"getopt", "getopt_long", "getopt_long_only", "optind", "optarg", "opterr", "optopt"},
                                            {"__errno_location"},
                                            {"atexit"},
                                            {"signal", "sigaction"},
                                            {"setlocale"},
                                            {"umask"},
                                            {"sigprocmask", "pthread_sigmask"},
                                            {"getenv", "secure_getenv", "strerror", "strsignal", "setlocale", "nl_langinfo"},
                                            {"gmtime", "localtime", "asctime", "ctime"},
                                            {"clock", "clock_gettime"},
                                            {"fesetround", "fegetround", "feraiseexcept", "fetestexcept", "feclearexcept",
                                             "fesetenv", "fegetenv", "feholdexcept", "feupdateenv", "fesetexceptflag",
                                             "feenableexcept", "fedisableexcept"}};
    _Static_assert(1u << (G_N_ELEMENTS(names) - 1) == DOME_CAPTURE_KEEP_FLOATING, "a line for each bit");
    for (unsigned k = 0; k < G_N_ELEMENTS(names); k++)
        if (text_in_list(name, names[k]))
            return 1u << k;
    return 0;
}

/* setlocale keeps the locale, and lends a text. Tasks of a Dome program have clocks and texts of their own, which would bind the
 * program to their number. */
unsigned libc_keeps(const program *p, const char *name)
{
    unsigned kept = kept_by(name);
    if (strcmp(name, "setlocale") == 0)
        kept |= DOME_CAPTURE_KEEP_TEXTS;
    return p->parallel ? kept & ~(DOME_CAPTURE_KEEP_TEXTS | DOME_CAPTURE_KEEP_CLOCKS) : kept;
}

/* Results that the C library lends are copied where a call returns them. */
void libc_lends(const program *p, unit *u, node *n, const char *name, unsigned depth)
{
    static const char *const texts[] = {"getenv", "secure_getenv", "strerror", "strsignal", "setlocale", "nl_langinfo", NULL};
    static const char *const times[] = {"gmtime", "localtime", NULL}, *const time_texts[] = {"asctime", "ctime", NULL};
    const char *copy = text_in_list(name, texts) && !p->parallel ? "dome__cc_text("
                       : text_in_list(name, times)               ? "dome__cc_calendar("
                       : text_in_list(name, time_texts)          ? "dome__cc_calendar_text("
                                                                 : NULL;
    if (copy && ctype_is_pointer(n->type))
        edit_around(u, n->a, n->b, depth, copy, ")");
}

/* A variable of a library, of which the program keeps the address: it is known by its name, and not saved. */
void libc_variable(unit *u, node *n, CXCursor d)
{
    node *up = n->up;
    while (up && (up->kind == CXCursor_ParenExpr || up->kind == CXCursor_UnexposedExpr))
        up = up->up;
    const bool taken = ctype_is_array(n->type) || (up && up->kind == CXCursor_UnaryOperator && u->original[up->a] == '&');
    char *why = NULL, *name = cursor_name(d), *key = g_strdup_printf("foreign %s", name);
    CXType t = clang_getCursorType(d), element = ctype_element(t, NULL);
    char *type = taken && clang_Type_getSizeOf(t) > 0 && !g_hash_table_contains(u->file_names, key)
                     ? describe_type(u, element, &why)
                     : NULL;
    if (type) {
        char *of = ctype_name(u, element);
        g_hash_table_add(u->file_names, g_strdup(key));
        g_ptr_array_add(u->tables[TABLE_GLOBALS], g_strdup_printf("{\"%s\", (const void *)&%s, &%s, sizeof(%s) / sizeof(%s), 1}",
                                                                  name, name, type, name, of));
        g_free(of);
    }
    g_free(type);
    g_free(why);
    g_free(key);
    g_free(name);
}

/* time_t is longer than a long: the library's functions have the shorter one. */
bool libc_has_long_times(const node *call)
{
    node *time = node_kid(call, call->kids->len - 1);
    return !time || !ctype_is_pointer(time->type) ||
           clang_Type_getSizeOf(ctype_pointee(time->type)) != 2 * clang_Type_getSizeOf(time->type);
}
