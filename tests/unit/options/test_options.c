#include "options/option_command.h"
#include "options/option_parse.h"
#include "options/option_print.h"
#include "options/option_value.h"

#include <dome/error.h>
#include <glib.h>
#include <string.h>

/* Parses a command line given as one string, in a copy of it. */
typedef struct parsed {
    dome_options options;
    char *message;
    bool ok;
    char *rest; /* the arguments left, joined by '|' */
} parsed;

static parsed parse(const char *environment, const char *line)
{
    parsed p = {0};
    char **words = NULL;
    int argc = 0;
    g_assert_true(g_shell_parse_argv(line, &argc, &words, NULL));
    char **argv = g_new0(char *, argc + 1);
    memcpy(argv, words, (size_t)argc * sizeof *argv);
    p.ok = dome__options_parse(&p.options, environment, &argc, &argv, &p.message);
    g_assert_cmpint((int)g_strv_length(argv), ==, argc);
    g_assert_true(p.ok == (p.message == NULL));
    p.rest = g_strjoinv("|", argv);
    g_free(argv);
    g_strfreev(words);
    return p;
}

static void clear(parsed *p)
{
    dome__options_clear(&p->options);
    g_free(p->message);
    g_free(p->rest);
}

static void expect_rest(const char *line, const char *rest)
{
    parsed p = parse(NULL, line);
    g_assert_cmpstr(p.message, ==, NULL);
    g_assert_cmpstr(p.rest, ==, rest);
    clear(&p);
}

static void expect_message(const char *environment, const char *line, const char *message)
{
    parsed p = parse(environment, line);
    g_assert_cmpstr(p.message, ==, message);
    char *untouched = g_strdup(p.rest);
    g_strdelimit(untouched, "|", ' ');
    if (!strpbrk(line, "'\""))
        g_assert_cmpstr(untouched, ==, line); /* a refused command line is unchanged */
    g_free(untouched);
    clear(&p);
}

static void test_defaults(void)
{
    parsed p = parse(NULL, "prog a b");
    g_assert_true(p.ok);
    g_assert_cmpint(p.options.start.tasks, ==, 0);
    g_assert_null(p.options.start.transport);
    g_assert_cmpfloat(p.options.timeout, ==, 10.0);
    g_assert_cmpint(p.options.output, ==, DOME_OUTPUT_FIRST);
    g_assert_cmpint(p.options.balance.policy, ==, DOME_BALANCE_GLOBAL);
    g_assert_cmpuint(p.options.balance.every, ==, 0);
    g_assert_cmpuint(p.options.balance.phases, ==, 0);
    g_assert_cmpint(p.options.balance.group, ==, 1);
    g_assert_cmpint(p.options.balance.topology, ==, DOME_RING);
    g_assert_false(p.options.check_pointers);
    g_assert_false(p.options.profile);
    g_assert_false(p.options.help);
    g_assert_false(p.options.version);
    clear(&p);
}

