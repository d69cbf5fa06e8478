/* Every task gets all of a vector of so many elements, and goes on as soon as it has it. With a second argument rank 0 then waits
 * for a barrier before its sum. */
#include <dome/dome.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 1000;
    dvec_options whole = {.size = sizeof whole, .distribution = DOME_WHOLE};
    dvec *x = dvec_new(env, "x", DOME_F64, n), *all = dvec_new_with(env, "all", DOME_F64, n, &whole);
    dvec_iota(x);
    dvec_copy(all, x);
    if (argc > 2 && dome_rank(env) == 0)
        dome_barrier(env);
    dome_print(env, "%.0f %.0f\n", dvec_sum(all), dvec_sum(x));
    return dome_finalize(env);
}
