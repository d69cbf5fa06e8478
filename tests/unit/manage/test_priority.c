/* Which programs of a cluster run, and where: cases with their answers, and what holds in every state. */
#include "manage/host_choice.h"
#include "manage/priority.h"

#include <glib.h>

#include <limits.h>
#include <string.h>

enum { HOSTS = 4, MOST = 8 };

/* Four hosts of two processors; programs and their tasks. */
typedef struct cluster {
    dome_managed_host hosts[HOSTS];
    dome_managed_program programs[MOST];
    int present[MOST][HOSTS], tasks[MOST][HOSTS];
    dome_manage_verb verbs[MOST];
    dome_managed managed;
    double now;
} cluster;

static void start(cluster *c)
{
    static const char *const names[HOSTS] = {"h1", "h2", "h3", "h4"};
    memset(c, 0, sizeof *c);
    for (int h = 0; h < HOSTS; h++)
        c->hosts[h] = (dome_managed_host){names[h], "x86-64", 2, 1, 0, DOME_MANAGED_OPEN};
    c->managed = (dome_managed){c->hosts, HOSTS, c->programs, 0};
    c->now = 1000;
}

static dome_managed_program *add(cluster *c, int priority, int least, int most)
{
    const int p = c->managed.program_count++;
    c->programs[p] = (dome_managed_program){
        .priority = priority, .submitted = p, .changed = -1000, .least = least, .most = most, .tasks = c->present[p]};
    return &c->programs[p];
}

static void decide(cluster *c)
{
    dome__priority_decide(&c->managed, c->now, c->verbs, &c->tasks[0][0]);
}

/* Does what was decided. */
static void obey(cluster *c)
{
    decide(c);
    for (int p = 0; p < c->managed.program_count; p++) {
        dome_managed_program *it = &c->programs[p];
        memcpy(c->present[p], c->tasks[p], sizeof c->present[p]);
        switch (c->verbs[p]) {
        case DOME_MANAGE_NOTHING:
            continue;
        case DOME_MANAGE_SUSPEND:
            it->state = DOME_MANAGED_SUSPENDED;
            break;
        case DOME_MANAGE_PARK:
            it->state = DOME_MANAGED_WAITING;
            break;
        case DOME_MANAGE_START:
        case DOME_MANAGE_CHANGE:
        case DOME_MANAGE_RESUME:
            it->state = DOME_MANAGED_RUNNING;
            break;
        }
        it->changed = c->now;
    }
    c->now += 100;
}

static int count(const cluster *c, int p)
{
    int sum = 0;
    for (int h = 0; h < HOSTS; h++)
        sum += c->present[p][h];
    return sum;
}

static void is(const cluster *c, int p, dome_managed_state state, int tasks)
{
    g_assert_cmpint(c->programs[p].state, ==, state);
    g_assert_cmpint(count(c, p), ==, tasks);
}

static void test_least_loaded(void)
{
    cluster c;
    start(&c);
    c.hosts[0].load = 2;
    c.hosts[2].speed = 1.5;
    add(&c, 0, 3, 3);
    obey(&c);
    g_assert_cmpint(c.verbs[0], ==, DOME_MANAGE_START);
    g_assert_cmpint(c.present[0][0], ==, 0);
    g_assert_cmpint(c.present[0][2], ==, 2);
    is(&c, 0, DOME_MANAGED_RUNNING, 3);
    decide(&c);
    g_assert_cmpint(c.verbs[0], ==, DOME_MANAGE_NOTHING);
}

/* A program of priority takes places of a malleable one, which shrinks and grows again. */
static void test_shrinks(void)
{
    cluster c;
    start(&c);
    add(&c, 0, 1, 8);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 8);
    add(&c, 5, 6, 6);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    is(&c, 1, DOME_MANAGED_RUNNING, 6);
    c.managed.program_count = 1;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 8);
}

/* Programs of low priority that cannot make room on a host: their number of tasks is fixed, or cannot fall far enough. They are
 * suspended, and go on afterwards; among equals they share. */
static void test_cannot_leave(void)
{
    cluster c;
    start(&c);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].use = DOME_MANAGED_CLOSED;
    c.hosts[0].processors = 4;
    const int least[] = {4, 3, 2};
    for (size_t k = 0; k < G_N_ELEMENTS(least); k++) {
        c.managed.program_count = 0;
        memset(c.present, 0, sizeof c.present);
        add(&c, 0, least[k], 4);
        obey(&c);
        is(&c, 0, DOME_MANAGED_RUNNING, 4);
        add(&c, 5, 2, 2);
        obey(&c);
        is(&c, 0, least[k] > 2 ? DOME_MANAGED_SUSPENDED : DOME_MANAGED_RUNNING, least[k] > 2 ? 4 : 2);
        is(&c, 1, DOME_MANAGED_RUNNING, 2);
        decide(&c);
        g_assert_cmpint(c.verbs[0], ==, DOME_MANAGE_NOTHING); /* it stays so */
        c.programs[1].priority = 0;
        obey(&c);
        is(&c, 0, DOME_MANAGED_RUNNING, least[k]);
        c.managed.program_count = 1;
        obey(&c);
        is(&c, 0, DOME_MANAGED_RUNNING, 4);
    }
}

