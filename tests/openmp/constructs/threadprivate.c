/* Each thread's own variables last from region to region. */
#include <errno.h>
#include <omp.h>
#include <stdio.h>

static int own = 5;
static double array[100];
#pragma omp threadprivate(own, array)

int main(void)
{
    int wrong = 0;
    long sum = 0;
    own = 6;
#pragma omp parallel num_threads(9) copyin(own) reduction(+ : wrong)
    {
        wrong += own != 6;
        own = 100 + omp_get_thread_num();
        for (int k = 0; k < 100; k++)
            array[k] = own * k;
        errno = own;
#pragma omp barrier
        wrong += errno != own;
    }
#pragma omp parallel num_threads(9) reduction(+ : wrong, sum)
    {
        wrong += own != 100 + omp_get_thread_num();
        sum += own + (long)array[99];
    }
    printf("%d wrong, sum %ld, own %d\n", wrong, sum, own);
    return 0;
}
