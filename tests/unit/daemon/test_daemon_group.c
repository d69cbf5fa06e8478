/* Groups of daemons, simulated: messages to all in one sequence, hosts that come, go and are cut off. All tables of a side that
 * is settled are equal, and what a majority has carried out is never forgotten. */
#include "daemon/daemon_group.h"

#include <glib.h>
#include <string.h>

enum { HOSTS = 4 };

typedef struct message {
    uint32_t node;
    char *line;
} message;

/* A side: hosts that hear each other. */
typedef struct side {
    GQueue *queue; /* message */
    bool has[HOSTS];
} side;

typedef struct host {
    uint32_t node;
    dome_group *group; /* NULL: it is down */
    side *side;
    int foreign;
} host;

static host hosts[HOSTS];

static void send(void *ctx, const dome_record *record)
{
    const host *h = ctx;
    message *m = g_new(message, 1);
    *m = (message){h->node, dome__record_line(record)};
    g_queue_push_tail(h->side->queue, m);
}

static void applied(void *ctx, const dome_record *order, bool own, const char *answer)
{
    (void)ctx;
    (void)order;
    (void)own;
    g_assert_true(g_str_has_prefix(answer, "done") || g_str_has_prefix(answer, "no "));
}

static void foreign(void *ctx, uint32_t node, int64_t version, bool leave)
{
    (void)node;
    (void)version;
    ((host *)ctx)->foreign += 1 + leave;
}

static void begin(host *h, dome_table *table)
{
    char name[8];
    g_snprintf(name, sizeof name, "h%u", h->node);
    const dome_group_acts acts = {send, applied, foreign, h};
    h->group = dome__group_new(&acts, name, 4, table);
}

static void free_message(void *item)
{
    g_free(((message *)item)->line);
    g_free(item);
}

/* Tells all of a side who is there. lost: bits of hosts that are gone with all that runs there. */
static void tell(side *s, unsigned lost)
{
    uint32_t nodes[HOSTS], gone[HOSTS];
    size_t count = 0, gone_count = 0;
    for (uint32_t k = 0; k < HOSTS; k++) {
        if (s->has[k] && hosts[k].group)
            nodes[count++] = hosts[k].node;
        if (lost & 1u << k)
            gone[gone_count++] = hosts[k].node;
    }
    for (int k = 0; k < HOSTS; k++)
        if (s->has[k] && hosts[k].group)
            dome__group_members(hosts[k].group, hosts[k].node, nodes, count, gone, gone_count);
}

/* Delivers what was sent, at most so many messages; -1: all. */
static void deliver(side *s, int most)
{
    for (message *m; most-- != 0 && (m = g_queue_pop_head(s->queue));) {
        for (int k = 0; k < HOSTS; k++)
            if (s->has[k] && hosts[k].group)
                dome__group_deliver(hosts[k].group, m->node, m->line, strlen(m->line));
        free_message(m);
    }
}

static side *side_new(unsigned members)
{
    side *s = g_new0(side, 1);
    s->queue = g_queue_new();
    for (int k = 0; k < HOSTS; k++)
        if (members & 1u << k) {
            s->has[k] = true;
            hosts[k].side = s;
        }
    return s;
}

static void side_free(side *s)
{
    g_queue_free_full(s->queue, free_message);
    g_free(s);
}

static void order(host *h, const char *line)
{
    dome_record record;
    g_assert_true(dome__record_parse(line, strlen(line), &record));
    send(h, &record);
    dome__record_clear(&record);
}

static void equal(const side *s)
{
    char *first = NULL;
    for (int k = 0; k < HOSTS; k++) {
        if (!s->has[k] || !hosts[k].group)
            continue;
        g_assert_true(dome__group_is_settled(hosts[k].group));
        char *text = dome__table_text(dome__group_table(hosts[k].group));
        if (first)
            g_assert_cmpstr(first, ==, text);
        if (first)
            g_free(text);
        else
            first = text;
    }
    g_free(first);
}

static void end_all(void)
{
    for (int k = 0; k < HOSTS; k++)
        g_clear_pointer(&hosts[k].group, dome__group_free);
}

static void begin_all(void)
{
    for (uint32_t k = 0; k < HOSTS; k++) {
        hosts[k] = (host){.node = k + 1};
        begin(&hosts[k], dome__table_new());
    }
}

static const char submit[] = "submit uid=1 gid=1 owner=u directory=/ output=/o word=p home=h1";

