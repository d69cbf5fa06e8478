/* Public functions that query the environment. */
#include "core/environment.h"

#include "system/say.h"
#include "system/time.h"

#include <dome/env.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool dome__on_one_host(const dome_env *env)
{
    for (int r = 1; r < env->size; r++)
        if (strcmp(env->hosts[r], env->hosts[0]) != 0)
            return false;
    return true;
}

const char *dome_version(void)
{
    return DOME_VERSION;
}

int dome_rank(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", 0);
    return env->rank;
}

int dome_size(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", 0);
    return env->size;
}

const char *dome_host(const dome_env *env, int rank)
{
    DOME_NEEDS(env, "the environment", NULL);
    return rank >= 0 && rank < env->size ? env->hosts[rank] : NULL;
}

bool dome_is_restarting(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", false);
    return env->hooks->restarting(env);
}

double dome_wtime(void)
{
    return dome__now();
}

void dome_abort(dome_env *env, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format ? g_strdup_vprintf(format, arguments) : g_strdup("dome_abort");
    va_end(arguments);
    if (!env)
        env = dome__this_env();
    if (!env) {
        dome__say("%s", text);
        _exit(1);
    }
    char *line = g_strdup_printf("%s (task %d on host %s)", text, env->rank, env->hosts[env->rank]);
    env->hooks->fail(env, DOME_OK, 1, line);
}
