#include "history.h"

#include "balance/policy.h"

#include <glib.h>
#include <math.h>

#define SPEED 1280.0 /* blocks per second of a task: a step takes 50 ms when all is well */
enum { BLOCKS = 64 };

const char *const history_names[HISTORY_KINDS] = {
    [STEADY] = "steady", [ONE_STEP] = "one step", [STEPS] = "steps",   [RESTLESS] = "restless",
    [WALK] = "walk",     [PERIODIC] = "periodic", [SPIKES] = "spikes", [GROWTH] = "growth",
};

static double between(GRand *random, double low, double high)
{
    return low + (high - low) * g_rand_double(random);
}

static double log_between(GRand *random, double low, double high)
{
    return low * pow(high / low, g_rand_double(random));
}

static double normal(GRand *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += g_rand_double(random);
    return sum;
}

/* What changes in the course of a history: `load` is what a task's speed is divided by. */
typedef struct change {
    GRand *random;
    double *load, *rate; /* by task */
    double period, deep;
    int at, busy;
} change;

static void load_anew(change *c, int tasks)
{
    for (int r = 0; r < tasks; r++)
        c->load[r] = g_rand_double(c->random) < 0.4 ? between(c->random, 1, c->deep) : 1;
}

static void change_init(change *c, history_kind kind, int tasks, int steps)
{
    GRand *random = c->random;
    for (int r = 0; r < tasks; r++) {
        c->load[r] = 1;
        c->rate[r] = kind == GROWTH && g_rand_double(random) < 0.4 ? between(random, 0.5, 3) / steps : 0;
    }
    if (kind == GROWTH)
        c->rate[0] = between(random, 1, 3) / steps;
    if (kind == STEEP_GROWTH)
        for (int r = g_rand_int_range(random, 0, 2); r < 2; r++)
            c->rate[r] = between(random, 4, 12) / steps;
    c->deep = between(random, 1.5, 4);
    c->period = kind == RESTLESS ? between(random, 40, 100) : log_between(random, 60, 600);
    c->at = kind == ONE_STEP ? g_rand_int_range(random, steps / 8, steps * 7 / 8) : (int)c->period;
    c->busy = g_rand_int_range(random, 0, tasks);
}

static void change_at(change *c, history_kind kind, int tasks, int step)
{
    GRand *random = c->random;
    switch (kind) {
    case ONE_STEP:
        if (step == c->at)
            load_anew(c, tasks);
        break;
    case STEPS:
    case RESTLESS:
        if (step == c->at) {
            load_anew(c, tasks);
            c->at += (int)(c->period * between(random, 0.7, 1.3));
        }
        break;
    case WALK:
        for (int r = 0; r < tasks; r++)
            c->load[r] = CLAMP(c->load[r] * exp(0.012 * normal(random)), 0.5, 4);
        break;
    case PERIODIC:
        c->load[c->busy] = fmod(step, c->period) < c->period / 2 ? 1 : c->deep;
        break;
    case SPIKES:
        for (int r = 0; r < tasks; r++)
            c->load[r] = g_rand_double(random) < 0.004 ? between(random, 2, 20) : 1;
        break;
    case GROWTH:
    case STEEP_GROWTH:
        for (int r = 0; r < tasks; r++)
            c->load[r] += c->rate[r];
        break;
    default:
        break;
    }
}

history *history_new(history_kind kind, int tasks, int steps, uint32_t seed)
{
    history *h = g_new(history, 1);
    GRand *random = g_rand_new_with_seed(seed);
    gsize all = (gsize)steps * (gsize)tasks;
    *h = (history){kind, tasks, steps, (uint64_t)tasks * BLOCKS, g_new(double, all), g_new(double, all), 0.001, 0, 0.001};
    if (kind == STEEP_GROWTH)
        h->latency = between(random, 0.5, 2);
    /* seconds in which a task receives as much as its even share, by block */
    h->per_block = log_between(random, 0.02, kind == STEEP_GROWTH ? 0.2 : 2) / BLOCKS;
    double rough = log_between(random, 0.003, 0.2), wide = g_rand_boolean(random) ? 1 : between(random, 1, 4);
    double *base = g_new(double, tasks);
    for (int r = 0; r < tasks; r++)
        base[r] = SPEED * pow(wide, g_rand_double(random));
    change c = {.random = random, .load = g_new(double, tasks), .rate = g_new(double, tasks)};
    change_init(&c, kind, tasks, steps);
    for (int i = 0; i < steps; i++) {
        change_at(&c, kind, tasks, i);
        for (int r = 0; r < tasks; r++) {
            double *speed = &h->speeds[i * tasks + r], load = c.load[r];
            *speed = base[r] / (kind == SPIKES ? 1 : load); /* a spike is over before data could follow: it is noise */
            h->seconds[i * tasks + r] = load / base[r] * exp(rough * normal(random));
        }
    }
    g_free(base);
    g_free(c.load);
    g_free(c.rate);
    g_rand_free(random);
    return h;
}

void history_free(history *h)
{
    g_free(h->speeds);
    g_free(h->seconds);
    g_free(h);
}

uint64_t *history_layouts(const history *h)
{
    uint64_t *layouts = g_new(uint64_t, (gsize)h->steps * (gsize)h->tasks), *even = g_new(uint64_t, h->tasks);
    for (int r = 0; r < h->tasks; r++)
        even[r] = h->blocks / (uint64_t)h->tasks;
    for (int i = 0; i < h->steps; i++) {
        dome_load load = {
            .ranks = h->tasks, .blocks = h->blocks, .counts = even, .rates = h->speeds + i * h->tasks, .topology = DOME_LINEAR};
        dome__policy_global(&load, &(dome_division){0, layouts + i * h->tasks});
    }
    g_free(even);
    return layouts;
}

double history_step(const history *h, int step, const uint64_t *layout)
{
    const double *seconds = h->seconds + step * h->tasks;
    double longest = 0;
    for (int r = 0; r < h->tasks; r++)
        longest = MAX(longest, (double)layout[r] * seconds[r]);
    return longest;
}

double history_move(const history *h, const uint64_t *from, const uint64_t *to)
{
    uint64_t busiest = 0, was = 0, is = 0;
    for (int r = 0; r < h->tasks; was += from[r], is += to[r], r++) {
        uint64_t low = MAX(was, is), high = MIN(was + from[r], is + to[r]), stay = high > low ? high - low : 0;
        busiest = MAX(busiest, from[r] + to[r] - 2 * stay);
    }
    return busiest ? h->latency + h->per_block * (double)busiest : 0;
}
