/* What the hub finds in the beats of all tasks: that they disagree, or wait for each other. */
#include "supervision/hub_private.h"
#include "transport/transport.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 10000 };

static dome_hub hub = {.timeout = 10};
static char host[] = "h";

/* Tasks that wait in one operation, have not moved for long, and are heard. */
static hub_state *tasks_new(int size)
{
    hub_state *s = g_new0(hub_state, 1);
    s->hub = &hub;
    s->now = 100;
    s->clients = g_ptr_array_new_with_free_func(g_free);
    for (int r = size; r-- > 0;) { /* they may come in any order */
        hub_client *c = g_new0(hub_client, 1);
        *c = (hub_client){.fd = -1, .process = -1, .rank = r, .greeted = true, .beaten = true, .waiting = true, .idle = 3};
        c->host = host;
        c->sequence = 7;
        c->history = 77;
        c->heard = s->now;
        c->moved_at = s->now - 50;
        g_ptr_array_add(s->clients, c);
    }
    return s;
}

static hub_client *task(const hub_state *s, int rank)
{
    return s->clients->pdata[(int)s->clients->len - 1 - rank];
}

static void awaits(const hub_state *s, int rank, int of)
{
    task(s, rank)->awaited = DOME_AWAITS(of, 5);
}

/* Looks at the beats of these tasks, and frees them. */
static void check_found(hub_state *s, const char *pattern)
{
    dome__hub_look_at_beats(s);
    if (!pattern)
        g_assert_cmpstr(s->noticed, ==, NULL);
    else if (!s->noticed || !g_pattern_match_simple(pattern, s->noticed))
        g_error("'%s' is not like '%s'", s->noticed ? s->noticed : "(nothing)", pattern);
    g_ptr_array_unref(s->clients);
    g_clear_pointer(&s->trails, g_ptr_array_unref);
    g_free(s->noticed);
    g_free(s);
}

static void test_agree(void)
{
    hub_state *s = tasks_new(MANY);
    check_found(s, NULL); /* all wait in one collective */
    s = tasks_new(MANY);
    for (int r = 0; r < MANY; r += 2) { /* some are ahead of others, and compute */
        task(s, r)->sequence = (uint64_t)(8 + r % 3);
        task(s, r)->history = (uint64_t)(8 + r % 3) * 11;
        task(s, r)->idle = 0;
    }
    check_found(s, NULL);
}

static void test_disagree(void)
{
    hub_state *s = tasks_new(MANY);
    task(s, 7001)->history = 78;
    check_found(s, "tasks disagree about the next operation: task 7001 on host h is in *, task 9999 *, with other arguments *");
    s = tasks_new(MANY);
    task(s, 7001)->history = 78;
    task(s, 7001)->view = 3; /* of another view */
    check_found(s, NULL);
    s = tasks_new(MANY); /* nobody moves, and one is elsewhere */
    task(s, 12)->sequence = 6;
    task(s, 12)->history = 66;
    check_found(s, "tasks disagree about the next operation: task 12 on host h *, task 9999 *");
    s = tasks_new(MANY);
    task(s, 12)->sequence = 6;
    task(s, 12)->history = 66;
    task(s, 5000)->moved_at = s->now - 1; /* one has moved */
    check_found(s, NULL);
}

static void test_circles(void)
{
    hub_state *s = tasks_new(MANY);
    task(s, 3)->idle = 0; /* this one may still send to all */
    awaits(s, 5, 6);
    awaits(s, 6, 9000);
    awaits(s, 9000, 3);
    check_found(s, NULL);
    s = tasks_new(MANY);
    task(s, 3)->idle = 0;
    awaits(s, 5, 6);
    awaits(s, 6, 9000);
    awaits(s, 9000, 5);
    for (int r = 10; r < 100; r++) /* a queue that leads into the circle, and is not part of it */
        awaits(s, r, r - 1);
    awaits(s, 9, 6);
    check_found(
        s, "tasks wait for each other: task 5 on host h * from task 6 with tag 5; task 6 * from task 9000 *; task 9000 * from "
           "task 5 *");
    s = tasks_new(MANY);
    for (int r = 0; r < MANY; r++) /* all in one */
        awaits(s, r, (r + 1) % MANY);
    check_found(s, "tasks wait for each other: task 0 *; task 1 *; task 2 *; task 3 *; and so on");
    s = tasks_new(2);
    awaits(s, 1, 1); /* its own message */
    task(s, 0)->idle = 0;
    check_found(s, "tasks wait for each other: task 1 * from task 1 with tag 5");
    s = tasks_new(2);
    awaits(s, 1, 4711); /* no such task */
    task(s, 0)->idle = 0;
    check_found(s, NULL);
}

static void test_all_wait(void)
{
    hub_state *s = tasks_new(MANY);
    awaits(s, 17, -1); /* from any */
    check_found(s, "tasks wait for each other: task 17 * and waits for a message from any task *; task 9999 *");
    s = tasks_new(MANY);
    awaits(s, 17, -1);
    task(s, 4)->left = true;
    check_found(s, NULL);
}

/* A program that has ended, or is about to run anew, has no command line; dome ps shows the one that it had. */
static void test_command(void)
{
    hub_state s = {.hub = &hub};
    hub.rank0 = fork();
    g_assert_cmpint(hub.rank0, >=, 0);
    if (hub.rank0 == 0) {
        pause();
        _exit(0);
    }
    char *before = dome__hub_command_line(&s);
    g_assert_nonnull(strstr(before, "test_hub"));
    kill(hub.rank0, SIGKILL);
    siginfo_t info;
    g_assert_cmpint(waitid(P_PID, (id_t)hub.rank0, &info, WEXITED | WNOWAIT), ==, 0);
    char *ended = dome__hub_command_line(&s);
    g_assert_cmpstr(ended, ==, before);
    waitpid(hub.rank0, NULL, 0);
    g_free(ended);
    ended = dome__hub_command_line(&s);
    g_assert_cmpstr(ended, ==, before);
    g_free(ended);
    g_free(before);
    g_strfreev(s.command);
    hub.rank0 = 0;
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hub/agree", test_agree);
    g_test_add_func("/hub/disagree", test_disagree);
    g_test_add_func("/hub/circles", test_circles);
    g_test_add_func("/hub/all_wait", test_all_wait);
    g_test_add_func("/hub/command", test_command);
    return g_test_run();
}
