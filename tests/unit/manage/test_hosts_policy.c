/* When a program takes hosts and lets them go. */
#include "machine/hosts_script.h"
#include "manage/hosts_policy.h"

#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void check_parse(const char *text, const char *expected)
{
    char *message = NULL;
    GArray *offers = dome__offers_parse(text, &message);
    GString *got = g_string_new(offers ? NULL : message);
    for (guint i = 0; offers && i < offers->len; i++)
        g_string_append_printf(got, "%s%s=%d", i ? " " : "", g_array_index(offers, dome_offer, i).host,
                               g_array_index(offers, dome_offer, i).slots);
    g_assert_cmpstr(got->str, ==, expected);
    g_assert_true(!offers == (message != NULL));
    g_string_free(got, TRUE);
    if (offers)
        g_array_unref(offers);
    g_free(message);
}

static void test_parse(void)
{
    check_parse("h1:2\nh2\n\n# none\n h3:4 # four\n", "h1=2 h2=1 h3=4");
    check_parse("h1:2\nh1:3\n", "h1=5");
    check_parse("h1:0\n", "");
    check_parse("", "");
    check_parse("h1:x\n", "'h1:x' is not host:slots");
    check_parse("h1 h2\n", "'h1 h2' is not host:slots");
    check_parse(":3\n", "':3' is not host:slots");
    check_parse("h1\n-h2\n", "'-h2' is not host:slots");
    g_assert_true(dome__script_succeeded("h1\n#status 0\n"));
    g_assert_true(dome__script_succeeded("#status 0\n"));
    g_assert_false(dome__script_succeeded("h1\n#status 1\n"));
    g_assert_false(dome__script_succeeded("h1\n"));
    g_assert_false(dome__script_succeeded("h1 #status 0\n"));
    GString *many = g_string_new(NULL);
    for (int i = 0; i < 4096; i++)
        g_string_append_printf(many, "h%d\n", i);
    check_parse(many->str, "names more than 4095 hosts");
    g_string_free(many, TRUE);
}

/* What a run of a command gives: its hosts, or why it gives none. */
static void check_ask(const char *command, const char *expected)
{
    char *slots = NULL, *message = NULL, **hosts = dome__hosts_script_ask(command, &slots, &message);
    g_assert_cmpstr(hosts ? slots : message, ==, expected);
    g_assert_true(!hosts == (message != NULL));
    g_strfreev(hosts);
    g_free(slots);
    g_free(message);
}

/* The end of the last line does not matter, and however much a script prints, little of it is read. */
static void test_ask(void)
{
    check_ask("echo h1:2; echo h2", "h1=2 h2=1");
    check_ask("printf h1", "h1=1");
    check_ask("printf 'h1\\nh2:3 # four'", "h1=1 h2=3");
    check_ask("true", "");
    check_ask("echo h1; false", "'echo h1; false' has failed");
    check_ask("echo h1; exit 3", "'echo h1; exit 3' has failed");
    check_ask("printf '#status 0'; kill $$", "'printf '#status 0'; kill $$' has failed");
    check_ask("yes h1", "'yes h1' prints more than 1024 KiB");
    check_ask("echo 'h1 h2'", "'echo 'h1 h2'' 'h1 h2' is not host:slots");
    check_ask("cat", ""); /* it has no input */
    struct rusage used;
    g_assert_cmpint(getrusage(RUSAGE_SELF, &used), ==, 0);
    g_assert_cmpint(used.ru_maxrss, <, 500000); /* KiB */
}

/* Runs the script, which writes the pid of a process that it has started to a file; returns that. */
static int pid_of(const char *script, const char *expected)
{
    char *path = NULL, *text = NULL;
    close(g_file_open_tmp("dome-script-XXXXXX", &path, NULL));
    g_setenv("PID_FILE", path, TRUE);
    check_ask(script, expected);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const int pid = atoi(text);
    g_assert_cmpint(pid, >, 1);
    unlink(path);
    g_free(path);
    g_free(text);
    return pid;
}

static bool is_there(int pid)
{
    char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL;
    const bool there = g_file_get_contents(path, &text, NULL, NULL) && !strstr(text, ") Z ");
    g_free(path);
    g_free(text);
    return there;
}

/* A script that goes on without its output is ended with what it has started; one that has ended well may leave processes. */
static void test_goes_on(void)
{
    static const char silent[] = "sleep 1000 >/dev/null 2>&1 & echo $! >$PID_FILE; echo h1; exec >&-; wait";
    int pid = pid_of(silent, "'sleep 1000 >/dev/null 2>&1 & echo $! >$PID_FILE; echo h1; exec >&-; wait' has failed");
    while (is_there(pid))
        g_usleep(1000);
    pid = pid_of("sleep 1000 >/dev/null 2>&1 & echo $! >$PID_FILE; echo h1", "h1=1");
    g_assert_true(is_there(pid));
    kill(pid, SIGKILL);
}

/* A program as the policy sees it. */
typedef struct model {
    dome_hosts_policy *policy;
    double now;
    const char *hosts[64];
    int size, least, most;
} model;

static model start(int least, int most)
{
    return (model){.policy = dome__hosts_policy_new(), .hosts = {"h1"}, .size = 1, .least = least, .most = most};
}

static void offer(model *m, const char *text)
{
    char *message = NULL;
    GArray *offers = dome__offers_parse(text, &message);
    g_assert_null(message);
    dome__hosts_policy_offer(m->policy, offers, m->now);
    g_array_unref(offers);
}

