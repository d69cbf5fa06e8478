// Exceptions inside of threads that give way to each other in their midst, and objects of each thread's own.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static int caught, live;

struct counted {
    counted()
    {
#pragma omp atomic
        live++;
    }
    ~counted()
    {
#pragma omp atomic
        live--;
    }
};

static void fail(int depth)
{
    counted one;
    std::vector<std::string> names(depth, "a name that is too long to lie in its object");
    if (depth == 0)
        throw std::runtime_error("down");
    fail(depth - 1);
}

int main()
{
    long length = 0;
#pragma omp parallel num_threads(7) reduction(+ : length)
    {
        for (int k = 0; k < 3; k++) {
            try {
                fail(10 + k);
            } catch (const std::exception &e) {
#pragma omp critical
                caught++;
#pragma omp barrier
                length += (long)std::string(e.what()).size();
            }
        }
    }
    std::printf("%d %ld %d\n", caught, length, live);
    return 0;
}
