/* Locks: simple, nestable, tried, taken by one thread and given back by another. */
#include <omp.h>
#include <stdio.h>

static omp_lock_t lock, handed;
static omp_nest_lock_t nest;
static long sum, deep, tried;

static void add(int depth)
{
    omp_set_nest_lock(&nest);
    deep++;
    if (depth)
        add(depth - 1);
    omp_unset_nest_lock(&nest);
}

int main(void)
{
    omp_init_lock(&lock);
    omp_init_lock(&handed);
    omp_init_nest_lock(&nest);
    omp_set_lock(&handed);
#pragma omp parallel num_threads(6)
    {
        for (int i = 0; i < 10; i++) {
            omp_set_lock(&lock);
            sum += i;
            omp_unset_lock(&lock);
        }
        add(4);
        while (!omp_test_lock(&lock))
            ;
        tried++;
        omp_unset_lock(&lock);
#pragma omp sections
        {
#pragma omp section
            omp_set_lock(&handed);
#pragma omp section
            omp_unset_lock(&handed);
        }
    }
    printf("%ld %ld %ld %d %d\n", sum, deep, tried, omp_test_lock(&handed), omp_test_nest_lock(&nest));
    return 0;
}
