/* What programs call by other names than OpenMP's: Dome's flush, which dome-omp writes where a program flushes; and what C++ and
 * POSIX have for one thread at a time. In a region the words of the latter lie in memory of which each task has a copy, so
 * threads of other tasks would not see them, and a thread that waits must let those of its own task go on: they become sections
 * of the runtime (openmp/turn.h), in the threads' order. */
#include <dome/openmp.h>

#include "openmp/team.h"
#include "openmp/turn.h"
#include "process/omp_heap.h"
#include "process/omp_next.h"
#include "process/omp_touch.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

void dome_omp_flush(void)
{
    dome__omp_flush_from(__builtin_return_address(0));
}

/* The same as Fortran calls it. */
void dome_omp_flush_(void);
void dome_omp_flush_(void)
{
    dome__omp_flush_from(__builtin_return_address(0));
}

/* Whether a thread of a region calls, for the program. */
static bool is_regions(const void *caller)
{
    return dome__omp_by_thread() && dome__omp_running && dome__omp_running->team->active_level > 0 &&
           dome__omp_self() == dome__omp_running && dome__omp_is_programs(caller);
}

/* ---- static variables of functions: byte 0 of the guard says that it is made, byte 1 that a thread makes it ---- */

typedef struct making {
    char *guard;
    bool mine;
} making;

static bool take_guard(void *argument)
{
    making *m = argument;
    if (!m->guard[0] && m->guard[1])
        return false;
    m->mine = !m->guard[0];
    if (m->mine)
        m->guard[1] = 1;
    return true;
}

static bool is_made(void *guard)
{
    ((char *)guard)[1] = 0;
    ((char *)guard)[0] = 1;
    return true;
}

static bool is_not_made(void *guard)
{
    ((char *)guard)[1] = 0;
    return true;
}

int own_guard_acquire(char *guard) __asm__("dome__c___cxa_guard_acquire");
int own_guard_acquire(char *guard)
{
    making m = {.guard = guard};
    if (!is_regions(__builtin_return_address(0)))
        return ((int (*)(char *))dome__omp_next("__cxa_guard_acquire"))(guard);
    dome__omp_until(DOME_OMP_IN_TURN, take_guard, &m, "a static variable that another thread makes, whose guard is", guard);
    return m.mine;
}

void own_guard_release(char *guard) __asm__("dome__c___cxa_guard_release");
void own_guard_release(char *guard)
{
    if (is_regions(__builtin_return_address(0)))
        dome__omp_try(DOME_OMP_AT_ONCE, is_made, guard);
    else
        ((void (*)(char *))dome__omp_next("__cxa_guard_release"))(guard);
}

void own_guard_abort(char *guard) __asm__("dome__c___cxa_guard_abort");
void own_guard_abort(char *guard)
{
    if (is_regions(__builtin_return_address(0)))
        dome__omp_try(DOME_OMP_AT_ONCE, is_not_made, guard);
    else
        ((void (*)(char *))dome__omp_next("__cxa_guard_abort"))(guard);
}

/* ---- mutexes, std::mutex among them ---- */

typedef int mutex_function(pthread_mutex_t *);

typedef struct attempt {
    struct __pthread_mutex_s *mutex;
    int owner, result;
} attempt;

static attempt of(pthread_mutex_t *mutex)
{
    return (attempt){&mutex->__data, (int)dome__omp_thread_id(dome__omp_self()) + 1, 0};
}

static bool lock(void *argument)
{
    attempt *a = argument;
    const int kind = a->mutex->__kind & 3;
    const bool mine = a->mutex->__lock && a->mutex->__owner == a->owner;
    if (mine && kind == PTHREAD_MUTEX_ERRORCHECK)
        a->result = EDEADLK;
    else if (mine && kind == PTHREAD_MUTEX_RECURSIVE)
        a->mutex->__count++;
    else if (a->mutex->__lock)
        return false;
    else
        a->mutex->__lock = 1, a->mutex->__owner = a->owner, a->mutex->__count = 1;
    return true;
}

static bool unlock(void *argument)
{
    const attempt *a = argument;
    if (a->mutex->__count > 1) {
        a->mutex->__count--;
        return true;
    }
    a->mutex->__count = 0;
    a->mutex->__owner = a->mutex->__lock = 0;
    return true;
}

int own_mutex_lock(pthread_mutex_t *mutex) __asm__("dome__c_pthread_mutex_lock");
int own_mutex_lock(pthread_mutex_t *mutex)
{
    static mutex_function *next;
    if (!is_regions(__builtin_return_address(0))) {
        if (!next)
            next = (mutex_function *)dome__omp_next("pthread_mutex_lock");
        return next(mutex);
    }
    attempt a = of(mutex);
    dome__omp_until(DOME_OMP_IN_TURN, lock, &a, "the mutex", mutex);
    return a.result;
}

int own_mutex_trylock(pthread_mutex_t *mutex) __asm__("dome__c_pthread_mutex_trylock");
int own_mutex_trylock(pthread_mutex_t *mutex)
{
    static mutex_function *next;
    if (!is_regions(__builtin_return_address(0))) {
        if (!next)
            next = (mutex_function *)dome__omp_next("pthread_mutex_trylock");
        return next(mutex);
    }
    attempt a = of(mutex);
    return dome__omp_try(DOME_OMP_AT_ONCE, lock, &a) && a.result == 0 ? 0 : EBUSY;
}

int own_mutex_unlock(pthread_mutex_t *mutex) __asm__("dome__c_pthread_mutex_unlock");
int own_mutex_unlock(pthread_mutex_t *mutex)
{
    static mutex_function *next;
    if (!is_regions(__builtin_return_address(0))) {
        if (!next)
            next = (mutex_function *)dome__omp_next("pthread_mutex_unlock");
        return next(mutex);
    }
    attempt a = of(mutex);
    dome__omp_try(DOME_OMP_AT_ONCE, unlock, &a);
    return 0;
}