static void test_come_and_go(void)
{
    begin_all();
    side *s = side_new(15);
    tell(s, 0);
    deliver(s, -1);
    equal(s);
    for (int k = 0; k < 5; k++)
        order(&hosts[k % HOSTS], submit);
    deliver(s, -1);
    equal(s);
    g_assert_cmpuint(dome__group_table(hosts[0].group)->programs->len, ==, 5);
    /* One begins anew without its table, and orders come meanwhile. */
    g_clear_pointer(&hosts[3].group, dome__group_free);
    tell(s, 8);
    order(&hosts[0], submit);
    deliver(s, -1);
    begin(&hosts[3], dome__table_new());
    tell(s, 0);
    order(&hosts[1], submit);
    deliver(s, 2);
    order(&hosts[2], submit);
    deliver(s, -1);
    equal(s);
    g_assert_cmpuint(dome__group_table(hosts[3].group)->programs->len, ==, 8);
    end_all();
    side_free(s);
}

/* Cut in every way, and mended: the side with a majority has the word. */
static void test_cuts(void)
{
    for (unsigned cut = 1; cut < 15; cut++) {
        begin_all();
        side *all = side_new(15);
        tell(all, 0);
        order(&hosts[0], submit);
        deliver(all, -1);
        side *one = side_new(cut), *other = side_new(15 & ~cut);
        tell(one, 15 & ~cut);
        tell(other, cut);
        const int first = (cut & 1) ? 0 : __builtin_ctz(cut), second = __builtin_ctz(15 & ~cut);
        const bool wins = dome__table_has_majority(dome__group_table(hosts[first].group));
        g_assert_true(wins != dome__table_has_majority(dome__group_table(hosts[second].group)));
        order(&hosts[first], submit);
        order(&hosts[second], submit);
        order(&hosts[wins ? first : second], submit);
        deliver(one, -1);
        deliver(other, -1);
        equal(one);
        equal(other);
        side *again = side_new(15);
        tell(again, 0);
        deliver(again, -1);
        equal(again);
        g_assert_cmpuint(dome__group_table(hosts[0].group)->programs->len, ==, 3);
        end_all();
        side_free(all);
        side_free(one);
        side_free(other);
        side_free(again);
    }
}

/* Somebody comes or goes while tables are compared, after each number of messages. */
static void test_interrupted(void)
{
    for (int after = 0; after < 12; after++)
        for (int what = 0; what < 2; what++) {
            begin_all();
            side *s = side_new(7);
            tell(s, 0);
            deliver(s, -1);
            order(&hosts[0], submit);
            deliver(s, -1);
            s->has[3] = true;
            hosts[3].side = s;
            tell(s, 0);
            order(&hosts[1], submit);
            deliver(s, after);
            if (what == 0) {
                g_clear_pointer(&hosts[0].group, dome__group_free); /* whose table it may have been */
                tell(s, 1);
            } else {
                tell(s, 0);
            }
            deliver(s, -1);
            equal(s);
            g_assert_cmpuint(dome__group_table(hosts[1].group)->programs->len, ==, 2);
            end_all();
            side_free(s);
        }
}

/* A host is lost with its daemon. forgets: what it has sent and nobody has got is lost, too. */
static void lose(side *s, int lost, bool forgets)
{
    GQueue *queue = g_queue_new();
    g_clear_pointer(&hosts[lost].group, dome__group_free);
    for (message *m; (m = g_queue_pop_head(s->queue));) {
        if (forgets && m->node == hosts[lost].node)
            free_message(m);
        else
            g_queue_push_tail(queue, m);
    }
    g_queue_free(s->queue);
    s->queue = queue;
    tell(s, 1u << lost);
}

static int first_there(void)
{
    int k = 0;
    while (!hosts[k].group)
        k++;
    return k;
}

static guint programs_of(int host)
{
    return dome__group_table(hosts[host].group)->programs->len;
}

