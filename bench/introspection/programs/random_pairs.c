/* NAS EP, written anew: Gaussian pairs of a linear congruence, counted in rings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double draw(unsigned long long *state)
{
    *state = *state * 1220703125u & ((1ull << 46) - 1);
    return (double)*state / (double)(1ull << 46);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1L << 25, rings[10] = {0};
    unsigned long long state = 271828183;
    double sx = 0, sy = 0;
    for (long i = 0; i < n; i++) {
        double x = 2 * draw(&state) - 1, y = 2 * draw(&state) - 1, t = x * x + y * y;
        if (t <= 1 && t > 0) {
            double f = sqrt(-2 * log(t) / t), a = fabs(x * f), b = fabs(y * f);
            rings[(int)(a > b ? a : b)]++;
            sx += x * f;
            sy += y * f;
        }
    }
    printf("%.10g %.10g", sx, sy);
    for (int k = 0; k < 10; k++)
        printf(" %ld", rings[k]);
    puts("");
    return 0;
}
