/* Dome programs: pointers into data of Dome that are needed behind a call of dome_checkpoint. */
#include <dome/dome.h>
#include <dome/structure.h>

static dome_env *env;
static double sum;

static void step(void)
{
    dome_checkpoint(env);
}

static void add(const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        sum += values[k];
}

static void straight(dvec *x)
{
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    step();
    sum +=
        (double)spans[0].count; // REFUSED: spans leads into data of Dome, and is used here after a call that may poll (line 23)
    dvec_local_spans(x, spans);
    add(spans[0].data, spans[0].count);
}

static void derived(dvec *x)
{
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    const double *values = spans[0].data, *end = values + spans[0].count;
    size_t count = spans[0].count; /* a number may be kept */
    for (const double *v = values; v < end; v++)
        sum += *v;
    step();
    sum += (double)count;
    sum += *values; // REFUSED: derived: values leads into data of Dome
}

static void loop(dvec *x)
{
    const double *all = dvec_allgather(x);
    for (int k = 0; k < 3; k++) {
        sum += all[k]; // REFUSED: loop: all leads into data of Dome
        step();
    }
    for (int k = 0; k < 3; k++) {
        all = dvec_allgather(x);
        sum += all[k];
        step();
    }
    const double *again = NULL;
    while (sum < 100) {
        if (!again) // REFUSED: loop: again leads into data of Dome
            again = dvec_allgather(x);
        step();
    }
}

static int texts(dvec *x)
{
    const char *name = dvec_name(x);
    char first = *name;
    step();
    name = dome_host(env, 0);
    sum += *name;
    dome_checkpoint(env);
    return first == *name; // REFUSED: texts: name leads into data of Dome
}

static dome_status (*way)(dome_env *) = dome_checkpoint; // REFUSED: the address of dome_checkpoint: call it by its name

/* Between two calls that may poll all of this goes. */
static double goes(dvec *x)
{
    double most = 0;
    for (int k = 0; k < 3; k++) {
        dvec_span spans[2];
        dvec_local_spans(x, spans);
        for (int s = 0; s < 2; s++) {
            const double *values = spans[s].data;
            for (size_t i = 0; i < spans[s].count; i++)
                most = values[i] > most ? values[i] : most;
        }
        const double *all = dvec_allgather(x);
        most += all[0];
        step();
    }
    return most;
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dvec *x = dvec_new_with(env, NULL, DOME_F64, 10, DVEC_OPTIONS(.width = 2));
    straight(x);
    derived(x);
    loop(x);
    sum += texts(x) + goes(x);
    way(env);
    dome_print(env, "%g\n", sum);
    return dome_finalize(env);
}