static void test_checkpoints(void)
{
    parsed p = parse(NULL, "prog --dome-checkpoint-dir d --dome-restart a --dome-restart-x");
    g_assert_false(p.ok);
    clear(&p);
    p = parse(NULL, "prog --dome-checkpoint-dir d");
    g_assert_true(p.ok);
    g_assert_cmpstr(p.options.checkpoint.directory, ==, "d");
    g_assert_cmpint(p.options.checkpoint.unit, ==, DOME_CHECKPOINT_AUTO);
    g_assert_cmpuint(p.options.checkpoint.keep, ==, 2);
    g_assert_cmpfloat(p.options.checkpoint.mtbf, ==, 0);
    g_assert_cmpint(p.options.restart.from, ==, DOME_RESTART_NONE);
    clear(&p);
    p = parse("--dome-checkpoint-dir d --dome-checkpoint-every 10", "prog --dome-restart a --dome-checkpoint-keep 5");
    g_assert_true(p.ok);
    g_assert_cmpstr(p.rest, ==, "prog|a"); /* its value must follow "=" */
    g_assert_cmpint(p.options.restart.from, ==, DOME_RESTART_NEWEST);
    g_assert_cmpint(p.options.checkpoint.unit, ==, DOME_CHECKPOINT_LOOPS);
    g_assert_cmpfloat(p.options.checkpoint.every, ==, 10);
    g_assert_cmpuint(p.options.checkpoint.keep, ==, 5);
    clear(&p);
    p = parse(NULL, "prog --dome-checkpoint-dir=d --dome-checkpoint-every=0.5s --dome-restart=12 --dome-checkpoint-mtbf 60");
    g_assert_true(p.ok);
    g_assert_cmpint(p.options.checkpoint.unit, ==, DOME_CHECKPOINT_SECONDS);
    g_assert_cmpfloat(p.options.checkpoint.every, ==, 0.5);
    g_assert_cmpint(p.options.restart.from, ==, DOME_RESTART_NUMBER);
    g_assert_cmpuint(p.options.restart.number, ==, 12);
    g_assert_cmpfloat(p.options.checkpoint.mtbf, ==, 60);
    clear(&p);
    p = parse("--dome-checkpoint-every=7", "prog --dome-checkpoint-dir d --dome-restart=auto --dome-checkpoint-every auto");
    g_assert_true(p.ok);
    g_assert_cmpint(p.options.restart.from, ==, DOME_RESTART_AUTO);
    g_assert_cmpint(p.options.checkpoint.unit, ==, DOME_CHECKPOINT_AUTO);
    clear(&p);
    expect_message(NULL, "prog --dome-restart",
                   "--dome-restart needs --dome-checkpoint-dir: the directory where checkpoints are");
    expect_message(NULL, "prog --dome-checkpoint-every 5",
                   "--dome-checkpoint-every needs --dome-checkpoint-dir: the directory where checkpoints are");
    expect_message(NULL, "prog --dome-checkpoint-dir d --dome-checkpoint-every 0",
                   "--dome-checkpoint-every takes loops (100), seconds (60s) or 'auto', not '0'");
    expect_message(NULL, "prog --dome-checkpoint-dir d --dome-checkpoint-every -1s",
                   "--dome-checkpoint-every takes loops (100), seconds (60s) or 'auto', not '-1s'");
    expect_message(NULL, "prog --dome-checkpoint-dir d --dome-restart=0",
                   "--dome-restart takes no value, =auto or =NUMBER, not '0'");
    expect_message(NULL, "prog --dome-checkpoint-dir d --dome-checkpoint-keep 0",
                   "--dome-checkpoint-keep takes a whole number from 1 to 1000000, not '0'");
    expect_message(NULL, "prog --dome-checkpoint-dir d --dome-checkpoint-mtbf nan",
                   "--dome-checkpoint-mtbf takes seconds above 0, not 'nan'");
    expect_message(NULL, "prog --dome-checkpoint-dir=", "--dome-checkpoint-dir takes the name of a directory, not ''");
}

