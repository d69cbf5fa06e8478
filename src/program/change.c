#include "program/change.h"

#include "ckpt/checkpoint.h"
#include "core/object_private.h"
#include "machine/parker.h"
#include "program/bind.h"
#include "program/placement.h"
#include "program/profile.h"
#include "program/program_operations.h"
#include "program/progress.h"
#include "program/recording.h"
#include "program/restarts.h"
#include "program/start.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/say.h"
#include "system/time.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"
#include "watch/watch.h"
#include "wire/view_note.h"

#include <dome/env.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- descriptors ---- */

/* The descriptors that the process was given, separated by blanks, with one at each end. All others end with the view. */
static char *given;

static void for_descriptors(void (*visit)(int fd, void *ctx), void *ctx)
{
    GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (atoi(name) > STDERR_FILENO)
            visit(atoi(name), ctx);
    if (dir)
        g_dir_close(dir);
}

static void note_given(int fd, void *list)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC))
        g_string_append_printf(list, "%d ", fd);
}

void dome__change_begin(void)
{
    if (given)
        return;
    dome__own_program_begin();
    GString *list = g_string_new(" ");
    for_descriptors(note_given, list);
    given = g_string_free(list, FALSE);
}

/* The descriptors that are in both lists. */
static char *in_both(const char *some, const char *others)
{
    GString *list = g_string_new(" ");
    char **words = g_strsplit(some, " ", 0);
    for (char **word = words; *word; word++) {
        char *spaced = g_strdup_printf(" %s ", *word);
        if (**word && strstr(others, spaced))
            g_string_append_printf(list, "%s ", *word);
        g_free(spaced);
    }
    g_strfreev(words);
    return g_string_free(list, FALSE);
}

/* PVM's library makes the closing of a connection wait until the other end has all data: for a host that has been cut off that
 * would take long. */
