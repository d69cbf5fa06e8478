/* dome run: starts a program on several tasks and becomes its hub, or with --restarts the supervisor of hubs. */
#include "commands.h"
#include "launch/supervise.h"
#include "live.h"
#include "machine/hosts_script.h"
#include "machine/remote.h"
#include "machine/slurm.h"
#include "options/option_command.h"
#include "options/option_parse.h"
#include "options/option_print.h"
#include "program/providers.h"
#include "program/restarts.h"
#include "system/environment_variables.h"
#include "system/say.h"
#include "system/thread.h"

#include <dome/env.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The data needed to start the program. */
typedef struct program {
    char *path, **argv;
    char *hosts_path, *address;
    char **hosts; /* NULL: none requested */
    char *slots;  /* of these hosts, for DOME_VARIABLE_SLOTS */
    dome_options options;
    dome_option_origin origins[DOME_OPTIONS_MOST];
    const dome_launcher *launcher; /* NULL: no launcher can start tasks */
    dome_restarts restarts;
} program;

/* Options of dome run that the program needs, too. The others are carried out here. */
static const char *const handed_on[] = {"dome-tasks", "dome-min", "dome-max", "dome-on-loss", "dome-size"};

/* To the program, after those that the environment has. */
static void give_options(const program *p, int tasks)
{
    dome_options options = p->options;
    options.start.tasks = tasks;
    for (size_t k = 0; k < G_N_ELEMENTS(handed_on); k++) {
        const dome_option_row *row = dome__option_row(handed_on[k]);
        char *word = dome__option_is_default(row, &options) ? NULL : dome__option_word(row, &options);
        if (word)
            dome__options_hand_on(word);
        g_free(word);
    }
}

/* Whether --hosts-script or --size says that the number of tasks changes, not their --dome- forms. */
static bool is_by_command(const program *p)
{
    const dome_option_origin *script = &p->origins[dome__option_row("dome-hosts-script") - dome__option_rows],
                             *size = &p->origins[dome__option_row("dome-size") - dome__option_rows];
    return script->source == DOME_FROM_COMMAND || (size->source == DOME_FROM_COMMAND && p->options.size.policy == DOME_SIZE_AUTO);
}

/* Becomes the hub, with the program as its child; or, if a single task needs no hub, the program itself. */
static void start(program *p, const dome_attempt *attempt) __attribute__((noreturn));

static void start(program *p, const dome_attempt *attempt)
{
    const dome_options *o = &p->options;
    char **argv = p->argv, *message = NULL;
    int tasks = attempt && attempt->tasks ? attempt->tasks : o->start.tasks;
    if (attempt)
        argv = dome__restarts_attempt(&p->restarts, attempt);
    if (!o->help && !o->version && (tasks != 1 || dome__restarts_hub_for_one(o)) && g_strcmp0(o->start.transport, "self") != 0) {
        dome_launch launch = {0};
        if (!p->launcher)
            message =
                g_strdup_printf("this library was built without %s: only --dome-transport self is there", dome__provider_title());
        dome_launch_request request = dome__launching_request(o, p->launcher, attempt);
        request.hosts = p->hosts;
        request.address = p->address;
        request.before_init = true;
        request.by_command = is_by_command(p);
        request.path = p->path;
        request.words = argv;
        request.tasks = tasks;
        if (message || !dome__launch_open(&launch, &request, &message)) {
            if (attempt)
                dome__supervise_failed(attempt, launch.machine.daemon < 0, message);
            dome__command_fail(1, "%s", message);
        }
        if (!tasks && launch.machine.directory && !p->hosts)
            tasks = dome__launching_in_range(o, (int)g_get_num_processors());
        g_setenv(DOME_VARIABLE_HUB, launch.hub, TRUE);
        if (p->slots)
            g_setenv(DOME_VARIABLE_SLOTS, p->slots, TRUE);
        give_options(p, tasks); /* before the fork: the hub may have to start the program once more */
        dome__launch_fork(&launch);
    } else {
        give_options(p, tasks);
    }
    execv(p->path, argv);
    dome__command_fail(126, "run: %s cannot be run: %s", p->path, g_strerror(errno));
}

