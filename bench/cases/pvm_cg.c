/* cg.c by hand for PVM: rows spread evenly, rows at the borders and sums sent as raw messages over direct connections, loops
 * fused.
 *
 *     pvm_cg TASKS [M [SECONDS]]
 *
 * Starts a daemon in PVM_TMP if there is none, and halts it. */
#include "case.h"

#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITERATIONS = 100, ROW = 1, SUM = 2, WHO = 3, MOST = 64 };

static int tids[MOST], rank, size;

static void send_to(int to, int tag, double *data, int count)
{
    pvm_initsend(PvmDataInPlace);
    pvm_pkdouble(data, count, 1);
    pvm_send(tids[to], tag);
}

static void receive(int from, int tag, double *data, int count)
{
    pvm_recv(tids[from], tag);
    pvm_upkdouble(data, count, 1);
}

/* Two tasks exchange; more add up at rank 0. */
static double everyones(double mine)
{
    double other, sum = mine;
    if (size == 2) {
        send_to(1 - rank, SUM, &mine, 1);
        receive(1 - rank, SUM, &other, 1);
        return rank == 0 ? mine + other : other + mine;
    }
    for (int r = 1; r < size && rank == 0; r++) {
        receive(r, SUM, &other, 1);
        sum += other;
    }
    for (int r = 1; r < size && rank == 0; r++)
        send_to(r, SUM, &sum, 1);
    if (rank > 0) {
        send_to(0, SUM, &mine, 1);
        receive(0, SUM, &sum, 1);
    }
    return sum;
}

/* q = A p for this task's rows; p has a row more at both ends. Returns p q. */
static double multiply(size_t m, size_t rows, double *restrict q, double *restrict p)
{
    double sum = 0;
    if (rank > 0)
        send_to(rank - 1, ROW, p + m, (int)m);
    if (rank + 1 < size)
        send_to(rank + 1, ROW, p + rows * m, (int)m);
    if (rank > 0)
        receive(rank - 1, ROW, p, (int)m);
    if (rank + 1 < size)
        receive(rank + 1, ROW, p + (rows + 1) * m, (int)m);
    for (size_t i = 1; i <= rows; i++) {
        const double *row = p + i * m;
        double *out = q + (i - 1) * m;
        out[0] = 4 * row[0] - row[-(long)m] - row[m] - row[1];
        for (size_t j = 1; j + 1 < m; j++)
            out[j] = 4 * row[j] - row[(long)j - (long)m] - row[j + m] - row[j - 1] - row[j + 1];
        out[m - 1] = 4 * row[m - 1] - row[-1] - row[2 * m - 1] - row[m - 2];
        sum += hand_inner(m, row, out);
    }
    return sum;
}

static double iterate(size_t m, size_t rows, double *x, double *r, double *p, double *q, double rr)
{
    double pq = everyones(multiply(m, rows, q, p)), next = 0, *inner = p + m;
    double alpha = rr / pq;
    for (size_t i = 0; i < rows; i++) {
        hand_axpy(m, x + i * m, alpha, inner + i * m);
        hand_axpy(m, r + i * m, -alpha, q + i * m);
        next += hand_squares(m, r + i * m);
    }
    next = everyones(next);
    double beta = next / rr;
    for (size_t i = 0; i < rows * m; i++)
        inner[i] = r[i] + beta * inner[i];
    return next;
}

/* Rank 0 starts the others and tells them who takes part. */
static int enrol(const char *path, char **arguments, int *started)
{
    *started = 0;
    int parent = -1;
    if (size > 1) {
        if (!getenv("PVM_CG_CHILD")) {
            *started = pvm_start_pvmd(0, NULL, 1) >= 0;
            setenv("PVM_CG_CHILD", "1", 1);
            setenv("PVM_EXPORT", "PVM_CG_CHILD", 1);
        } else {
            parent = 0;
        }
        int me = pvm_mytid();
        if (me < 0)
            return -1;
        pvm_setopt(PvmRoute, PvmRouteDirect);
        if (parent < 0) {
            tids[0] = me;
            if (pvm_spawn((char *)path, arguments, PvmTaskDefault, "", size - 1, tids + 1) != size - 1)
                return -1;
            pvm_initsend(PvmDataRaw);
            pvm_pkint(tids, size, 1);
            pvm_mcast(tids + 1, size - 1, WHO);
        } else {
            pvm_recv(-1, WHO);
            pvm_upkint(tids, size, 1);
            while (tids[rank] != me)
                rank++;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static case_times times;
    size = argc > 1 ? atoi(argv[1]) : 1;
    size_t m = argc > 2 ? (size_t)atof(argv[2]) : 1000;
    double budget = argc > 3 ? atof(argv[3]) : 3;
    char path[4096] = "";
    int started;
    if (size < 1 || size > MOST || readlink("/proc/self/exe", path, sizeof path - 1) < 0 || enrol(path, argv + 1, &started) < 0) {
        fprintf(stderr, "pvm_cg: the tasks could not be started\n");
        return 1;
    }
    size_t begin_row = m * (size_t)rank / (size_t)size, rows = m * ((size_t)rank + 1) / (size_t)size - begin_row;
    double *x = case_array(rows * m), *r = case_array(rows * m), *p = case_array((rows + 2) * m), *q = case_array(rows * m),
           rr = 0;
    int turns = case_turns(ITERATIONS * 4e-9 * (double)m * (double)m, budget);
    for (int turn = -1; turn < turns; turn++) {
        memset(x, 0, rows * m * sizeof *x);
        for (size_t i = 0; i < rows * m; i++)
            r[i] = p[m + i] = 1;
        rr = everyones((double)(rows * m));
        double begin = case_now();
        for (int k = 0; k < ITERATIONS; k++)
            rr = iterate(m, rows, x, r, p, q, rr);
        if (turn >= 0) {
            case_note(&times, "pvm", turn, (case_now() - begin) / ITERATIONS);
            case_note(&times, "rr", turn, rr);
        }
    }
    if (rank == 0)
        case_print(&times);
    if (size > 1) {
        everyones(0); /* nobody leaves while others wait */
        pvm_exit();
    }
    if (rank == 0 && size > 1 && started) {
        signal(SIGTERM, SIG_IGN);
        pvm_halt();
    }
    return 0;
}