/* A program of priority gets a processor for each of its tasks; those of one task wait. If it cannot, all share. */
static void test_goes_first(void)
{
    cluster c;
    start(&c);
    for (int p = 0; p < 3; p++)
        add(&c, 0, 1, 1);
    obey(&c);
    add(&c, 5, 8, 8);
    obey(&c);
    is(&c, 3, DOME_MANAGED_RUNNING, 8);
    for (int p = 0; p < 3; p++)
        is(&c, p, DOME_MANAGED_SUSPENDED, 1);
    c.programs[3].least = c.programs[3].most = 9;
    obey(&c);
    is(&c, 3, DOME_MANAGED_RUNNING, 9);
    for (int p = 0; p < 3; p++)
        is(&c, p, DOME_MANAGED_RUNNING, 1);
}

/* One that can neither change nor move keeps its places, or is suspended there; another goes to a free host. */
static void test_bound(void)
{
    for (int bound = 0; bound < 2; bound++) {
        cluster c;
        char *mistake = NULL;
        start(&c);
        dome_topologies *t = dome__topologies_parse("[1]\ntasks=2\nhosts=h1\n", &mistake);
        dome_managed_program *it = add(&c, 0, 3, 3);
        it->state = DOME_MANAGED_RUNNING;
        it->bound = bound;
        c.present[0][0] = 2, c.present[0][1] = 1;
        decide(&c);
        g_assert_cmpint(c.verbs[0], ==, DOME_MANAGE_NOTHING);
        add(&c, 5, 2, 2)->topologies = t;
        obey(&c);
        is(&c, 0, bound ? DOME_MANAGED_SUSPENDED : DOME_MANAGED_RUNNING, 3);
        is(&c, 1, DOME_MANAGED_RUNNING, 2);
        g_assert_cmpint(c.present[1][0], ==, 2);
        g_assert_cmpint(c.present[0][0], ==, bound ? 2 : 0);
        c.managed.program_count = 1;
        obey(&c);
        is(&c, 0, DOME_MANAGED_RUNNING, 3);
        g_assert_true(!bound || (c.present[0][0] == 2 && c.present[0][1] == 1));
        dome__topologies_free(t);
    }
}

/* A program of priority avoids the host that a task of another cannot leave; if it needs it, the other is suspended. */
static void test_first(void)
{
    cluster c;
    start(&c);
    for (int h = 0; h < HOSTS; h++)
        c.hosts[h].processors = 1;
    add(&c, 0, 2, 4)->first = 1;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 4);
    add(&c, 5, 2, 2)->home = 1;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    is(&c, 1, DOME_MANAGED_RUNNING, 2);
    g_assert_cmpint(c.present[0][0], ==, 1);
    g_assert_cmpint(c.present[1][0], ==, 0);
    c.programs[1].least = c.programs[1].most = 4;
    obey(&c);
    is(&c, 0, DOME_MANAGED_SUSPENDED, 2);
    is(&c, 1, DOME_MANAGED_RUNNING, 4);
    c.managed.program_count = 1;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 4);
    g_assert_cmpint(c.present[0][0], ==, 1);
}

/* One whose daemon is away keeps what it has, and nobody is suspended for it. */
static void test_away(void)
{
    cluster c;
    start(&c);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].use = DOME_MANAGED_CLOSED;
    add(&c, 0, 2, 2);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    c.programs[0].away = c.programs[0].bound = true;
    add(&c, 0, 2, 2);
    obey(&c);
    is(&c, 1, DOME_MANAGED_RUNNING, 2);
    add(&c, 5, 2, 2);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    is(&c, 2, DOME_MANAGED_RUNNING, 2);
}

/* Among equals, processors are divided; no task moves that need not. */
static void test_equal(void)
{
    cluster c;
    start(&c);
    add(&c, 0, 1, 8);
    obey(&c);
    add(&c, 0, 1, 8);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 4);
    is(&c, 1, DOME_MANAGED_RUNNING, 4);
    const cluster before = c;
    obey(&c);
    g_assert_cmpmem(before.present, sizeof before.present, c.present, sizeof c.present);
}

