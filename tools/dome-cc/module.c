/* What a source file gets around its functions: statics and types of functions become the file's, literals get names, streams are
 * the run-time library's, and tables tell that library what there is. */
#include "cc.h"

#include <dome/type.h>

#include <string.h>

/* The declarations of <dome/capture.h> that the text needs, under names that no program has: its own headers may come before or
 * after. tests/dome-cc/prelude.sh compares the two. */
#define COLD  "__attribute__((__cold__))"   /* the compiler then takes each way to it for cold */
#define FRESH "__attribute__((__malloc__))" /* as malloc itself */
static const char prelude[] =
    "# 1 \"<dome-cc>\"\n"
    "typedef __typeof__(sizeof 0) dome__cc_bytes;\n"
    "struct dome__cc_type; struct dome__cc_member;\n"
    "struct dome__cc_type { const char *name; int kind; int scalar; dome__cc_bytes size; struct dome__cc_type *element;\n"
    "    dome__cc_bytes count; const struct dome__cc_member *members; int (*which)(const void *); void *known;\n"
    "    void (*pack)(void *, const void *, dome__cc_bytes); _Bool (*unpack)(void *, const void *, dome__cc_bytes);\n"
    "    const unsigned char *member_flags; };\n"
    "struct dome__cc_member { const char *name; struct dome__cc_type *type; dome__cc_bytes offset; };\n"
    "struct dome__cc_global { const char *name; const void *address; struct dome__cc_type *type; dome__cc_bytes count; unsigned "
    "flags; };\n"
    "struct dome__cc_code { const char *name; void (*address)(void); };\n"
    "struct dome__cc_source { const char *name; unsigned hash; };\n"
    "struct dome__cc_function { const char *name; struct dome__cc_type *saved, *memory; unsigned long long version;\n"
    "    const char *const *points; dome__cc_bytes npoints; void *known; };\n"
    "struct dome__cc_module { dome__cc_bytes size; const char *name; struct dome__cc_global *globals; dome__cc_bytes nglobals;\n"
    "    struct dome__cc_function **functions; dome__cc_bytes nfunctions; const struct dome__cc_code *codes; dome__cc_bytes "
    "ncodes;\n"
    "    struct dome__cc_type **types; dome__cc_bytes ntypes;\n"
    "    const struct dome__cc_source *sources; dome__cc_bytes nsources; };\n"
    "struct _IO_FILE;\n"
    "extern volatile int dome__cc_status __asm__(\"dome_capture_status\");\n"
    "extern int dome__cc_poll(void) __asm__(\"dome_capture_poll\") " COLD ";\n"
    "extern void *dome__cc_enter(struct dome__cc_function *) __asm__(\"dome_capture_enter\");\n"
    "extern void dome__cc_leave(struct dome__cc_function *) __asm__(\"dome_capture_leave\");\n"
    "extern void *dome__cc_push(struct dome__cc_function *, int) __asm__(\"dome_capture_push\") " COLD ";\n"
    "extern const void *dome__cc_pop(struct dome__cc_function *, int *) __asm__(\"dome_capture_pop\") " COLD ";\n"
    "extern void dome__cc_hold(void) __asm__(\"dome_capture_hold\");\n"
    "extern void dome__cc_release(void) __asm__(\"dome_capture_release\");\n"
    "extern long long dome__cc_jump_mark(void) __asm__(\"dome_capture_jump_mark\");\n"
    "extern void dome__cc_jumped(long long) __asm__(\"dome_capture_jumped\") " COLD ";\n"
    "extern void dome__cc_register(struct dome__cc_module *) __asm__(\"dome_capture_register\");\n"
    "extern int dome__cc_main(int, char **, int (*)(int, char **)) __asm__(\"dome_capture_main\");\n"
    "extern void *dome__cc_malloc(struct dome__cc_type *, dome__cc_bytes) __asm__(\"dome_capture_malloc\") " FRESH ";\n"
    "extern void *dome__cc_calloc(struct dome__cc_type *, dome__cc_bytes, dome__cc_bytes) __asm__(\"dome_capture_calloc\") " FRESH
    ";\n"
    "extern void *dome__cc_realloc(struct dome__cc_type *, void *, dome__cc_bytes) __asm__(\"dome_capture_realloc\");\n"
    "extern struct dome__cc_type *dome__cc_wanted __asm__(\"dome_capture_wanted\");\n"
    "extern void *dome__cc_malloc_wanted(dome__cc_bytes) __asm__(\"dome_capture_malloc_wanted\") " FRESH ";\n"
    "extern void *dome__cc_calloc_wanted(dome__cc_bytes, dome__cc_bytes) __asm__(\"dome_capture_calloc_wanted\") " FRESH ";\n"
    "extern void *dome__cc_realloc_wanted(void *, dome__cc_bytes) __asm__(\"dome_capture_realloc_wanted\");\n"
    "extern char *dome__cc_strdup(const char *) __asm__(\"dome_capture_strdup\") " FRESH ";\n"
    "extern char *dome__cc_strndup(const char *, dome__cc_bytes) __asm__(\"dome_capture_strndup\") " FRESH ";\n"
    "extern void dome__cc_free(void *) __asm__(\"dome_capture_free\");\n"
    "extern struct _IO_FILE *dome__cc_fopen(const char *, const char *) __asm__(\"dome_capture_fopen\");\n"
    "extern struct _IO_FILE *dome__cc_fdopen(int, const char *) __asm__(\"dome_capture_fdopen\");\n"
    "extern struct _IO_FILE *dome__cc_freopen(const char *, const char *, struct _IO_FILE *) __asm__(\"dome_capture_freopen\");\n"
    "extern int dome__cc_fclose(struct _IO_FILE *) __asm__(\"dome_capture_fclose\");\n"
    "extern __typeof__((char *)0 - (char *)0) dome__cc_getline(char **, dome__cc_bytes *, struct _IO_FILE *) "
    "__asm__(\"dome_capture_getline\");\n"
    "extern __typeof__((char *)0 - (char *)0) dome__cc_getdelim(char **, dome__cc_bytes *, int, struct _IO_FILE *) "
    "__asm__(\"dome_capture_getdelim\");\n"
    "extern int dome__cc_asprintf(char **, const char *, ...) __asm__(\"dome_capture_asprintf\");\n"
    "extern int dome__cc_vasprintf(char **, const char *, __builtin_va_list) __asm__(\"dome_capture_vasprintf\");\n"
    "extern int dome__cc_rand(void) __asm__(\"dome_capture_rand\");\n"
    "extern void dome__cc_srand(unsigned) __asm__(\"dome_capture_srand\");\n"
    "extern long dome__cc_random(void) __asm__(\"dome_capture_random\");\n"
    "extern void dome__cc_srandom(unsigned) __asm__(\"dome_capture_srandom\");\n"
    "extern double dome__cc_drand48(void) __asm__(\"dome_capture_drand48\");\n"
    "extern long dome__cc_lrand48(void) __asm__(\"dome_capture_lrand48\");\n"
    "extern long dome__cc_mrand48(void) __asm__(\"dome_capture_mrand48\");\n"
    "extern void dome__cc_srand48(long) __asm__(\"dome_capture_srand48\");\n"
    "extern char *dome__cc_strtok(char *, const char *) __asm__(\"dome_capture_strtok\");\n"
    "extern void (*dome__cc_signal(int, void (*)(int)))(int) __asm__(\"dome_capture_signal\");\n"
    "extern int dome__cc_sigaction(int, const void *, void *) __asm__(\"dome_capture_sigaction\");\n"
    "extern int dome__cc_atexit(void (*)(void)) __asm__(\"dome_capture_atexit\");\n"
    "struct tm; struct timespec;\n"
    "extern int dome__cc_ungetc(int, struct _IO_FILE *) __asm__(\"dome_capture_ungetc\");\n"
    "extern char *dome__cc_text(const char *) __asm__(\"dome_capture_text\");\n"
    "extern struct tm *dome__cc_calendar(const struct tm *) __asm__(\"dome_capture_calendar\");\n"
    "extern char *dome__cc_calendar_text(const char *) __asm__(\"dome_capture_calendar_text\");\n"
    "extern long dome__cc_clock(void) __asm__(\"dome_capture_clock\");\n"
    "extern int dome__cc_clock_gettime(int, struct timespec *) __asm__(\"dome_capture_clock_gettime\");\n"
    "extern void dome__cc_keep(unsigned) __asm__(\"dome_capture_keep\");\n";

