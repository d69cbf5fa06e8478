#include "program/healing.h"

#include "ckpt/checkpoint.h"
#include "program/change.h"
#include "program/descriptors.h"
#include "program/exec.h"
#include "system/environment_variables.h"
#include "system/time.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"
#include "watch/watch.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The supervisor's note about earlier attempts. */
static void take_losses(dome_healing *h)
{
    const char *text = g_getenv(DOME_VARIABLE_LOSSES);
    char *end = NULL;
    h->losses = text ? (int)g_ascii_strtoll(text, &end, 10) : 0;
    const double seconds = text ? g_ascii_strtod(end, NULL) : 0;
    h->program_ns = dome__now_ns();
    h->program_ns -= MIN((uint64_t)(MAX(seconds, 0) * 1e9), h->program_ns);
    g_unsetenv(DOME_VARIABLE_LOSSES);
}

void dome__healing_begin(dome_healing *h)
{
    h->kept[0] = h->kept[1] = -1;
    take_losses(h);
}

/* For this user alone, or nothing would be read from it (system/owners.h). -1: the system gives none. */
static int make_kept(void)
{
    const int fd = memfd_create("dome-kept", MFD_CLOEXEC);
    if (fd >= 0 && fchmod(fd, 0600) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void dome__healing_make_kept(dome_healing *h)
{
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        if (h->kept[k] < 0)
            h->kept[k] = make_kept();
}

void dome__healing_clear(dome_healing *h)
{
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        if (h->kept[k] >= 0)
            close(h->kept[k]);
    g_free(h->facts);
    g_free(h->carried);
    g_strfreev(h->environment);
}

void dome__healing_note(const dome_healing *h, dome_view_entry *entry)
{
    entry->stood = g_atomic_int_get(&h->stood);
    entry->kept[0] = h->kept[0];
    entry->kept[1] = h->kept[1];
    entry->losses = h->losses;
    entry->program_ns = h->program_ns;
}

/* A process in place of task 0 has no past: what it knows of losses, a supervisor has told it. */
void dome__healing_take(dome_healing *h, const dome_view_entry *entry, const dome_view_facts *facts)
{
    h->stood = entry->stood;
    h->first = facts->first;
    h->kept[0] = entry->kept[0];
    h->kept[1] = entry->kept[1];
    h->losses = MAX(h->losses, entry->losses);
    h->program_ns = entry->program_ns ? MIN(h->program_ns, entry->program_ns) : h->program_ns;
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        dome__descriptors_keep(h->kept[k]);
}

void dome__healing_stand(dome_healing *h, int tasks)
{
    g_atomic_int_set(&h->stood, tasks);
}

/* ---- going back ---- */

/* The number of the newest checkpoint in the program's directory; 0: there is none. */
static uint64_t newest(const dome_env *env)
{
    const char *directory = env->options.checkpoint.directory;
    dome_checkpoint_point point = {0};
    if (directory && strcmp(directory, DOME_CHECKPOINT_MEMORY) == 0)
        directory = g_getenv(DOME_VARIABLE_MEMORY);
    if (directory)
        dome__checkpoint_newest(directory, env->change->start.program, &point);
    return point.number;
}

/* In the watcher's thread: the main thread may compute, or wait for ever for a task that is lost. While a host is down, the
 * connection to the daemon stays open: PVM's would otherwise tell those of all hosts to which this task was connected that it has
 * ended, and as long as one of them does not answer the others get messages after seconds only. */
static void become_anew(void *ctx, const dome_wire_back *back)
{
    const dome_env *env = ctx;
    dome_change *c = env->change;
    dome__view_times_begin(&c->times);
    c->healing.losses++;
    const int fd = c->start.provider->launcher->daemon_fd();
    char *held = !back->avoid[0] ? g_strdup(" ") : fd < 0 ? g_strdup(c->exec.held) : g_strdup_printf("%s%d ", c->exec.held, fd);
    char *avoid = dome__exec_avoided(c, back->avoid);
    char *note = dome__exec_note(env, &(dome_view_entry){.number = back->number,
                                                         .rank = (int)back->rank,
                                                         .plan = back->plan,
                                                         .avoid = avoid,
                                                         .held = held,
                                                         .rest = back->keeps ? c->healing.carried : c->healing.facts});
    const sigset_t set = dome__exec_requests();
    sigset_t mask = c->healing.mask;
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&set, number) == 1)
            sigaddset(&mask, number);
    dome__checkpoint_go_back();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (back->keeps && c->view.piece.fd >= 0)
        held = g_strdup_printf("%s%d ", held, c->view.piece.fd);
    dome__exec_become(c, note, held, g_steal_pointer(&c->healing.environment));
}

