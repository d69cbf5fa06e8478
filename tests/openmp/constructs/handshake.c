/* Threads that wait for each other by looking into a critical section, or by taking locks in turns. */
#include <omp.h>
#include <stdio.h>

enum { ROUNDS = 20 };

int raised[2], phase = 1, wrong; /* not static: calls of critical sections are taken to leave static variables alone */
static omp_lock_t locks[3];

static void raise_flag(int k)
{
#pragma omp critical
    raised[k] = 1;
}

static void lower_flag(int k)
{
    for (int done = 0; !done;) {
#pragma omp critical
        if (raised[k]) {
            raised[k] = 0;
            done = 1;
        }
    }
}

static void meet(int thread)
{
    if (thread == 0) {
        raise_flag(0);
        lower_flag(1);
    } else {
        lower_flag(0);
        raise_flag(1);
    }
}

static void meet_by_locks(int thread)
{
    if (thread == 0) {
        omp_unset_lock(&locks[0]);
        omp_set_lock(&locks[1]);
        omp_unset_lock(&locks[2]);
        omp_set_lock(&locks[0]);
        omp_unset_lock(&locks[1]);
        omp_set_lock(&locks[2]);
    } else {
        omp_set_lock(&locks[0]);
        omp_unset_lock(&locks[1]);
        omp_set_lock(&locks[2]);
        omp_unset_lock(&locks[0]);
        omp_set_lock(&locks[1]);
        omp_unset_lock(&locks[2]);
    }
}

static void take_turns(int thread, void (*wait)(int))
{
    for (int k = 0; k < ROUNDS; k++) {
        wrong += phase != 1;
        wait(thread);
        if (thread == 0)
            phase = 0;
        wait(thread);
        wrong += phase != 0;
        wait(thread);
        if (thread == 1)
            phase = 1;
        wait(thread);
    }
}

static void by_locks(int thread)
{
    if (thread == 0) {
        omp_set_lock(&locks[0]);
        omp_set_lock(&locks[2]);
    } else {
        omp_set_lock(&locks[1]);
    }
#pragma omp barrier
    take_turns(thread, meet_by_locks);
    if (thread == 0) {
        omp_unset_lock(&locks[0]);
        omp_unset_lock(&locks[2]);
    } else {
        omp_unset_lock(&locks[1]);
    }
}

int main(void)
{
    int produced = 0, consumed = 0, size = 0;
    for (int k = 0; k < 3; k++)
        omp_init_lock(&locks[k]);
#pragma omp parallel num_threads(2)
    if (omp_get_num_threads() == 2)
        take_turns(omp_get_thread_num(), meet);
#pragma omp parallel num_threads(2)
    by_locks(omp_get_thread_num());
#pragma omp parallel for schedule(static, 1) num_threads(4)
    for (int t = 0; t < 4; t++)
        for (int left = 50; left > 0;) {
#pragma omp critical
            if (t % 2 == 0 && size < 5) {
                size++, produced++, left--;
            } else if (t % 2 == 1 && size > 0) {
                size--, consumed++, left--;
            }
        }
    printf("%d wrong, %d %d %d\n", wrong, produced, consumed, size);
    return 0;
}
