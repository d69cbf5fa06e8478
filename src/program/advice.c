#include "program/advice.h"

#include <glib.h>

/* A shorter run gets no advice: its figures mean little. */
static const double SHORT = 0.2;

/* Thresholds for advice: shares of the time, and the ratio of the largest computing time to the mean. */
static const double MUCH_WAITING = 0.25, MUCH_WORK_BESIDES = 0.1, UNEVEN = 1.3;

/* Seconds of computing between two communications that are too short for a network. */
static const double FINE = 200e-6;

/* Advice on too much balancing, according to the program's options. */
static char *balancing_less(const dome_figures *f)
{
    double percent = 100 * f->balancing;
    if (f->random)
        return g_strdup_printf(
            "balancing takes %.0f %% of the time: --dome-balance random moves data all the time and is for tests; "
            "--dome-balance global moves it where that pays",
            percent);
    if (f->every)
        return g_strdup_printf("balancing takes %.0f %% of the time, with a phase every %" G_GUINT64_FORMAT
                               " operations: a larger --dome-balance-every, or leave it out to balance as often as pays",
                               percent, f->every);
    return g_strdup_printf("balancing takes %.0f %% of the time: --dome-balance none leaves data where it is", percent);
}

char *dome__advice(const dome_figures *f)
{
    if (f->seconds < SHORT)
        return NULL;
    if (f->checkpoints > MUCH_WORK_BESIDES && !f->automatic)
        return g_strdup_printf(
            "checkpoints hold the program up for %.0f %% of the time: --dome-checkpoint-every auto writes as many as "
            "pay",
            100 * f->checkpoints);
    if (f->tasks == 1)
        return NULL;
    if (f->crowd > f->processors && f->waiting + f->without > MUCH_WAITING)
        return g_strdup_printf(
            "%d tasks share the %d processor%s of host %s; they have none for %.0f %% of the time, and wait for each "
            "other for %.0f %%: --dome-tasks %d, or more hosts",
            f->crowd, f->processors, f->processors == 1 ? "" : "s", f->host, 100 * f->without, 100 * f->waiting, f->processors);
    if (f->without > MUCH_WAITING)
        return g_strdup_printf(
            "tasks have no processor for %.0f %% of the time: other programs use the processors, or a limit does not "
            "let tasks have more",
            100 * f->without);
    if (f->balancing > MUCH_WORK_BESIDES)
        return balancing_less(f);
    if (f->waiting > MUCH_WAITING && f->imbalance > UNEVEN) {
        if (!f->balances)
            return g_strdup_printf(
                "task %d computes %.1f times as long as the mean and others wait for it: --dome-balance global moves "
                "data away from it",
                f->slowest, f->imbalance);
        if (f->phases == 0)
            return g_strdup_printf("task %d computes %.1f times as long as the mean, but there was no phase of balancing: call "
                                   "dome_checkpoint in the main loop, or run for longer",
                                   f->slowest, f->imbalance);
        return g_strdup_printf(
            "task %d computes %.1f times as long as the mean, in spite of balancing: is its work in vectors that may "
            "move (DOME_DYNAMIC), in blocks that are many and small?",
            f->slowest, f->imbalance);
    }
    if (f->waiting > 2 * MUCH_WAITING && f->between < FINE)
        return g_strdup_printf(
            "tasks wait for %.0f %% of the time, with %.0f us of computing between two communications: fewer tasks, "
            "longer vectors, or fewer reductions",
            100 * f->waiting, 1e6 * f->between);
    return NULL;
}
