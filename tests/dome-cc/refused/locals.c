#include <signal.h>

union number {
    int i;
    double f;
};
struct bits {
    unsigned a : 4;
};

static int spin(int n)
{
    while (n > 3)
        n -= 2;
    return n;
}

static void on_signal(int n)
{
    spin(n);
}

int main(void)
{
    union number u = {3};                   // REFUSED: the variable u cannot be saved: it contains a union
    int v __attribute__((aligned(64))) = 3; // REFUSED: the attribute
    struct bits b = {1};                    // REFUSED: the variable b cannot be saved: it contains a bit-field
    signal(SIGUSR1, on_signal);             // REFUSED: signal: the function that it gets may poll
    v = spin(u.i) ?: v;                     // REFUSED: cannot be taken apart
    return spin(v) + u.i + b.a;
}
