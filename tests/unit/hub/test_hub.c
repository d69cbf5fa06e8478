/* What the hub finds in the beats of all tasks: that they disagree, or wait for each other. */
#include "hub/hub_private.h"
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
    s->watches = g_ptr_array_new();
    for (int r = size; r-- > 0;) { /* they may come in any order */
        hub_client *c = g_new0(hub_client, 1);
        *c = (hub_client){.fd = -1, .process = -1, .rank = r, .state = DOME_CLIENT_RUNS, .exit_status = -1};
        c->beat = (hub_beat){.came = true, .waiting = true, .idle = 3};
        c->host = host;
        c->beat.sequence = 7;
        c->beat.history = 77;
        c->heard = s->now;
        c->beat.moved_at = s->now - 50;
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
    task(s, rank)->beat.awaited = DOME_AWAITS(of, 5);
}

/* A message of `from` for `to` on the channel of what they wait for; 0: all that was given has been taken. */
typedef struct under_way {
    int from, to;
} under_way;

/* Every task waits for the next message of the one before it, and has taken all that it was given but for one. */
static GArray *answer_of(const hub_state *s, int rank, dome_wire_kind kind, const under_way *of)
{
    enum { SO_FAR = 5 };
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const int size = (int)s->clients->len;
    if (kind == DOME_WIRE_WAITS) {
        const uint64_t awaited = task(s, rank)->beat.awaited;
        const int from = awaited ? DOME_AWAITED_RANK(awaited) : (rank + size - 1) % size;
        const uint32_t waits = DOME_WAITS(from, awaited ? DOME_CHANNEL_PROGRAM : DOME_CHANNEL_COLLECTIVE), taken = SO_FAR;
        g_array_append_val(numbers, waits);
        for (int k = 0; k < (from < 0 ? size : 1); k++)
            g_array_append_val(numbers, taken);
        return numbers;
    }
    const GArray *pairs = dome__inquiry_pairs(s->inquiry.of, rank);
    for (guint k = 0; k < pairs->len; k += 2) {
        const bool more = of && rank == of->from && g_array_index(pairs, uint32_t, k) == (uint32_t)of->to;
        const uint32_t given = SO_FAR + more;
        g_array_append_val(numbers, given);
    }
    return numbers;
}

static void answer(hub_state *s, dome_wire_kind kind, const under_way *of)
{
    for (int r = 0; r < (int)s->clients->len && s->inquiry.of; r++) {
        if (kind == DOME_WIRE_WAITS ? !dome__inquiry_is_asked(s->inquiry.of, r) : !dome__inquiry_pairs(s->inquiry.of, r))
            continue;
        dome_wire_message message = {.kind = kind, .numbers = {s->inquiry.number, answer_of(s, r, kind, of)}};
        dome__hub_inquiry_answer(s, task(s, r), &message);
        dome__wire_clear(&message);
    }
}

static void free_tasks(hub_state *s)
{
    dome__hub_inquiry_close(s);
    g_ptr_array_unref(s->clients);
    g_ptr_array_unref(s->watches);
    dome__hub_difference_forget(s);
    dome__hub_failure_close(s);
    g_free(s);
}

/* Looks at the beats of these tasks, which are asked what they wait for, and frees them. */
static void check_found(hub_state *s, const char *pattern)
{
    dome__hub_look_at_beats(s);
    answer(s, DOME_WIRE_WAITS, NULL);
    answer(s, DOME_WIRE_GIVEN, NULL);
    dome__hub_look_at_beats(s);
    if (!pattern)
        g_assert_cmpstr(s->failure.noticed, ==, NULL);
    else if (!s->failure.noticed || !g_pattern_match_simple(pattern, s->failure.noticed))
        g_error("'%s' is not like '%s'", s->failure.noticed ? s->failure.noticed : "(nothing)", pattern);
    free_tasks(s);
}

static void test_agree(void)
{
    hub_state *s = tasks_new(MANY);
    check_found(s, NULL); /* all wait in one collective */
    s = tasks_new(MANY);
    for (int r = 0; r < MANY; r += 2) { /* some are ahead of others, and compute */
        task(s, r)->beat.sequence = (uint64_t)(8 + r % 3);
        task(s, r)->beat.history = (uint64_t)(8 + r % 3) * 11;
        task(s, r)->beat.idle = 0;
    }
    check_found(s, NULL);
}

static void test_disagree(void)
{
    hub_state *s = tasks_new(MANY);
    task(s, 7001)->beat.history = 78;
    check_found(s, "tasks disagree about the next operation: task 7001 on host h is in *, task 9999 *, with other arguments *");
    s = tasks_new(MANY);
    task(s, 7001)->beat.history = 78;
    task(s, 7001)->view = 3; /* of another view */
    check_found(s, NULL);
    s = tasks_new(MANY); /* nobody moves, and one is elsewhere */
    task(s, 12)->beat.sequence = 6;
    task(s, 12)->beat.history = 66;
    check_found(s, "tasks disagree about the next operation: task 12 on host h *, task 9999 *");
    s = tasks_new(MANY);
    task(s, 12)->beat.sequence = 6;
    task(s, 12)->beat.history = 66;
    task(s, 5000)->beat.moved_at = s->now - 1; /* one has moved */
    check_found(s, NULL);
}

