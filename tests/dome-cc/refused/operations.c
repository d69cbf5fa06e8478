// OPTIONS: --polls=operations
/* A Dome program that polls behind its operations, too: those behind which a borrowed pointer is needed do not, but
 * dome_checkpoint and functions of the program always do. */
#include <dome/dome.h>

static dome_env *env;
static double sum;

static void advance(dvec *x)
{
    dvec_adds(x, x, 1);
}

/* Operations alone lie in between. */
static void goes(dvec *x)
{
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    int64_t all = (int64_t)spans[0].count;
    dome_allreduce(env, DOME_I64, &all, 1, DOME_SUM);
    sum += (double)all + (double)spans[0].count;
    dome_checkpoint(env);
}

static void checkpoint(dvec *x)
{
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    int64_t all = (int64_t)spans[0].count;
    dome_allreduce(env, DOME_I64, &all, 1, DOME_SUM);
    dome_checkpoint(env);
    sum += (double)spans[1].count; // REFUSED: checkpoint: spans leads into data of Dome
}

static void each_round(dvec *x)
{
    const double *all = dvec_allgather(x);
    for (int k = 0; k < 3; k++) {
        sum += all[k]; // REFUSED: each_round: all leads into data of Dome
        dvec_adds(x, x, 1);
        dome_checkpoint(env);
    }
}

static void function(dvec *x)
{
    const char *name = dvec_name(x);
    advance(x);
    sum += *name; // REFUSED: function: name leads into data of Dome, and is used here after a call that may poll (line 48)
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dvec *x = dvec_new(env, NULL, DOME_F64, 10);
    dvec_fill(x, 1);
    goes(x);
    checkpoint(x);
    each_round(x);
    function(x);
    dome_print(env, "%g\n", sum);
    return dome_finalize(env);
}
