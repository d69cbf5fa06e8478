/* What number of tasks would pay, and when a program takes it: on programs whose times are known. */
#include "manage/size_policy.h"

#include <math.h>

/* A program: seconds between two loop boundaries with m tasks. */
typedef struct program {
    double serial, work, uneven, by_log, by_line, constant; /* the last three: waiting besides */
    int processors;
} program;

static dome_size_point run(const program *p, int tasks)
{
    const double at_work = MIN(tasks, p->processors), computing = p->serial + p->work / at_work;
    const double slowest = tasks > 1 ? computing * p->uneven : computing;
    const double besides = tasks > 1 ? p->by_log * log2(tasks) + p->by_line * (tasks - 1) + p->constant : 0;
    return (dome_size_point){tasks, computing, slowest, slowest - computing + besides};
}

static double time_of(const program *p, int tasks)
{
    const dome_size_point point = run(p, tasks);
    return point.computing + point.waiting;
}

static double shortest(const program *p, int least, int most)
{
    double time = INFINITY;
    for (int m = least; m <= most; m++)
        time = MIN(time, time_of(p, m));
    return time;
}

static const program programs[] = {
    {0, 1, 1, 0, 0, 0, 64},         /* all work can be divided */
    {0.01, 1, 1, 0.002, 0, 0, 64},  /* a serial part, and meetings in a tree */
    {0.1, 1, 1.1, 0.02, 0, 0, 64},  /* more of both, uneven */
    {0, 1, 1, 0, 0.03, 0, 64},      /* one after the other */
    {0, 1, 1, 0, 0.3, 0, 64},       /* hardly worth a second task */
    {1, 0, 1, 0.001, 0, 0, 64},     /* nothing can be divided */
    {0, 1, 1.3, 0.05, 0, 0.02, 64}, /* halos: the same waiting for any number */
    {0, 1, 1, 0.01, 0, 0, 2},       /* two processors */
};

/* With the numbers that the model needs measured, it says what the program does. */
static void test_exact(void)
{
    for (guint k = 0; k < G_N_ELEMENTS(programs); k++) {
        const program *p = &programs[k];
        if (p->constant > 0 || (p->by_log > 0 && p->by_line > 0))
            continue;
        const dome_size_point points[] = {run(p, 1), run(p, 2), run(p, 5)};
        const dome_size_model m = dome__size_fit(points, 3, p->processors);
        for (int tasks = 1; tasks <= 40; tasks++)
            g_assert_cmpfloat_with_epsilon(dome__size_time(&m, tasks), time_of(p, tasks), 1e-9);
        double time, now;
        const int best = dome__size_best(&(dome_size_program){points, 3, p->processors, 5, 1, 10}, &time, &now);
        g_assert_cmpfloat_with_epsilon(now, time_of(p, 5), 1e-9);
        g_assert_cmpfloat_with_epsilon(time, time_of(p, best), 1e-9);
        g_assert_cmpfloat(time, <=, 1.05 * shortest(p, 3, 10) + 1e-12);
        for (int fewer = 3; fewer < best; fewer++) /* none of these would do */
            g_assert_cmpfloat(time_of(p, fewer), >, 1.05 * shortest(p, 3, 10));
    }
}

/* One number alone is enough for the cases that need no more. */
static void test_one_point(void)
{
    double time, now;
    dome_size_point even = {4, 1, 1, 0};
    g_assert_cmpint(dome__size_best(&(dome_size_program){&even, 1, 64, 4, 1, 0}, &time, &now), ==, 8); /* at most twice as many */
    g_assert_cmpfloat_with_epsilon(time, 0.5, 1e-12);
    g_assert_cmpint(dome__size_best(&(dome_size_program){&even, 1, 64, 4, 1, 6}, &time, &now), ==, 6);
    g_assert_cmpint(dome__size_best(&(dome_size_program){&even, 1, 4, 4, 1, 0}, &time, &now), ==, 4);
    dome_size_point crowd = {8, 1, 1, 1}; /* on two processors: the same with two, and less waiting */
    g_assert_cmpint(dome__size_best(&(dome_size_program){&crowd, 1, 2, 8, 1, 0}, &time, &now), ==, 4); /* half at most */
    crowd.tasks = 4;
    g_assert_cmpint(dome__size_best(&(dome_size_program){&crowd, 1, 2, 4, 1, 0}, &time, &now), ==, 2);
    g_assert_cmpint(dome__size_best(&(dome_size_program){&crowd, 1, 2, 4, 3, 0}, &time, &now), ==, 3);
    dome_size_point idle = {16, 0.01, 0.01, 0.99}; /* 0.16 s of computing; waiting 0.25 s with each doubling */
    g_assert_cmpint(dome__size_best(&(dome_size_program){&idle, 1, 64, 16, 1, 0}, &time, &now), ==, 8);
    dome_size_point nothing = {3, 0, 0, 0};
    g_assert_cmpint(dome__size_best(&(dome_size_program){&nothing, 1, 64, 3, 2, 0}, &time, &now), ==, 2);
}

