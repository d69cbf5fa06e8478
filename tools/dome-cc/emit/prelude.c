/* The text that is written into each file before its own. */
#include "emit/emit.h"

#include <dome/type.h>

/* The declarations of <dome/capture.h> that the text needs, under names that no program has: its own headers may come before or
 * after. tests/dome-cc/prelude.sh compares the two. */
#define COLD "__attribute__((__cold__))" /* the compiler then takes each way to it for cold */

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

void prelude_write(GString *out)
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