/* Waits so long; the order that is then due as a line, "" if none; good: it is carried out. */
static char *after(model *m, double seconds, bool good)
{
    dome_order order;
    m->now += seconds;
    const dome_hosts_sample program = {m->now, m->size, m->least, m->most, m->hosts};
    if (!dome__hosts_policy_order(m->policy, &program, &order))
        return g_strdup("");
    char *line = dome__order_line(&order);
    dome_view_plan plan;
    const char *next[64];
    g_assert_null(dome__order_plan(&order, m->size, m->hosts, &plan));
    g_assert_cmpint(plan.size, >=, MAX(m->least, 1));
    g_assert_true(m->most == 0 || plan.size <= m->most || plan.size < m->size);
    for (int r = 0; r < plan.size; r++)
        next[r] = plan.members[r].before < 0 ? plan.members[r].host : m->hosts[plan.members[r].before];
    if (good) {
        memcpy(m->hosts, next, sizeof next);
        m->size = plan.size;
    }
    dome__hosts_policy_ended(m->policy, &order, good, m->now);
    dome__view_plan_clear(&plan);
    dome__order_clear(&order);
    return line;
}

static void expect(model *m, double seconds, bool good, const char *expected)
{
    char *line = after(m, seconds, good);
    g_assert_cmpstr(line, ==, expected);
    g_free(line);
}

static void test_come_and_go(void)
{
    model m = start(1, 0);
    offer(&m, "h1\nh2:2\nh3\n");
    expect(&m, 1, true, ""); /* it might be gone again at once */
    expect(&m, DOME_HOSTS_SETTLE, true, "grow 0 h2 h2 h3");
    offer(&m, "h1\nh2:2\n");
    expect(&m, 1, true, "");
    offer(&m, "h1\nh2:2\nh3\n"); /* it was away for a second */
    expect(&m, 2 * DOME_HOSTS_REST, true, "");
    offer(&m, "h1\nh2:2\n");
    expect(&m, DOME_HOSTS_SETTLE, true, "shrink 0 h3");
    offer(&m, "h1\nh2\n");
    expect(&m, DOME_HOSTS_SETTLE, true, ""); /* the last change was not long ago */
    expect(&m, DOME_HOSTS_REST, true, "shrink 1 h2");
    offer(&m, "h2\n"); /* task 0 stays */
    expect(&m, 10 * DOME_HOSTS_REST, true, "");
    dome__hosts_policy_free(m.policy);
}

static void test_range(void)
{
    model m = start(2, 3);
    offer(&m, "h1\nh2:8\n");
    expect(&m, DOME_HOSTS_SETTLE, true, "grow 0 h2 h2");
    offer(&m, "h1\n");
    expect(&m, DOME_HOSTS_REST, true, "shrink 1 h2");
    expect(&m, DOME_HOSTS_REST, true, "");
    dome__hosts_policy_free(m.policy);
}

static void test_failures(void)
{
    model m = start(1, 0);
    offer(&m, "h2\nh3\n");
    expect(&m, DOME_HOSTS_SETTLE, false, "grow 0 h2 h3");
    expect(&m, DOME_HOSTS_FIRST_WAIT - 1, false, "");
    expect(&m, 1, false, "grow 0 h2"); /* alone, to find out which it was */
    expect(&m, DOME_HOSTS_REST, true, "grow 0 h3");
    expect(&m, 2 * DOME_HOSTS_FIRST_WAIT - DOME_HOSTS_REST - 1, false, "");
    expect(&m, 1, false, "grow 0 h2");
    expect(&m, 4 * DOME_HOSTS_FIRST_WAIT - 1, false, "");
    expect(&m, 1, true, "grow 0 h2");
    g_assert_cmpint(m.size, ==, 3);
    dome__hosts_policy_free(m.policy);
}

/* Whatever the script prints, changes are at least REST apart, and an unchanging offer leads to no more than what it says. */
static void test_any(void)
{
    GRand *random = g_rand_new_with_seed(7);
    for (int round = 0; round < 200; round++) {
        model m = start(g_rand_int_range(random, 1, 3), g_rand_int_range(random, 0, 2) ? 6 : 0);
        double last = -1e9;
        for (int step = 0; step < 200; step++) {
            GString *text = g_string_new(NULL);
            for (int h = 1; h <= 4; h++)
                if (g_rand_int_range(random, 0, 4))
                    g_string_append_printf(text, "h%d:%d\n", h, g_rand_int_range(random, 1, 4));
            if (step < 150 && g_rand_int_range(random, 0, 4) == 0)
                offer(&m, text->str);
            if (step == 150)
                offer(&m, "h1:1\nh2:2\nh3:1\n");
            g_string_free(text, TRUE);
            char *line = after(&m, 2, step >= 150 || g_rand_int_range(random, 0, 3));
            if (line[0]) {
                g_assert_cmpfloat(m.now - last, >=, DOME_HOSTS_REST);
                last = m.now;
            }
            g_free(line);
        }
        m.now += 2 * DOME_HOSTS_LONGEST_WAIT;
        for (int k = 0; k < 8; k++)
            g_free(after(&m, DOME_HOSTS_REST, true));
        g_assert_cmpint(m.size, ==, 4);
        dome__hosts_policy_free(m.policy);
    }
    g_rand_free(random);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hosts-policy/parse", test_parse);
    g_test_add_func("/hosts-policy/ask", test_ask);
    g_test_add_func("/hosts-policy/goes-on", test_goes_on);
    g_test_add_func("/hosts-policy/come-and-go", test_come_and_go);
    g_test_add_func("/hosts-policy/range", test_range);
    g_test_add_func("/hosts-policy/failures", test_failures);
    g_test_add_func("/hosts-policy/any", test_any);
    return g_test_run();
}
