/* Regions inside of regions, small and large ones, and what threads know about themselves. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int inner = 0, sizes = 0, levels = 0, numbers = 0;
    for (int threads = 1; threads <= 20; threads++) {
#pragma omp parallel num_threads(threads) reduction(+ : inner, sizes, levels, numbers)
        {
            sizes += omp_get_num_threads() == threads;
            numbers += omp_get_thread_num();
#pragma omp parallel num_threads(3) reduction(+ : inner, levels)
            {
                inner += omp_get_num_threads() == (threads == 1 ? 3 : 1);
                levels += omp_get_level() == 2 && omp_get_ancestor_thread_num(1) < threads && omp_get_team_size(1) == threads;
            }
        }
    }
    printf("%d %d %d %d, outside %d %d %d %d\n", inner, sizes, levels, numbers, omp_get_level(), omp_in_parallel(),
           omp_get_thread_num(), omp_get_num_threads());
#pragma omp parallel num_threads(4)
    omp_set_num_threads(17);
    omp_set_num_threads(5);
    int team = 0;
#pragma omp parallel
    {
#pragma omp single
        team = omp_get_num_threads();
    }
    printf("%d\n", team);
    return 0;
}