static void test_topologies(void)
{
    cluster c;
    char *message = NULL;
    start(&c);
    dome_topologies *t = dome__topologies_parse("[1]\ntasks=4\nhosts=h[1-2]\n[2]\ntasks=2\nhosts=h3\n", &message);
    add(&c, 0, 1, 8)->topologies = t;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 4);
    g_assert_cmpint(c.present[0][0] + c.present[0][1], ==, 4);
    c.hosts[0].use = c.hosts[1].use = DOME_MANAGED_CLOSED;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    g_assert_cmpint(c.present[0][2], ==, 2);
    c.hosts[2].use = DOME_MANAGED_CLOSED;
    obey(&c);
    is(&c, 0, DOME_MANAGED_SUSPENDED, 2);
    c.hosts[2].use = DOME_MANAGED_LEFT;
    obey(&c);
    is(&c, 0, DOME_MANAGED_WAITING, 0);
    c.hosts[0].use = c.hosts[1].use = DOME_MANAGED_OPEN;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 4);
    dome__topologies_free(t);
}

/* An owner who has just come keeps the tasks that are there, and no other task joins them; then they go elsewhere. */
static void test_owner(void)
{
    cluster c;
    start(&c);
    add(&c, 0, 2, 2);
    obey(&c);
    int h = 0;
    while (!c.present[0][h])
        h++;
    c.hosts[h].use = DOME_MANAGED_KEEPS;
    obey(&c);
    g_assert_cmpint(c.verbs[0], ==, DOME_MANAGE_NOTHING);
    for (int k = 0; k < HOSTS; k++)
        if (k != h)
            c.hosts[k].load = 2;
    add(&c, 0, 1, 1);
    decide(&c);
    g_assert_cmpint(c.tasks[1][h], ==, 0);
    c.managed.program_count = 1;
    for (int k = 0; k < HOSTS; k++)
        c.hosts[k].load = 0;
    c.hosts[h].use = DOME_MANAGED_CLOSED;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    g_assert_cmpint(c.present[0][h], ==, 0);
}

/* Who has used little goes first; who has waited long comes to run. */
static void test_turns(void)
{
    cluster c;
    start(&c);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].use = DOME_MANAGED_CLOSED;
    for (int p = 0; p < 3; p++)
        add(&c, 0, 1, 1)->used = 10000;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 1);
    is(&c, 1, DOME_MANAGED_RUNNING, 1);
    is(&c, 2, DOME_MANAGED_WAITING, 0);
    add(&c, 0, 1, 1);
    obey(&c);
    is(&c, 1, DOME_MANAGED_SUSPENDED, 1);
    is(&c, 3, DOME_MANAGED_RUNNING, 1);
    c.programs[2].waited = 30 * DOME_PRIORITY_PATIENCE;
    obey(&c);
    is(&c, 2, DOME_MANAGED_RUNNING, 1);
}

/* More tasks than processors share them; and where users leave none idle, programs share with them. */
static void test_sharing(void)
{
    cluster c;
    start(&c);
    add(&c, 0, 16, 16);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 16);
    for (int h = 0; h < HOSTS; h++)
        c.hosts[h].load = 5;
    c.programs[0].least = c.programs[0].most = 4;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 4);
}

/* A program for which no processor is idle does not wait for users: it shares with them; but not where one of higher priority is.
 */
static void test_beside_users(void)
{
    cluster c;
    start(&c);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].load = 2;
    add(&c, 0, 2, 2);
    add(&c, 0, 1, 1);
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    is(&c, 1, DOME_MANAGED_RUNNING, 1);
    add(&c, 5, 2, 2);
    obey(&c);
    is(&c, 2, DOME_MANAGED_RUNNING, 2);
    g_assert_cmpint(c.present[2][0], ==, 2);
    for (int p = 0; p < 2; p++)
        g_assert_cmpint(c.present[p][0], ==, 0);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].use = DOME_MANAGED_LEFT;
    obey(&c);
    for (int p = 0; p < 2; p++)
        g_assert_cmpint(c.programs[p].state, ==, DOME_MANAGED_WAITING);
}

/* A wish is for idle processors: while users leave none for it the program is suspended, and goes on when they do. */
static void test_overloaded(void)
{
    cluster c;
    char *mistake = NULL;
    start(&c);
    dome_topologies *wishes = dome__topologies_parse("[1]\ntasks=2\nhosts=h1\n[2]\ntasks=2\n", &mistake);
    g_assert_nonnull(wishes);
    add(&c, 0, 2, 2)->topologies = wishes;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    for (int h = 0; h < HOSTS; h++)
        c.hosts[h].load = 2;
    obey(&c);
    is(&c, 0, DOME_MANAGED_SUSPENDED, 2);
    c.hosts[3].load = 1; /* one idle processor, and the wish is for two */
    obey(&c);
    is(&c, 0, DOME_MANAGED_SUSPENDED, 2);
    c.hosts[3].load = 0;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    g_assert_cmpint(c.present[0][3], ==, 2);
    dome__topologies_free(wishes);
}