/* ---- a running program ---- */

typedef struct running {
    const program *program;
    dome_size_policy *policy;
    int tasks, least, most, changes;
    unsigned view;
    double now, loops, noise;
    double waited[128];
    GRand *random;
} running;

static running start(const program *p, int tasks, int least, int most, double noise)
{
    return (running){p, dome__size_policy_new(), tasks, least, most, .noise = noise, .random = g_rand_new_with_seed(7)};
}

/* good: orders are carried out. */
static void let_run(running *r, double seconds, bool good)
{
    for (double until = r->now + seconds; r->now < until;) {
        const dome_size_point point = run(r->program, r->tasks);
        const double time = point.computing + point.waiting, step = 0.25;
        const double off = 1 + r->noise * (2 * g_rand_double(r->random) - 1);
        r->now += step;
        r->loops += step / (time * off) * 100;     /* a hundred boundaries in the time above */
        const double least = time - point.slowest; /* task 0 is the slowest */
        for (int k = 0; k < r->tasks; k++)
            r->waited[k] += step / time * (k == 0 ? least : (r->tasks * point.waiting - least) / (r->tasks - 1));
        const dome_size_sample sample = {
            r->now, r->view, r->tasks, r->program->processors, r->least, r->most, (unsigned long)r->loops, r->waited};
        const int wanted = dome__size_policy_look(r->policy, &sample);
        if (!wanted)
            continue;
        g_assert_cmpint(wanted, !=, r->tasks);
        g_assert_cmpint(wanted, >=, MIN(r->least, r->tasks));
        g_assert_cmpint(wanted, <=, r->most);
        g_assert_cmpint(wanted, <=, 2 * r->tasks);
        g_assert_cmpint(2 * wanted, >=, r->tasks);
        r->changes++;
        dome__size_policy_ended(r->policy, good, r->now);
        if (!good)
            continue;
        r->tasks = wanted;
        r->view++;
        r->loops = 0;
        for (int k = 0; k < r->tasks; k++)
            r->waited[k] = 0;
    }
}

static void end(running *r)
{
    dome__size_policy_free(r->policy);
    g_rand_free(r->random);
}

/* From any number it comes near the best within minutes, and stays there. */
static void test_comes_to_the_best(void)
{
    static const int from[] = {1, 3, 8, 40};
    for (guint k = 0; k < G_N_ELEMENTS(programs); k++)
        for (guint f = 0; f < G_N_ELEMENTS(from); f++)
            for (int noisy = 0; noisy < 2; noisy++) {
                running r = start(&programs[k], from[f], 1, 40, noisy ? 0.02 : 0);
                let_run(&r, 300, true);
                g_test_message("program %u from %d: %d tasks after %d changes", k, from[f], r.tasks, r.changes);
                g_assert_cmpfloat(time_of(r.program, r.tasks), <=, 1.3 * shortest(r.program, 1, 40));
                g_assert_cmpint(r.changes, <=, 9);
                const int tasks = r.tasks, changes = r.changes;
                let_run(&r, 200, true);
                g_assert_cmpint(r.changes - changes, <=, noisy ? 1 : 0);
                g_assert_cmpint(ABS(r.tasks - tasks), <=, noisy ? 2 : 0);
                end(&r);
            }
}

static void test_limits(void)
{
    running r = start(&programs[0], 4, 3, 6, 0);
    let_run(&r, 100, true);
    g_assert_cmpint(r.tasks, ==, 6);
    end(&r);
    r = start(&programs[4], 6, 3, 6, 0);
    let_run(&r, 100, true);
    g_assert_cmpint(r.tasks, ==, 3);
    end(&r);
}

/* What cannot be carried out is tried less and less often. */
static void test_failures(void)
{
    running r = start(&programs[0], 2, 1, 8, 0);
    let_run(&r, 5, false);
    g_assert_cmpint(r.changes, ==, 0); /* it must be the best twice */
    let_run(&r, 20, false);
    g_assert_cmpint(r.changes, ==, 1);
    let_run(&r, 30, false);
    g_assert_cmpint(r.changes, ==, 2);
    let_run(&r, 40, false);
    g_assert_cmpint(r.changes, ==, 2);
    end(&r);
}

/* A program without boundaries, or with few, is not judged. */
static void test_no_boundaries(void)
{
    dome_size_policy *policy = dome__size_policy_new();
    const double waited[2] = {0};
    for (double now = 0; now < 100; now += 0.25) {
        const dome_size_sample sample = {now, 0, 2, 8, 1, 8, 3, waited};
        g_assert_cmpint(dome__size_policy_look(policy, &sample), ==, 0);
    }
    dome__size_policy_free(policy);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/size/exact", test_exact);
    g_test_add_func("/size/one-point", test_one_point);
    g_test_add_func("/size/comes-to-the-best", test_comes_to_the_best);
    g_test_add_func("/size/limits", test_limits);
    g_test_add_func("/size/failures", test_failures);
    g_test_add_func("/size/no-boundaries", test_no_boundaries);
    return g_test_run();
}