/* Numbers in the form of the image: big-endian. The compiler knows the machine's order when it optimizes. */
static void write_conversions(GString *out)
{
    static const struct {
        int bytes;
        const char *type, *reversed;
    } all[] = {{1, "unsigned char", "v"},
               {2, "unsigned short", "__builtin_bswap16(v)"},
               {4, "unsigned int", "__builtin_bswap32(v)"},
               {8, "unsigned long long", "__builtin_bswap64(v)"}};
    static const char unused[] = "static __inline__ __attribute__((__unused__))"; /* as all that is written here: also in C89 */
    g_string_append_printf(
        out, "%s int dome__cc_little(void) { union { unsigned short s; unsigned char c[2]; } u = {1}; return u.c[0]; }\n",
        unused);
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
        g_string_append_printf(
            out,
            "%s void dome__cc_put%d(unsigned char *to, const void *from)\n"
            "{ %s v; __builtin_memcpy(&v, from, %d); if (dome__cc_little()) v = %s; __builtin_memcpy(to, &v, %d); }\n"
            "%s void dome__cc_get%d(void *to, const unsigned char *from)\n"
            "{ %s v; __builtin_memcpy(&v, from, %d); if (dome__cc_little()) v = %s; __builtin_memcpy(to, &v, %d); }\n",
            unused, all[i].bytes, all[i].type, all[i].bytes, all[i].reversed, all[i].bytes, unused, all[i].bytes, all[i].type,
            all[i].bytes, all[i].reversed, all[i].bytes);
    g_string_append_printf(out,
                           "%s void dome__cc_put(unsigned char *to, unsigned long long v) { dome__cc_put8(to, &v); }\n"
                           "%s unsigned long long dome__cc_get(const unsigned char *from) { unsigned long long v; "
                           "dome__cc_get8(&v, from); return v; }\n",
                           unused, unused);
}

/* Type descriptions: X(name, form, C type). */
#define SCALARS(X)                                                                                                               \
    X(bool, U8, "_Bool")                                                                                                         \
    X(char, U8, "char")                                                                                                          \
    X(schar, I8, "signed char")                                                                                                  \
    X(uchar, U8, "unsigned char")                                                                                                \
    X(short, I16, "short")                                                                                                       \
    X(ushort, U16, "unsigned short")                                                                                             \
    X(int, I32, "int")                                                                                                           \
    X(uint, U32, "unsigned int")                                                                                                 \
    X(long, I64, "long")                                                                                                         \
    X(ulong, U64, "unsigned long")                                                                                               \
    X(llong, I64, "long long")                                                                                                   \
    X(ullong, U64, "unsigned long long")                                                                                         \
    X(size, U64, "dome__cc_bytes")                                                                                               \
    X(ptrdiff, I64, "__typeof__((char *)0 - (char *)0)")                                                                         \
    X(float, F32, "float")                                                                                                       \
    X(double, F64, "double")                                                                                                     \
    X(fcomplex, C64, "float _Complex")                                                                                           \
    X(dcomplex, C128, "double _Complex")

