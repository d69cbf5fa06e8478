/* balance_sim: what src/balance/policy.c decides (shares, speeds, when a move pays), on made-up clusters.
 *
 *     balance_sim [--tasks LIST] [--seconds S] [--every S] [--csv FILE] [--plot FILE.svg [--plot-tasks N]]
 *     balance_sim --histories 200 [--seed N] [--each]
 *
 * The second form compares policies with the best schedule of random histories (histories.c). The first:
 *
 * A simulated program repeats one operation on all its blocks, which takes as long as its slowest task. After
 * schedule.interval seconds comes a phase: speeds are measured, with some noise, and the policy's division is adopted if it pays.
 * Phases and moving cost time too. An oracle would at all times need all cost over all speeds; efficiency is its time
 * over the time taken. Data moved is in multiples of all data; converged: the phase since which efficiency is 0.95 or more.
 *
 * More than 10,000 tasks are simulated for 51 phases, in the cases that settle. */
#include "balance/policy.h"
#include "histories.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- clusters ---- */

typedef enum kind { FIXED, ONE_SLOW, ONE_CRAWLS, STEP, DRIFT, SPIKE, STOP, HOT_SPOT, KINDS } kind;

static const struct {
    const char *name, *title;
    bool settles; /* all happens in the first seconds */
} kinds[KINDS] = {
    [FIXED] = {"fixed", "fixed: speeds within a factor of 4", true},
    [ONE_SLOW] = {"one-slow", "one-slow: one task at a third", true},
    [ONE_CRAWLS] = {"one-crawls", "one-crawls: one task at 1 %", true},
    [STEP] = {"step", "step: a tenth at a third, 60 to 180 s", false},
    [DRIFT] = {"drift", "drift: speeds walk at random", false},
    [SPIKE] = {"spike", "spike: a tenth at a tenth for 1 s", false},
    [STOP] = {"stop", "stop: one stands still for 5 s", false},
    [HOT_SPOT] = {"hot-spot", "hot-spot: dear blocks wander", false},
};

enum { BLOCKS = 64, MOST_TASKS = 1000000, LARGE = 10000, LARGE_PHASES = 51 };
#define SPEED 3200.0 /* blocks per second of a task: an operation takes 20 ms when all is well */

typedef struct cluster {
    kind kind;
    int tasks;
    uint64_t blocks;
    double *base, *speed; /* of each task, blocks per second */
    double *costs;        /* of each block; NULL: all 1 */
    double next;          /* the second of the next change */
    int stopped;          /* the task that stands still during the next operation; -1: none */
    GRand *random;
} cluster;

static void heat_blocks(cluster *c, double centre)
{
    double blocks = (double)c->blocks, width = blocks / 20;
    for (uint64_t b = 0; b < c->blocks; b++) {
        double far = fabs((double)b - centre);
        far = MIN(far, blocks - far) / width;
        c->costs[b] = 1 + 8 * exp(-far * far);
    }
}

/* The changes at second c->next. */
static void cluster_change(cluster *c)
{
    int now = (int)c->next;
    double low = SPEED / 2, high = SPEED * 4;
    switch (c->kind) {
    case STEP:
        for (int r = 0; r < c->tasks; r += 10)
            c->speed[r] = now >= 60 && now < 180 ? c->base[r] / 3 : c->base[r];
        break;
    case DRIFT:
        for (int r = 0; r < c->tasks; r++)
            c->speed[r] = CLAMP(c->speed[r] * exp(0.05 * (2 * g_rand_double(c->random) - 1)), low, high);
        break;
    case SPIKE:
        for (int r = 0; r < c->tasks; r += 10)
            c->speed[r] = now % 37 == 13 ? c->base[r] / 10 : c->base[r];
        break;
    case STOP:
        if (now % 40 == 30)
            c->stopped = now / 40 % c->tasks;
        break;
    case HOT_SPOT:
        heat_blocks(c, fmod(now / 300.0, 1) * (double)c->blocks);
        break;
    default:
        break;
    }
    c->next++;
}