static void test_all(void)
{
    parsed p = parse(NULL, "prog --dome-tasks=4 --dome-transport pvm --dome-timeout 2.5 --dome-output=all --dome-profile "
                           "--dome-version --dome-help");
    g_assert_cmpstr(p.message, ==, NULL);
    g_assert_cmpint(p.options.start.tasks, ==, 4);
    g_assert_cmpstr(p.options.start.transport, ==, "pvm");
    g_assert_cmpfloat(p.options.timeout, ==, 2.5);
    g_assert_cmpint(p.options.output, ==, DOME_OUTPUT_ALL);
    g_assert_true(p.options.profile);
    g_assert_true(p.options.help);
    g_assert_true(p.options.version);
    g_assert_cmpstr(p.rest, ==, "prog");
    clear(&p);

    p = parse(NULL, "prog --dome-balance ring --dome-balance-every=100 --dome-balance-phases 3 --dome-balance-group 4 "
                    "--dome-topology linear --dome-check-pointers --dome-check-reductions --dome-kernels avx2");
    g_assert_cmpstr(p.message, ==, NULL);
    g_assert_cmpint(p.options.balance.policy, ==, DOME_BALANCE_RING);
    g_assert_cmpuint(p.options.balance.every, ==, 100);
    g_assert_cmpuint(p.options.balance.phases, ==, 3);
    g_assert_cmpint(p.options.balance.group, ==, 4);
    g_assert_cmpint(p.options.balance.topology, ==, DOME_LINEAR);
    g_assert_true(p.options.check_pointers);
    g_assert_true(p.options.check_reductions);
    g_assert_cmpstr(p.options.kernels, ==, "avx2");
    clear(&p);
    p = parse("--dome-evaluator compiled", "prog --dome-evaluator plain");
    g_assert_cmpint(p.options.evaluator, ==, DOME_EVALUATOR_PLAIN);
    clear(&p);
    p = parse("--dome-balance none", "prog --dome-balance random");
    g_assert_cmpint(p.options.balance.policy, ==, DOME_BALANCE_RANDOM);
    clear(&p);
    p = parse("--dome-balance none", "prog");
    g_assert_cmpint(p.options.balance.policy, ==, DOME_BALANCE_NONE);
    clear(&p);
}

static void test_the_rest_stays(void)
{
    expect_rest("prog", "prog");
    expect_rest("prog a --dome-tasks 4 b", "prog|a|b");
    expect_rest("prog --dome-tasks=4 a", "prog|a");
    expect_rest("prog -v --dome-profile -n 3 --long=x --help - ''", "prog|-v|-n|3|--long=x|--help|-|");
    expect_rest("prog --dome-profile -- --dome-nonsense --dome-tasks 4", "prog|--|--dome-nonsense|--dome-tasks|4");
    expect_rest("prog -- a", "prog|--|a");
    expect_rest("prog --", "prog|--");
    expect_rest("prog -x -- -- --", "prog|-x|--|--|--");
    expect_rest("prog --domesday --dome -dome-tasks dome-tasks", "prog|--domesday|--dome|-dome-tasks|dome-tasks");
    expect_rest("prog '\xff\xfe' --dome-tasks 2 'new\nline'", "prog|\xff\xfe|new\nline");
}

static void test_the_last_wins(void)
{
    parsed p = parse(NULL, "prog --dome-tasks 4 --dome-tasks=2 --dome-transport pvm --dome-transport self --dome-tasks 1");
    g_assert_cmpstr(p.message, ==, NULL);
    g_assert_cmpint(p.options.start.tasks, ==, 1);
    g_assert_cmpstr(p.options.start.transport, ==, "self");
    clear(&p);
}

static void test_environment(void)
{
    parsed p = parse("--dome-tasks 3 '--dome-timeout=7' --dome-output \"all\"", "prog --dome-timeout 8 x");
    g_assert_cmpstr(p.message, ==, NULL);
    g_assert_cmpint(p.options.start.tasks, ==, 3);
    g_assert_cmpfloat(p.options.timeout, ==, 8.0);
    g_assert_cmpint(p.options.output, ==, DOME_OUTPUT_ALL);
    g_assert_cmpstr(p.rest, ==, "prog|x");
    clear(&p);

    p = parse("", "prog");
    g_assert_true(p.ok);
    clear(&p);
    p = parse("  ", "prog");
    g_assert_true(p.ok);
    clear(&p);

    /* no argv at all */
    dome_options options;
    char *message;
    g_assert_true(dome__options_parse(&options, "--dome-tasks=5 --dome-transport=pvm", NULL, NULL, &message));
    g_assert_cmpint(options.start.tasks, ==, 5);
    dome__options_clear(&options);
}

