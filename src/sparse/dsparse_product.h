/* Shared by the products of sparse matrices with vectors: loops for each type of values, and plans of exchanges. Only the
 * dsparse_*.c files include this. */
#ifndef DOME_SRC_DSPARSE_PRODUCT_H
#define DOME_SRC_DSPARSE_PRODUCT_H

#include "arrays/dvec_exchange.h"
#include "sparse/dsparse_private.h"

/* How a block finds its elements of the vector by columns: x, or y of a transposed product. If its columns lie in one span of
 * this task's part, column c is at position c - shift of this part (modulo 2^64). Else the block is far: `at` has a number for
 * each entry, a position in this task's part, or the length of that plus a position among the elements that are exchanged; or, in
 * a plan for whole parts, there is an array in which column c is at position c. */
typedef struct dsparse_block_plan {
    bool far;
    uint32_t *at;
    uint64_t shift;
} dsparse_block_plan;

/* The places of elements, for a product. It holds for the matrix's entries and these layouts. */
struct dsparse_plan {
    dome_layout *rows, *columns; /* own references */
    dome_distribution distribution;
    uint64_t width;
    uint64_t blocks, own; /* blocks of the matrix and elements of the vector by columns that this task has */
    own_part own_part;
    dsparse_block_plan *block;
    dvec_exchange exchange; /* x: elements that are fetched, from whom; in_items: positions of those that others need.
                             * y: products that go to others; in_items: positions to which those of others are added */
    void *places;           /* dome__storage of the blocks' `at` */

    /* x, where most blocks need elements of others: storage for this task's elements and then those fetched, or, if it needs most
     * elements of the vector, for all of them in order of columns. Then the tasks of which most are needed send their parts as
     * they are, and the elements of other tasks are put to their places, which `arrived` has. */
    char *joined;
    bool whole;
    uint32_t *arrived;
    uint64_t *sends_whole, *takes_whole; /* by rank: whether this task sends its whole part, and takes the other one's */
};

/* A plan of which only the layouts and the memory for blocks are there; `block` is NULL without memory. v: the vector by columns.
 */
dsparse_plan *dsparse__plan_new(const dsparse *a, const dvec *v);
void dsparse__plan_free(dsparse_plan *plan);

bool dsparse__same_layout(const dome_layout *a, const dome_layout *b);

/* Whether the plan holds for this product. All tasks find the same: layouts are the same on all tasks, and all tasks change and
 * move a matrix together. */
bool dsparse__plan_holds(const dsparse_plan *plan, const dsparse *a, const dvec *v);

/* Tells the owners of these elements of v which ones are exchanged. Sets which[i] to the place of element i among those
 * exchanged. */
dome_status dsparse__plan_ask(dsparse_plan *plan, const dvec *v, uint64_t count, const uint64_t *indices, uint64_t *which);

/* The columns whose elements this task must fetch: a bit for each column, and the number of bits before each word. */
typedef struct dsparse_needed {
    uint64_t *bits;
    uint32_t *before;
    uint64_t words, count;
} dsparse_needed;

/* Finds for the entries of far blocks where their elements lie: by column, or, with n NULL, entry by entry. False without memory.
 */
bool dsparse__plan_places(dsparse_plan *plan, const dsparse *a, const dsparse_needed *n, const own_part *own,
                          const uint64_t *place);

/* Fails on all tasks unless all have the memory that the product needs. */
dome_status dsparse__plan_memory(const dsparse *a, bool have);

/* Keeps a plan that is complete in *kept, or frees it. */
dome_status dsparse__plan_keep(dsparse_plan **kept, dsparse_plan *plan, dome_status status);

/* Makes a->plan, of a product with x. */
dome_status dsparse__plan_make(dsparse *a, const dvec *x);

/* The loops for a type of values; dsparse_loops.h describes them. */
typedef struct dsparse_loops {
    void (*near)(const dsparse_block *b, void *y, const void *x);
    void (*far)(const dsparse_block *b, void *y, const void *x, const void *fetched, const uint32_t *at, uint64_t own);
    void (*wide)(const dsparse_block *b, void *y, const void *x, const void *fetched, const dsparse_block_plan *plan,
                 uint64_t own, uint64_t width);
    void (*more)(const dsparse_block *b, void *y, const void *x, uint64_t width);
    void (*scatter)(const dsparse_block *b, void *y, const void *x, const dsparse_block_plan *plan, uint64_t own, uint64_t width);
    void (*products)(const dsparse_block *b, void *to, const void *x, const dsparse_block_plan *plan, uint64_t own,
                     uint64_t width);
    void (*add)(void *y, const void *products, const uint64_t *place, uint64_t count, uint64_t width);
} dsparse_loops;

const dsparse_loops *dsparse__loops(const dsparse *a);

/* The address of element number -shift, which may lie outside of the array, so it is computed as a number. Columns can then be
 * used as they are. */
static inline const void *dsparse__column_zero(const void *x, uint64_t shift, size_t size)
{
    return (const void *)((uintptr_t)x - (uintptr_t)(shift * size));
}

/* One product. */
typedef struct dsparse_product {
    const dsparse *a;
    const dsparse_loops *loops;
    const char *x;
    char *y;
    uint64_t size, width; /* size: of a value */
    uint64_t own;
    const dsparse_plan *plan; /* NULL: this task has all of the vector by columns, in order */
} dsparse_product;

static inline dsparse_product dsparse__product(const dsparse *a, dvec *y, const dvec *x, const dvec *by_columns,
                                               const dsparse_plan *plan)
{
    return (dsparse_product){.a = a,
                             .loops = dsparse__loops(a),
                             .x = x->data,
                             .y = y->data,
                             .size = dome_type_size(a->type),
                             .width = x->width,
                             .own = plan ? plan->own : by_columns->length,
                             .plan = plan};
}

/* Whether y and x fit a product. by_rows, by_columns: the two in the order of the product. */
dome_status dsparse__check_product(const dvec *y, const dsparse *a, const dvec *x, const dvec *by_rows, const dvec *by_columns);

/* Whether this task alone can do the product: it has all of v, in order. The same on all tasks. */
bool dsparse__all_here(const dvec *v);

/* y = A x, without checks, where x is settled. */
dome_status dsparse__multiply(dvec *y, dsparse *a, const dvec *x);

#endif
