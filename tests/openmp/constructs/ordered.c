/* ordered: iterations in their order, in all schedules. */
#include <stdio.h>

enum { N = 60 };
static int list[N], length;

static void check(const char *name)
{
    int wrong = 0;
    for (int k = 0; k < length; k++)
        wrong += list[k] != k;
    printf("%s: %d, %d wrong\n", name, length, wrong);
    length = 0;
}

#define ORDERED(clause)                                                                                                          \
    _Pragma("omp parallel num_threads(5)")                                                                                       \
    {                                                                                                                            \
        _Pragma(clause) for (int i = 0; i < N; i++)                                                                              \
        {                                                                                                                        \
            _Pragma("omp ordered") list[length++] = i;                                                                           \
        }                                                                                                                        \
    }                                                                                                                            \
    check(clause);

int main(void)
{
    ORDERED("omp for ordered schedule(static)")
    ORDERED("omp for ordered schedule(static, 2)")
    ORDERED("omp for ordered schedule(dynamic)")
    ORDERED("omp for ordered schedule(guided, 3)")
    ORDERED("omp for ordered schedule(runtime)")
#pragma omp parallel for ordered num_threads(4) schedule(dynamic, 3)
    for (int i = 0; i < N; i++)
        if (i % 3) {
#pragma omp ordered
            list[length] = length;
            length++;
        }
    check("some");
    return 0;
}