static void test_argv_wins_contradictions(void)
{
    parsed p = parse("--dome-tasks 4", "prog --dome-transport self");
    g_assert_true(p.ok);
    g_assert_cmpint(p.options.start.tasks, <=, 1);
    g_assert_cmpstr(p.options.start.transport, ==, "self");
    clear(&p);

    p = parse("--dome-transport self", "prog --dome-tasks 4");
    g_assert_true(p.ok);
    g_assert_cmpint(p.options.start.tasks, ==, 4);
    g_assert_null(p.options.start.transport);
    clear(&p);

    p = parse("--dome-transport self", "prog --dome-tasks 1");
    g_assert_true(p.ok);
    g_assert_cmpstr(p.options.start.transport, ==, "self");
    clear(&p);
}

static void test_unknown(void)
{
    expect_message(NULL, "prog --dome-task 4", "unknown option --dome-task; did you mean --dome-tasks?");
    expect_message(NULL, "prog --dome-tsaks=4", "unknown option --dome-tsaks; did you mean --dome-tasks?");
    expect_message(NULL, "prog --dome-timout 1", "unknown option --dome-timout; did you mean --dome-timeout?");
    expect_message(NULL, "prog --dome-", "unknown option --dome-; --dome-help lists the options");
    expect_message(NULL, "prog a --dome-colour-of-the-sky b",
                   "unknown option --dome-colour-of-the-sky; --dome-help lists the options");
    expect_message(NULL, "prog --dome-profile=yes", "--dome-profile takes no value");
    expect_message("--dome-tasks 4 extra", "prog", "in DOME_OPTIONS: 'extra' is not an option of Dome's");
    expect_message("-- --dome-tasks", "prog", "in DOME_OPTIONS: '--' is not an option of Dome's");
    expect_message("--dome-output 'all", "prog", "DOME_OPTIONS has an unmatched quote: --dome-output 'all");
    expect_message("--dome-taks 4", "prog", "in DOME_OPTIONS: unknown option --dome-taks; did you mean --dome-tasks?");
}

static void test_bad_values(void)
{
    static const char *const tasks[] = {"0", "-1", "4x", "x4", "1.5", "0x10", "1000001", "99999999999999999999", "+ 3", ""};
    for (size_t i = 0; i < G_N_ELEMENTS(tasks); i++) {
        char *line = g_strdup_printf("prog '--dome-tasks=%s'", tasks[i]);
        char *message = g_strdup_printf("--dome-tasks takes a whole number from 1 to 1000000, not '%s'", tasks[i]);
        expect_message(NULL, line, message);
        g_free(line);
        g_free(message);
    }
    static const char *const timeouts[] = {"0", "-1", "0.05", "nan", "inf", "10s", "1e9", " 5", "", "five"};
    for (size_t i = 0; i < G_N_ELEMENTS(timeouts); i++) {
        char *line = g_strdup_printf("prog --dome-timeout '%s'", timeouts[i]);
        char *message = g_strdup_printf("--dome-timeout takes seconds from 0.1 to 86400, not '%s'", timeouts[i]);
        expect_message(NULL, line, message);
        g_free(line);
        g_free(message);
    }
    expect_message(NULL, "prog --dome-transport mpi", "--dome-transport takes 'pvm' or 'self', not 'mpi'");
    expect_message(NULL, "prog --dome-balance some", "--dome-balance takes 'none', 'global', 'ring' or 'random', not 'some'");
    expect_message(NULL, "prog --dome-bind glue", "--dome-bind takes 'none' or 'core', not 'glue'");
    expect_message(NULL, "prog --dome-road wire", "--dome-road takes 'best', 'vm', 'shm' or 'pvm', not 'wire'");
    expect_message(NULL, "prog --dome-topology torus", "--dome-topology takes 'ring' or 'linear', not 'torus'");
    expect_message(NULL, "prog --dome-balance-every 0",
                   "--dome-balance-every takes a whole number from 1 to 1000000000, not '0'");
    expect_message(NULL, "prog --dome-balance-phases x",
                   "--dome-balance-phases takes a whole number from 1 to 1000000000, not 'x'");
    expect_message(NULL, "prog --dome-balance-group -1",
                   "--dome-balance-group takes a whole number from 1 to 1000000000, not '-1'");
    expect_message(NULL, "prog --dome-output none", "--dome-output takes 'rank0' or 'all', not 'none'");
    expect_message(NULL, "prog --dome-transport self --dome-tasks 2",
                   "--dome-transport self runs one task, but --dome-tasks says 2");
    expect_message("--dome-transport self --dome-tasks 2", "prog",
                   "in DOME_OPTIONS: --dome-transport self runs one task, but --dome-tasks says 2");

    parsed p = parse(NULL, "prog --dome-tasks");
    g_assert_false(p.ok);
    g_assert_nonnull(strstr(p.message, "--dome-tasks"));
    clear(&p);
}

