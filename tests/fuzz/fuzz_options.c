/* Fuzzes the option parser. The input is lines: the first is DOME_OPTIONS, each further one an argument. */
#include "options/option_parse.h"
#include "options/option_print.h"
#include "options/option_value.h"

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                                         \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
            abort();                                                                                                             \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A configuration that is printed is read as the same. */
static void check_show(const char *environment, char **argv)
{
    dome_options options, again;
    dome_option_origin origins[DOME_OPTIONS_MOST], others[DOME_OPTIONS_MOST];
    int argc = (int)g_strv_length(argv);
    char *message = NULL, **copy = g_memdup2(argv, ((size_t)argc + 1) * sizeof *argv);
    CHECK(dome__options_read(&options, origins, &(dome_option_words){environment, &argc, &copy, NULL}, &message));
    char *text = dome__options_show(&options, origins);
    CHECK(dome__options_read(&again, others, &(dome_option_words){.environment = text}, &message));
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        char *one = dome__option_text(row, &options), *other = dome__option_text(row, &again);
        CHECK(g_strcmp0(one, other) == 0);
        g_free(one);
        g_free(other);
    }
    dome__options_clear(&options);
    dome__options_clear(&again);
    g_free(text);
    g_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = g_strndup((const char *)data, size);
    char **lines = g_strsplit(text, "\n", -1);
    const char *environment = lines[0];
    char **words = lines[0] ? lines + 1 : lines;
    int given = (int)g_strv_length(words), argc = given + 1;
    char **argv = g_new0(char *, argc + 1);
    argv[0] = (char *)"prog";
    memcpy(argv + 1, words, (size_t)given * sizeof *argv);

    char **all = g_memdup2(argv, ((size_t)argc + 1) * sizeof *argv);
    dome_options options;
    char *message = NULL;
    if (dome__options_parse(&options, environment, &argc, &argv, &message)) {
        CHECK(!message && argc >= 1 && argc <= given + 1 && !argv[argc]);
        CHECK(options.start.tasks >= 0 && options.timeout > 0);
        int next = 0; /* what is left is what was given, in order */
        for (int i = 1; i < argc; i++) {
            while (next < given && words[next] != argv[i])
                next++;
            CHECK(next++ < given);
        }
        dome__options_clear(&options);
        check_show(environment, all);
    } else {
        CHECK(message && *message && !strpbrk(message, "\n\r"));
        CHECK(argc == given + 1);
        g_free(message);
    }
    g_free(argv);
    g_free(all);
    g_strfreev(lines);
    g_free(text);
    return 0;
}
