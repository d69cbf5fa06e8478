/* teams: the league's teams run one after the other; in each, a region may have as many threads as ever. */
#include "openmp/icv.h"
#include "openmp/team.h"

static dome_omp_league *league(void)
{
    return &dome__omp_environment()->league;
}

typedef struct limit {
    dome_omp_thread *thread;
    unsigned before;
} limit;

/* thread_limit, or what the environment says of it. */
static limit limit_threads(unsigned asked)
{
    dome_omp_thread *t = dome__omp_self();
    limit l = {t, t->variables.thread_limit};
    if (!asked)
        asked = league()->thread_limit;
    if (asked)
        t->variables.thread_limit = asked;
    return l;
}

/* libgomp's default too, where the environment does not say. */
enum { DEFAULT_TEAMS = 3 };

void GOMP_teams_reg(void (*function)(void *), void *data, unsigned teams, unsigned thread_limit, unsigned flags)
{
    (void)flags;
    limit l = limit_threads(thread_limit);
    if (!teams)
        teams = league()->teams;
    if (!teams)
        teams = DEFAULT_TEAMS;
    for (unsigned k = 0; k < teams; k++) { /* counted on the stack: a program that goes on from a checkpoint is in here */
        league()->number = k;
        league()->size = teams;
        function(data);
    }
    league()->number = 0;
    league()->size = 1;
    l.thread->variables.thread_limit = l.before;
}

/* In a target region, which the compiler's code repeats for each team. */
bool GOMP_teams4(unsigned least, unsigned most, unsigned thread_limit, bool first)
{
    dome_omp_league *l = league();
    (void)least;
    if (first) {
        limit_threads(thread_limit);
        l->size = most ? most : 1;
        l->number = 0;
        return true;
    }
    if (l->number + 1 < l->size) {
        l->number++;
        return true;
    }
    l->number = 0;
    l->size = 1;
    return false;
}

void GOMP_teams(unsigned teams, unsigned thread_limit)
{
    (void)teams;
    limit_threads(thread_limit);
}

int omp_get_num_teams(void)
{
    return (int)league()->size;
}

int omp_get_team_num(void)
{
    return (int)league()->number;
}

void omp_set_num_teams(int teams)
{
    if (teams >= 0)
        league()->teams = (unsigned)teams;
}

int omp_get_max_teams(void)
{
    return (int)league()->teams;
}

void omp_set_teams_thread_limit(int limit)
{
    if (limit >= 0)
        league()->thread_limit = (unsigned)limit;
}

int omp_get_teams_thread_limit(void)
{
    return (int)league()->thread_limit;
}

/* ---- for Fortran ---- */

int omp_get_num_teams_(void)
{
    return omp_get_num_teams();
}

int omp_get_team_num_(void)
{
    return omp_get_team_num();
}

int omp_get_max_teams_(void)
{
    return omp_get_max_teams();
}

int omp_get_teams_thread_limit_(void)
{
    return omp_get_teams_thread_limit();
}

void omp_set_num_teams_(const int *teams)
{
    omp_set_num_teams(*teams);
}

void omp_set_num_teams_8_(const long *teams)
{
    omp_set_num_teams((int)*teams);
}

void omp_set_teams_thread_limit_(const int *limit)
{
    omp_set_teams_thread_limit(*limit);
}

void omp_set_teams_thread_limit_8_(const long *limit)
{
    omp_set_teams_thread_limit((int)*limit);
}
