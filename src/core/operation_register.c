/* The functions by which a structure registers its operations, and begins and ends them. */
#include "core/clock_private.h"
#include "core/environment.h"
#include "core/operation.h"

#include <string.h>

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

static dome_status check(dome_env *env, const char *name, const char *arguments, unsigned flags)
{
    const int64_t found = dome__operation_find(name);
    const bool known = found != DOME_OPERATION_NOT_FOUND;
    const uint32_t code = known ? (uint32_t)found : DOME_OP_NONE;
    if (!*name)
        return dome__fail(env, DOME_ERR_NAME, "an operation needs a name");
    if (known && code < DOME_OPERATION_REGISTERED)
        return dome__fail(env, DOME_ERR_NAME, "'%s' is an operation of the library", name);
    if (flags != DOME_OPERATION_PLAIN && flags != DOME_OPERATION_DEFERRED && flags != DOME_OPERATION_MOVES)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s': the flags %u are not one of dome_operation_flags", name, flags);
    if (!describes_arguments(arguments))
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s': \"%s\" does not describe arguments as \"x:v factor:f\" does", name,
                          arguments);
    if (known && (dome__operation_flags[code] != flags || strcmp(dome__operation_arguments(code), arguments) != 0))
        return dome__fail(env, DOME_ERR_NAME, "'%s' is registered with other arguments or flags", name);
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
    const int64_t known = status == DOME_OK ? dome__operation_find(name) : DOME_OP_NONE;
    dome_operation_code code = (dome_operation_code)known;
    if (known == DOME_OPERATION_NOT_FOUND) {
        code = dome__operation_add(name, arguments, flags);
        dome__clock_fit(env->clock);
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
    if (code < DOME_OPERATION_REGISTERED || code - DOME_OPERATION_REGISTERED >= dome__operation_registered()) {
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
        dome_object_env(object)->position.stale = object;
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