static void cluster_init(cluster *c, kind kind, int tasks, uint64_t blocks)
{
    *c = (cluster){.kind = kind, .tasks = tasks, .blocks = blocks, .stopped = -1, .random = g_rand_new_with_seed(1995)};
    c->base = g_new(double, tasks);
    c->speed = g_new(double, tasks);
    c->costs = kind == HOT_SPOT ? g_new(double, blocks) : NULL;
    for (int r = 0; r < tasks; r++) {
        c->base[r] = SPEED * (kind == FIXED || kind == DRIFT ? pow(4, g_rand_double(c->random)) : 1);
        c->speed[r] = c->base[r];
    }
    if (kind == ONE_SLOW || kind == ONE_CRAWLS)
        c->speed[tasks / 2] /= kind == ONE_SLOW ? 3 : 100;
    cluster_change(c);
}

static void cluster_clear(cluster *c)
{
    g_free(c->base);
    g_free(c->speed);
    g_free(c->costs);
    g_rand_free(c->random);
}

/* ---- a program on a cluster ---- */

typedef struct policy {
    const char *name;
    int group; /* ranks in a group; 0: no balancing */
} policy;

typedef struct run {
    cluster c;
    policy policy;
    uint64_t start, *counts, *next;
    double *work;           /* cost of each task's blocks */
    double *busy, *done;    /* since the last phase: seconds of computing, and cost worked off */
    double *rates, *noises; /* as estimated */
    dome_speed *speeds;     /* the same with what belongs to it */
    dome_flow *flow;
    dome_schedule schedule;
    GRand *noise;
    double time, ideal;    /* taken, and what the oracle would have taken */
    double now;            /* efficiency of the last operation */
    double moved;          /* blocks */
    double lost;           /* for dome__division_pays */
    double decision;       /* microseconds really spent in deciding */
    int phases, converged; /* converged: the phase since which efficiency is 0.95 or more; -1 */
    double after_50;
    FILE *csv;
    GString *curve;
} run;

static void run_init(run *s, kind kind, int tasks, uint64_t blocks, policy policy)
{
    *s = (run){.policy = policy, .converged = -1, .noise = g_rand_new_with_seed(2025)};
    cluster_init(&s->c, kind, tasks, blocks);
    s->counts = g_new(uint64_t, tasks);
    s->next = g_new(uint64_t, tasks);
    s->work = g_new(double, tasks);
    s->busy = g_new0(double, tasks);
    s->done = g_new0(double, tasks);
    s->rates = g_new0(double, tasks);
    s->noises = g_new0(double, tasks);
    s->speeds = g_new0(dome_speed, tasks);
    s->flow = g_new0(dome_flow, tasks);
    dome__schedule_init(&s->schedule);
    if (policy.group == 0)
        s->schedule.interval = s->schedule.longest;
    for (int r = 0; r < tasks; r++)
        s->counts[r] = blocks / (uint64_t)tasks + ((uint64_t)r < blocks % (uint64_t)tasks);
}

static void run_clear(run *s)
{
    cluster_clear(&s->c);
    g_free(s->counts);
    g_free(s->next);
    g_free(s->work);
    g_free(s->busy);
    g_free(s->done);
    g_free(s->rates);
    g_free(s->noises);
    g_free(s->speeds);
    g_free(s->flow);
    g_rand_free(s->noise);
}

static void find_work(run *s)
{
    uint64_t block = s->start;
    for (int r = 0; r < s->c.tasks; r++) {
        s->work[r] = s->c.costs ? 0 : (double)s->counts[r];
        for (uint64_t k = 0; s->c.costs && k < s->counts[r]; k++, block = (block + 1) % s->c.blocks)
            s->work[r] += s->c.costs[block];
    }
}

/* That the efficiency was so for some seconds from now. */
static void record(const run *s, double seconds, double efficiency)
{
    if (s->csv)
        fprintf(s->csv, "%s,%s,%d,%.4f,%d,%.6f\n", s->policy.name, kinds[s->c.kind].name, s->c.tasks, s->time, s->phases,
                efficiency);
    if (s->curve)
        g_string_append_printf(s->curve, "%.4f %.4f\n%.4f %.4f\n", MAX(s->time, 0.01), efficiency, s->time + seconds, efficiency);
}

