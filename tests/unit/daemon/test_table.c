/* The table of programs: orders, places, losses, and its text. */
#include "daemon/table.h"

#include <glib.h>
#include <string.h>

/* Applies a line, and checks the beginning of the answer. */
static void apply(dome_table *table, const char *line, const char *answer)
{
    dome_record order;
    g_assert_true(dome__record_parse(line, strlen(line), &order));
    char *got = dome__table_apply(table, &order);
    if (!g_str_has_prefix(got, answer))
        g_error("%s: %s, not %s", line, got, answer);
    g_free(got);
    dome__record_clear(&order);
}

static void submit(dome_table *table, int tasks, int least, int priority, const char *home, const char *answer)
{
    char *line = g_strdup_printf("submit uid=7 gid=7 owner=u directory=/d output=/o word=/bin/p env=A=1 tasks=%d least=%d "
                                 "priority=%d home=%s time=100",
                                 tasks, least, priority, home);
    apply(table, line, answer);
    g_free(line);
}

static void is(const dome_table *table, int64_t id, dome_program_state state, const char *host, int64_t size, int64_t target)
{
    const dome_program *p = dome__table_program(table, id);
    g_assert_nonnull(p);
    g_assert_cmpstr(dome__program_state_name(p->state), ==, dome__program_state_name(state));
    g_assert_cmpstr(p->host, ==, host);
    g_assert_cmpint(p->size, ==, size);
    g_assert_cmpint(p->target, ==, target);
}

static dome_table *three_hosts(void)
{
    dome_table *table = dome__table_new();
    apply(table, "host name=h1 node=1 slots=4", "done");
    apply(table, "host name=h2 node=2 slots=4", "done");
    apply(table, "host name=h3 node=3 slots=4", "done");
    return table;
}

static void test_life(void)
{
    dome_table *t = three_hosts();
    submit(t, 4, 4, 0, "h2", "done j1");
    is(t, 1, DOME_PROGRAM_STARTS, "h2", 4, 4);
    apply(t, "started program=1 attempt=1 time=101", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h2", 4, 4);
    apply(t, "wish program=1 what=stop", "done j1");
    apply(t, "stopped program=1 attempt=1", "done");
    is(t, 1, DOME_PROGRAM_STOPPED, "h2", 4, 4);
    apply(t, "goes-on program=1 attempt=1", "done");
    apply(t, "ended program=1 attempt=2 status=0", "no that attempt is over");
    apply(t, "ended program=1 attempt=1 status=3 why=x time=110", "done");
    is(t, 1, DOME_PROGRAM_ENDED, "h2", 0, 0);
    g_assert_cmpint(dome__table_program(t, 1)->status, ==, 3);
    apply(t, "wish program=1 what=end", "no j1 has ended");
    apply(t, "wish program=9 what=end", "no there is no program j9");
    dome__table_free(t);
}

/* A program of high priority gets the tasks of one that can shrink, and gives them back. */
static void test_priority(void)
{
    dome_table *t = three_hosts();
    submit(t, 12, 2, 0, "h1", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 12);
    submit(t, 6, 6, 5, "h2", "done j2");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 6);
    is(t, 2, DOME_PROGRAM_STARTS, "h2", 6, 6);
    apply(t, "size program=1 attempt=1 tasks=6", "done");
    apply(t, "started program=2 attempt=1", "done");
    apply(t, "ended program=2 attempt=1 status=0", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 6, 6); /* it has just changed */
    apply(t, "tick seconds=11", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 6, 12);
    apply(t, "size program=1 attempt=1 rigid=1", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 6, 6);
    g_assert_true(dome__table_program(t, 1)->rigid);
    apply(t, "size program=1 attempt=1 tasks=5 on=h1:5", "done"); /* it has changed after all */
    g_assert_false(dome__table_program(t, 1)->rigid);
    apply(t, "limits program=1 priority=9 tasks=8", "done");
    apply(t, "limits program=1 least=9", "no numbers");
    dome__table_free(t);
}

