/* The estimate of a rank's speed, from measurements. */
#include "balance/policy_private.h"

#include <glib.h>
#include <math.h>

#define MEMORY        2.0  /* most seconds of measurement behind an estimate, so that it follows slow changes */
#define FIRST_SPREAD  0.03 /* of measurements over a second, until two can be compared */
#define SPREAD_WEIGHT 0.2  /* weight of a new deviation */
#define DEVIATION     1.25 /* standard deviation over mean deviation, for normal noise */
#define IN_DOUBT      4    /* standard deviations between a measurement and the estimate */
#define LEAST_DOUBT   0.05 /* within these limits */
#define MOST_DOUBT    0.3
#define TRIAL_FAILED  0.9   /* less than this part of the rate that the trial assumed */
#define DRIFT         0.5   /* growth per phase of the estimate of a rank without blocks */
#define DRIFT_FROM    0.001 /* of the mean, at least: a rank that stood still when it was measured must recover, too */
#define NEARLY        0.9   /* a rank that does this part of what it is estimated to do, */
#define WORKED_PART   0.6   /* and needs less than this part of the time for it, can do more: */
#define FIRST_RAISE   2.0   /* a trial with so much more; */
#define RAISE         1.3   /* with so much after one that failed */
#define ABOUT         1.25  /* a measurement so far above the upper bound agrees with it */
#define DOES_MORE     1.15  /* has succeeded when the rank does so much more */
enum { PATIENCE = 7 };      /* trials become rarer by up to a factor of two to this power */

#define LONG_MEMORY  10.0 /* seconds of the longer mean and of the line */
#define ERROR_WEIGHT 0.07 /* of a new error of a prediction */
#define BETTER       0.6  /* another model than the mean is used if its error is less than this part */
#define STEEPEST     4.0  /* factor by which a trend may change the rate */
#define SURE_GROWTH  3    /* standard errors */
enum { TRIED = 10 };      /* predictions, before another model may be used */

/* ---- models ---- */

static double clamped(double rate, double about)
{
    return CLAMP(rate, about / STEEPEST, about * STEEPEST);
}

/* The line through the seconds per cost, at the end of the last measurement. */
static void line(const dome_models *m, double *level, double *slope)
{
    double det = m->w * m->tt - m->t * m->t;
    *slope = m->count > 2 && det > 0 ? (m->w * m->ty - m->t * m->y) / det : 0;
    *level = (m->y - *slope * m->t) / m->w;
}

