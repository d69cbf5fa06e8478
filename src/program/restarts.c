#include "program/restarts.h"

#include "ckpt/checkpoint.h"
#include "machine/remote.h"
#include "options/option_parse.h"
#include "program/start.h"
#include "system/deadline.h"
#include "system/environment_variables.h"
#include "system/files.h"
#include "system/own_program.h"
#include "system/run_directory.h"
#include "system/say.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- checkpoints in memory ---- */

/* In a directory that a supervisor of this host has made: the hosts that have one of the same name. The directories of
 * supervisors of other hosts have no such file, and no lock here. */
#define SUPERVISED "supervised"

/* Seconds within which hosts must have removed one. */
static const double REMOVAL = 15;

static void remove_here(const char *path)
{
    char *collected = g_build_filename(path, "collected", NULL);
    dome__remove_directory(collected);
    dome__remove_directory(path);
    g_free(collected);
}

/* Runs the command on each host. Returns the lines of the hosts that have not answered. */
static GPtrArray *run_there(GPtrArray *lines, const char *command, dome_deadline until)
{
    const guint n = lines->len;
    bool *answers = g_new0(bool, n + 1);
    const char **commands = g_new0(const char *, n + 1);
    GPtrArray *left = g_ptr_array_new();
    g_ptr_array_add(lines, NULL);
    for (guint i = 0; i < n; i++)
        commands[i] = command;
    dome__hosts_run_each((char **)lines->pdata, commands, dome__deadline_seconds(until), answers);
    for (guint i = 0; i < n; i++)
        if (!answers[i])
            g_ptr_array_add(left, lines->pdata[i]);
    g_free(commands);
    g_free(answers);
    return left;
}

/* On those of the hosts that answer: nobody does it later. A busy host, or one whose link was cut a moment ago, may need long to
 * answer, and ssh gives up after three seconds; so they are asked twice. */
static void remove_there(char **lines, const char *path)
{
    enum { TRIES = 2 };
    const dome_deadline until = dome__deadline_in(REMOVAL);
    GPtrArray *left = g_ptr_array_new();
    char *quoted = g_shell_quote(path), *command = g_strdup_printf("rm -rf %s", quoted);
    for (char **line = lines; *line; line++)
        g_ptr_array_add(left, *line);
    for (int k = 0; k < TRIES && left->len > 0 && !dome__deadline_passed(until); k++) {
        GPtrArray *asked = left;
        left = run_there(asked, command, until);
        g_ptr_array_unref(asked);
    }
    g_ptr_array_unref(left);
    g_free(command);
    g_free(quoted);
}

static void remove_left_behind(const void *ctx, const char *path)
{
    char *marker = g_build_filename(path, SUPERVISED, NULL), *text = NULL;
    (void)ctx;
    if (g_file_get_contents(marker, &text, NULL, NULL)) {
        char **lines = g_strsplit(g_strstrip(text), "\n", 0);
        remove_there(lines, path);
        remove_here(path);
        g_strfreev(lines);
    }
    g_free(text);
    g_free(marker);
}

static bool note_hosts(const dome_restarts *r)
{
    char *marker = g_build_filename(r->memory, SUPERVISED, NULL);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < r->used->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)r->used->pdata[i]);
    bool noted = g_file_set_contents_full(marker, text->str, (gssize)text->len, G_FILE_SET_CONTENTS_NONE, 0600, NULL);
    g_string_free(text, TRUE);
    g_free(marker);
    return noted;
}

static bool in_memory(const dome_options *options)
{
    return g_strcmp0(options->checkpoint.directory, DOME_CHECKPOINT_MEMORY) == 0;
}

/* They lie in a memory file system on each host: they outlive the program, and this process removes them. It holds the lock, as
 * do the hubs that it starts: until all of them have ended, no later run removes the directory. */
static bool make_memory(dome_restarts *r, char **message)
{
    static const char parent[] = "/dev/shm";
    if (!in_memory(r->options) || r->options->loss.action == DOME_LOSS_TELL)
        return true; /* with tell each task keeps its own state (ckpt/kept.h) */
    dome__run_directory_sweep(parent, remove_left_behind, NULL);
    r->memory = dome__run_directory_name(parent);
    if (!r->memory || g_mkdir(r->memory, 0700) != 0 || dome__run_directory_lock(r->memory) < 0 || !note_hosts(r)) {
        const char *why = g_strerror(errno);
        dome__remove_directory(r->memory);
        g_clear_pointer(&r->memory, g_free);
        if (r->options->checkpoint.by_default) {
            dome__say("no checkpoints are kept in memory, for which %s is needed: %s; --dome-checkpoint-dir keeps some", parent,
                      why);
            return true;
        }
        *message = g_strdup_printf("--dome-checkpoint-dir memory: needs a file system of memory at %s: %s", parent, why);
        return false;
    }
    g_setenv(DOME_VARIABLE_MEMORY, r->memory, TRUE);
    return true;
}

/* ---- for any supervisor ---- */

