#include "ckpt/background.h"
#include "system/thread.h"
#include "system/time.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

/* All tasks stop for a checkpoint until the last has copied its part. A thread that began earlier would take a processor from a
 * task that still copies and for which others wait. Tasks copy similar amounts, so the thread is delayed by this fraction of the
 * time that its own task took to copy, and by at least HOLD_LEAST seconds. */
static const double HOLD_PART = 0.5, HOLD_LEAST = 0.5e-3;

struct dome_ckpt_background {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const dome_ckpt_link *link;

    /* under the mutex */
    bool busy, quit;
    bool wanted; /* a caller waits */
    double hold;
    dome_ckpt_job *job; /* NULL: make room */
    dome_store *store;
    dome_ckpt_snapshot *snapshot;
    uint64_t bytes;
};

/* Delays the work, unless a caller is waiting for it. */
static void hold_back(dome_ckpt_background *b)
{
    const struct timespec until = dome__in_ns((uint64_t)(MAX(b->hold, 0) * 1e9));
    while (!b->wanted && !b->quit && pthread_cond_timedwait(&b->changed, &b->mutex, &until) == 0)
        ;
}

static void work(const dome_ckpt_background *b)
{
    dome_store *store = b->job ? b->job->store : b->store;
    if (store)
        dome__store_free_space(store);
    if (b->job)
        dome__ckpt_write_together(b->job, b->link);
    else
        dome__ckpt_snapshot_reserve(b->snapshot, b->bytes);
}

static void *background_main(void *argument)
{
    dome_ckpt_background *b = argument;
    pthread_mutex_lock(&b->mutex);
    for (;;) {
        while (!b->busy && !b->quit)
            pthread_cond_wait(&b->changed, &b->mutex);
        if (!b->busy)
            break;
        if (b->job)
            hold_back(b);
        pthread_mutex_unlock(&b->mutex);
        work(b);
        pthread_mutex_lock(&b->mutex);
        b->busy = false;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

dome_ckpt_background *dome__ckpt_background_new(const dome_ckpt_link *link, char **message)
{
    dome_ckpt_background *b = g_new0(dome_ckpt_background, 1);
    b->link = link;
    pthread_mutex_init(&b->mutex, NULL);
    dome__condition_init(&b->changed);
    int error = dome__thread_start(&b->thread, background_main, b);
    if (error == 0)
        return b;
    dome__ckpt_refuse(message, "the thread that writes checkpoints cannot be started: %s", strerror(error));
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    g_free(b);
    return NULL;
}

static void begin(dome_ckpt_background *b, dome_ckpt_job *job, double hold)
{
    pthread_mutex_lock(&b->mutex);
    b->job = job;
    b->hold = hold;
    b->wanted = false;
    b->busy = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

void dome__ckpt_background_write(dome_ckpt_background *background, dome_ckpt_job *job, double pause)
{
    const bool frozen = job->snapshot->later->len > 0; /* each page that the program writes before it is read costs it a fault */
    begin(background, job, frozen ? 0 : HOLD_LEAST + HOLD_PART * pause);
}

void dome__ckpt_background_reserve(dome_ckpt_background *background, dome_store *store, dome_ckpt_snapshot *snapshot,
                                   uint64_t bytes)
{
    background->store = store;
    background->snapshot = snapshot;
    background->bytes = bytes;
    begin(background, NULL, 0);
}

bool dome__ckpt_background_busy(dome_ckpt_background *background)
{
    pthread_mutex_lock(&background->mutex);
    bool busy = background->busy;
    pthread_mutex_unlock(&background->mutex);
    return busy;
}

void dome__ckpt_background_wait(dome_ckpt_background *background)
{
    pthread_mutex_lock(&background->mutex);
    background->wanted = true;
    pthread_cond_broadcast(&background->changed);
    while (background->busy)
        pthread_cond_wait(&background->changed, &background->mutex);
    pthread_mutex_unlock(&background->mutex);
}

void dome__ckpt_background_free(dome_ckpt_background *background)
{
    if (!background)
        return;
    pthread_mutex_lock(&background->mutex);
    background->quit = true;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->mutex);
    pthread_join(background->thread, NULL);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->mutex);
    g_free(background);
}
