#include "core/call_log.h"

#include "core/layout.h"
#include "core/operation.h"

#include <string.h>

dome_call_log *dome__call_log_new(void)
{
    dome_call_log *call_log = g_new0(dome_call_log, 1);
    call_log->names = dome__names_new();
    return call_log;
}

void dome__call_log_free(dome_call_log *call_log)
{
    if (!call_log)
        return;
    dome__names_free(call_log->names);
    g_free(call_log);
}

uint64_t dome__call_log_rest(const uint64_t *words, size_t count)
{
    uint64_t hash = 0;
    for (size_t k = 0; k < count; k++)
        hash = dome__hash(hash, words[k]);
    return hash;
}

/* ---- entries as text ---- */

static char *quoted(dome_names *names, uint64_t number, const char *otherwise)
{
    char *name = dome__names_find(names, number);
    char *text = name ? g_strdup_printf("'%s'", name) : g_strdup_printf("%s%" G_GINT64_MODIFIER "x", otherwise, number);
    g_free(name);
    return text;
}

static char *value_text(dome_names *names, char kind, uint64_t word)
{
    double number;
    switch (kind) {
    case 'u':
        return g_strdup_printf("%" G_GUINT64_FORMAT, word);
    case 'i':
        return g_strdup_printf("%" G_GINT64_FORMAT, (gint64)word);
    case 'f': {
        memcpy(&number, &word, sizeof number);
        char shortest[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(shortest, sizeof shortest, "%.15g", number);
        if (g_ascii_strtod(shortest, NULL) != number)
            g_ascii_formatd(shortest, sizeof shortest, "%.17g", number);
        return g_strdup(shortest);
    }
    case 'd':
        return dome__distribution_name(word) ? g_strdup(dome__distribution_name(word))
                                             : g_strdup_printf("%" G_GUINT64_FORMAT, word);
    case 'v':
        return word ? quoted(names, word, "#") : g_strdup("NULL");
    case 'n':
    case 'o':
        return word ? quoted(names, word, "#") : g_strdup("none");
    default:
        return g_strdup_printf("#%" G_GINT64_MODIFIER "x", word);
    }
}

/* The name of entry k of a list like "x:v a:f", or of its last entry if k is beyond it; sets *kind. */
static char *argument_name(char *const *list, guint length, guint k, char *kind)
{
    const char *description = length ? list[MIN(k, length - 1)] : "arguments:h", *colon = strchr(description, ':');
    char *name = g_strndup(description, (gsize)(colon - description));
    *kind = colon[1];
    g_strdelimit(name, "_", ' ');
    return name;
}

char *dome__call_log_call(dome_names *names, const dome_call_log_entry *e, char ***arguments)
{
    GPtrArray *pairs = g_ptr_array_new();
    char **list = g_strsplit(dome__operation_arguments(e->operation), " ", 0);
    guint length = g_strv_length(list);
    uint64_t object = e->object, operation = e->operation;
    for (guint k = 0; k < MIN(e->count, DOME_CALL_LOG_WORDS); k++) {
        char kind, *name = argument_name(list, length, k, &kind);
        bool rest = e->count > DOME_CALL_LOG_WORDS && k == DOME_CALL_LOG_WORDS - 1;
        if (kind == 'o')
            object = e->word[k];
        if (kind == 'c')
            operation = e->word[k];
        g_ptr_array_add(pairs, rest ? g_strdup("one of the further arguments") : g_strdup(name));
        g_ptr_array_add(pairs, value_text(names, rest ? 'h' : kind, e->word[k]));
        g_free(name);
    }
    g_ptr_array_add(pairs, NULL);
    *arguments = (char **)g_ptr_array_free(pairs, FALSE);
    char *of = object ? quoted(names, object, "an object without a name, number ") : NULL;
    char *text = g_strconcat(dome__operation_name((uint32_t)operation), of ? " of " : "", of, NULL);
    g_free(of);
    g_strfreev(list);
    return text;
}

bool dome__call_log_take(const dome_call_log *call_log, uint64_t sequence, dome_call_log_entry *out)
{
    const dome_call_log_entry *e = &call_log->entry[sequence % DOME_CALL_LOG_LENGTH];
    if (__atomic_load_n(&e->sequence, __ATOMIC_ACQUIRE) != sequence)
        return false;
    out->history = __atomic_load_n(&e->history, __ATOMIC_RELAXED);
    out->object = __atomic_load_n(&e->object, __ATOMIC_RELAXED);
    out->operation = __atomic_load_n(&e->operation, __ATOMIC_RELAXED);
    out->count = __atomic_load_n(&e->count, __ATOMIC_RELAXED);
    for (int k = 0; k < DOME_CALL_LOG_WORDS; k++)
        out->word[k] = __atomic_load_n(&e->word[k], __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_acquire);
    return __atomic_load_n(&e->sequence, __ATOMIC_RELAXED) == sequence;
}
