#include "watch/hold.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

typedef struct order {
    uint64_t number, target; /* target 0: not known yet */
    char *plan;              /* of the target */
} order;

struct dome_hold {
    atomic_uint_fast64_t passed;
    atomic_bool ordered; /* there is an order that this task has not carried out */
    pthread_mutex_t mutex;
    pthread_cond_t changed;

    /* under the mutex */
    GQueue orders; /* not carried out yet: their targets grow, and only the last one's may not be known */
    char *members, *standby;
    bool stands, shown;
    uint64_t answer; /* with shown */
};

static void free_order(void *item)
{
    order *o = item;
    g_free(o->plan);
    g_free(o);
}

dome_hold *dome__hold_new(void)
{
    dome_hold *h = g_new0(dome_hold, 1);
    pthread_mutex_init(&h->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&h->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return h;
}

void dome__hold_free(dome_hold *h)
{
    if (!h)
        return;
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->mutex);
    g_free(h->members);
    g_free(h->standby);
    g_queue_clear_full(&h->orders, free_order);
    g_free(h);
}

/* ---- the watcher ---- */

uint64_t dome__hold_order(dome_hold *h, uint64_t number)
{
    pthread_mutex_lock(&h->mutex);
    order *last = g_queue_peek_tail(&h->orders);
    if (!last || last->target > 0)
        g_queue_push_tail(&h->orders, last = g_new0(order, 1));
    last->number = number;
    pthread_mutex_unlock(&h->mutex);
    atomic_store(&h->ordered, true);
    return atomic_load(&h->passed);
}

void dome__hold_target(dome_hold *h, uint64_t number, uint64_t loop, const char *plan)
{
    pthread_mutex_lock(&h->mutex);
    order *last = g_queue_peek_tail(&h->orders);
    if (last && last->number == number) {
        last->target = loop;
        g_free(last->plan);
        last->plan = g_strdup(plan);
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->mutex);
}

void dome__hold_members(dome_hold *h, const char *ids)
{
    pthread_mutex_lock(&h->mutex);
    g_free(h->members);
    h->members = g_strdup(ids);
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

void dome__hold_standby(dome_hold *h, const char *line)
{
    pthread_mutex_lock(&h->mutex);
    g_free(h->standby);
    h->standby = g_strdup(line);
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

void dome__hold_shown(dome_hold *h, uint64_t answer)
{
    pthread_mutex_lock(&h->mutex);
    h->shown = true;
    h->answer = answer;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

void dome__hold_stands(dome_hold *h)
{
    pthread_mutex_lock(&h->mutex);
    h->stands = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

/* ---- the main thread ---- */

char *dome__hold_pass(dome_hold *h, uint64_t *number)
{
    const uint64_t loop = atomic_fetch_add(&h->passed, 1) + 1;
    if (!atomic_load(&h->ordered))
        return NULL;
    char *plan = NULL;
    pthread_mutex_lock(&h->mutex);
    order *first = g_queue_peek_head(&h->orders);
    while (first->target == 0)
        pthread_cond_wait(&h->changed, &h->mutex);
    /* Later than the target if the program tried to change by its own request there, and could not. */
    if (loop >= first->target) {
        plan = g_steal_pointer(&first->plan);
        *number = first->number;
        free_order(g_queue_pop_head(&h->orders));
        atomic_store(&h->ordered, h->orders.length > 0);
    }
    pthread_mutex_unlock(&h->mutex);
    return plan;
}

uint64_t dome__hold_passed(const dome_hold *h)
{
    return atomic_load_explicit(&h->passed, memory_order_relaxed);
}

static bool read_members(const dome_hold *h, int *ids, int n)
{
    char **words = g_strsplit(h->members, " ", 0);
    bool all = (int)g_strv_length(words) == n;
    for (int i = 0; all && i < n; i++)
        ids[i] = (int)g_ascii_strtoll(words[i], NULL, 10);
    g_strfreev(words);
    return all;
}

static struct timespec after(double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds + 1;
    return until;
}

char *dome__hold_wait_standby(dome_hold *h, double seconds)
{
    const struct timespec until = after(seconds);
    pthread_mutex_lock(&h->mutex);
    int late = 0;
    while (!h->standby && !late)
        late = pthread_cond_timedwait(&h->changed, &h->mutex, &until);
    char *line = g_steal_pointer(&h->standby);
    pthread_mutex_unlock(&h->mutex);
    return line;
}

bool dome__hold_wait_shown(dome_hold *h, double seconds, uint64_t *answer)
{
    const struct timespec until = after(seconds);
    pthread_mutex_lock(&h->mutex);
    int late = 0;
    while (!h->shown && !late)
        late = pthread_cond_timedwait(&h->changed, &h->mutex, &until);
    const bool shown = h->shown;
    *answer = h->answer;
    h->shown = false;
    pthread_mutex_unlock(&h->mutex);
    return shown;
}

bool dome__hold_wait_stands(dome_hold *h, double seconds)
{
    const struct timespec until = after(seconds);
    pthread_mutex_lock(&h->mutex);
    int late = 0;
    while (!h->stands && !late)
        late = pthread_cond_timedwait(&h->changed, &h->mutex, &until);
    const bool stands = h->stands;
    pthread_mutex_unlock(&h->mutex);
    return stands;
}

bool dome__hold_wait_members(dome_hold *h, int *ids, int n, double seconds)
{
    const struct timespec until = after(seconds);
    pthread_mutex_lock(&h->mutex);
    int late = 0;
    while (!h->members && !late)
        late = pthread_cond_timedwait(&h->changed, &h->mutex, &until);
    bool good = h->members && read_members(h, ids, n);
    pthread_mutex_unlock(&h->mutex);
    return good;
}