/* Operations as long as nothing changes, at least one. */
static void operate(run *s, double until)
{
    double slowest = 0, work = 0, speed = 0, pause = 0;
    find_work(s);
    for (int r = 0; r < s->c.tasks; r++) {
        slowest = MAX(slowest, s->work[r] / s->c.speed[r]);
        work += s->work[r];
        speed += s->c.speed[r];
    }
    if (s->c.stopped >= 0 && s->work[s->c.stopped] > 0) {
        pause = 5;
        s->busy[s->c.stopped] += pause;
    }
    s->c.stopped = -1;
    double operations = MAX(ceil((until - s->time) / slowest), 1);
    for (int r = 0; r < s->c.tasks; r++) {
        s->busy[r] += operations * s->work[r] / s->c.speed[r];
        s->done[r] += operations * s->work[r];
    }
    s->now = work / speed / slowest;
    double seconds = operations * slowest + pause, ideal = operations * work / speed;
    record(s, seconds, ideal / seconds);
    s->time += seconds;
    s->ideal += ideal;
    while (s->c.next <= s->time)
        cluster_change(&s->c);
}

/* Folds what was measured since the last phase into the estimates; whether one of them is in doubt. */
static bool measure(run *s, double seconds)
{
    double mean = 0, noise = 0, spread = 0;
    int tasks = s->c.tasks, working = 0;
    bool doubt = s->schedule.changed = s->schedule.moves = false;
    for (int r = 0; r < tasks; r++)
        if (s->busy[r] > 0) {
            mean += s->done[r] / s->busy[r];
            working++;
        }
    for (int r = 0; r < tasks; r++) {
        double error = (0.005 + 0.03 * sqrt(0.05 / seconds)) * (2 * g_rand_double(s->noise) - 1);
        double measured = s->busy[r] > 0 ? s->done[r] / s->busy[r] * (1 + error) : 0;
        doubt |= dome__speed_update(&s->speeds[r], measured, seconds, mean / working);
        s->schedule.changed |= s->speeds[r].changed;
        s->schedule.moves |= dome__speed_moves(&s->speeds[r]);
        s->rates[r] = s->speeds[r].rate;
        s->noises[r] = s->speeds[r].noise;
        noise += s->noises[r] / tasks;
        spread += s->speeds[r].spread / tasks;
        s->busy[r] = s->done[r] = 0;
    }
    s->schedule.noise = noise;
    s->schedule.spread = spread;
    return doubt;
}

/* Seconds that a phase takes: a reduction over all tasks, and who decides for many hears of all of them. */
static double phase_seconds(const run *s)
{
    return 0.0002 + 0.00002 * log2(s->c.tasks) + (s->policy.group > 1 ? 3e-7 * MIN(s->policy.group, s->c.tasks) : 0);
}

/* Blocks of 8 KiB at 100 MB/s, all tasks at once. */
static double moving_seconds(uint64_t busiest)
{
    return 0.001 + 0.00008 * (double)busiest;
}

static void balance(run *s, double seconds)
{
    s->schedule.phase = phase_seconds(s);
    s->time += s->schedule.phase;
    bool doubt = measure(s, seconds);
    dome_load load = {.ranks = s->c.tasks,
                      .blocks = s->c.blocks,
                      .start = s->start,
                      .counts = s->counts,
                      .rates = s->rates,
                      .costs = s->c.costs,
                      .topology = DOME_RING,
                      .noises = s->noises};
    dome_division division = {s->start, s->next};
    gint64 begin = g_get_monotonic_time();
    dome__policy_groups(&load, s->policy.group, s->flow, &division);
    uint64_t busiest, moves = dome__division_moves(&load, &division, &busiest);
    bool diffuses = s->policy.group < s->c.tasks;
    if (diffuses) /* several moves in a row are how it gets balanced */
        s->schedule.caution = 0;
    double then = diffuses ? dome__oracle_time(&load) : dome__division_time(&load, &division);
    bool pays = dome__division_pays(&s->schedule, &load, &division, then, moving_seconds(busiest), &s->lost);
    s->decision += (double)(g_get_monotonic_time() - begin);
    if (pays) {
        s->time += moving_seconds(busiest);
        s->moved += (double)moves;
        s->lost = 0;
        memcpy(s->counts, s->next, (size_t)s->c.tasks * sizeof *s->counts);
        s->start = division.start;
    }
    dome__schedule_next(&s->schedule, pays, doubt);
}