static void test_circles(void)
{
    hub_state *s = tasks_new(MANY);
    task(s, 3)->beat.idle = 0; /* this one may still send to all */
    awaits(s, 5, 6);
    awaits(s, 6, 9000);
    awaits(s, 9000, 3);
    check_found(s, NULL);
    s = tasks_new(MANY);
    task(s, 3)->beat.idle = 0;
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
    task(s, 0)->beat.idle = 0;
    check_found(s, "tasks wait for each other: task 1 * from task 1 with tag 5");
    s = tasks_new(2);
    awaits(s, 1, 4711); /* no such task */
    task(s, 0)->beat.idle = 0;
    check_found(s, NULL);
}

static void test_all_wait(void)
{
    hub_state *s = tasks_new(MANY);
    awaits(s, 17, -1); /* from any */
    check_found(s, "tasks wait for each other: task 17 * and waits for a message from any task *; task 9999 *");
    s = tasks_new(MANY);
    awaits(s, 17, -1);
    task(s, 4)->state = DOME_CLIENT_LEFT;
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
    dome__hub_rank0_open(&s);
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
    dome__hub_report_close(&s);
    hub.rank0 = 0;
}

/* Looks, answers and looks again, as time goes by. */
static void go_on(hub_state *s, const under_way *of)
{
    for (int turn = 0; turn < 20; turn++) {
        dome__hub_look_at_beats(s);
        answer(s, DOME_WIRE_WAITS, of);
        answer(s, DOME_WIRE_GIVEN, of);
        s->now += 0.5;
        for (guint i = 0; i < s->clients->len; i++)
            ((hub_client *)s->clients->pdata[i])->heard = s->now;
    }
}

/* However long data stands still, tasks for which a message is under way are left alone; and not when it is lost. */
static void test_under_way(void)
{
    static const under_way of = {1, 2};
    for (int kind = 0; kind < 3; kind++) {
        hub_state *s = tasks_new(4);
        if (kind == 0) { /* in different operations */
            task(s, 0)->beat.sequence = 6;
            task(s, 0)->beat.history = 66;
        } else if (kind == 1) { /* in a circle */
            awaits(s, 2, 1);
            awaits(s, 1, 2);
        } else { /* all wait, one of them for a message from any task */
            awaits(s, 2, -1);
        }
        go_on(s, &of);
        g_assert_cmpstr(s->failure.noticed, ==, NULL);
        go_on(s, NULL);
        g_assert_nonnull(s->failure.noticed);
        free_tasks(s);
    }
}

/* A task that does not answer is not judged: it is silent, or it is not. */
static void test_no_answer(void)
{
    hub_state *s = tasks_new(3);
    task(s, 0)->beat.sequence = 6;
    for (int turn = 0; turn < 20; turn++) {
        dome__hub_look_at_beats(s);
        g_assert_cmpstr(s->failure.noticed, ==, NULL);
        s->now += 0.1;
    }
    answer(s, DOME_WIRE_WAITS, NULL);
    task(s, 1)->beat.moved_at = s->now; /* it has gone on meanwhile, and waits again */
    answer(s, DOME_WIRE_GIVEN, NULL);
    dome__hub_look_at_beats(s);
    g_assert_cmpstr(s->failure.noticed, ==, NULL);
    free_tasks(s);
}

static GArray *calls_until(uint64_t last, uint64_t differs)
{
    GArray *calls = dome__wire_calls_new();
    for (uint64_t n = last; n > 0 && last - n < 5; n--) {
        const dome_wire_call call = {n, n >= differs ? n * 100 + last : n * 100, g_strdup("dvec_sum"), g_new0(char *, 1)};
        g_array_append_val(calls, call);
    }
    return calls;
}

/* Tasks with the same calls do not disagree, wherever they are. */
static void test_same_calls(void)
{
    static const struct {
        uint64_t ahead, differs;
        bool same;
    } cases[] = {{9, 100, true}, {8, 100, true}, {9, 8, false}, {40, 100, false}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        hub_state *s = tasks_new(2);
        dome__hub_ask_call_logs(s);
        g_assert_false(dome__hub_same_calls(s));
        dome__hub_take_call_log(s, 0, calls_until(8, cases[k].differs));
        dome__hub_take_call_log(s, 1, calls_until(cases[k].ahead, cases[k].differs));
        g_assert_cmpint(dome__hub_same_calls(s), ==, cases[k].same);
        free_tasks(s);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hub/agree", test_agree);
    g_test_add_func("/hub/disagree", test_disagree);
    g_test_add_func("/hub/circles", test_circles);
    g_test_add_func("/hub/all_wait", test_all_wait);
    g_test_add_func("/hub/command", test_command);
    g_test_add_func("/hub/under_way", test_under_way);
    g_test_add_func("/hub/no_answer", test_no_answer);
    g_test_add_func("/hub/same_calls", test_same_calls);
    return g_test_run();
}
