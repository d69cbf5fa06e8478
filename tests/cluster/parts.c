/* How many elements of a new vector each task has: a line for each, with its host. */
#include <dome/dome.h>

#include <inttypes.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dvec *x = dvec_new(env, "x", DOME_F64, 100000);
    dvec_span spans[2];
    uint64_t mine = 0;
    dvec_local_spans(x, spans);
    for (int k = 0; k < 2; k++)
        mine += spans[k].count;
    for (int r = 0; r < dome_size(env); r++) {
        uint64_t count = mine;
        dome_bcast(env, r, DOME_U64, &count, 1);
        dome_print(env, "%s %" PRIu64 "\n", dome_host(env, r), count);
    }
    return dome_finalize(env);
}
