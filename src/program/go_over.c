#include "program/go_over.h"

#include "balance/balance.h"
#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "peer/peer_start.h"
#include "program/change.h"
#include "program/descriptors.h"
#include "program/start.h"
#include "program/transit.h"
#include "system/thread.h"
#include "system/time.h"
#include "system/unconst.h"
#include "transport/transport.h"
#include "watch/watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* Seconds within which the task's own thread must come to a call of the library. The hub waits for half as long again. */
static const double PATIENCE = 10;

enum { CLOSED, STAYS, ASKED, LEAVES };

/* A program has one environment. */
static struct {
    int state; /* one of these; atomic */
    pthread_mutex_t lock;
    dome_transport *transport; /* on which the task's own thread may wait */
    uint32_t number;           /* of the view to go over to, and what the hub says of it */
    int rank;
    char *plan, *avoid;
} place = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool step(int from, int to)
{
    return __atomic_compare_exchange_n(&place.state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void set_transport(dome_transport *transport)
{
    pthread_mutex_lock(&place.lock);
    place.transport = transport;
    pthread_mutex_unlock(&place.lock);
}

/* ---- in other threads ---- */

typedef struct asking {
    dome_env *env;
    dome_wire_back back;
    void (*otherwise)(void *ctx, const dome_wire_back *back);
} asking;

static void free_asking(asking *a)
{
    g_free(dome__unconst(a->back.plan));
    g_free(dome__unconst(a->back.avoid));
    g_free(a);
}

static void rouse_once(dome_transport_provider *provider)
{
    if (provider->ops->rouse)
        provider->ops->rouse(provider);
}

/* The thread may have been about to wait: it is roused until it has gone. */
static void *rouse(void *argument)
{
    asking *a = argument;
    const uint64_t until = dome__now_ns() + (uint64_t)(PATIENCE * 1e9);
    while (__atomic_load_n(&place.state, __ATOMIC_ACQUIRE) == ASKED) {
        pthread_mutex_lock(&place.lock);
        if (place.transport)
            rouse_once(&place.transport->provider);
        pthread_mutex_unlock(&place.lock);
        if (dome__now_ns() > until && step(ASKED, CLOSED))
            break;
        g_usleep(5000);
    }
    if (__atomic_load_n(&place.state, __ATOMIC_ACQUIRE) == CLOSED)
        a->otherwise(a->env, &a->back);
    free_asking(a);
    return NULL;
}

static bool ask(dome_env *env, const dome_wire_back *back, void (*otherwise)(void *ctx, const dome_wire_back *back))
{
    pthread_t thread;
    if (__atomic_load_n(&place.state, __ATOMIC_ACQUIRE) != STAYS)
        return false;
    g_free(place.plan);
    g_free(place.avoid);
    place.number = back->number;
    place.rank = (int)back->rank;
    place.plan = g_strdup(back->plan);
    place.avoid = g_strdup(back->avoid);
    asking *a = g_new0(asking, 1);
    *a = (asking){env, *back, otherwise};
    a->back.plan = g_strdup(back->plan);
    a->back.avoid = g_strdup(back->avoid);
    const bool asked = step(STAYS, ASKED);
    if (asked)
        dome__transport_ask_to_leave(); /* a send that is roused leaves because of it */
    if (!asked || dome__thread_start(&thread, rouse, a) != 0) {
        const bool leaves = asked && !step(ASKED, CLOSED);
        free_asking(a);
        return leaves;
    }
    pthread_detach(thread);
    return true;
}

/* ---- in the task's own thread ---- */

/* While a host is down, the connection to the daemon stays open, as that of a process that becomes the program anew does
 * (healing.c). The watcher's thread may read the list before: it is freed later. */
static void hold_connection(dome_change *c)
{
    static char *before;
    const int fd = place.avoid[0] ? c->start.provider->launcher->daemon_fd() : -1;
    const int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    g_free(before);
    before = c->exec.held;
    if (!place.avoid[0])
        dome__descriptors_close(before);
    c->exec.held = !place.avoid[0] ? g_strdup(" ") : copy < 0 ? g_strdup(before) : g_strdup_printf("%s%d ", before, copy);
}

static void leave_view(dome_env *env)
{
    dome_change *c = env->change;
    set_transport(NULL);
    hold_connection(c);
    dome__view_times_begin(&c->times);
    c->healing.losses++;
    dome__watch_leave(env->watch);
    env->call_log = NULL;
    dome__watch_go_over(g_steal_pointer(&env->watch));
    dome__peer_stop(env);
    env->stamp = NULL;
    env->wait_ns = NULL;
    dome__transport_free(g_steal_pointer(&env->transport));
    g_clear_pointer(&env->hosts, g_strfreev);
}

/* What a process that becomes the program anew would read in its note. */
static void note_view(dome_env *env)
{
    dome_change *c = env->change;
    c->view.number = place.number;
    c->view.rank = place.rank;
    c->view.back = true;
    c->view.loops = 0;
    c->view.piece = (dome_handover_piece){-1, -1};
    g_clear_pointer(&c->view.standby, g_free);
    dome__view_plan_clear(&c->view.plan);
    dome__view_plan_parse(place.plan, 0, &c->view.plan);
    char *avoid = dome__exec_avoided(c, place.avoid);
    g_free(c->start.avoid);
    c->start.avoid = avoid;
    env->options.start.tasks = c->view.plan.size;
}

static int enter_view(dome_env *env)
{
    note_view(env);
    dome__start(env, env->change->exec.words);
    env->transport->logs = env->transport->meets = true;
    dome__account_forget_waits(&env->transport->account, env->size);
    int status = dome__join_view(env, true);
    dome__watch_beat(env->watch);
    dome__change_stands(env);
    if (status == DOME_OK)
        status = dome__comm_meet(env);
    env->transport->meets = false;
    return status;
}

/* The thread that rouses this one may have lost patience: then the process becomes the program anew. */
int dome__go_over_leave(dome_env *env)
{
    if (!step(ASKED, LEAVES))
        for (;;)
            pause();
    dome__comm_drop_half(env);
    leave_view(env);
    const int status = enter_view(env);
    dome__transport_stays();
    set_transport(env->transport);
    step(LEAVES, STAYS);
    return status == DOME_OK ? dome__renew_copies(env) : status;
}

void dome__go_over_open(dome_env *env)
{
    if (dome__comm_meet(env) != DOME_OK)
        return;
    env->transport->meets = false;
    set_transport(env->transport);
    dome__healing_ask_by(ask);
    if (env->watch && !env->trace) /* a trace is of one process image */
        __atomic_store_n(&place.state, STAYS, __ATOMIC_RELEASE);
    dome__renew_copies(env);
}

void dome__go_over_close(void)
{
    set_transport(NULL);
    if (!step(STAYS, CLOSED))
        step(ASKED, CLOSED);
    dome__transport_leave_to(NULL);
}
