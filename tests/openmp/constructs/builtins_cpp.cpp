// The same operations in C++: in templates, with types that depend, and std::atomic_flag.
#include <atomic>
#include <cstdio>
#include <vector>

template <typename T> bool swap_in(T &x, const T &before, const T &after)
{
    return __sync_bool_compare_and_swap(&x, before, after);
}

template <> bool swap_in(float &x, const float &before, const float &after)
{
    return __sync_bool_compare_and_swap(reinterpret_cast<unsigned *>(&x), reinterpret_cast<const unsigned &>(before),
                                        reinterpret_cast<const unsigned &>(after));
}

template <typename T> void add_to(T &x, T value)
{
    T before = x;
    while (!swap_in(x, before, T(before + value)))
        before = __sync_val_compare_and_swap(reinterpret_cast<volatile unsigned *>(&x), 0u, 0u) ? x : T(0);
}

static std::atomic_flag flag = ATOMIC_FLAG_INIT;
static const char *text = R"x(" __sync_fetch_and_add(&a, 1) )x";

int main()
{
    std::vector<long> counts(7);
    long under = 0;
    float real = 0;
    int whole = 0;
    void *nothing = &real;
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
        __sync_fetch_and_add(&counts[i % 7], [&] { return i; }());
        add_to(real, 2.0f);
        add_to(whole, i);
        __sync_bool_compare_and_swap(&nothing, &real, 0);
        while (flag.test_and_set(std::memory_order_acquire))
            std::atomic_thread_fence(std::memory_order_seq_cst);
        under++;
        flag.clear(std::memory_order_release);
    }
    for (const long count : counts)
        std::printf("%ld ", count);
    std::printf("%ld %g %d %d %s\n", under, static_cast<double>(real), whole, nothing == nullptr, text);
}
