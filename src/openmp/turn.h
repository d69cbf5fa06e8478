/* Actions that tasks do one at a time: on locks, on the next iteration of an ordered loop, on variables that are updated
 * atomically. An attempt is a function that looks at shared words, and changes them and returns true when it may; the thread is
 * BLOCKED until it does. With one task it is a call of the function.
 *
 * The turn: an ordered attempt is made only by the thread that has the turn. It goes through the threads in order: a thread keeps
 * it until it has arrived at a barrier, has ended, or is BLOCKED. So the order of updates, and with it the result of a sum, does
 * not depend on the number of tasks. With --dome-omp-order any such attempts are made as the others. */
#ifndef DOME_SRC_OPENMP_TURN_H
#define DOME_SRC_OPENMP_TURN_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dome_omp_order {
    DOME_OMP_LOOK, /* it changes nothing, so nobody is told */
    DOME_OMP_AT_ONCE,
    DOME_OMP_IN_TURN,
} dome_omp_order;

/* Returns when the attempt has succeeded. what: for messages, the construct's name; where: the variable, or
 * NULL. */
void dome__omp_until(dome_omp_order order, bool (*attempt)(void *), void *argument, const char *what, const void *where);

/* The attempt once; its result. */
bool dome__omp_try(dome_omp_order order, bool (*attempt)(void *), void *argument);

/* One attempt where there is one task: threads that the program has created make theirs beside it. */
bool dome__omp_make(bool (*attempt)(void *), void *argument);

/* The thread's attempt has succeeded: for who watches (tasks.h). */
struct dome_omp_thread;
void dome__omp_acted_on(const struct dome_omp_thread *thread);

/* Publishes what this task has written and takes in what others have. from: the place in the program; a thread that is there
 * again and again waits for another one, and gives way. */
void dome__omp_flush_from(const void *from);

static inline __attribute__((always_inline)) void dome__omp_flush_all(void)
{
    dome__omp_flush_from(__builtin_return_address(0));
}

/* For the scheduler: a region begins, of which this task's threads are [first, end). */
void dome__omp_order_begin(uint64_t place, unsigned first, unsigned end);

/* For the scheduler: before the threads of this task meet those of others, and after. False: not all had arrived, some wait for
 * the turn; they are to meet again. */
void dome__omp_order_arrive(void);
bool dome__omp_order_met(uint64_t place);

/* For the scheduler, after a meeting: whether it was a round, in which not all had arrived. */
bool dome__omp_order_in_round(void);

/* For the scheduler, none of whose threads can go on: makes the attempts, and waits for others if none succeeds. seen: what
 * told() was before the threads looked the last time. */
void dome__omp_order_wait(uint64_t seen);

#endif
