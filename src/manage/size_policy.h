/* The number of tasks that would pay, from measured times of computing and waiting (--dome-profile), and when a running program
 * takes it (--dome-size auto). Functions of numbers; they change nothing.
 *
 * The model: between two loop boundaries a task computes, and waits for others. With m tasks on P processors
 *
 *     time(m) = (serial + work / min(m, P)) * uneven + meeting * steps(m)
 *
 * serial     what every task does alike, the same for any m
 * work       what is divided among them
 * uneven     the slowest task's computing over the mean; 1 for one task
 * meeting    waiting besides, which grows with the number of tasks: steps(m) is log2(m) or m - 1, whichever fits better
 *
 * With one number of tasks measured all computing counts as work, and waiting grows with log2(m). Each further number that is
 * measured (in another view) corrects that, and where a number was measured, its own time counts, not the model's. From half
 * of the present number to twice of it is what is predicted. */
#ifndef DOME_SRC_SIZE_POLICY_H
#define DOME_SRC_SIZE_POLICY_H

#include <glib.h>

#include <stdbool.h>

/* Measured with one number of tasks, in seconds per loop boundary. */
typedef struct dome_size_point {
    int tasks;
    double computing; /* mean of the tasks: what is not waiting for other tasks */
    double slowest;   /* largest computing of a task */
    double waiting;   /* mean */
} dome_size_point;

typedef struct dome_size_model {
    double serial, work, uneven, meeting;
    bool linear; /* steps(m) is m - 1 */
    int processors;
} dome_size_model;

/* processors: of all the program's hosts together. */
dome_size_model dome__size_fit(const dome_size_point *points, int n, int processors);
double dome__size_time(const dome_size_model *model, int tasks);

/* The facts about a program. */
typedef struct dome_size_program {
    const dome_size_point *points;
    int n, processors;
    int present;     /* its number of tasks, which must be among the points */
    int least, most; /* most 0: the number of processors */
} dome_size_program;

/* The smallest number of tasks, from `least` to `most`, whose time is at most 5 % above the shortest. *time, *now: with that
 * number, and with the present one. */
int dome__size_best(const dome_size_program *program, double *time, double *now);

/* Whether a change to that number is worth it: more tasks make the program faster by a tenth, or a tenth of them is saved. */
bool dome__size_pays(int best, int present, double time, double now);

/* ---- when a running program changes ---- */

/* Measured over WINDOW seconds and at least LOOPS boundaries, beginning SETTLE seconds after a change. A number must be the best
 * TWICE in a row, and pay. After a change, REST seconds pass; after one that failed, WAIT seconds, then twice as long each time.
 * Measurements of other numbers are forgotten after FORGET seconds. */
#define DOME_SIZE_SETTLE 1.0
#define DOME_SIZE_WINDOW 3.0
#define DOME_SIZE_LOOPS  10
#define DOME_SIZE_TWICE  2
#define DOME_SIZE_REST   10.0
#define DOME_SIZE_WAIT   30.0
#define DOME_SIZE_FORGET 600.0

typedef struct dome_size_policy dome_size_policy;

dome_size_policy *dome__size_policy_new(void);
void dome__size_policy_free(dome_size_policy *policy);

/* The state of a running program at a time (seconds); its figures since the view began. */
typedef struct dome_size_sample {
    double now;
    unsigned view;
    int tasks, processors, least, most; /* most 0: as many as there are processors */
    unsigned long loops;
    const double *waited; /* by rank: seconds */
} dome_size_sample;

/* Call it often. Returns the number of tasks to which the program is to change now; 0: none. */
int dome__size_policy_look(dome_size_policy *policy, const dome_size_sample *sample);

/* Takes the outcome of that change. */
void dome__size_policy_ended(dome_size_policy *policy, bool good, double now);

#endif
