/* Conjugate gradients for the 5-point Poisson equation on N x N points, seconds for one iteration: in Dome, and the same written
 * by hand in C with PVM. Both run in the same tasks, in turns.
 *
 *     poisson [N [SECONDS]] */
#include "case.h"

#include "runtime/environment.h"
#include "transport/collective.h"

#include <dome/dome.h>
#include <math.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 20, TAG_ROW = 1, TAG_SUM = 2 };

/* out = A row; above and below may be NULL. */
static void multiply_row(size_t n, double *restrict out, const double *restrict row, const double *restrict below,
                         const double *restrict above)
{
    for (size_t k = 0; k < n; k++)
        out[k] = 4 * row[k];
    if (below)
        for (size_t k = 0; k < n; k++)
            out[k] -= below[k];
    if (above)
        for (size_t k = 0; k < n; k++)
            out[k] -= above[k];
    for (size_t k = 1; k < n; k++)
        out[k] -= row[k - 1];
    for (size_t k = 0; k + 1 < n; k++)
        out[k] -= row[k + 1];
}

/* ---- in Dome ---- */

typedef struct dome_cg {
    size_t n;
    dvec *x, *r, *p, *q;
} dome_cg;

static void multiply(const dome_cg *cg)
{
    dvec_halo_span from[2];
    dvec_span to[2];
    int spans = dvec_halo(cg->p, 1, 1, false, from);
    dvec_local(cg->q, to);
    for (int s = 0; s < spans; s++) {
        const double *p = from[s].local.data;
        for (size_t i = 0; i < to[s].count; i++)
            multiply_row(cg->n, (double *)to[s].data + i * cg->n, p + i * cg->n, i ? p + (i - 1) * cg->n : from[s].below,
                         i + 1 < to[s].count ? p + (i + 1) * cg->n : from[s].above);
    }
}

static double solve_dome(const dome_cg *cg)
{
    dvec_fill(cg->x, 0);
    dvec_fill(cg->r, 1);
    dvec_fill(cg->p, 1);
    double rr = dvec_dot(cg->r, cg->r);
    for (int i = 0; i < ITERATIONS; i++) {
        multiply(cg);
        double alpha = rr / dvec_dot(cg->p, cg->q);
        dvec_axpy(cg->x, alpha, cg->p);
        dvec_axpy(cg->r, -alpha, cg->q);
        double next = dvec_dot(cg->r, cg->r);
        dvec_muls(cg->p, cg->p, next / rr);
        dvec_add(cg->p, cg->p, cg->r);
        rr = next;
    }
    return rr;
}

/* ---- by hand ---- */

typedef struct hand_cg {
    size_t n, rows;
    int rank, size;
    int *tids;
    double *x, *r, *p, *q; /* p: with a row of each neighbour around the own */
} hand_cg;

static void send_values(const hand_cg *cg, int to, int tag, double *values, size_t n)
{
    pvm_initsend(PvmDataInPlace);
    pvm_pkdouble(values, (int)n, 1);
    pvm_send(cg->tids[to], tag);
}

static void receive_values(const hand_cg *cg, int from, int tag, double *values, size_t n)
{
    pvm_recv(cg->tids[from], tag);
    pvm_upkdouble(values, (int)n, 1);
}

/* A power of two of tasks exchange sums; others give theirs to the first. */
static double sum_over(const hand_cg *cg, double mine)
{
    double theirs, sum = mine;
    if (cg->size & (cg->size - 1)) {
        for (int r = 1; r < cg->size; r++)
            if (cg->rank == 0) {
                receive_values(cg, r, TAG_SUM, &theirs, 1);
                sum += theirs;
            } else if (cg->rank == r) {
                send_values(cg, 0, TAG_SUM, &sum, 1);
                receive_values(cg, 0, TAG_SUM, &sum, 1);
            }
        for (int r = 1; cg->rank == 0 && r < cg->size; r++)
            send_values(cg, r, TAG_SUM, &sum, 1);
        return sum;
    }
    for (int bit = 1; bit < cg->size; bit *= 2) {
        send_values(cg, cg->rank ^ bit, TAG_SUM, &sum, 1);
        receive_values(cg, cg->rank ^ bit, TAG_SUM, &theirs, 1);
        sum += theirs;
    }
    return sum;
}

