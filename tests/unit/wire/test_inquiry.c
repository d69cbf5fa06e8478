/* Whether tasks that wait will wait for ever: by counts of messages, in simulated programs whose messages take any time. */
#include "wire/inquiry.h"

#include <string.h>

/* ---- a simulated program ---- */

enum { TASKS_MOST = 6, STEPS = 40, ANY = -1 };

/* In each step a task sends to one task, and then receives from one, or from any. */
typedef struct step {
    int to, from, channel;
} step;

typedef struct task {
    dome_transport transport;
    uint32_t given[TASKS_MOST * DOME_CHANNELS], taken[TASKS_MOST * DOME_CHANNELS];
    uint32_t there[TASKS_MOST * DOME_CHANNELS]; /* messages that have arrived */
    step steps[STEPS];
    int at;
    bool sent; /* in the present step */
} task;

typedef struct program {
    int size;
    task tasks[TASKS_MOST];
} program;

static size_t pair(int rank, int channel)
{
    return (size_t)rank * DOME_CHANNELS + (size_t)channel;
}

/* A step of all: the tasks in a ring at some distance. What the program itself sends is taken from any. */
static void draw_step(program *p, GRand *draw, int k)
{
    const int distance = g_rand_int_range(draw, 1, p->size), channel = g_rand_int_range(draw, 0, DOME_CHANNELS);
    const bool any = channel == DOME_CHANNEL_PROGRAM;
    for (int r = 0; r < p->size; r++)
        p->tasks[r].steps[k] = (step){(r + distance) % p->size, any ? ANY : (r + p->size - distance) % p->size, channel};
}

static void program_init(program *p, GRand *draw)
{
    memset(p, 0, sizeof *p);
    p->size = g_rand_int_range(draw, 2, TASKS_MOST + 1);
    for (int r = 0; r < p->size; r++) {
        task *t = &p->tasks[r];
        t->transport = (dome_transport){.group = {.rank = r, .size = p->size}, .account = {.given = t->given, .taken = t->taken}};
    }
    for (int k = 0; k < STEPS; k++)
        draw_step(p, draw, k);
}

static bool take(program *p, int rank, int from, int channel)
{
    task *t = &p->tasks[rank];
    for (int r = from == ANY ? 0 : from; r < (from == ANY ? p->size : from + 1); r++)
        if (t->there[pair(r, channel)] > t->taken[pair(r, channel)]) {
            t->taken[pair(r, channel)]++;
            return true;
        }
    return false;
}

/* The task goes on if it can. Returns whether it has. */
static bool run(program *p, int rank)
{
    task *t = &p->tasks[rank];
    if (t->at == STEPS)
        return false;
    const step *s = &t->steps[t->at];
    if (!t->sent) {
        t->given[pair(s->to, s->channel)]++;
        t->sent = true;
        t->transport.account.waiting = DOME_WAITS(s->from, s->channel);
        return true;
    }
    if (!take(p, rank, s->from, s->channel))
        return false;
    t->at++;
    t->sent = false;
    t->transport.account.waiting = 0;
    return true;
}

/* One message arrives, if one is under way. */
static bool deliver(program *p, GRand *draw)
{
    const int first = g_rand_int_range(draw, 0, p->size * p->size * DOME_CHANNELS);
    for (int k = 0; k < p->size * p->size * DOME_CHANNELS; k++) {
        const int at = (first + k) % (p->size * p->size * DOME_CHANNELS), channel = at % DOME_CHANNELS;
        const int from = at / DOME_CHANNELS % p->size, to = at / DOME_CHANNELS / p->size;
        if (p->tasks[from].given[pair(to, channel)] > p->tasks[to].there[pair(from, channel)]) {
            p->tasks[to].there[pair(from, channel)]++;
            return true;
        }
    }
    return false;
}

/* Anything may happen, or nothing. Messages stand still most of the time. */
static void pass_time(program *p, GRand *draw)
{
    if (g_rand_int_range(draw, 0, 4) == 0)
        deliver(p, draw);
    for (int k = 0; k < 3; k++)
        run(p, g_rand_int_range(draw, 0, p->size));
}

/* Until nothing moves any more. */
static void come_to_rest(program *p, GRand *draw)
{
    bool moves = true;
    while (moves) {
        moves = deliver(p, draw);
        for (int r = 0; r < p->size; r++)
            moves |= run(p, r);
    }
}

