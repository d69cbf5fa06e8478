/* balance_sim: the balancing policies of src/balance/policy.c on made-up clusters.
 *
 *     balance_sim [--tasks LIST] [--phases N] [--csv FILE]
 *
 * Each cluster has a speed for every task that changes over the phases as its case says. A phase measures the rates, asks the
 * policy for a division and adopts it; between two phases the program runs `interval` operations. Efficiency is the time an
 * oracle needs (all cost over all speeds, no cost of moving) over the time taken. */
#include "balance/policy.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FIXED, ONE_SLOW, STEP, DRIFT, SPIKE, KINDS } kind;
static const char *const kind_names[KINDS] = {"fixed", "one-slow", "step", "drift", "spike"};

typedef struct cluster {
    int tasks;
    uint64_t blocks;
    kind kind;
    double *base, *speed; /* blocks per second */
    GRand *random;
} cluster;

static void cluster_init(cluster *c, kind kind, int tasks)
{
    c->tasks = tasks;
    c->blocks = (uint64_t)tasks * 64;
    c->kind = kind;
    c->base = g_new(double, tasks);
    c->speed = g_new(double, tasks);
    c->random = g_rand_new_with_seed(20250101);
    for (int r = 0; r < tasks; r++) {
        bool equal = kind == ONE_SLOW || kind == STEP || kind == SPIKE;
        c->base[r] = equal ? 64 : 64 * pow(4, g_rand_double(c->random)); /* within a factor of 4 */
        c->speed[r] = c->base[r];
    }
    if (kind == ONE_SLOW)
        c->speed[tasks / 2] = c->base[tasks / 2] / 3;
}

static void cluster_clear(cluster *c)
{
    g_free(c->base);
    g_free(c->speed);
    g_rand_free(c->random);
}

static void cluster_advance(cluster *c, int phase)
{
    switch (c->kind) {
    case STEP: /* a tenth of the tasks, at least one, slows down to a third after a third of the run, and one after another */
        if (phase == 15)
            for (int r = 0; r < MAX(c->tasks / 10, 1); r++)
                c->speed[(r * 7) % c->tasks] = c->base[(r * 7) % c->tasks] / 3;
        break;
    case DRIFT:
        for (int r = 0; r < c->tasks; r++)
            c->speed[r] = CLAMP(c->speed[r] * exp(0.05 * (g_rand_double(c->random) * 2 - 1)), 32, 512);
        break;
    case SPIKE: /* for one phase in ten one task in ten runs at a tenth */
        for (int r = 0; r < c->tasks; r++)
            c->speed[r] = phase % 10 == 5 && r % 10 == 3 ? c->base[r] / 10 : c->base[r];
        break;
    default:
        break;
    }
}

typedef struct result {
    double efficiency, last, decision_us, moved;
    int converged; /* first phase from which the division stays within 5 % of the bound; -1: never */
} result;

enum { OPERATIONS = 100 }; /* between two phases */
#define MOVE_SECONDS 0.002 /* of one block of 8 KiB over a slow network, in operations of about a second */