/* Runs until a second, or to the end of a phase if that comes first. */
static void simulate(run *s, double seconds, int phases)
{
    while (s->time < seconds && s->phases < phases) {
        double begin = s->time, due = MIN(begin + s->schedule.interval, seconds);
        while (s->time < due)
            operate(s, MIN(due, s->c.next));
        if (s->policy.group > 0)
            balance(s, s->time - begin);
        s->phases++;
        if (s->now < 0.95)
            s->converged = -1;
        else if (s->converged < 0)
            s->converged = s->phases;
        if (s->phases <= LARGE_PHASES) /* the last: what comes after phase 50 */
            s->after_50 = s->now;
    }
}

/* ---- plot ---- */

/* Blue, vermilion, green and grey of Okabe and Ito, which colour-blind people can tell apart; and widths and dashes. */
static const char *const styles[] = {"lc rgb '#999999' lw 2 dt 1", "lc rgb '#0072B2' lw 2 dt 1", "lc rgb '#D55E00' lw 1.3 dt 1",
                                     "lc rgb '#009E73' lw 1.3 dt (8,4)"};

typedef struct plot {
    GString *data[KINDS];
    int tasks;
} plot;

/* Known before the simulation. */
static bool can_draw(const char *file)
{
    char *found = g_find_program_in_path("gnuplot");
    FILE *out = found ? fopen(file, "w") : NULL;
    if (!found)
        fputs("balance_sim: --plot needs gnuplot (Debian: gnuplot-nox)\n", stderr);
    else if (!out)
        fprintf(stderr, "balance_sim: %s: %s\n", file, g_strerror(errno));
    else
        fclose(out);
    g_free(found);
    return out;
}

static int draw(const plot *p, const char *file, const policy *policies, int n, double seconds)
{
    FILE *out = popen("gnuplot", "w");
    if (!out) {
        fprintf(stderr, "balance_sim: gnuplot: %s\n", g_strerror(errno));
        return 1;
    }
    char **parts = g_strsplit(file, "'", 0), *quoted = g_strjoinv("''", parts);
    fprintf(out,
            "set terminal svg size 1560,820 font 'sans,13' background '#ffffff'\nset output '%s'\n"
            "set multiplot layout 2,4 title 'Efficiency (time of an oracle / time taken) of balancing policies, %d simulated "
            "tasks' font ',17'\nset yrange [0:1.05]\nset grid ytics lc rgb '#dddddd'\nset border 3\nset tics nomirror\n"
            "set ylabel 'efficiency'\nset key bottom right\n",
            quoted, p->tasks);
    g_strfreev(parts);
    g_free(quoted);
    for (int k = 0; k < KINDS; k++) {
        fprintf(out, "%s", p->data[k]->str);
        fprintf(out, "set title \"%s\" font ',14'\nset xlabel 'simulated time, s%s'\n", kinds[k].title,
                kinds[k].settles ? " (log)" : "");
        fprintf(out, kinds[k].settles ? "set logscale x\nset xrange [0.01:%g]\n" : "unset logscale x\nset xrange [0:%g]\n",
                seconds);
        for (int i = 0; i < n; i++)
            fprintf(out, "%s $d%d_%d with lines %s title '%s'", i ? "," : "plot", k, i, styles[i], policies[i].name);
        fputs("\nunset key\n", out);
    }
    fputs("unset multiplot\n", out);
    if (pclose(out) != 0) {
        fprintf(stderr, "balance_sim: gnuplot could not draw %s\n", file);
        return 1;
    }
    return 0;
}

/* ---- all of it ---- */

typedef struct options {
    double seconds, every;
    FILE *csv;
    plot *plot;
} options;