static void close_own(int fd, void *held)
{
    const struct linger none = {0};
    char word[16];
    g_snprintf(word, sizeof word, " %d ", fd);
    if (strstr(held, word) || strstr(given, word))
        return;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/* For the next view. */
static void take_along(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}

/* ---- what a task leaves for itself ---- */

static char *ids_text(const int *ids, int n)
{
    GString *text = g_string_new(NULL);
    for (int r = 0; ids && r < n; r++)
        g_string_append_printf(text, "%s%d", r ? " " : "", ids[r]);
    return g_string_free(text, FALSE);
}

/* By rank; NULL if there are none. */
static int *parse_ids(const char *text, int n)
{
    char **words = g_strsplit(text, " ", 0);
    int *ids = (int)g_strv_length(words) == n ? g_new0(int, n) : NULL;
    for (int r = 0; ids && r < n; r++)
        ids[r] = atoi(words[r]);
    g_strfreev(words);
    return ids;
}

/* parked: the newcomers that wait for a view of so many members. */
static char *legacy(const dome_env *env, uint64_t loops, int members, dome_handover_piece piece)
{
    const dome_change *c = env->change;
    char *parked = ids_text(c->parked, members);
    char *text = dome__view_legacy_text(&(dome_view_legacy){.loops = loops,
                                                            .parked = parked,
                                                            .piece_fd = piece.fd,
                                                            .piece_number = piece.number,
                                                            .requests = c->requests,
                                                            .supervised = c->supervised,
                                                            .outside = c->outside,
                                                            .first = c->first,
                                                            .provider = c->provider->transport->name,
                                                            .host = c->host,
                                                            .slots = c->slots ? c->slots : "",
                                                            .given = given,
                                                            .hub = c->hub});
    g_free(parked);
    return text;
}

static char *note(const dome_env *env, uint32_t view, int rank, const char *plan, const char *avoid, const char *held,
                  const char *rest)
{
    const dome_change *c = env->change;
    dome_view_entry entry = {.number = view,
                             .rank = rank,
                             .plan = plan,
                             .stood = g_atomic_int_get(&c->stood),
                             .kept = {c->kept[0], c->kept[1]},
                             .losses = c->losses,
                             .program_ns = c->program_ns,
                             .profile = c->profile,
                             .begun_ns = c->begun_ns,
                             .members_ns = c->members_ns,
                             .blocks_ns = c->blocks_ns,
                             .avoid = avoid,
                             .held = held,
                             .rest = rest};
    const dome_loop_begin begin = dome__progress_begin(env);
    entry.progress_ns = begin.ns;
    entry.progress_first = begin.done;
    entry.progress_total = begin.total;
    return dome__view_entry_text(&entry);
}

static bool keep_from_exec(int fd)
{
    return fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* A process in place of task 0 has no past: what it knows of losses, a supervisor has told it. */
static void take_past(dome_change *c, const dome_view_entry *e)
{
    c->stood = e->stood;
    c->kept[0] = e->kept[0];
    c->kept[1] = e->kept[1];
    c->losses = MAX(c->losses, e->losses);
    c->program_ns = e->program_ns ? MIN(c->program_ns, e->program_ns) : c->program_ns;
    c->begun_ns = e->begun_ns;
    c->members_ns = e->members_ns;
    c->blocks_ns = e->blocks_ns;
    c->profile = keep_from_exec(e->profile) ? e->profile : -1;
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        keep_from_exec(c->kept[k]);
}

static void set_flags(const char *descriptors, int flags)
{
    char **words = g_strsplit(descriptors, " ", 0);
    for (char **word = words; *word; word++)
        if (**word)
            fcntl(atoi(*word), F_SETFD, flags);
    g_strfreev(words);
}

/* The words that are in either text, separated by blanks. */
static char *in_either(const char *some, const char *others)
{
    char **known = g_strsplit(some, " ", 0), **words = g_strsplit(others, " ", 0);
    GString *list = g_string_new(some);
    for (char **word = words; *word; word++)
        if (**word && !g_strv_contains((const char *const *)known, *word))
            g_string_append_printf(list, "%s%s", list->len ? " " : "", *word);
    g_strfreev(known);
    g_strfreev(words);
    return g_string_free(list, FALSE);
}

static void avoid_too(dome_change *c, const char *hosts)
{
    char *before = c->avoid;
    c->avoid = in_either(before ? before : "", hosts ? hosts : "");
    g_free(before);
}

/* The hosts of a list without those on which the plan starts tasks by name: these are there again. */
static char *without_planned(const char *hosts, const dome_view_plan *plan)
{
    char **words = g_strsplit(hosts, " ", 0);
    GString *list = g_string_new(NULL);
    for (char **word = words; *word; word++) {
        bool planned = false;
        for (int r = 0; r < plan->size && !planned; r++)
            planned = g_strcmp0(plan->members[r].host, *word) == 0;
        if (**word && !planned)
            g_string_append_printf(list, "%s%s", list->len ? " " : "", *word);
    }
    g_strfreev(words);
    return g_string_free(list, FALSE);
}

static void take_entry(dome_env *env, dome_change *c, const dome_view_entry *e)
{
    const dome_loop_begin begin = {e->progress_ns, e->progress_first, e->progress_total};
    c->view = e->number;
    c->rank = e->rank;
    avoid_too(c, e->avoid);
    c->held = g_strdup(e->held);
    set_flags(c->held, FD_CLOEXEC);
    take_past(c, e);
    dome__progress_continue(env, &begin);
}

static void take_legacy(dome_env *env, dome_change *c, const dome_view_legacy *l)
{
    char *before = given;
    if (l->slots[0]) {
        g_free(c->slots);
        c->slots = g_strdup(l->slots);
    }
    c->parked = parse_ids(l->parked, c->plan.size);
    c->loops = l->loops;
    c->piece = (dome_handover_piece){l->piece_fd, l->piece_number};
    keep_from_exec(c->piece.fd);
    c->unblock = c->requests = l->requests;
    c->first = l->first;
    c->outside = l->outside;
    c->provider_name = g_strdup(l->provider);
    c->host = g_strdup(l->host);
    c->hub = g_strdup(l->hub);
    env->supervised = c->supervised = l->supervised;
    given = in_both(before, l->given); /* a process in place of task 0 may not have them all */
    g_free(before);
}

/* A note of another version comes from another version of the library, which an update has put in the place of the first. */
static void take_note(dome_env *env, dome_change *c, const char *text)
{
    dome_entry_note note;
    char *why = NULL;
    if (dome__view_note_read(text, &note, &why) && !dome__view_plan_parse(note.entry.plan, 0, &c->plan))
        why = g_strdup("the value of 'plan' in it is damaged");
    if (why)
        dome__start_failed(NULL, 1,
                           g_strdup_printf("this process cannot take the note that it was left, %s: %s; start the program again, "
                                           "with the same library until its end",
                                           DOME_VARIABLE_VIEW, why));
    c->back = true;
    take_entry(env, c, &note.entry);
    take_legacy(env, c, &note.legacy);
    env->options.start.tasks = c->plan.size;
    dome__view_note_clear(&note);
}

/* The supervisor's note about earlier attempts. */
static void take_losses(dome_change *c)
{
    const char *text = g_getenv(DOME_VARIABLE_LOSSES);
    char *end = NULL;
    c->losses = text ? (int)g_ascii_strtoll(text, &end, 10) : 0;
    const double seconds = text ? g_ascii_strtod(end, NULL) : 0;
    c->program_ns = dome__now_ns();
    c->program_ns -= MIN((uint64_t)(MAX(seconds, 0) * 1e9), c->program_ns);
    g_unsetenv(DOME_VARIABLE_LOSSES);
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

dome_change *dome__change_new(dome_env *env)
{
    dome_change *c = g_new0(dome_change, 1);
    const char *text = g_getenv(DOME_VARIABLE_VIEW);
    sigset_t mask;
    c->piece = (dome_handover_piece){-1, -1};
    c->kept[0] = c->kept[1] = -1;
    c->profile = -1;
    c->directory = dome__own_directory();
    c->words = dome__restarts_command_line();
    c->requests = pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 && !sigismember(&mask, SIGTERM);
    c->slots = g_strdup(g_getenv(DOME_VARIABLE_SLOTS));
    avoid_too(c, g_getenv(DOME_VARIABLE_AVOID));
    take_losses(c);
    if (text)
        take_note(env, c, text);
    if (!c->held)
        c->held = g_strdup(" ");
    g_unsetenv(DOME_VARIABLE_VIEW); /* programs that this one may start must not see it */
    for (int k = 0; env->options.loss.action == DOME_LOSS_TELL && k < DOME_KEPT_FILES; k++)
        if (c->kept[k] < 0)
            c->kept[k] = make_kept();
    return c;
}

void dome__change_free(dome_change *c)
{
    if (!c)
        return;
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        if (c->kept[k] >= 0)
            close(c->kept[k]);
    g_clear_pointer(&c->functions, g_array_unref);
    g_free(c->hub);
    g_strfreev(c->words);
    g_free(c->program);
    g_free(c->host);
    if (c->profile >= 0)
        close(c->profile);
    g_free(c->provider_name);
    g_free(c->slots);
    g_free(c->avoid);
    g_free(c->held);
    g_free(c->parked);
    g_free(c->legacy);
    g_free(c->carried);
    g_free(c->late);
    g_free(c->transit.text);
    g_strfreev(c->environment);
    dome__view_plan_clear(&c->plan);
    g_free(c);
}

/* Signals with requests (docs/checkpoints.md) would end a process that has just been replaced. */
static sigset_t requests(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    return set;
}

static void say_stands(const dome_env *env)
{
    dome_wire_view view = {.size = (uint32_t)env->size,
                           .least = (uint32_t)env->options.size.least,
                           .most = (uint32_t)env->options.size.most,
                           .saves = env->checkpoints != NULL,
                           .legacy = env->change->legacy};
    dome__checkpoint_from(env, &view.checkpoint, &view.loop);
    dome__watch_stands(env->watch, &view);
}

/* Whether the view was made by a change that was meant, and the tasks carry the state. The same on all tasks. */
static bool is_carried(const dome_change *c)
{
    return c->view > 0 && !c->heals;
}

dome_handover_piece dome__change_piece(const dome_env *env)
{
    const dome_handover_piece *p = &env->change->piece;
    return (dome_handover_piece){p->fd >= 0 ? fcntl(p->fd, F_DUPFD_CLOEXEC, 0) : -1, p->number};
}

int dome__change_settle(dome_env *env)
{
    dome_change *c = env->change;
    if (!is_carried(c))
        return DOME_OK;
    if (env->rank == 0) {
        say_stands(env);
        if (!dome__watch_await_stands(env->watch, 2 * MAX(env->options.timeout, 10)))
            dome__watch_fail(env->watch, DOME_END_LOSS, 1, "the process that watches over the program does not answer");
    }
    int status = dome__barrier(env->transport);
    if (status)
        return dome__fail_transport(env, status);
    if (c->piece.fd >= 0)
        close(c->piece.fd);
    c->piece.fd = -1;
    return DOME_OK;
}

void dome__change_stands(dome_env *env)
{
    const sigset_t set = requests();
    dome_change *c = env->change;
    g_atomic_int_set(&c->stood, env->size);
    if (env->rank == 0 && env->watch && !is_carried(c))
        say_stands(env);
    if (c->unblock)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    c->unblock = false;
    c->stood_ns = dome__now_ns();
}

void dome__change_over(dome_env *env)
{
    dome_change *c = env->change;
    uint64_t took, at;
    if (!c->back || c->told || env->rank != 0 || !env->watch)
        return;
    c->told = true;
    dome__checkpoint_restored(env, &took, &at);
    const uint64_t before = c->stood_ns - MIN(c->begun_ns, c->stood_ns), known = c->members_ns + c->blocks_ns,
                   after = at > c->stood_ns ? at - c->stood_ns : 0;
    const dome_wire_times times = {.members = c->members_ns,
                                   .blocks = c->blocks_ns + took,
                                   .joining = before - MIN(known, before),
                                   .preamble = after - MIN(took, after)};
    dome__watch_times(env->watch, &times);
}

/* ---- healing ---- */

static void go_back(void *ctx, const dome_wire_back *back);

/* The number of the newest checkpoint in the program's directory; 0: there is none. */
static uint64_t newest(const dome_env *env)
{
    const char *directory = env->options.checkpoint.directory;
    dome_checkpoint_point point = {0};
    if (directory && strcmp(directory, DOME_CHECKPOINT_MEMORY) == 0)
        directory = g_getenv(DOME_VARIABLE_MEMORY);
    if (directory)
        dome__checkpoint_newest(directory, env->change->program, &point);
    return point.number;
}

void dome__change_ready(dome_env *env, const char *host)
{
    dome_change *c = env->change;
    if (!(c->provider->launcher->can & DOME_LAUNCHER_AGAIN) || !c->hub)
        return;
    char *own = g_strdup(host);
    g_free(c->host);
    c->host = own;
    c->supervised = env->supervised;
    if (c->view == 0 && env->options.restart.from == DOME_RESTART_NUMBER)
        c->first = newest(env);
    c->legacy = legacy(env, 0, 0, (dome_handover_piece){-1, -1});
    c->carried = legacy(env, c->loops, 0, c->piece);
    c->environment = g_get_environ();
    pthread_sigmask(SIG_SETMASK, NULL, &c->mask);
    dome__watch_on_back(env->watch, go_back, env);
}

bool dome__change_keeps(const dome_env *env)
{
    return env->options.loss.action == DOME_LOSS_TELL && env->watch;
}

int dome__change_share(dome_env *env)
{
    dome_change *c = env->change;
    uint64_t words[3] = {0};
    if (c->view == 0)
        return DOME_OK;
    if (env->rank == 0) {
        /* As long as the run has written none, the newest one is not of this run. */
        const bool same = env->options.restart.from == DOME_RESTART_NUMBER && newest(env) == c->first;
        words[0] = c->piece.fd < 0;
        words[1] = same ? DOME_RESTART_NUMBER : DOME_RESTART_AUTO;
        words[2] = env->options.restart.number;
    }
    enum { STOOD, LOSSES, PASSED, NUMBERS };
    const uint64_t now = dome__now_ns();
    int64_t before[NUMBERS] = {[STOOD] = c->stood, [LOSSES] = c->losses, [PASSED] = (int64_t)(now - c->program_ns)};
    int status = dome__bcast(env->transport, 0, DOME_U64, words, G_N_ELEMENTS(words));
    if (!status) /* newcomers do not know */
        status = dome__allreduce(env->transport, DOME_I64, before, NUMBERS, dome__combine_max_i64, NULL);
    if (status)
        return dome__fail_transport(env, status);
    c->before = (int)before[STOOD];
    c->losses = (int)before[LOSSES];
    c->program_ns = now - MIN((uint64_t)before[PASSED], now);
    c->heals = words[0] != 0;
    if (c->heals) {
        env->options.restart.from = (dome_restart)words[1];
        env->options.restart.number = words[2];
        env->supervised = true; /* the hub tells from where the program goes on */
    }
    return DOME_OK;
}

/* ---- the change ---- */

/* Timers survive execv. A signal of theirs would end the new program before it has its handlers. */
static void stop_timers(void)
{
    const struct itimerval none = {0};
    setitimer(ITIMER_REAL, &none, NULL);
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    setitimer(ITIMER_PROF, &none, NULL);
}

/* Becomes the program anew, with this note. Requests are blocked. */
static void become_anew(const dome_change *c, const char *view, const char *held, char **environment) __attribute__((noreturn));

static void become_anew(const dome_change *c, const char *view, const char *held, char **environment)
{
    char *path = dome__own_program_unchanged();
    dome__bind_undo();
    stop_timers();
    environment = g_environ_setenv(environment, DOME_VARIABLE_VIEW, view, TRUE);
    for_descriptors(close_own, dome__unconst(held));
    set_flags(held, 0);
    take_along(c->profile);
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        take_along(c->kept[k]);
    if (c->directory && chdir(c->directory) == 0)
        execve(path ? path : "/proc/self/exe", c->words, environment);
    /* dome__say could wait for the main thread, which this one has left where it was. */
    dome__say_at_once("a task on host %s cannot become the program again: %s", c->host, g_strerror(errno));
    _exit(1);
}

/* In the watcher's thread: the main thread may compute, or wait for ever for a task that is lost. While a host is down, the
 * connection to PVM's daemon stays open. Otherwise the daemon would tell the daemons of all hosts to which this task was
 * connected that the task has ended; as long as one of them does not answer, the others get messages only after seconds. */
static void go_back(void *ctx, const dome_wire_back *back)
{
    const dome_env *env = ctx;
    dome_change *c = env->change;
    c->begun_ns = dome__now_ns();
    c->members_ns = c->blocks_ns = 0;
    c->losses++;
    const int fd = c->provider->launcher->daemon_fd();
    char *held = !back->avoid[0] ? g_strdup(" ") : fd < 0 ? g_strdup(c->held) : g_strdup_printf("%s%d ", c->held, fd);
    char *avoid = in_either(c->avoid, back->avoid);
    char *view = note(env, back->number, (int)back->rank, back->plan, avoid, held, back->keeps ? c->carried : c->legacy);
    const sigset_t set = requests();
    sigset_t mask = c->mask;
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&set, number) == 1)
            sigaddset(&mask, number);
    dome__checkpoint_go_back();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (back->keeps && c->piece.fd >= 0)
        held = g_strdup_printf("%s%d ", held, c->piece.fd);
    become_anew(c, view, held, g_steal_pointer(&c->environment));
}

static void become_planned(dome_env *env, const dome_view_plan *plan, dome_handover_piece piece) __attribute__((noreturn));

static void become_planned(dome_env *env, const dome_view_plan *plan, dome_handover_piece piece)
{
    const dome_change *c = env->change;
    char *members = dome__view_plan_text(plan);
    char *rest = legacy(env, c->loops + dome__watch_passed(env->watch), plan->size, piece);
    char *avoid = without_planned(c->avoid, plan);
    char *view = note(env, c->view + 1, dome__view_plan_next(plan, env->rank), members, avoid, c->held, rest);
    char *held = piece.fd >= 0 ? g_strdup_printf("%s%d ", c->held, piece.fd) : g_strdup(c->held);
    become_anew(c, view, held, g_get_environ());
}

/* From here there is no way back. */
static void go_over(dome_env *env, const dome_view_plan *plan, dome_handover *handover) __attribute__((noreturn));

static void go_over(dome_env *env, const dome_view_plan *plan, dome_handover *handover)
{
    dome_change *c = env->change;
    int failed = env->options.profile ? dome__profile_keep(env) : DOME_OK;
    const uint64_t begin = dome__now_ns();
    const dome_handover_piece piece = dome__handover_write(handover);
    c->blocks_ns += dome__since_ns(begin);
    const bool stays = dome__view_plan_next(plan, env->rank) >= 0;
    const sigset_t set = requests();
    char *text = dome__view_plan_text(plan);
    if (env->rank == 0)
        dome__watch_beat(env->watch); /* the hub learns of the checkpoint that has just been written */
    dome__watch_change(env->watch, c->view + 1, text);
    g_free(text);
    if (!failed)
        failed = dome__barrier(env->transport); /* until then others may need this task */
    if (failed)
        dome__fail_transport(env, failed);
    dome__recording_finish(env);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    dome__checkpoint_leave(env);
    fflush(NULL);
    dome__watch_leave(env->watch);
    env->stamp = NULL;
    env->wait_ns = NULL;
    dome__transport_free(g_steal_pointer(&env->transport));
    if (stays) {
        dome__watch_stop(env->watch);
        become_planned(env, plan, piece);
    }
    env->trail = NULL;
    dome__watch_close(g_steal_pointer(&env->watch));
    dome__set_this_env(NULL);
    exit(0);
}

/* Why this program cannot have so many tasks, the same on all of them: a static text, or NULL. */
static const char *objection(const dome_env *env, int size)
{
    const dome_launcher *launcher = env->change->provider->launcher;
    if (!(launcher->can & DOME_LAUNCHER_AGAIN))
        return "its tasks cannot come back into another view";
    if (size > launcher->most.on_host && dome__on_one_host(env))
        return "these are more tasks than a host can have";
    return NULL;
}

void dome__change_refuse(dome_env *env, uint64_t order, const char *why)
{
    if (env->rank == 0)
        dome__watch_refuse(env->watch, order, why);
}

void dome__change_say_no(dome_env *env, uint64_t order, int wish, const char *why)
{
    if (order)
        dome__change_refuse(env, order, why);
    if (wish && env->rank == 0)
        dome__say("dome_resize: the program keeps its %d task%s: %s", env->size, env->size == 1 ? "" : "s", why);
}

/* Why this task cannot become the program anew: a static text, or NULL. */
static const char *obstacle(const dome_change *c)
{
    char *path = dome__own_program_unchanged();
    const bool there = path != NULL, runs = there && access(path, X_OK) == 0;
    g_free(path);
    if (!runs)
        return there ? "its executable file can no longer be executed"
                     : "its executable file has been replaced or removed since it was started";
    return c->directory && access(c->directory, X_OK) == 0
               ? NULL
               : "the directory in which it was started has been removed or closed to it";
}

/* The host on which a newcomer is started: one of these, or NULL with *why. tasks: of each host so far. most: of a host. */
static const char *host_for(const dome_view_member *member, char *const *hosts, const int *slots, int *tasks, int most,
                            char **why)
{
    const int n = (int)g_strv_length(dome__unconst(hosts));
    int host = member->host ? dome__placement_find(hosts, member->host) : dome__placement_next(n, slots, tasks);
    if (host < 0) {
        *why = g_strdup_printf("host %s is not in the virtual machine", member->host);
        return NULL;
    }
    if (tasks[host] >= most) {
        *why = g_strdup_printf("host %s would have more tasks than a host can have, %d", hosts[host], most);
        return NULL;
    }
    tasks[host]++;
    return hosts[host];
}

/* Has the newcomers started on these hosts, by rank (NULL: no newcomer). Returns NULL, or why that cannot be (g_free'd). */
static char *park(const dome_env *env, const char *const *names, int size)
{
    const dome_change *c = env->change;
    char *path = dome__own_program_unchanged(), **environment = g_get_environ();
    GString *hosts = g_string_new(NULL);
    for (int r = 0; r < size; r++)
        g_string_append_printf(hosts, "%s%s", r ? " " : "", names[r] ? names[r] : "-");
    const int fd = dome__parker_order(path ? path : c->words[0], c->words + 1, environment);
    char *why = fd < 0 ? g_strdup_printf("there is no memory for starting tasks: %s", g_strerror(errno))
                       : dome__watch_park(env->watch, fd, hosts->str, c->parked, size);
    if (fd >= 0)
        close(fd);
    g_string_free(hosts, TRUE);
    g_strfreev(environment);
    g_free(path);
    return why;
}

/* Task 0: starts the newcomers, which wait for the next view. *why (g_free'd): why that cannot be; then none is left. */
static void start_newcomers(dome_env *env, const dome_view_plan *plan, char **why)
{
    dome_change *c = env->change;
    const dome_launcher *launcher = c->provider->launcher;
    char **hosts = launcher->hosts(why);
    if (!hosts)
        return;
    int *slots = dome__placement_slots(hosts, c->slots), *tasks = g_new0(int, g_strv_length(hosts) + 1);
    const char **names = g_new0(const char *, plan->size);
    dome__placement_avoid(hosts, c->avoid, slots);
    for (int r = 0; r < plan->size; r++) {
        const int before = plan->members[r].before;
        const int host = before != DOME_VIEW_NEWCOMER ? dome__placement_find(hosts, env->hosts[before]) : -1;
        if (host >= 0)
            tasks[host]++;
    }
    for (int r = 0; r < plan->size && !*why; r++)
        if (plan->members[r].before == DOME_VIEW_NEWCOMER)
            names[r] = host_for(&plan->members[r], hosts, slots, tasks, launcher->most.on_host, why);
    g_free(c->parked);
    c->parked = g_new0(int, plan->size);
    if (!*why)
        *why = park(env, names, plan->size);
    g_free(names);
    g_free(tasks);
    g_free(slots);
    g_strfreev(hosts);
}

/* Everything that may fail before the change. *why as in handover.h. */
static int prepare(dome_env *env, const dome_view_plan *plan, dome_handover **handover, char **why)
{
    dome_change *c = env->change;
    bool *stays = g_new0(bool, env->size);
    for (int r = 0; r < env->size; r++)
        stays[r] = dome__view_plan_next(plan, r) >= 0;
    int status = dome__checkpoint_handover(env, c->program, c->loops + dome__watch_passed(env->watch), stays, handover, why);
    g_free(stays);
    c->blocks_ns = dome__since_ns(c->begun_ns);
    c->members_ns = 0;
    if (status != DOME_OK || *why || dome__view_plan_newcomers(plan) == 0)
        return status;
    const uint64_t begin = dome__now_ns();
    if (env->rank == 0)
        start_newcomers(env, plan, why);
    status = dome__handover_confirm(*handover, why);
    c->members_ns = dome__since_ns(begin);
    if (status != DOME_OK || *why)
        g_clear_pointer(handover, dome__handover_free);
    return status;
}

/* The plan for this boundary, of size 0 if there is none: the program's own wish goes before an order. */
static dome_view_plan plan_for(const dome_env *env, int wish, const char *ordered)
{
    dome_view_plan plan = {0};
    if (wish)
        return dome__view_plan_resize(env->size, wish);
    if (ordered)
        dome__view_plan_parse(ordered, env->size, &plan);
    return plan;
}

int dome__change_boundary(dome_env *env, uint64_t order, const char *ordered, const char *bound)
{
    dome_change *c = env->change;
    const int wish = c->wish;
    c->wish = 0;
    if (!wish && !ordered)
        return DOME_OK;
    dome_view_plan plan = plan_for(env, wish, ordered);
    if (plan.size == 0 || !dome__view_plan_changes(&plan, env->size)) {
        if (order)
            dome__change_refuse(env, order, "nothing changes");
        dome__view_plan_clear(&plan);
        return DOME_OK;
    }
    g_clear_pointer(&c->parked, g_free); /* of the change before */
    char *why = g_strdup(objection(env, plan.size));
    if (!why && plan.size != env->size)
        why = g_strdup(bound);
    dome_handover *handover = NULL;
    int status = DOME_OK;
    if (!why) {
        dome__progress_hide(env);
        c->begun_ns = dome__now_ns();
        status = dome__checkpoint_before_change(env);
        why = g_strdup(obstacle(c));
        if (status == DOME_OK)
            status = prepare(env, &plan, &handover, &why);
    }
    if (status == DOME_OK && !why)
        go_over(env, &plan, handover);
    dome__view_plan_clear(&plan);
    if (status != DOME_OK && order)
        dome__change_refuse(env, order, dome_status_text((dome_status)status));
    else if (why)
        dome__change_say_no(env, order, wish, why);
    g_free(why);
    return status;
}

/* ---- for programs ---- */

/* What only task 0 knows. */
static char *never(const dome_env *env)
{
    if (env->rank != 0)
        return NULL;
    if (!env->change->hub)
        return g_strdup("a program of one task has no process that watches over it: start it by dome run --max, or with "
                        "--dome-max");
    if (env->change->console)
        return g_strdup_printf("a program that was started from the %s console keeps its tasks",
                               env->change->provider->launcher->title);
    return NULL;
}

/* Why --dome-min and --dome-max do not allow so many tasks: g_free'd; NULL: they do. */
static char *beyond(const dome_options *o, int tasks)
{
    const int least = MAX(o->size.least, 1);
    if (tasks < least)
        return g_strdup_printf("%d would be fewer than the least number of tasks, %d", tasks, least);
    if (o->size.most && tasks > o->size.most)
        return g_strdup_printf("%d would be more than the greatest number of tasks, %d", tasks, o->size.most);
    return NULL;
}

dome_status dome_resize(dome_env *env, int tasks)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_RESIZE, NULL, (uint64_t)tasks);
    const char *other = objection(env, tasks);
    char *why = never(env), *range = beyond(&env->options, tasks);
    int status = dome__agree(env, why ? DOME_ERR_STATE : DOME_OK, why);
    if (status == DOME_OK && range)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "%s", range);
    else if (status == DOME_OK && other)
        status = dome__fail(env, DOME_ERR_STATE, "the program keeps its %d tasks: %s", env->size, other);
    if (status == DOME_OK) {
        env->change->wish = tasks == env->size ? 0 : tasks;
        env->change->late_wish = 0;
    }
    g_free(why);
    g_free(range);
    return dome__end(&op, status);
}

