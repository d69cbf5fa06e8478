#include "trace/trace_local.h"
#include "system/thread.h"
#include "system/time.h"

#include <pthread.h>
#include <signal.h>

/* Milliseconds between writes: at most this much is lost when the process is killed. */
enum { TICK = 100 };

struct dome_trace_local {
    dome_trace *trace;
    dome_trace_sink *sink;
    pthread_t thread;
    bool running, stop;
    pthread_mutex_t lock;
    pthread_cond_t change;
};

static void pass_on(dome_trace_local *local, bool last)
{
    GString *lines = g_string_new(NULL);
    while (dome__trace_take(local->trace, 0, last, G_MAXSIZE / 2, lines))
        continue;
    dome__trace_sink_take(local->sink, 0, 0, lines->str, lines->len);
    g_string_free(lines, TRUE);
}

static void *local_main(void *argument)
{
    dome_trace_local *local = argument;
    pthread_mutex_lock(&local->lock);
    while (!local->stop) {
        const struct timespec until = dome__in_ns(TICK * UINT64_C(1000000));
        pthread_cond_timedwait(&local->change, &local->lock, &until);
        pass_on(local, false);
    }
    pthread_mutex_unlock(&local->lock);
    return NULL;
}

dome_trace_local *dome__trace_local_start(dome_trace *trace, dome_trace_sink *sink)
{
    dome_trace_local *local = g_new0(dome_trace_local, 1);
    local->trace = trace;
    local->sink = sink;
    pthread_mutex_init(&local->lock, NULL);
    dome__condition_init(&local->change);
    local->running = dome__thread_start(&local->thread, local_main, local) == 0;
    return local;
}

void dome__trace_local_stop(dome_trace_local *local, const char *failure)
{
    if (!local)
        return;
    pthread_mutex_lock(&local->lock);
    local->stop = true;
    pthread_cond_signal(&local->change);
    pthread_mutex_unlock(&local->lock);
    if (local->running)
        pthread_join(local->thread, NULL);
    if (failure)
        dome__trace_sink_failure(local->sink, failure);
    pass_on(local, true);
    pthread_mutex_destroy(&local->lock);
    pthread_cond_destroy(&local->change);
    g_free(local);
}
