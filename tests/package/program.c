/* Somebody else's program. */
#include <dome/dome.h>

#include <stdio.h>

static void halve(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx;
    (void)first;
    for (size_t i = 0; i < count; i++)
        ((double *)out)[i] = ((const double *)in[0])[i] / 2;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dvec *x = dvec_new(env, "x", DOME_F64, 1000);
    dvec_iota(x);
    dvec *const in[] = {x};
    dvec_map(x, halve, NULL, 1, in);
    double sum = dvec_sum(x);
    /* A type is its address, on both sides of a shared library. */
    if (dvec_type(x) != DOME_F64 || dome_type_size(DOME_F64) != sizeof(double)) {
        fprintf(stderr, "the library and the program see different types\n");
        return 1;
    }
    dome_print(env, "%g\n", sum);
    return dome_finalize(env);
}