static run simulate_one(kind kind, int tasks, policy policy, int number, const options *o)
{
    run s;
    run_init(&s, kind, tasks, (uint64_t)tasks * BLOCKS, policy);
    if (o->every > 0)
        s.schedule.interval = s.schedule.shortest = s.schedule.longest = o->every;
    s.csv = o->csv;
    if (o->plot && o->plot->tasks == tasks) {
        s.curve = o->plot->data[kind];
        g_string_append_printf(s.curve, "$d%d_%d << END\n", (int)kind, number);
    }
    simulate(&s, o->seconds, tasks > LARGE ? LARGE_PHASES : G_MAXINT);
    if (s.curve)
        g_string_append(s.curve, "END\n");
    run_clear(&s);
    return s;
}

static void print_result(const run *s)
{
    char when[16] = "-";
    if (s->converged >= 0 && s->policy.group > 0)
        g_snprintf(when, sizeof when, "%d", s->converged);
    int phases = s->policy.group > 0 ? s->phases : 0;
    printf("%-11s %-7s %7d %8.1f %11.3f %11.3f %7d %10s %11.2f %13.1f\n", kinds[s->c.kind].name, s->policy.name, s->c.tasks,
           s->time, s->ideal / s->time, s->now, phases, when, s->moved / (double)s->c.blocks, phases ? s->decision / phases : 0);
    fflush(stdout);
}

/* Time over the oracle's after ten phases of the ring, one of six tasks slowed to a third; the worst of many numbers of blocks.
 */
static void print_ring(void)
{
    double worst = 0, mean = 0, excess = 0;
    int runs = 0;
    uint64_t worst_blocks = 0;
    for (uint64_t blocks = 96; blocks <= 512; blocks += 4, runs++) {
        run s;
        run_init(&s, ONE_SLOW, 6, blocks, (policy){"ring", 1});
        simulate(&s, INFINITY, 10);
        operate(&s, s.time);
        double ratio = 1 / s.now, block = 6 - 2.0 / 3; /* a block too many at a task of full speed, as a multiple of the oracle */
        if (ratio > worst) {
            worst = ratio;
            worst_blocks = blocks;
        }
        excess = MAX(excess, ratio - block / (double)blocks);
        mean += ratio;
        run_clear(&s);
    }
    printf("6 tasks, one slowed to a third, ring, after 10 phases, 96 to 512 blocks: time over oracle %.3f in the mean, at most "
           "%.3f "
           "(%d blocks), less one block %.3f (to reach: 1.10)\n",
           mean / runs, worst, (int)worst_blocks, excess);
}

/* The numbers of a list with commas, ended by 0. NULL: there is something else in it. */
static int *parse_list(const char *list)
{
    char **words = g_strsplit(list, ",", 0);
    int *numbers = g_new0(int, g_strv_length(words) + 1), n = 0;
    for (char **word = words; *word; word++) {
        guint64 value;
        if (!g_ascii_string_to_unsigned(*word, 10, 2, MOST_TASKS, &value, NULL)) {
            n = 0;
            break;
        }
        numbers[n++] = (int)value;
    }
    g_strfreev(words);
    if (n == 0)
        g_clear_pointer(&numbers, g_free);
    return numbers;
}

static void simulate_all(const int *tasks, const options *o)
{
    printf("%-11s %-7s %7s %8s %11s %11s %7s %10s %11s %13s\n", "case", "policy", "tasks", "seconds", "efficiency", "at the end",
           "phases", "converged", "data moved", "decision, us");
    double wanted = -1;
    for (; *tasks; tasks++)
        for (int k = 0; k < KINDS; k++) {
            if (*tasks > LARGE && !kinds[k].settles)
                continue;
            int group = MIN((int)ceil(2 * sqrt(*tasks)), (*tasks + 1) / 2);
            policy policies[] = {{"none", 0}, {"global", *tasks}, {"ring", 1}, {"groups", group}};
            for (int i = 0; i < (int)G_N_ELEMENTS(policies); i++) {
                run s = simulate_one((kind)k, *tasks, policies[i], i, o);
                print_result(&s);
                if (*tasks == 100000 && k == FIXED && i == 3)
                    wanted = s.after_50;
            }
        }
    print_ring();
    if (wanted >= 0)
        printf("100,000 tasks, speeds within a factor of 4, ring with groups: efficiency after 50 phases %.3f (to reach: 0.95)\n",
               wanted);
}