static void write_prelude(GString *out)
{
    g_string_append(out, prelude);
    write_conversions(out);
#define WRITE(name, form, type)                                                                                                  \
    g_string_append_printf(out,                                                                                                  \
                           "static struct dome__cc_type dome__cc_" #name " __attribute__((__unused__)) = {\"" #name              \
                           "\", 0, %d, sizeof(" type "), 0, 0, 0, 0, 0};\n",                                                     \
                           (int)DOME_KIND_##form);
    SCALARS(WRITE)
#undef WRITE
    g_string_append_printf(
        out,
        "static struct dome__cc_type dome__cc_pointer __attribute__((__unused__)) = {\"void *\", %d, %d, sizeof(void *), "
        "0, 0, 0, 0, 0};\nstatic int dome__point __attribute__((__unused__));\n",
        (int)DOME_CAPTURE_KIND_POINTER, (int)DOME_KIND_U64);
}

/* ---- names ---- */

static char *identifier(unit *u, const char *prefix, const char *name)
{
    char *id = g_strdup_printf("dome__%s_%s", prefix, name);
    for (int k = 2; g_hash_table_contains(u->file_names, id); k++) {
        g_free(id);
        id = g_strdup_printf("dome__%s_%s_%d", prefix, name, k);
    }
    g_hash_table_add(u->file_names, id);
    return id;
}

static const char *renamed(unit *u, CXCursor d)
{
    if (cursor_is_null(d))
        return NULL;
    CXCursor definition = clang_getCursorDefinition(d);
    if (!cursor_is_null(definition))
        d = definition;
    return g_hash_table_lookup(u->renamed, GUINT_TO_POINTER(cursor_offset(d)));
}

static void rename_to(unit *u, CXCursor d, const char *name)
{
    char *old = cursor_name(d);
    unsigned at = cursor_offset(d);
    g_hash_table_insert(u->renamed, GUINT_TO_POINTER(at), g_strdup(name));
    if (strncmp(u->original + at, old, strlen(old)) == 0)
        edit_replace(u, at, at + (unsigned)strlen(old), name);
    g_free(old);
}

static bool is_record(const node *n)
{
    return (n->kind == CXCursor_StructDecl || n->kind == CXCursor_UnionDecl || n->kind == CXCursor_EnumDecl) &&
           clang_isCursorDefinition(n->cursor);
}

static void name_record(unit *u, node *n)
{
    if (!is_record(n) || !clang_Cursor_isAnonymous(n->cursor) || clang_Cursor_isAnonymousRecordDecl(n->cursor))
        return;
    if (g_hash_table_contains(u->renamed, GUINT_TO_POINTER(cursor_offset(n->cursor))))
        return; /* a variable's declaration contains its type's */
    unsigned brace = text_find(u, n->a, n->b, '{');
    char *name = g_strdup_printf("dome__anonymous_%d", ++u->counter);
    g_hash_table_insert(u->renamed, GUINT_TO_POINTER(cursor_offset(n->cursor)), name);
    char *text = g_strdup_printf(" %s {", name);
    edit_replace(u, brace, brace + 1, text);
    g_free(text);
}

/* ---- types and statics of functions ---- */

/* A name of a function's type gets the file's scope: another name, if there is one of that name. */
static void lift_name(unit *u, CXCursor c)
{
    char *name = cursor_name(c);
    if (!*name || clang_Cursor_isAnonymous(c)) {
        g_free(name);
        return;
    }
    if (g_hash_table_contains(u->file_names, name)) {
        char *other = identifier(u, "local", name);
        rename_to(u, c, other);
    } else {
        g_hash_table_add(u->file_names, g_strdup(name));
    }
    g_free(name);
}

static void lift_names(unit *u, node *n)
{
    bool named = is_record(n) || n->kind == CXCursor_TypedefDecl || n->kind == CXCursor_EnumConstantDecl;
    if (named && g_hash_table_add(u->lifted, GUINT_TO_POINTER(cursor_offset(n->cursor)))) {
        lift_name(u, n->cursor);
        name_record(u, n);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        lift_names(u, node_kid(n, i));
}

static void add_global(unit *u, CXCursor c, const char *name, const char *id, unsigned at)
{
    char *why;
    CXType t = clang_getCursorType(c), element = type_element(t, NULL);
    bool constant = clang_isConstQualifiedType(clang_getCanonicalType(element));
    char *type = type_describe(u, element, &why), *shown = cursor_name(c);
    if (!type && !constant)
        unit_refuse(u, at, "the variable %s cannot be saved: it contains %s", shown, why);
    if (type) {
        char *element_name = type_name(u, element), *e = g_strescape(name, NULL);
        g_ptr_array_add(u->globals, g_strdup_printf("{\"%s\", (const void *)&%s, &%s, sizeof(%s) / sizeof(%s), %u}", e, id, type,
                                                    id, element_name, constant | flags_before(u, cursor_begin(c))));
        g_free(e);
        g_free(element_name);
    }
    g_free(shown);
    g_free(type);
    g_free(why);
}

static bool has_label_address(const node *n)
{
    if (n->kind == CXCursor_AddrLabelExpr)
        return true;
    for (unsigned i = 0; i < n->kids->len; i++)
        if (has_label_address(node_kid(n, i)))
            return true;
    return false;
}

/* A declaration in a function: its types and statics move before the function. */
static void lift(unit *u, function *f, node *n, unsigned top)
{
    bool is_static = false, is_typedef = false, variables = false;
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (kid->kind == CXCursor_VarDecl) {
            variables = true;
            is_static = is_static || clang_Cursor_getStorageClass(kid->cursor) == CX_SC_Static;
        }
        is_typedef = is_typedef ||
                     (kid->kind == CXCursor_TypedefDecl && !type_is_variable(clang_getTypedefDeclUnderlyingType(kid->cursor)));
    }
    if (is_static &&
        has_label_address(n)) { /* a table of jumps: constant, it needs not be saved, and only the function knows it */
        for (unsigned i = 0; i < n->kids->len; i++)
            if (node_kid(n, i)->kind == CXCursor_VarDecl &&
                !clang_isConstQualifiedType(clang_getCanonicalType(type_element(node_kid(n, i)->type, NULL))))
                unit_refuse(u, n->a, "%s: a static variable with addresses of labels, which is not constant", f->name);
        return;
    }
    if (is_static || is_typedef) {
        lift_names(u, n);
        for (unsigned i = 0; i < n->kids->len; i++) {
            node *kid = node_kid(n, i);
            if (kid->kind != CXCursor_VarDecl)
                continue;
            char *name = cursor_name(kid->cursor), *both = g_strdup_printf("%s_%s", f->name, name),
                 *id = identifier(u, "static", both);
            char *shown = g_strdup_printf("%s:%s:%s%s", u->name, f->name, name, id + strlen("dome__static_") + strlen(both));
            rename_to(u, kid->cursor, id);
            add_global(u, kid->cursor, shown, id, kid->a);
            g_free(shown);
            g_free(both);
            g_free(name);
        }
        hoist h = {top, n->a, n->b, "\n", NULL};
        g_array_append_val(u->hoists, h);
        edit_replace(u, n->a, n->b, ";");
        return;
    }
    if (!variables && n->kids->len &&
        node_kid(n, 0)->kind == CXCursor_FunctionDecl) { /* it is called at the function's beginning */
        hoist h = {top, n->a, n->b, "\n", node_kid(n, 0)};
        g_array_append_val(u->hoists, h);
        edit_replace(u, n->a, n->b, ";");
        return;
    }
    for (unsigned i = 0; i < n->kids->len; i++) {
        node *kid = node_kid(n, i);
        if (!is_record(kid))
            continue;
        lift_names(u, kid);
        hoist h = {top, kid->a, kid->b, ";\n", NULL};
        g_array_append_val(u->hoists, h);
        const char *word = kid->kind == CXCursor_StructDecl ? "struct" : kid->kind == CXCursor_UnionDecl ? "union" : "enum";
        const char *other = renamed(u, kid->cursor);
        char *name = cursor_name(kid->cursor);
        char *text = variables ? g_strdup_printf("%s %s", word, other ? other : name) : g_strdup("");
        edit_replace(u, kid->a, kid->b, text);
        g_free(text);
        g_free(name);
    }
}

/* "static struct pair { int a, b; } both(int n)": the struct moves before what is written before the function. */
static void lift_result(unit *u, node *before, const function *f, unsigned top)
{
    if (!is_record(before) || before->a < f->decl->a || before->b > cursor_offset(f->decl->cursor))
        return;
    const char *word = before->kind == CXCursor_StructDecl ? "struct" : before->kind == CXCursor_UnionDecl ? "union" : "enum";
    const char *other = renamed(u, before->cursor);
    char *name = cursor_name(before->cursor), *text = g_strdup_printf("%s %s", word, other ? other : name);
    hoist h = {top, before->a, before->b, ";\n", NULL};
    g_array_append_val(u->hoists, h);
    edit_replace(u, before->a, before->b, text);
    g_free(text);
    g_free(name);
}

/* ---- literals ---- */

bool is_foreign(program *p, unit *u, CXCursor d)
{
    char *key = function_key(u, d);
    bool known = g_hash_table_contains(p->functions, key);
    g_free(key);
    return !known;
}

/* Declared as one that returns a char: configure scripts look so whether a function is there. None of the C library's does. */
bool is_looked_for(CXCursor d)
{
    return clang_getCanonicalType(clang_getCursorResultType(d)).kind == CXType_Char_S ||
           clang_getCanonicalType(clang_getCursorResultType(d)).kind == CXType_Char_U;
}

/* The name of the function around a node, as a literal. */
static char *quoted_name(const node *n)
{
    while (n->up && n->kind != CXCursor_FunctionDecl)
        n = n->up;
    char *name = cursor_name(n->cursor), *quoted = g_strdup_printf("\"%s\"", name);
    g_free(name);
    return quoted;
}

static void name_literal(program *p, unit *u, node *n)
{
    const char *t = u->original + n->a;
    const bool function_name = *t == '_'; /* __func__ */
    if (*t != '"' && !function_name && !strchr("LuU", *t))
        return;
    node *decay = function_name ? n->up->up : n->up;
    while (decay && (decay->kind == CXCursor_ParenExpr || decay->kind == CXCursor_GenericSelectionExpr))
        decay = decay->up;
    if (!decay || decay->kind != CXCursor_UnexposedExpr || !type_is_pointer(decay->type))
        return; /* an array's initial value, or sizeof */
    node *user = node_bare_up(n);
    if (user && user->kind == CXCursor_CallExpr) {
        CXCursor d = call_function(user);
        if (!cursor_is_null(d) && is_foreign(p, u, d) && !type_is_pointer(user->type))
            return; /* printf: nobody keeps the pointer */
    }
    char *text = function_name ? quoted_name(n) : text_flat(u, n->a, n->b), *id = g_hash_table_lookup(u->literals, text);
    const char *type = *t == 'L'                  ? "__typeof__(*L\"\")"
                       : *t == 'U'                ? "__typeof__(*U\"\")"
                       : *t == 'u' && t[1] != '8' ? "__typeof__(*u\"\")"
                                                  : "char";
    if (!id) {
        unsigned number = g_hash_table_size(u->literals) + 1;
        id = g_strdup_printf("dome__literal_%u", number);
        g_hash_table_insert(u->literals, g_strdup(text), id);
        g_string_append_printf(u->prelude, "static const %s %s[] = %s;\n", type, id, text);
        const char *described = *t == 'L' || *t == 'U'     ? "dome__cc_int"
                                : *t == 'u' && t[1] != '8' ? "dome__cc_ushort"
                                                           : "dome__cc_char";
        char *e = g_strescape(u->name, NULL);
        g_ptr_array_add(u->globals, g_strdup_printf("{\"%s:literal %u\", %s, &%s, sizeof(%s) / sizeof(%s), 1}", e, number, id,
                                                    described, id, type));
        g_free(e);
    }
    char *use = g_strdup_printf("((%s *)%s)", type, id);
    edit_replace(u, n->a, n->b, use);
    g_free(use);
    g_free(text);
}

bool in_list(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* A union among the members of a struct: the pragma before it has been found. */
static void use_pragma(unit *u, node *n)
{
    pragma *mine = pragma_before(u, n->a, PRAGMA_UNION);
    if (mine && n->up && (n->up->kind == CXCursor_StructDecl || n->up->kind == CXCursor_UnionDecl))
        mine->used = true;
}

/* ---- calls of what is not translated ---- */

static bool argument_polls(program *p, unit *u, node *n)
{
    node *bare = node_bare(n);
    while (bare->kind == CXCursor_CStyleCastExpr && bare->kids->len)
        bare = node_bare(node_kid(bare, bare->kids->len - 1));
    if (bare->kind == CXCursor_UnaryOperator && u->original[bare->a] == '&')
        bare = node_bare(node_kid(bare, 0));
    if (bare->kind == CXCursor_DeclRefExpr && node_declaration(bare).kind == CXCursor_FunctionDecl) {
        char *key = function_key(u, node_declaration(bare));
        function *g = g_hash_table_lookup(p->functions, key);
        g_free(key);
        return g && g->polls;
    }
    if (!type_is_pointer(n->type) || !type_is_function(type_pointee(n->type)))
        return false;
    char *type = type_key(n->type);
    GHashTableIter iter;
    gpointer key, value;
    bool polls = false;
    g_hash_table_iter_init(&iter, p->addressed);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        function *g = g_hash_table_lookup(p->functions, key);
        polls = polls || (g && g->polls && (!*(char *)value || strcmp(type, value) == 0));
    }
    g_free(type);
    return polls;
}

static const char *const never[] = {"setjmp",      "_setjmp",        "sigsetjmp",        "__sigsetjmp",
                                    "longjmp",     "siglongjmp",     "_longjmp",         "fork",
                                    "vfork",       "pthread_create", "thrd_create",      "clone",
                                    "makecontext", "swapcontext",    "__builtin_setjmp", "__builtin_longjmp",
                                    NULL};

static const char *const jumps[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", NULL};

/* Whether a pointer to functions may lead to one that is not translated. */
static bool reaches_foreign(program *p, CXType pointer)
{
    bool any = clang_getCanonicalType(type_pointee(pointer)).kind == CXType_FunctionNoProto, found = false;
    char *type = type_key(pointer);
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, p->addressed);
    while (g_hash_table_iter_next(&iter, &key, &value))
        if (!g_hash_table_contains(p->functions, key))
            found = found || any || !*(char *)value || strcmp(type, value) == 0;
    g_free(type);
    return found;
}

static void edit_call(program *p, unit *u, function *f, node *n, unsigned depth)
{
    static const char *const other_heap[] = {"aligned_alloc", "posix_memalign", "memalign", "valloc", "pvalloc", NULL};
    static const char *const later[] = {"signal", "bsd_signal", "sigset", "atexit", "on_exit", "at_quick_exit", NULL};
    CXCursor d = call_function(n);
    bool hold = f && f->held && call_polls(p, u, n) && !parallel_is_operation(p, u, n);
    if (hold)
        hold_call(u, n, depth, p->parallel ? f->name : NULL);
    heap_call(p, u, f, n, depth + 1); /* inside of the hold */
    if (!cursor_is_null(d) && !is_foreign(p, u, d))
        return;
    char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
    if (jump_is_set(n))
        jump_call(p, u, f, n, depth);
    else if (in_list(name, never) && !in_list(name, jumps))
        unit_refuse(u, n->a, "%s: what it does to the stack or to the process cannot be saved", name);
    library_lends(p, u, n, name, depth);
    if (in_list(name, other_heap))
        unit_refuse(u, n->a, "%s: blocks with an alignment of their own cannot be saved: use malloc", name);
    if (strcmp(name, "reallocarray") == 0)
        unit_refuse(u, n->a, "reallocarray: the block would have no type: use realloc, with the product of the two numbers");
    bool polls = false;
    for (unsigned i = 1; i < n->kids->len; i++)
        polls = polls || argument_polls(p, u, node_kid(n, i));
    if (cursor_is_null(d)) {
        if (polls && call_callee(n) && reaches_foreign(p, call_callee(n)->type))
            unit_refuse(
                u, n->a,
                "a function that may poll, for a call by a pointer that may lead to a function that is not translated: call "
                "that by its name");
        polls = false;
    }
    if (polls && in_list(name, later)) {
        unit_refuse(u, n->a,
                    "%s: the function that it gets may poll, and would be called at any time: put #pragma dome nopoll before its "
                    "loops",
                    name);
    } else if (polls && !hold) {
        hold_call(u, n, depth, p->parallel ? name : NULL);
    }
    g_free(name);
}

/* ---- */

/* Of n, which a system's struct gets: the member or the struct is declared in a system header (struct sigaction). */
static bool goes_into_foreign_struct(unit *u, node *n)
{
    node *up = n->up, *from = n;
    while (up && (up->kind == CXCursor_UnexposedExpr || up->kind == CXCursor_ParenExpr || up->kind == CXCursor_CStyleCastExpr ||
                  up->kind == CXCursor_ConditionalOperator || up->kind == CXCursor_UnaryOperator)) {
        from = up;
        up = up->up;
    }
    if (up && up->kind == CXCursor_BinaryOperator && node_kid(up, 1) == from) {
        char *o = node_operator(u, up);
        node *to = strcmp(o, "=") == 0 ? node_bare(node_kid(up, 0)) : NULL;
        g_free(o);
        return to && to->kind == CXCursor_MemberRefExpr && cursor_in_system_header(node_declaration(to));
    }
    for (; up && (up->kind == CXCursor_InitListExpr || up->kind == CXCursor_UnexposedExpr); up = up->up)
        if (type_is_record(up->type) && cursor_in_system_header(clang_getTypeDeclaration(clang_getCanonicalType(up->type))))
            return true;
    return false;
}

/* Whether a function that is not translated gets the value of n, as an argument or in a struct of the system. */
static bool goes_to_foreign(program *p, unit *u, node *n)
{
    node *user = node_bare_up(n);
    while (user && (user->kind == CXCursor_CStyleCastExpr || user->kind == CXCursor_UnaryOperator))
        user = node_bare_up(user);
    CXCursor d = user && user->kind == CXCursor_CallExpr ? call_function(user) : clang_getNullCursor();
    return (!cursor_is_null(d) && is_foreign(p, u, d)) || goes_into_foreign_struct(u, n);
}

static void edit_reference(program *p, unit *u, node *n)
{
    static const char *const ours[] = {"free",    "strdup",    "strndup", "fopen",    "fdopen",   "freopen",   "fclose",
                                       "rand",    "srand",     "random",  "srandom",  "drand48",  "lrand48",   "mrand48",
                                       "srand48", "strtok",    "getline", "getdelim", "asprintf", "vasprintf", "atexit",
                                       "signal",  "sigaction", "ungetc",  NULL};
    static const char *const clocks[] = {"clock", "clock_gettime", NULL};
    static const char *const states[] = {"initstate", "setstate", "seed48", "lcong48", NULL};
    CXCursor d = node_declaration(n);
    const char *other = d.kind == CXCursor_VarDecl || d.kind == CXCursor_EnumConstantDecl ? renamed(u, d) : NULL;
    if (other)
        edit_replace(u, n->a, n->b, other);
    char *name = cursor_name(d);
    if (cursor_in_system_header(d))
        u->keeps |= library_keeps(p, name);
    if (d.kind == CXCursor_VarDecl && cursor_in_system_header(d) && clang_Cursor_getStorageClass(d) == CX_SC_Extern)
        library_variable(u, n, d);
    if (d.kind != CXCursor_FunctionDecl) {
        g_free(name);
        return;
    }
    node *up = node_bare_up(n);
    bool called = up && up->kind == CXCursor_CallExpr && node_bare(call_callee(up)) == n;
    const char *other_function = parallel_instead(p, name);
    if (other_function && !called)
        unit_refuse(u, n->a, "the address of %s: call it by its name", name);
    const char *allocator = called ? NULL : heap_address(p, u, n, goes_to_foreign(p, u, n));
    if (u->main && strcmp(name, "main") == 0) {
        edit_replace(u, n->a, n->b, "dome__main");
    } else if (other_function) {
        edit_replace(u, n->a, n->b, other_function);
    } else if (is_foreign(p, u, d)) {
        bool our = in_list(name, ours) && !is_looked_for(d);
        our = our || (called && !p->parallel && in_list(name, clocks) && !is_looked_for(d) &&
                      (strcmp(name, "clock") == 0 || !library_has_long_times(up)));
        char *id = our ? g_strdup_printf("dome__cc_%s", name) : g_strdup(allocator ? allocator : name);
        if (our || allocator)
            edit_replace(u, n->a, n->b, id);
        if (in_list(name, states))
            unit_refuse(u, n->a, "%s: what the C library keeps for it cannot be saved: use srandom or srand48", name);
        if (!called && in_list(name, never))
            unit_refuse(u, n->a, "the address of %s: what it does to the stack or to the process cannot be saved", name);
        if (!called && !g_hash_table_contains(p->code_names, name)) {
            g_hash_table_add(p->code_names, g_strdup(name));
            g_ptr_array_add(u->codes, g_strdup_printf("{\"%s\", (void (*)(void))%s}", name, id));
        }
        g_free(id);
    }
    g_free(name);
}

/* Whether a pointer to n lives longer than a call that cannot poll. */
static bool is_passed_on(program *p, unit *u, node *n)
{
    node *user = node_bare_up(n);
    while (user && user->kind != CXCursor_CallExpr && node_is_expression(user))
        user = user->up;
    return !(user && user->kind == CXCursor_CallExpr && (!call_polls(p, u, user) || parallel_is_operation(p, u, user)) &&
             (!type_is_pointer(user->type) || parallel_calls_dome(p, user)));
}

/* An object without a name lives as long as its block: a function that polls cannot give it back. */
static void check_compound_literal(program *p, unit *u, function *f, node *n)
{
    node *part = n, *up = node_bare_up(n); /* or of a member, or of an element */
    bool address = false;
    for (;;) {
        for (node *at = part->up; at && (at->kind == CXCursor_UnexposedExpr || at->kind == CXCursor_ParenExpr); at = at->up)
            address = address || (type_is_array(part->type) && type_is_pointer(at->type));
        const bool element = up && up->kind == CXCursor_ArraySubscriptExpr && type_is_array(part->type);
        if (!up || !(element || (up->kind == CXCursor_MemberRefExpr && type_is_record(part->type))))
            break;
        address = address && !element; /* read at once */
        part = up;
        up = node_bare_up(part);
    }
    address = address || (up && up->kind == CXCursor_UnaryOperator && u->original[up->a] == '&');
    if (!address)
        return;
    if (!f) {
        unit_refuse(u, n->a, "the address of an object without a name: give it one");
        return;
    }
    if (!f->polls)
        return;
    if (!is_passed_on(p, u, n))
        return;
    unit_refuse(u, n->a, "%s: the address of an object without a name, and the function may poll: give it a name", f->name);
}

/* f().array[i] is read at once; but as a pointer, f().array leads to what is gone when the function is entered again. */
static void check_array_of_result(program *p, unit *u, function *f, node *n)
{
    if (!f || !f->polls || !type_is_array(n->type) || !n->up || n->up->kind != CXCursor_UnexposedExpr)
        return;
    node *base = node_bare(node_kid(n, 0)), *user = node_bare_up(n);
    while (base && base->kind == CXCursor_MemberRefExpr && type_is_record(base->type) && node_kid(base, 0) &&
           type_is_record(node_kid(base, 0)->type))
        base = node_bare(node_kid(base, 0));
    bool result = base && type_is_record(base->type) &&
                  (base->kind == CXCursor_CallExpr || base->kind == CXCursor_StmtExpr ||
                   base->kind == CXCursor_ConditionalOperator || base->kind == CXCursor_BinaryOperator);
    if (!result || (user && user->kind == CXCursor_ArraySubscriptExpr) || !is_passed_on(p, u, n))
        return;
    unit_refuse(u, n->a, "%s: a pointer to an array in the result of a call, and the function may poll: give the result a name",
                f->name);
}

/* Attributes by which the compiler or the loader would take a function that may poll for what it is not: it may return early,
 * with no result, and its calls can neither be left out nor moved. Those that can be left out are (drop_promises). */
static void check_attributes(program *p, unit *u, node *n, unsigned top)
{
    static const char *const bad[] = {"destructor", "returns_twice", "naked", "unsequenced", "reproducible"};
    static const char *const names[] = {"alias", "weakref", "ifunc", "__asm__", "asm", "__asm"};
    bool body = clang_isCursorDefinition(n->cursor) && n->kids->len;
    node *block = body ? node_kid(n, n->kids->len - 1) : NULL;
    unsigned a = GPOINTER_TO_UINT(g_ptr_array_index(u->ends, top));
    unsigned end = block && block->kind == CXCursor_CompoundStmt ? block->a : text_find(u, n->b, u->length, ';');
    if (a >= end)
        return;
    char *text = text_flat(u, a, end), *key = function_key(u, n->cursor);
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
    const bool begins = in_list(word, (const char *const[]){"__attribute__", "__attribute", NULL});
    g_free(word);
    const unsigned open = begins ? text_skip(u, at + length) : at;
    return begins && u->original[open] == '(' ? text_close(u, open) : at;
}

/* A function that may poll returns while it is saved, and each of its calls counts: the compiler must not know otherwise. */
static void drop_promises(program *p, unit *u, node *n, unsigned top)
{
    static const char *const words[] = {"noreturn", "__noreturn__", "_Noreturn", NULL};
    static const char *const of_attributes[] = {"pure", "__pure__", "const", "__const__", NULL};
    char *key = function_key(u, n->cursor);
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
        if (length && (in_list(word, words) || (at < inside && in_list(word, of_attributes))))
            edit_replace(u, at, at + length, strcmp(word, "_Noreturn") == 0 ? "" : "__unused__");
        g_free(word);
        if (*t == '{')
            break;
        at = length ? at + length : text_skip(u, at) > at ? text_skip(u, at) : at + 1;
    }
}

