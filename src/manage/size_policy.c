#include "manage/size_policy.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 0.05, LEAST_GAIN = 0.1, LEAST_SAVING = 0.1, LONGEST_WAIT = 3600;

/* ---- the model ---- */

static double steps(bool linear, int tasks)
{
    return tasks <= 1 ? 0 : linear ? tasks - 1 : log2(tasks);
}

/* 1 over the number of tasks that can compute at a time. */
static double part(int tasks, int processors)
{
    return 1.0 / (processors > 0 ? MIN(tasks, processors) : tasks);
}

/* computing = serial + work * part, by least squares; neither is negative. */
static void fit_computing(dome_size_model *m, const dome_size_point *points, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < n; k++) {
        const double x = part(points[k].tasks, m->processors), y = points[k].computing;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    const double spread = n * sxx - sx * sx;
    const bool several = n > 1 && spread > 1e-9 * n * sxx;
    if (several) {
        m->work = (n * sxy - sx * sy) / spread;
        m->serial = (sy - m->work * sx) / n;
    }
    if (m->work < 0) {
        m->work = 0;
        m->serial = sy / n;
    } else if (!several || m->serial < 0) {
        m->serial = 0;
        m->work = sxx > 0 ? sxy / sxx : 0;
    }
}

/* Waiting that is not for a slower task. */
static double besides(const dome_size_point *p)
{
    return MAX(p->waiting - (p->slowest - p->computing), 0);
}

/* waiting besides = meeting * steps; returns the sum of squared errors. */
static double fit_meeting(const dome_size_point *points, int n, bool linear, double *meeting)
{
    double gg = 0, gw = 0, error = 0;
    for (int k = 0; k < n; k++) {
        const double g = steps(linear, points[k].tasks);
        gg += g * g;
        gw += g * besides(&points[k]);
    }
    *meeting = gg > 0 ? gw / gg : 0;
    for (int k = 0; k < n; k++) {
        const double e = points[k].tasks > 1 ? besides(&points[k]) - *meeting * steps(linear, points[k].tasks) : 0;
        error += e * e;
    }
    return error;
}

dome_size_model dome__size_fit(const dome_size_point *points, int n, int processors)
{
    dome_size_model m = {.uneven = 1, .processors = processors};
    if (n < 1)
        return m;
    fit_computing(&m, points, n);
    double ratio = 0, several = 0, linear;
    for (int k = 0; k < n; k++)
        if (points[k].tasks > 1 && points[k].computing > 0) {
            ratio += points[k].slowest / points[k].computing;
            several++;
        }
    if (several > 0)
        m.uneven = MAX(ratio / several, 1);
    const double of_log = fit_meeting(points, n, false, &m.meeting), of_line = fit_meeting(points, n, true, &linear);
    if (several > 1 && of_line < of_log) {
        m.linear = true;
        m.meeting = linear;
    }
    return m;
}

double dome__size_time(const dome_size_model *m, int tasks)
{
    return (m->serial + m->work * part(tasks, m->processors)) * (tasks > 1 ? m->uneven : 1) +
           m->meeting * steps(m->linear, tasks);
}

/* As measured, or else by the model. */
static double time_with(const dome_size_model *m, const dome_size_point *points, int n, int tasks)
{
    for (int k = 0; k < n; k++)
        if (points[k].tasks == tasks)
            return points[k].computing + points[k].waiting;
    return dome__size_time(m, tasks);
}

int dome__size_best(const dome_size_program *program, double *time, double *now)
{
    const dome_size_point *points = program->points;
    const int n = program->n, present = program->present;
    const dome_size_model m = dome__size_fit(points, n, program->processors);
    const int limit = program->most > 0 ? program->most : MAX(program->processors, present),
              low = MAX(MAX(program->least, 1), (present + 1) / 2),
              high = MAX(MIN(limit, present > G_MAXINT / 2 ? G_MAXINT : 2 * present), low);
    double shortest = INFINITY;
    for (int k = low; k <= high; k++)
        shortest = MIN(shortest, time_with(&m, points, n, k));
    int best = low;
    while (best < high && !(time_with(&m, points, n, best) <= (1 + TOLERANCE) * shortest))
        best++;
    *time = time_with(&m, points, n, best);
    *now = time_with(&m, points, n, present);
    return best;
}

bool dome__size_pays(int best, int present, double time, double now)
{
    return best > present ? time <= (1 - LEAST_GAIN) * now : best <= (1 - LEAST_SAVING) * present;
}

