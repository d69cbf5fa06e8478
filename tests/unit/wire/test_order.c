/* Orders of users: their lines, and the plans that follow from them. */
#include "wire/order.h"

#include <glib.h>
#include <string.h>

static const char *const three[] = {"h1", "h1", "h2", "h2", "h3", "h3"};

static void test_lines(void)
{
    static const char *const good[] = {"grow 3",      "grow 0 h7 h8",         "grow 12 node-1.lab", "shrink 1",
                                       "shrink 0 h3", "shrink 2 h3 10.0.0.7", "move h3 h9"};
    static const char *const bad[] = {
        "",        "grow",     "grow ",      "grow 0",   "grow -1",       "grow 1x", "grow 99999999999",
        "shrink",  "move 1",   "Grow 1",     "move h1",  "move a b c",    "grow 1 ", "grow 1  h2",
        "grow h2", "grow 1 @", "grow 1 -h2", "move h1 ", "shrink 1 a b;", "grows 1", "move a b\n"};
    dome_order order;
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        g_assert_true(dome__order_parse(good[i], &order));
        char *line = dome__order_line(&order);
        g_assert_cmpstr(line, ==, good[i]);
        g_free(line);
        dome__order_clear(&order);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(dome__order_parse(bad[i], &order));
        dome__order_clear(&order);
    }
    g_assert_true(dome__order_parse("grow 0 h7 h8", &order));
    g_assert_cmpstr(dome__order_new_hosts(&order)[1], ==, "h8");
    dome__order_clear(&order);
    g_assert_true(dome__order_parse("shrink 0 h7", &order));
    g_assert_null(dome__order_new_hosts(&order));
    dome__order_clear(&order);
    g_assert_true(dome__order_parse("move h7 h8", &order));
    g_assert_cmpstr(dome__order_new_hosts(&order)[0], ==, "h8");
    g_assert_null(dome__order_new_hosts(&order)[1]);
    dome__order_clear(&order);
}

static void test_hosts(void)
{
    g_assert_true(dome__order_same_host("h1", "h1"));
    g_assert_true(dome__order_same_host("h1.lab", "h1"));
    g_assert_true(dome__order_same_host("h1", "h1.lab.org"));
    g_assert_false(dome__order_same_host("h1", "h10"));
    g_assert_false(dome__order_same_host("h1.lab", "h1.org"));
}

/* The plan of a line for six tasks on three hosts, as text, or why there is none. */
static void check(const char *line, const char *expected)
{
    dome_order order;
    dome_view_plan plan;
    g_assert_true(dome__order_parse(line, &order));
    char *why = dome__order_plan(&order, 6, three, &plan), *text = why ? why : dome__view_plan_text(&plan);
    g_assert_cmpstr(text, ==, expected);
    g_assert_true(!why || plan.size == 0);
    g_free(text);
    dome__view_plan_clear(&plan);
    dome__order_clear(&order);
}

static void test_plans(void)
{
    check("grow 2", "0 1 2 3 4 5 - -");
    check("grow 0 h7 h2", "0 1 2 3 4 5 -@h7 -@h2");
    check("grow 3 h7 h8", "0 1 2 3 4 5 -@h7 -@h8 -@h7");
    check("grow 1 h2.lab", "0 1 2 3 4 5 -@h2");
    check("shrink 2", "0 1 2 3");
    check("shrink 5", "0");
    check("shrink 0 h2", "0 1 4 5");
    check("shrink 1 h2", "0 1 2 4 5");
    check("shrink 1 h1", "0 2 3 4 5");
    check("shrink 0 h2 h3", "0 1");
    check("shrink 3 h2 h3", "0 1 2");
    check("shrink 3 h2", "only 2 of its tasks are there");
    check("shrink 0 h1", "task 0 is on host h1, where the program was started, and stays there");
    check("shrink 0 h4", "no task of the program is on host h4; its hosts are h1, h2, h3");
    check("shrink 0 h2 h4", "no task of the program is on host h4; its hosts are h1, h2, h3");
    check("move h2 h9", "0 1 -@h9 -@h9 4 5");
    check("move h2 h3", "0 1 -@h3 -@h3 4 5");
    check("move h1 h3", "task 0 is on host h1, where the program was started, and stays there");
    check("move h2 h2.lab", "they are on host h2 already");
    check("move h9 h2", "no task of the program is on host h9; its hosts are h1, h2, h3");
    dome_order order;
    dome_view_plan plan;
    g_assert_true(dome__order_parse("grow 1", &order));
    char *why = dome__order_plan(&order, 0, NULL, &plan);
    g_assert_cmpstr(why, ==, "the program is still starting");
    g_free(why);
    dome__order_clear(&order);
    /* No task is left: the state machine of views says why that cannot be. */
    g_assert_true(dome__order_parse("shrink 9", &order));
    g_assert_null(dome__order_plan(&order, 6, three, &plan));
    g_assert_cmpint(plan.size, ==, 0);
    dome__order_clear(&order);
}

/* Why an order is refused: because of what the program is, or only now. */
static void test_for_now(void)
{
    static const char *const now[] = {
        "no the program is still starting",
        "no the program is about to change already",
        "no the program changes to 3 tasks at its own request",
        "no a task was lost, and the program goes back: give the order again",
        "no task 5 on host h3 is lost: its process ended; the program goes on as it was",
        "no another order is under way",
        "no hosts are being added for another order",
        "no hosts cannot be added: no answer in time from all of: h3 (host down or link cut)",
        "no host h3 cannot be added: its pvmd could not be started: ssh: connect to host h3 port 22 (PVM error -29)",
        "no host h3 was lost a moment ago; PVM forgets it within five minutes",
        "no the program is suspended; dome resume lets it run",
        "no too many orders at once",
        "no no task of the program is on host h4; its hosts are h1, h2, h3",
        "no only 2 of its tasks are there",
        "no they are on host h2 already",
        "no the program has 3 tasks already"};
    static const char *const ever[] = {"no 1 task would be fewer than its least number, 2",
                                       "no 5 tasks would be more than its greatest number, 4",
                                       "no task 0 is on host h1, where the program was started, and stays there",
                                       "no its private virtual machine is for this host alone", "no object 'x' cannot follow"};
    for (size_t i = 0; i < G_N_ELEMENTS(now); i++)
        g_assert_true(dome__order_is_for_now(now[i]));
    for (size_t i = 0; i < G_N_ELEMENTS(ever); i++)
        g_assert_false(dome__order_is_for_now(ever[i]));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/order/lines", test_lines);
    g_test_add_func("/order/hosts", test_hosts);
    g_test_add_func("/order/plans", test_plans);
    g_test_add_func("/order/for_now", test_for_now);
    return g_test_run();
}