static void walk(program *p, unit *u, function *f, node *n, unsigned top, unsigned depth)
{
    if (n->kind == CXCursor_DeclStmt && f)
        lift(u, f, n, top);
    else if (!(n->up && n->up->kind == CXCursor_DeclStmt && f && is_record(n)))
        name_record(u, n);
    switch ((int)n->kind) {
    case CXCursor_TypeRef: {
        CXCursor d = node_declaration(n);
        const char *other = renamed(u, d);
        char *name = cursor_name(d);
        if (other && *name && !clang_Cursor_isAnonymous(d)) {
            unsigned length = (unsigned)strlen(name);
            if (n->b - n->a >= length && strncmp(u->original + n->b - length, name, length) == 0)
                edit_replace(u, n->b - length, n->b, other);
        }
        g_free(name);
        break;
    }
    case CXCursor_StringLiteral:
        name_literal(p, u, n);
        return;
    case CXCursor_DeclRefExpr:
        edit_reference(p, u, n);
        if (node_declaration(n).kind == CXCursor_FunctionDecl && argument_polls(p, u, n) && goes_into_foreign_struct(u, n)) {
            char *name = cursor_name(node_declaration(n));
            unit_refuse(u, n->a,
                        "%s may poll, and the system would call it at any time: put #pragma dome nopoll before its loops", name);
            g_free(name);
        }
        break;
    case CXCursor_CallExpr:
        edit_call(p, u, f, n, depth);
        if (f && f->polls) {
            CXCursor d = call_function(n);
            char *name = cursor_is_null(d) ? g_strdup("") : cursor_name(d);
            if (strcmp(name, "alloca") == 0 || g_str_has_prefix(name, "__builtin_alloca"))
                unit_refuse(u, n->a, "%s: alloca, and the function may poll", f->name);
            g_free(name);
        }
        break;
    case CXCursor_MemberRefExpr:
        check_array_of_result(p, u, f, n);
        break;
    case CXCursor_CompoundLiteralExpr:
        check_compound_literal(p, u, f, n);
        break;
    case CXCursor_CStyleCastExpr:
        addresses_look(p, u, f, n);
        break;
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl:
        flags_before(u, n->a);
        break;
    case CXCursor_FieldDecl:
    case CXCursor_UnionDecl:
        flags_before(u, n->a);
        use_pragma(u, n);
        break;
    case CXCursor_FunctionDecl:
        if (!n->up) {
            check_attributes(p, u, n, top);
            drop_promises(p, u, n, top);
        }
        if (f && n != f->decl && clang_isCursorDefinition(n->cursor))
            unit_refuse(u, n->a, "a function inside of a function");
        break;
    default:
        break;
    }
    jump_check_copy(u, n);
    if (n->kind == CXCursor_VarDecl && clang_getCursorTLSKind(n->cursor) != CXTLS_None) {
        char *name = cursor_name(n->cursor);
        unit_refuse(u, n->a, "the variable %s belongs to a thread", name);
        g_free(name);
    }
    for (unsigned i = 0; i < n->kids->len; i++)
        walk(p, u, f, node_kid(n, i), top, depth + 2);
}

