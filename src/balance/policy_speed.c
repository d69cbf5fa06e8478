/* What a rank knows of its speed. */
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
enum { PATIENCE = 7 };      /* trials become rarer by up to a factor of two to this power */

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

static void rest_on(dome_speed *speed, double rate, double seconds)
{
    speed->rate = rate;
    speed->seconds = MIN(seconds, MEMORY);
    speed->noise = speed->spread / sqrt(speed->seconds);
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
    rest_on(speed, measured, seconds);
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
    double doubt = speed->doubt, deviation = fabs(measured - speed->rate) / speed->rate;
    double explained = IN_DOUBT * speed->spread * deviation_over(seconds, speed->seconds);
    speed->doubt = 0;
    /* a measurement over more time than the whole estimate is better than the estimate */
    if (deviation <= CLAMP(explained, LEAST_DOUBT, MOST_DOUBT) || (speed->seconds < seconds && seconds <= MEMORY)) {
        fold_spread(speed, deviation, seconds);
        double all = speed->seconds + seconds;
        rest_on(speed, speed->rate + seconds / all * (measured - speed->rate), all);
        return false;
    }
    if (doubt > 0 && (doubt > speed->rate) == (measured > speed->rate)) {
        /* The speed changed during the first of the two measurements; the second may be short. */
        speed->changed = true;
        rest_on(speed, CLAMP(measured, doubt / 2, doubt * 2), seconds);
        return false;
    }
    speed->doubt = measured;
    if (doubt > 0) { /* off to one side and then to the other: noise */
        fold_spread(speed, MIN(deviation, MOST_DOUBT), seconds);
        rest_on(speed, speed->rate, speed->seconds);
    }
    return doubt == 0;
}