static void start_attempt(void *ctx, const dome_attempt *attempt)
{
    start(ctx, attempt);
}

/* ---- before a restart ---- */

/* As they are now. */
static char **list_hosts(const program *p, char **slots, char **message)
{
    if (p->options.start.hosts_script)
        return dome__hosts_script_ask(p->options.start.hosts_script, slots, message);
    return p->hosts_path ? dome__hostfile_read(p->hosts_path, slots, message) : dome__slurm_hosts(true, slots, message);
}

/* Finds the hosts that answer now, among those that are listed now: a host may have been added. All are asked at once. */
static char *prepare(void *ctx, const char *avoid)
{
    program *p = ctx;
    (void)avoid; /* not needed: with a virtual machine of its own the run asks its hosts */
    if (!p->hosts)
        return g_strdup("");
    char *message = NULL, *slots = NULL, **lines = list_hosts(p, &slots, &message);
    if (!lines) {
        dome__say("run: %s; the list of hosts does not change", message);
        g_free(message);
        lines = g_strdupv(p->hosts);
    } else {
        g_free(p->slots);
        p->slots = slots;
    }
    guint n = g_strv_length(lines), there = 0;
    bool *answers = g_new0(bool, n + 1);
    dome__hosts_run(lines, "true", answers);
    GPtrArray *kept = g_ptr_array_new();
    GString *absent = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        if (answers[i]) {
            g_ptr_array_add(kept, g_strdup(lines[i]));
            there++;
        } else {
            g_string_append_printf(absent, "%s%.*s", absent->len ? ", " : "", (int)strcspn(lines[i], " \t"), lines[i]);
        }
    }
    g_ptr_array_add(kept, NULL);
    g_strfreev(p->hosts);
    p->hosts = (char **)g_ptr_array_free(kept, FALSE);
    dome__restarts_use(&p->restarts, p->hosts);
    char *text = g_strdup_printf("on %u host%s%s%s%s", there + 1, there ? "s" : "", absent->len ? " (without " : "", absent->str,
                                 absent->len ? ")" : "");
    g_string_free(absent, TRUE);
    g_strfreev(lines);
    g_free(answers);
    return text;
}

static void find_point(void *ctx, bool resume, dome_supervise_point *point)
{
    const program *p = ctx;
    dome__restarts_point(&p->restarts, resume, point);
}

static void note_hosts(void *ctx, char **names)
{
    program *p = ctx;
    dome__restarts_hosts(&p->restarts, names);
}

static void finish(void *ctx, int losses)
{
    program *p = ctx;
    dome__restarts_close(&p->restarts, losses);
}

/* Starts the server of the live page, and makes the program record into the file that it reads. */
static void show_live(const dome_options *options)
{
    char *message = NULL, *path = NULL;
    bool own = options->trace != NULL;
    if (own) {
        char *named = g_canonicalize_filename(options->trace, NULL);
        path = g_str_has_suffix(named, ".json") ? g_strconcat(named, ".partial", NULL) : g_strdup(named);
        g_free(named);
    } else {
        path = g_build_filename(g_get_tmp_dir(), "dome-view-XXXXXX", NULL);
        int fd = g_mkstemp(path);
        if (fd < 0)
            dome__command_fail(1, "run: cannot make a file in %s for --view: %s", g_get_tmp_dir(), g_strerror(errno));
        close(fd);
        char *quoted = g_shell_quote(path), *text = g_strdup_printf("--dome-trace %s", quoted);
        dome__options_hand_on(text);
        g_free(quoted);
        g_free(text);
    }
    dome_live_request request = {.path = path};
    char *address = dome__live_beside(&request, !own, &message);
    if (!address) {
        if (!own)
            unlink(path);
        dome__command_fail(1, "run: --view: %s", message);
    }
    dome__say("the program can be seen at %s while it runs", address);
    g_free(address);
    g_free(path);
}

/* Rejects mpirun's -np, which GOption takes for -n p. */
static void look_for_np(char **argv)
{
    for (char **word = argv + 1; *word && **word == '-' && strcmp(*word, "--") != 0; word++)
        if (strcmp(*word, "-np") == 0 || strcmp(*word, "--np") == 0)
            dome__command_fail(2, "run: Unknown option %s; did you mean -n?", *word);
}