bool dome__restarts_open(dome_restarts *r, char **argv, const dome_options *options, char **hosts, char **message)
{
    *r = (dome_restarts){.argv = argv, .options = options, .used = g_ptr_array_new_with_free_func(g_free)};
    dome__restarts_use(r, hosts);
    return make_memory(r, message);
}

/* Lines of a hostfile: a name, and its options. */
static gboolean same_host(const void *a, const void *b)
{
    const size_t length = strcspn(a, " \t");
    return length == strcspn(b, " \t") && strncmp(a, b, length) == 0;
}

void dome__restarts_use(dome_restarts *r, char **hosts)
{
    const guint before = r->used->len;
    for (char **host = hosts; host && *host; host++)
        if (!g_ptr_array_find_with_equal_func(r->used, *host, same_host, NULL))
            g_ptr_array_add(r->used, g_strdup(*host));
    if (r->memory && r->used->len > before)
        note_hosts(r);
}

void dome__restarts_hosts(dome_restarts *r, char **names)
{
    GPtrArray *others = g_ptr_array_new();
    for (char **name = names; *name; name++)
        if (strcmp(*name, g_get_host_name()) != 0)
            g_ptr_array_add(others, *name);
    g_ptr_array_add(others, NULL);
    dome__restarts_use(r, (char **)others->pdata);
    g_ptr_array_unref(others);
    r->views++;
}

bool dome__restarts_hub_for_one(const dome_options *o)
{
    return o->size.most > 1 || o->start.hosts_script || o->size.policy == DOME_SIZE_AUTO || o->output_state;
}

/* One task without a hub, which nobody heals. */
static bool is_alone(const dome_options *o)
{
    return (o->start.tasks == 1 || g_strcmp0(o->start.transport, "self") == 0) && !dome__restarts_hub_for_one(o);
}

bool dome__restarts_needed(const dome_options *options)
{
    const bool heals = options->loss.action == DOME_LOSS_HEAL && in_memory(options);
    return options->loss.restarts > 0 || options->output_state ||
           (heals && !(options->checkpoint.by_default && is_alone(options)));
}

/* The command line with the option to resume from the newest checkpoint of this run, whatever options the program was first
 * started with, and the number of tasks that it needs; 0: any. */
static char **with_restart(char **argv, int tasks)
{
    char *number = tasks ? g_strdup_printf("--dome-tasks=%d", tasks) : NULL, *restart = g_strdup("--dome-restart=auto");
    char **words = dome__options_instead(argv, (char *const[]){restart, number, NULL});
    g_free(restart);
    g_free(number);
    return words;
}

char **dome__restarts_attempt(const dome_restarts *r, const dome_attempt *attempt)
{
    g_setenv(DOME_VARIABLE_SUPERVISED, "0", TRUE);
    g_setenv(DOME_VARIABLE_AVOID, attempt->avoid, TRUE);
    if (attempt->anew) {
        char *losses = g_strdup_printf("%d %.3f", attempt->losses, attempt->seconds);
        g_setenv(DOME_VARIABLE_LOSSES, losses, TRUE);
        g_free(losses);
    }
    if (attempt->number > 0) {
        g_setenv(DOME_VARIABLE_TRACE_APPEND, "1", TRUE);
        if (geteuid() == 0)
            g_setenv("PVM_ALLOW_ROOT", "1", FALSE); /* the launcher has already warned that it is set */
    }
    return attempt->resume && r->options->checkpoint.directory ? with_restart(r->argv, attempt->tasks) : r->argv;
}

bool dome__restarts_heal(const dome_options *options, int *left)
{
    const dome_on_loss on_loss = options->loss.action;
    *left = options->loss.restarts ? options->loss.restarts : -1;
    return on_loss == DOME_LOSS_HEAL || on_loss == DOME_LOSS_TELL || (on_loss == DOME_LOSS_AUTO && options->loss.restarts > 0);
}

void dome__restarts_point(const dome_restarts *r, bool resume, dome_supervise_point *point)
{
    const char *directory = r->memory ? r->memory : in_memory(r->options) ? NULL : r->options->checkpoint.directory;
    const dome_restart_options again = {.from = DOME_RESTART_AUTO}, *wanted = resume ? &again : &r->options->restart;
    dome_checkpoint_point at = {0};
    const bool there = directory && dome__checkpoint_wanted(directory, wanted, &at); /* the program knows its name in them */
    *point = (dome_supervise_point){.saves = directory != NULL};
    if (there)
        *point = (dome_supervise_point){at.number, at.loop, (int)MIN(at.tasks, INT_MAX), true, at.doubted};
}

/* A program that ran to its end has removed checkpoints in memory on its last hosts. It may have left others before. */
void dome__restarts_close(dome_restarts *r, int losses)
{
    if (!r->memory)
        return;
    const bool there = access(r->memory, F_OK) == 0;
    remove_here(r->memory);
    g_ptr_array_add(r->used, NULL);
    if (there || losses > 0 || r->views > 1)
        remove_there((char **)r->used->pdata, r->memory);
}

/* ---- --dome-restarts ---- */

