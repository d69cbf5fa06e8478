/* target and teams on the host. */
#include <omp.h>
#include <stdio.h>

enum { N = 200 };

int main(void)
{
    int a[N], scalar = 3, sum = 0, league = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma omp target map(tofrom : a) firstprivate(scalar)
    {
        scalar++;
#pragma omp parallel for num_threads(6)
        for (int i = 0; i < N; i++)
            a[i] *= scalar;
    }
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) num_teams(3)
    for (int i = 0; i < N; i++)
        sum += a[i];
#pragma omp teams num_teams(4) reduction(+ : league)
    league += omp_get_team_num() * 10 + omp_get_num_teams();
#pragma omp target data map(to : a)
    {
#pragma omp target update from(a)
    } printf("%d %d %d %d %d\n", a[N - 1], scalar, sum, league, omp_get_num_devices());
    return 0;
}
