/* The table of policies against the best schedule. */
#include "histories.h"

#include "history.h"

#include <glib.h>
#include <stdio.h>

enum { MOST_POLICIES = 16, STEPS_OF_ALL = 1200 };

typedef struct figure {
    double sum, worst;
    int count;
} figure;

static void count(figure *f, double ratio)
{
    f->sum += ratio;
    f->worst = MAX(f->worst, ratio);
    f->count++;
}

static void print_row(const char *name, const figure *kinds, const figure *all)
{
    printf("%-10s", name);
    for (int k = 0; k < HISTORY_KINDS; k++)
        printf("  %5.3f %5.3f", kinds[k].sum / MAX(kinds[k].count, 1), kinds[k].worst);
    printf("  %6.3f %6.3f\n", all->sum / MAX(all->count, 1), all->worst);
}

/* Cost that grows linearly in a task or two, and moves that each cost a second or so whatever they move. */
static void print_growth(int histories, uint32_t seed)
{
    figure over_last = {0}, over_best = {0};
    for (int n = 0; n < histories; n++) {
        history *h = history_new(STEEP_GROWTH, 4 + n % 5, STEPS_OF_ALL, seed + (uint32_t)n);
        uint64_t *layouts = history_layouts(h);
        double seconds = replay(h, "Dome").seconds;
        count(&over_last, seconds / replay(h, "last speed").seconds);
        count(&over_best, seconds / history_best(h, layouts, NULL));
        g_free(layouts);
        history_free(h);
    }
    printf(
        "cost that grows linearly, %d histories: time over shares by the last speeds %.3f in the mean (to reach: 0.90), at most "
        "%.3f; over the best schedule of shares by the present speeds %.3f\n",
        histories, over_last.sum / histories, over_last.worst, over_best.sum / histories);
}

void compare_histories(int histories, uint32_t seed, bool each)
{
    figure kinds[MOST_POLICIES][HISTORY_KINDS] = {0}, all[MOST_POLICIES] = {0};
    for (int n = 0; n < histories; n++) {
        history_kind kind = (history_kind)(n % HISTORY_KINDS);
        history *h = history_new(kind, 4 + n / HISTORY_KINDS % 5, STEPS_OF_ALL, seed + (uint32_t)n);
        uint64_t *layouts = history_layouts(h);
        double best = history_best(h, layouts, NULL);
        if (each)
            printf("%3d %-9s %d tasks, best %6.2f s, all data %6.3f s:", n, history_names[kind], h->tasks, best,
                   h->per_block * (double)h->blocks / h->tasks);
        for (int p = 0; replay_names[p]; p++) {
            replay_result r = replay(h, replay_names[p]);
            count(&kinds[p][kind], r.seconds / best);
            count(&all[p], r.seconds / best);
            if (each)
                printf("  %s %.3f (%d of %d, %.2f s)", replay_names[p], r.seconds / best, r.moves, r.phases, r.moved);
        }
        if (each)
            puts("");
        g_free(layouts);
        history_free(h);
    }
    printf("time over the best schedule, %d histories of %d steps: mean and worst\n%-10s", histories, STEPS_OF_ALL, "");
    for (int k = 0; k < HISTORY_KINDS; k++)
        printf("  %-11s", history_names[k]);
    puts("  all (to reach: 1.05 1.15)");
    for (int p = 0; replay_names[p]; p++)
        print_row(replay_names[p], kinds[p], &all[p]);
    print_growth((histories + 4) / 5, seed);
}
