/* The product of two matrices, C = A B, written for PVM by hand, to be compared with ../matmul.c. A virtual machine must be
 * running (`pvm`). The first process reads the matrices, spawns the workers, sends each all of B and a run of rows of A, and
 * puts together their rows of C. A worker that dies leaves it waiting, and messages above 2 GiB do not arrive.
 *
 *     matmul A.npy B.npy C.npy [WORKERS]
 */
#include "../npy_f64.h"

#include <stdio.h>

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif
#include <limits.h>
#include <math.h>
#include <pvm3.h>
#include <stdlib.h>

enum { MAX_WORKERS = 64, TAG_SHAPE = 1, TAG_B = 2, TAG_A = 3, TAG_C = 4 };

static int quit(int status, const char *text)
{
    fprintf(stderr, "matmul: %s\n", text);
    pvm_exit();
    return status;
}

static int send_values(int tid, int tag, double *value, size_t n)
{
    if (n > INT_MAX / sizeof(double))
        return -1;
    pvm_initsend(PvmDataDefault);
    if (pvm_pkdouble(value, (int)n, 1) < 0)
        return -1;
    return pvm_send(tid, tag);
}

static int receive_values(int tid, int tag, double *value, size_t n)
{
    if (pvm_recv(tid, tag) < 0)
        return -1;
    return pvm_upkdouble(value, (int)n, 1);
}

static void multiply(double *c, const double *a, const double *b, size_t rows, size_t inner, size_t columns)
{
#ifdef HAVE_CBLAS
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)columns, (int)inner, 1, a, (int)inner, b, (int)columns,
                0, c, (int)columns);
#else
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++)
            for (size_t j = 0; j < columns; j++)
                c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
#endif
}

static int work(int master)
{
    int shape[3];
    if (pvm_recv(master, TAG_SHAPE) < 0 || pvm_upkint(shape, 3, 1) < 0)
        return quit(1, "no shape came from the master");
    size_t rows = (size_t)shape[0], inner = (size_t)shape[1], columns = (size_t)shape[2];
    double *a = malloc((rows * inner + 1) * sizeof *a), *b = malloc((inner * columns + 1) * sizeof *b);
    double *c = calloc(rows * columns + 1, sizeof *c);
    if (!a || !b || !c)
        return quit(1, "out of memory");
    if (receive_values(master, TAG_B, b, inner * columns) < 0 || receive_values(master, TAG_A, a, rows * inner) < 0)
        return quit(1, "the matrices did not arrive");
    multiply(c, a, b, rows, inner, columns);
    if (send_values(master, TAG_C, c, rows * columns) < 0)
        return quit(1, "the product could not be sent");
    free(a);
    free(b);
    free(c);
    pvm_exit();
    return 0;
}

static size_t first_row(size_t rows, int worker, int workers)
{
    return rows * (size_t)worker / (size_t)workers;
}

int main(int argc, char **argv)
{
    npy_matrix a, b;
    char error[NPY_ERROR];
    int tids[MAX_WORKERS], workers = argc > 4 ? atoi(argv[4]) : 4;
    if (pvm_mytid() < 0) {
        fprintf(stderr, "matmul: no virtual machine is running\n");
        return 1;
    }
    int parent = pvm_parent();
    if (parent != PvmNoParent)
        return work(parent);
    if (argc < 4 || argc > 5 || workers < 1 || workers > MAX_WORKERS)
        return quit(2, "usage: matmul A.npy B.npy C.npy [WORKERS], 1 to 64");
    if (!npy_read(&a, argv[1], error) || !npy_read(&b, argv[2], error))
        return quit(1, error);
    if (a.columns != b.rows)
        return quit(1, "A has not as many columns as B has rows");
    if (a.rows > INT_MAX || a.columns > INT_MAX || b.columns > INT_MAX)
        return quit(1, "the matrices are too large for BLAS");
    npy_matrix c = {a.rows, b.columns, calloc(a.rows * b.columns + 1, sizeof(double))};
    if (!c.value)
        return quit(1, "out of memory");

    char *path = realpath("/proc/self/exe", NULL);
    int started = pvm_spawn(path, NULL, PvmTaskDefault, "", workers, tids);
    free(path);
    for (int w = 0; w < workers; w++) {
        size_t first = first_row(a.rows, w, workers), rows = first_row(a.rows, w + 1, workers) - first;
        int shape[3] = {(int)rows, (int)a.columns, (int)b.columns};
        int sent = -1;
        if (started == workers) {
            pvm_initsend(PvmDataDefault);
            pvm_pkint(shape, 3, 1);
            sent = pvm_send(tids[w], TAG_SHAPE);
        }
        if (sent < 0 || send_values(tids[w], TAG_B, b.value, b.rows * b.columns) < 0 ||
            send_values(tids[w], TAG_A, a.value + first * a.columns, rows * a.columns) < 0) {
            for (int k = 0; k < started; k++)
                pvm_kill(tids[k]);
            return quit(1, started == workers ? "the matrices could not be sent" : "the workers could not be started");
        }
    }
    for (int w = 0; w < workers; w++) {
        size_t first = first_row(a.rows, w, workers), rows = first_row(a.rows, w + 1, workers) - first;
        if (receive_values(tids[w], TAG_C, c.value + first * c.columns, rows * c.columns) < 0)
            return quit(1, "no rows came from a worker");
    }

    if (!npy_write(&c, argv[3], error))
        return quit(1, error);
    double sum = 0;
    for (size_t i = 0; i < c.rows * c.columns; i++)
        sum += c.value[i] * c.value[i];
    printf("%s: %zu x %zu, norm %.15e  %a\n", argv[3], c.rows, c.columns, sqrt(sum), sqrt(sum));
    free(a.value);
    free(b.value);
    free(c.value);
    pvm_exit();
    return 0;
}
