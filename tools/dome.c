/* dome: the command. */
#include "runtime/launch.h"

#include <dome/env.h>

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

static void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "dome: %s\n", text);
    exit(status);
}

/* The lines of a PVM hostfile that add hosts. */
static char **read_hosts(const char *path)
{
    char *text = NULL;
    GError *error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error))
        die(2, "run: cannot read the hosts: %s", error->message);
    char **lines = g_strsplit(text, "\n", 0);
    GPtrArray *hosts = g_ptr_array_new();
    for (char **line = lines; *line; line++) {
        char *start = g_strstrip(*line);
        char *comment = strchr(start, '#');
        if (comment)
            *comment = 0;
        g_strchomp(start);
        if (start[0] == '*' || start[0] == '&')
            die(2, "run: %s: the line '%s' is of a kind that is not supported: one host a line, with PVM's options", path, start);
        if (start[0])
            g_ptr_array_add(hosts, g_strdup(start));
    }
    g_strfreev(lines);
    g_free(text);
    if (hosts->len == 0)
        die(2, "run: %s names no host", path);
    g_ptr_array_add(hosts, NULL);
    return (char **)g_ptr_array_free(hosts, FALSE);
}

static int run(int argc, char **argv)
{
    int tasks = 0;
    char *hosts_path = NULL, *address = NULL;
    const GOptionEntry entries[] = {
        {"tasks", 'n', 0, G_OPTION_ARG_INT, &tasks,
         "Number of tasks (default: one per host; on this machine alone, one per processor)", "N"},
        {"hosts", 0, 0, G_OPTION_ARG_FILENAME, &hosts_path,
         "Run on this host and those in FILE, a PVM hostfile, on a machine of its own", "FILE"},
        {"address", 0, 0, G_OPTION_ARG_STRING, &address, "With --hosts: address by which the others reach this host", "NAME"},
        {0}};
    GOptionContext *context = g_option_context_new("PROGRAM [ARGUMENT...]");
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_strict_posix(context, TRUE);
    g_option_context_set_summary(context, "Runs a Dome program on several tasks and ends with its exit status.");
    if (!g_option_context_parse(context, &argc, &argv, &error))
        die(2, "run: %s; see dome run --help", error->message);
    g_option_context_free(context);
    argv++;
    if (*argv && strcmp(*argv, "--") == 0)
        argv++;
    if (!*argv)
        die(2, "run: no program given; see dome run --help");
    if (tasks < 0)
        die(2, "run: -n %d: give the number of tasks, 1 or more", tasks);
    char *path = g_find_program_in_path(argv[0]);
    if (!path)
        die(127, "run: there is no program %s", argv[0]);

    /* Options of the program that matter here; what is wrong with them the program says itself. */
    dome_options options = {0};
    char *message = NULL, **copy = g_strdupv(argv);
    int count = (int)g_strv_length(copy);
    if (!dome__options_parse(&options, g_getenv("DOME_OPTIONS"), &count, &copy, &message))
        die(2, "%s", message);
    if (!tasks)
        tasks = options.tasks;
    char **hosts = hosts_path ? read_hosts(hosts_path) : NULL;
    const char *before = g_getenv("DOME_OPTIONS");
    if (!options.help && !options.version && tasks != 1 && g_strcmp0(options.transport, "self") != 0) {
        dome_launch launch;
        dome_launch_request request = {.timeout = options.timeout, .hosts = hosts, .address = address, .before_init = true};
        if (!dome__launch_open(&launch, &request, &message))
            die(1, "%s", message);
        if (!tasks && launch.directory && !hosts)
            tasks = (int)g_get_num_processors();
        g_setenv("DOME_HUB", launch.hub, TRUE);
        dome__launch_fork(&launch);
    }
    if (tasks) {
        char *text = g_strdup_printf("%s --dome-tasks %d", before ? before : "", tasks);
        g_setenv("DOME_OPTIONS", text, TRUE);
    }
    execv(path, argv);
    die(126, "run: %s cannot be run: %s", path, g_strerror(errno));
}

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", run, "run a program on several tasks"},
};

static void help(FILE *to)
{
    fputs("Usage: dome COMMAND [OPTION...]\n\nCommands (dome COMMAND --help tells more):\n", to);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("  --help     this text\n  --version  the version\n", to);
}

int main(int argc, char **argv)
{
    g_set_prgname("dome");
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
        help(stdout);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("dome " DOME_VERSION);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < G_N_ELEMENTS(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    if (argc > 1)
        fprintf(stderr, "dome: there is no command %s\n", argv[1]);
    help(stderr);
    return 2;
}