static double median_of_recent(const dome_models *m)
{
    double sorted[DOME_MODEL_RECENT];
    int n = MIN(m->count, DOME_MODEL_RECENT);
    for (int k = 0; k < n; k++) {
        int at = k;
        for (; at > 0 && sorted[at - 1] > m->recent[k]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = m->recent[k];
    }
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* A model's prediction of the mean rate over the next `seconds`. */
static double prediction(const dome_models *m, dome_model model, double seconds)
{
    double level, slope;
    switch (model) {
    case DOME_MODEL_LAST:
        return m->recent[(m->count - 1) % DOME_MODEL_RECENT];
    case DOME_MODEL_MEDIAN:
        return median_of_recent(m);
    case DOME_MODEL_LONG:
        return m->w / m->y;
    case DOME_MODEL_TREND:
        line(m, &level, &slope);
        level += slope * seconds / 2;
        return level > 0 ? clamped(1 / level, m->mean) : m->mean * STEEPEST;
    default:
        return m->mean;
    }
}

static void take_measurement(dome_models *m, double mean, double measured, double seconds)
{
    double keep = LONG_MEMORY / (LONG_MEMORY + seconds), at = -seconds / 2;
    m->mean = mean;
    m->seconds = seconds;
    m->recent[m->count++ % DOME_MODEL_RECENT] = measured;
    if (m->count == 2 * DOME_MODEL_RECENT)
        m->count = DOME_MODEL_RECENT;               /* the same places */
    m->tt += seconds * (seconds * m->w - 2 * m->t); /* times are relative to the end of the last measurement */
    m->t -= seconds * m->w;
    m->ty -= seconds * m->y;
    m->w = keep * m->w + seconds;
    m->t = keep * m->t + seconds * at;
    m->tt = keep * m->tt + seconds * at * at * (4.0 / 3);
    m->y = keep * m->y + seconds / measured;
    m->ty = keep * m->ty + seconds * at / measured;
}

/* How well each model has predicted a measurement. */
static void judge_models(dome_models *m, double measured, double seconds)
{
    double weight = MAX(ERROR_WEIGHT, 1.0 / (m->predicted + 1));
    dome_model best = DOME_MODEL_MEAN;
    for (int k = 0; k < DOME_MODELS; k++) {
        double error = prediction(m, (dome_model)k, seconds) / measured - 1;
        m->error[k] += weight * (error * error - m->error[k]);
        if (m->error[k] < m->error[best] * (best == DOME_MODEL_MEAN ? BETTER : 1))
            best = (dome_model)k;
    }
    m->predicted += m->predicted < TRIED;
    m->used = m->predicted == TRIED ? best : DOME_MODEL_MEAN;
}

/* The growth, if noise does not explain it. */
static double growth_of(const dome_models *m, double spread)
{
    double level, slope, det = m->w * m->tt - m->t * m->t;
    line(m, &level, &slope);
    if (!(m->predicted == TRIED && m->count > 2 && level > 0 && det > 0) ||
        m->error[DOME_MODEL_TREND] > m->error[m->used] * (1 + ERROR_WEIGHT))
        return 0;
    double deviation = spread * (m->y / m->w) * sqrt(m->w / det);
    return fabs(slope) > SURE_GROWTH * deviation ? slope / level : 0;
}

/* Seconds of measurement that give a mean with the accuracy of the model's estimate. */
static double model_seconds(const dome_speed *speed)
{
    switch (speed->models.used) {
    case DOME_MODEL_LAST:
        return speed->models.seconds;
    case DOME_MODEL_MEDIAN: /* of normal noise it is as accurate as the mean of 0.64 times as many */
        return 0.64 * MIN(speed->models.count, DOME_MODEL_RECENT) * speed->models.seconds;
    case DOME_MODEL_LONG:
        return MAX(speed->seconds, MIN(speed->models.w, LONG_MEMORY));
    case DOME_MODEL_TREND:
        return MAX(speed->seconds, MIN(speed->models.w, LONG_MEMORY) / 4);
    default:
        return speed->seconds;
    }
}

bool dome__speeds_in_doubt(const dome_speed *speeds, int ranks)
{
    bool doubt = false;
    for (int r = 0; r < ranks; r++)
        doubt |= speeds[r].doubt > 0;
    return doubt;
}

bool dome__speed_moves(const dome_speed *speed)
{
    return speed->growth != 0 || speed->models.used == DOME_MODEL_LAST;
}

double dome__speed_ahead(const dome_speed *speed, double seconds)
{
    double factor = 1 + speed->growth * seconds;
    return speed->rate / CLAMP(factor, 1 / STEEPEST, STEEPEST);
}

/* ---- the estimate ---- */

/* The deviation between a measurement and an estimate, each over its seconds, if spread is 1. */
static double deviation_over(double seconds, double more_seconds)
{
    return sqrt(1 / seconds + 1 / more_seconds);
}

static void fold_spread(dome_speed *speed, double deviation, double seconds)
{
    double sample = DEVIATION * deviation / deviation_over(seconds, speed->seconds);
    speed->spread += SPREAD_WEIGHT * (sample - speed->spread);
}

/* mean: over the last seconds, the measurement included. */
static void rest_on(dome_speed *speed, double mean, double seconds)
{
    dome_models *m = &speed->models;
    speed->seconds = MIN(seconds, MEMORY);
    speed->rate = mean;
    speed->growth = 0;
    if (m->used != DOME_MODEL_MEAN && m->predicted == TRIED)
        speed->rate = prediction(m, m->used, 0);
    speed->growth = growth_of(m, speed->spread);
    speed->noise = speed->spread / sqrt(model_seconds(speed));
}

/* All that was measured before says nothing any more. */
static void begin_anew(dome_speed *speed, double rate, double seconds)
{
    dome_models *m = &speed->models;
    m->count = m->predicted = 0;
    m->w = m->t = m->tt = m->y = m->ty = 0;
    take_measurement(m, rate, rate, seconds);
    rest_on(speed, rate, seconds);
}

static void drift(dome_speed *speed, double mean)
{
    speed->idle++;
    speed->doubt = 0;
    if (dome__rate_known(mean) && speed->rate > 0 && speed->rate < mean)
        speed->rate = MIN(MAX(speed->rate, DRIFT_FROM * mean) * (1 + ldexp(DRIFT, -speed->patience)), mean);
}

/* The first measurement ever, or the first after a time without blocks: the estimate before it was not measured. */
static void end_trial(dome_speed *speed, double measured, double seconds)
{
    bool failed = measured < TRIAL_FAILED * speed->rate;
    speed->patience = failed ? MIN(speed->patience + 1, PATIENCE) : 0;
    speed->spread = MAX(speed->spread, FIRST_SPREAD);
    speed->idle = 0;
    begin_anew(speed, measured, seconds);
}

/* All that was seen agrees with the estimate. That says nothing about noise, nor against a measurement in doubt between the
 * bounds: else a rank that waits now more and now less could never confirm one. */
static void stands(dome_speed *speed, double least, double most, double seconds)
{
    speed->changed = false;
    if (speed->doubt < least || speed->doubt > ABOUT * most)
        speed->doubt = 0;
    speed->seconds = MIN(speed->seconds + seconds, MEMORY);
    speed->noise = speed->spread / sqrt(model_seconds(speed));
}

/* The speed as the two bounds show it; its present rate: they show nothing new. */
static double between(dome_speed *speed, double least, double most)
{
    if (!(speed->rate > 0) || speed->idle || !dome__rate_known(least) || !dome__rate_known(most))
        return most;
    bool raised = speed->before > 0 && speed->rate > speed->before;
    if (raised && least > speed->before * DOES_MORE)
        speed->before = speed->wary = 0;
    if (speed->rate > most) {
        if (raised)
            speed->wary = MIN(speed->wary + 1, PATIENCE);
        speed->rest = 1 << speed->wary;
        speed->before = 0;
        return most;
    }
    if (speed->rate < least)
        return least;
    bool idles = least > NEARLY * speed->rate && least < WORKED_PART * most;
    if (!idles || (speed->doubt <= 0 && speed->rest-- > 0))
        return speed->rate;
    speed->before = speed->rate;
    return MIN(most, (speed->wary > 0 ? RAISE : FIRST_RAISE) * speed->rate);
}

bool dome__speed_between(dome_speed *speed, double least, double most, double seconds, double mean)
{
    double measured = between(speed, least, most);
    if (measured != speed->rate || speed->idle || !dome__rate_known(measured))
        return dome__speed_update(speed, measured, seconds, mean);
    stands(speed, least, most, seconds);
    return false;
}

bool dome__speed_update(dome_speed *speed, double measured, double seconds, double mean)
{
    speed->changed = false;
    if (!dome__rate_known(measured)) {
        drift(speed, mean);
        return false;
    }
    if (!(seconds > 0))
        return false;
    if (!(speed->rate > 0) || speed->idle) {
        end_trial(speed, measured, seconds);
        return false;
    }
    double expected = speed->growth != 0 ? dome__speed_ahead(speed, seconds / 2) : speed->rate;
    double doubt = speed->doubt, deviation = fabs(measured - expected) / expected;
    double explained = IN_DOUBT * speed->spread * deviation_over(seconds, speed->seconds);
    speed->doubt = 0;
    /* a measurement over more time than the whole estimate is better than the estimate */
    if (deviation <= CLAMP(explained, LEAST_DOUBT, MOST_DOUBT) || (speed->seconds < seconds && seconds <= MEMORY)) {
        fold_spread(speed, deviation, seconds);
        dome_models *m = &speed->models;
        double all = speed->seconds + seconds, mean = m->mean + seconds / all * (measured - m->mean);
        judge_models(m, measured, seconds);
        take_measurement(m, mean, measured, seconds);
        rest_on(speed, mean, all);
        return false;
    }
    if (doubt > 0 && (doubt > expected) == (measured > expected)) {
        /* The speed changed during the first of the two measurements; the second may be short. */
        speed->changed = true;
        begin_anew(speed, CLAMP(measured, doubt / 2, doubt * 2), seconds);
        return false;
    }
    speed->doubt = measured;
    if (doubt > 0) { /* off to one side and then to the other: noise */
        fold_spread(speed, MIN(deviation, MOST_DOUBT), seconds);
        rest_on(speed, speed->models.mean, speed->seconds);
    }
    return doubt == 0;
}
