#include "capture/capture.h"

#include "capture/hidden.h"
#include "capture/modules.h"
#include "core/environment.h"
#include "heap/die.h"
#include "system/own_program.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

typedef struct callback {
    dome_capture_event event;
    int (*function)(void *context);
    void *context;
} callback;

void dome_capture_on(dome_capture_event event, int (*function)(void *context), void *context)
{
    dome_capture_events *e = &dome__capture->events;
    callback c = {event, function, context};
    if (!function)
        dome__capture_die("dome_capture_on: the function is NULL");
    if (!e->callbacks)
        e->callbacks = g_array_new(FALSE, FALSE, sizeof(callback));
    g_array_append_val(e->callbacks, c);
}

int dome__capture_call_back(dome_capture_event event)
{
    dome_capture_events *e = &dome__capture->events;
    const bool before = event == DOME_CAPTURE_BEFORE_CHECKPOINT, after = event == DOME_CAPTURE_AFTER_CHECKPOINT;
    int result = 0;
    for (guint k = 0, n = e->callbacks ? e->callbacks->len : 0; k < n && (result == 0 || after); k++) {
        const callback *c = &g_array_index(e->callbacks, callback, before ? k : n - 1 - k);
        if (c->event == event)
            result = c->function(c->context);
    }
    return after ? 0 : result;
}

char **dome__capture_copy_arguments(int argc, char **argv)
{
    char **copy = dome_capture_calloc(&dome_capture_pointer, (size_t)argc + 1, sizeof *copy);
    for (int k = 0; copy && k < argc; k++) {
        const char *slash = k == 0 ? strrchr(argv[k], '/') : NULL;
        copy[k] = dome_capture_strdup(slash ? slash + 1 : argv[k]);
    }
    if (!copy)
        dome__capture_die("no memory for the arguments");
    return copy;
}

void dome__capture_tell_dangling(dome_env *env)
{
    dome_capture_events *e = &dome__capture->events;
    const char *where = dome__capture_hidden_dangling();
    if (e->dangling_told || !where)
        return;
    e->dangling_told = true;
    dome__capture_tell(env,
                       g_strdup_printf("%s points to nothing that a checkpoint knows: after a restart the program must not use "
                                       "that pointer",
                                       where));
}

void dome__capture_tell(dome_env *env, char *line)
{
    if (line)
        env->hooks->say(env, line);
    g_free(line);
}

void dome__capture_name_program(void)
{
    char *name = dome__capture_modules_name();
    dome__own_program_call(name);
    g_free(name);
}
