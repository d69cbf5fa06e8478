/* Tasks that own objects, detached ones, taskloops with lastprivate, reductions whose tasks name the variable itself. */
#include <atomic>
#include <cstdio>
#include <omp.h>
#include <string>
#include <vector>

struct Counted {
    static std::atomic<int> alive, made;
    int value;
    explicit Counted(int v = 0) : value(v)
    {
        alive++, made++;
    }
    Counted(const Counted &other) : value(other.value)
    {
        alive++, made++;
    }
    ~Counted()
    {
        alive--;
    }
    Counted &operator=(const Counted &other) = default;
};
std::atomic<int> Counted::alive, Counted::made;

static int g;

static void add(int n)
{
#pragma omp task in_reduction(+ : g)
    g += n;
}

static void objects()
{
    int sum = 0;
    {
        Counted c(3);
        std::string text = "a text that is too long for its object to hold itself";
#pragma omp parallel
#pragma omp single
        for (int k = 0; k < 5; k++) {
#pragma omp task firstprivate(c, text) shared(sum)
#pragma omp atomic
            sum += c.value + (int)text.size() + k;
        }
        Counted last;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop lastprivate(last) grainsize(4)
        for (int k = 0; k < 18; k++)
            last.value = k * k;
        sum += last.value;
    }
    std::printf("objects: %d, %d alive\n", sum, (int)Counted::alive);
}

static void loops()
{
    long sum = 0, product = 1;
    std::vector<int> seen(100);
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop reduction(+ : sum) num_tasks(7)
        for (int k = 0; k < 100; k++) {
            sum += k;
            seen[(size_t)k]++;
        }
#pragma omp taskloop reduction(* : product) grainsize(2)
        for (long k = 10; k > 1; k -= 2)
            product *= k;
#pragma omp taskloop nogroup
        for (int k = 0; k < 50; k++)
            seen[(size_t)k] += k < 25;
#pragma omp taskwait
    }
    int once = 0;
    for (const int &n : seen)
        once += n == 1 + (&n < &seen[25]);
    std::printf("taskloop: %ld %ld, %d once\n", sum, product, once);
}

static void reductions()
{
    int x = 0;
    g = 0;
#pragma omp parallel num_threads(3) reduction(task, + : x, g)
    {
#pragma omp task in_reduction(+ : x)
        x += 2;
        add(5);
    }
    std::printf("reductions over tasks: %d %d\n", x, g);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : x, g)
    for (int k = 0; k < 10; k++) {
#pragma omp task in_reduction(+ : x)
        x += k;
        add(k);
    }
    std::printf("of a group: %d %d\n", x, g);
}

static void others()
{
    int order[4] = {0}, next = 0, detached = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : order[0]) shared(next, order)
        order[next++] = 1;
#pragma omp task depend(inout : order[0]) if (next < 0) shared(next, order)
        order[next++] = 2;
#pragma omp task depend(in : order[0]) final(1) shared(next, order)
        order[next++] = 3 + omp_in_final();
#pragma omp taskwait
        omp_event_handle_t event;
#pragma omp task detach(event) shared(detached)
        {
            detached = 1;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
#pragma omp taskyield
    }
    std::printf("order: %d %d %d, detached %d\n", order[0], order[1], order[2], detached);
}

int main()
{
    objects();
    loops();
    reductions();
    others();
    return 0;
}