static void test_messages_are_one_line(void)
{
    char *longer = g_strnfill(5000, 'x');
    char *line = g_strdup_printf("prog '--dome-tasks=a\nb\x1b[31m%s'", longer);
    parsed p = parse(NULL, line);
    g_assert_false(p.ok);
    g_assert_null(strpbrk(p.message, "\n\r\x1b"));
    g_assert_cmpuint(strlen(p.message), <, 250);
    clear(&p);
    g_free(line);
    line = g_strdup_printf("prog '--dome-\n%s'", longer);
    p = parse(NULL, line);
    g_assert_false(p.ok);
    g_assert_null(strpbrk(p.message, "\n\r"));
    g_assert_cmpuint(strlen(p.message), <, 250);
    clear(&p);
    g_free(line);
    g_free(longer);
}

static void test_help(void)
{
    static const char *const names[] = {"--dome-tasks=N", "--dome-transport", "--dome-timeout", "--dome-output",
                                        "--dome-profile", "--dome-version",   "--dome-help",    "DOME_OPTIONS"};
    char *help = dome__options_help();
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_nonnull(strstr(help, names[i]));
    g_free(help);
}

/* ---- rules ---- */

/* What dome_init says when it starts the program; NULL: nothing. */
static void expect_broken(const char *line, bool supervised, const char *message)
{
    parsed p = parse(NULL, line);
    g_assert_cmpstr(p.message, ==, NULL);
    char *broken = dome__option_rules_broken(DOME_RULES_OF_START, &p.options, NULL, supervised);
    g_assert_cmpstr(broken, ==, message);
    g_free(broken);
    clear(&p);
}

static void test_rules(void)
{
    expect_broken("prog --dome-tasks 3 --dome-max 2", false, "--dome-tasks 3 is more than --dome-max 2");
    expect_broken("prog --dome-tasks 1 --dome-min 2", false, "--dome-min 2 is more than --dome-tasks 1");
    expect_broken("prog --dome-min 3 --dome-max 2", false, "--dome-min 3 is more than --dome-max 2");
    expect_broken("prog --dome-min 2 --dome-tasks 2 --dome-max 2", false, NULL);
    expect_broken("prog --dome-min 3 --dome-max 2 --dome-help", false, NULL);
    expect_broken("prog --dome-on-loss restart", false, "--dome-on-loss restart needs --dome-restarts K, the most times");
    expect_broken("prog --dome-on-loss restart", true, NULL);
    expect_broken("prog --dome-on-loss restart --dome-restarts 1", false, NULL);
    expect_broken("prog --dome-hosts-script x --dome-size auto", false,
                  "--dome-hosts-script and --dome-size auto exclude each other: both say how many tasks there are");
    expect_broken("prog --dome-hosts-script x --dome-transport self", false,
                  "--dome-transport self has no hosts for --dome-hosts-script");
    expect_broken("prog --dome-size auto --dome-transport self", false,
                  "--dome-transport self runs one task: leave out --dome-size auto");
    expect_broken("prog --dome-on-loss end --dome-restarts 2", false, NULL);
}

