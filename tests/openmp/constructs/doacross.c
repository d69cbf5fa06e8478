/* Loops whose iterations wait for others. */
#include <stdio.h>

enum { N = 24 };
static long a[N][N], b[N];

int main(void)
{
#pragma omp parallel num_threads(5)
    {
#pragma omp for ordered(2) schedule(static, 1)
        for (int i = 1; i < N; i++)
            for (int j = 1; j < N; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                a[i][j] = (a[i - 1][j] + a[i][j - 1] + i * j) % 1000003;
#pragma omp ordered depend(source)
            }
#pragma omp for ordered(1) schedule(dynamic)
        for (unsigned long i = 2; i < N; i++) {
#pragma omp ordered depend(sink : i - 2)
            b[i] = b[i - 2] + a[i][i];
#pragma omp ordered depend(source)
        }
    }
    printf("%ld %ld %ld\n", a[N - 1][N - 1], b[N - 1], b[N - 2]);
    return 0;
}
