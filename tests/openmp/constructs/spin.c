/* Threads that wait for each other by atomic variables, without barriers. */
#include <omp.h>
#include <stdio.h>

enum { T = 6 };
static int flag[T], data[T], ready;

int main(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(T) reduction(+ : wrong)
    {
        int me = omp_get_thread_num(), seen = 0, left = (me + T - 1) % T;
        data[me] = me * me;
#pragma omp atomic write
        flag[me] = 1;
        while (!seen) {
#pragma omp atomic read
            seen = flag[left];
        }
        wrong += data[left] != left * left;
        /* the last thread begins, and each waits for the next */
        int next = me == T - 1 ? 1 : 0;
        while (!next) {
#pragma omp atomic read
            next = ready;
            next = next == T - 1 - me;
        }
#pragma omp atomic
        ready++;
    }
    printf("%d %d\n", wrong, ready);
    return 0;
}
