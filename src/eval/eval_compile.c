#include "eval/eval_compile.h"

#include "core/operation.h"
#include "kernels/code_cache.h"
#include "kernels/compiler.h"
#include "kernels/elementwise.h"
#include "system/say.h"
#include "system/thread.h"
#include "system/unconst.h"

#include <dome/dome.h>

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Code is generated for a chain when it has run this many times and over enough values: about a tenth of a second's work, which
 * is the time that compiling takes. */
enum { RUNS_BEFORE = 3 };
static const double WORK_BEFORE = 5e7;

/* A program with more different chains than this does not run the same chains repeatedly. */
enum { CHAINS_MAX = 512, PRINTED = 8 };

/* State of the code of a chain. From WANTED on written by the thread. */
enum { NEW, WANTED, READY, NEVER };

struct dome_chain {
    chain_program program;
    uint64_t runs, generated, values;
    double work;
    int state;
    bool checked;
    chain_code code;
};

struct dome_chains {
    GHashTable *table;         /* chain_program * -> dome_chain * */
    bool now, speaks, told[2]; /* told: by kind of message */
    pid_t owner;               /* the process that began to generate code; 0: none. A process forked from it does not have the
                                * thread */
    GThread *thread;
    GAsyncQueue *queue;
    /* the thread's */
    dome_compiler compiler;
    dome_code_cache cache;
    bool opened;
};

/* Messages to the user, each printed once. */
typedef enum tell { NOT_KEPT, NO_CODE } tell;

G_STATIC_ASSERT(DOME_ELEMENTWISE_NUMBERS <= UINT8_MAX); /* chain_step.number */

/* ---- the table ---- */

static size_t key_bytes(const chain_program *p)
{
    return offsetof(chain_program, step) + p->steps * sizeof(chain_step);
}