/* Writes the results to these files, if they are named. Returns the exit status. */
static int simulate_into(const int *tasks, const options *times, const char *csv_path, const char *plot_path, int plot_tasks)
{
    if (plot_path && !can_draw(plot_path))
        return 1;
    int status = 0;
    plot p = {.tasks = plot_tasks};
    for (int k = 0; k < KINDS; k++)
        p.data[k] = g_string_new(NULL);
    options o = {times->seconds, times->every, csv_path ? fopen(csv_path, "w") : NULL, plot_path ? &p : NULL};
    if (csv_path && !o.csv) {
        fprintf(stderr, "balance_sim: %s: %s\n", csv_path, g_strerror(errno));
        return 1;
    }
    if (o.csv)
        fputs("policy,case,tasks,seconds,phase,efficiency\n", o.csv);
    simulate_all(tasks, &o);
    if (o.csv && fclose(o.csv) != 0) {
        fprintf(stderr, "balance_sim: %s: %s\n", csv_path, g_strerror(errno));
        status = 1;
    }
    const policy names[] = {{"none", 0}, {"global", 0}, {"ring", 0}, {"groups", 0}};
    if (plot_path && draw(&p, plot_path, names, (int)G_N_ELEMENTS(names), times->seconds) != 0)
        status = 1;
    for (int k = 0; k < KINDS; k++)
        g_string_free(p.data[k], TRUE);
    return status;
}

int main(int argc, char **argv)
{
    double seconds = 300, every = 0;
    int plot_tasks = 64, histories = 0, seed = 1995;
    gboolean each = FALSE;
    char *list = NULL, *csv_path = NULL, *plot_path = NULL;
    const GOptionEntry entries[] = {
        {"tasks", 0, 0, G_OPTION_ARG_STRING, &list, "Numbers of tasks, with commas between them (4,6,64,1000,100000)", "LIST"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "Simulated time of a run (300)", "S"},
        {"every", 0, 0, G_OPTION_ARG_DOUBLE, &every, "Balance at fixed intervals (adaptive)", "S"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_path, "Write efficiency over time", "FILE"},
        {"plot", 0, 0, G_OPTION_ARG_FILENAME, &plot_path, "Draw it as SVG", "FILE"},
        {"plot-tasks", 0, 0, G_OPTION_ARG_INT, &plot_tasks, "For this number of tasks (64)", "N"},
        {"histories", 0, 0, G_OPTION_ARG_INT, &histories, "Compare policies with the best schedules of N random histories", "N"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "Of the first history (1995)", "N"},
        {"each", 0, 0, G_OPTION_ARG_NONE, &each, "Print a line for each history", NULL},
        {0}};
    GOptionContext *context = g_option_context_new("- balancing policies on made-up clusters");
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        fprintf(stderr, "balance_sim: %s\n", error->message);
        return 2;
    }
    g_option_context_free(context);
    if (histories > 0) {
        compare_histories(histories, (uint32_t)seed, each);
        return 0;
    }
    int *tasks = parse_list(list ? list : "4,6,64,1000,100000");
    bool plotted = !plot_path;
    for (int i = 0; tasks && tasks[i]; i++)
        plotted |= tasks[i] == plot_tasks;
    if (!tasks || argc > 1 || !plotted || !(seconds > 0 && seconds <= 1e6) || !(every >= 0)) {
        fprintf(stderr, "balance_sim: %s\n",
                !tasks     ? "--tasks wants numbers from 2 to 1000000 with commas between them"
                : argc > 1 ? "unknown argument (--help shows the options)"
                : !plotted ? "--plot-tasks is not one of --tasks"
                           : "--seconds wants up to 1e6, and --every no negative number");
        return 2;
    }
    int status = simulate_into(tasks, &(options){seconds, every, NULL, NULL}, csv_path, plot_path, plot_tasks);
    g_free(tasks);
    g_free(list);
    g_free(csv_path);
    g_free(plot_path);
    return status;
}
