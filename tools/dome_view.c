/* dome view: a trace as a page for a browser, or as JSON for others' tools. */
#include "commands.h"

#include "trace/chrome.h"
#include "view_data.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* What a reader of the result should know about the trace, on standard error. */
static void say_what_is_missing(const char *path, const dome_trace_file *file)
{
    const dome_trace_run *last = &g_array_index(file->runs, dome_trace_run, file->runs->len - 1);
    if (file->cut || !last->ended)
        fprintf(stderr, "dome: view: %s: the trace stops before the end of the program: this is what is there\n", path);
    if (file->strange)
        fprintf(stderr, "dome: view: %s: %" G_GUINT64_FORMAT " lines were not understood and are left out\n", path,
                file->strange);
    if (file->left_out)
        fprintf(stderr, "dome: view: %s: the program had to leave out %" G_GUINT64_FORMAT " lines\n", path, file->left_out);
}

int dome__command_view(int argc, char **argv)
{
    char *output = NULL;
    const GOptionEntry entries[] = {{"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
                                     "Where to write: a page, or (FILE.json) JSON for Perfetto; default TRACE.html", "FILE"},
                                    {0}};
    GOptionContext *context = g_option_context_new("TRACE");
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(context, "Makes a page for a browser of what a program has recorded with --dome-trace TRACE.");
    if (!g_option_context_parse(context, &argc, &argv, &error))
        dome__command_fail(2, "view: %s; see dome view --help", error->message);
    g_option_context_free(context);
    if (argc != 2)
        dome__command_fail(2, "view: give one trace; see dome view --help");
    char *message = NULL;
    dome_trace_file *file = dome__trace_read(argv[1], &message);
    if (!file)
        dome__command_fail(1, "view: %s", message);
    bool named = output != NULL;
    if (!named)
        output = g_strconcat(argv[1], ".html", NULL);
    bool json = g_str_has_suffix(output, ".json");
    if (!dome__write_file(output, json ? dome__trace_write_chrome : dome__view_write_page, file, &message))
        dome__command_fail(1, "view: %s", message);
    if (!named)
        printf("%s\n", output);
    say_what_is_missing(argv[1], file);
    dome__trace_file_free(file);
    g_free(output);
    return 0;
}