/* ---- the hub asks ---- */

static void shuffle(int *ranks, int size, GRand *draw)
{
    for (int k = 0; k < size; k++)
        ranks[k] = k;
    for (int k = size - 1; k > 0; k--) {
        const int other = g_rand_int_range(draw, 0, k + 1), rank = ranks[k];
        ranks[k] = ranks[other];
        ranks[other] = rank;
    }
}

/* draw: the program goes on between the answers, which come in any order; NULL: it stands still. */
static dome_inquiry_state ask(program *p, const bool *asked, GRand *draw)
{
    dome_inquiry *inquiry = dome__inquiry_new(p->size, asked);
    int ranks[TASKS_MOST] = {0, 1, 2, 3, 4, 5};
    for (int question = 0; question < 2; question++) {
        if (draw)
            shuffle(ranks, p->size, draw);
        for (int k = 0; k < p->size; k++) {
            const dome_transport *t = &p->tasks[ranks[k]].transport;
            const GArray *pairs = question ? dome__inquiry_pairs(inquiry, ranks[k]) : NULL;
            if (question ? !pairs : !asked[ranks[k]])
                continue;
            GArray *answer = question ? dome__inquiry_given(t, pairs) : dome__inquiry_waits(t);
            if (question)
                dome__inquiry_take_given(inquiry, ranks[k], answer);
            else
                dome__inquiry_take_waits(inquiry, ranks[k], answer);
            g_array_unref(answer);
            if (draw)
                pass_time(p, draw);
        }
        if (dome__inquiry_state(inquiry) != DOME_INQUIRY_GIVEN)
            break;
    }
    const dome_inquiry_state state = dome__inquiry_state(inquiry);
    dome__inquiry_free(inquiry);
    return state;
}

static void everybody(bool *asked)
{
    for (int r = 0; r < TASKS_MOST; r++)
        asked[r] = true;
}

/* ---- tests ---- */

/* Tasks of a program that comes to its end, whenever they are asked, and however long messages stand still. */
static void test_under_way(void)
{
    GRand *draw = g_rand_new_with_seed(1);
    static program p;
    bool asked[TASKS_MOST];
    int waited = 0;
    everybody(asked);
    for (int turn = 0; turn < 300; turn++) {
        program_init(&p, draw);
        for (int k = 0; k < 60; k++) {
            pass_time(&p, draw);
            int waiting = 0;
            for (int r = 0; r < p.size; r++)
                waiting += p.tasks[r].transport.account.waiting != 0;
            waited += waiting == p.size;
            bool some[TASKS_MOST];
            for (int r = 0; r < TASKS_MOST; r++)
                some[r] = g_rand_boolean(draw);
            g_assert_cmpint(ask(&p, asked, k % 2 ? draw : NULL), ==, DOME_INQUIRY_MOVES);
            some[0] = true;
            dome_inquiry_state of_some = ask(&p, some, NULL); /* others may still send to these */
            g_assert_true(of_some == DOME_INQUIRY_MOVES || of_some == DOME_INQUIRY_FOR_EVER);
        }
        come_to_rest(&p, draw);
        for (int r = 0; r < p.size; r++)
            g_assert_cmpint(p.tasks[r].at, ==, STEPS);
    }
    g_assert_cmpint(waited, >, 1000); /* else nothing was tested */
    g_rand_free(draw);
}

/* One task makes other calls than the rest: that is found as soon as nothing moves, whatever has arrived and is not wanted. */
static void test_for_ever(void)
{
    GRand *draw = g_rand_new_with_seed(2);
    static program p;
    bool asked[TASKS_MOST];
    int found = 0;
    everybody(asked);
    for (int turn = 0; turn < 1000; turn++) {
        program_init(&p, draw);
        const int k = g_rand_int_range(draw, 0, STEPS), rank = g_rand_int_range(draw, 0, p.size);
        p.tasks[rank].steps[k].channel = (p.tasks[rank].steps[k].channel + 1) % DOME_CHANNELS;
        come_to_rest(&p, draw);
        bool all_wait = true;
        for (int r = 0; r < p.size; r++)
            all_wait &= p.tasks[r].transport.account.waiting != 0;
        if (!all_wait) /* some have come to their end */
            continue;
        found++;
        g_assert_cmpint(ask(&p, asked, draw), ==, DOME_INQUIRY_FOR_EVER);
    }
    g_assert_cmpint(found, >, 500);
    g_rand_free(draw);
}

