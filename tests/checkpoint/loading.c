/* loading STEPS [VARIANT]: a region, of which an element is written before each loop boundary, and all are checked at the end. A
 * program that goes on from a checkpoint touches one element at first, and does what the variant says before it touches others:
 *
 *     removed   all files of the directory "dir" are removed
 *     read      bytes are read into a part that may not be there yet, by read(2), which fails with EFAULT or has done it; and
 *               again after dome_region_want
 *     killed    the last task is killed
 *     freed     the region is freed, and the program ends */
#include <dome/dome.h>
#include <dome/region.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 3000000 };

static double value(uint64_t k)
{
    return (double)(k * 2654435761u % 1000003) / 8;
}

static uint64_t place(int64_t step)
{
    return (uint64_t)step * 777777 % LENGTH;
}

static void remove_files(dome_env *env)
{
    if (dome_rank(env) == 0 && system("rm dir/ckpt-*") != 0)
        dome_abort(env, "the files cannot be removed");
    dome_barrier(env);
}

static void read_into(dome_env *env, const dome_region *region, double *data)
{
    const uint64_t at = LENGTH / 3 * 2, count = 4096;
    char *bytes = (char *)(data + at);
    const int zero = open("/dev/zero", O_RDONLY);
    if (dome_rank(env) == 0) {
        const ssize_t n = read(zero, bytes, count);
        if (n != (ssize_t)count && !(n == -1 && errno == EFAULT))
            dome_abort(env, "read: %zd, %s", n, strerror(errno));
        dome_region_want(region, at, count / sizeof *data, true);
        if (read(zero, bytes, count) != (ssize_t)count)
            dome_abort(env, "read after dome_region_want: %s", strerror(errno));
        for (uint64_t k = at; k < at + count / sizeof *data; k++) {
            if (data[k] != 0)
                dome_abort(env, "read had no effect");
            data[k] = value(k);
        }
    }
    close(zero);
    dome_barrier(env);
}

static void disturb(dome_env *env, const char *variant, dome_region *region)
{
    double *data = dome_region_data(region);
    const uint64_t k = LENGTH / 2 + 1;
    if (data[k] != value(k))
        dome_abort(env, "the first element is wrong");
    if (strcmp(variant, "removed") == 0)
        remove_files(env);
    if (strcmp(variant, "read") == 0)
        read_into(env, region, data);
    if (strcmp(variant, "killed") == 0 && dome_rank(env) == dome_size(env) - 1 && dome_epoch(env) == 0)
        kill(getpid(), SIGKILL);
}

static void add(dome_env *env, double *data, int64_t step, double what)
{
    if (dome_rank(env) == (int)(step % dome_size(env)))
        data[place(step)] += what;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int64_t steps = argc > 1 ? atoll(argv[1]) : 0;
    const char *variant = argc > 2 ? argv[2] : "";
    dome_region *region = dome_region_new(env, "image", DOME_F64, LENGTH, NULL);
    dscalar *done = dscalar_new(env, "done", DOME_I64);
    double *data = dome_region_data(region);
    dome_span spans[2];
    const int nspans = dome_region_spans(region, spans);
    for (int s = 0; s < nspans && !dome_is_restarting(env); s++)
        for (uint64_t k = spans[s].first; k < spans[s].first + spans[s].count; k++)
            data[k] = value(k);
    if (dome_is_restarting(env))
        disturb(env, variant, region);
    for (int64_t step = dscalar_get_i64(done); step < steps && strcmp(variant, "freed") != 0; step++) {
        add(env, data, step, 1);
        dscalar_set_i64(done, step + 1);
        dome_checkpoint(env);
    }
    dome_barrier(env);
    for (int64_t step = 0; step < steps; step++) {
        add(env, data, step, -1);
        dome_barrier(env);
    }
    for (uint64_t k = 0; k < LENGTH && strcmp(variant, "freed") != 0; k++)
        if (data[k] != value(k))
            dome_abort(env, "element %" PRIu64 " is wrong", k);
    dome_print(env, "all of %d are right\n", LENGTH);
    dome_region_free(region);
    dome_finalize(env);
    return 0;
}