/* One history: `first` is lost after `after` messages, `second` (-1: none) after `then` more, and both come back with nothing. */
static void lose_two(int first, int after, int second, int then, bool forgets)
{
    begin_all();
    side *s = side_new(15);
    tell(s, 0);
    deliver(s, -1);
    order(&hosts[3], submit);
    deliver(s, -1); /* this one is agreed */
    for (int k = 0; k < 3; k++)
        order(&hosts[k], submit);
    deliver(s, after);
    lose(s, first, forgets);
    guint least = 2 - (first_there() == second); /* those of hosts that stay count, whatever is lost */
    for (int k = 0; k < 3; k++)
        least += k != first && k != second;
    order(&hosts[first_there()], submit);
    deliver(s, then);
    if (second >= 0)
        lose(s, second, forgets);
    deliver(s, -1);
    equal(s);
    const guint agreed = programs_of(first_there());
    const bool has = dome__table_has_majority(dome__group_table(hosts[first_there()].group));
    g_assert_true(has || second >= 0); /* half of the hosts, without the first by name, takes no orders */
    g_assert_cmpuint(agreed, >=, has ? least : 1);
    g_assert_cmpuint(agreed, <=, 5);
    begin(&hosts[first], dome__table_new());
    tell(s, 0);
    if (second >= 0) {
        begin(&hosts[second], dome__table_new());
        tell(s, 0);
    }
    deliver(s, -1);
    equal(s);
    g_assert_cmpuint(programs_of(first), ==, agreed);
    g_assert_true(dome__table_has_majority(dome__group_table(hosts[first].group)));
    end_all();
    side_free(s);
}

/* One host and two hosts are lost, after each number of messages. */
static void test_losses(void)
{
    enum { MOST = 10 };
    for (int first = 0; first < HOSTS; first++)
        for (int after = 0; after < MOST; after++)
            for (int second = -1; second < HOSTS; second++)
                for (int then = 0; second != first && then < (second < 0 ? 1 : MOST); then++) {
                    lose_two(first, after, second, then, false);
                    lose_two(first, after, second, then, true);
                }
}

/* The engine tells a daemon that has come back of the others one by one, and messages come between. */
static void test_one_by_one(void)
{
    for (int between = 0; between < 6; between++) {
        begin_all();
        side *s = side_new(7);
        tell(s, 0);
        order(&hosts[0], submit);
        deliver(s, -1);
        dome__group_lost(hosts[2].group);
        g_assert_false(dome__group_is_settled(hosts[2].group));
        const uint32_t one[] = {3}, two[] = {1, 3}, all[] = {1, 2, 3}, others[] = {1, 2}, lost[] = {3};
        for (int k = 0; k < 2; k++)
            dome__group_members(hosts[k].group, hosts[k].node, others, 2, lost, 1);
        dome__group_members(hosts[2].group, 3, one, 1, NULL, 0);
        deliver(s, between);
        dome__group_members(hosts[2].group, 3, two, 2, NULL, 0);
        for (int k = 0; k < 2; k++)
            dome__group_members(hosts[k].group, hosts[k].node, all, 3, NULL, 0);
        deliver(s, between);
        dome__group_members(hosts[2].group, 3, all, 3, NULL, 0);
        deliver(s, -1);
        for (int k = 0; k < 5 && !dome__group_is_settled(hosts[2].group); k++) {
            dome__group_again(hosts[2].group);
            deliver(s, -1);
        }
        equal(s);
        g_assert_cmpuint(dome__group_table(hosts[2].group)->programs->len, ==, 1);
        end_all();
        side_free(s);
    }
}

static void test_versions(void)
{
    begin_all();
    side *s = side_new(7);
    tell(s, 0);
    deliver(s, -1);
    s->has[3] = true;
    hosts[3].side = s;
    g_clear_pointer(&hosts[3].group, dome__group_free);
    const uint32_t nodes[] = {1, 2, 3, 4};
    for (int k = 0; k < 3; k++)
        dome__group_members(hosts[k].group, hosts[k].node, nodes, 4, NULL, 0);
    order(&hosts[3], "hello version=9 serial=999 name=h4 slots=4");
    deliver(s, -1);
    for (int k = 0; k < 3; k++) {
        g_assert_true(dome__group_is_settled(hosts[k].group));
        g_assert_cmpint(hosts[k].foreign, ==, 1);
    }
    const guint programs = dome__group_table(hosts[0].group)->programs->len;
    order(&hosts[3], submit); /* it has no say */
    deliver(s, -1);
    g_assert_cmpuint(dome__group_table(hosts[0].group)->programs->len, ==, programs);
    end_all();
    side_free(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/group/come_and_go", test_come_and_go);
    g_test_add_func("/group/cuts", test_cuts);
    g_test_add_func("/group/interrupted", test_interrupted);
    g_test_add_func("/group/losses", test_losses);
    g_test_add_func("/group/one_by_one", test_one_by_one);
    g_test_add_func("/group/versions", test_versions);
    return g_test_run();
}