/* ---- dome run ---- */

/* Options as dome run reads them. */
typedef struct command {
    dome_options options;
    dome_option_origin origins[DOME_OPTIONS_MOST];
    char *message;
} command;

/* line: of dome run alone; program: its words. */
static command read_command(const char *environment, const char *line, const char *program)
{
    command c = {0};
    GArray *given = dome__option_command_new(), *entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    GOptionContext *context = g_option_context_new(NULL);
    GError *error = NULL;
    char **words = NULL, **argv = NULL;
    int argc = 0, count = 0;
    dome__option_command_entries(entries);
    g_option_context_set_main_group(context, g_option_group_new(NULL, NULL, NULL, given, NULL));
    g_option_context_add_main_entries(context, (const GOptionEntry *)(void *)entries->data, NULL);
    g_assert_true(g_shell_parse_argv(line, NULL, &words, NULL));
    g_assert_true(g_shell_parse_argv(program, &argc, &argv, NULL));
    count = (int)g_strv_length(words);
    char **left = g_memdup2(words, ((size_t)count + 1) * sizeof *words),
         **lent = g_memdup2(argv, ((size_t)argc + 1) * sizeof *argv);
    if (g_option_context_parse(context, &count, &left, &error)) {
        const dome_option_words all = {environment, &argc, &lent, (const dome_option_given *)(void *)given->data};
        if (dome__options_read(&c.options, c.origins, &all, &c.message))
            c.message = dome__option_rules_broken(DOME_RULES_OF_START, &c.options, c.origins, false);
    } else {
        c.message = g_strdup(error->message);
        g_error_free(error);
    }
    g_option_context_free(context);
    g_array_free(entries, TRUE);
    g_free(left);
    g_free(lent);
    g_strfreev(words);
    g_strfreev(argv);
    g_array_free(given, TRUE);
    return c;
}

static void clear_command(command *c)
{
    dome__options_clear(&c->options);
    g_free(c->message);
}

static void expect_of_run(const char *line, const char *program, const char *message)
{
    command c = read_command(NULL, line, program);
    g_assert_cmpstr(c.message, ==, message);
    clear_command(&c);
}

static void test_of_run(void)
{
    command c = read_command("--dome-tasks 2 --dome-min 2", "dome -n 4 --on-loss heal --restarts 3 --hosts-script 'a b'",
                             "prog --dome-max 8 --dome-tasks 3");
    g_assert_cmpstr(c.message, ==, NULL);
    g_assert_cmpint(c.options.start.tasks, ==, 4);
    g_assert_cmpint(c.options.size.least, ==, 2);
    g_assert_cmpint(c.options.size.most, ==, 8);
    g_assert_cmpint(c.options.loss.restarts, ==, 3);
    g_assert_cmpint(c.options.loss.action, ==, DOME_LOSS_HEAL);
    g_assert_cmpstr(c.options.start.hosts_script, ==, "a b");
    g_assert_cmpstr(dome__option_name("dome-tasks", c.origins), ==, "-n");
    g_assert_cmpstr(dome__option_name("dome-hosts-script", c.origins), ==, "--hosts-script");
    g_assert_cmpstr(dome__option_name("dome-max", c.origins), ==, "--dome-max");
    g_assert_cmpstr(dome__option_name("dome-size", c.origins), ==, "--size");
    g_assert_cmpstr(dome__option_name("dome-trace", c.origins), ==, "--dome-trace");
    clear_command(&c);

    c = read_command(NULL, "dome --tasks 4 -n 0 --restarts=0", "prog --dome-tasks 3"); /* 0: not given */
    g_assert_cmpint(c.options.start.tasks, ==, 3);
    g_assert_cmpint(c.options.loss.restarts, ==, 0);
    clear_command(&c);

    expect_of_run("dome --on-loss restart", "prog", "--on-loss restart needs --restarts K, the most times");
    expect_of_run("dome", "prog --dome-on-loss restart", "--dome-on-loss restart needs --restarts K, the most times");
    expect_of_run("dome --on-loss never", "prog", "--on-loss takes 'auto', 'heal', 'restart', 'tell' or 'end', not 'never'");
    expect_of_run("dome --size much", "prog", "--size takes 'keep' or 'auto', not 'much'");
    expect_of_run("dome -n -3", "prog", "-n takes a whole number from 1 to 1000000, not '-3'");
    expect_of_run("dome --tasks x", "prog", "--tasks takes a whole number from 1 to 1000000, not 'x'");
    expect_of_run("dome --max 2 -n 3", "prog", "-n 3 is more than --max 2");
    expect_of_run("dome --max 2", "prog --dome-min 3", "--dome-min 3 is more than --max 2");
    expect_of_run("dome --size auto --hosts-script x", "prog",
                  "--hosts-script and --size auto exclude each other: both say how many tasks there are");
    expect_of_run("dome -n 4", "prog --dome-transport self", NULL); /* the program says that it has one task */
    command env = read_command("--dome-transport self", "dome -n 4", "prog");
    g_assert_cmpstr(env.message, ==, "--dome-transport self runs one task, but -n says 4");
    clear_command(&env);
    expect_of_run("dome --on-loss tell", "prog --dome-checkpoint-every 5", NULL);
}