static void edit_main(unit *u)
{
    function *f = u->main;
    int n = clang_Cursor_getNumArguments(f->decl->cursor);
    if (clang_getCanonicalType(clang_getResultType(f->decl->type)).kind != CXType_Int || (n != 0 && n != 2)) {
        unit_refuse(u, f->decl->a, "main: it must be int main(void) or int main(int argc, char **argv)");
        return;
    }
    unsigned at = cursor_offset(f->decl->cursor);
    edit_replace(u, at, at + 4, "dome__main");
    if (n == 0) {
        unsigned open = text_find(u, at, f->body->a, '(');
        edit_replace(u, open, text_close(u, open) + 1, "(int dome__argc, char **dome__argv)");
    }
}

/* Pragmas that stand before nothing. */
static void refuse_unused(unit *u)
{
    static const char *const missing[] = {[PRAGMA_UNION] = "union: no union that is a member of a struct follows",
                                          [PRAGMA_ALLOCATES] = "allocates: no function follows",
                                          [PRAGMA_HOLD] = "hold: no definition of a function follows",
                                          [PRAGMA_NUMBERS] = "numbers: no variable or member follows, and nothing is allocated",
                                          [PRAGMA_DANGLING] = "dangling: no variable or member follows"};
    for (unsigned i = 0; i < u->pragmas->len; i++) {
        const pragma *one = &g_array_index(u->pragmas, pragma, i);
        if (missing[one->kind] && !one->used)
            unit_refuse(u, one->at, "#pragma dome %s", missing[one->kind]);
    }
}

