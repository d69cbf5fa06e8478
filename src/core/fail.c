/* Failures: the line that reports one, and what happens then. */
#include "core/environment.h"
#include "core/operation.h"
#include "system/say.h"

#include <dome/env.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dome_errors {
    bool returned; /* to the caller, after dome_set_errors_return; otherwise an error ends the program */
    dome_status status;
    char *message;
};

dome_errors *dome__errors_new(void)
{
    return g_new0(dome_errors, 1);
}

void dome__errors_free(dome_errors *errors)
{
    g_free(errors->message);
    g_free(errors);
}

bool dome__errors_returned(const dome_env *env)
{
    return env->errors->returned;
}

void dome__errors_end(dome_env *env)
{
    env->errors->returned = false;
}

void dome_set_errors_return(dome_env *env)
{
    DOME_NEEDS(env, "the environment", );
    env->errors->returned = true;
}

dome_status dome_error_status(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    return env->errors->status;
}

const char *dome_error_message(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", "");
    return env->errors->message ? env->errors->message : "";
}

void dome_error_clear(dome_env *env)
{
    DOME_NEEDS(env, "the environment", );
    env->errors->status = DOME_OK;
    g_free(env->errors->message);
    env->errors->message = NULL;
}

static int exit_status_of(int status)
{
    switch (status) {
#define DOME_STATUS_EXIT(code, name, text, exit_status)                                                                          \
    case code:                                                                                                                   \
        return exit_status;
        DOME_STATUS_LIST(DOME_STATUS_EXIT)
#undef DOME_STATUS_EXIT
    default:
        return 1;
    }
}

dome_status dome__fail_at(dome_env *env, dome_status status, int rank, const char *text)
{
    const dome_operation *op = env ? env->operation : NULL;
    while (op && op->outer)
        op = op->outer;
    GString *line = g_string_new(NULL);
    if (op && op->code != DOME_OP_NONE) {
        g_string_append(line, dome__operation_name(op->code));
        if (op->object)
            g_string_append_printf(line, " of '%s'", dome_object_name(op->object));
        g_string_append(line, ": ");
    }
    g_string_append(line, text);
    if (env && env->hosts)
        g_string_append_printf(line, " (task %d on host %s)", rank, env->hosts[rank]);
    g_strdelimit(line->str, "\n", ' ');
    if (env && env->errors->returned) {
        env->errors->status = status;
        g_free(env->errors->message);
        env->errors->message = g_string_free(line, FALSE);
        return status;
    }
    if (env)
        env->hooks->fail(env, status, exit_status_of(status), line->str);
    fflush(stdout);
    dome__say("%s", line->str);
    _exit(exit_status_of(status));
}

void dome__fail_beside(dome_env *env, dome_status status, const char *line)
{
    env->hooks->fail(env, status, exit_status_of(status), line);
    abort();
}

void dome__fail_child(dome_status status, const char *line)
{
    dome__say("%s", line);
    _exit(exit_status_of(status)); /* what the task has not written yet, it writes itself */
}

dome_status dome__fail(dome_env *env, dome_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    status = dome__fail_at(env, status, env ? env->rank : 0, text);
    g_free(text);
    return status;
}

dome_status dome__null(const char *function, const char *what)
{
    return dome__fail(dome__this_env(), DOME_ERR_ARGUMENT, "%s: %s is NULL", function, what);
}
