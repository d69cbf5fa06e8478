/* Locks of the program: omp_lock_t is one word of 4 bytes, omp_nest_lock_t begins with two. A word is 0, or the number of the
 * thread that has it + 1. */
#include "openmp/spin.h"
#include "openmp/team.h"
#include "openmp/turn.h"

typedef struct lock {
    uint32_t owner, depth; /* omp_lock_t has no depth */
} lock;

typedef struct attempt {
    lock *lock;
    uint32_t owner, depth;
} attempt;

static attempt of(void *variable)
{
    return (attempt){.lock = variable, .owner = (uint32_t)dome__omp_thread_id(dome__omp_self()) + 1};
}

static bool set(void *argument)
{
    attempt *a = argument;
    if (a->lock->owner)
        return false;
    a->lock->owner = a->owner;
    return true;
}

static bool unset(void *argument)
{
    ((attempt *)argument)->lock->owner = 0;
    return true;
}

static bool set_nest(void *argument)
{
    attempt *a = argument;
    if (a->lock->owner && a->lock->owner != a->owner)
        return false;
    a->lock->owner = a->owner;
    a->depth = ++a->lock->depth;
    return true;
}

static bool unset_nest(void *argument)
{
    attempt *a = argument;
    if (--a->lock->depth == 0)
        a->lock->owner = 0;
    return true;
}

/* A thread that tries in vain lets the one go on that has the lock. */
static void tried(const attempt *a, bool got)
{
    dome_omp_thread *t = dome__omp_self();
    if (got)
        dome__omp_acted(t);
    else
        dome__omp_looked(t, a->lock, 0);
}

void omp_init_lock(void *variable)
{
    *(uint32_t *)variable = 0;
}

void omp_destroy_lock(void *variable)
{
    (void)variable;
}

void omp_set_lock(void *variable)
{
    attempt a = of(variable);
    dome__omp_entered(dome__omp_self());
    dome__omp_until(DOME_OMP_IN_TURN, set, &a, "the lock", variable);
}

void omp_unset_lock(void *variable)
{
    attempt a = of(variable);
    dome__omp_try(DOME_OMP_AT_ONCE, unset, &a);
}

int omp_test_lock(void *variable)
{
    attempt a = of(variable);
    bool got = dome__omp_try(DOME_OMP_AT_ONCE, set, &a);
    tried(&a, got);
    return got;
}

void omp_init_nest_lock(void *variable)
{
    *(lock *)variable = (lock){0};
}

void omp_destroy_nest_lock(void *variable)
{
    (void)variable;
}

void omp_set_nest_lock(void *variable)
{
    attempt a = of(variable);
    dome__omp_entered(dome__omp_self());
    dome__omp_until(DOME_OMP_IN_TURN, set_nest, &a, "the nestable lock", variable);
}

void omp_unset_nest_lock(void *variable)
{
    attempt a = of(variable);
    dome__omp_try(DOME_OMP_AT_ONCE, unset_nest, &a);
}

int omp_test_nest_lock(void *variable)
{
    attempt a = of(variable);
    bool got = dome__omp_try(DOME_OMP_AT_ONCE, set_nest, &a);
    tried(&a, got);
    return got ? (int)a.depth : 0;
}

void omp_init_lock_with_hint(void *variable, int hint)
{
    (void)hint;
    omp_init_lock(variable);
}

void omp_init_nest_lock_with_hint(void *variable, int hint)
{
    (void)hint;
    omp_init_nest_lock(variable);
}

#define FORTRAN(name)                                                                                                            \
    void name##_(void *variable)                                                                                                 \
    {                                                                                                                            \
        name(variable);                                                                                                          \
    }

FORTRAN(omp_init_lock)
FORTRAN(omp_destroy_lock)
FORTRAN(omp_set_lock)
FORTRAN(omp_unset_lock)
FORTRAN(omp_init_nest_lock)
FORTRAN(omp_destroy_nest_lock)
FORTRAN(omp_set_nest_lock)
FORTRAN(omp_unset_nest_lock)

int omp_test_lock_(void *variable)
{
    return omp_test_lock(variable);
}

int omp_test_nest_lock_(void *variable)
{
    return omp_test_nest_lock(variable);
}
