/* y = A^T x in three ways, which add the products of a column in ascending order of rows and so give the same bits:
 *
 *   by entries      each product goes to the owner of its element of y
 *   by sums         the tasks add up the columns one after the other in the order of their rows: each takes the sums of the tasks
 *                   before it, adds its own products and passes the sums on, some columns at a time, so that all tasks work
 *   by transpose    the matrix keeps its transpose, and multiplies that
 *
 * The first product after a change finds out what each way would send and compute, and takes the cheapest;
 * dsparse_transposed_product.c. */
#ifndef DOME_SRC_DSPARSE_TRANSPOSED_PRODUCT_H
#define DOME_SRC_DSPARSE_TRANSPOSED_PRODUCT_H

#include "sparse/dsparse_product.h"

typedef enum dsparse_way {
    DSPARSE_BY_ANY, /* not chosen */
    DSPARSE_BY_ENTRIES,
    DSPARSE_BY_SUMS,
    DSPARSE_BY_TRANSPOSE,
    DSPARSE_WAYS
} dsparse_way;

/* ---- by entries ---- */

typedef struct dsparse_by_entries dsparse_by_entries;

/* Makes the plan for products into vectors like y; fails on all tasks or none. */
dome_status dsparse__by_entries_new(dsparse *a, const dvec *y, dsparse_by_entries **made);
void dsparse__by_entries_free(dsparse_by_entries *way);

/* y = A^T x, where y is settled. */
dome_status dsparse__by_entries(const dsparse_by_entries *way, dvec *y, const dsparse *a, const dvec *x);

/* The same where this task alone has all of A, x and y, in order. */
void dsparse__turn_alone(dvec *y, const dsparse *a, const dvec *x);

/* ---- by sums ---- */

/* The order of the tasks: a task whose rows pass the end of the matrix comes first and last. */
typedef struct dsparse_stage {
    int rank, span;
} dsparse_stage;

/* The stages that have rows, and their number; g_free. */
dsparse_stage *dsparse__stages(const dsparse *a, uint64_t *count);

typedef struct dsparse_by_sums dsparse_by_sums;

/* bound: the first column of each of so many chunks of columns, and the end. A lack of memory is not reported. */
dome_status dsparse__by_sums_new(const dsparse *a, const uint64_t *bound, uint64_t chunks, dsparse_by_sums **made);
void dsparse__by_sums_free(dsparse_by_sums *way);
dome_status dsparse__by_sums(dsparse_by_sums *way, dvec *y, const dsparse *a, const dvec *x);

/* ---- the choice ---- */

/* The chunks of columns of products by sums at most. */
enum { DSPARSE_CHUNKS = 64 };

typedef struct dsparse_choice {
    dsparse_way way;
    uint64_t chunks, bound[DSPARSE_CHUNKS + 1]; /* by sums */
    double sends[DSPARSE_WAYS];                 /* bytes that all tasks send in a product, by each way; on rank 0 alone */
} dsparse_choice;

/* The way that holds; DSPARSE_BY_ANY: none does. */
dsparse_way dsparse__way(const dsparse *a);

/* The cheapest way for products into vectors like y. Collective. */
dome_status dsparse__choose(const dsparse *a, const dvec *y, dsparse_choice *choice);

/* ---- for the profile ---- */

typedef struct dsparse_note dsparse_note;

/* Notes the choice, on rank 0 and if there will be a profile; the note is the environment's. NULL: no note. */
dsparse_note *dsparse__note(const dsparse *a, const dsparse_choice *choice);
void dsparse__note_product(dsparse_note *note);

#endif
