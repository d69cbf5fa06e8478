/* The teams of a league, and which one it is that a region's threads belong to. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int sum = 0, most = 0;
    omp_set_num_teams(5);
    omp_set_teams_thread_limit(7);
#pragma omp teams num_teams(3) reduction(+ : sum)
    {
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum += omp_get_team_num() * 10 + (omp_get_num_teams() == 3);
    }
#pragma omp parallel num_threads(4) reduction(+ : most)
    most += omp_get_max_teams() * 100 + omp_get_teams_thread_limit() + omp_get_num_teams() * 10 + omp_get_team_num();
    printf("%d %d\n", sum, most);
    return 0;
}
