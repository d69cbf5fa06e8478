/* The table of operations, the library's and registered ones, and the functions by which a structure begins and ends its own. */
#include "core/clock_private.h"
#include "core/environment.h"
#include "core/operation.h"
#include "system/unconst.h"

#include <stdio.h>
#include <string.h>

uint8_t dome__operation_flags[DOME_OPERATIONS_MAX] = {
#define DOME_OPERATION_FLAG(code, name, arguments, flag) [DOME_OP_##code] = DOME_OPERATION_##flag,
    DOME_OPERATION_LIST(DOME_OPERATION_FLAG)
#undef DOME_OPERATION_FLAG
};

static struct {
    const char *name, *arguments;
} table[DOME_OPERATIONS_MAX] = {
#define DOME_OPERATION_TEXTS(code, name, arguments, flag) [DOME_OP_##code] = {name, arguments},
    DOME_OPERATION_LIST(DOME_OPERATION_TEXTS)
#undef DOME_OPERATION_TEXTS
};

/* Other threads read the table to name operations, so an entry is written before the count is increased. */
static uint32_t operations = DOME_OPERATIONS;

uint32_t dome__operation_count(void)
{
    return __atomic_load_n(&operations, __ATOMIC_ACQUIRE);
}

const char *dome__operation_name(uint32_t code)
{
    return code < dome__operation_count() ? table[code].name : "an unknown operation";
}

const char *dome__operation_arguments(uint32_t code)
{
    return code < dome__operation_count() ? table[code].arguments : "";
}

void dome__operation_table_reset(void)
{
    uint32_t count = dome__operation_count();
    __atomic_store_n(&operations, DOME_OPERATIONS, __ATOMIC_RELEASE);
    for (uint32_t k = DOME_OPERATIONS; k < count; k++) {
        g_free(dome__unconst(table[k].name));
        g_free(dome__unconst(table[k].arguments));
        table[k].name = table[k].arguments = NULL;
    }
}

/* ---- registering ---- */

/* Whether a text is "name:kind name:kind ...". */
static bool describes_arguments(const char *text)
{
    char **list = g_strsplit(text, " ", 0);
    bool good = true;
    for (char **one = list; *one && good && *text; one++) {
        const char *colon = strchr(*one, ':');
        good = colon && colon > *one && colon[1] && strchr("uifnvh", colon[1]) && !colon[2];
    }
    g_strfreev(list);
    return good;
}

/* The code of a name; DOME_OPERATIONS_MAX if there is none. */
static uint32_t find(const char *name)
{
    uint32_t k = 0, count = dome__operation_count();
    while (k < count && strcmp(table[k].name, name) != 0)
        k++;
    return k < count ? k : DOME_OPERATIONS_MAX;
}

static dome_status check(dome_env *env, const char *name, const char *arguments, unsigned flags)
{
    uint32_t known = find(name);
    if (!*name)
        return dome__fail(env, DOME_ERR_NAME, "an operation needs a name");
    if (known < DOME_OPERATIONS)
        return dome__fail(env, DOME_ERR_NAME, "'%s' is an operation of the library", name);
    if (flags != DOME_OPERATION_PLAIN && flags != DOME_OPERATION_DEFERRED && flags != DOME_OPERATION_MOVES)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s': the flags %u are not one of dome_operation_flags", name, flags);
    if (!describes_arguments(arguments))
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s': \"%s\" does not describe arguments as \"x:v factor:f\" does", name,
                          arguments);
    if (known < DOME_OPERATIONS_MAX && (dome__operation_flags[known] != flags || strcmp(table[known].arguments, arguments) != 0))
        return dome__fail(env, DOME_ERR_NAME, "'%s' is registered with other arguments or flags", name);
    if (known == DOME_OPERATIONS_MAX && dome__operation_count() == DOME_OPERATIONS_MAX)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s': %d operations have been registered, and there can be no more", name,
                          DOME_OPERATIONS_MAX - DOME_OPERATIONS);
    return DOME_OK;
}

dome_operation_code dome_operation_register(dome_env *env, const char *name, const char *arguments, unsigned flags)
{
    DOME_NEEDS(env, "the environment", 0);
    DOME_NEEDS(name, "the name", 0);
    DOME_NEEDS(arguments, "the description of the arguments", 0);
    dome_operation op;
    uint64_t words[] = {dome__text_word(env, name), dome__text_word(env, arguments), flags};
    dome__begin_with(&op, env, DOME_OP_OPERATION_REGISTER, NULL, words, G_N_ELEMENTS(words));
    dome_status status = check(env, name, arguments, flags);
    dome_operation_code code = status == DOME_OK ? find(name) : DOME_OP_NONE;
    if (code == DOME_OPERATIONS_MAX) {
        code = dome__operation_count();
        table[code].name = g_strdup(name);
        table[code].arguments = g_strdup(arguments);
        dome__operation_flags[code] = (uint8_t)flags;
        __atomic_store_n(&operations, code + 1, __ATOMIC_RELEASE);
        env->clock->entry[code] = (dome_clock_entry){0};
        env->hooks->registered(env, code);
    }
    dome__end(&op, status);
    return code;
}

/* ---- around a structure's operation ---- */

dome_operation *dome_operation_begin(dome_env *env, dome_operation_code code, const dome_object *object, const uint64_t *words,
                                     size_t count)
{
    DOME_NEEDS(env, "the environment", NULL);
    if (count)
        DOME_NEEDS(words, "the list of words", NULL);
    if (code < DOME_OPERATIONS || code >= dome__operation_count()) {
        dome__fail(env, DOME_ERR_ARGUMENT, "dome_operation_begin: %u is not the code of a registered operation", code);
        return NULL;
    }
    dome_operation *op = g_new(dome_operation, 1);
    dome__begin_with(op, env, code, object, words, count);
    return op;
}

dome_status dome_operation_fail(dome_operation *op, dome_status status, const char *format, ...)
{
    DOME_NEEDS(op, "the operation", DOME_ERR_ARGUMENT);
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    status = dome__fail_at(op->env, status, op->env->rank, text);
    g_free(text);
    return status;
}

dome_status dome_operation_end(dome_operation *op, dome_status status)
{
    DOME_NEEDS(op, "the operation", DOME_ERR_ARGUMENT);
    status = dome__end(op, status);
    g_free(op);
    return status;
}

uint64_t dome_operation_object_word(const dome_object *object)
{
    uint64_t id = object ? dome_object_id(object) : 0;
    if (id & DOME_FREED)
        dome_object_env(object)->stale = object;
    return id;
}

uint64_t dome_operation_f64_word(double value)
{
    return dome__double_word(value);
}

uint64_t dome_operation_text_word(dome_env *env, const char *text)
{
    DOME_NEEDS(env, "the environment", 0);
    return dome__text_word(env, text);
}
