/* Tasks: dependences, groups, loops, final ones, reductions, detached ones. */
#include <omp.h>
#include <stdio.h>

static int fibonacci(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) final(n < 5)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    int f = 0, chain = 1, wrong = 0, loops[100] = {0}, sum = 0, reduced = 0, detached = 0, joined = 0;
#pragma omp parallel num_threads(6)
    {
#pragma omp single
        {
            f = fibonacci(15);
#pragma omp task depend(out : chain) shared(chain)
            chain += 2;
#pragma omp task depend(inout : chain) shared(chain)
            chain *= 10;
#pragma omp task depend(in : chain) shared(chain, joined)
            joined = chain;
#pragma omp taskgroup
            {
#pragma omp task shared(wrong)
                {
#pragma omp task shared(wrong)
                    wrong++;
                }
            }
            wrong += wrong != 1 ? 100 : -1;
#pragma omp taskloop grainsize(7)
            for (int i = 0; i < 100; i++)
                loops[i] += i;
#pragma omp taskgroup task_reduction(+ : sum)
            for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum)
                sum += i;
            }
#pragma omp taskloop reduction(+ : reduced) num_tasks(5)
            for (int i = 0; i < 50; i++)
                reduced += i;
            omp_event_handle_t event;
#pragma omp task detach(event) shared(detached)
            detached++;
            omp_fulfill_event(event);
#pragma omp taskwait
        }
#pragma omp for reduction(task, + : detached)
        for (int i = 0; i < 12; i++) {
#pragma omp task in_reduction(+ : detached)
            detached += i;
        }
    }
    for (int i = 0; i < 100; i++)
        wrong += loops[i] != i;
    printf("%d %d %d %d %d %d %d\n", f, chain, joined, wrong, sum, reduced, detached);
    return 0;
}
