/* omp_get_* and omp_set_*: what a thread asks about itself, its team and its variables. Fortran's names, which end in `_`, take
 * addresses. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "openmp/icv.h"
#include "openmp/team.h"

#define FORTRAN_GET(type, name)                                                                                                  \
    type name##_(void)                                                                                                           \
    {                                                                                                                            \
        return name();                                                                                                           \
    }
#define FORTRAN_SET(name)                                                                                                        \
    void name##_(const int *value)                                                                                               \
    {                                                                                                                            \
        name(*value);                                                                                                            \
    }                                                                                                                            \
    void name##_8_(const long *value)                                                                                            \
    {                                                                                                                            \
        name((int)*value);                                                                                                       \
    }
#define FORTRAN_OF(name)                                                                                                         \
    int name##_(const int *of)                                                                                                   \
    {                                                                                                                            \
        return name(*of);                                                                                                        \
    }                                                                                                                            \
    int name##_8_(const long *of)                                                                                                \
    {                                                                                                                            \
        return name((int)*of);                                                                                                   \
    }

static dome_omp_variables *variables(void)
{
    return &dome__omp_self()->variables;
}

/* ---- teams ---- */

int omp_get_thread_num(void)
{
    return (int)dome__omp_self()->number;
}

int omp_get_num_threads(void)
{
    return (int)dome__omp_self()->team->size;
}

/* A library that hears of more divides its work, and has parts of it wait for each other. */
int omp_get_max_threads(void)
{
    const dome_omp_variables *v = variables();
    unsigned most = v->thread_limit < v->threads ? v->thread_limit : v->threads;
    if (dome__omp_is_library(__builtin_return_address(0)))
        return 1;
    return (int)(most < DOME_OMP_MAX_THREADS ? most : DOME_OMP_MAX_THREADS);
}

int omp_get_max_threads_(void)
{
    return dome__omp_is_library(__builtin_return_address(0)) ? 1 : omp_get_max_threads();
}

int omp_get_num_procs(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (int)processors : 1;
}

int omp_in_parallel(void)
{
    return dome__omp_self()->team->active_level > 0;
}

int omp_get_level(void)
{
    return (int)dome__omp_self()->team->level;
}

int omp_get_active_level(void)
{
    return (int)dome__omp_self()->team->active_level;
}

/* All regions around a thread have one thread, but one. */
int omp_get_ancestor_thread_num(int level)
{
    const dome_omp_thread *t = dome__omp_self();
    if (level < 0 || level > (int)t->team->level)
        return -1;
    return level && level == (int)dome__omp_active_team()->level && t->team->active_level ? (int)dome__omp_thread_id(t) : 0;
}

int omp_get_team_size(int level)
{
    const dome_omp_thread *t = dome__omp_self();
    if (level < 0 || level > (int)t->team->level)
        return -1;
    return level && level == (int)dome__omp_active_team()->level && t->team->active_level ? (int)dome__omp_active_team()->size
                                                                                          : 1;
}

int omp_in_final(void)
{
    return dome__omp_self()->final;
}

FORTRAN_GET(int, omp_get_thread_num)
FORTRAN_GET(int, omp_get_num_threads)
FORTRAN_GET(int, omp_get_num_procs)
FORTRAN_GET(int, omp_in_parallel)
FORTRAN_GET(int, omp_get_level)
FORTRAN_GET(int, omp_get_active_level)
FORTRAN_GET(int, omp_in_final)
FORTRAN_OF(omp_get_ancestor_thread_num)
FORTRAN_OF(omp_get_team_size)

/* ---- variables ---- */

void omp_set_num_threads(int threads)
{
    variables()->threads = threads > 0 ? (unsigned)threads : 1;
}

void omp_set_dynamic(int dynamic)
{
    variables()->dynamic = dynamic != 0;
}

int omp_get_dynamic(void)
{
    return variables()->dynamic;
}

enum { SUPPORTED_LEVELS = 255 };

void omp_set_max_active_levels(int levels)
{
    if (levels >= 0)
        variables()->active_levels = levels < SUPPORTED_LEVELS ? levels : SUPPORTED_LEVELS;
}

int omp_get_max_active_levels(void)
{
    return variables()->active_levels;
}

int omp_get_supported_active_levels(void)
{
    return SUPPORTED_LEVELS;
}

void omp_set_nested(int nested)
{
    if (nested)
        omp_set_max_active_levels(SUPPORTED_LEVELS);
    else if (omp_get_max_active_levels() > 1)
        omp_set_max_active_levels(1);
}

int omp_get_nested(void)
{
    const dome_omp_thread *t = dome__omp_self();
    return t->variables.active_levels > (int)t->team->active_level && t->variables.active_levels > 1;
}

void omp_set_schedule(unsigned kind, int chunk)
{
    unsigned schedule = kind & 7;
    if (schedule < DOME_OMP_STATIC || schedule > DOME_OMP_AUTO)
        return;
    dome_omp_variables *v = variables();
    v->schedule = kind;
    if (schedule != DOME_OMP_AUTO)
        v->chunk = chunk >= 1 ? chunk : schedule != DOME_OMP_STATIC;
}

void omp_get_schedule(unsigned *kind, int *chunk)
{
    *kind = variables()->schedule;
    *chunk = variables()->chunk;
}

int omp_get_thread_limit(void)
{
    return (int)variables()->thread_limit;
}

int omp_get_cancellation(void)
{
    return dome__omp_environment()->cancellation;
}

int omp_get_max_task_priority(void)
{
    return dome__omp_environment()->max_task_priority;
}

FORTRAN_SET(omp_set_num_threads)
FORTRAN_SET(omp_set_dynamic)
FORTRAN_SET(omp_set_nested)
FORTRAN_SET(omp_set_max_active_levels)
FORTRAN_GET(int, omp_get_dynamic)
FORTRAN_GET(int, omp_get_nested)
FORTRAN_GET(int, omp_get_max_active_levels)
FORTRAN_GET(int, omp_get_supported_active_levels)
FORTRAN_GET(int, omp_get_thread_limit)
FORTRAN_GET(int, omp_get_cancellation)
FORTRAN_GET(int, omp_get_max_task_priority)

void omp_set_schedule_(const unsigned *kind, const int *chunk)
{
    omp_set_schedule(*kind, *chunk);
}

void omp_set_schedule_8_(const unsigned *kind, const long *chunk)
{
    omp_set_schedule(*kind, (int)*chunk);
}

void omp_get_schedule_(unsigned *kind, int *chunk)
{
    omp_get_schedule(kind, chunk);
}

void omp_get_schedule_8_(unsigned *kind, long *chunk)
{
    int got;
    omp_get_schedule(kind, &got);
    *chunk = got;
}

/* ---- time ---- */

double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double omp_get_wtick(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + (double)tick.tv_nsec / 1e9;
}

FORTRAN_GET(double, omp_get_wtime)
FORTRAN_GET(double, omp_get_wtick)

/* ---- the environment ---- */

void omp_display_env(int verbose)
{
    dome__omp_environment_display(verbose != 0);
}

void omp_display_env_(const int *verbose)
{
    omp_display_env(*verbose);
}

void omp_display_env_8_(const long *verbose)
{
    omp_display_env(*verbose != 0);
}