void module_edit(program *p, unit *u)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    unsigned next = 0;
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        if (cursor_in_system_header(top->cursor))
            continue;
        function *f = NULL;
        if (next < u->functions->len && ((function *)g_ptr_array_index(u->functions, next))->decl == top)
            f = g_ptr_array_index(u->functions, next++);
        walk(p, u, f, top, i, 1);
        if (f && i > 0)
            lift_result(u, g_ptr_array_index(u->tops, i - 1), f, i);
    }
    for (unsigned i = 0; i < u->tops->len; i++) {
        node *top = g_ptr_array_index(u->tops, i);
        if (top->kind != CXCursor_VarDecl || cursor_in_system_header(top->cursor))
            continue;
        bool external = clang_Cursor_getStorageClass(top->cursor) == CX_SC_Extern &&
                        cursor_is_null(clang_Cursor_getVarDeclInitializer(top->cursor));
        char *name = cursor_name(top->cursor);
        if (external || !g_hash_table_add(seen, name))
            continue;
        bool local = clang_getCursorLinkage(top->cursor) == CXLinkage_Internal;
        char *shown = local ? g_strdup_printf("%s:%s", u->name, name) : g_strdup(name);
        add_global(u, top->cursor, shown, name, top->a);
        g_free(shown);
    }
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        if (g_hash_table_contains(p->addressed, f->key)) {
            char *e = g_strescape(f->key, NULL);
            g_ptr_array_add(u->codes, g_strdup_printf("{\"%s\", (void (*)(void))%s}", e, f == u->main ? "dome__main" : f->name));
            g_free(e);
        }
    }
    refuse_unused(u);
    if (u->main)
        edit_main(u);
}

