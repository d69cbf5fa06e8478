/* Loops in a row without barriers, of which some threads have none of the iterations and run ahead; constructs inside regions of
 * one thread do not count. */
#include <stdio.h>

enum { ROW = 200, THREADS = 4 };
static long ordered[ROW][2], across[ROW][2], sections[ROW];

static void inner(int thread)
{
    long sum = 0;
    if (thread != 2)
        return;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
        for (int k = 0; k < 3; k++)
            sum += k;
#pragma omp barrier
    }
    sections[0] += sum > 0;
}

int omp_get_thread_num(void);

int main(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        inner(omp_get_thread_num());
        for (int i = 0; i < ROW; i++) {
#pragma omp for ordered nowait schedule(static, 1)
            for (int k = 0; k < 2; k++) {
#pragma omp ordered
                ordered[i][k] = k ? ordered[i][k - 1] + 1 : i;
            }
#pragma omp for ordered(1) nowait schedule(static, 1)
            for (int k = 0; k < 2; k++) {
#pragma omp ordered depend(sink : k - 1)
                across[i][k] = k ? across[i][k - 1] + 1 : i;
#pragma omp ordered depend(source)
            }
        }
    }
    long sums[2] = {0};
    for (int i = 0; i < ROW; i++) {
        sums[0] += ordered[i][1];
        sums[1] += across[i][1];
    }
    printf("%ld %ld %ld\n", sums[0], sums[1], sections[0]);
    return 0;
}
