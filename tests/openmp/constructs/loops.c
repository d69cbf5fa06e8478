/* Each iteration of a loop is done once, whatever the schedule; the work-sharing forms agree. */
#include <omp.h>
#include <stdio.h>

enum { N = 1000 };
static int done[N];

static void check(const char *name)
{
    int wrong = 0, most = 0;
    for (int i = 0; i < N; i++) {
        wrong += done[i] != i * 3 + 1;
        most = done[i] > most ? done[i] : most;
        done[i] = 0;
    }
    printf("%s: %d wrong, most %d\n", name, wrong, most);
}

#define LOOP(name, clause)                                                                                                       \
    _Pragma("omp parallel num_threads(7)")                                                                                       \
    {                                                                                                                            \
        _Pragma(clause) for (int i = 0; i < N; i++) done[i] += i * 3 + 1;                                                        \
    }                                                                                                                            \
    check(name);                                                                                                                 \
    _Pragma("omp parallel num_threads(7)")                                                                                       \
    {                                                                                                                            \
        _Pragma(clause) for (int i = N - 1; i >= 0; i--) done[i] += i * 3 + 1;                                                   \
    }                                                                                                                            \
    check(name " down");                                                                                                         \
    _Pragma("omp parallel num_threads(7)")                                                                                       \
    {                                                                                                                            \
        _Pragma(clause) for (unsigned long long i = 0; i < N; i += 1) done[i] += (int)i * 3 + 1;                                 \
    }                                                                                                                            \
    check(name " long long");

int main(void)
{
    LOOP("static", "omp for schedule(static)")
    LOOP("static, 3", "omp for schedule(static, 3)")
    LOOP("dynamic", "omp for schedule(dynamic)")
    LOOP("dynamic, 11", "omp for schedule(monotonic : dynamic, 11)")
    LOOP("guided", "omp for schedule(guided)")
    LOOP("guided, 5", "omp for schedule(nonmonotonic : guided, 5)")
    LOOP("auto", "omp for schedule(auto)")
    for (int kind = 1; kind <= 4; kind++) {
        omp_set_schedule(kind, 4);
        LOOP("runtime", "omp for schedule(runtime)")
    }
    int none = 0, last = -1;
#pragma omp parallel for schedule(dynamic) reduction(+ : none)
    for (int i = 5; i < 5; i++)
        none++;
#pragma omp parallel for schedule(guided) lastprivate(last)
    for (int i = 0; i < 77; i += 3)
        last = i;
#pragma omp parallel for collapse(2) num_threads(5)
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < N / 10; j++)
            done[i * (N / 10) + j] += (i * (N / 10) + j) * 3 + 1;
    check("collapse");
#pragma omp parallel for if (0)
    for (int i = 0; i < N; i++)
        done[i] += omp_get_num_threads() == 1 ? i * 3 + 1 : 0;
    check("if (0)");
    printf("none %d, last %d\n", none, last);
    return 0;
}