/* Finds a program as a shell does; g_free'd. Ends with a shell's exit status if it cannot be run. */
static char *find_program(const char *name)
{
    char *path = g_find_program_in_path(name);
    if (path)
        return path;
    bool named = strchr(name, '/') != NULL;
    if (g_file_test(name, G_FILE_TEST_IS_DIR))
        dome__command_fail(named ? 126 : 127, "run: %s is a directory, not a program", name);
    if (!named && g_file_test(name, G_FILE_TEST_IS_EXECUTABLE))
        dome__command_fail(127, "run: there is no program %s on the PATH; did you mean ./%s?", name, name);
    if (g_file_test(name, G_FILE_TEST_EXISTS))
        dome__command_fail(126, "run: the file %s is not executable (chmod +x %s makes a program so)", name, name);
    if (named && access(name, F_OK) != 0 && errno != ENOENT)
        dome__command_fail(126, "run: %s cannot be run: %s", name, g_strerror(errno));
    dome__command_fail(127, "run: there is no program %s%s", name, named ? "" : " on the PATH");
}

/* With --restarts, for checkpoints in memory, or with --output-state. */
static int supervise(program *p)
{
    const dome_supervision how = {.restarts = p->options.loss.restarts,
                                  .timeout = p->options.timeout,
                                  .output_state = p->options.output_state,
                                  .launcher = p->launcher,
                                  .ctx = p,
                                  .start = start_attempt,
                                  .prepare = prepare,
                                  .point = find_point,
                                  .hosts = note_hosts,
                                  .finish = finish};
    char *message = NULL;
    if (!dome__restarts_open(&p->restarts, p->argv, &p->options, p->hosts, &message))
        dome__command_fail(1, "run: %s", message);
    return dome__supervise(&how);
}

/* The options of a program that dome run takes itself, then its own. */
static GOptionContext *new_context(const GOptionEntry *own, GArray *given, GArray *entries)
{
    GOptionContext *context = g_option_context_new("PROGRAM [ARGUMENT...]");
    dome__option_command_entries(entries);
    for (; own->long_name; own++)
        g_array_append_val(entries, *own);
    g_option_context_set_main_group(context, g_option_group_new(NULL, NULL, NULL, given, NULL));
    g_option_context_set_strict_posix(context, TRUE);
    g_option_context_set_summary(context, "Runs a Dome program on several tasks and ends with its exit status.");
    return context;
}

/* The requests on the command line besides the options of p. */
typedef struct request {
    GArray *given; /* dome_option_given */
    gboolean view, show, help;
} request;

/* Returns the words from the program on. */
static char **read_command(program *p, request *r, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"hosts", 0, 0, G_OPTION_ARG_FILENAME, &p->hosts_path,
         "Run on this host and those in FILE, a PVM hostfile, with a private virtual machine", "FILE"},
        {"address", 0, 0, G_OPTION_ARG_STRING, &p->address, "With --hosts: address by which the others reach this host", "NAME"},
        {"view", 0, 0, G_OPTION_ARG_NONE, &r->view, "Show what the program does on a page for a browser on this host", NULL},
        {"show", 0, 0, G_OPTION_ARG_NONE, &r->show,
         "Print each option, its value and where that comes from, and run nothing; DOME_OPTIONS takes what is printed", NULL},
        {"dome-help", 0, 0, G_OPTION_ARG_NONE, &r->help, "Print the options of every Dome program, which follow PROGRAM", NULL},
        {0}};
    GArray *entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    GOptionContext *context = new_context(own, r->given, entries);
    look_for_np(argv);
    dome__command_options(context, (const GOptionEntry *)(void *)entries->data, &argc, &argv, "run");
    g_option_context_free(context);
    g_array_free(entries, TRUE);
    argv++;
    if (*argv && strcmp(*argv, "--") == 0)
        argv++;
    return argv;
}

