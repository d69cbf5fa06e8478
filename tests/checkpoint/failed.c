/* Vectors whose values cannot be computed, at a loop boundary.
 *
 *     failed NAME    the vector's name; "" for one that is in no checkpoint */
#include <dome/dome.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    dvec *good = dvec_new(env, "good", DOME_I32, 100);
    dvec *failed = dvec_new(env, argc > 1 ? argv[1] : NULL, DOME_I32, 100);
    dvec_subs(failed, failed, 99);
    dvec_iota(good);
    dvec_add(good, good, failed); /* 0 in the last element alone */
    dvec_div(failed, failed, good);
    int status = dome_checkpoint(env); /* 1: not if the vector is named */
    dvec_fill(failed, 1);
    status |= dome_checkpoint(env);
    dome_print(env, "%s %s\n", dome_status_name(status), dome_status_name(dome_error_status(env)));
    return dome_finalize(env);
}
