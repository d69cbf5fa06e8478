/* What policies make of a history: a program balanced by src/balance/policy.c as the library does, with early phases that waiting
 * tasks ask for, and rules from the literature in the place of the library's. */
#include "history.h"

#include "balance/policy.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As in balance.c. */
static const double ALARM_SHARE = 0.1, ALARM_BACKOFF = 1.5, ALARM_WINDOW = 0.1;

typedef struct state {
    const history *h;
    int tasks;
    uint64_t *counts, *next;
    double *busy, *waited, *usual; /* by task: since the last phase; in this window; after the last phase (< 0: not known) */
    double *rates, *later, *noises;
    dome_speed *speeds;
    dome_schedule schedule;
    double time, elapsed, window; /* seconds: in all; since the last phase; since the window began */
    double alarm_share;
    bool alarmed, doubt;
    bool last_speed;             /* shares are by the last speed measured */
    double degraded, iterations; /* since the last move: seconds lost, and seconds computed */
    double lost;                 /* for dome__division_pays */
    replay_result result;
} state;

/* ---- rules: whether to move ---- */

/* What a rule judges: the times for the same work now and after moving, and what moving takes. */
typedef struct choice {
    const dome_load *load;
    const dome_division *division;
    double now, then, moving;
} choice;

typedef bool rule(state *s, const choice *c);

static bool never(state *s, const choice *c)
{
    (void)s, (void)c;
    return false;
}

static bool always(state *s, const choice *c)
{
    (void)s;
    return c->then < c->now;
}

/* Menon, Jain, Zheng, Kale, Automated load balancing invocation based on application characteristics, 2012: as soon as the time
 * lost since the last move exceeds what moving takes. */
static bool menon(state *s, const choice *c)
{
    return c->then < c->now && s->degraded >= c->moving;
}

/* Boulmier, Abdennadher, Chopard, Optimal load balancing and assessment of existing load balancing criteria (arXiv 2104.01688):
 * as soon as the time lost by each second would be more than on average since the last move, including that move. */
static bool boulmier(state *s, const choice *c)
{
    return c->then < c->now && s->iterations * (1 - c->then / c->now) - s->degraded >= c->moving;
}

static bool library(state *s, const choice *c)
{
    return dome__division_pays(&s->schedule, c->load, c->division, c->then, c->moving, &s->lost);
}

static const struct {
    const char *name;
    rule *rule;
} rules[] = {{"none", never},        {"always", always},      {"Menon", menon},
             {"Boulmier", boulmier}, {"last speed", library}, {"Dome", library}};

const char *const replay_names[] = {"none", "always", "Menon", "Boulmier", "last speed", "Dome", NULL};

/* ---- a phase ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Speeds relative to the median task's. */
static void learn(state *s, double steps)
{
    double *rate = g_new(double, s->tasks), *sorted = g_new(double, s->tasks), mean = 0;
    int known = 0;
    for (int r = 0; r < s->tasks; r++) {
        rate[r] = s->busy[r] > 0 ? steps * (double)s->counts[r] / s->busy[r] : 0;
        mean += s->speeds[r].rate / s->tasks;
        if (rate[r] > 0)
            sorted[known++] = rate[r];
    }
    qsort(sorted, (size_t)known, sizeof *sorted, compare);
    s->schedule.noise = s->schedule.spread = 0;
    s->doubt = s->schedule.changed = s->schedule.moves = false;
    double stay = dome__schedule_stay(&s->schedule);
    for (int r = 0; r < s->tasks; r++) {
        s->doubt |= dome__speed_update(&s->speeds[r], rate[r] / sorted[known / 2], s->elapsed, mean);
        s->schedule.changed |= s->speeds[r].changed;
        s->rates[r] = s->last_speed ? s->speeds[r].models.mean : s->speeds[r].rate;
        s->later[r] = dome__speed_ahead(&s->speeds[r], stay);
        s->schedule.moves |= dome__speed_moves(&s->speeds[r]);
        s->noises[r] = s->speeds[r].noise;
        s->schedule.noise += s->noises[r] / s->tasks;
        s->schedule.spread += s->speeds[r].spread / s->tasks;
        s->busy[r] = 0;
    }
    g_free(rate);
    g_free(sorted);
}

