/* cancel, if OMP_CANCELLATION is set: what is left out depends on the order, so only what must hold is printed. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int found = -1, after = 0, tasks = 0, wrong = 0;
    const int allowed = omp_get_cancellation();
#pragma omp parallel num_threads(6)
    {
#pragma omp for
        for (int i = 0; i < 1000; i++) {
#pragma omp cancellation point for
            if (i == 500) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
        }
#pragma omp atomic
        after++;
#pragma omp barrier
#pragma omp single
        {
#pragma omp taskgroup
            for (int i = 0; i < 10; i++) {
#pragma omp task shared(tasks)
                {
#pragma omp atomic
                    tasks++;
#pragma omp cancel taskgroup
                }
            }
        }
    }
#pragma omp parallel num_threads(5)
    {
        if (omp_get_thread_num() == 2) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp atomic
        wrong += allowed;
    }
    printf("%d %d %d %d\n", found, after, allowed ? tasks < 10 : tasks == 10, wrong);
    return 0;
}