static guint key_hash(gconstpointer key)
{
    const unsigned char *at = key;
    uint64_t hash = 0;
    for (size_t bytes = key_bytes(key), i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return (guint)(hash ^ hash >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const chain_program *p = a, *q = b;
    return p->steps == q->steps && memcmp(p, q, key_bytes(p)) == 0;
}

dome_chains *dome__chains_new(bool now)
{
    dome_chains *c = g_new0(dome_chains, 1);
    c->table = g_hash_table_new_full(key_hash, key_equal, NULL, g_free);
    c->now = now;
    c->cache.folder = -1;
    dome__compiler_init(&c->compiler);
    return c;
}

bool dome__chains_now(const dome_chains *c)
{
    return c->now;
}

/* ---- the source ---- */

static void write_operand(GString *s, uint8_t operand)
{
    if (operand >= CHAIN_RESULT(0))
        g_string_append_printf(s, "v%d", operand - CHAIN_RESULT(0));
    else
        g_string_append_printf(s, "m%d", operand - CHAIN_MEMORY(0));
}

static void write_expression(GString *s, const chain_step *step, int number)
{
    for (const char *at = dome__elementwise[step->number].expression; *at; at++) {
        bool alone = !g_ascii_isalpha(at[1]);
        if (*at == 'x' && alone)
            write_operand(s, step->in[0]);
        else if (*at == 'y' && alone)
            write_operand(s, step->in[1]);
        else if (*at == 'a' && alone)
            g_string_append_printf(s, "s%d", number);
        else
            g_string_append_c(s, *at);
    }
}

static void write_body(GString *s, const chain_program *p, uint64_t read)
{
    for (int m = 0; m < CHAIN_MEMORY_MAX; m++)
        if (read >> m & 1)
            g_string_append_printf(s, "            const T m%d = p%d[i];\n", m, m);
    for (int k = 0; k < p->steps; k++) {
        g_string_append_printf(s, "            const T v%d = ", k);
        write_expression(s, &p->step[k], k);
        g_string_append(s, ";\n");
        if (p->step[k].out != CHAIN_NONE)
            g_string_append_printf(s, "            p%d[i] = v%d;\n", p->step[k].out - CHAIN_MEMORY(0), k);
    }
    if (p->terms == DOME_TERMS)
        return;
    g_string_append(s, "            part[j] += ROUNDED((double)");
    write_operand(s, p->x);
    if (p->terms != DOME_TERMS_SUM) {
        g_string_append(s, " * (double)");
        write_operand(s, p->terms == DOME_TERMS_DOT ? p->y : p->x);
    }
    g_string_append(s, ");\n");
}

/* Numbers of memories as bits of a word: of an operand, if it is one. */
static uint64_t memory_bit(uint8_t operand)
{
    return operand != CHAIN_NONE && operand < CHAIN_RESULT(0) ? (uint64_t)1 << (operand - CHAIN_MEMORY(0)) : 0;
}

/* The memories that a chain reads, and those that it writes. */
static void find_memories(const chain_program *p, uint64_t *read, uint64_t *written)
{
    *written = 0;
    *read = memory_bit(p->x) | memory_bit(p->y);
    for (int k = 0; k < p->steps; k++) {
        for (int i = 0; i < CHAIN_INPUTS; i++)
            *read |= memory_bit(p->step[k].in[i]);
        *written |= memory_bit(p->step[k].out);
    }
}

/* The source before the loops: types, functions, parameters, constants. */
static void write_head(GString *s, const chain_program *p, uint64_t used)
{
    const char *f = p->kind == DOME_KIND_F32 ? "f" : "";
    g_string_append_printf(s,
                           "typedef %s T;\n"
                           "typedef unsigned long long N;\n"
                           "#define SQRT __builtin_sqrt%s\n"
                           "#define ABS __builtin_fabs%s\n"
                           "#define FLOOR __builtin_floor%s\n"
                           "#define CEIL __builtin_ceil%s\n"
                           "#define RINT __builtin_rint%s\n"
                           "#define TRUNC __builtin_trunc%s\n"
                           "#define ROUNDED(product) (product)\n"
                           "#if defined(__has_builtin)\n"
                           "#if __has_builtin(__builtin_assoc_barrier)\n"
                           "#undef ROUNDED\n"
                           "#define ROUNDED(product) __builtin_assoc_barrier(product)\n"
                           "#endif\n"
                           "#endif\n"
                           "void dome_chain(void *const *memory, const double *scalar, N count, N block, double *sum)\n"
                           "{\n",
                           p->kind == DOME_KIND_F32 ? "float" : "double", f, f, f, f, f, f);
    for (int m = 0; m < CHAIN_MEMORY_MAX; m++)
        if (used >> m & 1)
            g_string_append_printf(s, "    T *restrict p%d = memory[%d];\n", m, m);
    for (int k = 0; k < p->steps; k++)
        g_string_append_printf(s, "    const T s%d = (T)scalar[%d];\n", k, k);
}

/* The loop over all values, and the end of the function. */
static void write_loop(GString *s, const chain_program *p, uint64_t read)
{
    g_string_append(s, "    (void)block, (void)sum;\n    for (N i = 0; i < count; i++) {\n");
    write_body(s, p, read);
    g_string_append(s, "    }\n}\n");
}

/* The same with a sum of each block. */
static void write_sum_loop(GString *s, const chain_program *p, uint64_t read)
{
    /* The loop over the parts is the one to vectorize: without the pragma gcc vectorizes the loop around it, and shuffles. */
    g_string_append(s, "    for (N first = 0, end; first < count; first = end, sum++) {\n"
                       "        double part[16] = {0};\n"
                       "        N base = first;\n"
                       "        end = count - first < block ? count : first + block;\n"
                       "        for (; base + 16 <= end; base += 16)\n"
                       "#pragma omp simd\n"
                       "            for (int j = 0; j < 16; j++) {\n"
                       "            const N i = base + (N)j;\n");
    write_body(s, p, read);
    g_string_append(s, "            }\n"
                       "        for (int j = 0; base + (N)j < end; j++) {\n"
                       "            const N i = base + (N)j;\n");
    write_body(s, p, read);
    g_string_append(s, "        }\n"
                       "        for (int half = 8; half; half /= 2)\n"
                       "            for (int j = 0; j < half; j++)\n"
                       "                part[j] += part[j + half];\n"
                       "        *sum = part[0];\n"
                       "    }\n}\n");
}

/* The C source of a chain. A step's input is either memory as it was before the pass, or the result of another step, even where
 * that is written to the same memory: the program says which. */
static char *source_of(const chain_program *p)
{
    GString *s = g_string_new("/* a chain of element-wise operations, made by Dome " DOME_VERSION " */\n");
    uint64_t read, written;
    find_memories(p, &read, &written);
    write_head(s, p, read | written);
    if (p->terms == DOME_TERMS)
        write_loop(s, p, read);
    else
        write_sum_loop(s, p, read);
    return g_string_free(s, FALSE);
}

/* ---- the folder ---- */

/* Takes the reason; NULL: no message. */
static void say(dome_chains *c, tell what, char *why)
{
    if (why && c->speaks && !c->told[what])
        dome__say(what == NOT_KEPT ? "%s; generated code is not kept for the next run: set DOME_CACHE_DIR to a folder that only "
                                     "you can write to"
                                   : "chains of operations run without generated code: %s",
                  why);
    c->told[what] = c->told[what] || why;
    g_free(why);
}

/* On the first call finds the compiler and opens the folder. False if there is no compiler, which is not an error: the profile
 * states it. */
static bool open_folder(dome_chains *c)
{
    if (!c->opened && dome__compiler_find(&c->compiler))
        say(c, NOT_KEPT, dome__code_cache_open(&c->cache));
    c->opened = true;
    return c->compiler.program != NULL;
}

/* ---- compiling ---- */

static const char *const *flags(void)
{
    static const char *const plain[] = {"-O3",   "-std=gnu11",        "-shared",         "-fPIC", "-nostdlib",
                                        "-pipe", "-ffp-contract=off", "-fno-math-errno", "-w",    "-fopenmp-simd",
                                        NULL};
    static const char *const avx2[] = {"-mavx2", NULL};
    static const char *const avx512[] = {
        "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512", NULL};
    static const char *all[24];
    unsigned n = 0;
    for (unsigned k = 0; plain[k]; k++)
        all[n++] = plain[k];
    const char *name = dome__kernels_name();
    const char *const *more = strcmp(name, "avx512") == 0 ? avx512
                              : strcmp(name, "avx2") == 0 ? avx2
                                                          : plain + G_N_ELEMENTS(plain) - 1;
    for (unsigned k = 0; more[k]; k++)
        all[n++] = more[k];
#if defined(__i386__)
    all[n++] = "-msse2";
    all[n++] = "-mfpmath=sse";
#endif
    all[n] = NULL;
    return all;
}

/* The name of the code's file. It differs for other libraries, compilers, processors and chains. */
static char *name_of(const dome_chains *c, const char *source)
{
    char *joined = g_strjoinv(" ", dome__unconst(flags()));
    char *key = g_strjoin("\n", DOME_VERSION, c->compiler.program, joined, source, NULL);
    char *name = dome__code_cache_name(key);
    g_free(joined);
    g_free(key);
    return name;
}

/* Whether the program is ending. */
static bool stopping(void *ctx)
{
    dome_chains *c = ctx;
    return dome__compiler_stopped(&c->compiler);
}

/* Without a folder for code, the compiler works in the folder for temporary files. */
static GBytes *compile(dome_chains *c, const char *source, const char *name)
{
    bool kept = c->cache.folder >= 0;
    const char *path = kept ? c->cache.path : g_get_tmp_dir();
    int folder = kept ? c->cache.folder : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *why = NULL;
    GBytes *code = NULL;
    if (folder < 0)
        why = g_strdup_printf("%s: %s", path, g_strerror(errno));
    else
        code = dome__compile(&c->compiler, folder, path, flags(), source, &why);
    say(c, NO_CODE, why);
    if (folder >= 0 && !kept)
        close(folder);
    if (code)
        say(c, NOT_KEPT, dome__code_cache_put(&c->cache, name, code));
    return code;
}

static chain_code load(dome_chains *c, GBytes *bytes)
{
    char *why = NULL;
    void *symbol = dome__load_code(bytes, "dome_chain", &why);
    chain_code code;
    memcpy(&code, &symbol, sizeof code);
    say(c, NO_CODE, why);
    return code;
}

/* Tasks reach a chain at the same time: one of them generates its code. */
static chain_code make(dome_chains *c, const chain_program *program)
{
    if (!open_folder(c))
        return NULL;
    char *source = source_of(program), *name = name_of(c, source);
    GBytes *bytes = dome__code_cache_get(&c->cache, name);
    if (!bytes) {
        int lock = dome__code_cache_lock(&c->cache, name, stopping, c);
        bytes = dome__code_cache_get(&c->cache, name);
        if (!bytes)
            bytes = compile(c, source, name);
        dome__code_cache_unlock(&c->cache, name, lock);
    }
    chain_code code = bytes ? load(c, bytes) : NULL;
    if (bytes)
        g_bytes_unref(bytes);
    g_free(source);
    g_free(name);
    return code;
}

static void finish(dome_chain *chain, chain_code code)
{
    chain->code = code;
    __atomic_store_n(&chain->state, code ? READY : NEVER, __ATOMIC_RELEASE);
}

static gpointer work_off(gpointer data)
{
    dome_chains *c = data;
    for (;;) {
        dome_chain *chain = g_async_queue_pop(c->queue);
        if (stopping(c))
            return NULL;
        finish(chain, make(c, &chain->program));
    }
}

/* The thread blocks all signals: they are for the program's own threads. */
static void start_thread(dome_chains *c)
{
    sigset_t before;
    dome__signals_block(&before);
    c->queue = g_async_queue_new();
    c->thread = g_thread_try_new("dome-compile", work_off, c, NULL);
    dome__signals_restore(&before);
}

void dome__chains_free(dome_chains *c)
{
    if (!c)
        return;
    bool other = c->owner && c->owner != getpid();
    if (other)
        return; /* the thread belongs to another process, and any of its data may be inconsistent */
    if (c->thread) {
        dome__compiler_stop(&c->compiler);
        g_async_queue_push(c->queue, c);
        g_thread_join(c->thread);
    }
    dome__code_cache_close(&c->cache);
    if (c->queue)
        g_async_queue_unref(c->queue);
    g_hash_table_destroy(c->table);
    dome__compiler_clear(&c->compiler);
    g_free(c);
}

/* ---- in use ---- */

/* Whether this process may generate code. */
static bool mine(dome_chains *c)
{
    if (!c->owner) {
        const dome_env *env = dome__this_env();
        c->owner = getpid();
        c->speaks = !env || dome_rank(env) == 0;
    }
    return c->owner == getpid();
}

dome_chain *dome__chains_note(dome_chains *c, const chain_program *program, uint64_t values)
{
    dome_chain *chain = g_hash_table_lookup(c->table, program);
    if (!chain) {
        if (g_hash_table_size(c->table) >= CHAINS_MAX && !c->now)
            return NULL;
        chain = g_new0(dome_chain, 1);
        chain->program = *program;
        g_hash_table_insert(c->table, &chain->program, chain);
    }
    chain->runs++;
    chain->values += values;
    chain->work += (double)values * program->steps;
    bool wanted = c->now || (chain->runs > RUNS_BEFORE && chain->work > WORK_BEFORE);
    if (chain->state != NEW || !wanted || !mine(c))
        return chain;
    if (c->now) {
        finish(chain, make(c, program));
    } else {
        chain->state = WANTED;
        if (!c->thread)
            start_thread(c);
        if (c->thread)
            g_async_queue_push(c->queue, chain);
        else
            chain->state = NEVER;
    }
    return chain;
}

chain_code dome__chain_code(dome_chain *chain, bool *check)
{
    if (__atomic_load_n(&chain->state, __ATOMIC_ACQUIRE) != READY)
        return NULL;
    *check = !chain->checked;
    chain->generated += chain->checked;
    return chain->code;
}

void dome__chain_checked(dome_chain *chain, bool equal)
{
    chain->checked = true;
    if (equal)
        return;
    chain->state = NEVER;
    dome__say("the C compiler's code for a chain of %d operations gives other bits than the library: it is not used",
              chain->program.steps);
}

static gint more_work(gconstpointer a, gconstpointer b)
{
    double left = ((const dome_chain *)a)->work, right = ((const dome_chain *)b)->work;
    return (left < right) - (left > right);
}

void dome__chains_print(const dome_chains *c, FILE *file)
{
    if (!c)
        return;
    GList *all = g_list_sort(g_hash_table_get_values(c->table), more_work);
    int lines = 0;
    for (GList *at = all; at && lines < PRINTED; at = at->next, lines++) {
        const dome_chain *chain = at->data;
        const chain_program *p = &chain->program;
        static const char *const sums[] = {[DOME_TERMS_SUM] = " and dvec_sum",
                                           [DOME_TERMS_DOT] = " and dvec_dot",
                                           [DOME_TERMS_SQUARES] = " and dvec_norm2",
                                           [DOME_TERMS_SCALED] = "",
                                           [DOME_TERMS] = ""};
        GString *names = g_string_new(NULL);
        for (int k = 0; k < p->steps && k < 12; k++)
            g_string_append_printf(names, " %s",
                                   dome__operation_name(DOME_PART_ELEMENTWISE_BEGIN + p->step[k].number) + strlen("dvec_"));
        fprintf(file,
                "chain of %d operation%s%s: bytes per value: %d read, %d written; %" G_GUINT64_FORMAT " runs, %" G_GUINT64_FORMAT
                " of generated code:%s%s\n",
                p->steps, p->steps == 1 ? "" : "s", sums[p->terms], p->bytes_read, p->bytes_written, chain->runs,
                chain->generated, names->str, p->steps > 12 ? " ..." : "");
        g_string_free(names, TRUE);
    }
    g_list_free(all);
    if (c->opened && !c->compiler.program)
        fprintf(file, "chains: there is no C compiler for generated code\n");
}
