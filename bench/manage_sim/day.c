#include "day.h"

#include <glib.h>

#include <math.h>

static double between(GRand *r, double low, double high)
{
    return g_rand_double_range(r, low, high);
}

static double exponential(GRand *r, double mean)
{
    return -mean * log(1 - g_rand_double(r));
}

static double normal(GRand *r)
{
    return sqrt(-2 * log(1 - g_rand_double(r))) * cos(2 * G_PI * g_rand_double(r));
}

double day_efficiency(int tasks)
{
    return 1 / (1 + 0.01 * (tasks - 1));
}

static void make_hosts(day *d, GRand *r)
{
    static const int processors[] = {1, 2, 2, 4, 4, 8};
    d->host_count = g_rand_int_range(r, 4, 25);
    d->hosts = g_new0(day_host, d->host_count);
    for (int h = 0; h < d->host_count; h++) {
        g_snprintf(d->hosts[h].name, sizeof d->hosts[h].name, "h%d", h + 1);
        d->hosts[h].processors = processors[g_rand_int_range(r, 0, G_N_ELEMENTS(processors))];
        d->hosts[h].speed = between(r, 0.5, 1.5);
        d->hosts[h].owned = g_rand_double(r) < 0.5 && d->hosts[h].processors <= 4; /* larger ones are servers */
    }
}

/* An owner sits there between eight and eighteen o'clock, for some minutes each time; elsewhere others run programs of their own.
 */
static void visit(GArray *changes, const day_host *host, int h, GRand *r)
{
    const double begin = host->owned ? 8 * 3600 : 0, end = host->owned ? 18 * 3600 : DAY_SECONDS;
    const double stay = host->owned ? 1200 : 1800, pause = host->owned ? 1800 : 7200;
    for (double t = begin + exponential(r, pause); t < end;) {
        const double until = t + exponential(r, stay);
        const double load = host->owned ? between(r, 0.1, 1.5) : between(r, 0.5, host->processors);
        const day_change busy = {(int)t, h, load, host->owned}, idle = {(int)until + 1, h, 0, false};
        g_array_append_val(changes, busy);
        g_array_append_val(changes, idle);
        t = until + 1 + exponential(r, pause);
    }
}

static int by_time(const void *a, const void *b)
{
    return ((const day_change *)a)->second - ((const day_change *)b)->second;
}

static void make_changes(day *d, GRand *r)
{
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(day_change));
    for (int h = 0; h < d->host_count; h++)
        visit(changes, &d->hosts[h], h, r);
    g_array_sort(changes, by_time);
    d->change_count = (int)changes->len;
    d->changes = (day_change *)(void *)g_array_free(changes, FALSE);
}

/* Twice as many programs come by day as by night. */
static int arrival(GRand *r)
{
    const int second = g_rand_int_range(r, 0, DAY_SECONDS);
    const bool by_day = second > 8 * 3600 && second < 20 * 3600;
    return by_day || g_rand_double(r) < 0.5 ? second : g_rand_int_range(r, 8 * 3600, 20 * 3600);
}

static void make_programs(day *d, GRand *r)
{
    double capacity = 0, work = 0;
    int processors = 0;
    for (int h = 0; h < d->host_count; h++) {
        capacity += d->hosts[h].processors * d->hosts[h].speed * DAY_SECONDS;
        processors += d->hosts[h].processors;
    }
    d->program_count = g_rand_int_range(r, 30, 200);
    d->programs = g_new0(day_program, d->program_count);
    for (int p = 0; p < d->program_count; p++) {
        day_program *it = &d->programs[p];
        it->submitted = arrival(r);
        it->host = g_rand_int_range(r, 0, d->host_count);
        it->priority = g_rand_double(r) < 0.1 ? 5 : 0;
        it->tasks = MIN(1 << g_rand_int_range(r, 0, 5), processors);
        it->least = g_rand_double(r) < 0.6 ? MAX(1, it->tasks / 4) : it->tasks;
        it->work = it->tasks * exp(1.5 * normal(r));
        it->moving = 0.5 + exp(normal(r) - 1);
        work += it->work;
    }
    /* together they are worth a part of what the hosts could compute in a day */
    const double scale = between(r, 0.1, 0.7) * capacity / work;
    for (int p = 0; p < d->program_count; p++)
        d->programs[p].work = MIN(scale * d->programs[p].work, d->programs[p].tasks * 4.0 * 3600);
}

day *day_new(uint32_t seed)
{
    day *d = g_new0(day, 1);
    GRand *r = g_rand_new_with_seed(seed);
    make_hosts(d, r);
    make_changes(d, r);
    make_programs(d, r);
    g_rand_free(r);
    return d;
}

void day_free(day *d)
{
    g_free(d->hosts);
    g_free(d->changes);
    g_free(d->programs);
    g_free(d);
}
