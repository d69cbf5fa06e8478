/* The smallest program that has needed all of its tasks: one all-reduce. For bench/launch. */
#include <dome/dome.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dvec *x = dvec_new(env, "x", DOME_F64, 4096);
    dvec_fill(x, 1);
    double sum = dvec_sum(x);
    dome_print(env, "%g\n", sum);
    return dome_finalize(env);
}