uint64_t dome_epoch(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", 0);
    return env->change ? env->change->view : 0;
}

dome_status dome_on_view(dome_env *env, dome_view_function function, void *data)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(function, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_ON_VIEW, NULL, NULL, 0);
    dome_change *c = env->change;
    if (c->passed)
        return dome__end(&op, dome__fail(env, DOME_ERR_STATE,
                                         "the program has passed a loop boundary (dome_checkpoint) in this "
                                         "view: give the function right after dome_init"));
    const dome_view_news news = {.size = sizeof news,
                                 .reason = !c->heals                                    ? DOME_VIEW_CHANGED
                                           : env->options.loss.action == DOME_LOSS_TELL ? DOME_VIEW_LOST
                                                                                        : DOME_VIEW_HEALED,
                                 .epoch = c->view,
                                 .before = c->before,
                                 .tasks = env->size};
    const dome_view_call call = {function, data};
    if (!c->functions)
        c->functions = g_array_new(FALSE, FALSE, sizeof call);
    g_array_append_val(c->functions, call);
    dome__end(&op, DOME_OK);
    if (c->view > 0)
        function(env, &news, data);
    return DOME_OK;
}

dome_view_function dome__boundary_function(const dome_env *env, size_t k, void **data)
{
    const GArray *functions = env->change->functions;
    if (!functions || k >= functions->len)
        return NULL;
    const dome_view_call *call = &g_array_index(functions, dome_view_call, k);
    *data = call->data;
    return call->function;
}

size_t dome_lost(const dome_object *object, const dome_span **spans)
{
    DOME_NEEDS(object, "the object", 0);
    DOME_NEEDS(spans, "the place for the spans", 0);
    dome_env *env = dome_object_env(object);
    dome_operation op;
    *spans = NULL;
    dome__begin_with(&op, env, DOME_OP_LOST, object, NULL, 0);
    size_t count = 0;
    int status = DOME_OK;
    if (!dome__object_is_named(object))
        status =
            dome__fail(env, DOME_ERR_NAME, "the program has not given it a name, so nothing of it is kept: all of it is new");
    else
        count = dome__checkpoint_lost(env, object, spans);
    dome__end(&op, status);
    return count;
}