/* ---- printed and read again ---- */

static void expect_same(const dome_options *a, const dome_options *b)
{
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        char *one = dome__option_text(row, a), *other = dome__option_text(row, b);
        g_assert_cmpstr(one, ==, other);
        g_free(one);
        g_free(other);
    }
    g_assert_cmpint(a->checkpoint.by_default, ==, b->checkpoint.by_default);
}

/* What is printed, as DOME_OPTIONS, gives the same configuration. */
static void expect_shown(const char *environment, const char *line, const char *program, const char *part)
{
    command c = read_command(environment, line, program), again;
    g_assert_cmpstr(c.message, ==, NULL);
    char *text = dome__options_show(&c.options, c.origins);
    guint lines = 0, rows = 0;
    while (dome__option_rows[rows].name)
        rows++;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    g_assert_cmpuint(lines, ==, rows);
    g_assert_nonnull(strstr(text, part));
    again = read_command(text, "dome", "prog");
    g_assert_cmpstr(again.message, ==, NULL);
    dome__options_settle(&c.options);
    dome__options_settle(&again.options);
    expect_same(&c.options, &again.options);
    clear_command(&c);
    clear_command(&again);
    g_free(text);
}

static void test_show(void)
{
    expect_shown(NULL, "dome", "prog", "# --dome-restarts: none               # default\n");
    expect_shown(NULL, "dome -n 4", "prog", "--dome-tasks=4                        # command line: -n\n");
    expect_shown("--dome-timeout 2.5", "dome", "prog", "--dome-timeout=2.5                    # environment: DOME_OPTIONS\n");
    expect_shown(NULL, "dome", "prog --dome-bind core", "--dome-bind=core                      # command line: the program's");
    expect_shown(NULL, "dome --hosts-script \"echo 'h1'; true # x\"", "prog", "--dome-hosts-script=");
    expect_shown(NULL, "dome --on-loss heal", "prog", "# --dome-checkpoint-dir: no checkpoints");
    expect_shown(NULL, "dome --on-loss heal", "prog --dome-checkpoint-dir none:", "--dome-checkpoint-dir=none: ");
    expect_shown(NULL, "dome --on-loss tell", "prog --dome-checkpoint-dir memory:", "--dome-checkpoint-dir=memory: ");
    expect_shown(NULL, "dome --restarts 2", "prog --dome-checkpoint-dir 'a b' --dome-checkpoint-every 0.1s --dome-restart=7",
                 "--dome-checkpoint-every=0.1s ");
    expect_shown(NULL, "dome", "prog --dome-checkpoint-dir d --dome-restart --dome-checkpoint-mtbf 1e6", "--dome-restart ");
    expect_shown(NULL, "dome", "prog --dome-checkpoint-dir d --dome-restart=auto --dome-checkpoint-every 100", "-restart=auto ");
    expect_shown(NULL, "dome -n 4", "prog --dome-transport self", "--dome-transport=self ");
    expect_shown("--dome-tasks 4", "dome", "prog --dome-transport self", "--dome-transport=self ");
    expect_shown("--dome-transport self", "dome", "prog --dome-tasks 4",
                 "# --dome-transport: pvm, but one task needs none  # default");
    expect_shown(NULL, "dome", "prog --dome-profile --dome-balance-every 18 --dome-trace=-- --dome-version", "--dome-profile ");
}