static dome_healing_ask ask_to_stay; /* atomic */

void dome__healing_ask_by(dome_healing_ask ask)
{
    g_atomic_pointer_set(&ask_to_stay, ask);
}

static void go_back(void *ctx, const dome_wire_back *back)
{
    const dome_healing_ask ask = (dome_healing_ask)g_atomic_pointer_get(&ask_to_stay);
    if (!ask || !ask(ctx, back, become_anew))
        become_anew(ctx, back);
}

void dome__healing_ready(dome_env *env, const char *host)
{
    dome_change *c = env->change;
    if (!(c->start.provider->launcher->can & DOME_LAUNCHER_AGAIN) || !c->start.hub)
        return;
    char *own = g_strdup(host);
    g_free(c->start.host);
    c->start.host = own;
    c->start.supervised = env->supervised;
    if (c->view.number == 0 && env->options.restart.from == DOME_RESTART_NUMBER)
        c->healing.first = newest(env);
    g_free(c->healing.facts); /* of the view before, if the process was in it */
    g_free(c->healing.carried);
    g_strfreev(c->healing.environment);
    c->healing.facts = dome__exec_rest(env, 0, 0, (dome_handover_piece){-1, -1});
    c->healing.carried = dome__exec_rest(env, c->view.loops, 0, c->view.piece);
    c->healing.environment = g_get_environ();
    pthread_sigmask(SIG_SETMASK, NULL, &c->healing.mask);
    dome__watch_on_back(env->watch, go_back, env);
}

bool dome__healing_keeps(const dome_env *env)
{
    return env->options.loss.action == DOME_LOSS_TELL && env->watch;
}

int dome__healing_share(dome_env *env)
{
    dome_change *c = env->change;
    uint64_t words[4] = {0};
    if (c->view.number == 0)
        return DOME_OK;
    if (env->rank == 0) {
        /* As long as the run has written none, the newest one is not of this run. */
        const bool same = env->options.restart.from == DOME_RESTART_NUMBER && newest(env) == c->healing.first;
        words[0] = c->view.piece.fd < 0;
        words[1] = same ? DOME_RESTART_NUMBER : DOME_RESTART_AUTO;
        words[2] = env->options.restart.number;
        words[3] = c->view.in_place;
    }
    enum { STOOD, LOSSES, PASSED, NUMBERS };
    const uint64_t now = dome__now_ns();
    int64_t before[NUMBERS] = {
        [STOOD] = c->healing.stood, [LOSSES] = c->healing.losses, [PASSED] = (int64_t)(now - c->healing.program_ns)};
    int status = dome__bcast(env->transport, 0, DOME_U64, words, G_N_ELEMENTS(words));
    if (!status) /* newcomers do not know */
        status = dome__allreduce(env->transport, DOME_I64, before, NUMBERS, dome__combine_max_i64, NULL);
    if (status)
        return dome__fail_transport(env, status);
    c->healing.before = (int)before[STOOD];
    c->healing.losses = (int)before[LOSSES];
    c->healing.program_ns = now - MIN((uint64_t)before[PASSED], now);
    c->healing.heals = words[0] != 0;
    c->view.in_place = words[3] != 0; /* newcomers do not know */
    if (c->healing.heals) {
        env->options.restart.from = (dome_restart)words[1];
        env->options.restart.number = words[2];
        env->supervised = true; /* the hub tells from where the program goes on */
    }
    return DOME_OK;
}
