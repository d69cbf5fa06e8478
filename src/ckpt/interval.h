/* The computing time between two checkpoints: pure functions of numbers, in seconds.
 *
 * J. W. Young, "A first order approximation to the optimum checkpoint interval", Communications of the ACM 17 (1974). J. T. Daly,
 * "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer Systems 22 (2006).
 */
#ifndef DOME_SRC_CKPT_INTERVAL_H
#define DOME_SRC_CKPT_INTERVAL_H

/* sqrt(2 cost mtbf) */
double dome__interval_young(double cost, double mtbf);

/* Daly's equation 20: the computing time between the end of one checkpoint and the beginning of the next that minimizes the
 * expected run time, if writing one costs `cost` and failures are `mtbf` apart on average. mtbf if cost is at least twice that.
 */
double dome__interval_daly(double cost, double mtbf);

/* The same to the first checkpoint, which shows what one costs: a second, or less if even that is too long. The program stops for
 * `copying`: so long that this is not more than a tenth of the time. every: the interval that is assumed until then. */
double dome__interval_first(double every, double copying);

#endif
