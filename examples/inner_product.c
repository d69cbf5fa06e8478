/* The inner product of two vectors: Figure 2 of the report that introduced Dome (CMU-CS-95-137), in C.
 *
 *     inner_product [--dome-tasks N]
 */
#include <dome/dome.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dvec *x = dvec_new(env, "x", DOME_F64, 10240);
    dvec *y = dvec_new(env, "y", DOME_F64, 10240);

    dvec_fill(x, 1.0);
    dvec_fill(y, 3.14);
    dome_print(env, "The dot product is %g\n", dvec_dot(x, y));

    return dome_finalize(env);
}
