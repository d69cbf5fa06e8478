/* Atomic operations by the compiler's older names, fences, flags, and floating-point numbers that are _Atomic. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MANY = 60 };
static long sum;
static unsigned char bits;
static unsigned mixed = 1, lock, guarded, all = ~0u;
static int most = -1, entered, *volatile last, places[MANY];
static volatile short turned;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static unsigned long flagged, held;
static char taken;
static _Atomic double number;
static volatile int ready;
static int payload;

static int index_of(int i)
{
    return __sync_add_and_fetch(&entered, 1) > 0 ? i : -1;
}

static void updates(int i)
{
    __sync_fetch_and_add(&sum, i);
    __sync_fetch_and_or(&bits, 1 << (i % 8));
    __sync_xor_and_fetch /* the name alone */ (&mixed, (unsigned)i << 8);
    __sync_fetch_and_and(&all, ~(1u << (i % 16)));
    __sync_sub_and_fetch(&turned, 1);
    for (int seen = most; seen < i && !__sync_bool_compare_and_swap(&most, seen, index_of(i));)
        seen = __sync_val_compare_and_swap(&most, -2, -2);
    for (int *before = last; !__sync_bool_compare_and_swap(&last, before, &places[__sync_fetch_and_add(&entered, 0) * 0 + 7]);)
        before = last;
    number += 0.5;
}

static void locks(void)
{
    while (__sync_lock_test_and_set(&lock, 1))
        continue;
    guarded++;
    __sync_lock_release(&lock);
    while (atomic_flag_test_and_set(&flag))
        continue;
    flagged++;
    atomic_flag_clear(&flag);
    while (__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE))
        continue;
    held++;
    __atomic_clear(&taken, __ATOMIC_RELEASE);
}

static void handed(void)
{
    if (omp_get_thread_num() == 0) {
        payload = 42;
        __sync_synchronize();
        ready = 1;
        atomic_thread_fence(memory_order_seq_cst);
    } else if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        while (!ready)
            __sync_synchronize();
        payload++;
    }
}

int main(void)
{
    const char *text = "__sync_fetch_and_add(&sum, 1)";
#pragma omp parallel for
    for (int i = 0; i < MANY; i++) {
        updates(i);
        locks();
    }
#pragma omp parallel
    handed();
    printf("%s: %ld %d %u %u %d %d\n", text, sum, bits, mixed, all, turned, most);
    printf("%d %u %lu %lu %g\n", (int)(last - places), guarded, flagged, held, number);
    printf("%d\n", payload - (payload > 42));
    return 0;
}
