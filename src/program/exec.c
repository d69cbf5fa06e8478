#include "program/exec.h"

#include "machine/bind.h"
#include "program/change.h"
#include "program/descriptors.h"
#include "program/progress.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/say.h"
#include "system/unconst.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the note ---- */

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

char *dome__exec_rest(const dome_env *env, uint64_t loops, int members, dome_handover_piece piece)
{
    const dome_change *c = env->change;
    char *standby = ids_text(c->view.standby, members);
    char *text = dome__view_facts_text(&(dome_view_facts){.loops = loops,
                                                          .standby = standby,
                                                          .piece_fd = piece.fd,
                                                          .piece_number = piece.number,
                                                          .requests = c->exec.requests,
                                                          .supervised = c->start.supervised,
                                                          .outside = c->start.outside,
                                                          .first = c->healing.first,
                                                          .provider = c->start.provider->transport->name,
                                                          .host = c->start.host,
                                                          .slots = c->start.slots ? c->start.slots : "",
                                                          .given = dome__descriptors_given(),
                                                          .hub = c->start.hub});
    g_free(standby);
    return text;
}

char *dome__exec_note(const dome_env *env, const dome_view_entry *how)
{
    const dome_change *c = env->change;
    const dome_loop_begin begin = dome__progress_begin(env);
    dome_view_entry entry = *how;
    dome__healing_note(&c->healing, &entry);
    dome__view_times_note(&c->times, &entry);
    entry.profile = c->profile;
    entry.progress_ns = begin.ns;
    entry.progress_first = begin.done;
    entry.progress_total = begin.total;
    return dome__view_entry_text(&entry);
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

char *dome__exec_avoided(const dome_change *c, const char *hosts)
{
    return in_either(c->start.avoid ? c->start.avoid : "", hosts ? hosts : "");
}

static void avoid_too(dome_change *c, const char *hosts)
{
    char *before = c->start.avoid;
    c->start.avoid = dome__exec_avoided(c, hosts);
    g_free(before);
}

static void take_entry(dome_env *env, dome_change *c, const dome_view_entry *e)
{
    const dome_loop_begin begin = {e->progress_ns, e->progress_first, e->progress_total};
    c->view.number = e->number;
    c->view.rank = e->rank;
    avoid_too(c, e->avoid);
    c->exec.held = g_strdup(e->held);
    dome__descriptors_set(c->exec.held, FD_CLOEXEC);
    dome__view_times_take(&c->times, e);
    c->profile = dome__descriptors_keep(e->profile) ? e->profile : -1;
    dome__progress_continue(env, &begin);
}

static void take_facts(dome_env *env, dome_change *c, const dome_view_facts *l)
{
    if (l->slots[0]) {
        g_free(c->start.slots);
        c->start.slots = g_strdup(l->slots);
    }
    c->view.standby = parse_ids(l->standby, c->view.plan.size);
    c->view.loops = l->loops;
    c->view.piece = (dome_handover_piece){l->piece_fd, l->piece_number};
    dome__descriptors_keep(c->view.piece.fd);
    c->exec.unblock = c->exec.requests = l->requests;
    c->start.outside = l->outside;
    c->start.provider_name = g_strdup(l->provider);
    c->start.host = g_strdup(l->host);
    c->start.hub = g_strdup(l->hub);
    env->supervised = c->start.supervised = l->supervised;
    dome__descriptors_only(l->given); /* a process in place of task 0 may not have them all */
}

/* A note of another version comes from another version of the library, which an update has put in the place of the first. Returns
 * NULL, or why the note cannot be taken. */
static char *take_note(dome_env *env, dome_change *c, const char *text)
{
    dome_entry_note note;
    char *why = NULL;
    if (!dome__view_note_read(text, &note, &why))
        return why;
    if (!dome__view_plan_parse(note.entry.plan, 0, &c->view.plan)) {
        dome__view_note_clear(&note);
        return g_strdup("the value of 'plan' in it is damaged");
    }
    c->view.back = true;
    take_entry(env, c, &note.entry);
    take_facts(env, c, &note.facts);
    dome__healing_take(&c->healing, &note.entry, &note.facts);
    env->options.start.tasks = c->view.plan.size;
    dome__view_note_clear(&note);
    return NULL;
}

/* The image before may have had a child that kept its memory for a checkpoint (memory/frozen.h): it ends with that image. */
static void reap_frozen(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    pid_t found = 0;
    for (int tries = 0; tries < 100 && (found = waitpid(-1, NULL, __WCLONE | WNOHANG)) >= 0; tries++)
        if (found == 0)
            nanosleep(&moment, NULL);
}

void dome__exec_begin(void)
{
    dome__own_program_begin();
    dome__descriptors_begin();
}

char *dome__exec_take(dome_env *env, dome_change *c, char **words)
{
    const char *text = g_getenv(DOME_VARIABLE_VIEW);
    char *why = NULL;
    sigset_t mask;
    c->exec.directory = dome__own_directory();
    c->exec.words = words;
    c->exec.requests = pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 && !sigismember(&mask, SIGTERM);
    c->start.slots = g_strdup(g_getenv(DOME_VARIABLE_SLOTS));
    avoid_too(c, g_getenv(DOME_VARIABLE_AVOID));
    if (text) {
        reap_frozen();
        why = take_note(env, c, text);
    }
    if (!c->exec.held)
        c->exec.held = g_strdup(" ");
    g_unsetenv(DOME_VARIABLE_VIEW); /* programs that this one may start must not see it */
    return why;
}

/* ---- the environment ---- */

void dome__exec_keep_own(dome_change *c)
{
    char **all = g_get_environ();
    GPtrArray *own = g_ptr_array_new();
    for (guint k = 0; all[k]; k++)
        if (g_str_has_prefix(all[k], "PVM") || g_str_has_prefix(all[k], "DOME_"))
            g_ptr_array_add(own, g_strdup(all[k]));
    g_ptr_array_add(own, NULL);
    g_strfreev(c->exec.own);
    c->exec.own = (char **)g_ptr_array_free(own, FALSE);
    g_strfreev(all);
}

char **dome__exec_environment(const dome_change *c)
{
    char **environment = g_get_environ();
    for (guint k = 0; c->exec.own && c->exec.own[k]; k++) {
        char **pair = g_strsplit(c->exec.own[k], "=", 2);
        if (pair[0] && pair[1])
            environment = g_environ_setenv(environment, pair[0], pair[1], TRUE);
        g_strfreev(pair);
    }
    return environment;
}

/* ---- signals ---- */

sigset_t dome__exec_requests(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    return set;
}

void dome__exec_unblock(dome_change *c)
{
    const sigset_t set = dome__exec_requests();
    if (c->exec.unblock)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    c->exec.unblock = false;
}

/* ---- becoming the program anew ---- */

/* Timers survive execv. A signal of theirs would end the new program before it has its handlers. */
static void stop_timers(void)
{
    const struct itimerval none = {0};
    setitimer(ITIMER_REAL, &none, NULL);
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    setitimer(ITIMER_PROF, &none, NULL);
}

void dome__exec_become(const dome_change *c, const char *note, const char *held, char **environment)
{
    char *path = dome__own_program_unchanged();
    dome__bind_undo();
    stop_timers();
    environment = g_environ_setenv(environment, DOME_VARIABLE_VIEW, note, TRUE);
    dome__descriptors_close_others(dome__unconst(held));
    dome__descriptors_set(held, 0);
    dome__descriptors_take_along(c->profile);
    for (int k = 0; k < DOME_KEPT_FILES; k++)
        dome__descriptors_take_along(c->healing.kept[k]);
    if (c->exec.directory && chdir(c->exec.directory) == 0)
        execve(path ? path : "/proc/self/exe", c->exec.words, environment);
    /* dome__say could wait for the main thread, which this one has left where it was. */
    dome__say_at_once("a task on host %s cannot become the program again: %s", c->start.host, g_strerror(errno));
    _exit(1);
}
