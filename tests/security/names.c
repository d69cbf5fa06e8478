/* A Dome program whose object has a name of any kind, for names.py: it fails, writes a checkpoint, or waits.
 *
 *     names MODE NAME */
#include <dome/dome.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *mode = argc > 1 ? argv[1] : "", *name = argc > 2 ? argv[2] : "x";
    dvec *x = dvec_new(env, name, DOME_F64, 100);
    double value = 0;
    if (strcmp(mode, "fail") == 0)
        dvec_get(x, 100, &value);
    if (strcmp(mode, "abort") == 0)
        dome_abort(env, "stopped by %s", name);
    if (strcmp(mode, "differ") == 0)
        dome_rank(env) ? dvec_fill(x, 1) : dvec_neg(x, x);
    if (strcmp(mode, "wait") == 0 && dome_rank(env) == 1) {
        fprintf(stderr, "waits\n");
        pause();
    }
    value = dvec_sum(x);
    dome_checkpoint(env);
    return dome_finalize(env);
}
