/* region_restart: a Dome program with a region of a given size, to measure restarts (--dome-restart, --dome-restart-load). The
 * first run writes a checkpoint and ends; one that is started with --dome-restart prints, a line each, the seconds of the slowest
 * task:
 *
 *   init SECONDS     dome_init, in which a checkpoint is chosen and, without --dome-restart-load lazy, verified
 *   new SECONDS      dome_region_new
 *   first SECONDS    from before dome_region_new until one element in the middle of the task's part has been read
 *   pages SECONDS    from before dome_region_new until each page of the task's part has been touched, in order
 *
 *   build/bench/region_restart MEGABYTES --dome-checkpoint-dir DIR [--dome-restart [--dome-restart-load lazy]] */
#include <dome/dome.h>
#include <dome/region.h>
#include <stdio.h>
#include <stdlib.h>

static void print(dome_env *env, const char *name, double seconds)
{
    double most = seconds;
    dome_allreduce(env, DOME_F64, &most, 1, DOME_MAX);
    if (dome_rank(env) == 0)
        printf("%s %.6f\n", name, most);
}

static double value(uint64_t k)
{
    return (double)(k % 1000003) * 0.75;
}

/* Touches elements of the task's part, and checks them. */
static void look(dome_env *env, const double *data, dome_span part, uint64_t from, uint64_t step)
{
    for (uint64_t k = from; k < part.count; k += step)
        if (data[part.first + k] != value(part.first + k))
            dome_abort(env, "region_restart: element %llu is wrong", (unsigned long long)(part.first + k));
}

int main(int argc, char **argv)
{
    const double began = dome_wtime();
    dome_env *env = dome_init(&argc, &argv);
    const double begin = dome_wtime();
    if (argc != 2 || atof(argv[1]) <= 0)
        dome_abort(env, "region_restart: give MEGABYTES");
    const uint64_t length = (uint64_t)(atof(argv[1]) * 1e6 / sizeof(double));
    const bool restarting = dome_is_restarting(env);
    enum { PAGE = 4096 / sizeof(double) };
    dome_span spans[2];
    dome_region *region = dome_region_new(env, "region", DOME_F64, length, NULL);
    const double made = dome_wtime();
    double *data = dome_region_data(region);
    const int nspans = dome_region_spans(region, spans);
    for (int s = 0; s < nspans && !restarting; s++)
        for (uint64_t k = spans[s].first; k < spans[s].first + spans[s].count; k++)
            data[k] = value(k);
    if (restarting) {
        look(env, data, spans[0], spans[0].count / 2, spans[0].count);
        const double first = dome_wtime();
        for (int s = 0; s < nspans; s++)
            look(env, data, spans[s], 0, PAGE);
        const double pages = dome_wtime();
        print(env, "init", begin - began);
        print(env, "new", made - begin);
        print(env, "first", first - begin);
        print(env, "pages", pages - begin);
    } else {
        dome_checkpoint(env);
    }
    dome_region_free(region);
    dome_finalize(env);
    return 0;
}
