/* Policies of a cluster (src/manage) on simulated days, beside what `dome run` does: mean seconds from submitting a program to
 * its end.
 *
 *   build/bench/manage_sim                     # 200 days
 *   build/bench/manage_sim --days 10 --seed 7 --each
 */
#include "simulate.h"

#include <glib.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int days = 200, seed = 1;
static gboolean each = FALSE;

static const GOptionEntry entries[] = {
    {"days", 0, 0, G_OPTION_ARG_INT, &days, "simulated days (200)", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the first day (1)", "N"},
    {"each", 0, 0, G_OPTION_ARG_NONE, &each, "a line for each day", NULL},
    {0},
};

static int by_size(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double mean(const double *values, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += values[k];
    return sum / n;
}

/* Ratios of days to what `dome run` takes, under one way. */
typedef struct ratios {
    const char *name;
    way how;
    double *all, *high, *owners;
    int n, highs, changes, suspensions, unfinished;
} ratios;

static void compare(ratios *r, const day *d, const simulated *run)
{
    const simulated s = simulate(d, r->how);
    r->owners[r->n] = s.beside_owners / MAX(run->beside_owners, 1);
    r->all[r->n++] = s.mean / run->mean;
    if (!isnan(run->high))
        r->high[r->highs++] = s.high / run->high;
    r->changes += s.changes;
    r->suspensions += s.suspensions;
    r->unfinished += s.unfinished;
}

static void print_row(const char *name, const char *which, double *values, int n)
{
    if (!n)
        return;
    qsort(values, (size_t)n, sizeof *values, by_size);
    printf("%-16s  %-11s  %5.2f  %5.2f  %6.2f  %5.2f  %5.2f\n", name, which, mean(values, n), values[0], values[n / 2],
           values[n * 9 / 10], values[n - 1]);
}

static bool read_options(int argc, char **argv)
{
    GOptionContext *context = g_option_context_new("- policies of a cluster on simulated days");
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    const bool good = g_option_context_parse(context, &argc, &argv, &error) && days >= 1 && argc == 1;
    if (!good)
        fprintf(stderr, "manage_sim: %s\n", error ? error->message : "wants --days of at least 1, and no other words");
    g_clear_error(&error);
    g_option_context_free(context);
    return good;
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv))
        return 2;
    ratios ways[] = {{.name = "beside owners", .how = WAY_SHARING}, {.name = "owners respected", .how = WAY_POLICIES}};
    for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
        ways[w].all = g_new(double, days);
        ways[w].high = g_new(double, days);
        ways[w].owners = g_new(double, days);
    }
    if (each)
        puts(" day  hosts  programs  dome run: s  beside owners  owners respected");
    for (int k = 0; k < days; k++) {
        day *d = day_new((uint32_t)(seed + k));
        const simulated run = simulate(d, WAY_RUN);
        for (size_t w = 0; w < G_N_ELEMENTS(ways); w++)
            compare(&ways[w], d, &run);
        if (each)
            printf("%4d  %5d  %8d  %11.0f  %13.2f  %16.2f\n", seed + k, d->host_count, d->program_count, run.mean, ways[0].all[k],
                   ways[1].all[k]);
        day_free(d);
    }
    printf("%d days: seconds from submitting a program to its end, over those under `dome run`\n\n", days);
    puts("policies          programs      mean   best  median    90 %  worst");
    for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
        print_row(ways[w].name, "all", ways[w].all, days);
        print_row("", "of priority", ways[w].high, ways[w].highs);
    }
    puts("");
    int unfinished = 0;
    for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
        printf("%s: computing beside owners %.3f of `dome run`'s; a day has %.0f changes of tasks and %.0f suspensions\n",
               ways[w].name, mean(ways[w].owners, days), (double)ways[w].changes / days, (double)ways[w].suspensions / days);
        unfinished += ways[w].unfinished;
    }
    printf("mean %.2f (to reach: 0.8), worst day %.2f (1.05); beside owners %.2f and %.2f; %d programs not finished after three "
           "days\n",
           mean(ways[1].all, days), ways[1].all[days - 1], mean(ways[0].all, days), ways[0].all[days - 1], unfinished);
    for (size_t w = 0; w < G_N_ELEMENTS(ways); w++)
        g_free(ways[w].all), g_free(ways[w].high), g_free(ways[w].owners);
    return unfinished > 0;
}
