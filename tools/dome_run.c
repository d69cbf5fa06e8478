/* dome run: starts a program on several tasks and becomes its hub. */
#include "commands.h"
#include "runtime/launch.h"

#include <dome/env.h>

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

/* The lines of a PVM hostfile that add hosts. */
static char **read_hosts(const char *path)
{
    char *text = NULL;
    GError *error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error))
        dome__command_fail(2, "run: cannot read the hosts: %s", error->message);
    char **lines = g_strsplit(text, "\n", 0);
    GPtrArray *hosts = g_ptr_array_new();
    for (char **line = lines; *line; line++) {
        char *start = g_strstrip(*line);
        char *comment = strchr(start, '#');
        if (comment)
            *comment = 0;
        g_strchomp(start);
        if (start[0] == '*' || start[0] == '&')
            dome__command_fail(
                2, "run: %s: the line '%s' is of a kind that is not supported: one host a line, with PVM's options", path, start);
        if (start[0])
            g_ptr_array_add(hosts, g_strdup(start));
    }
    g_strfreev(lines);
    g_free(text);
    if (hosts->len == 0)
        dome__command_fail(2, "run: %s names no host", path);
    g_ptr_array_add(hosts, NULL);
    return (char **)g_ptr_array_free(hosts, FALSE);
}

int dome__command_run(int argc, char **argv)
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
    g_set_prgname("dome run"); /* the help begins with it */
    GOptionContext *context = g_option_context_new("PROGRAM [ARGUMENT...]");
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_strict_posix(context, TRUE);
    g_option_context_set_summary(context, "Runs a Dome program on several tasks and ends with its exit status.");
    if (!g_option_context_parse(context, &argc, &argv, &error))
        dome__command_fail(2, "run: %s; see dome run --help", error->message);
    g_option_context_free(context);
    argv++;
    if (*argv && strcmp(*argv, "--") == 0)
        argv++;
    if (!*argv)
        dome__command_fail(2, "run: no program given; see dome run --help");
    if (tasks < 0)
        dome__command_fail(2, "run: -n %d: give the number of tasks, 1 or more", tasks);
    char *path = g_find_program_in_path(argv[0]);
    if (!path)
        dome__command_fail(127, "run: there is no program %s", argv[0]);

    /* Options of the program that matter here; what is wrong with them the program says itself. */
    dome_options options = {0};
    char *message = NULL, **copy = g_strdupv(argv);
    int count = (int)g_strv_length(copy);
    if (!dome__options_parse(&options, g_getenv("DOME_OPTIONS"), &count, &copy, &message))
        dome__command_fail(2, "%s", message);
    if (!tasks)
        tasks = options.tasks;
    char **hosts = hosts_path ? read_hosts(hosts_path) : NULL;
    const char *before = g_getenv("DOME_OPTIONS");
    if (!options.help && !options.version && tasks != 1 && g_strcmp0(options.transport, "self") != 0) {
        dome_launch launch;
        dome_launch_request request = {.timeout = options.timeout, .hosts = hosts, .address = address, .before_init = true};
        if (!dome__launch_open(&launch, &request, &message))
            dome__command_fail(1, "%s", message);
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
    dome__command_fail(126, "run: %s cannot be run: %s", path, g_strerror(errno));
}
