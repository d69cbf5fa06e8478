/* dome run: starts a program on several tasks and becomes its hub, or with --restarts the supervisor of hubs. */
#include "commands.h"
#include "hub/hosts_script.h"
#include "launch/launch.h"
#include "launch/supervise.h"
#include "live.h"
#include "machine/remote.h"
#include "program/options.h"
#include "program/providers.h"
#include "program/restarts.h"
#include "system/environment_variables.h"
#include "system/terminal.h"

#include <dome/env.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The data needed to start the program. */
typedef struct program {
    char *path, **argv;
    int tasks, least, most; /* 0: not given */
    char *hosts_path, *address, *script;
    char **hosts; /* NULL: none requested */
    char *slots;  /* of these hosts, for DOME_VARIABLE_SLOTS */
    dome_options options;
    const dome_launcher *launcher; /* NULL: no launcher can start tasks */
    bool by_command;               /* --hosts-script or --size, not their --dome- forms */
    int most_losses;               /* --restarts */
    dome_restarts restarts;
} program;

static const char *const on_loss_words[] = {"auto", "heal", "restart", "tell", "end", NULL};

static void add_option(GString *text, const char *name, int value)
{
    if (value)
        g_string_append_printf(text, " --dome-%s %d", name, value);
}

/* To the program, after those that the environment has. */
static void give_options(const program *p, int tasks)
{
    const dome_options *o = &p->options;
    GString *text = g_string_new(g_getenv(DOME_VARIABLE_OPTIONS));
    add_option(text, "tasks", tasks);
    add_option(text, "min", p->least);
    add_option(text, "max", p->most);
    if (o->on_loss != DOME_LOSS_AUTO)
        g_string_append_printf(text, " --dome-on-loss %s", on_loss_words[o->on_loss]);
    if (o->size == DOME_SIZE_AUTO)
        g_string_append(text, " --dome-size auto");
    if (text->len)
        g_setenv(DOME_VARIABLE_OPTIONS, text->str, TRUE);
    g_string_free(text, TRUE);
}

/* Becomes the hub, with the program as its child; or, if a single task needs no hub, the program itself. */
static void start(program *p, const dome_attempt *attempt) __attribute__((noreturn));