static result simulate(kind kind, int tasks, int group, int phases, FILE *csv, const char *policy)
{
    cluster c;
    cluster_init(&c, kind, tasks);
    uint64_t *counts = g_new(uint64_t, tasks), *next = g_new(uint64_t, tasks);
    double *rates = g_new0(double, tasks);
    dome_flow *flow = g_new0(dome_flow, tasks);
    uint64_t start = 0;
    for (int r = 0; r < tasks; r++)
        counts[r] = c.blocks / (uint64_t)tasks;
    double taken = 0, bound = 0, decision = 0, moved_all = 0;
    result out = {.converged = -1};
    for (int phase = 0; phase < phases; phase++) {
        cluster_advance(&c, phase);
        dome_load truth = {tasks, c.blocks, start, counts, c.speed, NULL, DOME_RING};
        double now = dome__load_time(&truth), oracle = dome__oracle_time(&truth);
        taken += OPERATIONS * now;
        bound += OPERATIONS * oracle;
        out.last = oracle / now;
        if (out.last < 0.95)
            out.converged = -1;
        else if (out.converged < 0)
            out.converged = phase;
        if (csv)
            fprintf(csv, "%s,%s,%d,%d,%.6f\n", policy, kind_names[kind], tasks, phase, oracle / now);

        /* What a program measures: rates of tasks that have computed, with a little noise. */
        double mean = 0;
        for (int r = 0; r < tasks; r++)
            mean += c.speed[r] / tasks;
        for (int r = 0; r < tasks; r++) {
            double measured = counts[r] ? c.speed[r] * (1 + 0.01 * (g_rand_double(c.random) * 2 - 1)) : 0;
            rates[r] = dome__rate_update(rates[r], measured, mean);
        }
        dome_load load = {tasks, c.blocks, start, counts, rates, NULL, DOME_RING};
        dome_division division = {start, next};
        gint64 begin = g_get_monotonic_time();
        if (group == 0)
            continue;
        dome__policy_groups(&load, group, flow, &division);
        decision += (double)(g_get_monotonic_time() - begin);
        uint64_t busiest, moved = dome__division_moves(&load, &division, &busiest);
        dome_schedule schedule = {.interval = OPERATIONS, .move_seconds = MOVE_SECONDS};
        double then = dome__division_time(&load, &division);
        /* The ring is decentralised: nobody knows the whole time, a boundary moves when its two tasks differ. */
        bool pays = group < tasks ? moved > 0 : dome__schedule_pays(&schedule, dome__load_time(&load), then, busiest);
        if (pays) {
            taken += (double)busiest * MOVE_SECONDS;
            moved_all += (double)moved;
            memcpy(counts, next, (size_t)tasks * sizeof *counts);
            start = division.start;
        }
    }
    out.efficiency = bound / taken;
    out.decision_us = decision / phases;
    out.moved = moved_all / (double)c.blocks;
    g_free(counts);
    g_free(next);
    g_free(rates);
    g_free(flow);
    cluster_clear(&c);
    return out;
}

int main(int argc, char **argv)
{
    int phases = 50;
    char *list = g_strdup("4,6,64,1000,100000"), *csv_path = NULL;
    const GOptionEntry entries[] = {
        {"tasks", 0, 0, G_OPTION_ARG_STRING, &list, "Numbers of tasks, with commas between them", "LIST"},
        {"phases", 0, 0, G_OPTION_ARG_INT, &phases, "Balance phases to simulate", "N"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_path, "Write the efficiency of every phase", "FILE"},
        {0}};
    GOptionContext *context = g_option_context_new("- balancing policies on made-up clusters");
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "balance_sim: %s\n", error->message);
        return 2;
    }
    g_option_context_free(context);
    FILE *csv = csv_path ? fopen(csv_path, "w") : NULL;
    if (csv_path && !csv) {
        perror(csv_path);
        return 1;
    }
    if (csv)
        fputs("policy,case,tasks,phase,efficiency\n", csv);
    printf("%-8s %-9s %7s %11s %11s %10s %12s %13s\n", "policy", "case", "tasks", "efficiency", "last phase", "converged",
           "data moved", "decision, us");
    char **numbers = g_strsplit(list, ",", 0);
    double wanted = -1;
    for (char **number = numbers; *number; number++) {
        int tasks = atoi(*number);
        if (tasks < 2)
            continue;
        int groups = (int)ceil(sqrt(tasks) * 2);
        const struct {
            const char *name;
            int group;
        } policies[] = {{"none", 0}, {"global", tasks}, {"ring", 1}, {"groups", MIN(groups, tasks - 1)}};
        for (int k = 0; k < KINDS; k++)
            for (size_t i = 0; i < G_N_ELEMENTS(policies); i++) {
                result r = simulate((kind)k, tasks, policies[i].group, phases, csv, policies[i].name);
                char when[16] = "never";
                if (r.converged >= 0)
                    g_snprintf(when, sizeof when, "%d", r.converged);
                printf("%-8s %-9s %7d %11.4f %11.4f %10s %12.3f %13.1f\n", policies[i].name, kind_names[k], tasks, r.efficiency,
                       r.last, when, r.moved, r.decision_us);
                fflush(stdout);
                if (tasks == 100000 && k == FIXED && policies[i].group > 1 && policies[i].group < tasks)
                    wanted = r.last;
            }
    }
    g_strfreev(numbers);
    if (csv)
        fclose(csv);
    if (wanted >= 0)
        printf("100,000 tasks, speeds within a factor of 4, ring with groups: efficiency after %d phases %.4f (to reach: 0.95)\n",
               phases, wanted);
    return 0;
}