/* ---- when ---- */

typedef struct measured {
    dome_size_point point;
    double at;
} measured;

struct dome_size_policy {
    GArray *measured; /* one for each number of tasks */
    bool begun;       /* the window */
    unsigned view;
    double entered; /* when that view was first seen */
    double from;    /* of the window */
    unsigned long loops;
    GArray *waited;
    int wanted, times; /* the last number that was best, and how often in a row */
    double rest_until;
    int failures;
};

dome_size_policy *dome__size_policy_new(void)
{
    dome_size_policy *p = g_new0(dome_size_policy, 1);
    p->measured = g_array_new(FALSE, TRUE, sizeof(measured));
    p->waited = g_array_new(FALSE, TRUE, sizeof(double));
    p->entered = -1;
    return p;
}

void dome__size_policy_free(dome_size_policy *p)
{
    if (!p)
        return;
    g_array_unref(p->measured);
    g_array_unref(p->waited);
    g_free(p);
}

static void begin_window(dome_size_policy *p, const dome_size_sample *s)
{
    p->begun = true;
    p->from = s->now;
    p->loops = s->loops;
    g_array_set_size(p->waited, 0);
    g_array_append_vals(p->waited, s->waited, (guint)s->tasks);
}

static dome_size_point point_of(const dome_size_policy *p, const dome_size_sample *s)
{
    const double seconds = s->now - p->from, loops = (double)(s->loops - p->loops);
    double sum = 0, least = seconds;
    for (int r = 0; r < s->tasks; r++) {
        const double waited = CLAMP(s->waited[r] - g_array_index(p->waited, double, r), 0, seconds);
        sum += waited;
        least = MIN(least, waited);
    }
    const double waiting = sum / s->tasks;
    return (dome_size_point){s->tasks, (seconds - waiting) / loops, (seconds - least) / loops, waiting / loops};
}

/* Keeps the point, and forgets old ones. */
static void keep(dome_size_policy *p, const dome_size_point *point, double now)
{
    for (guint k = p->measured->len; k-- > 0;) {
        const measured *m = &g_array_index(p->measured, measured, k);
        if (m->point.tasks == point->tasks || now - m->at > DOME_SIZE_FORGET)
            g_array_remove_index_fast(p->measured, k);
    }
    const measured fresh = {*point, now};
    g_array_append_val(p->measured, fresh);
}

static int best_of(const dome_size_policy *p, const dome_size_sample *s)
{
    const guint n = p->measured->len;
    dome_size_point *points = g_new(dome_size_point, n);
    for (guint k = 0; k < n; k++)
        points[k] = g_array_index(p->measured, measured, k).point;
    double time, now;
    const dome_size_program program = {points, (int)n, s->processors, s->tasks, s->least, s->most};
    const int best = dome__size_best(&program, &time, &now);
    g_free(points);
    return dome__size_pays(best, s->tasks, time, now) ? best : s->tasks;
}

int dome__size_policy_look(dome_size_policy *p, const dome_size_sample *s)
{
    if (p->entered < 0 || s->view != p->view) {
        p->view = s->view;
        p->entered = s->now;
        p->begun = false;
        p->wanted = p->times = 0;
    }
    if (s->tasks < 1 || s->now - p->entered < DOME_SIZE_SETTLE)
        return 0;
    if (!p->begun || (guint)s->tasks != p->waited->len) {
        begin_window(p, s);
        return 0;
    }
    if (s->now - p->from < DOME_SIZE_WINDOW || s->loops < p->loops + DOME_SIZE_LOOPS)
        return 0;
    const dome_size_point point = point_of(p, s);
    keep(p, &point, s->now);
    begin_window(p, s);
    const int best = best_of(p, s);
    p->times = best == p->wanted ? p->times + 1 : 1;
    p->wanted = best;
    return best != s->tasks && p->times >= DOME_SIZE_TWICE && s->now >= p->rest_until ? best : 0;
}

void dome__size_policy_ended(dome_size_policy *p, bool good, double now)
{
    double wait = DOME_SIZE_WAIT;
    for (int k = 0; k < p->failures && wait < LONGEST_WAIT; k++)
        wait *= 2;
    p->failures = good ? 0 : p->failures + 1;
    p->rest_until = now + (good ? DOME_SIZE_REST : MIN(wait, LONGEST_WAIT));
    p->times = 0;
}