typedef struct own_program {
    dome_restarts restarts;
    char *path;
    int tasks;
} own_program;

/* The words with which this process was started: the program may have taken some out of argv, or does not give it to dome_init.
 */
char **dome__restarts_command_line(void)
{
    GPtrArray *words = g_ptr_array_new();
    char *text = NULL;
    gsize length = 0;
    g_file_get_contents("/proc/self/cmdline", &text, &length, NULL);
    for (gsize at = 0; at < length; at += strlen(text + at) + 1)
        g_ptr_array_add(words, g_strdup(text + at));
    if (words->len == 0)
        g_ptr_array_add(words, g_strdup("program"));
    g_ptr_array_add(words, NULL);
    g_free(text);
    return (char **)g_ptr_array_free(words, FALSE);
}

static void cannot_start(const own_program *p, const dome_attempt *attempt)
{
    char *message = g_strdup_printf("%s cannot be run: %s", p->path, g_strerror(errno));
    dome__supervise_failed(attempt, false, message);
}

/* The attempt is the program from its beginning: it becomes its own hub, which reports here. */
static void start_own(void *ctx, const dome_attempt *attempt)
{
    const own_program *p = ctx;
    char **argv = dome__restarts_attempt(&p->restarts, attempt);
    char *report = g_strdup_printf("%d %d %d", attempt->report_fd, attempt->left, attempt->shown_fd);
    g_setenv(DOME_VARIABLE_SUPERVISED, report, TRUE);
    if (attempt->shown_fd >= 0)
        fcntl(attempt->shown_fd, F_SETFD, 0);
    if (fcntl(attempt->report_fd, F_SETFD, 0) < 0) /* nobody would hear of how it ends */
        cannot_start(p, attempt);
    if (p->tasks) {
        char *text = g_strdup_printf("--dome-tasks %d", p->tasks);
        dome__options_hand_on(text);
    }
    char *path = dome__own_program_unchanged();
    const char *directory = dome__own_directory();
    if (!directory || chdir(directory) == 0)
        execv(path ? path : p->path, argv);
    cannot_start(p, attempt);
}

static char *prepare_own(void *ctx, const char *avoid)
{
    (void)ctx, (void)avoid; /* task 0 asks the virtual machine for its hosts */
    return g_strdup("");
}

static void point_own(void *ctx, bool resume, dome_supervise_point *point)
{
    const own_program *p = ctx;
    dome__restarts_point(&p->restarts, resume, point);
}

static void note_own(void *ctx, char **names)
{
    own_program *p = ctx;
    dome__restarts_hosts(&p->restarts, names);
}

static void close_own(void *ctx, int losses)
{
    own_program *p = ctx;
    dome__restarts_close(&p->restarts, losses);
}

void dome__restarts_run(dome_env *env, const dome_launcher *launcher, int tasks)
{
    own_program p = {.path = dome__own_program(), .tasks = tasks};
    char *message = NULL;
    const dome_supervision how = {.restarts = env->options.loss.restarts,
                                  .timeout = env->options.timeout,
                                  .output_state = env->options.output_state,
                                  .launcher = launcher,
                                  .ctx = &p,
                                  .start = start_own,
                                  .prepare = prepare_own,
                                  .point = point_own,
                                  .hosts = note_own,
                                  .finish = close_own};
    if (!p.path || !dome__restarts_open(&p.restarts, dome__restarts_command_line(), &env->options, NULL, &message))
        dome__start_failed(env, 2, message ? message : "--dome-restarts needs /proc");
    dome__supervise(&how);
    _exit(1);
}

/* ---- the request of the options ---- */

dome_launch_request dome__launching_request(const dome_options *options, const dome_launcher *launcher,
                                            const dome_attempt *attempt)
{
    /* The hosts of a submitted program were chosen by domed, which may not know yet that one is lost. */
    const bool submitted = g_getenv(DOME_VARIABLE_SUBMITTED) != NULL;
    dome_launch_request request = {.launcher = launcher,
                                   .timeout = options->timeout,
                                   .script = options->start.hosts_script,
                                   .size_auto = options->size.policy == DOME_SIZE_AUTO,
                                   .most_hosts = options->start.hosts_script || submitted || (attempt && attempt->number > 0),
                                   .report_fd = attempt ? attempt->report_fd : 0,
                                   .shown_fd = attempt ? MAX(attempt->shown_fd, 0) : 0,
                                   .tasks = options->start.tasks,
                                   .all_output = options->output == DOME_OUTPUT_ALL,
                                   .tells = options->loss.action == DOME_LOSS_TELL,
                                   .logs = options->checkpoint.protocol == DOME_CHECKPOINT_LOG};
    request.heals = dome__restarts_heal(options, &request.left);
    if (attempt)
        request.left = attempt->left;
    request.once = request.heals || attempt || options->size.most > 0 || request.script || request.size_auto;
    return request;
}

int dome__launching_in_range(const dome_options *options, int tasks)
{
    return CLAMP(tasks, MAX(options->size.least, 1), options->size.most ? options->size.most : G_MAXINT);
}
