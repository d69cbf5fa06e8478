/* dome submit: gives a program to the daemon. */
#include "commands.h"
#include "daemon_client.h"
#include "manage/topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    int tasks, least, priority;
    char *output, *topology, **options;
    gboolean once, wait;
} request;

/* Where it is, or the command ends as a shell does. */
static char *find_program(const char *name)
{
    char *path = g_find_program_in_path(name);
    if (!path)
        dome__command_fail(127, "submit: there is no program %s", name);
    char *whole = g_canonicalize_filename(path, NULL);
    g_free(path);
    return whole;
}

enum { NOT_GIVEN = G_MININT };

/* NULL: no file is given. Its mistakes are named here, where the file is. */
static char *read_wishes(request *r)
{
    const char *path = r->topology;
    char *text = NULL, *mistake = NULL;
    GError *error = NULL;
    if (!path)
        return NULL;
    if (!g_file_get_contents(path, &text, NULL, &error))
        dome__command_fail(2, "submit: --topology: %s", error->message);
    dome_topologies *wishes = dome__topologies_parse(text, &mistake);
    if (!wishes)
        dome__command_fail(2, "submit: %s: %s", path, mistake);
    int least = wishes->wishes[0].tasks, most = least;
    for (size_t k = 1; k < wishes->count; k++) {
        most = MAX(most, wishes->wishes[k].tasks);
        least = MIN(least, wishes->wishes[k].tasks);
    }
    r->tasks = r->tasks == NOT_GIVEN ? MAX(most, r->least) : r->tasks;
    r->least = r->least ? r->least : MIN(least, r->tasks);
    if (r->least <= r->tasks && !dome__topologies_within(wishes, r->least, r->tasks))
        dome__command_fail(2, "submit: %s: no wish has %d to %d tasks", path, r->least, r->tasks);
    dome__topologies_free(wishes);
    return text;
}

static dome_record describe(const request *r, const char *wishes, char **words)
{
    dome_record submit = dome__daemon_request("submit");
    char *directory = g_get_current_dir(), **environment = g_get_environ(), *path = find_program(words[0]),
         *name = g_path_get_basename(path);
    char *output = r->output ? g_canonicalize_filename(r->output, NULL) : g_strdup_printf("%s/%s.out", directory, name);
    dome__record_add(&submit, "directory", directory);
    dome__record_add(&submit, "output", output);
    dome__record_add_number(&submit, "tasks", r->tasks);
    dome__record_add_number(&submit, "least", r->least ? r->least : r->tasks);
    dome__record_add_number(&submit, "priority", r->priority);
    dome__record_add_number(&submit, "again", !r->once);
    dome__record_add(&submit, "topology", wishes);
    char *nonce = g_uuid_string_random();
    dome__record_add(&submit, "nonce", nonce);
    g_free(nonce);
    dome__record_add(&submit, "word", path);
    dome__record_add_all(&submit, "word", words + 1);
    dome__record_add_all(&submit, "option", r->options);
    dome__record_add_all(&submit, "env", environment);
    g_strfreev(environment);
    g_free(directory);
    g_free(output);
    g_free(path);
    g_free(name);
    return submit;
}

static void check(const request *r)
{
    if (r->tasks < 1 || r->least < 0 || r->least > r->tasks)
        dome__command_fail(2, "submit: -n %d, --min %d: give numbers of tasks, 1 or more, the least not greater", r->tasks,
                           r->least);
    if (r->priority < -1000 || r->priority > 1000)
        dome__command_fail(2, "submit: --priority %d: from -1000 to 1000", r->priority);
}

int dome__command_submit(int argc, char **argv)
{
    request r = {.tasks = NOT_GIVEN};
    const GOptionEntry entries[] = {
        {"tasks", 'n', 0, G_OPTION_ARG_INT, &r.tasks, "The most tasks that it may have (default: 1)", "N"},
        {"min", 0, 0, G_OPTION_ARG_INT, &r.least, "The fewest with which it may begin, and to which it may shrink (default: N)",
         "N"},
        {"priority", 0, 0, G_OPTION_ARG_INT, &r.priority, "Who has more is served first (default: 0)", "P"},
        {"topology", 0, 0, G_OPTION_ARG_FILENAME, &r.topology,
         "A file of wishes, the best first: tasks on hosts; the first that fits is taken (docs/cluster.md)", "FILE"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &r.output,
         "The file to which its output and errors are appended (default: PROGRAM.out in this directory)", "FILE"},
        {"once", 0, 0, G_OPTION_ARG_NONE, &r.once, "Do not start it again elsewhere when its first host is lost", NULL},
        {"run-option", 0, 0, G_OPTION_ARG_STRING_ARRAY, &r.options, "An option of dome run for it; may be repeated", "OPTION"},
        {"wait", 0, 0, G_OPTION_ARG_NONE, &r.wait, "Show its output, as dome attach does, and end with its status", NULL},
        {0}};
    GOptionContext *context = g_option_context_new("PROGRAM [ARGUMENT...]");
    g_option_context_set_strict_posix(context, TRUE);
    g_option_context_set_summary(
        context, "Gives a program to domed, which starts it when there is room. Prints its number and returns at once.");
    dome__command_options(context, entries, &argc, &argv, "submit");
    g_option_context_free(context);
    argv++;
    if (*argv && strcmp(*argv, "--") == 0)
        argv++;
    if (!*argv)
        dome__command_fail(2, "submit: no program given; see dome submit --help");
    char *wishes = read_wishes(&r);
    r.tasks = r.tasks == NOT_GIVEN ? 1 : r.tasks;
    check(&r);
    dome_record submit = describe(&r, wishes, argv);
    g_free(wishes);
    char *id = dome__daemon_order("submit", &submit);
    dome__record_clear(&submit);
    if (r.wait)
        return dome__attach(id);
    puts(id);
    g_free(id);
    return 0;
}