static program *two(void)
{
    static program p;
    GRand *draw = g_rand_new_with_seed(3);
    program_init(&p, draw);
    g_rand_free(draw);
    p.size = p.tasks[0].transport.group.size = p.tasks[1].transport.group.size = 2;
    p.tasks[0].transport.account.waiting = DOME_WAITS(1, DOME_CHANNEL_DATA);
    p.tasks[1].transport.account.waiting = DOME_WAITS(0, DOME_CHANNEL_DATA);
    return &p;
}

static void test_kinds_of_waits(void)
{
    const bool asked[2] = {true, true};
    program *p = two();
    task *a = &p->tasks[0], *b = &p->tasks[1];
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_FOR_EVER);
    b->given[pair(0, DOME_CHANNEL_COLLECTIVE)] = 1; /* another channel: nobody wants it */
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_FOR_EVER);
    b->given[pair(0, DOME_CHANNEL_DATA)] = 1;
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_MOVES);
    b->given[pair(0, DOME_CHANNEL_DATA)] = 0;
    a->transport.account.waiting = DOME_WAITS(1, DOME_WAITS_TO_SEND);
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_MOVES);
    a->transport.account.waiting = DOME_WAITS(1, DOME_WAITS_SERVICE); /* a thread that never waits is to answer */
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_MOVES);
    a->transport.account.waiting = DOME_WAITS(-1, DOME_WAITS_NEAR); /* what is in memory is there */
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_FOR_EVER);
    a->transport.account.given = a->transport.account.taken = NULL; /* all tasks are on one host */
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_FOR_EVER);
    a->transport.account.waiting = 0;
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_MOVES);
}

/* All-reduces that run ahead get on while a task waits for something else. */
static void test_ahead(void)
{
    const bool asked[2] = {true, true};
    program *p = two();
    p->tasks[0].transport.account.ahead_waits[1] = DOME_WAITS(1, DOME_CHANNEL_AHEAD);
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_FOR_EVER);
    p->tasks[1].given[pair(0, DOME_CHANNEL_AHEAD)] = 7;
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_MOVES);
    p->tasks[0].taken[pair(1, DOME_CHANNEL_AHEAD)] = 7;
    g_assert_cmpint(ask(p, asked, NULL), ==, DOME_INQUIRY_FOR_EVER);
}

/* Answers come from the network. */
static void test_nonsense(void)
{
    const bool asked[2] = {true, false};
    static const uint32_t words[][3] = {
        {0, 0, 0}, {DOME_WAITS(5, 0), 1, 1}, {DOME_WAITS(-1, 0), 1, 0}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
        for (guint length = 0; length <= 3; length++) {
            dome_inquiry *inquiry = dome__inquiry_new(2, asked);
            GArray *answer = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            g_array_append_vals(answer, words[k], length);
            dome__inquiry_take_waits(inquiry, 1, answer); /* it was not asked */
            dome__inquiry_take_waits(inquiry, 9, answer);
            g_assert_cmpint(dome__inquiry_state(inquiry), ==, DOME_INQUIRY_WAITS);
            dome__inquiry_take_waits(inquiry, 0, answer);
            dome__inquiry_take_given(inquiry, 1, answer);
            dome__inquiry_take_given(inquiry, -1, answer);
            g_assert_cmpint(dome__inquiry_state(inquiry), ==, DOME_INQUIRY_MOVES);
            g_array_unref(answer);
            dome__inquiry_free(inquiry);
        }
    GArray *odd = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_vals(odd, words[3], 3);
    GArray *given = dome__inquiry_given(&two()->tasks[0].transport, odd);
    g_assert_cmpuint(given->len, ==, 1);
    g_array_unref(given);
    g_array_unref(odd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/inquiry/under_way", test_under_way);
    g_test_add_func("/inquiry/for_ever", test_for_ever);
    g_test_add_func("/inquiry/kinds_of_waits", test_kinds_of_waits);
    g_test_add_func("/inquiry/ahead", test_ahead);
    g_test_add_func("/inquiry/nonsense", test_nonsense);
    return g_test_run();
}
