/* critical, with and without names, and barriers. */
#include <omp.h>
#include <stdio.h>

static long sum, named, list[64], length;

int main(void)
{
#pragma omp parallel num_threads(13)
    {
        for (int i = 0; i < 20; i++) {
#pragma omp critical
            sum += i * (omp_get_thread_num() + 1);
        }
#pragma omp critical(list)
        list[length++] = omp_get_thread_num();
#pragma omp barrier
#pragma omp critical(second)
        named += length;
#pragma omp barrier
#pragma omp critical
        sum += named;
    }
    long all = 0;
    for (long k = 0; k < length; k++)
        all += list[k];
    printf("%ld %ld %ld %ld\n", sum, named, length, all);
    return 0;
}
