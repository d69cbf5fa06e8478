/* Operations that gcc makes instructions whatever its options are become those that -fno-inline-atomics makes calls, which reach
 * other processes. In a preprocessed text:
 *
 *     __sync_fetch_and_add (&x, f (y))
 *     __atomic_fetch_add (&x, f (y), 5)         5: __ATOMIC_SEQ_CST */
#include "dome_omp.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 8 }; /* arguments that are looked at */

typedef struct operation {
    const char *name;
    unsigned arguments;
    const char *c, *cplusplus; /* $1: the first argument; cplusplus: NULL: as c */
} operation;

typedef struct part {
    const char *begin, *end;
} part;

#define UPDATES(name)                                                                                                            \
    {"__sync_fetch_and_" #name, 2, "__atomic_fetch_" #name " ($1, $2, 5)", NULL},                                                \
    {                                                                                                                            \
        "__sync_" #name "_and_fetch", 2, "__atomic_" #name "_fetch ($1, $2, 5)", NULL                                            \
    }

#define EXCHANGE                                                                                                                 \
    "__extension__ ({ __auto_type dome__p = ($1); __auto_type dome__o = (__typeof__ (*dome__p)) ($2); "                          \
    "__atomic_compare_exchange_n (dome__p, &dome__o, $3, 0, 5, 5);"

static const operation operations[] = {
    UPDATES(add),
    UPDATES(sub),
    UPDATES(or),
    UPDATES(and),
    UPDATES(xor),
    UPDATES(nand),
    {"__sync_bool_compare_and_swap", 3, EXCHANGE " })", "dome__sync_bool ($1, $2, $3)"},
    {"__sync_val_compare_and_swap", 3, EXCHANGE " dome__o; })", "dome__sync_val ($1, $2, $3)"},
    {"__sync_lock_test_and_set", 2, "__atomic_exchange_n ($1, $2, 5)", NULL},
    {"__sync_lock_release", 1, "__atomic_store_n ($1, 0, 5)", NULL},
    {"__sync_synchronize", 0, "dome__omp_flush_here ()", NULL},
    {"__atomic_thread_fence", 1, "((void) ($1), dome__omp_flush_here ())", NULL},
    {"__atomic_test_and_set", 2, "(__atomic_exchange_n ((volatile unsigned char *) ($1), 1, $2) != 0)", NULL},
    {"__atomic_clear", 2, "__atomic_store_n ((volatile unsigned char *) ($1), 0, $2)", NULL},
};

/* In C++ an expression with variables of its own would be no expression everywhere. */
#define TEMPLATE "template <typename T, typename O, typename N> inline __attribute__ ((__always_inline__, __unused__)) "
#define BODY     "(volatile T *p, O o, N n) { T e = (T) o; bool done = __atomic_compare_exchange_n (p, &e, (T) n, false, 5, 5); "
static const char templates[] = "# 1 \"dome/openmp.h\" 3\nextern \"C++\" { " TEMPLATE "bool dome__sync_bool " BODY
                                "return done; } " TEMPLATE "T dome__sync_val " BODY "(void) done; return e; } }\n";

static const operation *find(const char *begin, const char *end)
{
    const operation *found = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(operations) && !found; i++)
        if (strlen(operations[i].name) == (size_t)(end - begin) && memcmp(operations[i].name, begin, (size_t)(end - begin)) == 0)
            found = &operations[i];
    return found;
}

/* The arguments behind a name; behind them; NULL: there are none. */
static const char *read_arguments(const char *at, const char *end, part *parts, unsigned *count)
{
    GString *raw = g_string_new(NULL);
    int depth = 0;
    *count = 0;
    while (at < end && isspace((unsigned char)*at))
        at++;
    const char *close = NULL, *begin = at + 1;
    if (at < end && *at != '(')
        at = end;
    while (at < end && !close) {
        const char c = raw->len ? 0 : *at, *next = text_skip(at, end, raw);
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (depth == 0 || (depth == 1 && c == ',')) {
            if (*count < MOST)
                parts[(*count)++] = (part){begin, at};
            begin = next;
            close = depth == 0 ? next : NULL;
        }
        at = next;
    }
    g_string_free(raw, TRUE);
    return close;
}

static bool rewrite(const char *at, const char *end, bool cplusplus, GString *result)
{
    GString *raw = g_string_new(NULL);
    bool any = false;
    while (at < end) {
        part parts[MOST];
        unsigned count = 0;
        const bool name = !raw->len && (*at == '_' || isalpha((unsigned char)*at));
        const char *next = text_skip(at, end, raw);
        const operation *o = name ? find(at, next) : NULL;
        const char *close = o ? read_arguments(next, end, parts, &count) : NULL;
        if (!close || count < o->arguments) {
            g_string_append_len(result, at, next - at);
            at = next;
            continue;
        }
        for (const char *f = cplusplus && o->cplusplus ? o->cplusplus : o->c; *f; f++) {
            if (*f == '$') {
                f++;
                rewrite(parts[*f - '1'].begin, parts[*f - '1'].end, cplusplus, result);
            } else {
                g_string_append_c(result, *f);
            }
        }
        any = true;
        at = close;
    }
    g_string_free(raw, TRUE);
    return any;
}

bool atomic_calls(const char *text, gsize length, bool cplusplus, GString *result)
{
    const char *end = text + length, *newline = memchr(text, '\n', length);
    if (!memmem(text, length, "__sync_", 7) && !memmem(text, length, "__atomic_", 9))
        return g_string_append_len(result, text, (gssize)length), false;
    if (cplusplus && newline && *text == '#') { /* behind the first line, which names the file */
        g_string_append_len(result, text, newline + 1 - text);
        g_string_append(result, templates);
    }
    return rewrite(text, end, cplusplus, result);
}
