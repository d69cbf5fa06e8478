/* single, copyprivate, masked, sections. */
#include <omp.h>
#include <stdio.h>

static int once, sections[5], of_master;

int main(void)
{
    int sum = 0;
#pragma omp parallel num_threads(11) reduction(+ : sum)
    {
        int x = -1, y[3] = {0};
        for (int k = 0; k < 3; k++) {
#pragma omp single
            once++;
        }
#pragma omp single copyprivate(x, y)
        {
            x = 7;
            y[2] = 5;
        }
        sum += x * 10 + y[2];
#pragma omp single nowait
        once += 100;
#pragma omp sections
        {
#pragma omp section
            sections[0]++;
#pragma omp section
            sections[1]++;
#pragma omp section
            sections[2]++;
        }
#pragma omp master
        of_master += omp_get_thread_num() + 1;
    }
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        sections[3]++;
#pragma omp section
        sections[4]++;
    }
    printf("%d %d %d%d%d%d%d %d\n", sum, once, sections[0], sections[1], sections[2], sections[3], sections[4], of_master);
    return 0;
}