/* One that does not come to a loop boundary is taken as it is, and suspended for the other; it goes on afterwards. */
static void test_lingers(void)
{
    dome_table *t = three_hosts();
    submit(t, 12, 2, 0, "h1", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    submit(t, 10, 10, 5, "h2", "done j2");
    apply(t, "started program=2 attempt=1", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 2);
    apply(t, "tick seconds=19", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 2);
    g_assert_false(dome__table_program(t, 1)->plan.held);
    apply(t, "tick seconds=1", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 12);
    g_assert_true(dome__table_program(t, 1)->plan.held);
    apply(t, "stopped program=1 attempt=1", "done");
    apply(t, "tick seconds=60", "done");
    is(t, 2, DOME_PROGRAM_RUNS, "h2", 10, 10);
    apply(t, "ended program=2 attempt=1 status=0", "done");
    g_assert_false(dome__table_program(t, 1)->plan.held);
    apply(t, "goes-on program=1 attempt=1", "done");
    apply(t, "size program=1 attempt=1 tasks=2 on=h1:2", "done"); /* its boundary, at last */
    g_assert_false(dome__table_program(t, 1)->rigid);
    apply(t, "tick seconds=11", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 2, 12);
    dome__table_free(t);
}

/* So is one that does not leave a host whose owner is there: it is suspended until the owner has gone. */
static void test_lingers_beside_owner(void)
{
    dome_table *t = three_hosts();
    submit(t, 12, 2, 0, "h1", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    apply(t, "tick seconds=60", "done");
    apply(t, "load name=h2 load=0 owner=2", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 8);
    apply(t, "tick seconds=19", "done");
    g_assert_false(dome__table_program(t, 1)->plan.held);
    apply(t, "tick seconds=1", "done");
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 12, 12);
    g_assert_true(dome__table_program(t, 1)->plan.held);
    apply(t, "stopped program=1 attempt=1", "done");
    apply(t, "load name=h2 load=0 owner=1", "done");
    g_assert_false(dome__table_program(t, 1)->plan.held);
    dome__table_free(t);
}

/* A program of one task does not change; beside one of priority that takes its host it is suspended. */
static void test_one_task(void)
{
    dome_table *t = three_hosts();
    submit(t, 1, 1, 0, "h1", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    submit(t, 12, 12, 5, "h2", "done j2");
    g_assert_true(dome__table_program(t, 1)->plan.held);
    is(t, 2, DOME_PROGRAM_STARTS, "h2", 12, 12);
    apply(t, "limits program=2 priority=0", "done"); /* among equals they share */
    g_assert_false(dome__table_program(t, 1)->plan.held);
    dome__table_free(t);
}

static void test_lost_host(void)
{
    dome_table *t = three_hosts();
    submit(t, 2, 2, 0, "h1", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    apply(t, "members node=2 node=3", "done"); /* its daemon has ended, not the host */
    is(t, 1, DOME_PROGRAM_RUNS, "h1", 2, 2);
    apply(t, "host name=h1 node=1 slots=4", "done");
    apply(t, "members node=2 node=3 lost=1", "done");
    is(t, 1, DOME_PROGRAM_STARTS, "h2", 2, 2);
    g_assert_cmpint(dome__table_program(t, 1)->attempt, ==, 2);
    apply(t, "ended program=1 attempt=1 status=0", "no that attempt is over");
    apply(t, "started program=1 attempt=2", "done");
    apply(t, "members node=3 lost=2", "done"); /* one of three: no majority */
    is(t, 1, DOME_PROGRAM_RUNS, "h2", 2, 2);
    submit(t, 1, 1, 0, "h3", "done j2");
    is(t, 2, DOME_PROGRAM_WAITS, "", 0, 0);
    apply(t, "host name=h1 node=1 slots=4", "done");
    g_assert_cmpint(dome__table_program(t, 1)->attempt, ==, 3);
    dome__table_free(t);
}

static void test_once(void)
{
    dome_table *t = three_hosts();
    apply(t, "submit uid=1 gid=1 owner=u directory=/ output=/o word=p home=h1 again=0", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    apply(t, "members node=2 node=3", "done");
    apply(t, "lost name=h1", "done");
    is(t, 1, DOME_PROGRAM_ENDED, "h1", 0, 0);
    g_assert_cmpstr(dome__table_program(t, 1)->why, ==, "host h1 was lost");
    apply(t, "lost name=h2", "no its daemon is there");
    dome__table_free(t);
}

static void test_hosts(void)
{
    dome_table *t = three_hosts();
    apply(t, "use name=h1 what=drain", "done h1: drained");
    submit(t, 1, 1, 0, "h1", "done j1");
    is(t, 1, DOME_PROGRAM_STARTS, "h2", 1, 1);
    apply(t, "use name=h9 what=drain", "no there is no host h9");
    apply(t, "use name=h2 what=burn", "no the order");
    apply(t, "leave name=h3", "done");
    apply(t, "leave name=h2", "done");
    g_assert_true(dome__table_has_majority(t)); /* those that have said goodbye do not count */
    dome__table_free(t);
}

/* Half of the hosts: the side with the first of them by name. */
static void test_halves(void)
{
    dome_table *t = three_hosts();
    apply(t, "host name=h4 node=4 slots=4", "done");
    apply(t, "members node=1 node=4 lost=2 lost=3", "done");
    g_assert_true(dome__table_has_majority(t));
    apply(t, "host name=h2 node=2 slots=4", "done");
    apply(t, "host name=h3 node=3 slots=4", "done");
    apply(t, "members node=2 node=3 lost=1 lost=4", "done");
    g_assert_false(dome__table_has_majority(t));
    dome__table_free(t);
}

static void test_too_many(void)
{
    dome_table *t = three_hosts();
    for (int i = 0; i < DOME_TABLE_OF_USER; i++)
        submit(t, 1, 1, 0, "h1", "done");
    submit(t, 1, 1, 0, "h1", "no u has 1000 programs");
    for (int i = 1; i <= DOME_TABLE_OF_USER; i++) {
        char *line = g_strdup_printf("wish program=%d what=end", i);
        apply(t, line, "done");
        g_free(line);
    }
    for (int i = 1; i <= DOME_TABLE_OF_USER; i++) {
        char *line = g_strdup_printf("ended program=%d attempt=1 status=143", i);
        const dome_program *p = dome__table_program(t, i);
        if (p && p->state != DOME_PROGRAM_ENDED)
            apply(t, line, "done");
        g_free(line);
    }
    g_assert_cmpuint(t->programs->len, ==, DOME_TABLE_ENDED);
    dome__table_free(t);
}

static int64_t goal(const dome_table *t, int64_t id, const char *host)
{
    return dome__places_get(&dome__table_program(t, id)->plan.goal, host);
}

/* Tasks leave a drained host, but for task 0 of a program without checkpoints; one with them goes on elsewhere. */
static void test_drained(void)
{
    dome_table *t = three_hosts();
    submit(t, 8, 2, 0, "h1", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    g_assert_cmpint(goal(t, 1, "h1"), ==, 4);
    g_assert_cmpint(goal(t, 1, "h2"), ==, 4);
    apply(t, "use name=h2 what=drain", "done");
    g_assert_cmpint(goal(t, 1, "h2"), ==, 0);
    g_assert_cmpint(goal(t, 1, "h1"), ==, 4);
    apply(t, "size program=1 attempt=1 tasks=4 on=h1:4", "done");
    apply(t, "tick seconds=20", "done");
    g_assert_cmpint(goal(t, 1, "h3"), ==, 4);
    apply(t, "size program=1 attempt=1 tasks=8 on=h1:4 on=h3:4", "done");
    apply(t, "use name=h1 what=drain", "done");
    g_assert_cmpint(goal(t, 1, "h1"), ==, 1);
    apply(t, "ended program=1 attempt=1 status=0", "done");
    apply(t, "submit uid=1 gid=1 owner=u directory=/ output=/o word=p word=--dome-checkpoint-dir=/c tasks=2 least=1 home=h3",
          "done j2");
    apply(t, "started program=2 attempt=1", "done");
    is(t, 2, DOME_PROGRAM_RUNS, "h3", 2, 2);
    apply(t, "use name=h1 what=enable", "done");
    apply(t, "use name=h3 what=drain", "done");
    g_assert_true(dome__table_program(t, 2)->plan.parks);
    apply(t, "ended program=2 attempt=1 status=143", "done");
    g_assert_cmpint(dome__table_program(t, 2)->attempt, ==, 2);
    g_assert_true(dome__table_program(t, 2)->plan.parked);
    g_assert_cmpstr(dome__table_program(t, 2)->host, !=, "h3");
    dome__table_free(t);
}

/* An owner's return: the tasks go elsewhere; what cannot, stops, and goes on when the owner has gone. */
static void test_owner(void)
{
    dome_table *t = three_hosts();
    submit(t, 1, 1, 0, "h2", "done j1");
    apply(t, "started program=1 attempt=1", "done");
    submit(t, 6, 2, 0, "h1", "done j2");
    apply(t, "started program=2 attempt=1", "done");
    apply(t, "load name=h2 load=0 owner=1", "done same");
    g_assert_false(dome__table_program(t, 1)->plan.held);
    apply(t, "load name=h2 load=0 owner=2", "done");
    g_assert_true(dome__table_program(t, 1)->plan.held);
    g_assert_false(dome__table_program(t, 2)->plan.held);
    g_assert_cmpint(goal(t, 2, "h2"), ==, 0);
    apply(t, "stopped program=1 attempt=1", "done");
    is(t, 1, DOME_PROGRAM_STOPPED, "h2", 1, 1);
    apply(t, "load name=h2 load=0 owner=1", "done");
    g_assert_false(dome__table_program(t, 1)->plan.held);
    dome__table_free(t);
}

/* What fits first runs, else it waits. */
static void test_topology(void)
{
    static const char wishes[] = "submit uid=1 gid=1 owner=u directory=/ output=/o word=p tasks=8 least=2 home=h1 "
                                 "topology=%5B1%5D%0Atasks=8%0Ahosts=h%5B2-3%5D%0A%5B2%5D%0Atasks=2%0Ahosts=h3%0A";
    dome_table *t = three_hosts();
    apply(t, "submit uid=1 gid=1 owner=u directory=/ output=/o word=p tasks=1 home=h1 topology=%5B1%5D%0Atask=1",
          "no the topology: line 2, column 1: the keys are tasks, arch and hosts");
    apply(t, "use name=h3 what=disable", "done");
    apply(t, wishes, "done j1");
    is(t, 1, DOME_PROGRAM_WAITS, "", 0, 0);
    apply(t, "use name=h2 what=disable", "done");
    apply(t, "use name=h3 what=enable", "done");
    is(t, 1, DOME_PROGRAM_STARTS, "h3", 2, 2);
    dome__table_free(t);
    t = three_hosts();
    apply(t, wishes, "done j1");
    g_assert_cmpint(goal(t, 1, "h2"), ==, 4);
    g_assert_cmpint(goal(t, 1, "h3"), ==, 4);
    dome__table_free(t);
}

static void test_text(void)
{
    dome_table *t = three_hosts();
    char *message;
    submit(t, 12, 2, 3, "h1", "done j1");
    submit(t, 4, 4, 5, "h2", "done j2");
    apply(t, "submit uid=1 gid=1 owner=u directory=/ output=/o word=p tasks=4 least=2 home=h1 topology=%5B1%5D%0Atasks=4%0A",
          "done j3");
    apply(t, "use name=h3 what=disable", "done");
    apply(t, "load name=h2 load=150 owner=1 architecture=x86-64", "done");
    apply(t, "tick seconds=3", "done");
    char *text = dome__table_text(t);
    dome_table *same = dome__table_read(text, &message);
    g_assert_nonnull(same);
    char *again = dome__table_text(same);
    g_assert_cmpstr(text, ==, again);
    /* Every part of it is refused. */
    for (size_t n = 0; n < strlen(text); n++) {
        char *part = g_strndup(text, n);
        g_assert_null(dome__table_read(part, &message));
        g_assert_nonnull(message);
        g_free(message);
        g_free(part);
    }
    g_assert_null(dome__table_read("table version=1 serial=0 next=1\nend lines=0\n", &message));
    g_assert_cmpstr(message, ==, "it is of version 1, this is version 5");
    g_free(message);
    g_free(again);
    g_free(text);
    dome__table_free(same);
    dome__table_free(t);
}

/* The same orders, the same table, whatever they are. */
static void test_equal(void)
{
    static const char *const lines[] = {"started program=%d attempt=1",
                                        "wish program=%d what=stop",
                                        "stopped program=%d attempt=1",
                                        "wish program=%d what=run",
                                        "size program=%d attempt=1 tasks=2",
                                        "gone program=%d attempt=1",
                                        "ended program=%d attempt=2 status=0",
                                        "limits program=%d tasks=3 least=1 priority=%d",
                                        "members node=%d node=3 lost=2",
                                        "host name=h2 node=2 slots=%d",
                                        "use name=h%d what=drain",
                                        "use name=h%d what=enable",
                                        "load name=h%d load=%d00 owner=0",
                                        "load name=h%d load=0 owner=3",
                                        "load name=h%d load=0 owner=2",
                                        "size program=%d attempt=1 tasks=3 on=h1:2 on=h2:1",
                                        "size program=%d attempt=1 rigid=1",
                                        "tick seconds=%d",
                                        "wish program=%d what=end",
                                        "forget program=%d"};
    dome_table *a = three_hosts(), *b = three_hosts();
    for (int k = 0; k < 1000; k++) {
        const int number = g_test_rand_int_range(1, 12);
        char *line = k % 7 == 0
                         ? g_strdup_printf("submit uid=1 gid=1 owner=u directory=/ output=/o word=p tasks=%d least=1 home=h%d",
                                           number, number % 4)
                         : NULL;
        if (!line) {
            char digits[16], **parts = g_strsplit(lines[g_test_rand_int_range(0, G_N_ELEMENTS(lines))], "%d", 0);
            g_snprintf(digits, sizeof digits, "%d", number);
            line = g_strjoinv(digits, parts);
            g_strfreev(parts);
        }
        apply(a, line, "");
        apply(b, line, "");
        g_free(line);
        if (k % 20)
            continue;
        char *one = dome__table_text(a), *other = dome__table_text(b), *message;
        g_assert_cmpstr(one, ==, other);
        dome_table *read = dome__table_read(one, &message);
        g_assert_nonnull(read);
        dome__table_free(b);
        b = read; /* a daemon that has begun anew is as the others */
        g_free(one);
        g_free(other);
    }
    dome__table_free(a);
    dome__table_free(b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/table/life", test_life);
    g_test_add_func("/table/priority", test_priority);
    g_test_add_func("/table/lingers", test_lingers);
    g_test_add_func("/table/lingers_beside_owner", test_lingers_beside_owner);
    g_test_add_func("/table/one_task", test_one_task);
    g_test_add_func("/table/lost_host", test_lost_host);
    g_test_add_func("/table/once", test_once);
    g_test_add_func("/table/hosts", test_hosts);
    g_test_add_func("/table/halves", test_halves);
    g_test_add_func("/table/too_many", test_too_many);
    g_test_add_func("/table/drained", test_drained);
    g_test_add_func("/table/owner", test_owner);
    g_test_add_func("/table/topology", test_topology);
    g_test_add_func("/table/text", test_text);
    g_test_add_func("/table/equal", test_equal);
    return g_test_run();
}
