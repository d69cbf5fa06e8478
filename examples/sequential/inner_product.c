/* The inner product of two vectors: the sequential twin of ../inner_product.c. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    size_t n = 10240;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), sum = 0;
    if (!x || !y) {
        fprintf(stderr, "inner_product: out of memory\n");
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0;
    for (size_t i = 0; i < n; i++)
        y[i] = 3.14;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    printf("The dot product is %g\n", sum);
    free(x);
    free(y);
    return 0;
}
