#include "hand_cg.h"

#include "case.h"

#include <pvm3.h>
#include <stdlib.h>

enum { ROW = 1, SUM = 2 };

void hand_cg_new(hand_cg *cg, size_t m)
{
    size_t rank = (size_t)cg->rank, size = (size_t)cg->size;
    cg->m = m;
    cg->rows = m * (rank + 1) / size - m * rank / size;
    cg->x = case_array(cg->rows * m);
    cg->r = case_array(cg->rows * m);
    cg->q = case_array(cg->rows * m);
    cg->p = case_array((cg->rows + 2) * m);
}

void hand_cg_free(hand_cg *cg)
{
    free(cg->x);
    free(cg->r);
    free(cg->q);
    free(cg->p);
}

static void send_to(const hand_cg *cg, int to, int tag, double *values, size_t n)
{
    pvm_initsend(PvmDataInPlace);
    pvm_pkdouble(values, (int)n, 1);
    pvm_send(cg->tids[to], tag);
}

static void receive(const hand_cg *cg, int from, int tag, double *values, size_t n)
{
    pvm_recv(cg->tids[from], tag);
    pvm_upkdouble(values, (int)n, 1);
}

/* A power of two of tasks exchange sums; others give theirs to the first. */
double hand_cg_sum(const hand_cg *cg, double mine)
{
    double other, sum = mine, sent;
    if ((cg->size & (cg->size - 1)) == 0) {
        for (int bit = 1; bit < cg->size; bit *= 2) {
            sent = sum;
            send_to(cg, cg->rank ^ bit, SUM, &sent, 1);
            receive(cg, cg->rank ^ bit, SUM, &other, 1);
            sum += other;
        }
        return sum;
    }
    if (cg->rank > 0) {
        send_to(cg, 0, SUM, &mine, 1);
        receive(cg, 0, SUM, &sum, 1);
        return sum;
    }
    for (int r = 1; r < cg->size; r++) {
        receive(cg, r, SUM, &other, 1);
        sum += other;
    }
    for (int r = 1; r < cg->size; r++)
        send_to(cg, r, SUM, &sum, 1);
    return sum;
}

double hand_cg_start(const hand_cg *cg)
{
    size_t n = cg->rows * cg->m;
    double *p = cg->p + cg->m;
    for (size_t i = 0; i < n; i++) {
        cg->x[i] = 0;
        cg->r[i] = p[i] = 1;
    }
    return hand_cg_sum(cg, hand_squares(n, cg->r));
}

static void exchange_rows(const hand_cg *cg)
{
    size_t m = cg->m;
    double *below = cg->p, *first = below + m, *above = first + cg->rows * m, *last = above - m;
    if (cg->rank > 0)
        send_to(cg, cg->rank - 1, ROW, first, m);
    if (cg->rank + 1 < cg->size)
        send_to(cg, cg->rank + 1, ROW, last, m);
    if (cg->rank > 0)
        receive(cg, cg->rank - 1, ROW, below, m);
    if (cg->rank + 1 < cg->size)
        receive(cg, cg->rank + 1, ROW, above, m);
}

double hand_cg_iterate(const hand_cg *cg, int iterations, double rr)
{
    size_t m = cg->m, n = cg->rows * m;
    double *p = cg->p + m;
    for (int k = 0; k < iterations; k++) {
        double pq = 0;
        exchange_rows(cg);
        for (size_t i = 0; i < n; i += m) {
            hand_stencil(m, cg->q + i, p + i - m, p + i, p + i + m);
            pq += hand_inner(m, p + i, cg->q + i);
        }
        double alpha = rr / hand_cg_sum(cg, pq);
        double next = hand_cg_sum(cg, hand_cg_update(n, alpha, cg->x, cg->r, p, cg->q));
        hand_cg_turn(n, p, next / rr, cg->r);
        rr = next;
    }
    return rr;
}
