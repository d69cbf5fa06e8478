/* The best schedule of a history. */
#include "history.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static uint64_t *even_layout(const history *h)
{
    uint64_t *even = g_new(uint64_t, h->tasks);
    for (int r = 0; r < h->tasks; r++)
        even[r] = h->blocks / (uint64_t)h->tasks;
    return even;
}

double history_time(const history *h, const uint64_t *layouts, const bool *moves)
{
    uint64_t *even = even_layout(h);
    const uint64_t *layout = even;
    double seconds = 0;
    for (int i = 0; i < h->steps; i++) {
        if (moves[i]) {
            const uint64_t *next = layouts + i * h->tasks;
            seconds += history_move(h, layout, next);
            layout = next;
        }
        seconds += history_step(h, i, layout);
    }
    g_free(even);
    return seconds;
}

/* For each step a lower bound of the time from there to the end: all work over all speeds. */
static double *lower_bounds(const history *h)
{
    double *left = g_new(double, h->steps + 1);
    left[h->steps] = 0;
    for (int i = h->steps - 1; i >= 0; i--) {
        double speed = 0;
        for (int r = 0; r < h->tasks; r++)
            speed += 1 / h->seconds[i * h->tasks + r];
        left[i] = left[i + 1] + (double)h->blocks / speed;
    }
    return left;
}

/* The best of the schedules that move every 1, 2, 4 ... steps, and of the one that moves never. */
static double known_schedule(const history *h, const uint64_t *layouts, bool *moves)
{
    bool *tried = g_new0(bool, h->steps);
    double least = history_time(h, layouts, tried);
    memset(moves, 0, (size_t)h->steps * sizeof *moves);
    for (int period = 1; period < 2 * h->steps; period *= 2) {
        for (int i = 0; i < h->steps; i++)
            tried[i] = i % period == 0;
        double seconds = history_time(h, layouts, tried);
        if (seconds < least) {
            least = seconds;
            memcpy(moves, tried, (size_t)h->steps * sizeof *moves);
        }
    }
    g_free(tried);
    return least;
}

double history_best(const history *h, const uint64_t *layouts, bool *moves)
{
    uint64_t *even = even_layout(h);
    bool *schedule = g_new(bool, h->steps);
    double *left = lower_bounds(h), *reached = g_new(double, h->steps), best = known_schedule(h, layouts, schedule);
    int *before = g_new(int, h->steps), last = -2; /* the move before the one at a step; -1: none */
    for (int i = 0; i < h->steps; i++)
        reached[i] = INFINITY;
    for (int j = -1; j < h->steps; j++) { /* all that moved last before step j; -1: have not moved */
        const uint64_t *layout = j < 0 ? even : layouts + j * h->tasks;
        double seconds = j < 0 ? 0 : reached[j];
        int i = MAX(j, 0);
        for (; i < h->steps && seconds + left[i] < best; i++) {
            double moved = i > j ? seconds + history_move(h, layout, layouts + i * h->tasks) : INFINITY;
            if (moved < reached[i]) {
                reached[i] = moved;
                before[i] = j;
            }
            seconds += history_step(h, i, layout);
        }
        if (i == h->steps && seconds < best) {
            best = seconds;
            last = j;
        }
    }
    if (last > -2) { /* else the schedule known at first is the best */
        memset(schedule, 0, (size_t)h->steps * sizeof *schedule);
        for (int j = last; j >= 0; j = before[j])
            schedule[j] = true;
    }
    if (moves)
        memcpy(moves, schedule, (size_t)h->steps * sizeof *moves);
    g_free(even);
    g_free(schedule);
    g_free(left);
    g_free(reached);
    g_free(before);
    return best;
}
