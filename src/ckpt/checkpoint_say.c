/* The lines and messages of all files checkpoint*.c. */
#include "ckpt/checkpoint_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

void dome__checkpoint_say(dome_env *env, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_strdelimit(text, "\n", ' ');
    env->hooks->say(env, text);
    g_free(text);
}

int dome__checkpoint_share(dome_env *env, void *data, uint64_t count, dome_type type)
{
    int status = dome__bcast(env->transport, 0, type, data, count);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}