static void phase(state *s, rule *rule, double steps)
{
    const history *h = s->h;
    learn(s, steps);
    dome_load load = {.ranks = s->tasks,
                      .blocks = h->blocks,
                      .counts = s->counts,
                      .rates = s->rates,
                      .topology = DOME_LINEAR,
                      .noises = s->noises,
                      .later = s->schedule.moves && !s->last_speed ? s->later : NULL};
    dome_division division = {0, s->next};
    dome__policy_global(&load, &division);
    if (rule == library) {
        dome_moving moving = {h->latency, {h->per_block, h->per_block, h->per_block}, NULL, NULL};
        dome__policy_spare(&load, &moving, dome__schedule_horizon(&s->schedule), &division);
    }
    choice c = {&load, &division, dome__load_time(&load), dome__division_time(&load, &division),
                history_move(h, s->counts, s->next)};
    s->degraded += s->elapsed * (c.now > 0 ? 1 - c.then / c.now : 0);
    s->iterations += s->elapsed;
    s->schedule.phase = h->phase;
    s->time += h->phase;
    s->result.phases++;
    bool pays = c.moving > 0 && rule(s, &c);
    if (pays) {
        s->time += c.moving;
        s->result.moves++;
        s->result.moved += c.moving;
        s->result.last_move = s->time;
        s->degraded = s->iterations = s->lost = 0;
        memcpy(s->counts, s->next, (size_t)s->tasks * sizeof *s->counts);
    }
    s->alarm_share = pays ? ALARM_SHARE : s->alarmed ? MIN(s->alarm_share * ALARM_BACKOFF, 0.9) : s->alarm_share;
    dome__schedule_next(&s->schedule, pays, s->doubt || s->alarmed);
    s->alarmed = false;
    s->elapsed = s->window = 0;
    for (int r = 0; r < s->tasks; r++) {
        s->waited[r] = 0;
        s->usual[r] = -1;
    }
}

/* ---- steps ---- */

static void watch_waiting(state *s)
{
    if (s->window < ALARM_WINDOW)
        return;
    for (int r = 0; r < s->tasks; r++) {
        double share = s->waited[r] / s->window;
        if (s->usual[r] < 0)
            s->usual[r] = share;
        else if (share > s->usual[r] + s->alarm_share)
            s->alarmed = true;
        s->waited[r] = 0;
    }
    s->window = 0;
}

static void step(state *s, int i)
{
    double longest = history_step(s->h, i, s->counts);
    for (int r = 0; r < s->tasks; r++) {
        double busy = (double)s->counts[r] * s->h->seconds[i * s->tasks + r];
        s->busy[r] += busy;
        s->waited[r] += longest - busy;
    }
    s->time += longest;
    s->elapsed += longest;
    s->window += longest;
}

replay_result replay(const history *h, const char *name)
{
    state s = {.h = h, .tasks = h->tasks, .alarm_share = ALARM_SHARE};
    rule *rule = never;
    for (gsize i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcmp(rules[i].name, name) == 0)
            rule = rules[i].rule;
    s.counts = g_new(uint64_t, s.tasks);
    s.next = g_new(uint64_t, s.tasks);
    s.busy = g_new0(double, s.tasks);
    s.waited = g_new0(double, s.tasks);
    s.usual = g_new(double, s.tasks);
    s.rates = g_new0(double, s.tasks);
    s.later = g_new0(double, s.tasks);
    s.noises = g_new0(double, s.tasks);
    s.speeds = g_new0(dome_speed, s.tasks);
    s.last_speed = strcmp(name, "last speed") == 0;
    dome__schedule_init(&s.schedule);
    for (int r = 0; r < s.tasks; r++) {
        s.counts[r] = h->blocks / (uint64_t)s.tasks;
        s.usual[r] = -1;
    }
    for (int i = 0, last = 0; i < h->steps; i++) {
        step(&s, i);
        watch_waiting(&s);
        if (rule != never && (s.elapsed >= s.schedule.interval || s.alarmed) && i + 1 < h->steps) {
            phase(&s, rule, i + 1 - last);
            last = i + 1;
        }
    }
    s.result.seconds = s.time;
    g_free(s.counts);
    g_free(s.next);
    g_free(s.busy);
    g_free(s.waited);
    g_free(s.usual);
    g_free(s.rates);
    g_free(s.later);
    g_free(s.noises);
    g_free(s.speeds);
    return s.result;
}