static void start(program *p, const dome_attempt *attempt)
{
    const dome_options *o = &p->options;
    char **argv = p->argv, *message = NULL;
    int tasks = attempt && attempt->tasks ? attempt->tasks : p->tasks;
    if (attempt)
        argv = dome__restarts_attempt(&p->restarts, attempt);
    if (!o->help && !o->version && (tasks != 1 || p->most > 1 || p->script || o->size == DOME_SIZE_AUTO) &&
        g_strcmp0(o->transport, "self") != 0) {
        dome_launch launch;
        if (!p->launcher)
            message = g_strdup("this library was built without PVM: only --dome-transport self is there");
        dome_launch_request request = {.launcher = p->launcher,
                                       .timeout = o->timeout,
                                       .hosts = p->hosts,
                                       .address = p->address,
                                       .before_init = true,
                                       .script = p->script,
                                       .size_auto = o->size == DOME_SIZE_AUTO,
                                       .by_command = p->by_command,
                                       .most_hosts = p->script || (attempt && attempt->number > 0),
                                       .report_fd = attempt ? attempt->report_fd : 0,
                                       .path = p->path,
                                       .words = argv,
                                       .tasks = tasks,
                                       .all_output = o->output == DOME_OUTPUT_ALL};
        request.heals = dome__restarts_heal(o, p->most_losses, &request.left);
        request.tells = o->on_loss == DOME_LOSS_TELL;
        if (attempt)
            request.left = attempt->left;
        if (message || !dome__launch_open(&launch, &request, &message)) {
            if (attempt)
                dome__supervise_failed(attempt, message);
            dome__command_fail(1, "%s", message);
        }
        if (!tasks && launch.machine.directory && !p->hosts)
            tasks = CLAMP((int)g_get_num_processors(), MAX(p->least, 1), p->most ? p->most : G_MAXINT);
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

/* Finds the hosts that answer now, among those that the file lists now: a host may have been added. All are asked at once. */
static char *prepare(void *ctx, const char *avoid)
{
    program *p = ctx;
    (void)avoid; /* not needed: with a virtual machine of its own the run asks its hosts */
    if (!p->hosts)
        return g_strdup("");
    char *message = NULL, *slots = NULL,
         **lines = p->script ? dome__hosts_script_ask(p->script, &slots, &message)
                             : dome__hostfile_read(p->hosts_path, &slots, &message);
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

static void find_point(void *ctx, dome_supervise_point *point)
{
    const program *p = ctx;
    dome__restarts_point(&p->restarts, point);
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
        const char *before = g_getenv(DOME_VARIABLE_OPTIONS);
        char *quoted = g_shell_quote(path), *text = g_strdup_printf("%s --dome-trace %s", before ? before : "", quoted);
        g_setenv(DOME_VARIABLE_OPTIONS, text, TRUE);
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

/* With --restarts, or for checkpoints in memory. */
static int supervise(program *p, int restarts)
{
    const dome_supervision how = {.restarts = restarts,
                                  .timeout = p->options.timeout,
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

static dome_on_loss read_on_loss(const char *word)
{
    for (int k = DOME_LOSS_AUTO; on_loss_words[k]; k++)
        if (strcmp(word, on_loss_words[k]) == 0)
            return (dome_on_loss)k;
    dome__command_fail(2, "run: --on-loss takes 'auto', 'heal', 'restart', 'tell' or 'end', not '%s'", word);
}

static dome_sizing read_size(const char *word)
{
    if (strcmp(word, "keep") != 0 && strcmp(word, "auto") != 0)
        dome__command_fail(2, "run: --size takes 'keep' or 'auto', not '%s'", word);
    return strcmp(word, "auto") == 0 ? DOME_SIZE_AUTO : DOME_SIZE_KEEP;
}

int dome__command_run(int argc, char **argv)
{
    program p = {0};
    int restarts = 0;
    char *on_loss = NULL, *size = NULL;
    gboolean view = FALSE, help = FALSE;
    const GOptionEntry entries[] = {
        {"tasks", 'n', 0, G_OPTION_ARG_INT, &p.tasks,
         "Number of tasks (default: one per host; on this machine alone, one per processor)", "N"},
        {"min", 0, 0, G_OPTION_ARG_INT, &p.least, "The least number of tasks to which dome shrink may bring the program", "N"},
        {"max", 0, 0, G_OPTION_ARG_INT, &p.most, "The greatest number of tasks to which dome grow may bring the program", "N"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &size,
         "auto: change to the number of tasks that pays while the program runs, within --min and --max; keep: do not", "WORD"},
        {"hosts", 0, 0, G_OPTION_ARG_FILENAME, &p.hosts_path,
         "Run on this host and those in FILE, a PVM hostfile, with a private virtual machine", "FILE"},
        {"hosts-script", 0, 0, G_OPTION_ARG_STRING, &p.script,
         "Run on the hosts that this shell command prints, as host or host:slots, and follow it while the program runs",
         "COMMAND"},
        {"address", 0, 0, G_OPTION_ARG_STRING, &p.address, "With --hosts: address by which the others reach this host", "NAME"},
        {"restarts", 0, 0, G_OPTION_ARG_INT, &restarts,
         "When a task or host is lost, go on from the newest checkpoint on the remaining hosts, at most K times", "K"},
        {"on-loss", 0, 0, G_OPTION_ARG_STRING, &on_loss,
         "What follows a loss: heal (a new task takes the place of the lost), restart (all tasks are started again), tell (the "
         "others go on without the lost) or end",
         "WORD"},
        {"view", 0, 0, G_OPTION_ARG_NONE, &view, "Show what the program does on a page for a browser on this host", NULL},
        {"dome-help", 0, 0, G_OPTION_ARG_NONE, &help, "Print the options of every Dome program, which follow PROGRAM", NULL},
        {0}};
    GOptionContext *context = g_option_context_new("PROGRAM [ARGUMENT...]");
    g_option_context_set_strict_posix(context, TRUE);
    g_option_context_set_summary(context, "Runs a Dome program on several tasks and ends with its exit status.");
    look_for_np(argv);
    dome__command_options(context, entries, &argc, &argv, "run");
    g_option_context_free(context);
    if (help) {
        g_set_prgname("PROGRAM");
        fputs(dome__options_help(), stdout);
        return 0;
    }
    argv++;
    if (*argv && strcmp(*argv, "--") == 0)
        argv++;
    if (!*argv)
        dome__command_fail(2, "run: no program given; see dome run --help");
    if (p.tasks < 0)
        dome__command_fail(2, "run: -n %d: give the number of tasks, 1 or more", p.tasks);
    if (p.least < 0 || p.most < 0)
        dome__command_fail(2, "run: --min and --max take numbers of tasks, 1 or more");
    if (restarts < 0)
        dome__command_fail(2, "run: --restarts %d: give how often the program may be started again, 0 or more", restarts);
    p.argv = argv;
    p.launcher = dome__launcher_that_can(DOME_LAUNCHER_SPAWN);
    p.path = find_program(argv[0]);

    /* The program's options that matter here; the program itself reports errors in them. */
    char *message = NULL, **copy = g_strdupv(argv), *policy = NULL;
    int count = (int)g_strv_length(copy);
    const char *environment = g_getenv(DOME_VARIABLE_OPTIONS);
    if (on_loss)
        policy = g_strdup_printf("%s --dome-on-loss %s", environment ? environment : "", on_loss_words[read_on_loss(on_loss)]);
    if (!dome__options_parse(&p.options, policy ? policy : environment, &count, &copy, &message))
        dome__command_fail(2, "%s", message);
    g_free(policy);
    if (!p.tasks)
        p.tasks = p.options.tasks;
    p.options.tasks = p.tasks;
    if (!p.least)
        p.least = p.options.least;
    if (!p.most)
        p.most = p.options.most;
    p.options.most = p.most;
    if (!restarts)
        restarts = p.options.restarts;
    if (on_loss)
        p.options.on_loss = read_on_loss(on_loss);
    if (p.options.on_loss == DOME_LOSS_END)
        restarts = 0;
    if (p.options.on_loss == DOME_LOSS_RESTART && !restarts)
        dome__command_fail(2, "run: --on-loss restart needs --restarts K, the most times");
    p.most_losses = restarts;
    if (p.hosts_path && !(p.hosts = dome__hostfile_read(p.hosts_path, &p.slots, &message)))
        dome__command_fail(2, "run: %s", message);
    p.by_command = p.script || (size && read_size(size) == DOME_SIZE_AUTO);
    if (!p.script)
        p.script = p.options.hosts_script;
    if (size)
        p.options.size = read_size(size);
    if (p.script && !p.options.hosts_script)
        p.options.hosts_script = g_strdup(p.script);
    if (p.script && p.options.size == DOME_SIZE_AUTO)
        dome__command_fail(2, "run: --hosts-script and --size auto exclude each other: both say how many tasks there are");
    if (p.script && p.hosts_path)
        dome__command_fail(2, "run: --hosts and --hosts-script exclude each other");
    if (p.script && !(p.hosts = dome__hosts_script_ask(p.script, &p.slots, &message)))
        dome__command_fail(1, "run: %s: %s", p.by_command ? "--hosts-script" : "--dome-hosts-script", message);
    if (view && !p.options.help && !p.options.version)
        show_live(&p.options);
    if (!dome__restarts_needed(&p.options, restarts) || p.options.help || p.options.version)
        start(&p, NULL);
    return supervise(&p, restarts);
}