static void write_table(GString *out, GPtrArray *list, const char *begin, const char *before)
{
    if (!list->len)
        return;
    g_string_append_printf(out, "%s = {\n", begin);
    for (unsigned i = 0; i < list->len; i++)
        g_string_append_printf(out, "    %s%s,\n", before, (char *)g_ptr_array_index(list, i));
    g_string_append(out, "};\n");
}

/* Where a function is declared first: its twin. */
static void declare_twin(program *p, unit *u, node *declaration, unsigned end, GString *out)
{
    char *key = function_key(u, declaration->cursor);
    function *f = g_hash_table_lookup(p->functions, key);
    g_free(key);
    if (!f || f->unit != u || !(f->twin || f->split) || f->told)
        return;
    char *twin = write_twin_declaration(u, declaration, f->decl == declaration ? f->body->a : end);
    g_string_append(out, twin);
    g_free(twin);
    f->told = true;
}

/* The whole file as the compiler gets it. */
char *module_write(program *p, unit *u)
{
    summary_mark_twins(p, u);
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        if (f->polls)
            write_function(p, f);
    }
    addresses_resolve(u);
    for (unsigned i = 0; i < u->functions->len; i++) {
        function *f = g_ptr_array_index(u->functions, i);
        if (f->twin && !f->polls) {
            char *twin = write_plain_twin(f);
            edit_around(u, f->body->b, f->body->b, 0, "", twin);
            g_free(twin);
        }
    }
    if (u->refused)
        return NULL;
    /* before each function: what it needs at the file's scope */
    unsigned next = 0;
    for (unsigned i = 0; i < u->tops->len; i++) {
        GString *before = g_string_new(NULL);
        for (unsigned k = 0; k < u->hoists->len; k++) {
            const hoist *h = &g_array_index(u->hoists, hoist, k);
            edit except = {h->a, h->b, EDIT_REPLACE, 0, NULL};
            if (h->top != i)
                continue;
            char *file;
            unsigned line;
            unit_place(u, h->a, &file, &line);
            g_string_append_printf(before, "\n# %u \"%s\"\n", line, file);
            edit_range(u, h->a, h->b, &except, before);
            g_string_append(before, h->after);
            if (h->function)
                declare_twin(p, u, h->function, text_find(u, h->function->b, u->length, ';'), before);
            g_free(file);
        }
        if (next < u->functions->len &&
            ((function *)g_ptr_array_index(u->functions, next))->decl == g_ptr_array_index(u->tops, i)) {
            function *f = g_ptr_array_index(u->functions, next++);
            if (f->out)
                g_string_append_printf(before, "\n# 1 \"<dome-cc>\"\n%s", f->out->str);
        }
        node *top = g_ptr_array_index(u->tops, i);
        if (top->kind == CXCursor_FunctionDecl)
            declare_twin(p, u, top, text_find(u, top->b, u->length, ';'), before);
        if (before->len) {
            unsigned at = GPOINTER_TO_UINT(g_ptr_array_index(u->ends, i)), line;
            char *file;
            unit_place(u, at, &file, &line);
            g_string_append_printf(before, "\n# %u \"%s\"\n", line, file);
            edit_around(u, at, at, 0, before->str, "");
            g_free(file);
        }
        g_string_free(before, TRUE);
    }
    GString *out = g_string_new(NULL);
    char *path = g_strescape(u->path, NULL);
    g_string_append_printf(out, "# 1 \"%s\"\n", path); /* the object's file, which the linker names */
    g_free(path);
    write_prelude(out);
    g_string_append(out, parallel_prelude(p));
    g_string_append(out, u->prelude->str);
    edit_range(u, 0, u->length, NULL, out);
    g_string_append_printf(out, "\n# 1 \"<dome-cc>\"\n%s", u->tail->str);
    write_table(out, u->globals, "static struct dome__cc_global dome__globals[]", "");
    write_table(out, u->descriptors, "static struct dome__cc_function *dome__functions[]", "");
    write_table(out, u->codes, "static const struct dome__cc_code dome__codes[]", "");
    write_table(out, u->heap_types, "static struct dome__cc_type *dome__heap_types[]", "&");
    source_write(u, out);
    char *e = g_strescape(u->name, NULL);
    g_string_append_printf(out, "static struct dome__cc_module dome__module = {sizeof(struct dome__cc_module), \"%s\"", e);
    const struct {
        GPtrArray *list;
        const char *name;
    } tables[] = {{u->globals, "dome__globals"},
                  {u->descriptors, "dome__functions"},
                  {u->codes, "dome__codes"},
                  {u->heap_types, "dome__heap_types"},
                  {u->sources, "dome__sources"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++)
        g_string_append_printf(out, ", %s, %u", tables[i].list->len ? tables[i].name : "0", tables[i].list->len);
    g_string_append(out,
                    "};\n__attribute__((__constructor__)) static void dome__enlist(void) { dome__cc_register(&dome__module); ");
    if (u->keeps)
        g_string_append_printf(out, "dome__cc_keep(%u); ", u->keeps);
    g_string_append(out, "}\n");
    if (u->main)
        g_string_append_printf(
            out,
            "int main(int dome__argc, char **dome__argv) { %sreturn dome__cc_%smain(dome__argc, dome__argv, dome__main); }\n",
            p->between ? "dome__cc_poll_operations(); " : "", p->parallel ? "dome_" : "");
    g_free(e);
    char **parts = g_strsplit(out->str, TWIN_MARK, -1), *text = g_strjoinv(NULL, parts);
    g_strfreev(parts);
    g_string_free(out, TRUE);
    return text;
}
