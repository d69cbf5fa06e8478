/* Atomic updates and critical sections of threads that the program has created. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, TIMES = 100000 };
static long words;
static unsigned char bytes;
static double numbers;
static long double large;
static long sections;

static void *add(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        __atomic_fetch_add(&words, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&bytes, 3, __ATOMIC_RELAXED);
#pragma omp atomic
        numbers += 0.5;
#pragma omp atomic
        large += 1;
#pragma omp critical
        sections++;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        pthread_create(&threads[k], NULL, add, NULL);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    printf("%ld %d %g %Lg %ld\n", words, bytes, numbers, large, sections);
    return 0;
}
