/* The inner product of two vectors written for PVM by hand, to be compared with ../inner_product.c. A virtual machine must
 * be running (`pvm`). The first process spawns the workers and shares out the range of indices. A worker that dies leaves it
 * waiting: to notice, it would have to be longer still.
 *
 *     inner_product [WORKERS]
 */
#include <stdio.h>

#include <pvm3.h>
#include <stdlib.h>

enum { N = 10240, MAX_WORKERS = 64, TAG_RANGE = 1, TAG_SUM = 2 };

static int quit(const char *text)
{
    fprintf(stderr, "inner_product: %s\n", text);
    pvm_exit();
    return 1;
}

static int work(int master)
{
    int range[2];
    if (pvm_recv(master, TAG_RANGE) < 0 || pvm_upkint(range, 2, 1) < 0)
        return quit("no range came from the master");
    size_t n = (size_t)(range[1] - range[0]);
    double *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y), sum = 0;
    if (!x || !y)
        return quit("out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0;
    for (size_t i = 0; i < n; i++)
        y[i] = 3.14;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble(&sum, 1, 1);
    pvm_send(master, TAG_SUM);
    free(x);
    free(y);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    int tids[MAX_WORKERS], workers = argc > 1 ? atoi(argv[1]) : 4;
    double sum = 0;
    if (pvm_mytid() < 0) {
        fprintf(stderr, "inner_product: no virtual machine is running\n");
        return 1;
    }
    int parent = pvm_parent();
    if (parent != PvmNoParent)
        return work(parent);
    if (argc > 2 || workers < 1 || workers > MAX_WORKERS) {
        quit("usage: inner_product [WORKERS], 1 to 64");
        return 2;
    }
    char *path = realpath("/proc/self/exe", NULL);
    int started = pvm_spawn(path, NULL, PvmTaskDefault, "", workers, tids);
    free(path);
    if (started < workers) {
        for (int w = 0; w < started; w++)
            pvm_kill(tids[w]);
        return quit("the workers could not be started");
    }
    for (int w = 0; w < workers; w++) {
        int range[2] = {(int)((long)N * w / workers), (int)((long)N * (w + 1) / workers)};
        pvm_initsend(PvmDataDefault);
        pvm_pkint(range, 2, 1);
        pvm_send(tids[w], TAG_RANGE);
    }
    for (int w = 0; w < workers; w++) {
        double part;
        if (pvm_recv(tids[w], TAG_SUM) < 0 || pvm_upkdouble(&part, 1, 1) < 0)
            return quit("no sum came from a worker");
        sum += part;
    }
    printf("The dot product is %g\n", sum);
    pvm_exit();
    return 0;
}
