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

static void end(int *p)
{
    *p = 0;
}

int main(void)
{
    union number u = {3};                            // REFUSED: the variable u cannot be saved: it contains a union
    int v __attribute__((aligned(64))) = 3;          // REFUSED: the attribute
    struct bits b = {1};                             // REFUSED: the variable b cannot be saved: it contains a bit-field
    signal(SIGUSR1, on_signal);                      // REFUSED: signal: the function that it gets may poll
    v = spin(u.i) ?: v;                              // REFUSED: cannot be taken apart
    v = _Generic(v, int : spin(v));                  // REFUSED: cannot be taken apart
    v = __builtin_choose_expr(1, spin(v), 2);        // REFUSED: cannot be taken apart
    __int128 wide = v;                               // REFUSED: the variable wide cannot be saved: it contains
    _Atomic int atomic = v;                          // REFUSED: the variable atomic cannot be saved: it contains
    long double precise = v;                         // REFUSED: the variable precise cannot be saved: it contains a long double
    int four __attribute__((vector_size(16))) = {v}; // REFUSED: four
    int cleaned __attribute__((cleanup(end))) = v;   // REFUSED: the attribute
    return spin(v) + u.i + b.a + (int)wide + atomic + (int)precise + four[0] + cleaned;
}