static void test_rest(void)
{
    cluster c;
    start(&c);
    add(&c, 0, 1, 8);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].load = 2;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 2);
    for (int h = 1; h < HOSTS; h++)
        c.hosts[h].load = 0;
    c.now = c.programs[0].changed + DOME_PRIORITY_REST / 2;
    decide(&c);
    g_assert_cmpint(c.verbs[0], ==, DOME_MANAGE_NOTHING);
    c.now = c.programs[0].changed + DOME_PRIORITY_REST;
    obey(&c);
    is(&c, 0, DOME_MANAGED_RUNNING, 8);
}

static dome_managed_use use(GRand *r)
{
    static const dome_managed_use uses[] = {DOME_MANAGED_OPEN, DOME_MANAGED_OPEN, DOME_MANAGED_KEEPS, DOME_MANAGED_CLOSED,
                                            DOME_MANAGED_LEFT};
    return uses[g_rand_int_range(r, 0, G_N_ELEMENTS(uses))];
}

/* What holds after each decision. */
static void check(const cluster *c)
{
    int used[HOSTS] = {0}, idle = 0, highest = INT_MIN;
    for (int p = 0; p < c->managed.program_count; p++) {
        const dome_managed_program *it = &c->programs[p];
        const bool running = it->state == DOME_MANAGED_RUNNING;
        if (running) {
            highest = MAX(highest, it->priority);
            g_assert_cmpint(count(c, p), >=, it->least);
            g_assert_cmpint(count(c, p), <=, it->most);
        }
        for (int h = 0; h < HOSTS; h++) {
            const bool allowed = c->hosts[h].use != DOME_MANAGED_LEFT && (!running || c->hosts[h].use != DOME_MANAGED_CLOSED);
            g_assert_cmpint(c->present[p][h], >=, 0);
            g_assert_true(allowed || c->present[p][h] == 0);
            used[h] += running ? c->present[p][h] : 0;
        }
    }
    for (int h = 0; h < HOSTS; h++)
        if (c->hosts[h].use == DOME_MANAGED_OPEN)
            idle += MAX(0, dome__host_choice_slots(&c->hosts[h], false) - used[h]);
    for (int p = 0; p < c->managed.program_count && idle > 0; p++) /* one that would take places of others alone waits */
        g_assert_true(c->programs[p].state == DOME_MANAGED_RUNNING ||
                      (c->programs[p].priority < highest && c->programs[p].least > idle));
}

static void test_random(void)
{
    GRand *r = g_rand_new_with_seed(g_test_rand_int_range(0, G_MAXINT32));
    for (int history = 0; history < 300; history++) {
        cluster c;
        start(&c);
        for (int step = 0; step < 30; step++) {
            for (int h = 0; h < HOSTS; h++) {
                c.hosts[h].use = use(r);
                c.hosts[h].load = g_rand_int_range(r, 0, 4) * 0.7;
            }
            if (c.managed.program_count < MOST && g_rand_boolean(r)) {
                const int least = g_rand_int_range(r, 1, 10);
                add(&c, g_rand_int_range(r, 0, 3), least, least + g_rand_int_range(r, 0, 8));
            }
            for (int p = 0; p < c.managed.program_count; p++)
                c.programs[p].used += g_rand_int_range(r, 0, 100);
            obey(&c);
            check(&c);
        }
    }
    g_rand_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/priority/least_loaded", test_least_loaded);
    g_test_add_func("/priority/shrinks", test_shrinks);
    g_test_add_func("/priority/cannot_leave", test_cannot_leave);
    g_test_add_func("/priority/goes_first", test_goes_first);
    g_test_add_func("/priority/bound", test_bound);
    g_test_add_func("/priority/first", test_first);
    g_test_add_func("/priority/away", test_away);
    g_test_add_func("/priority/equal", test_equal);
    g_test_add_func("/priority/topologies", test_topologies);
    g_test_add_func("/priority/owner", test_owner);
    g_test_add_func("/priority/turns", test_turns);
    g_test_add_func("/priority/sharing", test_sharing);
    g_test_add_func("/priority/beside-users", test_beside_users);
    g_test_add_func("/priority/overloaded", test_overloaded);
    g_test_add_func("/priority/rest", test_rest);
    g_test_add_func("/priority/random", test_random);
    return g_test_run();
}