/* ---- on command lines ---- */

static void test_instead(void)
{
    char *argv[] = {(char *)"prog",
                    (char *)"--dome-trace",
                    (char *)"--dome-tasks",
                    (char *)"a",
                    (char *)"--dome-tasks",
                    (char *)"3",
                    (char *)"--dome-tasks=5",
                    (char *)"--dome-restart",
                    (char *)"b",
                    (char *)"--",
                    (char *)"--dome-tasks",
                    NULL};
    char *instead[] = {(char *)"--dome-restart=auto", (char *)"--dome-tasks=4", NULL};
    char **words = dome__options_instead(argv, instead), *line = g_strjoinv("|", words);
    g_assert_cmpstr(line, ==, "prog|--dome-trace|--dome-tasks|a|b|--dome-restart=auto|--dome-tasks=4|--|--dome-tasks");
    g_free(line);
    g_strfreev(words);
}

static void test_look(void)
{
    char *argv[] = {(char *)"prog", (char *)"a", (char *)"--dome-tasks=3", (char *)"--dome-transport", (char *)"self", NULL};
    char *wrong[] = {(char *)"prog", (char *)"--dome-tasks", NULL};
    dome_options options;
    g_assert_true(dome__options_look(&options, 5, argv)); /* by no rules */
    g_assert_cmpint(options.start.tasks, ==, 3);
    g_assert_cmpstr(argv[2], ==, "--dome-tasks=3");
    dome__options_clear(&options);
    g_assert_false(dome__options_look(&options, 2, wrong));
}

static void test_status(void)
{
    g_assert_cmpstr(dome_status_name(DOME_OK), ==, "DOME_OK");
    g_assert_cmpstr(dome_status_name(DOME_ERR_LOST), ==, "DOME_ERR_LOST");
    g_assert_cmpstr(dome_status_text(DOME_ERR_MEMORY), ==, "out of memory");
    g_assert_cmpstr(dome_status_name(-1), ==, "unknown status");
    g_assert_cmpstr(dome_status_text(12345), ==, "unknown status");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/options/defaults", test_defaults);
    g_test_add_func("/options/all", test_all);
    g_test_add_func("/options/checkpoints", test_checkpoints);
    g_test_add_func("/options/the-rest-stays", test_the_rest_stays);
    g_test_add_func("/options/the-last-wins", test_the_last_wins);
    g_test_add_func("/options/environment", test_environment);
    g_test_add_func("/options/argv-wins-contradictions", test_argv_wins_contradictions);
    g_test_add_func("/options/unknown", test_unknown);
    g_test_add_func("/options/bad-values", test_bad_values);
    g_test_add_func("/options/messages-are-one-line", test_messages_are_one_line);
    g_test_add_func("/options/help", test_help);
    g_test_add_func("/options/rules", test_rules);
    g_test_add_func("/options/of-run", test_of_run);
    g_test_add_func("/options/show", test_show);
    g_test_add_func("/options/instead", test_instead);
    g_test_add_func("/options/look", test_look);
    g_test_add_func("/status", test_status);
    return g_test_run();
}