/* Reads the options of the program and of dome run together. The program itself reports errors in its own. */
static void read_options(program *p, const request *r)
{
    char *message = NULL, *none[] = {"PROGRAM", NULL}, **copy = g_strdupv(*p->argv ? p->argv : none);
    int count = (int)g_strv_length(copy);
    const dome_option_words words = {.environment = g_getenv(DOME_VARIABLE_OPTIONS),
                                     .argc = &count,
                                     .argv = &copy,
                                     .given = (const dome_option_given *)(void *)r->given->data};
    if (!dome__options_read(&p->options, p->origins, &words, &message))
        dome__command_fail(2, "%s", message);
    message = dome__option_rules_broken(DOME_RULES_OF_START, &p->options, p->origins, false);
    if (message)
        dome__command_fail(2, "run: %s", message);
}

static int show(const program *p)
{
    char *text = dome__options_show(&p->options, p->origins);
    fputs(text, stdout);
    g_free(text);
    return 0;
}

/* In an allocation of Slurm: its hosts, with as many tasks as Slurm would start. NULL: this host alone. */
static char **find_hosts_of_slurm(program *p)
{
    char *message = dome__slurm_objection(), **hosts = message ? NULL : dome__slurm_hosts(false, &p->slots, &message);
    if (!hosts)
        dome__command_fail(2, "run: %s", message);
    dome__slurm_reach();
    if (g_strv_length(hosts) > 1)
        return hosts;
    if (!p->options.start.tasks)
        p->options.start.tasks = dome__launching_in_range(&p->options, atoi(strchr(p->slots, '=') + 1));
    g_clear_pointer(&p->slots, g_free);
    g_strfreev(hosts);
    return NULL;
}

/* A job that Slurm has begun again goes on where it stood. */
static void resume_requeued(program *p)
{
    const char *times = g_getenv(DOME_SLURM_RESTARTS);
    if (!times || atoi(times) < 1 || !dome__slurm_there() || !p->options.checkpoint.directory ||
        p->options.restart.from != DOME_RESTART_NONE)
        return;
    p->options.restart.from = DOME_RESTART_AUTO;
    dome__options_hand_on("--dome-restart=auto");
}

/* The hosts on which the program begins, by a file, a script or Slurm; NULL: none is given. */
static char **find_hosts(program *p, bool runs)
{
    const char *script = p->options.start.hosts_script;
    char *message = NULL, **hosts = NULL;
    if (script && p->hosts_path)
        dome__command_fail(2, "run: --hosts and %s exclude each other", dome__option_name("dome-hosts-script", p->origins));
    if (p->hosts_path && !(hosts = dome__hostfile_read(p->hosts_path, &p->slots, &message)))
        dome__command_fail(2, "run: %s", message);
    if (script && dome__slurm_there())
        dome__slurm_reach(); /* what the script prints may be hosts of the allocation */
    if (script && !(hosts = dome__hosts_script_ask(script, &p->slots, &message)))
        dome__command_fail(1, "run: %s: %s", dome__option_name("dome-hosts-script", p->origins), message);
    if (runs && !script && !p->hosts_path && dome__slurm_there() && g_strcmp0(p->options.start.transport, "self") != 0)
        hosts = find_hosts_of_slurm(p);
    return hosts;
}

int dome__command_run(int argc, char **argv)
{
    program p = {0};
    request r = {.given = dome__option_command_new()};
    p.argv = read_command(&p, &r, argc, argv);
    if (r.help) {
        g_set_prgname("PROGRAM");
        fputs(dome__options_help(), stdout);
        return 0;
    }
    if (!*p.argv && !r.show)
        dome__command_fail(2, "run: no program given; see dome run --help");
    p.launcher = dome__launcher_that_can(DOME_LAUNCHER_SPAWN);
    if (!r.show)
        p.path = find_program(p.argv[0]);
    read_options(&p, &r);
    if (r.show)
        return show(&p);
    dome__options_settle(&p.options);
    const bool runs = !p.options.help && !p.options.version;
    p.hosts = find_hosts(&p, runs);
    resume_requeued(&p);
    char *small = runs ? dome__stack_too_small() : NULL;
    if (small)
        dome__command_fail(1, "run: %s", small);
    if (r.view && runs)
        show_live(&p.options);
    if (!dome__restarts_needed(&p.options) || !runs)
        start(&p, NULL);
    return supervise(&p);
}
