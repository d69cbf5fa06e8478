/* What stands around a region outermost is there again after it: a taskgroup, a final task, a loop. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int sum = 0, grouped = 0, final = 0, loops = 0;
#pragma omp taskgroup
    {
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum += 1;
#pragma omp task shared(grouped)
        grouped += 5;
    }
#pragma omp task final(1) shared(sum, final)
    {
#pragma omp parallel num_threads(3) reduction(+ : sum)
        sum += 10;
        final = omp_in_final();
    }
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 5; i++) {
#pragma omp parallel for num_threads(3) schedule(dynamic, 2) reduction(+ : sum)
        for (int k = 0; k < 7; k++)
            sum += k;
        loops++;
    }
    printf("%d %d %d %d\n", sum, grouped, final, loops);
    return 0;
}