static void exchange_rows(const hand_cg *cg)
{
    double *below = cg->p, *first = cg->p + cg->n, *above = first + cg->rows * cg->n, *last = above - cg->n;
    if (cg->rank > 0)
        send_values(cg, cg->rank - 1, TAG_ROW, first, cg->n);
    if (cg->rank + 1 < cg->size)
        send_values(cg, cg->rank + 1, TAG_ROW, last, cg->n);
    if (cg->rank > 0)
        receive_values(cg, cg->rank - 1, TAG_ROW, below, cg->n);
    if (cg->rank + 1 < cg->size)
        receive_values(cg, cg->rank + 1, TAG_ROW, above, cg->n);
}

/* The updates of x and r, and the new r r. */
static double update(size_t m, double alpha, double *restrict x, double *restrict r, const double *restrict p,
                     const double *restrict q)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < m; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

static double solve_hand(const hand_cg *cg)
{
    size_t n = cg->n, m = cg->rows * n;
    double *p = cg->p + n;
    for (size_t i = 0; i < m; i++) {
        cg->x[i] = 0;
        cg->r[i] = p[i] = 1;
    }
    double rr = sum_over(cg, hand_squares(m, cg->r));
    for (int k = 0; k < ITERATIONS; k++) {
        exchange_rows(cg);
        double pq = 0;
        for (size_t i = 0; i < cg->rows; i++) {
            bool bottom = cg->rank == 0 && i == 0, top = cg->rank == cg->size - 1 && i + 1 == cg->rows;
            multiply_row(n, cg->q + i * n, p + i * n, bottom ? NULL : p + i * n - n, top ? NULL : p + i * n + n);
            pq += hand_inner(n, p + i * n, cg->q + i * n);
        }
        double alpha = rr / sum_over(cg, pq);
        double next = sum_over(cg, update(m, alpha, cg->x, cg->r, p, cg->q)), beta = next / rr;
        for (size_t i = 0; i < m; i++)
            p[i] = p[i] * beta + cg->r[i];
        rr = next;
    }
    return rr;
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)atof(argv[1]) : 1000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    int rank = dome_rank(env), size = dome_size(env);
    dvec_options rows = {.width = n};
    dome_cg mine = {n, dvec_new_with(env, "x", DOME_F64, n, &rows), dvec_new_with(env, "r", DOME_F64, n, &rows),
                    dvec_new_with(env, "p", DOME_F64, n, &rows), dvec_new_with(env, "q", DOME_F64, n, &rows)};
    size_t own = n * ((size_t)rank + 1) / (size_t)size - n * (size_t)rank / (size_t)size;
    hand_cg hand = {.n = n, .rows = own, .rank = rank, .size = size};
    hand.tids = calloc((size_t)size, sizeof *hand.tids);
    hand.x = case_array(own * n);
    hand.r = case_array(own * n);
    hand.q = case_array(own * n);
    hand.p = case_array((own + 2) * n);
    if (!hand.tids)
        return 1;
    if (size > 1) {
        int32_t tid = pvm_mytid();
        if (dome__allgather(env->transport, DOME_I32, &tid, 1, hand.tids))
            dome_abort(env, "%s", env->transport->reason);
    }
    int turns = 3;
    double begin = case_now();
    for (int turn = 0; turn < turns; turn++) {
        dome_barrier(env);
        double start = case_now(), a = solve_dome(&mine);
        case_note(&times, "dome", turn, (case_now() - start) / ITERATIONS);
        dome_barrier(env);
        start = case_now();
        double b = solve_hand(&hand);
        case_note(&times, "hand", turn, (case_now() - start) / ITERATIONS);
        if (!(fabs(a - b) <= 1e-9 * fabs(a)))
            dome_abort(env, "%g by Dome and %g by hand", a, b);
        if (turn == 0) {
            turns = case_turns(case_now() - begin, budget);
            dome_bcast(env, 0, DOME_I32, &turns, 1);
        }
    }
    if (rank == 0)
        case_print(&times);
    free(hand.tids);
    free(hand.x);
    free(hand.r);
    free(hand.p);
    free(hand.q);
    return dome_finalize(env);
}
